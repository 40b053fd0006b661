"""A line of a log, as its readers see it."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """What a program printed as one line.

    Two of them may have the same number: progress that a carriage return overwrites, and an error
    that was printed behind a progress bar, stand on one line of the log.
    """

    number: int  # of the log, from 1, as editors and `sed -n` count
    text: str  # without terminal codes and prefixes; indentation, as spaces, is the program's own
    source: str = ""  # who printed it: "rank 3", a container, a worker; "" where nothing tells
    gap: bool = False  # lines before it were left out
