"""What builds cost by each criterion, packed into one number that keeps their order.

Each criterion has one or more places, `pin_distance` four: Python, frameworks' series, minor and
patch steps of the rest. A place holds less than `_PLACE`, so sums never reach the next.
"""

from __future__ import annotations

import bisect
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build, Value
from envdoctor.model.resolution import CRITERIA, Criterion
from envdoctor.model.versions import satisfies
from envdoctor.relations.components import PYTHON
from envdoctor.relations.distance import Distance

_PLACE = 1 << 28
_PLACES = {"pin_distance": 4}
#: Places that are not told: components that nobody needs, the order of the matrices.
HIDDEN = ("spare", "choice")
_FAR = 1 << 16  # a step that is longer counts as this

Costs = Dict[str, Tuple[int, ...]]


class Scale:
    """Packs the costs of several criteria in an order, and unpacks them."""

    def __init__(self, prefer: Sequence[str] = CRITERIA) -> None:
        """`prefer` is a permutation of CRITERIA, the weightiest first."""
        self.order = tuple(prefer)
        self._places: List[Tuple[str, int]] = [
            (name, n) for name in (*prefer, *HIDDEN) for n in range(_PLACES.get(name, 1))
        ]

    def pack(self, costs: Mapping[str, Sequence[int]]) -> int:
        """One number for costs by criterion; those that are missing are 0."""
        number = 0
        for name, place in self._places:
            values = costs.get(name, ())
            number = number * _PLACE + (min(values[place], _FAR) if place < len(values) else 0)
        return number

    def unpack(self, number: int) -> Tuple[Criterion, ...]:
        """The criteria of a sum, in their order."""
        found: Dict[str, List[int]] = {}
        for name, _ in reversed(self._places):
            number, value = divmod(number, _PLACE)
            found.setdefault(name, []).insert(0, value)
        return tuple(
            Criterion(name, tuple(found[name]) if name in _PLACES else found[name][0])
            for name in self.order
        )


class Steps:
    """How far builds of one component are from what is stated of it."""

    def __init__(
        self,
        component: str,
        releases: Sequence[Version],
        knowledge: Knowledge,
    ) -> None:
        """`releases` are all that are known of the component."""
        self.component = component
        self.releases = sorted(releases)
        self._released = [version for version in self.releases if not version.is_prerelease]
        self._stated: Dict[str, Tuple[Version, ...]] = {}
        package = knowledge.packages.get(component)
        self.is_framework = package is not None and package.is_framework
        self._distances: Dict[Tuple[Version, str], Distance] = {}

    def stated(self, specifier: str) -> Tuple[Version, ...]:
        """The first and the last release that a specifier names."""
        if specifier not in self._stated:
            named = [v for v in self.releases if satisfies(v, specifier)]
            self._stated[specifier] = (named[0], named[-1]) if named else ()
        return self._stated[specifier]

    def from_stated(
        self, build: Build, ends: Sequence[Version], cuda: Optional[Value]
    ) -> Tuple[int, int, int]:
        """(series, releases, CUDA releases) from the nearest of `ends`."""
        found = []
        for end in ends:
            asked = (end, str(cuda))
            if asked not in self._distances:
                stated = Build(self.component, end, {})
                self._distances[asked] = Distance(stated, self.releases, cuda)
            series, steps, toolkits, _ = self._distances[asked].of(build)
            found.append((series, steps, toolkits))
        return min(found) if found else (0, 0, 0)

    def pin_distance(self, steps: Tuple[int, int, int]) -> Tuple[int, ...]:
        """The places of `pin_distance` for a build so far from a pin that it drops."""
        series, releases, toolkits = steps
        if self.component == PYTHON:
            return (series, 0, 0, 0)
        if self.is_framework:
            return (0, series, 0, releases + toolkits)
        return (0, 0, series, releases + toolkits)

    def age(self, build: Build) -> int:
        """How many releases are newer."""
        if build.version is None:
            return 0
        return len(self._released) - bisect.bisect_right(self._released, build.version)
