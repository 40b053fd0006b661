"""Reads text files that people and programs wrote, of bounded size and never waiting for a pipe."""

from __future__ import annotations

import codecs
import os
import re
import stat
from typing import Any, Dict

from envdoctor.model.text import clean

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


# Readers of TOML take the square of the parts of a dotted key, in time and in memory.
_DEEP_KEY = re.compile(r"(?:[^\s.=]{1,100}[ \t]*\.[ \t]*){100}")


class FileError(Exception):
    """A file cannot be read; the message is one line that names it."""


def read_text(path: str, limit: int) -> str:
    """The text of a regular file of at most `limit` bytes. Raises FileError."""
    shown = clean(path)
    try:
        # Without blocking, lest a pipe without a writer is waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileError(f"{shown}: cannot be read: not a regular file")
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise FileError(f"{shown}: cannot be read: {clean(reason)}") from None
    if len(data) > limit:
        raise FileError(f"{shown}: is larger than {limit / 1e6:g} MB, which no file of its kind is")
    return _decoded(data, shown)


def _decoded(data: bytes, shown: str) -> str:
    encoding = "utf-8"
    for mark, name in _BOMS:  # PowerShell redirects in UTF-16
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(f"{shown}:{line}: is no text in {encoding.upper()}") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise FileError(f"{shown}:{line}: is no text: it holds a null character")
    return text


def toml(text: str, shown: str) -> Dict[str, Any]:
    """A TOML document; `shown` is what its file is called. Raises FileError."""
    try:
        import tomllib as reader
    except ImportError:
        try:
            import tomli as reader  # type: ignore[no-redef,import-not-found,unused-ignore]
        except ImportError:
            raise FileError(
                f"{shown}: cannot be read: TOML needs Python 3.11 or the package tomli"
            ) from None
    if _DEEP_KEY.search(text):
        raise FileError(f"{shown}: is no TOML that is read: a key has more than 100 parts")
    try:
        return reader.loads(text)
    except (ValueError, RecursionError) as error:
        said = clean(str(error), 160)
        match = re.search(r" \(at line (\d+), column \d+\)", said)
        if match:
            said = said.replace(match[0], "")
            raise FileError(f"{shown}:{match[1]}: is no TOML: {said}") from None
        lines = text.count("\n") + 1
        nested = "it is nested too deeply" if isinstance(error, RecursionError) else said
        raise FileError(f"{shown}:{lines}: is no TOML: {nested}") from None
