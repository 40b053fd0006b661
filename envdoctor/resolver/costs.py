"""What each build costs by itself, by each criterion."""

from __future__ import annotations

from typing import Dict, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build, Value
from envdoctor.model.resolution import HOST, IMAGE
from envdoctor.model.versions import parse
from envdoctor.relations.components import PYTHON
from envdoctor.relations.observe import is_source
from envdoctor.resolver.criteria import Scale, Steps
from envdoctor.resolver.images import IMAGE as IMAGE_NAME
from envdoctor.resolver.related import Variable
from envdoctor.resolver.request import PROFILE, Pin
from envdoctor.resolver.world import World


class Costs:
    """The costs of the builds of a request."""

    def __init__(
        self,
        variables: Sequence[Variable],
        wanted: Sequence[str],
        world: World,
        knowledge: Knowledge,
    ) -> None:
        """`wanted` are the variables that are not left out if they can be."""
        self.variables = {variable.name: variable for variable in variables}
        self.wanted = frozenset(wanted)
        self.world = world
        self.knowledge = knowledge
        self.steps = {variable.name: self._steps(variable) for variable in variables}

    def of(
        self,
        name: str,
        position: int,
        value: Value,
        soft: Sequence[Tuple[Pin, int]],
        pins: Sequence[Tuple[Pin, int]],
        scale: Scale,
    ) -> int:
        """What a value costs, packed; `pins` are its component's, `soft` those that may go."""
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
        is_compiled = is_source(value) and bool(value.attributes.get("compiles"))
        costs["source_builds"] = (int(is_compiled),)
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
        every = [b for b in self.variables[name].values if isinstance(b, Build)]
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

    def _steps(self, variable: Variable) -> Steps:
        package = self.knowledge.packages.get(variable.name)
        if package is not None:
            extra = [b.version for b in variable.values if isinstance(b, Build) and b.version]
            releases = {*package.releases, *(parse(v.public) for v in extra)}
        else:
            releases = {b.version for b in variable.values if isinstance(b, Build) and b.version}
        return Steps(variable.name, sorted(releases), self.knowledge)


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
