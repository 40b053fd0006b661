"""Takes off what others put before each line, and tells who printed it.

What may be content as well is a prefix where its like stands before the lines around it, so a few
lines are held back until those after them are known.
"""

from __future__ import annotations

import re
from typing import Dict, Iterable, Iterator, List, Optional, Set, Tuple

from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.reading.known_prefixes import (
    REPEATS,
    TRACEBACK,
    Prefix,
    is_alone_enough,
    sure,
    unsure,
)
from envdoctor.model.text import plain_digits

#: How many lines are looked at together, and how many of them wait for the next ones.
_BATCH, _WAITING = 512, 16
#: Lines with the same prefix may have so many others between them.
_NEAR = 10
#: Prefixes stand before prefixes; no more than these are looked for.
_MOST_STACKED = 6
_MOST_KEYS = 1000
#: Before what comes from a program's own line the launcher puts a space, or does not.
_MAY_BE_TIGHT = {"rank", "mpi"}

_HEADER = "Traceback (most recent call last):"
_DIGIT = re.compile(r"\d")
_MOST_LEARNED = 200
_WARNING = re.compile(r"\b(?:W\d{4}|WARN|WARNING|DEBUG)\b")


class Item:
    """A line while its prefixes are taken off."""

    __slots__ = ("gap", "is_open", "number", "sources", "text")

    def __init__(self, number: int, text: str, gap: bool) -> None:
        self.number = number
        self.text = text
        self.gap = gap
        self.sources: List[str] = []
        self.is_open = True  # for another prefix

    def line(self) -> Line:
        """The line as its readers see it."""
        return Line(self.number, plain_digits(self.text), "/".join(self.sources), self.gap)

    def take(self, prefix: Prefix, is_tight: bool) -> None:
        """Take a prefix off."""
        text = self.text[prefix.length :]
        if prefix.kind in _MAY_BE_TIGHT and not is_tight and text.startswith(" "):
            text = text[1:]
        self.text = text
        if prefix.source and prefix.source not in self.sources:
            self.sources.append(prefix.source)


class Prefixes:
    """Takes prefixes off lines that come in order."""

    def __init__(self) -> None:
        self._known: Set[Tuple[str, ...]] = set()  # keys of what was found to be a prefix
        self._tight: Set[str] = set()  # kinds without a space behind them
        self._learned = ""  # a prefix of no known kind, its digits as zeros

    def take_off(self, items: Iterable[Item]) -> Iterator[Item]:
        """The lines without prefixes."""
        batch: List[Item] = []
        for item in items:
            batch.append(item)
            if len(batch) >= _BATCH:
                self._work(batch)
                yield from batch[:-_WAITING]
                batch = batch[-_WAITING:]
        self._work(batch)
        yield from batch

    def _work(self, batch: List[Item]) -> None:
        for _ in range(_MOST_STACKED):
            self._take_sure(batch)
            if not self._take_unsure(batch):
                break
        self._take_learned(batch)

    def _take_sure(self, batch: List[Item]) -> None:
        for _ in range(_MOST_STACKED):
            found = [(item, sure(item.text)) for item in batch if item.is_open]
            for item, prefix in found:
                if prefix and prefix.kind in _MAY_BE_TIGHT and _is_tight(item, prefix):
                    self._tight.add(prefix.kind)
            is_any = False
            for item, prefix in found:
                if prefix is None:
                    item.is_open = False
                else:
                    item.take(prefix, prefix.kind in self._tight)
                    is_any = True
            if not is_any:
                break
        for item in batch:
            item.is_open = True

    def _take_unsure(self, batch: List[Item]) -> bool:
        """Whether any was taken off."""
        found: Dict[Tuple[str, ...], List[Tuple[int, Item, Prefix]]] = {}
        for at, item in enumerate(batch):
            prefix = unsure(item.text)
            if prefix:
                found.setdefault(prefix.key, []).append((at, item, prefix))
        is_any = False
        for key, entries in found.items():
            for cluster in _clusters(entries):
                is_known = key in self._known or self._repeats(cluster)
                if is_known and len(self._known) < _MOST_KEYS:
                    self._known.add(key)
                for _, item, prefix in cluster:
                    if is_known or is_alone_enough(prefix, item.text):
                        item.take(prefix, False)
                        is_any = True
        return is_any

    @staticmethod
    def _repeats(cluster: List[Tuple[int, Item, Prefix]]) -> bool:
        least, is_doubtful = REPEATS[cluster[0][2].kind]
        if len(cluster) < least:
            return False
        return not is_doubtful or any(
            TRACEBACK.match(item.text, prefix.length) for _, item, prefix in cluster
        )

    def _take_learned(self, batch: List[Item]) -> None:
        """Take off what stands before a traceback and before the line that follows it."""
        for at, item in enumerate(batch):
            head = self._shape_before_traceback(
                item, batch[at + 1] if at + 1 < len(batch) else None
            )
            if head is not None:
                self._learned = head
            if self._learned and _shape(item.text[: len(self._learned)]) == self._learned:
                item.text = item.text[len(self._learned) :]

    @staticmethod
    def _shape_before_traceback(item: Item, following: Optional[Item]) -> Optional[str]:
        at = item.text.find(_HEADER, 1, _MOST_LEARNED + len(_HEADER))
        if at < 0 or following is None or not item.text[:at].strip():
            return None
        if is_warning(item.text[:at]):
            return None
        shape = _shape(item.text[:at])
        after = following.text
        if _shape(after[:at]) == shape and after[at : at + 8] == '  File "':
            return shape
        return None


def is_warning(head: str) -> bool:
    """Whether a logger says before a traceback that it only warns of it."""
    return _WARNING.search(head) is not None


def _is_tight(item: Item, prefix: Prefix) -> bool:
    """Whether what follows a prefix shows that no space belongs to it."""
    return item.text[prefix.length : prefix.length + 1] not in ("", " ", "[")


def _shape(text: str) -> str:
    return _DIGIT.sub("0", text)


def _clusters(
    entries: List[Tuple[int, Item, Prefix]],
) -> Iterator[List[Tuple[int, Item, Prefix]]]:
    """The lines in groups that stand near one another, and in which no value falls."""
    cluster: List[Tuple[int, Item, Prefix]] = []
    for entry in entries:
        if cluster:
            last = cluster[-1]
            if entry[0] - last[0] > _NEAR or entry[2].value < last[2].value:
                yield cluster
                cluster = []
        cluster.append(entry)
    if cluster:
        yield cluster
