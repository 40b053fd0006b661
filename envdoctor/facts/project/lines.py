"""Which line of a text a position is on."""

from __future__ import annotations

import bisect
from typing import List


class Lines:
    """The line of a position in a text, counted from 1."""

    def __init__(self, text: str) -> None:
        """Note where the lines of the text end: once, as counting anew for each takes long."""
        self._ends: List[int] = []
        position = text.find("\n")
        while position >= 0:
            self._ends.append(position)
            position = text.find("\n", position + 1)

    def __call__(self, position: int) -> int:
        """The line."""
        return bisect.bisect_left(self._ends, position) + 1
