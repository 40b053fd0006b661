"""`envdoctor what-if`: what a change would break, what else must move, whether apart is safer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, List, Optional, Tuple

import click

from envdoctor.commands.errors import FINDINGS, Failure
from envdoctor.commands.invocation import current
from envdoctor.commands.options import format_option, help_option, input_options, language
from envdoctor.commands.output import view, write
from envdoctor.commands.program import as_called
from envdoctor.commands.reading import waiting
from envdoctor.commands.session import Inputs, gather
from envdoctor.model.text import clean

if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge
    from envdoctor.model.facts import Facts
    from envdoctor.resolver.supposed import Asked

#: A package with a minus before it. What options there are, in one letter each, is no package.
_MINUS = re.compile(r"-(?!-)(?![vqh]+$)[A-Za-z0-9][\w.-]+", re.ASCII)
#: More changes at once nobody can follow.
_MOST = 20
_NUMPY = "numpy"


class _WithMinus(click.Command):
    """A command whose arguments may begin with a minus: `-mmcv` is `--remove mmcv`."""

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """Parse the arguments, with an option in place of a minus."""
        read: List[str] = []
        for number, word in enumerate(args):
            if word == "--":
                read += args[number:]
                break
            if _MINUS.fullmatch(word) and not _is_value(args, number, self):
                read += ["--remove", word[1:]]
            else:
                read.append(word)
        return super().parse_args(ctx, read)


def _is_value(args: List[str], number: int, command: click.Command) -> bool:
    """Whether a word is the value of the option before it."""
    before = args[number - 1] if number else ""
    return any(
        isinstance(option, click.Option)
        and before in (*option.opts, *option.secondary_opts)
        and not option.is_flag
        for option in command.params
    )


@click.command(
    "what-if", cls=_WithMinus, short_help="Say what a change would break, and what else must move."
)
@click.argument("requirements", nargs=-1, metavar="[REQUIREMENT | -PACKAGE]...")
@click.option(
    "--remove",
    metavar="PACKAGE",
    multiple=True,
    help="As if this package were removed; -PACKAGE is short for it. Repeatable.",
)
@input_options
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the answer here, not to stdout.")
@click.option("-q", "--quiet", is_flag=True, help="The verdict, no more.")
@click.option("-v", "--verbose", is_flag=True, help="All files, reasons and sources.")
@help_option
def command(
    requirements: Tuple[str, ...],
    remove: Tuple[str, ...],
    inputs: Inputs,
    form: str,
    output: Optional[str],
    quiet: bool,
    verbose: bool,
) -> int:
    """Say what would stop working here if these were installed: torch==1.9.1+cu111.

    By relation and by file; what else must move, with the commands; and whether a separate
    environment is safer. Nothing is installed.

    --driver, --gpu and what else --assume says are changes of the machine here: what would stop
    working with them. What ENVDOCTOR_ASSUME holds is the machine as it is.

    Exit code: 0 nothing breaks, or what else must move mends it, 1 something does, 2 wrong usage,
    3 the environment could not be examined.
    """
    if not (requirements or remove or inputs.assume):
        raise click.UsageError("nothing is asked: name a requirement, as in torch==1.9.1+cu111")
    if len(requirements) + len(remove) > _MOST:
        raise click.UsageError(f"{_MOST} changes are as many as can be asked about together")
    if any(setting.partition("=")[0].strip() == "python" for setting in inputs.assume):
        raise click.UsageError("the Python of an environment is not exchanged: make a new one")
    from envdoctor.relations.assume import assume
    from envdoctor.relations.wanted import WantedError
    from envdoctor.report import what_if as report
    from envdoctor.resolver.what_if import what_if

    deep = inputs.deep is not False
    before = waiting(with_verdict=False)
    facts, matrices = gather(inputs._replace(assume=(), deep=deep), before)
    current().facts = facts
    knowledge = matrices()
    if facts.target.value is None:
        raise Failure(
            f"there is no Python environment to examine: {clean(facts.target.unknown)}",
            "Name one: envdoctor what-if --python PATH ...",
        )
    machine = assume(facts, inputs.assume, knowledge) if inputs.assume else None
    try:
        asked = _read(requirements, remove, knowledge, facts)
        if deep and inputs.facts is None:
            facts = _with_numpy(facts, asked)
            machine = _with_numpy(machine, asked) if machine is not None else None
        texts = (*requirements, *(f"-{name}" for name in remove), *inputs.assume)
        answer = what_if(facts, asked, knowledge, language(), machine, texts)
    except WantedError as error:
        raise click.UsageError(str(error)) from None
    if form == "json":
        write(report.render_json(answer), output)
    else:
        assumed = ", ".join(clean(setting) for setting in inputs.assume)
        text = report.render_text(answer, facts, view(output, verbose, quiet), assumed)
        write(as_called(text), output)
    return FINDINGS if answer.breaks_for_good else 0


def _read(
    requirements: Tuple[str, ...], remove: Tuple[str, ...], knowledge: Knowledge, facts: Facts
) -> List[Asked]:
    """What is asked for. Raises WantedError, and UsageError for a package that is named twice."""
    from envdoctor.resolver.supposed import read_asked

    asked = [read_asked(text, False, knowledge, facts) for text in requirements]
    asked += [read_asked(text, True, knowledge, facts) for text in remove]
    names = [one.name for one in asked]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{twice} is named twice")
    return asked


def _with_numpy(facts: Facts, asked: List[Asked]) -> Facts:
    """The facts with what was compiled for NumPy 1, where another NumPy is asked for."""
    target = facts.target.value
    comes = any(one.name == _NUMPY and not one.removed for one in asked)
    if target is None or not comes:
        return facts
    import msgspec

    from envdoctor.linking.numpy_interface import with_numpy

    linking = with_numpy(target.linking, target)
    target = msgspec.structs.replace(target, linking=linking)
    return msgspec.structs.replace(
        facts, target=msgspec.structs.replace(facts.target, value=target)
    )
