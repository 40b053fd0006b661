"""Failures: how logs show a cause, and what mends it, `matrices/failures/CAUSE.yaml`.

docs/failures.md describes the form to people.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List, Optional, Tuple, Union

from envdoctor.knowledge.cache import cached
from envdoctor.knowledge.document import Document, DocumentError
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.schema import Entry
from envdoctor.model.relation import Words

_HERE = Path(__file__).resolve().parent
_CONFIDENCE = re.compile(r"0\.(?:0[1-9]|[1-9]\d?)")

#: {field: what is searched in it}
Patterns = Dict[str, str]
#: The families of causes.
FAMILIES = (
    "linking",
    "build",
    "packaging",
    "packages",
    "paths",
    "gpu",
    "container",
    "resources",
    "distributed",
)


class Condition(Entry, frozen=True, rename={"kinds": "on", "differs": "not"}):
    """What an event must be like: its kind, what its fields match, and what they do not."""

    kinds: Union[str, List[str]]
    where: Patterns = {}  # all are found; named groups become fields
    differs: Patterns = {}  # none is found
    near: str = ""  # of what must (not) be seen beside: "before", "after", "" for anywhere


class Sign(Entry, frozen=True, rename={"kinds": "on", "differs": "not"}):
    """One way in which logs show a cause."""

    id: str
    kinds: Union[str, List[str]]
    confidence: str  # how often the cause is the root where this is seen, "0.95"
    where: Patterns = {}
    differs: Patterns = {}
    seen: List[Condition] = []  # all of these must be seen in the log as well
    unseen: List[Condition] = []  # and none of these
    silent: str = ""  # "true" if it tells of a fault also where nothing fails afterwards
    general: str = ""  # "true" if it counts only where no other sign tells what the line means
    words: Words = {}  # in place of the cause's

    @property
    def sureness(self) -> float:
        """The confidence, from 0 to 1."""
        return float(self.confidence)


class Cure(Entry, frozen=True):
    """A way out: words, and the commands, which fields of the event fill."""

    words: Dict[str, str]  # by language
    commands: List[str] = []
    where: Patterns = {}  # fields that it is for; all if empty


class Failure(Entry, frozen=True):
    """A cause: its signs in logs, its words, what mends it."""

    cause: str
    family: str
    signs: List[Sign]
    words: Words  # summary, why
    title: str = ""  # of a cause that has no page among the rules
    title_zh: str = ""
    sources: List[str] = []
    over: List[str] = []  # causes that are its consequences where both are seen
    fixes: List[Cure] = []
    verify: List[str] = []
    examples: List[str] = []  # logs of which it is the root cause
    near: List[str] = []  # logs of which it is not


def failures(folder: Optional[Path] = None) -> Dict[str, Failure]:
    """Every failure by its cause, sorted. Raises DocumentError."""
    found = sorted(((folder or data_folder("matrices")) / "failures").glob("*.yaml"))
    sources = [(f"failures/{path.name}", path.read_bytes()) for path in found]
    code = [_HERE / name for name in ("document.py", "schema.py", "failures.py")]
    return cached("failures", sources, code, Dict[str, Failure], _decode_all)


def _decode_all(texts: Dict[str, str]) -> Dict[str, Failure]:
    found = {}
    for name, text in texts.items():
        document = Document(name, text)
        failure = document.decode(Failure)
        if name != f"failures/{failure.cause}.yaml":
            raise DocumentError(
                f"{document.place('cause')}: its file is called {failure.cause}.yaml"
            )
        if failure.family not in FAMILIES:
            raise DocumentError(f"{document.place('family')}: {failure.family!r} is no family")
        _examine(failure, document)
        found[failure.cause] = failure
    return found


def _examine(failure: Failure, document: Document) -> None:
    for index, sign in enumerate(failure.signs):
        where = document.place("signs", index)
        number = _CONFIDENCE.fullmatch(sign.confidence)
        if number is None:
            raise DocumentError(f"{where}: a confidence is 0.01 to 0.99")
        if not {sign.silent, sign.general} <= {"", "true"}:
            raise DocumentError(f"{where}: silent and general are true or absent")
        conditions: List[Union[Sign, Condition]] = [sign, *sign.seen, *sign.unseen]
        for condition in conditions:
            for pattern in (*condition.where.values(), *condition.differs.values()):
                _pattern(pattern, where)
    for index, cure in enumerate(failure.fixes):
        for pattern in cure.where.values():
            _pattern(pattern, document.place("fixes", index))


def _pattern(pattern: str, where: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise DocumentError(f"{where}: {pattern!r}: {error}") from None


def kinds(condition: Union[Sign, Condition]) -> Tuple[str, ...]:
    """The kinds of events that a condition is on."""
    return (condition.kinds,) if isinstance(condition.kinds, str) else tuple(condition.kinds)


__all__ = ["FAMILIES", "Condition", "Cure", "Failure", "Patterns", "Sign", "failures", "kinds"]
