"""Which of the causes that a log shows is the root: causes before consequences."""

from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.signs import Match
from envdoctor.model.diagnosis import SURE

#: Signs of this confidence are specific: the first of them in time is the root.
_SPECIFIC = 0.8
#: What a fault is worth that nothing fails of afterwards, and one that was got over.
_WARNED, _RECOVERED = 0.45, 0.2
#: Kinds of events that follow of causes, and tell of none themselves.
_ENDS = ("failed", "exit")


class Ranked(NamedTuple):
    """A cause with its best sign, and all others of it."""

    match: Match
    confidence: float
    others: Tuple[Match, ...]


def ranked(matches: Iterable[Match], events: Sequence[Event]) -> List[Ranked]:
    """One for each cause, the root first."""
    course = _Course(events)
    by_cause: Dict[str, List[Tuple[float, Match]]] = {}
    for match in matches:
        confidence = course.weighed(match)
        by_cause.setdefault(match.failure.cause, []).append((confidence, match))
    found = []
    for weighed in by_cause.values():
        weighed.sort(key=lambda pair: (-_tier(*pair), pair[1].event.line, -pair[0]))
        best = weighed[0]
        found.append(Ranked(best[1], best[0], tuple(match for _, match in weighed[1:])))
    found.sort(key=_order)
    return _causes_first(found)


def _tier(confidence: float, match: Match) -> int:
    if confidence < SURE:
        return 0
    tier = 2 if confidence >= _SPECIFIC else 1
    return tier if match.event.fatal or match.sign.silent else 1


def _order(one: Ranked) -> Tuple[int, int, float]:
    return (-_tier(one.confidence, one.match), one.match.event.line, -one.confidence)


def _causes_first(found: List[Ranked]) -> List[Ranked]:
    """The same, with each cause before those that its file calls its consequences."""
    placed: List[Ranked] = []
    for one in found:
        at = next(
            (
                index
                for index, other in enumerate(placed)
                if other.match.failure.cause in one.match.failure.over and one.confidence >= SURE
            ),
            len(placed),
        )
        placed.insert(at, one)
    return placed


class _Course:
    """What became of the job: where it failed, and what went well in the end."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._failed = max((e.line for e in events if e.fatal), default=0)
        self._well = [e for e in events if e.kind == "success"]

    def weighed(self, match: Match) -> float:
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
            if of and of == distribution:
                return True
            if not of and self._failed < success.line:
                return True
        return False
