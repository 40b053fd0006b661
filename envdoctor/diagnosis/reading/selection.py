"""Which lines of a log are worth a closer look: those near something that a reader waits for.

A long log is mostly the same lines with other numbers in them. A line without its digits is its
*shape*; a shape is looked at once.
"""

from __future__ import annotations

from collections import deque
from typing import Deque, Dict, Iterable, Iterator, List, NamedTuple, Set

from envdoctor.diagnosis.reading.triggers import Triggers

#: How many lines come with one that is of interest.
BEFORE, AFTER = 40, 60
#: All lines come of the beginning of a log and of its end.
FIRST, LAST = 4000, 2000
#: How many lines come from between, and how often a shape is of interest there.
MOST_LINES, MOST_OF_SHAPE = 20_000, 30
_MOST_SHAPES = 100_000
_MOST_SHAPE_BYTES = 16 << 20
_DIGITS = b"0123456789"


class Raw(NamedTuple):
    """A line as it stands in the log, without its end."""

    number: int
    data: bytes
    is_overwritten: bool  # by the next, as progress is
    gap: bool


class _Held:
    """A block of lines of which some may still be wanted."""

    __slots__ = ("first", "lines", "number")

    def __init__(self, lines: List[bytes], first: int, number: int) -> None:
        self.lines = lines
        self.first = first  # index of its first line
        self.number = number  # and that line's number


class Selection:
    """Selects lines of blocks, in order. What is known of all lines is counted."""

    def __init__(self, triggers: Iterable[str]) -> None:
        self._triggers = Triggers(triggers)
        self._cold: Set[bytes] = set()
        self._hot: Dict[bytes, int] = {}  # how often a shape of interest was seen
        self._shape_bytes = 0
        self._held: Deque[_Held] = deque()
        self._next = 0  # index of the first line that has neither come nor been left out
        self._until = FIRST  # lines below come
        self._count = 0  # of lines, those that were overwritten among them
        self._given = 0
        self._is_gap = False
        self.lines = 0
        self.left_out = 0

    def select(self, blocks: Iterable[bytes]) -> Iterator[Raw]:
        """The lines that are of interest, and those around them."""
        for data in blocks:
            yield from self._add(data)
        self._until = self._count
        yield from self._give(max(self._next, self._count - LAST), self._count)

    def _add(self, data: bytes) -> Iterator[Raw]:
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        first = self._count
        self._held.append(_Held(lines, first, self.lines + 1))
        self._count += len(lines)
        self.lines += len(lines) - data.count(b"\r\n")
        if self._until > self._next:
            yield from self._give(self._next, min(self._until, self._count))
        if self._until < self._count and self._given < MOST_LINES + FIRST:
            for at in self._interesting(data):
                index = first + at
                start = max(self._next, index - BEFORE)
                if index >= self._until:
                    yield from self._give(start, index)
                self._until = max(self._until, index + 1 + AFTER)
                yield from self._give(max(self._next, start), min(self._until, self._count))
                if self._given >= MOST_LINES + FIRST:
                    self._until = self._next
                    break
        while len(self._held) > 1 and self._held[1].first <= self._count - LAST:
            self._held.popleft()

    def _give(self, start: int, end: int) -> Iterator[Raw]:
        """The lines from one index to another, which have not come yet."""
        if start >= end:
            return
        if start > self._next:
            self._is_gap = True
            self.left_out += start - self._next
        self._next = max(self._next, end)
        for held in self._held:
            if held.first + len(held.lines) <= start or held.first >= end:
                continue
            number = held.number
            for index, line in enumerate(held.lines, held.first):
                if index >= end:
                    break
                is_overwritten = line.endswith(b"\r")
                if index >= start:
                    self._given += 1
                    yield Raw(number, line, is_overwritten, self._is_gap)
                    self._is_gap = False
                if not is_overwritten:
                    number += 1

    def _interesting(self, data: bytes) -> List[int]:
        """Which lines of a block are of interest."""
        shapes = self._triggers.plain(data).translate(None, _DIGITS).split(b"\n")
        distinct = set(shapes)
        fresh = distinct - self._cold - self._hot.keys()
        if fresh:
            self._learn(fresh)
        if distinct.isdisjoint(self._hot):
            return []
        found = []
        for at, shape in enumerate(shapes):
            if shape in self._hot:
                self._hot[shape] += 1
                if self._hot[shape] <= MOST_OF_SHAPE:
                    found.append(at)
        return found

    def _learn(self, fresh: Set[bytes]) -> None:
        self._shape_bytes += sum(map(len, fresh))
        if len(self._cold) > _MOST_SHAPES or self._shape_bytes > _MOST_SHAPE_BYTES:
            self._cold.clear()
            if len(self._hot) > _MOST_SHAPES // 4:
                self._hot.clear()
            self._shape_bytes = 0
        listed = list(fresh)
        hot = self._triggers.of_interest(listed)
        self._hot.update((shape, 0) for shape in hot)
        self._cold |= fresh.difference(hot)
