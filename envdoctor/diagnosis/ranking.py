"""Which of the causes that logs show is the root: causes before consequences."""

from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.signs import LINE, Match
from envdoctor.model.diagnosis import SURE

#: Signs of this confidence are specific: the first of them in time is the root.
SPECIFIC = 0.8
#: What a fault is worth that nothing fails of afterwards, and one that was got over.
_WARNED, _RECOVERED = 0.45, 0.2


class Weighed(NamedTuple):
    """A sign in one of the logs, and how sure it is with what followed it."""

    match: Match
    log: int  # which of the logs
    confidence: float

    @property
    def tier(self) -> int:
        """2 for what tells a root, 1 for what may, 0 for what is told on demand."""
        if self.confidence < SURE:
            return 0
        if self.confidence < SPECIFIC:
            return 1
        return 2 if self.match.event.fatal or self.match.sign.silent else 1

    @property
    def place(self) -> Tuple[int, int, int, float]:
        """What the causes are ordered by."""
        return (-self.tier, self.log, self.match.event.line, -self.confidence)


class Ranked(NamedTuple):
    """A cause with its best sign, and all others of it."""

    best: Weighed
    others: Tuple[Weighed, ...]


def weighed(matches: Sequence[Match], events: Sequence[Event], log: int) -> List[Weighed]:
    """The signs in a log, with what became of the job in it."""
    course = _Course(events)
    special = {(match.event.line, match.event.text) for match in matches if not match.sign.general}
    return [
        Weighed(match, log, course.confidence(match))
        for match in matches
        if not match.sign.general or (match.event.line, match.event.text) not in special
    ]


def ranked(signs: Iterable[Weighed]) -> List[Ranked]:
    """One for each cause, the root first."""
    by_cause: Dict[str, List[Weighed]] = {}
    for sign in signs:
        by_cause.setdefault(sign.match.failure.cause, []).append(sign)
    found = []
    for of_cause in by_cause.values():
        of_cause.sort(key=lambda sign: sign.place)
        found.append(Ranked(of_cause[0], tuple(of_cause[1:])))
    found.sort(key=lambda one: one.best.place)
    return _causes_first(found)


def _causes_first(found: List[Ranked]) -> List[Ranked]:
    """The same, with each cause before those that its file calls its consequences."""
    placed: List[Ranked] = []
    for one in found:
        over = one.best.match.failure.over if one.best.confidence >= SURE else ()
        behind = (n for n, other in enumerate(placed) if other.best.match.failure.cause in over)
        placed.insert(next(behind, len(placed)), one)
    return placed


class _Course:
    """What became of the job: where it failed, and what went well in the end."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._failed = max((e.line for e in events if e.fatal and e.kind != LINE), default=0)
        self._well = [event for event in events if event.kind == "success"]

    def confidence(self, match: Match) -> float:
        """How sure a sign is, with what follows it."""
        sign, event = match.sign, match.event
        if self._is_over(event):
            return sign.sureness * _RECOVERED
        if not event.fatal and not sign.silent and self._failed < event.line:
            return sign.sureness * _WARNED
        return sign.sureness

    def _is_over(self, event: Event) -> bool:
        distribution = event.field("distribution")
        for success in self._well:
            if success.line <= event.line:
                continue
            of = success.field("distribution")
            if (of and of == distribution) or (not of and self._failed < success.line):
                return True
        return False
