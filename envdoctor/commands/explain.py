"""`envdoctor explain`: what a finding means."""

from __future__ import annotations

from typing import Dict, Optional

import click

from envdoctor.commands.errors import told
from envdoctor.commands.options import format_option, help_option, language, traceback_option
from envdoctor.commands.output import view, write
from envdoctor.commands.program import as_called, program
from envdoctor.model.language import say
from envdoctor.model.text import clean
from envdoctor.rules.page import Page, pages


@click.command("explain", short_help="Explain a finding, by its code or its name.")
@click.argument("code")
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the page here, not to stdout.")
@traceback_option
@help_option
def command(code: str, form: str, output: Optional[str]) -> int:
    """Explain a finding, by its code (ED412) or its name (torch-abi-mismatch)."""
    from envdoctor.report import pages as report

    with told():
        page = _page(code, pages())
        if form == "json":
            from envdoctor.knowledge.load import load

            write(report.explanation_json(page, load().date, language()), output)
        else:
            text = report.explanation_text(page, view(output), language())
            write(as_called(text), output)
    return 0


def _page(wanted: str, known: Dict[str, Page]) -> Page:
    """The page of a code or a name. Raises UsageError that names the nearest."""
    named = {page.name: page for page in known.values()}
    page = known.get(wanted.upper()) or named.get(wanted.lower())
    if page is not None:
        return page
    import difflib

    near = difflib.get_close_matches(wanted.lower(), [*named, *(c.lower() for c in known)])
    nearest = say(language(), " or ").join(n if n in named else n.upper() for n in near)
    hint = f"nearest: {nearest}" if near else f"list them: {program()} check --list-rules"
    raise click.UsageError(f"no finding is called {clean(wanted)!r}; {hint}")
