"""What may be chosen for a request, and what it has to satisfy, as problems for the search."""

from __future__ import annotations

import copy
import enum
import itertools
from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.resolution import HOST, IMAGE
from envdoctor.model.versions import parse, satisfies
from envdoctor.relations.components import OF_BUILD, PYTHON
from envdoctor.relations.judge import Bound, Relations
from envdoctor.relations.observe import kind
from envdoctor.relations.repair import Repairs
from envdoctor.relations.wanted import Wanted, builds_of
from envdoctor.resolver.criteria import Scale, Steps
from envdoctor.resolver.dear import Dear, unlike, unseen
from envdoctor.resolver.images import IMAGE as IMAGE_NAME
from envdoctor.resolver.images import SETS, images
from envdoctor.resolver.related import SOURCE, AtMachine, Buying, Related, Variable, Views
from envdoctor.resolver.request import PROFILE, Learned, Pin, Request
from envdoctor.resolver.requirement import FACT, NEED, OPTION, PIN, RELATION, Requirement
from envdoctor.resolver.search import Constraint, Marks, Problem
from envdoctor.resolver.world import World

_MODULE = "module."
#: A patch release that serves metadata which asks for a late one of a series, ">=3.8.1".
_LATE = 20


class Patches(enum.Enum):
    """Whose sources may be patched: nobody's, those of the training code, every project's."""

    NONE = "none"
    TREES = "trees"
    ALL = "all"


class Rule(NamedTuple):
    """A requirement that is no relation of the matrices, as constraints."""

    requirement: Requirement
    constraints: Tuple[Constraint, ...]
    facts: FrozenSet[str] = frozenset()  # without which it says nothing


