"""Joins lines that a terminal broke at its edge, as logs have them that were copied from one.

Such a log has several lines of one length, and none that is longer. A log that is long is not
looked at: nobody copies thousands of lines from a terminal.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Iterable, Iterator, List, Optional, Set

from envdoctor.diagnosis.reading.prefixes import Item

_MOST_LINES, _MOST_CHARACTERS = 3000, 300_000
_NARROWEST, _WIDEST = 60, 400
#: How many different lines are broken at the edge, at least; and at that of usual terminals.
_LEAST, _LEAST_OF_USUAL = 3, 2
_USUAL = {80, 100, 120, 132, 160}
_MOST_JOINED = 60
_DIGITS = re.compile(r"\d+")
#: Rules, tables and bars are as wide as each other without being broken.
_DRAWN = re.compile(r"(?:[|\u2502]|([+=_*#~!.^\u2500-\u259f-])\1\1)$")
#: With what no line goes on.
_BEGINS = re.compile(
    r"Traceback \(most|\s{1,40}File \"|[A-Za-z_.]{1,100}(?:Error|Exception|Warning): |\[|\(|>>>|\$ "
)


def unwrapped(items: Iterable[Item]) -> Iterator[Item]:
    """The lines, whole."""
    held: List[Item] = []
    length = 0
    incoming = iter(items)
    for item in incoming:
        held.append(item)
        length += len(item.text)
        if len(held) > _MOST_LINES or length > _MOST_CHARACTERS:
            yield from held
            yield from incoming
            return
    width = _edge(held)
    if width is None:
        yield from held
    else:
        yield from _joined(held, width)


def _edge(items: List[Item]) -> Optional[int]:
    """The width at which lines were broken; None if they were not."""
    widths = [_width(item.text) for item in items]
    edge = max(widths, default=0)
    if not _NARROWEST <= edge <= _WIDEST:
        return None
    broken: Set[str] = set()
    going_on = 0
    for at, width in enumerate(widths):
        if width != edge or _DRAWN.search(items[at].text):
            continue
        following = items[at + 1].text if at + 1 < len(items) else ""
        if not following or _BEGINS.match(following):
            return None
        broken.add(_DIGITS.sub("", items[at].text))
        going_on += following[0] != " "
    least = _LEAST_OF_USUAL if edge in _USUAL else _LEAST
    return edge if len(broken) >= least and going_on * 2 > len(broken) else None


def _joined(items: List[Item], edge: int) -> Iterator[Item]:
    whole: Optional[Item] = None
    joined = 0
    for item in items:
        is_full = _width(item.text) == edge and not _DRAWN.search(item.text)
        if whole is not None and item.sources != whole.sources:
            yield whole
            whole = None
        if whole is not None:
            whole.text += item.text
            joined += 1
        else:
            whole, joined = item, 0
        if not is_full or joined >= _MOST_JOINED:
            yield whole
            whole = None
    if whole is not None:
        yield whole


def _width(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
