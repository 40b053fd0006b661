"""What may be chosen for a request, and what it has to satisfy, as problems for the search."""

from __future__ import annotations

import copy
import enum
from typing import Dict, FrozenSet, Iterator, List, Optional, Sequence, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build
from envdoctor.model.versions import satisfies
from envdoctor.relations.components import OF_BUILD, PYTHON
from envdoctor.relations.judge import Bound, Relations
from envdoctor.resolver.choices import Choices
from envdoctor.resolver.costs import Costs
from envdoctor.resolver.criteria import Scale
from envdoctor.resolver.dear import Dear, unlike, unseen
from envdoctor.resolver.images import IMAGE as IMAGE_NAME
from envdoctor.resolver.images import SETS
from envdoctor.resolver.related import MODULE, AtMachine, Buying, Related, Variable, Views
from envdoctor.resolver.request import Learned, Pin, Request
from envdoctor.resolver.requirement import NEED, PIN, RELATION, Requirement
from envdoctor.resolver.rules import Rule, Rules
from envdoctor.resolver.search import Constraint, Problem
from envdoctor.resolver.world import World

#: What values of a variable cost, the cheapest first, with the values.
Levels = Tuple[Tuple[int, int], ...]


class Patches(enum.Enum):
    """Whose sources may be patched: nobody's, those of the training code, every project's."""

    NONE = "none"
    TREES = "trees"
    ALL = "all"


