"""Which components a stack may have, and which of their builds may be taken."""

from __future__ import annotations

from typing import Dict, Iterator, List, Mapping, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.package import Package
from envdoctor.model.build import ABSENT, Build
from envdoctor.model.resolution import HOST, IMAGE
from envdoctor.model.versions import parse, satisfies
from envdoctor.relations.components import PYTHON
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import is_source, kind
from envdoctor.relations.wanted import Wanted, builds_of
from envdoctor.resolver.images import IMAGE as IMAGE_NAME
from envdoctor.resolver.images import images
from envdoctor.resolver.related import MODULE, Variable
from envdoctor.resolver.request import Pin
from envdoctor.resolver.world import World

#: A patch release that serves metadata which asks for a late one of a series, ">=3.8.1".
_LATE = 20


class Choices:
    """The components of a request, and their builds."""

    def __init__(
        self, pins: Mapping[str, Sequence[Pin]], world: World, relations: Relations
    ) -> None:
        """`pins` are by component."""
        self.pins = pins
        self.world = world
        self.relations = relations
        self.knowledge = relations.knowledge
        #: What is installed where packages alone may change.
        self.fixed = self.installed()

    def closure(self) -> Tuple[List[str], List[str]]:
        """The components that are wanted, and those that may be needed beside them.

        Raises LookupError for one that the matrices do not know.
        """
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
                    if component.startswith(MODULE):
                        yield component[len(MODULE) :]

    def installed(self) -> Dict[str, Tuple[Build, ...]]:
        """What is installed where packages alone may change."""
        if self.world.target != HOST:
            return {}
        domains = self.world.observation.domains
        return {
            name: tuple(b for b in domains[name] if isinstance(b, Build))
            for name in self.knowledge.packages
            if any(isinstance(b, Build) for b in domains.get(name, ()))
        }

    def variable(self, name: str) -> Variable:
        """A component with everything that may be taken for it; ABSENT last, of packages."""
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
            every = [b for b in every if is_source(b) or "origin" not in b.attributes]
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
        if is_source(build):
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


def _names_prerelease(specifier: str) -> bool:
    return any(letter in specifier for letter in ("a", "b", "rc", "dev"))


def _is_for_cpu(pin: Pin) -> bool:
    return pin.variant.get("cuda") == "cpu"
