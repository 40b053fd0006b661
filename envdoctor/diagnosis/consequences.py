"""Errors that follow of a cause: where they stand."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from envdoctor.diagnosis.event import Event

#: Kinds of events that tell of no cause.
ENDS = ("failed", "exit")
#: Lines between two of them that are shown as one range.
_TOGETHER = 20
_MOST = 8


def consequences(
    root: Event, proofs: Sequence[int], events: Sequence[Event]
) -> List[Tuple[int, int]]:
    """Ranges of lines, first and last, of what failed after the root; `proofs` are not of them."""
    lines = sorted(
        {
            (event.first or event.line, event.last or event.line)
            for event in events
            if event.kind in ENDS and event.line > root.line and event.line not in proofs
        }
    )
    ranges: List[Tuple[int, int]] = []
    for first, last in lines:
        if ranges and first - ranges[-1][1] <= _TOGETHER:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    return ranges[:_MOST]
