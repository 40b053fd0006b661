"""A log as it was recognised."""

from __future__ import annotations

from typing import List, NamedTuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.excerpts import Excerpts
from envdoctor.diagnosis.supposing import Said
from envdoctor.model.diagnosis import LogRead


class Log(NamedTuple):
    """What was recognised in a log, in the order of its lines, and how it was read."""

    events: List[Event]
    excerpts: Excerpts
    said: Said
    read: LogRead

    @property
    def errors(self) -> int:
        """How many lines tell of a failure."""
        return len({event.line for event in self.events if event.fatal})
