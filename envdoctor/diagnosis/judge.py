"""From logs to causes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import BinaryIO, Dict, Iterable, List, Optional, Sequence, Tuple

from envdoctor.diagnosis import mechanisms, ranking, structure
from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.excerpts import Excerpts, shortened
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.log import Log
from envdoctor.diagnosis.mending import Mending
from envdoctor.diagnosis.quoting import is_quoted
from envdoctor.diagnosis.reading import read
from envdoctor.diagnosis.signs import LINE, TYPED, Signs
from envdoctor.diagnosis.structure.prompts import command_of
from envdoctor.diagnosis.structure.shown import Shown
from envdoctor.diagnosis.supposing import Said, facts_of
from envdoctor.diagnosis.telling import told
from envdoctor.knowledge.failures import Failure, failures
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.diagnosis import SURE, Diagnosis, LogRead, ProvingLine, Stated
from envdoctor.model.facts import Facts
from envdoctor.model.language import ENGLISH

_NUMBERS = str.maketrans("", "", "0123456789")
#: A line that warns, in the forms of Python, its logging, glog and compilers.
_WARNS = re.compile(r"\b\w{0,40}Warning: |\bWARNING\b|: warning: |^\[?W[\d ]|\bWARN\b(?! Call)")
#: Of a log so many events are kept; of equal ones so many.
_MOST_EVENTS, _MOST_EQUAL = 20_000, 20
#: Of so many characters all is kept, of the events that come then the beginnings.
_MOST_TEXT, _SHORT = 8_000_000, 300
#: Without a cause so many of the lines that tell of a failure are told.
_MOST_FAILURES = 3


def diagnose(
    logs: Sequence[Tuple[str, BinaryIO]],
    knowledge: Knowledge,
    facts: Optional[Facts] = None,
    language: str = ENGLISH,
    known: Optional[Dict[str, Failure]] = None,
) -> Diagnosis:
    """What the logs of one job, each with its name, say, in a language.

    `facts` are what fixes are computed from, else versions that the logs state; `known` are the
    failures in place of those that ship. Raises DocumentError for bad matrices.
    """
    signs = _shipped() if known is None else Signs(known.values())
    recognised = [recognise(name, stream, signs, knowledge) for name, stream in logs]
    weighed = [
        sign
        for number, log in enumerate(recognised)
        for sign in ranking.weighed(list(signs.matches(log.events)), log.events, number)
    ]
    stated = tuple(
        Stated(event.field("component"), event.field("version"), event.line, log.read.name)
        for log in recognised
        for event in log.events
        if event.kind == "stated"
    )
    said = [log.said for log in recognised]
    mending = Mending(lambda: facts or facts_of(said, stated), knowledge, language)
    causes = [told(one, recognised, mending, language) for one in ranking.ranked(weighed)]
    sure = tuple(cause for cause in causes if cause.confidence >= SURE)
    return Diagnosis(
        causes=sure,
        candidates=tuple(cause for cause in causes if cause.confidence < SURE),
        logs=tuple(log.read for log in recognised),
        stated=stated,
        errors=len(
            {(n, e.line) for n, log in enumerate(recognised) for e in log.events if _fails(e)}
        ),
        unexplained=() if sure else _first_failures(recognised),
    )


@lru_cache(maxsize=1)
def _shipped() -> Signs:
    """The signs of the failures that ship: compiling their patterns takes longer than most logs."""
    return Signs(failures().values())


def _fails(event: Event) -> bool:
    """Whether an event tells of a failure; of plain lines nobody knows."""
    return event.fatal and event.kind != LINE


def _first_failures(logs: Sequence[Log]) -> Tuple[ProvingLine, ...]:
    """The first lines that tell of failures, each text once."""
    found: Dict[str, ProvingLine] = {}
    for log in logs:
        name = log.read.name if len(logs) > 1 else ""
        for event in log.events:
            if _fails(event) and event.text.strip() and event.text not in found:
                around = log.excerpts.around(event.line)
                line = ProvingLine(event.line, event.text, name, event.source, *around)
                found[event.text] = line
                if len(found) == _MOST_FAILURES:
                    return tuple(found.values())
    return tuple(found.values())


def recognise(name: str, stream: BinaryIO, signs: Signs, knowledge: Knowledge) -> Log:
    """What is recognised in a log."""
    reading = read(stream, (*structure.triggers(), *signs.words))
    kept, said = _Kept(knowledge), Said()
    blocks, shown = structure.Structure(), Shown()
    gap = False
    for line in reading:
        kept.excerpts.feed(line)
        said.feed(line)
        gap = gap or line.gap
        if shown.is_shown(line):
            continue
        events = list(blocks.feed(line._replace(gap=gap)))
        gap = False
        if signs.is_of_interest(line.text):
            events.insert(0, _plain(line, blocks.around(line)))
        if command_of(line.text) is not None:
            events = [_typed(event) if event.line == line.number else event for event in events]
        elif '"' in line.text:
            events = [_typed(event) if _is_quoted(event) else event for event in events]
        kept.take(events)
    kept.take(blocks.end())
    cut = str(reading.cut) if reading.cut else ""
    return Log(
        sorted(kept.events, key=lambda event: event.line),
        kept.excerpts,
        said,
        LogRead(name, reading.lines, reading.bytes, reading.encoding, cut),
    )


def _plain(line: Line, around: Dict[str, str]) -> Event:
    is_fatal = _WARNS.search(line.text) is None
    return Event(LINE, line.number, line.text, around, source=line.source, fatal=is_fatal)


def _typed(event: Event) -> Event:
    return event._replace(fields={**event.fields, TYPED: "yes"}, fatal=False)


def _is_quoted(event: Event) -> bool:
    """Whether a sentence only quotes what it tells."""
    for value in (event.field("message"), event.field("library")):
        start = event.text.find(value) if value else -1
        if start >= 0 and is_quoted(event.text, start, start + len(value)):
            return True
    return False


def _short(event: Event) -> Event:
    fields = {name: shortened(value, _SHORT) for name, value in event.fields.items()}
    return event._replace(text=shortened(event.text, _SHORT), fields=fields)


class _Kept:
    """The events of a log, bounded."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.events: List[Event] = []
        self.excerpts = Excerpts()
        self._knowledge = knowledge
        self._equal: Dict[int, int] = {}  # how often, by the hash of what is equal
        self._room = _MOST_TEXT

    def take(self, events: Iterable[Event]) -> None:
        """Keep events and what follows from them."""
        for event in events:
            if len(self.events) >= _MOST_EVENTS:
                return
            # what differs in numbers only is equal; of what went well the last counts, too
            is_end = event.kind in ("success", "stated")
            text = event.text if is_end else event.text.translate(_NUMBERS)
            key = hash((event.kind, event.source, text))
            self._equal[key] = self._equal.get(key, 0) + 1
            if self._equal[key] <= _MOST_EQUAL:
                self._room -= len(event.text) + sum(map(len, event.fields.values()))
                kept = event if self._room > 0 else _short(event)
                self.events.extend(mechanisms.observed(kept, self._knowledge))
                self.excerpts.mark(event.line)