class Forbidden(Constraint):
    """Combinations that are not allowed: per variable of the scope a mask, all of them together."""

    def __init__(self, masks: Mapping[int, int]) -> None:
        self.masks = dict(masks)
        self.scope = tuple(sorted(masks))

    def marks(self, chosen: Mapping[int, int], free: int, mask: int) -> Marks:
        """The mask of `free` where the rest of the combination is chosen."""
        for variable, values in self.masks.items():
            if variable != free and not values >> chosen[variable] & 1:
                return Marks(0)
        return Marks(self.masks[free] & mask)

    def kind(self, variable: int, value: int) -> int:
        """Whether a value is a part of the combination."""
        return self.masks[variable] >> value & 1


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
        self.fixed = self._fixed()
        wanted, optional = self._closure()
        self.wanted = wanted
        self.optional = frozenset(optional)
        self.variables: Tuple[Variable, ...] = tuple(
            self._variable(name) for name in (*wanted, *optional)
        )
        self.number = {variable.name: n for n, variable in enumerate(self.variables)}
        self.views = Views(self.variables)
        self.steps = {v.name: self._steps(v) for v in self.variables}
        self.related = [r for v in self.variables for r in self._related(v.name)]
        self.pinned: Dict[str, Tuple[Pin, int, int]] = dict(self._pinned())
        self.rules: Tuple[Rule, ...] = (*self._rules(), *self._learned(learned))
        self._named = {
            id(constraint): rule.requirement.id
            for rule in self.rules
            if rule.requirement.kind == RELATION
            for constraint in rule.constraints
        }
        self.dear: Tuple[Dear, ...] = tuple(self._dear())
        self.order = self._order()
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
            if is_on and rule.facts <= active:
                constraints += rule.constraints
        for related in self.related:
            if relations is not None and related.bound.relation.id not in relations:
                continue
            if not related.is_hard and scale is None:
                continue
            facts = self._facts[id(related)]
            may_buy = patches is Patches.ALL or (
                patches is Patches.TREES and self._is_tree(related.owner)
            )
            bought = buying._replace(patches=may_buy)
            constraints.append(AtMachine(related, machine & facts, seen, bought, place.tag))
        for dear in self.dear if scale is not None else ():
            dear.cost = buying.warning * dear.steps
            constraints.append(dear)
        levels = [self._levels(n, soft, scale) for n in range(len(self.variables))]
        return Problem(tuple(domains), tuple(levels), tuple(constraints), self.order)

    def _domain(self, number: int, active: FrozenSet[str]) -> int:
        """The values of a variable; it is left out only where nothing needs it."""
        variable = self.variables[number]
        if variable.name in self.optional or variable.name not in self.knowledge.packages:
            return variable.every
        is_needed = variable.name not in self.pins or f"need:{variable.name}" in active
        return self._there(number) if is_needed else variable.every

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
        levels: Dict[int, int] = {}
        pins = [(pin, mask) for id_, (pin, n, mask) in self.pinned.items() if n == number]
        soft_pins = [
            (pin, mask)
            for id_, (pin, n, mask) in self.pinned.items()
            if n == number and id_ in soft
        ]
        for position, value in enumerate(variable.values):
            cost = self._cost(variable.name, position, value, soft_pins, pins, scale)
            levels[cost] = levels.get(cost, 0) | 1 << position
        return tuple(sorted(levels.items()))

    def _cost(
        self,
        name: str,
        position: int,
        value: Value,
        soft: Sequence[Tuple[Pin, int]],
        pins: Sequence[Tuple[Pin, int]],
        scale: Scale,
    ) -> int:
        if not isinstance(value, Build):
            return 0
        steps = self.steps[name]
        dropped = [pin for pin, mask in soft if not mask >> position & 1]
        costs: Dict[str, Tuple[int, ...]] = {"dropped_pins": (len(dropped),)}
        apart = [0, 0, 0, 0]
        for pin in dropped:
            for n, part in enumerate(steps.pin_distance(self._apart(pin, value))):
                apart[n] += part
        costs["pin_distance"] = tuple(apart)
        tested = 0
        for pin, mask in pins:
            if pin.by == PROFILE and not mask >> position & 1:
                tested += sum(self._apart(pin, value))
        costs["tested_distance"] = (tested,)
        origin = value.attributes.get("origin")
        costs["source_builds"] = (int(origin == SOURCE and bool(value.attributes.get("compiles"))),)
        costs["changes"] = (int(self._is_change(name, value)),)
        costs["age"] = (self._age(name, value),)
        is_spare = name not in self.wanted or _has_toolkit(value)
        costs["spare"] = (int(is_spare),)
        costs["choice"] = (2 * self._choice(name) + int(_is_elsewhere(value)),)
        return scale.pack(costs)

    def _age(self, name: str, build: Build) -> int:
        """How many releases are newer; of an image the systems, then those of its toolkit."""
        if name != IMAGE_NAME:
            return self.steps[name].age(build)
        every = [b for b in self.variables[self.number[name]].values if isinstance(b, Build)]
        system, toolkit = (build.attributes.get(part) for part in ("os", "toolkit"))
        systems = sorted({str(b.attributes["os"]) for b in every})
        newer = [
            b
            for b in every
            if isinstance(toolkit, Version)
            and b.attributes["os"] == system
            and _is_newer_patch(b.attributes.get("toolkit"), toolkit)
        ]
        return (len(systems) - 1 - systems.index(str(system))) + len(newer)

    def _apart(self, pin: Pin, build: Build) -> Tuple[int, int, int]:
        package = self.knowledge.packages.get(pin.component)
        cuda: Optional[Value] = None
        if package is not None and "cuda" in pin.variant:
            cuda = package.typed("cuda", pin.variant["cuda"])
        steps = self.steps[pin.component]
        return steps.from_stated(build, steps.stated(pin.specifier), cuda)

    def _is_change(self, name: str, build: Build) -> bool:
        """Whether what is installed is another; nothing is where a new image is made."""
        if self.world.target == IMAGE or name == IMAGE_NAME:
            return False
        domain = self.world.observation.domains.get(name, ())
        there = [b for b in domain if isinstance(b, Build)]
        if name == PYTHON:
            tags = {b.attributes.get("tag") for b in there}
            return bool(there) and build.attributes.get("tag") not in tags
        if self.world.target != HOST:
            return False
        return not any(one is build for one in there)

    def _choice(self, name: str) -> int:
        """The place of a package among those that provide the same module."""
        package = self.knowledge.packages.get(name)
        if package is None or name in self.wanted:
            return 0
        places = [self.knowledge.providers[m].index(name) for m in package.modules]
        return min(places, default=0)

    # --- variables ---------------------------------------------------------------------------

    def _closure(self) -> Tuple[List[str], List[str]]:
        """The components that are wanted, and those that may be needed beside them."""
        wanted = list(self.pins)
        if self.world.target == HOST:
            wanted += [name for name in self.fixed if name not in wanted]
        for name in wanted:
            package = self.knowledge.packages.get(name)
            if package is None and name != PYTHON:
                raise LookupError(f"the matrices do not know {name}")
            wanted += [n for n in (package.requires if package else ()) if n not in wanted]
        optional: List[str] = []
        for name in (*wanted, *optional):
            for module in self._modules(name):
                providers = self.knowledge.providers[module]
                if not any(n in wanted for n in providers):
                    optional += [n for n in providers if n not in optional]
        for name in optional:
            required = self.knowledge.packages[name].requires
            optional += [n for n in required if n not in optional and n not in wanted]
        fixed = [name for name in (PYTHON,) if name not in wanted]
        if self.world.target == IMAGE:
            fixed.append(IMAGE_NAME)
        return [*fixed, *wanted], optional

    def _modules(self, name: str) -> Iterator[str]:
        """The modules without which a package does not work."""
        if name not in self.knowledge.packages:
            return
        for bound in self.relations.of(name):
            if bound.relation.severity == "error":
                for component in sorted(bound.asked):
                    if component.startswith(_MODULE):
                        yield component[len(_MODULE) :]

    def _fixed(self) -> Dict[str, Tuple[Build, ...]]:
        """What is installed where packages alone may change."""
        if self.world.target != HOST:
            return {}
        domains = self.world.observation.domains
        return {
            name: tuple(b for b in domains[name] if isinstance(b, Build))
            for name in self.knowledge.packages
            if any(isinstance(b, Build) for b in domains.get(name, ()))
        }

    def _variable(self, name: str) -> Variable:
        if name == PYTHON:
            return Variable(name, tuple(self._pythons()))
        if name == IMAGE_NAME:
            return Variable(name, tuple(images(self.knowledge)))
        return Variable(name, (*self._builds(self.knowledge.packages[name]), ABSENT))

    def _pythons(self) -> Iterator[Build]:
        if isinstance(self.world.python, Build):
            yield self.world.python
            return
        for series, row in reversed(list(self.knowledge.tables["python"].rows.items())):
            if isinstance(series, Version):
                late = parse(f"{series}.{_LATE}")
                yield Build(PYTHON, late, {"tag": row["tag"]}, label=str(series), entry="python")

    def _builds(self, package: Package) -> Iterator[Build]:
        """The builds that may be taken: the newest first, none for the processor beside a GPU."""
        pins = self.pins.get(package.name, ())
        every = [b for b in reversed(package.builds()) if self._is_offered(b, package)]
        early = any(_names_prerelease(pin.specifier) for pin in pins)
        if not early:
            released = [b for b in every if b.version and not b.version.is_prerelease]
            every = released or every
        if any(pin.tree for pin in pins):
            every = [b for b in every if b.attributes.get("origin") in (SOURCE, None)]
        if self.world.has_gpu and not any(_is_for_cpu(pin) for pin in pins):
            every = [b for b in every if kind(b) != "cpu"] or every
        there = self.fixed.get(package.name, ())
        yield from there
        seen = {id(b) for b in there}
        yield from (b for b in every if id(b) not in seen)
        yield from self._unlisted(package, pins)

    def _is_offered(self, build: Build, package: Package) -> bool:
        """Whether it can be had: the matrices say how, or it has sources that are known to build.

        Of what has wheels, and none for this Python, nobody knows whether its sources build.
        """
        if build.attributes.get("origin") == SOURCE:
            compiles = build.attributes.get("compiles")
            if compiles is not None:
                return compiles == "cuda"
            return not any(
                b.attributes.get("origin") == "wheel" for b in package.builds(build.version)
            )
        if "install" in build.attributes:
            return True
        return not any("install" in b.attributes for b in package.builds())

    def _unlisted(self, package: Package, pins: Sequence[Pin]) -> Iterator[Build]:
        """Releases that a pin names and the matrices do not have."""
        for pin in pins:
            exact = pin.specifier[2:] if pin.specifier.startswith("==") else ""
            version = parse(exact) if exact and "*" not in exact and "," not in exact else None
            if version is None or any(satisfies(v, pin.specifier) for v in package.releases):
                continue
            architecture = self.world.values["host.architecture"]
            yield from builds_of(Wanted(package.name, label=exact), self.knowledge, architecture)

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
            if component.startswith(_MODULE):
                names: Sequence[str] = self.knowledge.providers[component[len(_MODULE) :]]
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

    def _pinned(self) -> Iterator[Tuple[str, Tuple[Pin, int, int]]]:
        counted: Dict[str, int] = {}
        for pins in self.pins.values():
            for pin in pins:
                number = self.number[pin.component]
                mask = 0
                for position, value in enumerate(self.variables[number].values):
                    if isinstance(value, Build) and self._satisfies(value, pin):
                        mask |= 1 << position
                if mask == self._there(number):
                    continue  # it asks for the component alone
                counted[pin.component] = counted.get(pin.component, 0) + 1
                more = f":{counted[pin.component]}" if counted[pin.component] > 1 else ""
                yield f"pin:{pin.component}{more}", (pin, number, mask)

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

    def _rules(self) -> Iterator[Rule]:
        """What holds beside the relations."""
        yield from self._kept()
        yield from self._toolkits()
        yield from self._provided()
        if self.request.no_source:
            text = "nothing is compiled (--no-source)"
            yield self._forbids("no-source", OPTION, text, "command line", _is_compiled)

    def _forbids(
        self, id_: str, what: str, text: str, source: str, test: Callable[[Build], bool]
    ) -> Rule:
        constraints = []
        for number, variable in enumerate(self.variables):
            mask = self._mask(number, test)
            if mask and variable.name in self.knowledge.packages:
                constraints.append(Forbidden({number: mask}))
        return Rule(Requirement(id_, what, text, source), tuple(constraints))

    def _mask(self, number: int, test: Callable[[Build], bool]) -> int:
        return sum(
            1 << position
            for position, value in enumerate(self.variables[number].values)
            if isinstance(value, Build) and test(value)
        )

    def _kept(self) -> Iterator[Rule]:
        """Installed builds that are never exchanged: vendors', conda's, those from source."""
        if not self.fixed:
            return
        repairs = Repairs(self.world.observation, self.relations)
        for name in self.fixed:
            number = self.number[name]
            why = repairs.stays(name) if name in repairs.installed else ""
            if not why:
                continue
            there = {id(b) for b in self.fixed[name]}
            others = self._mask(number, lambda build: id(build) not in there)  # noqa: B023
            label = repairs.installed[name].label
            text = f"{name} {label} stays: it is {why}"
            origin = self.world.observation.evidence[name].origin
            requirement = Requirement(f"installed:{name}", FACT, text, origin)
            yield Rule(requirement, (Forbidden({number: others}),) if others else ())

    def _toolkits(self) -> Iterator[Rule]:
        """What is compiled for a GPU needs a toolkit, and an image brings its framework's CUDA."""
        compiled = {
            number: mask
            for number, variable in enumerate(self.variables)
            if variable.name in self.knowledge.packages
            for mask in [self._mask(number, _is_compiled_for_gpus)]
            if mask
        }
        text = "what is compiled for a GPU needs a CUDA toolkit"
        requirement = Requirement("build/toolkit", RELATION, text, "torch/utils/cpp_extension.py")
        image = self.number.get(IMAGE_NAME)
        if image is None:
            toolkit = self.world.values["build.toolkit"]
            if not isinstance(toolkit, Version):
                rules = tuple(Forbidden({number: mask}) for number, mask in compiled.items())
                yield Rule(requirement, rules)
            return
        plain = self._mask(image, lambda build: build.attributes.get("toolkit") == ABSENT)
        rules = tuple(Forbidden({n: mask, image: plain}) for n, mask in compiled.items())
        yield Rule(requirement, rules)
        yield from self._same_cuda(image)

    def _same_cuda(self, image: int) -> Iterator[Rule]:
        found: List[Constraint] = []
        for number, variable in enumerate(self.variables):
            package = self.knowledge.packages.get(variable.name)
            if package is None or not package.is_framework or "cuda" not in package.variant:
                continue
            for members in self.views.of(number, ("cuda",))[1]:
                value = variable.values[(members & -members).bit_length() - 1]
                cuda = value.attributes.get("cuda") if isinstance(value, Build) else None
                others = self._mask(image, lambda build: _is_other(build, cuda))  # noqa: B023
                if others:
                    found.append(Forbidden({number: members, image: others}))
        text = "an image with a toolkit has the CUDA that its framework was built for"
        yield Rule(Requirement("image/cuda", RELATION, text, "envdoctor"), tuple(found))

    def _dear(self) -> Iterator[Dear]:
        yield from unlike(self.variables, self.number, self.knowledge)
        yield from unseen(self.variables, self.number)

    def _provided(self) -> Iterator[Rule]:
        """Of several packages that could provide a module one is taken, with what it requires."""
        found: List[Constraint] = []
        optional = [v.name for v in self.variables if v.name in self.optional]
        for providers in self.knowledge.providers.values():
            numbers = [self.number[n] for n in providers if n in optional]
            found += [
                Forbidden({one: self._there(one), other: self._there(other)})
                for one, other in itertools.combinations(numbers, 2)
            ]
        for name in optional:
            for required in self.knowledge.packages[name].requires:
                number = self.number[required]
                absent = self.variables[number].every & ~self._there(number)
                if absent:
                    found.append(
                        Forbidden(
                            {self.number[name]: self._there(self.number[name]), number: absent}
                        )
                    )
        text = "one package provides a module, with what it requires"
        yield Rule(Requirement("module/one", RELATION, text, "envdoctor"), tuple(found))

    def _there(self, number: int) -> int:
        return self._mask(number, lambda _: True)

    def _learned(self, learned: Sequence[Learned]) -> Iterator[Rule]:
        for number, one in enumerate(learned):
            masks = {
                self.number[name]: self._mask(
                    self.number[name],
                    lambda b: b.version is not None and satisfies(b.version, spec),  # noqa: B023
                )
                for name, spec in one.forbidden.items()
                if name in self.number
            }
            if masks:
                requirement = Requirement(f"learned:{number + 1}", RELATION, one.words, one.source)
                yield Rule(requirement, (Forbidden(masks),))

    def _order(self) -> Tuple[int, ...]:
        """Frameworks first, since the rest is made for them; then what has the fewest builds."""

        def rank(number: int) -> Tuple[int, int, int]:
            variable = self.variables[number]
            package = self.knowledge.packages.get(variable.name)
            is_framework = package is not None and package.is_framework
            return (int(not is_framework), int(variable.name != PYTHON), len(variable.values))

        return tuple(sorted(range(len(self.variables)), key=rank))

    def _steps(self, variable: Variable) -> Steps:
        package = self.knowledge.packages.get(variable.name)
        if package is not None:
            extra = [b.version for b in variable.values if isinstance(b, Build) and b.version]
            releases = {*package.releases, *(parse(v.public) for v in extra)}
        else:
            releases = {b.version for b in variable.values if isinstance(b, Build) and b.version}
        return Steps(variable.name, sorted(releases), self.knowledge)


