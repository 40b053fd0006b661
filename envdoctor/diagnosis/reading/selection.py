"""Which lines of a log are worth a closer look: those near something that a reader waits for.

A long log is mostly the same lines with other numbers in them. A line without its digits is its
*shape*; a shape is looked at once, and what is found in too many of them is no longer looked for.
"""

from __future__ import annotations

from collections import deque
from itertools import accumulate
from typing import Deque, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Set, Tuple

from envdoctor.diagnosis.reading.triggers import Triggers

#: How many lines come with one that is of interest.
BEFORE, AFTER = 40, 60
#: All lines come of the beginning of a log and of its end.
FIRST, LAST = 4000, 2000
#: How often a shape is of interest between, and a trigger, whatever its shapes.
MOST_OF_SHAPE, MOST_OF_TRIGGER = 20, 100
#: When so many lines have come, only triggers count that were seldom seen; and then no more come.
PLENTY, FEW_OF_TRIGGER, MOST_LINES = 7_000, 10, 12_000
#: Bytes that are held for the end.
_MOST_HELD = 3 << 20
_MOST_SHAPES = 100_000
_MOST_SHAPE_BYTES = 8 << 20
_DIGITS = b"0123456789"


class Raw(NamedTuple):
    """A line as it stands in the log, without its end."""

    number: int
    data: bytes
    is_overwritten: bool  # by the next, as progress is
    gap: bool


class _Held:
    """A block of lines of which some may still be wanted."""

    def __init__(self, data: bytes, first: int, number: int) -> None:
        self._data = data
        self._lines: List[bytes] = []
        self._numbers: Sequence[int] = ()
        self._number = number  # of its first line
        self.size = len(data)
        self.is_open = data.endswith(b"\r\n")  # the next line overwrites its last
        self.overwritten = data.count(b"\r\n")
        self.first = first  # index of its first line
        self.end = first + data.count(b"\n") + (not data.endswith(b"\n"))

    def lines(self, start: int, end: int) -> Iterator[Tuple[int, bytes]]:
        """The numbers and the bytes of its lines among those of these indexes."""
        start, end = max(start, self.first) - self.first, min(end, self.end) - self.first
        if start >= end:
            return
        if not self._lines:
            self._lines = self._data.split(b"\n")
            self._numbers = range(self._number, self._number + len(self._lines))
            if self.overwritten:
                steps = (not line.endswith(b"\r") for line in self._lines)
                self._numbers = list(accumulate(steps, initial=self._number))
        for at in range(start, end):
            yield self._numbers[at], self._lines[at]


class _Hot:
    """A shape that is of interest."""

    __slots__ = ("seen", "triggers")

    def __init__(self, triggers: List[bytes]) -> None:
        self.triggers = triggers  # that it holds
        self.seen = 0


class Selection:
    """Selects lines of blocks, in order. What is known of all lines is counted."""

    def __init__(self, triggers: Iterable[str]) -> None:
        self._triggers = Triggers(triggers)
        self._cold: Set[bytes] = set()
        self._hot: Dict[bytes, _Hot] = {}
        self._seen: Dict[bytes, int] = {}  # how often a trigger was
        self._shape_bytes = 0
        self._held: Deque[_Held] = deque()
        self._held_bytes = 0
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
        if self._held and self._held[-1].is_open:
            self.lines += 1
        self._until = self._count
        yield from self._give(max(self._next, self._count - LAST), self._count)

    def _add(self, data: bytes) -> Iterator[Raw]:
        held = _Held(data, self._count, self.lines + 1)
        self._held.append(held)
        self._held_bytes += len(data)
        self._count = held.end
        self.lines += held.end - held.first - held.overwritten
        if self._until > self._next:
            yield from self._give(self._next, min(self._until, self._count))
        if self._until < self._count and self._given < MOST_LINES:
            for at in self._interesting(data):
                index = held.first + at
                if index >= self._until:
                    yield from self._give(max(self._next, index - BEFORE), index)
                self._until = max(self._until, index + 1 + AFTER)
                yield from self._give(self._next, min(self._until, self._count))
                if self._given >= MOST_LINES:
                    self._until = self._next
                    break
        while len(self._held) > 1 and (
            self._held[1].first <= self._count - LAST or self._held_bytes > _MOST_HELD
        ):
            self._held_bytes -= self._held.popleft().size

    def _give(self, start: int, end: int) -> Iterator[Raw]:
        """The lines from one index to another, which have not come yet."""
        if start >= end:
            return
        if start > self._next:
            self._is_gap = True
            self.left_out += start - self._next
        self._next = max(self._next, end)
        for held in self._held:
            for number, line in held.lines(start, end):
                self._given += 1
                yield Raw(number, line, line.endswith(b"\r"), self._is_gap)
                self._is_gap = False

    def _interesting(self, data: bytes) -> Iterator[int]:
        """Which lines of a block are of interest."""
        shapes = self._triggers.plain(data).translate(None, _DIGITS).split(b"\n")
        distinct = set(shapes)
        fresh = distinct - self._cold - self._hot.keys()
        if fresh:
            self._learn(fresh)
        if distinct.isdisjoint(self._hot):
            return
        for at, shape in enumerate(shapes):
            hot = self._hot.get(shape)
            if hot is not None and self._is_wanted(hot):
                yield at

    def _is_wanted(self, shape: _Hot) -> bool:
        """Whether a line is still of interest, after so many others."""
        shape.seen += 1
        if shape.seen > MOST_OF_SHAPE:
            return False
        seen = self._seen
        is_wanted = False
        for trigger in shape.triggers:
            seen[trigger] = count = seen.get(trigger, 0) + 1
            if count <= MOST_OF_TRIGGER:
                is_wanted = is_wanted or self._given < PLENTY or count <= FEW_OF_TRIGGER
            elif count == MOST_OF_TRIGGER + 1:
                self._triggers.forget(trigger)
        return is_wanted

    def _learn(self, fresh: Set[bytes]) -> None:
        self._shape_bytes += sum(map(len, fresh))
        if len(self._cold) > _MOST_SHAPES or self._shape_bytes > _MOST_SHAPE_BYTES:
            self._cold.clear()
            self._hot.clear()
            self._shape_bytes = 0
        hot = self._triggers.of_interest(list(fresh))
        for shape, triggers in hot.items():
            self._hot[shape] = _Hot(triggers)
        self._cold |= fresh.difference(hot)
