"""What a stack allows of packages that are not a part of it: constraints for what else comes."""

from __future__ import annotations

from typing import Dict, Iterator, List, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.package import Package
from envdoctor.model.build import ABSENT
from envdoctor.model.resolution import Bound
from envdoctor.relations.fit import Fit
from envdoctor.relations.judge import Bound as Related
from envdoctor.relations.judge import Domain
from envdoctor.relations.observe import set_modules
from envdoctor.resolver.images import IMAGE, SETS
from envdoctor.resolver.solver import Found
from envdoctor.resolver.space import Space

#: Runs of releases between others that are excluded one by one; of more nothing is said.
_MOST_HOLES = 6


def bounds(found: Found, space: Space) -> Tuple[Bound, ...]:
    """One for each package of which the stack refuses some releases, sorted by name."""
    return _Bounds(found, space).all()


class _Bounds:
    def __init__(self, found: Found, space: Space) -> None:
        self.space, self.knowledge = space, space.knowledge
        self.fit = Fit(space.relations, space.world.accelerator)
        self.world: Dict[str, Domain] = dict.fromkeys(self.knowledge.packages, (ABSENT,))
        self.world.update((name, (value,)) for name, value in space.world.values.items())
        image = found.builds.get(IMAGE)
        if image is not None:
            for component, attribute in SETS.items():
                self.world[component] = (image.attributes.get(attribute, ABSENT),)
        self.stack = {n: b for n, b in found.builds.items() if n != IMAGE}
        self.world.update((name, (build,)) for name, build in self.stack.items())
        set_modules(self.world, self.knowledge)

    def all(self) -> Tuple[Bound, ...]:
        spoken_of = self._spoken_of()
        found: List[Bound] = []
        for name in sorted(spoken_of):
            package = self.knowledge.packages.get(name)
            if package is not None and name not in self.stack:
                found += self._bound(package, spoken_of[name])
        return tuple(found)

    def _spoken_of(self) -> Dict[str, List[Related]]:
        """{package: the relations of the stack that speak of it}."""
        found: Dict[str, List[Related]] = {name: [] for name in self.knowledge.packages}
        for owner in self.stack:
            if owner not in self.knowledge.packages:
                continue
            for bound in self.fit.of(owner):
                if not _counts(bound):
                    continue
                for component in bound.components:
                    if component in found and component not in self.stack:
                        found[component].append(bound)
        return found

    def _bound(self, package: Package, bounds_: Sequence[Related]) -> Iterator[Bound]:
        builds = tuple(b for b in package.builds() if b.version is not None)
        if not builds:
            return
        rejected, because = self._own(package, builds)
        for bound in bounds_:
            gone = self._of_stack(bound, package.name, builds)
            if gone:
                because[bound.relation.id] = None
            rejected |= gone
        if not rejected:
            return
        kept = {b.version for n, b in enumerate(builds) if not rejected >> n & 1}
        specifier = _specifier(package.releases, [v for v in kept if v is not None])
        if specifier:
            yield Bound(package.name, specifier, tuple(because))

    def _own(self, package: Package, builds: Domain) -> Tuple[int, Dict[str, None]]:
        """What the package's own relations refuse beside the stack."""
        world = {**self.world, package.name: builds}
        rejected = 0
        because: Dict[str, None] = {}
        for bound in self.fit.of(package.name):
            if _counts(bound) and set(bound.components) & set(self.stack):
                gone = self.fit.ask(bound, builds, world).rejected
                if gone:
                    because[bound.relation.id] = None
                rejected |= gone
        return rejected, because

    def _of_stack(self, bound: Related, name: str, builds: Domain) -> int:
        """What a relation of the stack refuses of a package's builds."""
        own = self.world[bound.owner]
        gone = 0
        for position, build in enumerate(builds):
            world = {**self.world, name: (build,)}
            if self.fit.ask(bound, own, world).rejected:
                gone |= 1 << position
        return gone


def _counts(bound: Related) -> bool:
    """Whether it is an error that no metadata tells the installer."""
    return bound.relation.severity == "error" and bound.relation.enforced != "pip"


def _specifier(releases: Sequence[Version], kept: Sequence[Version]) -> str:
    """The releases that are kept as a specifier; "" if all are, or if none is."""
    known = [v for v in releases if not v.is_prerelease]
    good = sorted(v for v in set(kept) if v in set(known))
    if not good or len(good) == len(known):
        return ""
    first, last = known.index(good[0]), known.index(good[-1])
    holes = [v for v in known[first : last + 1] if v not in set(good)]
    if len(holes) > _MOST_HOLES:
        holes = []
    parts = [] if first == 0 else [f">={known[first]}"]
    parts += [] if last == len(known) - 1 else [f"<{known[last + 1]}"]
    return ",".join([*parts, *(f"!={v}" for v in holes)])
