"""`envdoctor repair`: the smallest change that makes `check` clean; shown, or carried out."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Set, Tuple

import click
import msgspec

from envdoctor.commands.errors import FINDINGS, ROLLED_BACK, Failure, UsageFailure
from envdoctor.commands.invocation import current
from envdoctor.commands.options import format_option, help_option, input_options, language
from envdoctor.commands.output import say, view, write
from envdoctor.commands.policy import Policy, Prepared, configured, policy_options
from envdoctor.commands.program import as_called, program
from envdoctor.commands.reading import waiting
from envdoctor.commands.session import Inputs, gather, matrices_with
from envdoctor.model.facts import Facts, Target
from envdoctor.model.finding import Finding, Moved, Report, at_or_above
from envdoctor.model.language import say as said
from envdoctor.model.names import canonical
from envdoctor.model.repair import APPLIED, Outcome, Repair
from envdoctor.model.repair import ROLLED_BACK as TAKEN_BACK
from envdoctor.model.text import clean

# Imported where they are used: `--help` is not to wait for them.
if TYPE_CHECKING:
    from envdoctor.actions.apply import Carried

_LINE = 100
_VERSION = re.compile(r"[A-Za-z0-9.+!_-]+", re.ASCII)


class _Asked(NamedTuple):
    """See the options of the same names."""

    apply: bool
    yes: bool
    keep_going: bool
    form: str
    output: Optional[str]
    quiet: bool


@click.command("repair", short_help="Show the smallest change that mends it, or carry it out.")
@input_options
@policy_options()
@click.option(
    "--apply",
    "applied",
    is_flag=True,
    help="Carry the change out: after a snapshot, and with all put back where a step fails or "
    "check finds something that was not wrong before.",
)
@click.option(
    "--dry-run", is_flag=True, help="Show the change and do nothing, which is the default."
)
@click.option("-y", "--yes", is_flag=True, help="With --apply: do not ask.")
@click.option(
    "--keep-going",
    is_flag=True,
    help="With --apply: keep what came of it though check is not content.",
)
@click.option(
    "--rollback",
    is_flag=True,
    help="Take back the last change of the environment, or one that was broken off.",
)
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the answer here, not to stdout.")
@click.option("-q", "--quiet", is_flag=True, help="The verdict and the commands, no more.")
@click.option("-v", "--verbose", is_flag=True, help="Everything: reasons, and all ways to see it.")
@help_option
def command(
    inputs: Inputs,
    policy: Policy,
    applied: bool,
    dry_run: bool,
    yes: bool,
    keep_going: bool,
    rollback: bool,
    form: str,
    output: Optional[str],
    quiet: bool,
    verbose: bool,
) -> int:
    """Show the smallest change that makes `check` clean, or carry it out.

    Without --apply nothing is changed. Builds of vendors, conda's builds for GPUs and what was
    installed from source are never exchanged.

    Exit code: 0 nothing to do, or carried out and clean; 1 a change is due, or something is left at
    or above --fail-on; 2 wrong usage; 3 the environment could not be examined, or is not to be
    changed; 4 carried out and put back.
    """
    _refuse_together(applied, dry_run, rollback, yes, keep_going)
    if applied or rollback:
        _refuse_assumed(inputs, "--apply" if applied else "--rollback")
    if rollback:
        return _roll_back(inputs)
    from envdoctor.report import repair as report

    started = time.perf_counter()
    asked = _Asked(applied, yes, keep_going, form, output, quiet)
    inputs = inputs._replace(deep=inputs.deep is not False)
    prepared = policy.prepared()
    found, facts = _examined(inputs, prepared, asked)
    planned = _planned(found, facts, inputs)
    is_due = applied and bool(planned.steps)
    if form == "text":
        seconds = time.perf_counter() - started
        again = "" if is_due else _again(inputs, "--apply")
        shown = view(output, verbose, quiet)
        write(report.render(_as_called(planned), facts, seconds, shown, again), output)
    elif not is_due:
        write(report.render_json(planned), output)
    target = facts.target.value
    if target is None:
        raise Failure(
            f"there is no Python environment to examine: {clean(facts.target.unknown)}",
            "Name one: envdoctor repair --python PATH",
        )
    if is_due:
        return _apply(planned, found, target, inputs, prepared, asked)
    _tell_of_broken_off(target, inputs)
    return _code(planned, policy.fail_on)


def _refuse_together(
    applied: bool, dry_run: bool, rollback: bool, yes: bool, keep_going: bool
) -> None:
    for one, other, both in (
        ("--apply", "--dry-run", applied and dry_run),
        ("--apply", "--rollback", applied and rollback),
        ("--rollback", "--dry-run", rollback and dry_run),
    ):
        if both:
            raise click.UsageError(f"{one} and {other} exclude each other")
    for option, given in (("--yes", yes and not rollback), ("--keep-going", keep_going)):
        if given and not applied:
            raise click.UsageError(f"{option} goes with --apply")


# --- the plan --------------------------------------------------------------------------------


def _examined(inputs: Inputs, prepared: Prepared, asked: _Asked) -> Tuple[Report, Facts]:
    """What is wrong, and the facts that say so."""
    from envdoctor.rules.concluded import conclude

    is_told = asked.form == "text" and not inputs.settings and not asked.quiet
    facts, matrices = gather(inputs, waiting(with_verdict=is_told))
    now = current()
    now.facts = facts
    return configured(prepared.applied(conclude(facts, matrices, now.language))), facts


def _planned(found: Report, facts: Facts, inputs: Inputs) -> Repair:
    from envdoctor.rules.mending import mending

    return mending(found, facts, matrices_with(inputs.matrices)())


def _as_called(planned: Repair) -> Repair:
    """A plan whose commands can be typed here; for people, since programs compare them."""
    return msgspec.structs.replace(
        planned,
        verify=tuple(map(as_called, planned.verify)),
        undo=tuple(map(as_called, planned.undo)),
    )


def _code(planned: Repair, fail_on: str) -> int:
    if planned.steps:
        return FINDINGS
    if fail_on == "never":
        return 0
    left = (one.finding.severity for one in planned.left)
    return FINDINGS if any(at_or_above(severity, fail_on) for severity in left) else 0


def _again(inputs: Inputs, *options: str) -> str:
    """The same question with more options; nothing for facts that are not this machine's."""
    if inputs.facts is not None or inputs.settings:
        return ""
    words = ["repair"]
    for name in ("python", "env"):
        value = getattr(inputs, name)
        if value is not None:
            words += [f"--{name}", value]
    for folder in inputs.matrices:
        words += ["--matrices", folder]
    return " ".join([program(), *(shlex.quote(word) for word in (*words, *options))])


