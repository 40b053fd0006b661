"""Tells whether lines hold one of the words that the readers of a log wait for."""

from __future__ import annotations

import re
from typing import Iterable, List, Set

_CODES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_DIGITS = re.compile("[0-9]+")
_ENCODINGS = ("utf-8", "gbk")


class Triggers:
    """The words, without digits: so they are looked for in lines without digits."""

    def __init__(self, words: Iterable[str]) -> None:
        found: Set[bytes] = set()
        for word in words:
            plain = _DIGITS.sub("", word.lower())
            for encoding in _ENCODINGS:
                found.add(plain.encode(encoding, "replace"))
        found.discard(b"")
        self._pattern = re.compile(b"|".join(map(re.escape, sorted(found))) or b"(?!)")

    def plain(self, data: bytes) -> bytes:
        """Bytes without what may stand inside of a word: colours, and NULs."""
        if b"\x1b" in data:
            data = _CODES.sub(b"", data)
        return data.replace(b"\0", b"") if b"\0" in data else data

    def of_interest(self, shapes: List[bytes]) -> List[bytes]:
        """Those of some lines that hold a word."""
        search = self._pattern.search
        return [shape for shape in shapes if search(shape.lower())]
