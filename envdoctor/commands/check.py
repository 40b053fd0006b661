"""`envdoctor check`: what is wrong with an environment, why, and the smallest change."""

from __future__ import annotations

import time
from typing import Optional, Tuple

import click

from envdoctor.commands.configuration import Configurable
from envdoctor.commands.errors import FINDINGS, Failure
from envdoctor.commands.invocation import current
from envdoctor.commands.options import format_option, help_option, input_options, language
from envdoctor.commands.output import say, view, write
from envdoctor.commands.policy import Policy, configured, policy_options
from envdoctor.commands.program import fixes_as_called
from envdoctor.commands.reading import waiting
from envdoctor.commands.session import Inputs, gather
from envdoctor.model.finding import Report
from envdoctor.model.language import translate
from envdoctor.model.text import clean


@click.command("check", short_help="Say what is wrong, why, and the smallest change.")
@input_options
@click.option(
    "--requirements",
    cls=Configurable,
    names_a_file=True,
    metavar="FILE",
    multiple=True,
    help="Check what would be installed, with no environment: a requirement file of pip, "
    "environment.yml, pyproject.toml, uv.lock, poetry.lock or Pipfile.lock. Repeatable.",
)
@policy_options()
@click.option(
    "--write-baseline",
    metavar="FILE",
    help="Write what is found to FILE, for --baseline to accept; exit with 0.",
)
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the report here, not to stdout.")
@click.option("-q", "--quiet", is_flag=True, help="The verdict and one line a finding, no more.")
@click.option("-v", "--verbose", is_flag=True, help="Everything: notes, sources, what was skipped.")
@click.option("--list-rules", is_flag=True, help="List what can be found, examining nothing.")
@help_option
def command(
    inputs: Inputs,
    requirements: Tuple[str, ...],
    policy: Policy,
    write_baseline: Optional[str],
    form: str,
    output: Optional[str],
    quiet: bool,
    verbose: bool,
    list_rules: bool,
) -> int:
    """Say what is wrong with an environment, why, and the smallest change.

    Exit code: 0 nothing at or above --fail-on, 1 something is, 2 wrong usage, 3 the environment
    could not be examined.
    """
    if list_rules:
        _list_rules(form, output)
        return 0
    requirements = _due(requirements, inputs)
    if requirements and (inputs.python or inputs.env):
        named = "--python" if inputs.python else "--env"
        raise click.UsageError(f"{named} and --requirements exclude each other")
    if requirements and inputs.path:
        raise click.UsageError("--path and --requirements exclude each other")
    if write_baseline == "-" and output in (None, "-"):
        raise click.UsageError(
            "--write-baseline - and the report would both go to stdout: name a file, "
            "or give the report one (-o FILE)"
        )
    from envdoctor.rules.concluded import conclude

    started = time.perf_counter()
    if write_baseline is not None:  # which is to hold what another accepts, too
        policy = policy._replace(baseline=None, fail_on="never")
    prepared = policy.prepared()
    deep = inputs.deep is not False
    before = waiting(with_verdict=form == "text" and not inputs.settings and not quiet)
    facts, matrices = gather(inputs._replace(requirements=requirements, deep=deep), before)
    now = current()
    now.facts = facts
    report = configured(prepared.applied(conclude(facts, matrices, now.language)))
    if form == "json":
        from envdoctor.report import json

        write(json.render(report), output)
    else:
        from envdoctor.report import text

        seconds = time.perf_counter() - started
        shown = view(output, verbose, quiet)._replace(notes=policy.fail_on == "info")
        write(text.render(fixes_as_called(report), facts, seconds, shown), output)
    if facts.target.value is None:
        raise Failure(
            f"there is no Python environment to examine: {clean(facts.target.unknown)}",
            "Name one: envdoctor check --python PATH",
        )
    if write_baseline is not None:
        _write_baseline(report, write_baseline, quiet)
    return FINDINGS if prepared.fails(report) else 0


def _due(requirements: Tuple[str, ...], inputs: Inputs) -> Tuple[str, ...]:
    """The requirement files to examine; where the command line names something else, that is it."""
    source = click.get_current_context().get_parameter_source("requirements")
    is_configured = source is click.core.ParameterSource.DEFAULT_MAP
    named = inputs.python or inputs.env or inputs.facts or inputs.path
    return () if is_configured and named else requirements


def _write_baseline(report: Report, file: str, quiet: bool) -> None:
    from envdoctor.rules import baseline

    write(baseline.dump(report.findings), file)
    if not quiet and file != "-":
        said = f"envdoctor: wrote {clean(file)} ({len(report.findings)} accepted from now on)"
        say(translate(language(), said))


def _list_rules(form: str, output: Optional[str]) -> None:
    from envdoctor.report.pages import listing_json, listing_text
    from envdoctor.rules.page import pages

    listed = list(pages().values())
    if form == "json":
        from envdoctor.knowledge.load import load

        write(listing_json(listed, load().date, language()), output)
    else:
        write(listing_text(listed, view(output), language()), output)
