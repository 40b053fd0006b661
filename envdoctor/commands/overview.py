"""Bare `envdoctor`: the first minute."""

from __future__ import annotations

import shlex
from typing import List, Tuple

from envdoctor.commands.errors import COULD_NOT_EXAMINE, FINDINGS
from envdoctor.commands.invocation import current
from envdoctor.commands.options import given
from envdoctor.commands.output import view, write
from envdoctor.commands.policy import Policy, configured
from envdoctor.commands.program import program
from envdoctor.commands.session import Inputs, gather
from envdoctor.model.facts import Facts
from envdoctor.model.finding import Report


def overview(inputs: Inputs, policy: Policy) -> int:
    """Print this machine, the target environment and the verdict; return `check`'s exit code."""
    from envdoctor.relations.host import with_served
    from envdoctor.report.overview import render
    from envdoctor.resolver.overview import models
    from envdoctor.rules.concluded import conclude

    prepared = policy.prepared()
    facts, matrices = gather(inputs)
    now = current()
    now.facts = facts
    report = configured(prepared.applied(conclude(facts, matrices, now.language)))
    following = _next(report, facts, inputs)
    knowledge = matrices()
    told = with_served(facts, knowledge)
    finding = " ".join([program(), "resolve", "MODEL"])
    write(render(report, told, models(facts, knowledge), following, view(None), finding), None)
    if facts.target.value is None:
        return COULD_NOT_EXAMINE
    return FINDINGS if prepared.fails(report) else 0


def _next(report: Report, facts: Facts, inputs: Inputs) -> Tuple[str, str]:
    """The one command to go on with, and what it is for."""
    if facts.target.value is None:
        again = [*given(Inputs(assume=inputs.assume, project=inputs.project)), "--python", "PATH"]
        return _command(again), "name the environment that trains"
    same = given(inputs)
    if report.worst() in ("error", "warning"):
        return _command(same), "the evidence and the smallest change"
    if not facts.accelerator.gpus.value:
        again = [*same, "--gpu", "a100", "--driver", "535"]
        return _command(again), "judge for the GPU and driver that train"
    return _command([*same, "--verbose"]), "what was looked at, what was skipped and why"


def _command(options: List[str]) -> str:
    return " ".join([program(), *(shlex.quote(word) for word in ("check", *options))])
