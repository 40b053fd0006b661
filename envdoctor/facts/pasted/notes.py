"""What the readers of the formats found in a report, each with its line."""

from __future__ import annotations

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from envdoctor.facts.pasted.text import Line

#: How far a statement is to be trusted beside others: what the running interpreter printed, what a
#: tool listed, what somebody wrote by hand.
RUNNING, LISTED, WRITTEN = 3, 2, 1

_VERSION = re.compile(r"v?(\d{1,8}(?:\.\d{1,8}){1,5}[A-Za-z0-9.+!_-]{0,60})")
_SINGLE = re.compile(r"\d{1,10}[A-Za-z0-9.+!_-]{0,60}")


class Statement(NamedTuple):
    """A value, where it stands, and how far to trust it."""

    value: str
    where: str
    number: int
    rank: int


class Package(NamedTuple):
    """A package as one line of a report states it."""

    version: str
    where: str
    number: int
    rank: int
    build: str = ""  # conda's
    channel: str = ""
    installer: str = ""
    url: str = ""


class Card(NamedTuple):
    """A GPU as one line of a report states it."""

    name: str
    where: str
    number: int
    capability: Optional[str] = None
    memory_mib: Optional[int] = None


class Notes:
    """Everything that was found."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.statements: Dict[str, List[Statement]] = {}
        self.packages: Dict[str, List[Package]] = {}
        #: {source: {index: cards}}; lines that give no index count up from zero
        self.cards: Dict[str, Dict[int, List[Card]]] = {}
        self.conda_listed: Set[str] = set()  # names of every row that conda printed
        self.understood: Set[int] = set()  # numbers of the lines of which something was noted

    def say(self, topic: str, value: str, section: str, line: Line, rank: int = RUNNING) -> None:
        """Keep a value of a topic; an empty one says nothing."""
        value = value.strip()
        if value:
            statement = Statement(value, place(section, line), line.number, rank)
            self.statements.setdefault(topic, []).append(statement)
            self.understood.add(line.number)

    def install(self, name: str, package: Package) -> None:
        """Keep a package under its name as written."""
        self.packages.setdefault(name, []).append(package)
        self.understood.add(package.number)

    def card(self, source: str, indices: Iterable[int], card: Card) -> None:
        """Keep a GPU."""
        self.understood.add(card.number)
        for index in indices:
            self.cards.setdefault(source, {}).setdefault(index, []).append(card)

    def __bool__(self) -> bool:
        return bool(self.statements or self.packages or self.cards)


def place(section: str, line: Line) -> str:
    """Where something stands: "collect_env, line 12"."""
    return f"{section}, line {line.number}"


def version(text: str) -> str:
    """The version that a value begins with, empty if it does not begin with one."""
    match = _VERSION.match(text.strip())
    return match[1].rstrip(".,;") if match else ""


def whole_version(text: str) -> str:
    """A value that is a version and nothing else, else empty."""
    text = text.strip()
    match = _SINGLE.fullmatch(text)
    return text if match else ""


def agree(one: str, other: str) -> bool:
    """Whether two values say the same, one of them perhaps more exactly."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and (long == short or long[len(short)] in ".+ -")


def decide(statements: List[Statement]) -> Tuple[Optional[Statement], str]:
    """The statement to believe, or the reason why none can be: they contradict each other."""
    top = max(statement.rank for statement in statements)
    best = sorted(
        (s for s in statements if s.rank == top), key=lambda s: (-len(s.value), s.value, s.number)
    )
    first = best[0]
    for other in best[1:]:
        if not agree(first.value, other.value):
            return None, (
                f"the report says {first.value} (line {first.number}) "
                f"and {other.value} (line {other.number})"
            )
    return first, ""
