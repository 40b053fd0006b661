"""Where an answer goes, stdout or a file, and what is said beside it on stderr."""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
from pathlib import Path
from typing import Optional, TextIO

import click

from envdoctor.commands.errors import Failure
from envdoctor.model.language import ENGLISH
from envdoctor.model.text import clean
from envdoctor.report.view import View

# Columns. Longer lines are hard to read, shorter ones hold no name.
_NARROWEST, _USUAL, _WIDEST = 40, 80, 100

# What was typed is told again, but not a hundred thousand characters of it: no path is longer.
_LONGEST = 400
_LONG_WORD = re.compile(r"\S{400,}")


def view(
    output: Optional[str],
    verbose: bool = False,
    quiet: bool = False,
    stream: Optional[TextIO] = None,
) -> View:
    """How text is to be shown where it goes: as wide as a terminal, in colour only there.

    `stream` is where it goes without `output`, by default stdout.
    """
    stream = sys.stdout if stream is None else stream
    terminal = output in (None, "-") and stream.isatty()
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return View(
        width=_columns(stream) if terminal else _USUAL,
        colour=terminal and not dumb and not os.environ.get("NO_COLOR"),
        verbose=verbose,
        quiet=quiet,
        home=os.environ.get("HOME", ""),
    )


def _columns(stream: TextIO) -> int:
    try:
        width = os.get_terminal_size(stream.fileno()).columns or _USUAL
    except OSError:
        width = _USUAL
    return min(max(width, _NARROWEST), _WIDEST)


def write(text: str, output: Optional[str] = None) -> None:
    """Write an answer to the file `output`, whole or not at all; to stdout for None or "-".

    A reader of stdout that went away is no fault. Raises Failure.
    """
    if not (output is None or output == "-"):
        try:
            _write_file(Path(output), text.encode("utf-8", "replace"))
        except OSError as error:
            raise Failure(f"cannot write {clean(output)}: {error.strerror or error}") from None
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _drop(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise Failure(f"cannot write to stdout: {error.strerror or error}") from None


def is_same_file(name: str, output: str) -> bool:
    """Whether two names, neither of them "-", are of one regular file; it need not be there yet."""
    if "-" in (name, output):
        return False
    try:
        one, other = Path(name).resolve(), Path(output).resolve()
        if one == other:
            return not one.exists() or one.is_file()
        return one.is_file() and one.samefile(other)
    except (OSError, RuntimeError, ValueError):  # whoever opens it says what is wrong
        return False


def show(error: click.ClickException, language: str) -> None:
    """Tell an error on stderr, if anybody can read it."""
    if language == ENGLISH:
        told = io.StringIO()
        error.show(told)
        text = told.getvalue()
    elif isinstance(error, Failure):
        text = error.said(language) + "\n"
    else:
        from envdoctor.commands.help import chinese_usage

        text = chinese_usage(error)
    try:
        sys.stderr.write(_LONG_WORD.sub(lambda word: clean(word[0], _LONGEST), text))
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def say(message: str) -> None:
    """Tell on stderr what goes on, if anybody can read it."""
    try:
        sys.stderr.write(message + "\n")
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def open_standard_streams() -> None:
    """Put something where standard streams are closed, lest files of ours get their numbers.

    What was closed stays closed to the user: stdout cannot be written to, stderr shows nothing.
    """
    for number, flag in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        if not _is_open(number):
            os.open(os.devnull, flag)  # is given the lowest number that is free
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _drop(stream: TextIO) -> None:
    """What is left in the buffer must not complain when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write_file(path: Path, content: bytes) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        path.write_bytes(content)  # a pipe or a device cannot be replaced
        return
    path = path.resolve()  # a link stays one
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
