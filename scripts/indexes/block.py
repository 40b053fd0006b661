"""The part of a matrix file that scripts/refresh writes: everything below its mark."""

from __future__ import annotations

import itertools
import re
import textwrap
from typing import Any, Iterator, List, Mapping, Optional

from envdoctor.knowledge.document import Document, DocumentError
from envdoctor.knowledge.schema import Listing, PackageFile, PyPIFiles

MARK = "# What follows is written by scripts/refresh, from public indexes: edits are overwritten.\n"
_WIDTH = 112
_MARK_LINE = re.compile(f"^{re.escape(MARK.rstrip())}[ \\r]*$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
_SERIES = re.compile(r"[^.]*(\.\d+)?")


def split(text: str) -> str:
    """The hand-written part of a file, and the space that separates it from the other."""
    found = _MARK_LINE.search(text)
    if found is not None:
        return text[: found.start()]
    missing = 2 - len(text[-2:]) + len(text[-2:].rstrip("\n"))
    return text + "\n" * missing


def written(text: str, pypi: Optional[PyPIFiles], pages: Mapping[str, Listing]) -> str:
    """A file with the part below the mark written anew; all above it stays as it is."""
    lines: List[str] = []
    if pypi is not None:
        lines += _pypi(pypi)
    if pages:
        lines.append("pages:")
        for name, listing in sorted(pages.items()):
            lines += [f"  {_key(name)}:", f"    checked: {listing.checked}", "    wheels:"]
            for release, below in listing.wheels.items():
                lines += _wrapped(f"      {_key(release)}: ", _flow(below), 8)
    return split(text) + MARK + "\n".join(lines) + "\n"


def check(name: str, text: str, pypi: Optional[PyPIFiles], pages: Mapping[str, Listing]) -> None:
    """See to it that a file tells its reader what was to be written. Raises DocumentError."""
    read = Document(name, text).decode(PackageFile)
    if read.pypi != pypi or read.pages != dict(pages):
        raise DocumentError(f"{name}: would not tell what was read")


def _pypi(files: PyPIFiles) -> Iterator[str]:
    yield "pypi:"
    yield f"  checked: {files.checked}"
    yield from _by_series("  releases: ", files.releases)
    if files.yanked:
        yield from _by_series("  yanked: ", files.yanked)
    yield "  requires_python:"
    for releases, text in files.requires_python.items():
        yield f"    {_text(releases)}: {_text(text)}"
    if files.requires:
        yield "  requires:"
        for package, asked in sorted(files.requires.items()):
            yield f"    {_key(package)}:" + ("" if asked else " {}")
            for releases, text in asked.items():
                yield f"      {_text(releases)}: {_text(text)}"
    if files.wheels:
        yield "  wheels:"
        for architecture, wheels in files.wheels.items():
            yield f"    {architecture}:"
            for releases, by_glibc in wheels.items():
                yield from _wrapped(f"      {_text(releases)}: ", _flow(by_glibc), 8)
    if files.sdist:
        yield from _wrapped("  sdist: ", "[" + ", ".join(map(_text, files.sdist)) + "]", 4)


def _by_series(head: str, releases: List[str]) -> Iterator[str]:
    """A list on one line, or a line for each series: a new release changes no other's line."""
    body = _flow(releases)
    if len(head) + len(body) <= _WIDTH:
        yield head + body
        return
    yield head + "["
    for _, group in itertools.groupby(releases, key=_series):
        yield from _wrapped("    ", ", ".join(map(_scalar, group)) + ",", 4)
    yield "  ]"


def _series(text: str) -> str:
    match = _SERIES.match(text)
    return "" if match is None else match[0]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(text: str) -> str:
    """A version or a tag as it is, anything else quoted."""
    plain = text[:1].isalnum() and _PLAIN.fullmatch(f"v{text}") and text != "null"
    return text if plain else _text(text)


def _key(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text != "null" else _text(text)


def _text(text: str) -> str:
    """A text in quotes; what is not plain is escaped, blanks too, at which lines are broken."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return "\\" + character
    if 0x20 < code < 0x7F:
        return character
    return f"\\x{code:02X}" if code < 0x100 else f"\\U{code:08X}"


def _wrapped(head: str, body: str, indent: int) -> Iterator[str]:
    """One line, or several where it is long; YAML's flow style does not mind."""
    if len(head) + len(body) <= _WIDTH:
        yield head + body
        return
    yield from textwrap.wrap(
        head + body,
        _WIDTH,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