def _names_prerelease(specifier: str) -> bool:
    return any(letter in specifier for letter in ("a", "b", "rc", "dev"))


def _is_for_cpu(pin: Pin) -> bool:
    return pin.variant.get("cuda") == "cpu"


def _is_compiled(build: Build) -> bool:
    return build.attributes.get("origin") == SOURCE and bool(build.attributes.get("compiles"))


def _is_compiled_for_gpus(build: Build) -> bool:
    return build.attributes.get("origin") == SOURCE and build.attributes.get("compiles") == "cuda"


def _is_other(image: Build, cuda: Optional[Value]) -> bool:
    """Whether an image has a toolkit of another CUDA."""
    toolkit = image.attributes.get("toolkit")
    if not isinstance(toolkit, Version):
        return False
    if not isinstance(cuda, Version):
        return cuda is not None and not isinstance(cuda, Unknown)
    return (toolkit.major, toolkit.minor) != (cuda.major, cuda.minor)


def _has_toolkit(build: Build) -> bool:
    """Whether it is an image that brings more than a system."""
    return build.component == IMAGE_NAME and isinstance(build.attributes.get("toolkit"), Version)


def _is_newer_patch(other: Optional[Value], toolkit: Version) -> bool:
    """Whether a toolkit is a later update of the same series."""
    if not isinstance(other, Version):
        return False
    return other.release[:2] == toolkit.release[:2] and other > toolkit


def _is_elsewhere(build: Build) -> bool:
    """Whether it is served from another place than PyPI, where its release is as well."""
    template = build.attributes.get("install")
    return isinstance(template, str) and "://" in template