# --- carrying it out -------------------------------------------------------------------------


def _refuse_assumed(inputs: Inputs, option: str) -> None:
    if inputs.facts is not None:
        raise UsageFailure(
            f"{option} changes an environment of this machine, and --facts describes another"
        )
    if inputs.settings and option == "--apply":
        setting = inputs.settings[0]
        by = dict(inputs.said).get(setting, "the command line")
        raise UsageFailure(
            f"--apply is for the machine that is there, and {clean(by)} assumes another: "
            f"{clean(setting)}"
        )


def _apply(
    planned: Repair,
    found: Report,
    target: Target,
    inputs: Inputs,
    prepared: Prepared,
    asked: _Asked,
) -> int:
    from envdoctor.actions.apply import BrokenOffError, Change
    from envdoctor.actions.refusal import RefusedError
    from envdoctor.actions.snapshot import SnapshotError
    from envdoctor.report import repair as report

    after: List[Tuple[Report, Facts]] = []

    def check() -> str:
        after.append(_examined(inputs, prepared, asked))
        return _worse(planned, found, after[0][0])

    try:
        change = Change(target, [step.arguments for step in planned.steps])
        if not asked.yes:
            _confirm()
            _refuse_other(target, _examined(inputs, prepared, asked)[1].target.value)
        stays = planned.stays.items()
        kept = [f"{name}==={version}" for name, version in stays if _VERSION.fullmatch(version)]
        carried = change.carry_out(check, _Told(), asked.keep_going, kept)
    except (RefusedError, SnapshotError) as error:
        way_out = _again(inputs, "--rollback") if isinstance(error, BrokenOffError) else ""
        raise Failure(f"nothing was changed: {clean(str(error), 4000)}", way_out) from None
    _refuse_problems(carried, change.prefix)
    outcome = _outcome(carried, target, after, inputs)
    planned = msgspec.structs.replace(planned, outcome=outcome)
    if asked.form == "json":
        write(report.render_json(planned), asked.output)
    else:
        write(report.render_outcome(planned, outcome, view(None)))
    if carried.reason:
        return ROLLED_BACK
    return FINDINGS if prepared.fails(after[0][0]) else 0


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise UsageFailure("--apply asks before it changes anything; without a terminal say --yes")
    if not click.confirm(said(language(), "Carry this out?"), err=True):
        raise UsageFailure("nothing was changed")


def _refuse_other(before: Target, now: Optional[Target]) -> None:
    """Raise Failure where something was installed or removed while the user was asked."""
    if now is None or before.distributions != now.distributions:
        raise Failure(
            "nothing was changed: the environment is no longer the one that the plan is for",
            "Look at the new plan: envdoctor repair",
        )


