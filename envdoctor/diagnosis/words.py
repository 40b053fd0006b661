"""One pattern for many words, in which words that begin alike are looked at once."""

from __future__ import annotations

import re
from typing import Dict, Iterable, List


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds one of some words; nothing if there are none.

    The engine tries the branches of a pattern one after the other at each place of a text: with
    hundreds of words it is ten times as fast if they share their beginnings.
    """
    return re.compile(_branches(sorted(set(words))) or "(?!)")


def _branches(words: List[str]) -> str:
    """What finds one of sorted words; nothing if one of them is empty, which is found anywhere."""
    if not words or not words[0]:
        return ""
    begin = _common(words[0], words[-1])
    if begin:
        return re.escape(begin) + _branches([word[len(begin) :] for word in words])
    by_letter: Dict[str, List[str]] = {}
    for word in words:
        by_letter.setdefault(word[0], []).append(word)
    return "(?:" + "|".join(map(_branches, by_letter.values())) + ")"


def _common(one: str, other: str) -> str:
    """What two words begin with."""
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return one[:at]
