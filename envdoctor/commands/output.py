"""Where an answer goes: stdout or a file."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import Optional

from envdoctor.commands.errors import Failure
from envdoctor.report.view import View

# Columns. Longer lines are hard to read, shorter ones hold no name.
_NARROWEST, _USUAL, _WIDEST = 40, 80, 100


def view(output: Optional[str], verbose: bool = False, quiet: bool = False) -> View:
    """How text is to be shown where it goes: as wide as a terminal, in colour only there."""
    terminal = output in (None, "-") and sys.stdout.isatty()
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return View(
        width=_columns() if terminal else _USUAL,
        colour=terminal and not dumb and not os.environ.get("NO_COLOR"),
        verbose=verbose,
        quiet=quiet,
        home=os.environ.get("HOME", ""),
    )


def _columns() -> int:
    try:
        width = os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL
    except OSError:
        width = _USUAL
    return min(max(width, _NARROWEST), _WIDEST)


def write(text: str, output: Optional[str]) -> None:
    """Write an answer to the file `output`, whole or not at all; to stdout for None or "-".

    A reader of stdout that went away is no fault. Raises Failure.
    """
    if not (output is None or output == "-"):
        try:
            _write_file(Path(output), text.encode("utf-8", "replace"))
        except OSError as error:
            raise Failure(f"cannot write {output}: {error.strerror or error}") from None
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer must not complain when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise Failure(f"cannot write to stdout: {error.strerror or error}") from None


def _write_file(path: Path, content: bytes) -> None:
    path = path.resolve()  # a link stays one
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a pipe or a device cannot be replaced
        return
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
