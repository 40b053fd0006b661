"""From logs to causes."""

from __future__ import annotations

from typing import BinaryIO, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from envdoctor.diagnosis import mechanisms, structure
from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.ranking import ranked
from envdoctor.diagnosis.reading import read
from envdoctor.diagnosis.signs import LINE, Signs
from envdoctor.diagnosis.telling import told
from envdoctor.knowledge.failures import Failure, failures
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.diagnosis import SURE, Diagnosis, LogRead, Stated
from envdoctor.model.facts import Facts
from envdoctor.model.language import ENGLISH

#: Of a log so many events are kept; of equal ones so many.
_MOST_EVENTS, _MOST_EQUAL = 20_000, 20


class Log(NamedTuple):
    """What was recognised in a log."""

    events: List[Event]
    read: LogRead


def diagnose(
    logs: Sequence[Tuple[str, BinaryIO]],
    knowledge: Knowledge,
    facts: Optional[Facts] = None,  # noqa: ARG001
    language: str = ENGLISH,
    known: Optional[Dict[str, Failure]] = None,
) -> Diagnosis:
    """What the logs of one job, each with its name, say.

    `facts` are what fixes are computed from, `known` the failures in place of those that ship.
    Raises DocumentError for bad matrices.
    """
    signs = Signs((failures() if known is None else known).values())
    recognised = [recognise(name, stream, signs, knowledge) for name, stream in logs]
    causes = [
        told(one, name if len(logs) > 1 else "", language)
        for (name, _), log in zip(logs, recognised)
        for one in ranked(signs.matches(log.events), log.events)
    ]
    return Diagnosis(
        causes=tuple(cause for cause in causes if cause.confidence >= SURE),
        candidates=tuple(cause for cause in causes if cause.confidence < SURE),
        logs=tuple(log.read for log in recognised),
        stated=tuple(
            Stated(e.field("component"), e.field("version"), e.line, log.read.name)
            for log in recognised
            for e in log.events
            if e.kind == "stated"
        ),
        errors=sum(1 for log in recognised for event in log.events if event.fatal),
    )


def recognise(name: str, stream: BinaryIO, signs: Signs, knowledge: Knowledge) -> Log:
    """What is recognised in a log."""
    reading = read(stream, (*structure.triggers(), *signs.words))
    kept = _Kept()
    blocks = structure.Structure()
    for line in reading:
        if signs.is_of_interest(line.text):
            kept.take([_plain(line)], knowledge)
        kept.take(blocks.feed(line), knowledge)
    kept.take(blocks.end(), knowledge)
    cut = str(reading.cut) if reading.cut else ""
    return Log(
        sorted(kept.events, key=lambda event: event.line),
        LogRead(name, reading.lines, reading.bytes, reading.encoding, cut),
    )


def _plain(line: Line) -> Event:
    return Event(LINE, line.number, line.text, source=line.source)


class _Kept:
    """The events of a log, bounded."""

    def __init__(self) -> None:
        self.events: List[Event] = []
        self._equal: Dict[Tuple[str, str, str], int] = {}

    def take(self, events: Iterable[Event], knowledge: Knowledge) -> None:
        """Keep events and what follows from them."""
        for event in events:
            if len(self.events) >= _MOST_EVENTS:
                return
            key = (event.kind, event.source, event.text)
            self._equal[key] = self._equal.get(key, 0) + 1
            if self._equal[key] <= _MOST_EQUAL:
                self.events.extend(mechanisms.observed(event, knowledge))
