"""`envdoctor explain`: what a finding means, what is known of builds, whether they fit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple, Union

import click

from envdoctor.commands.errors import told
from envdoctor.commands.invocation import current
from envdoctor.commands.options import (
    assumption_options,
    format_option,
    help_option,
    language,
)
from envdoctor.commands.output import view, write
from envdoctor.commands.program import as_called, program
from envdoctor.commands.session import Inputs, matrices_with
from envdoctor.model.language import say
from envdoctor.model.text import clean
from envdoctor.rules.page import Page, pages

# Imported where they are used: of a page nothing else is read.
if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge
    from envdoctor.model.facts import Facts

#: Of what is asked about together nobody can name more and still read the answer.
_MOST = 12
_LONGEST = 100
#: As conda writes it.
_ONE_SIGN = re.compile(r"([A-Za-z][\w.-]*)=([^=].{0,100})")


@click.command(
    "explain", short_help="Explain a finding, a build, or whether builds fit each other."
)
@click.argument("about", nargs=-1, required=True, metavar="WHAT...")
@assumption_options
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the answer here, not to stdout.")
@click.option("-v", "--verbose", is_flag=True, help="All builds, products, relations and sources.")
@help_option
def command(
    about: Tuple[str, ...], inputs: Inputs, form: str, output: Optional[str], verbose: bool
) -> int:
    """Explain a finding or a cause of failures, by its code (ED412) or its name.

    Or tell what the matrices know, with sources: of a build (torch==1.9.1+cu111), of a package
    (mmcv-full), of a GPU, a driver, a CUDA, a Python or a system (gpu=h100, driver=535, cuda=11.8,
    python=3.8, os=ubuntu:20.04).

    Or whether several builds fit each other, how and why not: mmcv-full==1.4.0 torch==2.0.1. Ranges
    and bare names are open. This machine is not looked at: what --assume says of one is asked,
    nothing else.

    Exit code: 0 it was answered, whatever the answer, 2 wrong usage.
    """
    first = about[0]
    if len(about) == 1 and not _is_asked(first, inputs):
        return _explain_page(first, inputs, form, output, verbose)
    code = next((text for text in about if text.upper() in pages()), None)
    if code is not None:
        raise click.UsageError(f"findings are explained one at a time: explain {code.upper()}")
    if len(about) > _MOST:
        raise click.UsageError(f"{_MOST} are as much as can be asked about together")
    return _explain_builds(about, inputs, form, output, verbose)


def _is_asked(text: str, inputs: Inputs) -> bool:
    """Whether a text asks the matrices: it has a sign of versions, or names a package."""
    if any(sign in text for sign in "=<>~"):
        return True
    if text.upper() in pages() or any(page.name == text.lower() for page in pages().values()):
        return False
    from envdoctor.knowledge.failures import failures

    if text.lower() in failures():
        return False
    from envdoctor.model.names import canonical

    with told():
        return canonical(text) in matrices_with(inputs.matrices)().packages


def _explain_page(
    code: str, inputs: Inputs, form: str, output: Optional[str], verbose: bool
) -> int:
    from envdoctor.report import pages as report

    page = _page(code, pages())
    if page is None:
        if not _explain_cause(code, form, output):
            _explain_interface(code, inputs, form, output, verbose)
        return 0
    if form == "json":
        from envdoctor.knowledge.load import load

        write(report.explanation_json(page, load().date, language()), output)
    else:
        text = report.explanation_text(page, view(output), language())
        write(as_called(text), output)
    return 0


def _explain_cause(name: str, form: str, output: Optional[str]) -> bool:
    """Tell of a cause of failures that has no page; whether there is one of that name."""
    from envdoctor.knowledge.failures import failures
    from envdoctor.knowledge.load import load
    from envdoctor.report import failures as report
    from envdoctor.report.sources import Matrices

    with told():
        failure = failures().get(name.lower())
        if failure is None:
            return False
        stated = Matrices(load().date)
    if form == "json":
        write(report.as_json(failure, stated, language()), output)
    else:
        write(as_called(report.as_text(failure, stated, view(output), language())), output)
    return True


def _explain_interface(
    name: str, inputs: Inputs, form: str, output: Optional[str], verbose: bool
) -> None:
    """Tell since when an interface is gone. Raises UsageError if nothing is called so."""
    from envdoctor.relations.rows import explain_interface
    from envdoctor.report import explanation as report
    from envdoctor.report.sources import Matrices

    problem = current().problem
    if problem is not None:
        raise problem
    with told():
        knowledge = matrices_with(inputs.matrices)()
    row = explain_interface(name, knowledge)
    if row is None:
        raise _unknown(name, knowledge)
    stated = Matrices(knowledge.date, knowledge.added)
    if form == "json":
        write(report.row_json(row, stated, language()), output)
    else:
        write(report.row_text(row, stated, view(output, verbose), language()), output)


def _explain_builds(
    about: Sequence[str], inputs: Inputs, form: str, output: Optional[str], verbose: bool
) -> int:
    from envdoctor.relations.explained import explain
    from envdoctor.relations.judge import Relations
    from envdoctor.relations.question import QuestionError, world_of
    from envdoctor.relations.rows import explain_row, is_row
    from envdoctor.relations.wanted import WantedError, read_wanted
    from envdoctor.report import explanation as report
    from envdoctor.report.sources import Matrices

    problem = current().problem
    if problem is not None:
        raise problem
    knowledge = matrices_with(inputs.matrices)()
    relations = Relations(knowledge)
    facts = _assumed(inputs, knowledge)
    shown = view(output, verbose)
    stated = Matrices(knowledge.date, knowledge.added)
    try:
        if len(about) == 1 and is_row(about[0]):
            row = explain_row(about[0], facts, relations)
            if form == "json":
                write(report.row_json(row, stated, language()), output)
            else:
                write(report.row_text(row, stated, shown, language()), output)
            return 0
        for text in about:
            pin = _ONE_SIGN.fullmatch(text)
            if pin is not None and not is_row(text):
                name, version = clean(pin[1]), clean(pin[2])
                raise WantedError(f"{clean(text)!r}: did you mean {name}=={version}?")
        row_text = next((text for text in about if is_row(text)), None)
        if row_text is not None:
            raise WantedError(f"{clean(row_text)} is asked about alone; beside builds, assume it")
        wanted = [read_wanted(text, knowledge) for text in about]
        names = [one.name for one in wanted]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise WantedError(f"{twice} is named twice")
        explained = explain(wanted, world_of(facts, knowledge), relations, language())
    except (WantedError, QuestionError) as error:
        raise click.UsageError(str(error)) from None
    settings = inputs.settings
    if form == "json":
        write(report.packages_json(explained, settings, stated, language()), output)
    else:
        text = report.packages_text(explained, settings, stated, shown, language())
        write(as_called(text), output)
    return 0


def _assumed(inputs: Inputs, knowledge: Knowledge) -> Facts:
    """A machine of which nothing is known but what is assumed, and this processor."""
    import platform

    import msgspec

    from envdoctor.model.facts import Facts, seen
    from envdoctor.relations.assume import Assumption, assume

    bare = Facts()
    machine = msgspec.structs.replace(
        bare.machine, architecture=seen(platform.machine(), "this machine")
    )
    facts = msgspec.structs.replace(bare, machine=machine)
    settings: List[Union[str, Assumption]] = [Assumption(*one) for one in inputs.said]
    settings += inputs.assume
    return assume(facts, settings, knowledge)


def _page(wanted: str, known: Dict[str, Page]) -> Optional[Page]:
    """The page of a code or a name, None if there is none."""
    named = {page.name: page for page in known.values()}
    return known.get(wanted.upper()) or named.get(wanted.lower())


def _unknown(wanted: str, knowledge: Knowledge) -> click.UsageError:
    """What to say of something that has no page and no row: what is nearest, packages too."""
    import difflib

    from envdoctor.knowledge.failures import failures
    from envdoctor.model.names import canonical
    from envdoctor.relations.devices import lookup
    from envdoctor.relations.wanted import nearest_packages

    short = wanted[:_LONGEST]
    is_gpu = re.fullmatch(r"(?i)sm_?\d{2,3}a?", short) or lookup(short, knowledge) is not None
    if is_gpu:
        hint = f"of a GPU: explain gpu={clean(short.lower())}"
        return click.UsageError(f"no finding and no package is called {clean(short)!r}; {hint}")
    codes = {code.lower(): code for code in pages()}
    causes = [*(page.name for page in pages().values()), *failures()]
    names = [*causes, *codes, *knowledge.packages]
    near = difflib.get_close_matches(short.lower(), names)
    near = list(dict.fromkeys([*nearest_packages(canonical(short), knowledge), *near]))[:3]
    nearest = say(language(), " or ").join(codes.get(name, name) for name in near)
    hint = f"nearest: {nearest}" if near else f"list them: {program()} check --list-rules"
    return click.UsageError(f"no finding and no package is called {clean(short)!r}; {hint}")
