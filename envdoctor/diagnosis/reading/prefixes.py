"""Takes off what others put before each line, and tells who printed it."""

from __future__ import annotations

from typing import Iterable, Iterator

from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.reading.selection import Raw
from envdoctor.diagnosis.reading.terminal import text


def without_prefixes(raws: Iterable[Raw]) -> Iterator[Line]:
    """The lines, without prefixes."""
    for raw in raws:
        yield Line(raw.number, text(raw.data), "", raw.gap)
