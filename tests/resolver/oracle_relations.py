"""The constraints of a request as tables: relations are asked one combination after another.

Nothing of the search's own judging is used: what a relation says is `Bound.verdict`.
"""

from __future__ import annotations

import itertools
from typing import Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

from oracle_clingo import Row, Table

from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.relations.expression import Expression
from envdoctor.relations.judge import Bound, Verdict, key
from envdoctor.resolver.dear import Dear
from envdoctor.resolver.images import IMAGE, SETS
from envdoctor.resolver.related import AtMachine, Related
from envdoctor.resolver.rules import Forbidden
from envdoctor.resolver.search import Constraint

BROKEN, MENDED, FINE = "broken", "mended by a patch", "fine"


class Kinds(NamedTuple):
    """Of each value of a variable the number of its kind; of each kind a value and a name."""

    numbers: Tuple[int, ...]
    values: Tuple[Value, ...]
    names: Tuple[object, ...]


class Written:
    """Writes constraints of spaces; what a relation said is kept for as long as this is."""

    def __init__(self) -> None:
        self._kinds: Dict[Tuple[int, int], Kinds] = {}
        self._said: Dict[Tuple[object, ...], str] = {}
        self._kept: List[Related] = []  # so that no other takes its place in memory

    def __call__(
        self,
        constraint: Constraint,
        domains: Mapping[int, Sequence[int]],
        sizes: Sequence[int],
    ) -> Table:
        if isinstance(constraint, AtMachine):
            return self._relation(constraint, domains)
        if isinstance(constraint, Forbidden):
            return _forbidden(constraint, sizes)
        assert isinstance(constraint, Dear)
        return _dear(constraint, sizes)

    def _relation(self, constraint: AtMachine, domains: Mapping[int, Sequence[int]]) -> Table:
        related, buying = constraint.related, constraint._buying
        kinds = [self._kinds_of(related, variable) for variable in related.scope]
        possible = [
            sorted({of.numbers[value] for value in domains[variable]})
            for variable, of in zip(related.scope, kinds)
        ]
        patch = (f"patch:{related.bound.relation.waiver}", buying.patch)
        warning = (f"warning:{related.bound.relation.id}:{related.owner}", buying.warning)
        self._kept.append(related)
        machine = tuple(
            repr(constraint._seen.get(component))
            for component in (*related.bound.components, *sorted(related.bound.asked))
            if component not in related.places
        )
        rows: List[Row] = []
        place = related.scope.index(related.owner)
        possible[place] = [
            n for n in possible[place] if _may_speak(related, kinds[place].values[n])
        ]
        for combination in itertools.product(*possible):
            names = tuple(of.names[number] for of, number in zip(kinds, combination))
            asked = (related.bound.relation.id, related.bound.owner, names, machine)
            if asked not in self._said:
                values = [of.values[number] for of, number in zip(kinds, combination)]
                said = says(related, dict(zip(related.scope, values)), constraint._seen)
                self._said[asked] = said
            said = self._said[asked]
            if said == FINE:
                continue
            if said == MENDED and buying.patches:
                rows.append(Row(combination, False, (patch,)))
            elif related.is_hard:
                rows.append(Row(combination, True))
            elif buying.warning:
                rows.append(Row(combination, False, (warning,)))
        return Table(related.scope, tuple(of.numbers for of in kinds), tuple(rows))

    def _kinds_of(self, related: Related, variable: int) -> Kinds:
        """Values that a relation reads the same of."""
        asked = (id(related), variable)
        if asked not in self._kinds:
            read = {"origin"}
            for component, places in (("self", (related.owner,)), *related.places.items()):
                if variable in places:
                    read |= {*related.bound.reads.get(component, ("version",))}
                    if related.variables[variable].name == IMAGE:
                        read.add(SETS.get(component, "version"))
            names = sorted(read)
            numbers: Dict[object, int] = {}
            values: List[Value] = []
            found = []
            for value in related.variables[variable].values:
                listed = isinstance(value, Build) and bool(value.entry)
                kind = (_component(value), listed, _is_known(value, related), key(value, names))
                if kind not in numbers:
                    numbers[kind] = len(values)
                    values.append(value)
                found.append(numbers[kind])
            self._kinds[asked] = Kinds(tuple(found), tuple(values), tuple(numbers))
        return self._kinds[asked]


def _component(value: Value) -> str:
    return value.component if isinstance(value, Build) else ""


