"""Whether a regular expression takes linear time on every line: a rule over its parsed form.

A repeat without a bound is *live* if what follows it can begin with what it repeats: the engine
then tries all its ends. It *crosses* if it can run over another place where the pattern could have
begun: a search that fails then begins, and runs to the end, from each of them. Nested or following
one another, each of these takes another power of the line's length. What ends a pattern cannot
fail, and costs nothing.
"""

from __future__ import annotations

import re
import sys
from typing import Any, FrozenSet, Iterator, List, NamedTuple, Tuple

if sys.version_info >= (3, 11):
    from re import _constants as c
    from re import _parser as parser
else:
    import sre_constants as c
    import sre_parse as parser

#: More repeats than these count as without a bound, for lines are cut at about twenty thousand.
BOUND = 2000
#: How many ends live repeats with a bound may have together.
MOST_ENDS = 250_000

#: A repeat that a pattern begins with has no more, unless it starts where words do.
MOST_BEGUN = 128

_OTHER = 128  # stands for all characters beyond ASCII
_END = 129  # stands for the end of the line
_ALL = frozenset(range(_OTHER + 1))
_DIGITS = frozenset(map(ord, "0123456789")) | {_OTHER}
_SPACES = frozenset(map(ord, " \t\n\r\f\v\x1c\x1d\x1e\x1f")) | {_OTHER}
_WORDS = frozenset(n for n in range(128) if chr(n).isalnum() or n == 95) | {_OTHER}
_CATEGORIES = {
    c.CATEGORY_DIGIT: _DIGITS,
    c.CATEGORY_NOT_DIGIT: (_ALL - _DIGITS) | {_OTHER},
    c.CATEGORY_SPACE: _SPACES,
    c.CATEGORY_NOT_SPACE: (_ALL - _SPACES) | {_OTHER},
    c.CATEGORY_WORD: _WORDS,
    c.CATEGORY_NOT_WORD: (_ALL - _WORDS) | {_OTHER},
}
_REPEATS = {c.MAX_REPEAT, c.MIN_REPEAT, getattr(c, "POSSESSIVE_REPEAT", c.MAX_REPEAT)}
_BEGINNINGS = {c.AT_BEGINNING, c.AT_BEGINNING_STRING}

Chars = FrozenSet[int]
Item = Tuple[Any, Any]


class Cost(NamedTuple):
    """What trying a pattern from one place takes."""

    live: int = 0  # the power of the line's length
    ends: int = 1  # of repeats with a bound, together


