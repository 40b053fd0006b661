"""What is said of a fault of envdoctor's own: a sentence, and a report that can be pasted.

The report holds versions, the command line, the traceback and the digest of the facts. It holds no
variable and no value, and names of homes, users and hosts are left out.
"""

from __future__ import annotations

import platform
import shlex
import traceback
from pathlib import Path
from typing import Callable, Iterator, List, Sequence, Tuple

from envdoctor import __version__
from envdoctor.commands.errors import Failure
from envdoctor.commands.invocation import Invocation
from envdoctor.commands.program import program
from envdoctor.model.text import clean

_PACKAGE = Path(__file__).resolve().parent.parent
_LIBRARIES = ("click", "msgspec", "packaging", "PyYAML", "rich")
# Lines of a traceback, where recursion or a chain of causes makes it long.
_FIRST, _LAST = 40, 120
_LINE = 500


def failure(error: Exception) -> Failure:
    """The sentence, with the place in envdoctor where it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _PACKAGE in Path(frame.filename).parents]
    place = ""
    if own:
        path = Path(own[-1].filename).relative_to(_PACKAGE.parent)
        place = f" ({path}:{own[-1].lineno})"
    return Failure(
        f"internal error: {clean(f'{type(error).__name__}: {error}')}{place}",
        "Please report it with the lines below, and a snapshot: envdoctor facts -o facts.json",
    )


def report(
    error: Exception, arguments: Sequence[str], invocation: Invocation, redacted: bool = True
) -> str:
    """The report. What of it cannot be told is left out, for more may be broken than one thing."""
    lines = ["--- envdoctor report ---"]
    parts: Tuple[Callable[[], Iterator[str]], ...] = (
        _versions,
        lambda: _call(arguments),
        lambda: _facts(invocation),
    )
    for part in parts:
        try:
            lines += part()
        except Exception as another:  # noqa: PERF203
            lines.append(f"({type(another).__name__})")
    try:
        lines += _traceback(error)
        text = "\n".join(lines)
        if redacted:
            from envdoctor.facts.redact import redact_text

            text = redact_text(text)
    except Exception as another:  # of it nothing is known to be free of names
        text = "\n".join([lines[0], f"envdoctor {__version__}", type(another).__name__])
    return f"{text}\n--- end ---"


def _versions() -> Iterator[str]:
    from importlib import metadata

    yield f"envdoctor {__version__}"
    yield f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"
    found = []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:  # noqa: PERF203
            found.append(f"{name} ?")
    yield ", ".join(found)
    from envdoctor.knowledge.load import load

    yield f"matrices: {load().date}"


def _call(arguments: Sequence[str]) -> Iterator[str]:
    words = [program(), *map(shlex.quote, map(_printable, arguments))]
    yield f"command: {' '.join(words)}"


def _facts(invocation: Invocation) -> Iterator[str]:
    if invocation.facts is None:
        yield "facts: -"
        return
    from envdoctor.facts.snapshot import digest

    yield f"facts: {digest(invocation.facts)}"


def _traceback(error: Exception) -> List[str]:
    told = traceback.TracebackException.from_exception(error)
    lines = [_printable(line) for text in told.format() for line in text.rstrip("\n").split("\n")]
    if len(lines) > _FIRST + _LAST:
        lines[_FIRST:-_LAST] = ["  ..."]
    return lines


def _printable(line: str) -> str:
    """A line that a terminal shows and does not obey, with its indentation."""
    return "".join(c if c.isprintable() else " " for c in line[:_LINE])
