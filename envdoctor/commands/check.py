"""`envdoctor check`: what is wrong with an environment, why, and the smallest change."""

from __future__ import annotations

import time
from typing import Optional, Tuple

import click

from envdoctor.commands.errors import FINDINGS, Failure
from envdoctor.commands.options import help_option, input_options, language
from envdoctor.commands.output import view, write
from envdoctor.commands.program import fixes_as_called
from envdoctor.commands.session import Inputs, gather
from envdoctor.model.finding import SEVERITIES, at_or_above
from envdoctor.model.text import clean


@click.command("check", short_help="Say what is wrong, why, and the smallest change.")
@input_options
@click.option(
    "--requirements",
    metavar="FILE",
    multiple=True,
    help="Check what would be installed, with no environment: a requirement file of pip, "
    "environment.yml, pyproject.toml, uv.lock, poetry.lock or Pipfile.lock. Repeatable.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*reversed(SEVERITIES), "never"]),
    default="error",
    show_default=True,
    help="Exit with 1 if there is a finding at least as grave as this.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the report here, not to stdout.")
@click.option("-q", "--quiet", is_flag=True, help="The verdict and one line a finding, no more.")
@click.option("-v", "--verbose", is_flag=True, help="Everything: notes, sources, what was skipped.")
@click.option("--list-rules", is_flag=True, help="List what can be found, examining nothing.")
@help_option
def command(
    inputs: Inputs,
    requirements: Tuple[str, ...],
    fail_on: str,
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
    if requirements and (inputs.python or inputs.env):
        named = "--python" if inputs.python else "--env"
        raise click.UsageError(f"{named} and --requirements exclude each other")
    from envdoctor.rules.check import check

    started = time.perf_counter()
    facts, knowledge = gather(inputs._replace(requirements=requirements))
    report = check(facts, knowledge, language())
    if form == "json":
        from envdoctor.report import json

        write(json.render(report), output)
    else:
        from envdoctor.report import text

        seconds = time.perf_counter() - started
        shown = view(output, verbose, quiet)._replace(notes=fail_on == "info")
        write(text.render(fixes_as_called(report), facts, seconds, shown), output)
    if facts.target.value is None:
        raise Failure(
            f"there is no Python environment to examine: {clean(facts.target.unknown)}",
            "Name one: envdoctor check --python PATH",
        )
    grave = fail_on != "never" and any(at_or_above(f.severity, fail_on) for f in report.findings)
    return FINDINGS if grave else 0


def _list_rules(form: str, output: Optional[str]) -> None:
    from envdoctor.report.pages import listing_json, listing_text
    from envdoctor.rules.page import pages

    listed = list(pages().values())
    if form == "json":
        from envdoctor.knowledge.load import load

        write(listing_json(listed, load().date, language()), output)
    else:
        write(listing_text(listed, view(output), language()), output)