class Checker:
    """Checks one pattern."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._tree = list(parser.parse(pattern, flags))
        self._flags = flags | re.compile(pattern, flags).flags

    def faults(self, is_anchored: bool = False) -> List[str]:
        """What is wrong; nothing for what is linear. Anchored is what is matched from the start."""
        found: List[str] = []
        cost = self._cost(self._tree, frozenset({_END}), True, found)
        if cost.live > 1:
            found.append(f"takes the line's length to the power of {cost.live}")
        if cost.ends > MOST_ENDS:
            found.append(f"repeats with a bound have {cost.ends} ends together")
        if not is_anchored:
            found += self._crossing(self._tree)
        return found

    # --- what characters --------------------------------------------------------------------

    def _single(self, item: Item) -> Chars:
        """The characters that an item of one character takes."""
        op, value = item
        if op is c.LITERAL:
            found = frozenset({min(value, _OTHER)})
        elif op is c.NOT_LITERAL:
            found = _ALL - ({value} if value < _OTHER else set())
        elif op is c.ANY:
            found = _ALL if self._flags & re.DOTALL else _ALL - {10}
        else:
            found = frozenset()
            is_negated = False
            for kind, part in value:
                if kind is c.NEGATE:
                    is_negated = True
                elif kind is c.LITERAL:
                    found |= {min(part, _OTHER)}
                elif kind is c.RANGE:
                    found |= {min(n, _OTHER) for n in range(part[0], min(part[1], _OTHER) + 1)}
                    found |= {_OTHER} if part[1] >= _OTHER else set()
                else:
                    found |= _CATEGORIES[part]
            if is_negated:
                found = (_ALL - found) | {_OTHER}
        if self._flags & re.IGNORECASE:
            letters = {chr(n) for n in found if n < _OTHER}
            found |= {
                ord(x) for each in letters for x in (each.lower(), each.upper()) if x < "\x80"
            }
        return found

    def _first(self, items: List[Item], follow: Chars) -> Chars:
        """What a sequence may begin with, or what follows it if it may be empty."""
        found: Chars = frozenset()
        for op, value in items:
            if op in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
                return found | self._single((op, value))
            if op is c.AT and value in (c.AT_END, c.AT_END_STRING):
                return found | {_END}
            if op in (c.AT, c.ASSERT, c.ASSERT_NOT):
                continue
            if op is c.GROUPREF or op is c.GROUPREF_EXISTS:
                return found | _ALL
            empty = False
            for body in _bodies(op, value):
                mark = self._first(body, frozenset({-1}))
                empty = empty or -1 in mark
                found |= mark - {-1}
            if op in _REPEATS and value[0] == 0:
                empty = True
            if not empty:
                return found
        return found | follow

    def _taken(self, items: List[Item]) -> Chars:
        """All characters that a sequence may take."""
        found: Chars = frozenset()
        for op, value in items:
            if op in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
                found |= self._single((op, value))
            elif op is c.GROUPREF or op is c.GROUPREF_EXISTS:
                return _ALL
            else:
                for body in _bodies(op, value):
                    found |= self._taken(body)
        return found

    # --- from one place ---------------------------------------------------------------------

    def _cost(self, items: List[Item], follow: Chars, is_last: bool, found: List[str]) -> Cost:
        """What a sequence costs; `is_last` if nothing follows it that could fail."""
        total = Cost()
        for at, (op, value) in enumerate(items):
            rest = items[at + 1 :]
            after = self._first(rest, follow)
            last = is_last and self._cannot_fail((op, value), rest)
            if op in _REPEATS:
                cost = self._repeat(value, after, last, found)
            elif op in (c.ASSERT, c.ASSERT_NOT):
                cost = self._cost(list(value[1]), frozenset({_END}), True, found)
            else:
                costs = [self._cost(body, after, last, found) for body in _bodies(op, value)]
                cost = Cost(
                    max((each.live for each in costs), default=0),
                    max((each.ends for each in costs), default=1),
                )
            if op in _REPEATS and cost.live and self._runs_on(rest, is_last):
                found.append("a repeat without a bound is tried anew from each end of another")
            total = Cost(total.live + cost.live, min(total.ends * cost.ends, 10**12))
        return total

    def _cannot_fail(self, item: Item, rest: List[Item]) -> bool:
        """Whether what follows an item cannot fail; the end does not after what takes all."""
        if rest and rest[0] == (c.AT, c.AT_END) and self._taken([item]) >= _ALL - {10}:
            rest = rest[1:]
        return not any(_may_fail(each) for each in rest)

    def _runs_on(self, rest: List[Item], is_last: bool) -> bool:
        """Whether a repeat without a bound starts wherever the one before may end."""
        return any(
            not last and not self._is_held(before, self._taken(body))
            for before, body, last in self._unbounded(rest, [], is_last)
        )

    def _repeat(self, value: Any, after: Chars, is_last: bool, found: List[str]) -> Cost:
        least, most, body = value
        body = list(body)
        again = self._first(body, frozenset()) if most > 1 else frozenset()
        inner = self._cost(body, after | again, False, found)
        if most > BOUND and inner.live:
            found.append("a live repeat without a bound is repeated without one")
        if most > BOUND and self._has_like_branches(body):
            found.append("what is repeated without a bound may be read in two ways")
        is_live = bool(self._first(body, frozenset()) & after) and not is_last
        if most > BOUND:
            return Cost(inner.live + is_live, inner.ends)
        ends = inner.ends ** min(most, 3) if inner.ends > 1 else 1
        return Cost(inner.live, ends * (most - least + 1 if is_live else 1))

    def _has_like_branches(self, items: List[Item]) -> bool:
        """Whether two branches may begin alike."""
        for op, value in items:
            if op is c.BRANCH:
                seen: Chars = frozenset()
                for body in value[1]:
                    first = self._first(list(body), frozenset())
                    if first & seen:
                        return True
                    seen |= first
            if any(self._has_like_branches(body) for body in _bodies(op, value)):
                return True
        return False

    # --- from all places --------------------------------------------------------------------

    def _crossing(self, items: List[Item]) -> List[str]:
        """Repeats without a bound that run over places where the pattern could have begun."""
        found = []
        for before, body, is_last in self._unbounded(items, [], True):
            taken = self._taken(body)
            if is_last or self._is_held(before, taken):
                continue
            found.append("a repeat without a bound runs over where the pattern may begin")
        if self._begins_long(items, [], True):
            found.append(f"a repeat of more than {MOST_BEGUN} begins anew at every character")
        return found

    def _begins_long(self, items: List[Item], before: List[Item], is_last: bool) -> bool:
        """Whether a pattern begins with a long repeat that may start at every character."""
        for at, (op, value) in enumerate(items):
            stands = [*before, *items[:at]]
            last = is_last and self._cannot_fail((op, value), items[at + 1 :])
            if op in _REPEATS and MOST_BEGUN < value[1] <= BOUND:
                if not last and not self._is_held(stands, self._taken(list(value[2]))):
                    return True
            elif op is c.SUBPATTERN and self._begins_long(list(value[-1]), stands, last):
                return True
            if _may_fail((op, value)) and op not in (c.AT, c.ASSERT, c.ASSERT_NOT):
                return False
        return False

    def _unbounded(
        self, items: List[Item], before: List[Item], is_last: bool
    ) -> Iterator[Tuple[List[Item], List[Item], bool]]:
        for at, (op, value) in enumerate(items):
            last = is_last and self._cannot_fail((op, value), items[at + 1 :])
            stands = [*before, *items[:at]]
            if op in _REPEATS and value[1] > BOUND:
                yield stands, list(value[2]), last
            elif op not in (c.ASSERT, c.ASSERT_NOT):
                for body in _bodies(op, value):
                    yield from self._unbounded(body, stands, last)

    def _is_held(self, before: List[Item], taken: Chars) -> bool:
        """Whether something before a repeat is there once only, or cannot be in what it takes."""
        for op, value in before:
            if op is c.AT and value in _BEGINNINGS:
                return True
            if op is c.AT and value is c.AT_BOUNDARY and (taken <= _WORDS):
                return True
            if op is c.ASSERT_NOT and value[0] < 0 and taken <= self._taken(list(value[1])):
                return True
            if op in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
                if not self._single((op, value)) & taken:
                    return True
                continue
            bodies = _bodies(op, value) if op not in _REPEATS or value[0] > 0 else []
            if bodies and all(self._is_held(body, taken) for body in bodies):
                return True
        return False


def _bodies(op: Any, value: Any) -> List[List[Item]]:
    if op is c.BRANCH:
        return [list(each) for each in value[1]]
    if op is c.SUBPATTERN:
        return [list(value[-1])]
    if op in _REPEATS:
        return [list(value[2])]
    if op is getattr(c, "ATOMIC_GROUP", None):
        return [list(value)]
    if op is c.GROUPREF_EXISTS:
        return [list(each) for each in value[1:] if each]
    return []


def _may_fail(item: Item) -> bool:
    """Whether an item may fail where it is tried."""
    op, value = item
    if op in _REPEATS and value[0] == 0:
        return False
    if op is c.SUBPATTERN:
        return any(_may_fail(each) for each in value[-1])
    if op is c.BRANCH:
        return all(any(_may_fail(each) for each in body) for body in value[1])
    return True


def faults(pattern: str, flags: int = 0, is_anchored: bool = False) -> List[str]:
    """What keeps a pattern from taking linear time; nothing if it does."""
    return Checker(pattern, flags).faults(is_anchored)