def _is_known(value: Value, related: Related) -> bool:
    """Whether a build of the owner is not beyond the releases of the matrices."""
    bound = related.bound
    if not isinstance(value, Build) or value.component != bound.owner or value.version is None:
        return True
    return bound._oldest <= value.version <= bound._newest


def _may_speak(related: Related, owner: Value) -> bool:
    """False where a relation says of the owner alone that it does not speak of it."""
    condition = related.bound.condition
    if not isinstance(owner, Build):
        return False
    if condition is None or not _is_own(condition):
        return True
    return condition.evaluate({"self": owner}) is not False


def _is_own(condition: Expression) -> bool:
    return set(condition.reads) <= {"self"} and not condition.asked


def says(related: Related, chosen: Mapping[int, Value], seen: Mapping[str, Value]) -> str:
    """What a relation says of a choice: a patch mends what sources break."""
    owner = chosen[related.owner]
    if not isinstance(owner, Build):
        return FINE
    bound = related.bound
    verdicts = [
        (bound.verdict({**environment, "self": owner})[0], environment)
        for environment in _environments(related, chosen, seen)
    ]
    if any(verdict is Verdict.FAILS for verdict, _ in verdicts):
        is_source = owner.attributes.get("origin") == "source"
        return MENDED if bound.relation.waiver and is_source else BROKEN
    if related.is_hard and any(
        verdict is Verdict.UNDECIDED and _is_its_own_fault(related, owner, environment)
        for verdict, environment in verdicts
    ):
        return BROKEN
    return FINE


def _environments(
    related: Related, chosen: Mapping[int, Value], seen: Mapping[str, Value]
) -> Iterator[Dict[str, Value]]:
    """Each way to read the components: a module is whichever of its providers are there."""
    bound: Bound = related.bound
    options: List[List[Tuple[str, Value]]] = []
    for component in [*bound.components, *sorted(bound.asked)]:
        values = [chosen[n] for n in related.places.get(component, ())]
        if not values:
            there = [seen.get(component, ABSENT)]
        elif component in SETS and isinstance(values[0], Build) and values[0].component == IMAGE:
            there = [values[0].attributes[SETS[component]]]
        else:
            there = [value for value in values if value != ABSENT] or [ABSENT]
        options.append([(component, value) for value in there])
    for combination in itertools.product(*options):
        yield dict(combination)


def _is_its_own_fault(related: Related, owner: Build, environment: Mapping[str, Value]) -> bool:
    """Whether everything but the build is known, and it would be decided of others."""
    bound = related.bound
    if any(isinstance(value, Unknown) for value in environment.values()) or not owner.entry:
        return False
    builds = [owner, *(value for value in environment.values() if isinstance(value, Build))]
    if any(build.attributes.get("origin") == "source" for build in builds):
        return False
    if bound.condition and bound.condition.evaluate({**environment, "self": owner}) is not True:
        return False
    every = (v for v in related.variables[related.owner].values if isinstance(v, Build))
    others = {key(other, bound.reads["self"]): other for other in every}
    return any(
        bound.verdict({**environment, "self": other})[0] in (Verdict.HOLDS, Verdict.FAILS)
        for other in others.values()
    )


def _forbidden(constraint: Forbidden, sizes: Sequence[int]) -> Table:
    kinds = tuple(
        tuple(constraint.masks[n] >> value & 1 for value in range(sizes[n]))
        for n in constraint.scope
    )
    return Table(constraint.scope, kinds, (Row((1,) * len(kinds), True),))


def _dear(constraint: Dear, sizes: Sequence[int]) -> Table:
    """Kinds of the other: what is dear beside them; of the one: beside which they are dear."""
    masks = list(dict.fromkeys(constraint.masks))
    theirs = tuple(masks.index(mask) for mask in constraint.masks)
    own = [tuple(mask >> value & 1 for mask in masks) for value in range(sizes[constraint.one])]
    distinct = list(dict.fromkeys(own))
    numbers = tuple(distinct.index(one) for one in own)
    price = (constraint.key, constraint.cost)
    pairs = [
        (number, place)
        for number, one in enumerate(distinct)
        for place, is_dear in enumerate(one)
        if is_dear
    ]
    if constraint.scope == (constraint.one, constraint.other):
        rows = tuple(Row(pair, False, (price,)) for pair in pairs)
        return Table(constraint.scope, (numbers, theirs), rows)
    rows = tuple(Row((place, number), False, (price,)) for number, place in pairs)
    return Table(constraint.scope, (theirs, numbers), rows)
