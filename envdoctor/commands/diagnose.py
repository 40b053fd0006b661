"""`envdoctor diagnose`: the root cause of a failure, out of its logs."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO, List, Optional, Tuple

import click

from envdoctor.commands.errors import FINDINGS, Failure
from envdoctor.commands.options import format_option, help_option, language, machine_options
from envdoctor.commands.output import is_same_file, view, write
from envdoctor.commands.session import Inputs
from envdoctor.model.text import clean

#: The name of standard input.
_STDIN = "-"
#: Logs of one job that are read together.
_MOST = 64


@click.command("diagnose", short_help="Find the root cause in the log of a failure.")
@click.argument("logs", nargs=-1, metavar="[LOG]...")
@machine_options
@click.option(
    "--here",
    is_flag=True,
    help="The log is of this machine: compute what mends it for the active environment.",
)
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the answer here, not to stdout.")
@click.option("--all", "is_all", is_flag=True, help="All causes that are seen, and candidates.")
@click.option("-q", "--quiet", is_flag=True, help="The root cause in one line, no more.")
@click.option("-v", "--verbose", is_flag=True, help="Everything: more lines around, what was read.")
@click.option("--list-causes", is_flag=True, help="List what can be recognized, reading nothing.")
@help_option
def command(
    logs: Tuple[str, ...],
    inputs: Inputs,
    here: bool,
    form: str,
    output: Optional[str],
    is_all: bool,
    quiet: bool,
    verbose: bool,
    list_causes: bool,
) -> int:
    """Find the root cause of a failure in its log, with the lines that prove it, and what mends it.

    LOG is what pip, conda, docker build, cmake, ninja, a compiler, Python, torchrun, NCCL or the
    kernel printed, of any size; - or nothing is standard input. Several logs of one job are judged
    together. Commands are shown and never run.

    Ways out are for the versions that the log tells. With --here, --python, --env or --facts they
    are for that environment, with --assume for what is assumed.

    Exit code: 0 no cause in the environment is seen, 1 one is, 2 wrong usage, 3 a log cannot be
    read.
    """
    if list_causes:
        _list_causes(form, output)
        return 0
    if here and inputs.facts is not None:
        raise click.UsageError("--here and --facts exclude each other")
    names = _names(logs, inputs)
    if output is not None and any(is_same_file(name, output) for name in names):
        raise click.UsageError("-o names the log itself: the answer would overwrite it")
    from envdoctor.commands.diagnosing import Asked, answer, judged

    with contextlib.ExitStack() as stack:
        opened = [(name, _open(name, stack)) for name in names]
        try:
            diagnosis, knowledge = judged(opened, inputs, here)
        except OSError as error:
            raise _unreadable(", ".join(names), error) from None
    shown = view(output, verbose, quiet)
    write(answer(diagnosis, knowledge, Asked(form, is_all), shown), output)
    return FINDINGS if diagnosis.causes else 0


def _list_causes(form: str, output: Optional[str]) -> None:
    from envdoctor.knowledge.failures import failures
    from envdoctor.knowledge.load import load
    from envdoctor.report import failures as report
    from envdoctor.report.sources import Matrices

    known = failures().values()
    if form == "json":
        write(report.listing_json(known, Matrices(load().date), language()), output)
    else:
        write(report.listing_text(known, view(output), language()), output)


def _names(logs: Tuple[str, ...], inputs: Inputs) -> List[str]:
    """The logs to be read, each once."""
    names = list(dict.fromkeys(logs))
    if not names:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError(
                "name a log, or pipe one: COMMAND 2>&1 | envdoctor diagnose; "
                "envdoctor run -- COMMAND reads as it runs"
            )
        names = [_STDIN]
    if len(names) > _MOST:
        raise click.UsageError(f"{_MOST} logs are as many as are read together")
    if _STDIN in names and inputs.facts == _STDIN:
        raise click.UsageError("the log and --facts cannot both be standard input")
    return names


def _open(name: str, stack: contextlib.ExitStack) -> BinaryIO:
    """A log. Raises Failure."""
    if name == _STDIN:
        if sys.stdin is None:
            raise Failure("the log cannot be read: standard input is closed")
        return sys.stdin.buffer
    try:
        if stat.S_ISDIR(os.stat(name).st_mode):  # noqa: PTH116
            raise Failure(f"{clean(name)} is a folder", "Name the files of it that are logs.")
        return stack.enter_context(Path(name).open("rb"))
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: Exception) -> Failure:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return Failure(f"{clean(name)}: cannot be read: {reason}")
