"""The part of a matrix file that scripts/refresh writes: everything below its mark."""

from __future__ import annotations

import textwrap
from typing import Any, Iterator, List, Mapping, Optional

from envdoctor.knowledge.schema import Listing, PyPIFiles

MARK = "# What follows is written by scripts/refresh, from public indexes: edits are overwritten.\n"
_WIDTH = 112


def split(text: str) -> str:
    """The hand-written part of a file."""
    return text.partition(MARK)[0]


def written(text: str, pypi: Optional[PyPIFiles], pages: Mapping[str, Listing]) -> str:
    """A file with the part below the mark written anew; all above it stays as it is."""
    lines: List[str] = []
    if pypi is not None:
        lines += _pypi(pypi)
    if pages:
        lines.append("pages:")
        for name, listing in sorted(pages.items()):
            lines += [f"  {name}:", f"    checked: {listing.checked}", "    wheels:"]
            for release, below in listing.wheels.items():
                lines += _wrapped(f"      {_key(release)}: ", _flow(below), 8)
    return split(text).rstrip("\n") + "\n\n" + MARK + "\n".join(lines) + "\n"


def _pypi(files: PyPIFiles) -> Iterator[str]:
    yield "pypi:"
    yield f"  checked: {files.checked}"
    yield from _wrapped("  releases: ", _flow(files.releases), 4)
    if files.yanked:
        yield from _wrapped("  yanked: ", _flow(files.yanked), 4)
    yield "  requires_python:"
    for releases, text in files.requires_python.items():
        yield f"    {_text(releases)}: {_text(text)}"
    if files.requires:
        yield "  requires:"
        for package, asked in sorted(files.requires.items()):
            yield f"    {package}:"
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


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value)


def _key(text: str) -> str:
    return text if text[:1].isalpha() else _text(text)


def _text(text: str) -> str:
    return f'"{text}"'


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
