"""What a core leaves of each component, and which relation took how many builds away."""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from envdoctor.model.build import Build, Value
from envdoctor.relations.components import OF_BUILD
from envdoctor.relations.judge import Breach, Domain, Violation, key
from envdoctor.relations.tell import Teller
from envdoctor.resolver.images import IMAGE, SETS
from envdoctor.resolver.related import AtMachine
from envdoctor.resolver.search import Constraint
from envdoctor.resolver.solver import Solver

#: Kinds of builds that words are made of.
_MOST = 80


class Taken(NamedTuple):
    """Builds of a component that one relation takes away, the others being what they may be."""

    variable: int
    constraint: Constraint
    values: int
    left: Tuple[int, ...]  # per variable, what was left when they went

    @property
    def owner(self) -> Optional[int]:
        """The component whose relation it is, None for a rule of no component."""
        return self.constraint.related.owner if isinstance(self.constraint, AtMachine) else None


def narrow(solver: Solver, core: Sequence[str], relations: Sequence[str]) -> List[Taken]:
    """The builds that go, in the order in which they go, until some component has none."""
    space = solver.space
    problem = solver.problem_of(core, relations)
    masks = list(problem.domains)
    taken: List[Taken] = []
    constraints = sorted(problem.constraints, key=lambda c: len(c.scope))
    is_changed = True
    while is_changed and all(masks):
        is_changed = False
        for constraint in constraints:
            for free in constraint.scope if len(constraint.scope) <= 2 else ():
                gone = _unsupported(constraint, free, masks)
                if not gone or not all(masks):
                    continue
                if space.name_of(constraint):
                    taken.append(Taken(free, constraint, gone, tuple(masks)))
                masks[free] &= ~gone
                is_changed = True
    return taken


def _unsupported(constraint: Constraint, free: int, masks: Sequence[int]) -> int:
    """The values of a variable that fit no value which another one still has."""
    others = [n for n in constraint.scope if n != free]
    if not others:
        return constraint.marks({}, free, masks[free]).rejected & masks[free]
    gone, left = masks[free], masks[others[0]]
    tried: Dict[int, None] = {}
    while left and gone:
        bit = left & -left
        left ^= bit
        value = bit.bit_length() - 1
        alike = constraint.kind(others[0], value)
        if alike in tried:
            continue
        tried[alike] = None
        gone &= constraint.marks({others[0]: value}, free, masks[free]).rejected
    return gone


def why(solver: Solver, taken: Taken, active: Sequence[str], language: str) -> str:
    """Why a relation takes builds away, in the matrices' words; "" if it is none of theirs."""
    constraint = taken.constraint
    if not isinstance(constraint, AtMachine):
        return ""
    space, bound = solver.space, constraint.related.bound
    domains: Dict[str, Domain] = {
        name: (value,) for name, value in space.world.seen(frozenset(active)).items()
    }
    for number, variable in enumerate(space.variables):
        mask = taken.values if number == taken.variable else taken.left[number]
        read = constraint.related.names.get(number)
        if read is not None:
            few = _kinds(variable.values, mask, read)
            domains[variable.name] = few if variable.name == bound.owner else few[-1:]
    for component, places in constraint.related.places.items():
        values = domains[space.variables[places[0]].name]
        if component in SETS and space.variables[places[0]].name == IMAGE:
            found = (v.attributes[SETS[component]] for v in values if isinstance(v, Build))
            domains[component] = tuple(dict.fromkeys(found))
        elif component in OF_BUILD:
            domains[component] = tuple(v.version or v for v in values if isinstance(v, Build))
    _put_modules(domains, space.knowledge.providers)
    owner = tuple(v for v in domains[bound.owner] if isinstance(v, Build))
    if not owner:
        return ""
    violation = Violation(bound.owner, (Breach(bound, owner),))
    teller = Teller(violation, space.relations, domains, space.world.accelerator)
    return teller.part(violation.breaches[0], "why", language) or teller.part(
        violation.breaches[0], "summary", language
    )


def _kinds(values: Sequence[Value], mask: int, names: Tuple[str, ...]) -> Domain:
    """One of each kind of build in a mask, the newest first."""
    kinds: Dict[Tuple[object, ...], Value] = {}
    for position, value in enumerate(values):
        if mask >> position & 1 and isinstance(value, Build):
            kinds.setdefault(key(value, names), value)
    return tuple(kinds.values())[:_MOST]


def _put_modules(domains: Dict[str, Domain], providers: Mapping[str, Sequence[str]]) -> None:
    for module, names in providers.items():
        builds = tuple(v for n in names for v in domains.get(n, ()) if isinstance(v, Build))
        if builds:
            domains[f"module.{module}"] = builds