def _worse(planned: Repair, before: Report, after: Report) -> str:
    """Why what came of the steps is not what was wanted; "" if it is."""
    was, now = _grave(before), _grave(after)
    mended = {(one.code, one.component.partition(" ")[0]) for one in planned.mends}
    left = {(one.finding.code, one.finding.component.partition(" ")[0]) for one in planned.left}
    for key, finding in now.items():
        earlier = was.get(key)
        if earlier is None or not at_or_above(earlier.severity, finding.severity):
            return f"check finds what was not wrong before: {_called(finding)}"
        if key[:2] in mended - left:
            return f"check still finds what was to be mended: {_called(finding)}"
    return ""


def _called(finding: Finding) -> str:
    return clean(f"{finding.code} {finding.component}: {finding.summary}", 1000)


def _grave(report: Report) -> Dict[Tuple[str, str, str], Finding]:
    """The errors and warnings by what they are known by from one check to the next."""
    found: Dict[Tuple[str, str, str], Finding] = {}
    for one in report.findings:
        if one.severity != "info":
            relation = one.relation.id if one.relation is not None else ""
            key = (one.code, one.component.partition(" ")[0], relation)
            if key not in found or at_or_above(one.severity, found[key].severity):
                found[key] = one
    return found


def _outcome(
    carried: Carried, target: Target, after: List[Tuple[Report, Facts]], inputs: Inputs
) -> Outcome:
    if carried.reason:
        return Outcome(
            TAKEN_BACK,
            carried.done,
            reason=clean(carried.reason, 4000),
            output=tuple(clean(line, 1000) for line in carried.output),
            others=carried.others,
            files=carried.files,
        )
    now = after[0][1].target.value if after else None
    return Outcome(
        APPLIED,
        carried.done,
        distributions=tuple(_moved(target, now)) if now is not None else (),
        others=carried.others,
        files=carried.files,
        undo=_again(inputs, "--rollback"),
    )


def _moved(before: Target, after: Target) -> List[Moved]:
    """The distributions whose version changed, or that came or went."""
    was = {canonical(d.name): d.version for d in before.distributions}
    now = {canonical(d.name): d.version for d in after.distributions}
    names: Set[str] = {*was, *now}
    return [
        Moved(name, was.get(name, ""), now.get(name, ""))
        for name in sorted(names)
        if was.get(name) != now.get(name)
    ]


def _refuse_problems(carried: Carried, prefix: str) -> None:
    """Say loudly what could not be put back."""
    if not carried.problems:
        return
    from envdoctor.actions.undo import existing

    undo = existing(prefix)
    place = undo.place if undo is not None else ""
    first = "; ".join(clean(problem) for problem in carried.problems[:4])
    raise Failure(
        f"{len(carried.problems)} files could not be put back: {first}",
        f"What was kept of them stays in {place}: run envdoctor repair --rollback once more",
    )


class _Told:
    """Tells on stderr what goes on."""

    def keeping(self, done: int, of: int) -> None:
        """So many files are kept."""
        say(said(language(), "envdoctor: snapshot: {done} of {number} files", done=done, number=of))

    def begun(self, number: int, of: int, command: str) -> None:
        """A step begins."""
        template = "envdoctor: step {done} of {number}: {command}"
        say(said(language(), template, done=number, number=of, command=clean(command, 1000)))

    def heard(self, line: str) -> None:
        """A step said something."""
        say(f"  {clean(line, _LINE)}")

    def checking(self) -> None:
        """What came of it is looked at."""
        say(said(language(), "envdoctor: checking what came of it"))

    def putting_back(self) -> None:
        """What was there is put back."""
        say(said(language(), "envdoctor: putting back what was there; this is not to be stopped"))


# --- taking it back --------------------------------------------------------------------------


def _tell_of_broken_off(target: Target, inputs: Inputs) -> None:
    from envdoctor.actions.apply import is_broken_off

    if inputs.facts is None and is_broken_off(target.prefix):
        template = "envdoctor: a change of this environment was broken off; take it back: {command}"
        say(said(language(), template, command=_again(inputs, "--rollback")))


def _roll_back(inputs: Inputs) -> int:
    """Take the change of an environment back. Its interpreter need not start for that."""
    from envdoctor.actions.apply import roll_back
    from envdoctor.actions.refusal import RefusedError
    from envdoctor.actions.snapshot import SnapshotError
    from envdoctor.facts.target import choose

    chosen = choose(inputs.python, inputs.env, os.environ)
    prefix = os.path.realpath(os.path.dirname(os.path.dirname(chosen.path)))  # noqa: PTH120
    try:
        carried = roll_back(prefix, _Told())
    except (RefusedError, SnapshotError) as error:
        raise Failure(clean(str(error), 4000)) from None
    _refuse_problems(carried, prefix)
    if not carried.files:
        say(said(language(), "envdoctor: nothing had been changed yet"))
    else:
        template = "envdoctor: taken back: {number} files are what they were, compared by content"
        say(said(language(), template, number=carried.files))
    return 0
