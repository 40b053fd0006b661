"""`envdoctor facts`: a snapshot of what was observed."""

from __future__ import annotations

from typing import Optional

import click

from envdoctor.commands.options import help_option, input_options, language, traceback_option
from envdoctor.commands.output import say, write
from envdoctor.commands.reading import waiting
from envdoctor.commands.session import Inputs, gather
from envdoctor.model.language import translate


@click.command("facts", short_help="Print what was observed, as JSON.")
@input_options
@click.option("-o", "--output", metavar="FILE", help="Write the snapshot here, not to stdout.")
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Leave out names of users, homes and hosts. Default: in a FILE, which others may read.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not say what was written.")
@traceback_option
@help_option
def command(inputs: Inputs, output: Optional[str], redact: Optional[bool], quiet: bool) -> int:
    """Print what was observed, each fact with where it was read, as JSON.

    Every command takes it back with --facts FILE, so it can be attached to a report and replayed.
    """
    from envdoctor.facts.snapshot import dump

    deep = inputs.deep is not False
    facts, _ = gather(inputs._replace(deep=deep), waiting(with_verdict=False))
    to_file = output not in (None, "-")
    redacted = to_file if redact is None else redact
    if redacted:
        from envdoctor.facts.redact import redact as redact_facts

        facts = redact_facts(facts)
    text = dump(facts).decode("utf-8")
    write(text if text.endswith("\n") else text + "\n", output)
    if to_file and not quiet:
        personal = "personal details left out" if redacted else "personal details included"
        said = f"envdoctor: wrote {output} ({len(text) // 1024 + 1} KB, {personal})"
        say(translate(language(), said))
    return 0
