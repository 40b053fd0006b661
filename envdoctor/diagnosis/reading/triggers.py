"""Tells which lines hold one of the words that the readers of a log wait for.

Most of what a log says, it says in few words. So the words of many lines are gathered first, each
is looked at once, and only those triggers are searched of which a word occurred.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Sequence, Set

_CODES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_DIGITS = re.compile("[0-9]+")
_ENCODINGS = ("utf-8", "gbk")
_RUN = re.compile(rb"[a-z]+")
#: All but small letters made to spaces.
_LETTERS = bytes(byte if 97 <= byte <= 122 else 32 for byte in range(256))
#: Not worth looking for by itself.
_SHORT = 3
_GRAM = 4
_MOST_WORDS, _MOST_BYTES = 200_000, 4 << 20
#: Who has said so many words and still brings so many new ones at once, makes noise: there only
#: these are listened for.
_LANGUAGE, _MOST_NEW = 300_000, 4_000
_GENERAL = (b"error", b"traceback", b"exception", b"fatal", b"fail", b"killed", b"abort")


class _Needs:
    """What stands in every line that has a trigger."""

    def __init__(self, whole: Set[bytes], parts: Set[bytes]) -> None:
        self.whole = whole  # words
        self.parts = parts  # parts of words


class _Held(NamedTuple):
    """What a word may be a part of."""

    triggers: List[bytes]
    parts: List[bytes]


class _Index:
    """Triggers by the words that stand in their lines: the same for every log."""

    def __init__(self, words: Iterable[str]) -> None:
        found: Set[bytes] = set()
        for word in words:
            plain = _DIGITS.sub("", word.lower())
            found.update(plain.encode(encoding, "replace") for encoding in _ENCODINGS)
        found.discard(b"")
        self.always: List[bytes] = []  # those without a word
        self.whole: Dict[bytes, List[bytes]] = {}  # by a word that they hold as a whole
        self.inside: Dict[bytes, List[bytes]] = {}  # by a part of a word
        self.needs: Dict[bytes, _Needs] = {}
        for trigger in sorted(found):
            self._add(trigger)
        self.parts = _by_gram(self.inside)
        for needs in self.needs.values():
            needs.parts &= self.inside.keys()

    def _add(self, trigger: bytes) -> None:
        runs = [(run[0], run.start(), run.end()) for run in _RUN.finditer(trigger)]
        whole = [word for word, start, end in runs if start > 0 and end < len(trigger)]
        self.needs[trigger] = _Needs(set(whole), {word for word, _, _ in runs}.difference(whole))
        longest = max(whole, key=len, default=b"")
        if len(longest) > _SHORT:
            self.whole.setdefault(longest, []).append(trigger)
            return
        part = max((word for word, _, _ in runs), key=len, default=b"")
        if len(part) >= _SHORT:
            self.inside.setdefault(part, []).append(trigger)
        else:
            self.always.append(trigger)


@lru_cache(maxsize=2)
def _index(words: FrozenSet[str]) -> _Index:
    return _Index(words)


class Triggers:
    """Words that are waited for, without digits: so are the lines in which they are searched."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._plain: Set[bytes] = set()  # words of none
        self._of_word: Dict[bytes, _Held] = {}
        self._learned = self._bytes = 0
        self._forgotten: Set[bytes] = set()

    @cached_property
    def _index(self) -> _Index:
        return _index(self._words)  # only now: of a short log all lines come

    def plain(self, data: bytes) -> bytes:
        """Bytes without what may stand inside of a word: colours, and NULs."""
        if b"\x1b" in data:
            data = _CODES.sub(b"", data)
        return data.replace(b"\0", b"") if b"\0" in data else data

    def of_interest(self, shapes: Sequence[bytes]) -> Dict[bytes, List[bytes]]:
        """Those of some lines that hold a trigger, with what they hold."""
        joined = b"\n".join(shapes).lower()
        candidates = self._candidates(set(joined.translate(_LETTERS).split()))
        ends: List[int] = []
        found: Dict[bytes, List[bytes]] = {}
        for trigger in candidates:
            at = joined.find(trigger)
            if at >= 0 and not ends:
                ends = list(accumulate(len(shape) + 1 for shape in shapes))
            while at >= 0:
                line = bisect_right(ends, at)
                found.setdefault(shapes[line], []).append(trigger)
                at = joined.find(trigger, ends[line])
        return found

    def forget(self, trigger: bytes) -> None:
        """Look for a trigger no longer."""
        self._forgotten.add(trigger)

    def _candidates(self, words: Set[bytes]) -> Iterable[bytes]:
        """The triggers that may be there where these words are."""
        new = words - self._plain - self._of_word.keys()
        if new:
            self._learn(new)
        candidates = dict.fromkeys(self._index.always)
        parts: Set[bytes] = set()
        for word in words & self._of_word.keys():
            held = self._of_word[word]
            parts.update(held.parts)
            candidates.update(dict.fromkeys(held.triggers))
        return [
            trigger
            for trigger in candidates
            if trigger not in self._forgotten
            and self._index.needs[trigger].whole <= words
            and self._index.needs[trigger].parts <= parts
        ]

    def _learn(self, words: Set[bytes]) -> None:
        """Note of words which triggers they may be a part of."""
        if len(self._plain) + len(self._of_word) > _MOST_WORDS or self._bytes > _MOST_BYTES:
            self._plain.clear()
            self._of_word.clear()
            self._bytes = 0
        index = self._index
        held: Dict[bytes, _Held] = {
            word: _Held(list(index.whole[word]), []) for word in words & index.whole.keys()
        }
        self._learned += len(words)
        is_noise = self._learned > _LANGUAGE and len(words) > _MOST_NEW
        grams = {word: list(index.inside) for word in _GENERAL} if is_noise else index.parts
        joined = b" ".join(words) + b" "
        self._bytes += len(joined)
        for gram, parts in grams.items():
            at = joined.find(gram)
            while at >= 0:
                start, end = joined.rfind(b" ", 0, at) + 1, joined.find(b" ", at)
                word = joined[start:end]
                for part in parts:
                    if part in word:
                        note = held.setdefault(word, _Held([], []))
                        note.parts.append(part)
                        note.triggers.extend(index.inside[part])
                at = joined.find(gram, end)
        self._of_word.update(held)
        if not is_noise:
            self._plain |= words.difference(held)


def _by_gram(parts: Iterable[bytes]) -> Dict[bytes, List[bytes]]:
    """The parts by a few letters that they hold, by as few different ones as can be."""
    grams: Dict[bytes, Set[bytes]] = {}
    for part in parts:
        for at in range(max(1, len(part) - _GRAM + 1)):
            grams.setdefault(part[at : at + _GRAM], set()).add(part)
    chosen: Dict[bytes, List[bytes]] = {}
    left = set(parts)
    while left:
        gram = max(sorted(grams), key=lambda gram: len(grams[gram] & left))
        chosen[gram] = sorted(grams[gram] & left)
        left -= grams[gram]
    return chosen
