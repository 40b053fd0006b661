"""Minimal cores: sets of requirements that nothing satisfies, each member of which is needed.

Junker, "QuickXplain", AAAI 2004; the enumeration follows Liffiton and others, "Fast, flexible MUS
enumeration" (MARCO), with sets small enough to look for unexplored ones directly.
"""

from __future__ import annotations

from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

#: Whether something satisfies all of these requirements.
Satisfiable = Callable[[FrozenSet[str]], bool]

#: Cores that are told.
MOST = 5
#: Questions that an enumeration may ask.
_BUDGET = 400


class Cores(NamedTuple):
    """Minimal cores, those with the weightiest members first."""

    found: Tuple[Tuple[str, ...], ...]
    more: bool  # whether there may be others


def minimal(members: Sequence[str], satisfiable: Satisfiable) -> Tuple[str, ...]:
    """A minimal core among `members`, which nothing satisfies together.

    Earlier members are given up last: where several cores exist, it consists of those.
    """

    def explain(background: FrozenSet[str], is_changed: bool, rest: Sequence[str]) -> List[str]:
        if is_changed and not satisfiable(background):
            return []
        if len(rest) == 1:
            return list(rest)
        half = len(rest) // 2
        first, second = rest[:half], rest[half:]
        of_second = explain(background | frozenset(first), bool(first), second)
        of_first = explain(background | frozenset(of_second), bool(of_second), first)
        return [*of_first, *of_second]

    found = set(explain(frozenset(), True, list(members))) if members else set()
    return tuple(member for member in members if member in found)


def enumerate_cores(
    facts: Sequence[str],
    pins: Sequence[str],
    satisfiable: Satisfiable,
    likely: Sequence[Sequence[str]] = (),
    most: int = MOST,
) -> Cores:
    """Minimal cores of `facts` and `pins`, up to `most`; none if all can be satisfied.

    First the core of facts alone, then those with one pin, in the order of the pins, those within
    the `likely` sets of pins, then others.
    """
    known: Dict[FrozenSet[str], bool] = {}

    def ask(members: FrozenSet[str]) -> bool:
        if members not in known:
            known[members] = satisfiable(members)
        return known[members]

    every = [*facts, *pins]
    if ask(frozenset(every)):
        return Cores((), False)
    cores: List[FrozenSet[str]] = []

    def put(members: Sequence[str]) -> None:
        core = frozenset(minimal(members, ask))
        if core not in cores:
            cores.append(core)

    if not ask(frozenset(facts)):
        put(facts)
    else:
        for pin in pins:
            if len(cores) > most:
                break
            if not ask(frozenset({*facts, pin})):
                put([pin, *facts])
        for several in likely if len(cores) <= most else ():
            if not ask(frozenset(several)):
                put(several)
    more = False
    satisfied: List[FrozenSet[str]] = []
    while len(cores) <= most:
        seed = _unexplored(every, cores, satisfied)
        if seed is None:
            break
        if len(known) > _BUDGET:
            more = True
            break
        if ask(seed):
            satisfied.append(_grown(seed, every, ask))
        else:
            put([member for member in every if member in seed])
    place = {member: n for n, member in enumerate(every)}
    told = [tuple(sorted(core, key=place.__getitem__)) for core in cores]
    rank = {member: n for n, member in enumerate(pins)}
    told.sort(key=lambda core: (len(core), [rank.get(m, -1) for m in core], core))
    return Cores(tuple(told[:most]), more or len(told) > most)


def _grown(seed: FrozenSet[str], every: Sequence[str], ask: Satisfiable) -> FrozenSet[str]:
    """A largest set around `seed` that can be satisfied."""
    found: Set[str] = set(seed)
    for member in every:
        if member not in found and ask(frozenset({*found, member})):
            found.add(member)
    return frozenset(found)


def _unexplored(
    every: Sequence[str], cores: Sequence[FrozenSet[str]], satisfied: Sequence[FrozenSet[str]]
) -> Optional[FrozenSet[str]]:
    """A largest set that holds no known core and lies in no known satisfied one; None if none is.

    It leaves out at least one member of each core; what it leaves out is as little as can be.
    """
    for left_out in _hitting([sorted(core) for core in cores], frozenset()):
        seed = frozenset(every) - left_out
        if not any(seed <= one for one in satisfied):
            return seed
    return None


def _hitting(cores: Sequence[Sequence[str]], chosen: FrozenSet[str]) -> Iterator[FrozenSet[str]]:
    """Sets that have a member of each core; every smallest one is among them."""
    missed = next((core for core in cores if not chosen & set(core)), None)
    if missed is None:
        yield chosen
        return
    for member in missed:
        yield from _hitting(cores, chosen | {member})