class Space:
    """The variables of a request, and everything that speaks of them."""

    def __init__(
        self,
        request: Request,
        world: World,
        relations: Relations,
        learned: Sequence[Learned] = (),
    ) -> None:
        """Raises LookupError for a component that the matrices do not know, WantedError."""
        self.request = request
        self.world = world
        self.relations = relations
        self.knowledge: Knowledge = relations.knowledge
        self.pins: Dict[str, List[Pin]] = {}
        for pin in request.pins:
            self.pins.setdefault(pin.component, []).append(pin)
        choices = Choices(self.pins, world, relations)
        wanted, optional = choices.closure()
        self.optional = frozenset(optional)
        self.fixed = frozenset(choices.fixed)
        self.variables: Tuple[Variable, ...] = tuple(
            choices.variable(name) for name in (*wanted, *optional)
        )
        self.number = {variable.name: n for n, variable in enumerate(self.variables)}
        self.views = Views(self.variables)
        self.costs = Costs(self.variables, wanted, world, self.knowledge)
        self.related = [r for v in self.variables for r in self._related(v.name)]
        self.pinned: Dict[str, Tuple[Pin, int, int]] = dict(self._pinned())
        rules = Rules(request, self.views, self.optional, choices.fixed, world, relations)
        self.rules: Tuple[Rule, ...] = tuple(rules.all(learned))
        self._named = {
            id(constraint): rule.requirement.id
            for rule in self.rules
            if rule.requirement.kind == RELATION
            for constraint in rule.constraints
        }
        self.dear: Tuple[Dear, ...] = tuple(self._dear())
        self.order = self._order()
        self._trees = frozenset(n for n in range(len(self.variables)) if self._is_tree(n))
        self._at: Dict[Tuple[int, FrozenSet[str], Buying, str], AtMachine] = {}
        # what builds cost does not depend on the machine
        self._packed: Dict[Tuple[int, FrozenSet[str], Tuple[str, ...]], Levels] = {}
        self._facts = self._read()

    def at(self, world: World) -> Space:
        """The same on another machine, which differs by facts that are known of both.

        What relations said of this machine is kept: `world` has a tag of its own.
        """
        other = copy.copy(self)
        other.world = world
        other._facts = other._read()  # noqa: SLF001
        return other

    def _read(self) -> Dict[int, FrozenSet[str]]:
        """The facts that each relation reads."""
        return {
            id(related): frozenset(
                fact.requirement.id
                for fact in self.world.facts
                if set(fact.components) & set(related.bound.components)
            )
            for related in self.related
        }

    # --- requirements ------------------------------------------------------------------------

    def requirements(self) -> Tuple[Requirement, ...]:
        """Facts, options and pins, in a fixed order: the hardest to change first."""
        facts = [fact.requirement for fact in self.world.facts]
        rules = [rule.requirement for rule in self.rules if rule.requirement.kind != RELATION]
        pins = [
            Requirement(id_, PIN, str(pin), pin.source)
            for id_, (pin, _, _) in sorted(
                self.pinned.items(), key=lambda item: (-self._weight(item[1][0]), item[0])
            )
        ]
        return (*facts, *rules, *self._needs(), *pins)

    def _needs(self) -> Iterator[Requirement]:
        """That what is wanted is there, whichever build of it."""
        for name, pins in self.pins.items():
            if name in self.knowledge.packages:
                yield Requirement(f"need:{name}", NEED, f"{name} (any build)", pins[0].source)

    def _weight(self, pin: Pin) -> int:
        """How many relations speak of a pin's component: the more, the likelier it is a cause."""
        number = self.number[pin.component]
        return sum(1 for related in self.related if number in related.scope)

    # --- problems ----------------------------------------------------------------------------

    def problem(
        self,
        active: FrozenSet[str],
        soft: FrozenSet[str] = frozenset(),
        scale: Optional[Scale] = None,
        patches: Patches = Patches.NONE,
        relations: Optional[FrozenSet[str]] = None,
        world: Optional[World] = None,
    ) -> Problem:
        """The problem in which the requirements `active` hold.

        Breaking pins of `soft` costs by `scale`; without a scale nothing costs anything.
        `relations` are the only ones that count, all if that is None; `world` stands for the
        machine of the request.
        """
        domains = [self._domain(n, active) for n in range(len(self.variables))]
        for id_, (_, number, mask) in self.pinned.items():
            if id_ in active and id_ not in soft:
                domains[number] &= mask
        buying = Buying()
        if scale is not None:
            patch = scale.pack({"source_patches": (1,)})
            buying = Buying(patch, scale.pack({"tested_distance": (1,)}))
        place = world or self.world
        machine = frozenset(fact.requirement.id for fact in place.facts) & active
        seen = place.seen(machine)
        constraints: List[Constraint] = []
        for rule in self.rules:
            is_on = rule.requirement.kind == RELATION or rule.requirement.id in active
            if relations is not None and rule.requirement.kind == RELATION:
                is_on = rule.requirement.id in relations
            if is_on:
                constraints += rule.constraints
        dear_patches = buying._replace(patches=True)
        held: Dict[FrozenSet[str], FrozenSet[str]] = {}
        for related in self.related:
            if relations is not None and related.bound.relation.id not in relations:
                continue
            if not related.is_hard and scale is None:
                continue
            facts = self._facts[id(related)]
            if facts not in held:
                held[facts] = machine & facts
            is_bought = patches is Patches.ALL or (
                patches is Patches.TREES and related.owner in self._trees
            )
            bought = dear_patches if is_bought else buying
            asked = (id(related), held[facts], bought, place.tag)
            if asked not in self._at:
                self._at[asked] = AtMachine(related, held[facts], seen, bought, place.tag)
            constraints.append(self._at[asked])
        for dear in self.dear if scale is not None else ():
            constraints.append(dear.at(buying.warning))
        levels = [self._levels(n, soft, scale) for n in range(len(self.variables))]
        return Problem(tuple(domains), tuple(levels), tuple(constraints), self.order)

    def _domain(self, number: int, active: FrozenSet[str]) -> int:
        """The values of a variable; it is left out only where nothing needs it."""
        variable = self.variables[number]
        is_needed = variable.name in self.fixed or f"need:{variable.name}" in active
        return variable.there if is_needed else variable.every

    def _is_tree(self, number: int) -> bool:
        """Whether the sources of a variable lie in the training code."""
        return any(pin.tree for pin in self.pins.get(self.variables[number].name, ()))

    def name_of(self, constraint: Constraint) -> str:
        """The relation that a constraint stands for, "" for a fact, a pin or an option."""
        if isinstance(constraint, AtMachine):
            return constraint.related.bound.relation.id
        return self._named.get(id(constraint), "")

    def _levels(
        self, number: int, soft: FrozenSet[str], scale: Optional[Scale]
    ) -> Tuple[Tuple[int, int], ...]:
        variable = self.variables[number]
        if scale is None:
            return ((0, variable.every),)
        own = frozenset(id_ for id_ in soft if self.pinned[id_][1] == number)
        asked = (number, own, scale.order)
        if asked not in self._packed:
            self._packed[asked] = self._levels_of(number, own, scale)
        return self._packed[asked]

    def _levels_of(
        self, number: int, soft: FrozenSet[str], scale: Scale
    ) -> Tuple[Tuple[int, int], ...]:
        variable = self.variables[number]
        levels: Dict[int, int] = {}
        pins = [(pin, mask) for id_, (pin, n, mask) in self.pinned.items() if n == number]
        soft_pins = [
            (pin, mask)
            for id_, (pin, n, mask) in self.pinned.items()
            if n == number and id_ in soft
        ]
        for position, value in enumerate(variable.values):
            cost = self.costs.of(variable.name, position, value, soft_pins, pins, scale)
            levels[cost] = levels.get(cost, 0) | 1 << position
        return tuple(sorted(levels.items()))

    # --- what speaks of them -------------------------------------------------------------------

    def _related(self, name: str) -> Iterator[Related]:
        if name not in self.knowledge.packages:
            return
        vendor = self.world.accelerator
        by_pip = not any(pin.tree for pin in self.pins.get(name, ()))
        for bound in self.relations.of(name):
            if bound.relation.accelerator and vendor not in ("", bound.relation.accelerator):
                continue
            if bound.relation.severity == "info" or bound.is_of_files:
                continue
            places = self._places(bound)
            if places is not None:
                yield Related(bound, self.number[name], places, self.views, by_pip)

    def _places(self, bound: Bound) -> Optional[Dict[str, Tuple[int, ...]]]:
        """The variables that the components of a relation stand for; None where it is idle."""
        places: Dict[str, Tuple[int, ...]] = {}
        for component in (*bound.components, *sorted(bound.asked)):
            if component.startswith(MODULE):
                names: Sequence[str] = self.knowledge.providers[component[len(MODULE) :]]
            elif component in SETS and IMAGE_NAME in self.number:
                names = (IMAGE_NAME,)
            elif component in OF_BUILD:
                names = (OF_BUILD[component],)
            else:
                names = (component,)
            found = tuple(self.number[n] for n in names if n in self.number)
            if found:
                places[component] = found
            elif component in bound.components and component not in self.world.values:
                return None
        return places

    def _satisfies(self, build: Build, pin: Pin) -> bool:
        if build.version is None:
            return False
        specifier = pin.specifier
        if pin.component == PYTHON and specifier.startswith("==") and specifier.count(".") == 1:
            specifier += "" if specifier.endswith("*") else ".*"
        if not satisfies(build.version, specifier):
            return False
        package = self.knowledge.packages.get(pin.component)
        if package is None:
            return True
        return all(
            build.attributes.get(attribute) == package.typed(attribute, raw)
            for attribute, raw in pin.variant.items()
        )

    def _pinned(self) -> Iterator[Tuple[str, Tuple[Pin, int, int]]]:
        counted: Dict[str, int] = {}
        for pins in self.pins.values():
            for pin in pins:
                number = self.number[pin.component]
                mask = self.variables[number].those(
                    lambda build: self._satisfies(build, pin)  # noqa: B023
                )
                if mask == self.variables[number].there:
                    continue  # it asks for the component alone
                counted[pin.component] = counted.get(pin.component, 0) + 1
                more = f":{counted[pin.component]}" if counted[pin.component] > 1 else ""
                yield f"pin:{pin.component}{more}", (pin, number, mask)

    def _dear(self) -> Iterator[Dear]:
        yield from unlike(self.variables, self.number, self.knowledge)
        yield from unseen(self.variables, self.number)

    def _order(self) -> Tuple[int, ...]:
        """Frameworks first, since the rest is made for them; then what has the fewest builds."""

        def rank(number: int) -> Tuple[int, int, int]:
            variable = self.variables[number]
            package = self.knowledge.packages.get(variable.name)
            is_framework = package is not None and package.is_framework
            return (int(not is_framework), int(variable.name != PYTHON), len(variable.values))

        return tuple(sorted(range(len(self.variables)), key=rank))
