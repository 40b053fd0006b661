"""Which of the causes that logs show is the root: causes before consequences."""

from __future__ import annotations

import re
from typing import Dict, Iterable, List, NamedTuple, Sequence, Set, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.signs import LINE, Match
from envdoctor.diagnosis.structure.outcomes import TESTS, VALUES
from envdoctor.model.diagnosis import SURE
from envdoctor.model.names import canonical

#: Signs of this confidence are specific: the first of them in time is the root.
SPECIFIC = 0.8
#: Exceptions that data and code bring about, the second where no package raises them.
_OF_DATA = frozenset(
    [
        "KeyError",
        "IndexError",
        "FileNotFoundError",
        "ZeroDivisionError",
        "NameError",
        "UnboundLocalError",
        "SyntaxError",
        "IndentationError",
        "JSONDecodeError",
    ]
)
_OF_CODE = frozenset(["ValueError", "TypeError", "AssertionError"])
_INSTALLED = re.compile(r"(?:site|dist)-packages|^<frozen|lib[\\/]python3")
#: Exceptions of launchers, which tell that another process failed.
_OF_CHILDREN = re.compile(r"Child|ProcessRaised|ProcessExited|CalledProcess|WorkerGroup")
#: What a fault is worth that nothing fails of afterwards, and one that was got over.
_WARNED, _RECOVERED = 0.45, 0.2
_SONAME = re.compile(r"lib([\w.+-]{1,80})\.so\.(\d{1,4})")
#: How CI tells that a step failed.
_OF_CI = "completed with exit code"


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
    signs = list(signs)
    surest: Dict[int, float] = {}
    for sign in signs:
        surest[sign.log] = max(surest.get(sign.log, 0.0), sign.confidence)

    def place(sign: Weighed) -> Tuple[int, float, int, int, float]:
        """Time runs within a log; of several the one that tells most surely comes first."""
        line = sign.match.event.line
        return (-sign.tier, -surest[sign.log], sign.log, line, -sign.confidence)

    for sign in signs:
        by_cause.setdefault(sign.match.failure.cause, []).append(sign)
    found = []
    for of_cause in by_cause.values():
        of_cause.sort(key=place)
        found.append(Ranked(of_cause[0], tuple(of_cause[1:])))
    found.sort(key=lambda one: place(one.best))
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
        self._went_on = _steps_before_failures(events)
        #: Of the last exceptions those that are the user's own begin after this line.
        exceptions = [event for event in events if _is_exception(event)]
        others = (event.line for event in exceptions if not _is_users(event))
        self._users = max(others, default=0) if exceptions else self._failed
        self._handled = _handled(exceptions)
        self._stops = [e.line for e in events if e.kind == "exit" and _OF_CI in e.text]

    def confidence(self, match: Match) -> float:
        """How sure a sign is, with what follows it."""
        sign, event = match.sign, match.event
        if self._is_over(match):
            return sign.sureness * _RECOVERED
        if not event.fatal and not sign.silent and min(self._failed, self._users) < event.line:
            return sign.sureness * _WARNED
        return sign.sureness

    def _is_over(self, match: Match) -> bool:
        event = match.event
        if event.line < self._went_on.get(event.source, 0):
            return True
        if (event.source, event.line) in self._handled:
            return True
        return any(
            self._ends(success, match) for success in self._well if success.line >= event.line
        )

    def _ends(self, success: Event, match: Match) -> bool:
        """Whether what went well shows that a fault before it was got over."""
        event = match.event
        of = success.field("distribution")
        if of:
            is_own = of == event.field("distribution")
            return success.line > event.line and (is_own or _brings(success, event))
        if success.source != event.source:
            return False
        if success.field("what") in (TESTS, VALUES) and success.first <= event.line:
            return True
        is_of_job = success.field("what") != TESTS or success.field("script")
        is_end = success.field("what") != VALUES and is_of_job and self._failed < success.line
        if not is_end or match.sign.silent or success.line == event.line:
            return False
        # a step of CI failed: what a later one does, says nothing of it
        return not any(event.line <= stop < success.line for stop in self._stops)


def _is_exception(event: Event) -> bool:
    """Whether a process failed by an exception of its own."""
    is_one = event.kind == "exception" and event.fatal
    return is_one and not _OF_CHILDREN.search(event.field("exception"))


def _is_users(event: Event) -> bool:
    """Whether an exception is one of code and data, which no environment brings about."""
    kind = event.field("exception").rpartition(".")[2]
    return kind in _OF_DATA or (kind in _OF_CODE and not _INSTALLED.search(event.field("file")))


def _handled(exceptions: Sequence[Event]) -> Set[Tuple[str, int]]:
    """Sources and lines of imports that were tried, where what failed in their stead is data's."""
    found: Set[Tuple[str, int]] = set()
    last: Dict[str, Event] = {}
    for event in exceptions:
        before = last.get(event.source)
        if (
            before is not None
            and event.field("chained") == "context"
            and event.field("exception").rpartition(".")[2] in _OF_DATA
            and before.field("exception") in ("ImportError", "ModuleNotFoundError")
        ):
            found.add((before.source, before.line))
        last[event.source] = event
    return found


def _steps_before_failures(events: Sequence[Event]) -> Dict[str, int]:
    """Of each source the last line at which a training took steps again and failed later.

    What stands before was got over: the job ended of something else. A training that fails no more
    may be another rank's.
    """
    steps: Dict[str, int] = {}
    lines: Dict[str, int] = {}
    without: Dict[str, int] = {}
    for event in events:
        if event.kind == "progress":
            (without if event.field("without") else lines)[event.source] = event.line
        elif _is_exception(event):
            source = event.source
            if source in lines:
                steps[source] = max(steps.get(source, 0), lines[source])
            # what goes on without a part may fail of its want, not by the user's own fault
            if source in without and event.field("exception").rpartition(".")[2] in _OF_DATA:
                steps[source] = max(steps.get(source, 0), without[source])
    return steps


def _brings(success: Event, fault: Event) -> bool:
    """Whether what was missing was installed; into an environment of a build nothing is."""
    if success.field("what") != "installed" or fault.field("during") == "isolated":
        return False
    distribution = success.field("distribution")
    missing = {canonical(fault.field(field)) for field in ("provider", "name")}
    package = _package(fault.field("library"))
    return distribution in missing or bool(package and distribution.startswith(package))


def _package(library: str) -> str:
    """How the name of Debian's package of a library begins; "" if it is none."""
    named = _SONAME.match(library)
    if named is None:
        return ""
    name = f"lib{named.group(1).lower()}"
    return f"{name}{'-' if name[-1].isdigit() else ''}{named.group(2)}"
