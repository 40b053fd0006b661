"""`envdoctor run`: runs a command as if we were not there, and says why it failed if it does."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Iterator, Optional, Tuple

import click

from envdoctor.commands.errors import Failure, told
from envdoctor.commands.options import format_option, help_option, language, patience, run_options
from envdoctor.commands.output import is_same_file, say, show, view, write
from envdoctor.commands.session import Inputs, UnsupportedSystemError, require_linux
from envdoctor.model.text import clean

# Imported where they are used: `--help` and commands that succeed are not to wait for them.
if TYPE_CHECKING:
    from envdoctor.actions.recording import Recording
    from envdoctor.commands.diagnosing import Asked
    from envdoctor.report.view import View

_COMMAND = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@click.command(
    "run",
    short_help="Run a command, and say why it failed if it does.",
    context_settings=_COMMAND,
)
@run_options
@click.option("--no-facts", is_flag=True, help="Judge by what it printed alone.")
@click.option("--log", metavar="FILE", help="Write what it prints to FILE, too.")
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the diagnosis here, not to stderr.")
@click.option("--all", "is_all", is_flag=True, help="All causes that are seen, and candidates.")
@click.option("-q", "--quiet", is_flag=True, help="The root cause in one line, no more.")
@click.option("-v", "--verbose", is_flag=True, help="Everything: more lines around, what was read.")
@help_option
@click.argument("argv", nargs=-1, metavar="-- COMMAND...", type=click.UNPROCESSED)
def command(
    inputs: Inputs,
    no_facts: bool,
    log: Optional[str],
    form: str,
    output: Optional[str],
    is_all: bool,
    quiet: bool,
    verbose: bool,
    argv: Tuple[str, ...],
) -> int:
    """Run a command as if envdoctor were not there; where it fails, say why and what mends it.

    What it prints passes through as it is, in a terminal where you have one; so do what you type
    and the signals that are sent. Of a command that succeeds nothing is told. What one that failed
    printed is read as `envdoctor diagnose` does, with the facts of this environment, and told on
    stderr. One that you interrupt is not judged.

    Exit code: the command's; 128 and the signal if one ended it; 127 if there is no such command,
    126 if it cannot be run. 2 wrong usage, 3 the file of --log cannot be written; then nothing was
    run.
    """
    if not argv:
        raise click.UsageError("name a command: envdoctor run -- COMMAND...")
    given = inputs.python or inputs.env or inputs.facts
    if no_facts and given:
        raise click.UsageError("--no-facts and --python, --env or --facts exclude each other")
    if inputs.facts == "-":
        raise click.UsageError("--facts needs the name of a file: standard input is the command's")
    if log == "-":
        raise click.UsageError("--log needs the name of a file: what is printed passes through")
    if log is not None and output is not None and is_same_file(log, output):
        raise click.UsageError("-o and --log name one file: the answer would overwrite the log")
    require_linux()
    from envdoctor.actions.passing import NotStartedError, pass_through
    from envdoctor.actions.recording import Recording

    with _opened(log) as copy:
        recording = Recording(copy)
        with contextlib.closing(recording):
            try:
                outcome = pass_through(argv, recording)
            except NotStartedError as error:
                say(f"envdoctor: {_said(error)}")
                return error.code
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise Failure(f"{clean(argv[0])}: cannot be run: {reason}") from None
            if recording.problem is not None:
                reason = (recording.problem.strerror or str(recording.problem)).lower()
                show(Failure(f"cannot write all of {clean(log or '')}: {reason}"), language())
            if outcome.code != 0 and not outcome.is_ended_by_somebody:
                from envdoctor.commands.diagnosing import Asked

                if not (given or no_facts):
                    inputs = inputs._replace(python=_python_beside(argv[0]))
                asked = Asked(form, is_all, outcome.code)
                how = _view(output, verbose, quiet)
                _tell(recording, inputs, no_facts, asked, how, output, outcome.is_mid_line)
            return outcome.code


def _view(output: Optional[str], verbose: bool, quiet: bool) -> View:
    """How text is shown on stderr, or in a file."""
    return view(output, verbose, quiet, sys.stderr if output in (None, "-") else sys.stdout)


def _tell(
    recording: Recording,
    inputs: Inputs,
    no_facts: bool,
    asked: Asked,
    how: View,
    output: Optional[str],
    is_mid_line: bool,
) -> None:
    """Say why it failed. Whatever goes wrong with that is told, and is no matter of the command."""
    from envdoctor.commands.diagnosing import answer, judged
    from envdoctor.facts.target import TargetError

    try:
        with told(), patience():
            logs = [("", recording.read())]
            try:
                found, knowledge = judged(logs, inputs, of_here=not no_facts)
            except (TargetError, UnsupportedSystemError):  # no environment that could be looked at
                found, knowledge = judged(logs, inputs._replace(python=None, env=None), False)
            text = answer(found, knowledge, asked, how)
            if output in (None, "-"):
                say(("\n" if is_mid_line else "") + text.rstrip("\n"))
            else:
                write(text, output)
    except KeyboardInterrupt:  # nobody waits for it any longer
        return
    except click.ClickException as error:
        show(error, language())
    except Exception as error:  # a fault of our own
        from envdoctor.commands import crash

        show(crash.failure(error), language())


def _python_beside(command: str) -> Optional[str]:
    """The interpreter of the environment that a command belongs to; None if it is of none."""
    found = shutil.which(command)
    if found is None:
        return None
    folder = Path(os.path.abspath(found)).parent  # noqa: PTH100 - a link says where it was put
    is_environment = (folder.parent / "pyvenv.cfg").is_file() or (
        folder.parent / "conda-meta"
    ).is_dir()
    python = folder / "python"
    return str(python) if is_environment and os.access(python, os.X_OK) else None


def _said(error: Exception) -> str:
    """An error in the language of the answer."""
    from envdoctor.model.language import translate

    return translate(language(), clean(str(error)))


@contextlib.contextmanager
def _opened(log: Optional[str]) -> Iterator[Optional[BinaryIO]]:
    """The file that is given everything. Raises Failure."""
    if log is None:
        yield None
        return
    try:
        stream = Path(log).open("wb", buffering=0)  # noqa: SIM115 - closed below
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Failure(f"cannot write {clean(log)}: {reason}") from None
    try:
        yield stream
    finally:
        with contextlib.suppress(OSError):  # that it is not whole was told
            stream.close()
