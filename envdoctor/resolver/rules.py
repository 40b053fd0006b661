"""What holds of a stack beside the relations of the matrices."""

from __future__ import annotations

import itertools
from typing import (
    Callable,
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

from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.versions import satisfies
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import is_source
from envdoctor.relations.repair import Repairs
from envdoctor.resolver.images import IMAGE as IMAGE_NAME
from envdoctor.resolver.related import Views
from envdoctor.resolver.request import Learned, Request
from envdoctor.resolver.requirement import FACT, OPTION, RELATION, Requirement
from envdoctor.resolver.search import Constraint, Marks
from envdoctor.resolver.world import World


class Rule(NamedTuple):
    """A requirement that is no relation of the matrices, as constraints."""

    requirement: Requirement
    constraints: Tuple[Constraint, ...]


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


class Rules:
    """The rules of one request."""

    def __init__(
        self,
        request: Request,
        views: Views,
        optional: FrozenSet[str],
        fixed: Mapping[str, Tuple[Build, ...]],
        world: World,
        relations: Relations,
    ) -> None:
        """`optional` are variables that may be left out, `fixed` what is installed."""
        self.request = request
        self.pinned = frozenset(pin.component for pin in request.pins)
        self.views = views
        self.variables = views.variables
        self.number = {variable.name: n for n, variable in enumerate(self.variables)}
        self.optional = optional
        self.fixed = fixed
        self.world = world
        self.relations = relations
        self.knowledge = relations.knowledge

    def all(self, learned: Sequence[Learned]) -> Iterator[Rule]:
        """What holds beside the relations."""
        yield from self._kept()
        yield from self._toolkits()
        yield from self._provided()
        yield from self._learned(learned)
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
        return self.variables[number].those(test)

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
        loading = [(n, self._mask(n, _loads_from_system)) for n in range(len(self.variables))]
        text = "what brings no CUDA of its own loads that of the image"
        found = tuple(Forbidden({n: mask, image: plain}) for n, mask in loading if mask)
        yield Rule(Requirement("image/libraries", RELATION, text, "envdoctor"), found)

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
        for name, number in self.number.items():
            package = self.knowledge.packages.get(name)
            for required in package.requires if package is not None else ():
                if required in self.pinned:
                    continue  # that it is needed is a requirement of its own
                absent = self.variables[self.number[required]].every
                absent &= ~self._there(self.number[required])
                found.append(
                    Forbidden({number: self._there(number), self.number[required]: absent})
                )
        text = "one package provides a module, with what it requires"
        yield Rule(Requirement("module/one", RELATION, text, "envdoctor"), tuple(found))

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

    def _there(self, number: int) -> int:
        return self.variables[number].there


def _is_compiled(build: Build) -> bool:
    return is_source(build) and bool(build.attributes.get("compiles"))


def _is_compiled_for_gpus(build: Build) -> bool:
    return is_source(build) and build.attributes.get("compiles") == "cuda"


def _loads_from_system(build: Build) -> bool:
    return build.attributes.get("libraries") == "system"


def _is_other(image: Build, cuda: Optional[Value]) -> bool:
    """Whether an image has a toolkit of another CUDA."""
    toolkit = image.attributes.get("toolkit")
    if not isinstance(toolkit, Version):
        return False
    if not isinstance(cuda, Version):
        return cuda is not None and not isinstance(cuda, Unknown)
    return (toolkit.major, toolkit.minor) != (cuda.major, cuda.minor)
