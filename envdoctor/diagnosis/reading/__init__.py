"""From the bytes of a log to lines: any size, any encoding, no more memory than a few blocks.

Terminal codes, progress and what others put before each line (docker, CI, launchers, journals) are
taken off; who printed a line is its source. Of a long log the lines come that are near something of
interest, its beginning and its end.
"""

from __future__ import annotations

from typing import BinaryIO, Iterable, Iterator

from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.reading import boxes, pieces, powershell, wraps
from envdoctor.diagnosis.reading.blocks import BLOCK, Count, whole_lines
from envdoctor.diagnosis.reading.prefixes import Prefixes
from envdoctor.diagnosis.reading.selection import Selection

__all__ = ["Reading", "read"]


class Reading:
    """The lines of a log, once; what is counted is whole when the last one has come."""

    def __init__(self, stream: BinaryIO, triggers: Iterable[str], block: int) -> None:
        self._count = Count()
        self._selection = Selection(triggers)
        shown = pieces.lines(self._selection.select(whole_lines(stream, self._count, block)))
        bare = powershell.without_places(wraps.unwrapped(Prefixes().take_off(shown)))
        whole = pieces.apart(boxes.opened(bare))
        self._lines = (item.line() for item in whole)

    def __iter__(self) -> Iterator[Line]:
        return self._lines

    @property
    def lines(self) -> int:
        """How many lines the log has."""
        return self._selection.lines

    @property
    def bytes(self) -> int:
        """How long the log is, unpacked."""
        return self._count.bytes

    @property
    def encoding(self) -> str:
        """What the log is written in, as far as its beginning tells."""
        return self._count.encoding

    @property
    def cut(self) -> int:
        """How many lines were left out or shortened."""
        return self._selection.left_out + self._count.shortened

    @property
    def truncated(self) -> bool:
        """Whether a compressed log was left before its end: it is damaged, or far too long."""
        return self._count.truncated


def read(stream: BinaryIO, triggers: Iterable[str], block: int = BLOCK) -> Reading:
    """The lines of a log. Never raises: a stream that fails has ended.

    `triggers` are what readers of lines wait for: words in lower case. A line of a long log
    comes if it has one or stands near one that has. `block` is how much is read at a time.
    """
    return Reading(stream, triggers, block)
