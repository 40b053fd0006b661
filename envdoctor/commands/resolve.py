"""`envdoctor resolve`: the best stack that fits, or why there is none and what would do."""

from __future__ import annotations

import shlex
from typing import List, Optional, Sequence, Tuple

import click

from envdoctor.commands.errors import COULD_NOT_EXAMINE, FINDINGS, Failure
from envdoctor.commands.invocation import current
from envdoctor.commands.locking import FORMS, Locked
from envdoctor.commands.options import format_option, given, help_option, language, machine_options
from envdoctor.commands.output import say, view, write
from envdoctor.commands.program import program
from envdoctor.commands.session import Inputs, gather
from envdoctor.model.language import translate
from envdoctor.model.resolution import (
    CRITERIA,
    HOST,
    IMPOSSIBLE,
    MISSING,
    RELAXED,
    SOLVED,
    TARGETS,
    UNKNOWN,
    Resolution,
)
from envdoctor.model.text import clean

_STACKS = (SOLVED, RELAXED)
_CODES = {SOLVED: 0, RELAXED: 0, IMPOSSIBLE: FINDINGS, UNKNOWN: COULD_NOT_EXAMINE}


@click.command("resolve", short_help="Find the best stack that fits, or why there is none.")
@click.argument("what", nargs=-1, metavar="[WHAT]...")
@click.option(
    "--profile",
    metavar="NAME|FILE",
    multiple=True,
    help="The model whose stack is asked for: the name of a profile, or the file of one.",
)
@click.option(
    "--requirements",
    metavar="FILE",
    multiple=True,
    help="Ask for what this file does: a requirement file of pip, environment.yml, "
    "pyproject.toml, uv.lock, poetry.lock or Pipfile.lock. Repeatable.",
)
@machine_options
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    help="What may be chosen: the packages of this environment (host), a new environment with its "
    "Python (venv), or an image with its system, CUDA toolkit and compiler (image). Default: "
    "image for a profile, else venv.",
)
@click.option(
    "--keep",
    metavar="PACKAGE",
    multiple=True,
    help="Do not relax what the profile pins of this package. Repeatable.",
)
@click.option("--no-source", is_flag=True, help="Nothing may be compiled: wheels only.")
@click.option(
    "--prefer",
    metavar="CRITERIA",
    multiple=True,
    help=f"Let these criteria weigh most, in this order: {', '.join(CRITERIA)}.",
)
@click.option(
    "--lock",
    type=click.Choice(FORMS),
    help="Write the stack as requirement files, as pylock.toml, or as a shell script that installs "
    "it, with -o to a file or FOLDER/; without -o to stdout, and the verdict to stderr.",
)
@click.option(
    "--tree/--no-tree",
    default=None,
    help="Ask uv or pip, and with them the network, for what stands around the stack. Default: "
    "where a lock is written.",
)
@click.option("--verify", is_flag=True, help="Ask the indexes whether each file exists.")
@click.option("--explain", is_flag=True, help="All reasons, with the builds that each rejects.")
@format_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the answer here, not to stdout; with --lock the lock, and the answer to stdout.",
)
@click.option("-q", "--quiet", is_flag=True, help="The verdict and the stack, no more.")
@click.option("-v", "--verbose", is_flag=True, help="Everything: sources, all criteria, all ways.")
@help_option
def command(
    what: Tuple[str, ...],
    profile: Tuple[str, ...],
    requirements: Tuple[str, ...],
    inputs: Inputs,
    target: Optional[str],
    keep: Tuple[str, ...],
    no_source: bool,
    prefer: Tuple[str, ...],
    lock: Optional[str],
    tree: Optional[bool],
    verify: bool,
    explain: bool,
    form: str,
    output: Optional[str],
    quiet: bool,
    verbose: bool,
) -> int:
    """Find the best stack for a profile, for requirements, or for both.

    WHAT is the name of a profile (maptr) or its file (./profile.yaml), or a requirement
    (torch==2.1.0, 'numpy<2', torchvision). It is sought for this machine, or for the one that
    --gpu, --driver and --assume state, several GPUs at once: --gpu a100,h100.

    What a profile pins may be relaxed, and the answer says what had to go and why; what the command
    line and files ask for may not. "proved" means that no stack is better by the criteria in their
    order. Where there is none, the smallest reasons are told, and what would do instead.

    Exit code: 0 there is a stack, 1 there is none, or a file of it is missing (--verify), 2 wrong
    usage, 3 it could not be found out.
    """
    from envdoctor.commands.resolving import (
        Asking,
        answer,
        deep_for,
        python_of,
        sorted_out,
        target_of,
    )
    from envdoctor.report import resolution as report
    from envdoctor.resolver.asking import AskingError, Options, order_of

    if lock and form == "json" and output in (None, "-"):
        raise click.UsageError(
            "--lock and --format json would both go to stdout: name a file for the lock (-o FILE)"
        )
    if len(set(profile)) > 1:
        raise click.UsageError("--profile is given twice")
    try:
        order = order_of(prefer)
        facts, matrices = gather(inputs._replace(deep=deep_for(target)))
        current().facts = facts
        wanted = sorted_out(what, profile[0] if profile else "", requirements, matrices)
        options = Options(target_of(target, wanted), keep, no_source, order)
        if options.target == HOST and facts.target.value is None:
            raise Failure(
                f"there is no Python environment to examine: {clean(facts.target.unknown)}",
                "Name one: envdoctor resolve --python PATH",
            )
        thorough = explain or verbose or form == "json"
        asking = Asking(bool(lock) if tree is None else tree, verify, thorough)
        found = answer(wanted, facts, matrices(), options, python_of(inputs), language(), asking)
    except AskingError as error:
        raise click.UsageError(str(error)) from None
    words = [*what, *_repeated(profile, requirements, target, keep, no_source, prefer)]
    locked = Locked(found, lock) if lock and found.status in _STACKS else None
    output, lock_to = (None, output) if lock else (output, None)
    paths = locked.write(lock_to) if locked is not None else ()
    if locked is not None and not paths:
        say(report.verdict(found))
    elif form == "json":
        write(report.as_json(found), output)
    else:
        shown = view(output, verbose, quiet)
        following = "" if explain or verbose or lock else _again(words, inputs, found)
        write(report.as_text(found, shown, explain, following), output)
    if paths and not quiet:
        listed = ", ".join(map(clean, paths))
        say(translate(language(), f"envdoctor: wrote {listed}"))
    missing = any(one.status == MISSING for one in found.verified)
    return _CODES[found.status] or (FINDINGS if missing else 0)


def _again(words: Sequence[str], inputs: Inputs, found: Resolution) -> str:
    """The command to go on with, `words` being what was asked for."""
    command = [program(), "resolve", *words, *given(inputs, short=True)]
    if found.status == IMPOSSIBLE:
        return shlex.join([*command, "--explain"])
    if found.status in _STACKS and any(member.requirement for member in found.stack):
        return shlex.join([*command, "--lock", "script", "-o", "install.sh"])
    return ""


def _repeated(
    profile: Sequence[str],
    requirements: Sequence[str],
    target: Optional[str],
    keep: Sequence[str],
    no_source: bool,
    prefer: Sequence[str],
) -> List[str]:
    """The options of a question once more."""
    words = []
    named = {"profile": profile, "requirements": requirements, "keep": keep, "prefer": prefer}
    for name, values in named.items():
        for value in values:
            words += [f"--{name}", value]
    return [
        *words,
        *(["--target", target] if target else []),
        *(["--no-source"] if no_source else []),
    ]
