"""Signs of causes, matched against the events of a log."""

from __future__ import annotations

import re
from typing import (
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.literals import literals
from envdoctor.diagnosis.quoting import is_quoted
from envdoctor.diagnosis.words import any_of
from envdoctor.knowledge.failures import Condition, Failure, Patterns, Sign, kinds

LINE = "line"
#: The field of a line that is a command: it may stand beside a sign, it shows none.
TYPED = "typed"
_Compiled = Tuple[Tuple[str, "re.Pattern[str]"], ...]


class Match(NamedTuple):
    """A sign that an event shows; `event` has the fields that its patterns name."""

    failure: Failure
    sign: Sign
    event: Event


class _Test:
    """A condition, compiled."""

    def __init__(self, condition: Union[Condition, Sign]) -> None:
        self.kinds = kinds(condition)
        self.near = condition.near if isinstance(condition, Condition) else ""
        self._where = _compiled(condition.where)
        text = condition.where.get("text", "")
        # Words are quicker to look for than patterns.
        self.words = literals(text) if text and LINE in self.kinds else ()
        self._not = _compiled(condition.differs)

    def fields(self, event: Event, is_sign: bool = False) -> Optional[Dict[str, str]]:
        """The fields that its patterns name in an event; None if it is not like that.

        What a sentence quotes is no sign, but may stand beside one.
        """
        named: Dict[str, str] = {}
        if self.words and event.kind == LINE:
            lower = event.text.lower()
            if not any(word in lower for word in self.words):
                return None
        for field, pattern in self._where:
            found = pattern.search(event.field(field))
            if found is None or (is_sign and _is_quoted(event, field, found)):
                return None
            named.update({n: v for n, v in found.groupdict().items() if v is not None})
        if any(pattern.search(event.field(field)) for field, pattern in self._not):
            return None
        return named

    def found(self, events: Mapping[str, Sequence[Event]]) -> List[Event]:
        """Those of the events, by their kind, that are like that, in order of their lines."""
        like = (
            event
            for kind in self.kinds
            for event in events.get(kind, ())
            if self.fields(event) is not None
        )
        return sorted(like, key=lambda event: event.line)

    def has(self, found: Sequence[Event], beside: Event) -> bool:
        """Whether one of what was found is at the right side of another event."""
        # the outermost ones tell; the event itself is not beside itself
        ends = found[-2:] if self.near == "after" else found[:2]
        return any(event is not beside and self._is_placed(event, beside) for event in ends)

    def _is_placed(self, event: Event, beside: Event) -> bool:
        if self.near == "before":
            return event.line <= beside.line
        if self.near == "after":
            return event.line >= beside.line
        return True


class _Beside:
    """Which conditions hold beside events; what is like each is looked for once."""

    def __init__(self, events: Mapping[str, Sequence[Event]]) -> None:
        self._events = events
        self._found: Dict[int, List[Event]] = {}

    def has(self, condition: _Test, event: Event) -> bool:
        """Whether another event that is like that is at its side of the event."""
        found = self._found.get(id(condition))
        if found is None:
            found = self._found[id(condition)] = condition.found(self._events)
        return condition.has(found, event)


class Signs:
    """All signs of all failures."""

    def __init__(self, failures: Iterable[Failure]) -> None:
        self._tests: Dict[str, List[Tuple[Failure, Sign, _Test]]] = {}
        self._beside: Dict[int, Tuple[List[_Test], List[_Test]]] = {}
        words: Dict[str, None] = {}
        for failure in failures:
            for sign in failure.signs:
                test = _Test(sign)
                for kind in test.kinds:
                    self._tests.setdefault(kind, []).append((failure, sign, test))
                self._beside[id(sign)] = (
                    [_Test(one) for one in sign.seen],
                    [_Test(one) for one in sign.unseen],
                )
                conditions: List[Union[Sign, Condition]] = [sign, *sign.seen, *sign.unseen]
                for condition in conditions:
                    if LINE in kinds(condition):
                        words.update(dict.fromkeys(literals(condition.where.get("text", ""))))
        #: Of the signs on lines, those that each word may show.
        self._of_word: Dict[str, List[int]] = {}
        for index, (_, _, test) in enumerate(self._tests.get(LINE, ())):
            for word in test.words or ("",):
                self._of_word.setdefault(word, []).append(index)
        self.words = tuple(words)
        self._any = any_of(self.words)

    def is_of_interest(self, text: str) -> bool:
        """Whether a line has a word that a sign on lines waits for."""
        return self._any.search(text.lower()) is not None

    def _tests_of(self, event: Event) -> Sequence[Tuple[Failure, Sign, _Test]]:
        """The signs that an event may show, in their order."""
        tests = self._tests.get(event.kind, [])
        if event.kind != LINE:
            return tests
        lower = event.text.lower()
        found = {n for word, numbers in self._of_word.items() if word in lower for n in numbers}
        return [tests[number] for number in sorted(found)]

    def matches(self, events: Sequence[Event]) -> Iterator[Match]:
        """Every sign that the events show."""
        by_kind: Dict[str, List[Event]] = {}
        for event in events:
            by_kind.setdefault(event.kind, []).append(event)
        beside = _Beside(by_kind)
        for event in events:
            if event.field(TYPED):
                continue
            for failure, sign, test in self._tests_of(event):
                named = test.fields(event, is_sign=True)
                if named is None:
                    continue
                seen, unseen = self._beside[id(sign)]
                if all(beside.has(one, event) for one in seen) and not any(
                    beside.has(one, event) for one in unseen
                ):
                    fields = {**event.fields, **named}
                    yield Match(failure, sign, event._replace(fields=fields))


def _is_quoted(event: Event, field: str, found: re.Match[str]) -> bool:
    return event.kind == LINE and field == "text" and is_quoted(event.text, *found.span())


def _compiled(patterns: Patterns) -> _Compiled:
    return tuple((field, re.compile(pattern)) for field, pattern in patterns.items())
