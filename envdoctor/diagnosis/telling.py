"""Causes in words: summary, reason, proving lines, what follows of them."""

from __future__ import annotations

from typing import Dict, Sequence, Tuple

from envdoctor.diagnosis.consequences import consequences
from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.log import Log
from envdoctor.diagnosis.mending import Mending
from envdoctor.diagnosis.ranking import Ranked
from envdoctor.linking.demangle import demangled
from envdoctor.model.diagnosis import Cause, LineRange, ProvingLine
from envdoctor.model.relation import words_in
from envdoctor.model.text import render
from envdoctor.rules.page import pages

_MOST_PROOFS = 5


def told(one: Ranked, logs: Sequence[Log], mending: Mending, language: str) -> Cause:
    """A cause, in a language."""
    failure, sign, event = one.best.match
    event = _readable(event)
    words = {**words_in(language, failure.words), **words_in(language, sign.words)}
    code = next((page.code for page in pages().values() if page.name == failure.cause), "")
    log = logs[one.best.log]
    name = log.read.name if len(logs) > 1 else ""
    proofs = _proofs(one)
    return Cause(
        id=failure.cause,
        confidence=round(one.best.confidence, 2),
        summary=render(words.get("summary", ""), event.field),
        code=code,
        why=render(words.get("why", ""), event.field),
        evidence=tuple(
            ProvingLine(
                proof.line,
                proof.text,
                logs[number].read.name if len(logs) > 1 else "",
                proof.source,
                *logs[number].excerpts.around(proof.line),
            )
            for (number, _), proof in proofs.items()
        ),
        consequences=tuple(
            LineRange(first, last, name)
            for first, last in consequences(
                event, [line for number, line in proofs if number == one.best.log], log.events
            )
        ),
        source=event.source,
        component=mending.component(event),
        fixes=mending.fixes(failure, event),
        verify=mending.verify(failure, event),
    )


def _readable(event: Event) -> Event:
    """An event whose C++ name is told as people write it, without its arguments."""
    symbol = event.field("symbol")
    if not symbol.startswith("_Z") or not event.field("short"):
        return event
    name = demangled([symbol])[symbol].partition("(")[0]
    return event if name == symbol else event._replace(fields={**event.fields, "short": name})


def _proofs(one: Ranked) -> Dict[Tuple[int, int], Event]:
    """The proving lines, the most telling first, each once."""
    found: Dict[Tuple[int, int], Event] = {}
    for sign in (one.best, *one.others):
        found.setdefault((sign.log, sign.match.event.line), sign.match.event)
    return dict(list(found.items())[:_MOST_PROOFS])
