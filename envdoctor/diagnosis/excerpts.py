"""What stands around the lines that prove something."""

from __future__ import annotations

from collections import deque
from typing import Deque, Dict, List, NamedTuple, Tuple

from envdoctor.diagnosis.line import Line

#: Lines that are shown before and after, and how far back a block may have begun that just ended.
_AROUND, _BACK = 2, 60
#: Of a log so many places are remembered.
_MOST = 5_000
_LONGEST = 400


class Excerpt(NamedTuple):
    """Lines around a place."""

    before: Tuple[str, ...] = ()
    after: Tuple[str, ...] = ()


class Excerpts:
    """Remembers what stands around places of a log while it passes."""

    def __init__(self) -> None:
        self._recent: Deque[Line] = deque(maxlen=_BACK)
        self._open: List[int] = []  # places that wait for lines after them
        self._before: Dict[int, Tuple[str, ...]] = {}
        self._after: Dict[int, List[str]] = {}

    def feed(self, line: Line) -> None:
        """A line that passes."""
        if self._open:
            for place in self._open:
                if place < line.number and not line.gap:
                    self._after[place].append(shortened(line.text, _LONGEST))
            still = [] if line.gap else [p for p in self._open if len(self._after[p]) < _AROUND]
            self._open = still
        if line.gap:
            self._recent.clear()
        self._recent.append(line)

    def mark(self, place: int) -> None:
        """Remember what stands around a line that has passed, or is the last that did."""
        if place in self._before or len(self._before) >= _MOST:
            return
        recent = list(self._recent)
        before = [shortened(line.text, _LONGEST) for line in recent if line.number < place]
        after = [shortened(line.text, _LONGEST) for line in recent if line.number > place]
        self._before[place] = tuple(before[-_AROUND:])
        self._after[place] = after[:_AROUND]
        if len(after) < _AROUND:
            self._open.append(place)

    def around(self, place: int) -> Excerpt:
        """The lines around a place; none if it was not marked."""
        return Excerpt(self._before.get(place, ()), tuple(self._after.get(place, ())))


def shortened(text: str, most: int) -> str:
    """A text, or its beginning with a mark that it goes on: half of a secret is one, too."""
    return text if len(text) <= most else text[: most - 1] + "\u2026"
