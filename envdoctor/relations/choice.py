"""Which of the builds that requirement files leave open pip would take.

pip takes the newest release that the requirements allow and for which the metadata of all packages
agrees, from the indexes that the files name or else from PyPI; of a release, a wheel rather than
the sources. What conda would take is not told, nor what depends on metadata that is not known.
"""

from __future__ import annotations

import itertools
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Value
from envdoctor.model.facts import Asked, Distribution, Target
from envdoctor.model.versions import local_part
from envdoctor.relations.asked import every_interpreter, is_on, segments
from envdoctor.relations.components import PYTHON
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Bound, Domain, Relations, Verdict, groups
from envdoctor.relations.observe import Observation, set_modules
from envdoctor.relations.plan import Change
from envdoctor.relations.repair import Repairs

_World = Dict[str, Domain]
#: Releases of one package that are tried before its choice is left open.
_MOST_TRIED = 60
#: What a new environment may hold already, in a release that pip keeps unless it is told otherwise.
_PREINSTALLED = ("pip", "setuptools", "wheel")


class Choice(NamedTuple):
    """The assignment that pip would make."""

    observation: Observation
    possible: Dict[str, Domain]  # what the files allow of each package
    taken: Dict[str, Build]  # of what was open, the build that is taken
    python: Optional[Build]  # the newest that fits, where the files allow several
    reasons: Tuple[str, ...]  # why the choice of a package was left open
    pages_known: bool = True  # whether each index that the files name is one whose builds are known


def choose(observation: Observation, target: Target, relations: Relations) -> Choice:
    """What pip would take of everything that `target` asks for."""
    return _Chooser(observation, target, relations).choice()


class AskedRepairs(Repairs):
    """Repairs of what is asked for.

    A line that leaves a release open is changed before a pin, and what comes from a page that the
    files name is changed last: somebody chose that page.
    """

    def __init__(self, choice: Choice, asked: Asked, relations: Relations) -> None:
        """Look for changes of what pip would take."""
        self._choice, self._asked = choice, asked
        self._open = {
            name for name, domain in choice.possible.items() if len(_releases(domain)) > 1
        }
        super().__init__(choice.observation, relations)
        pages = [segments(url) for url in asked.indexes]
        self._paged = {
            name
            for name, build in self.installed.items()
            if any(is_on(build, parts) for parts in pages)
        }

    def _at(self, observation: Observation) -> AskedRepairs:
        choice = self._choice._replace(observation=observation)
        return AskedRepairs(choice, self._asked, self.relations)

    def _felt(self, name: str, mended: str) -> int:
        return 0 if name in self._open else super()._felt(name, mended)

    def _moved(self, name: str, plan: Sequence[Change]) -> bool:  # noqa: ARG002
        return False  # nothing was compiled yet

    def _weight(self, name: str) -> int:
        return super()._weight(name) + 2 * (name in self._paged)


def newest_only(
    observation: Observation, names: Sequence[str], knowledge: Knowledge
) -> Observation:
    """An observation in which packages that are open are at the newest release allowed."""
    domains = dict(observation.domains)
    for name in names:
        releases = _releases(domains[name])
        if len(releases) > 1:
            newest = max(releases)
            domains[name] = tuple(
                b for b in domains[name] if isinstance(b, Build) and b.version == newest
            )
    set_modules(domains, knowledge)
    return observation._replace(domains=domains)


class _Chooser:
    def __init__(self, observation: Observation, target: Target, relations: Relations) -> None:
        self.observation = observation
        self.target = target
        self.relations = relations
        self.knowledge: Knowledge = relations.knowledge
        self.wanted = {n: d for n, d in imported(target).items() if n in self.knowledge.packages}
        self.world: _World = dict(observation.domains)
        self.reasons: List[str] = []
        asked = target.asked
        self.pages = [segments(url) for url in asked.indexes] if asked is not None else []

    def choice(self) -> Choice:
        python = self._choose_python()
        names = [n for n, d in self.wanted.items() if self._is_of_pip(n, d)]
        every = {name: self.world[name] for name in names}
        self._summarise(names)
        self.world = self._agreed(self.world, names) or self.world
        for name in names:
            if len(_releases(self.world[name])) > 1:
                self._choose_release(name, names)
        taken: Dict[str, Build] = {}
        for name in names:
            chosen = _releases(self.world[name])
            self.world[name] = every[name]
            if len(chosen) == 1:
                self._choose_builds(name, chosen[0])
                if len(self.world[name]) < len(every[name]):
                    taken[name] = next(b for b in self.world[name] if isinstance(b, Build))
        set_modules(self.world, self.knowledge)
        observation = self.observation._replace(domains=self.world)
        known = self._is_all_pypi()
        return Choice(observation, every, taken, python, tuple(self.reasons), known)

    def _summarise(self, names: Sequence[str]) -> None:
        """Keep one of all builds that metadata cannot tell apart and that come from one place."""
        read: Dict[str, Set[str]] = {name: {"version", "origin"} for name in names}
        for name in names:
            for bound in self._enforced(name):
                for component, attributes in bound.reads.items():
                    read.get(name if component == "self" else component, set()).update(attributes)
        for name in names:
            builds = [b for b in self.world[name] if isinstance(b, Build)]
            kept: List[Build] = []
            for group in groups(builds, sorted(read[name])):
                there = [b for b in group if self._is_offered(b)]
                kept.append((there or group)[0])
            self.world[name] = tuple(kept)

    def _is_offered(self, build: Build) -> bool:
        """Whether PyPI, or an index that the files name, has a build."""
        return _is_plain(build) or any(is_on(build, parts) for parts in self.pages)

    def _is_of_pip(self, name: str, asked: Distribution) -> bool:
        if name in _PREINSTALLED and not asked.version:
            return False
        return asked.installer != "conda" and isinstance(self.world[name][0], Build)

    def _choose_python(self) -> Optional[Build]:
        """Where the files allow several, the newest on which all that is pinned can be had."""
        known = [p for p in self.world[PYTHON] if isinstance(p, Build)]
        if len(known) == 1:
            return None
        for python in reversed(known or every_interpreter(self.knowledge)):
            world = {**self.world, PYTHON: (python,)}
            pinned = [n for n in self.wanted if len(_releases(world[n])) == 1]
            if all(self._fitting(name, world) for name in pinned):
                self.world[PYTHON] = (python,)
                return python
        return None

    def _fitting(self, name: str, world: _World) -> List[Build]:
        """The builds that can be installed for the Python and the processor of a world."""
        builds = [b for b in world[name] if isinstance(b, Build)]
        for bound in self._enforced(name):
            if bound.relation.phase == "install":
                builds = _kept(bound, builds, world)
        return builds

    def _choose_release(self, name: str, names: Sequence[str]) -> None:
        """Restrict a package to the newest release with which all metadata agrees."""
        held = self._holders(name)
        if held:
            self.reasons.append(
                f"which {name} pip takes depends on the metadata of {', '.join(held)}"
            )
            return
        builds = self._fitting(name, self.world)
        offered = [b for b in builds if self._is_offered(b)]
        wheels = [b for b in offered if b.attributes.get("origin") != "source"]
        for version in sorted(_releases(wheels or offered), reverse=True)[:_MOST_TRIED]:
            trial = {**self.world, name: tuple(b for b in offered if b.version == version)}
            agreed = self._agreed(trial, names, [name])
            if agreed is not None:
                self.world = agreed
                return
        self.reasons.append(
            f"which {name} pip takes is not known: no known release fits the others"
        )

    def _holders(self, name: str) -> List[str]:
        """Projects that are asked for and whose metadata may keep pip from the newest release."""
        table = self.knowledge.tables.get("holds")
        if table is None or name not in table.columns:
            return []
        found = []
        for holder, asked in imported(self.target).items():
            how = table.rows.get(holder, {}).get(name)
            if how == "every" or (how == "old" and not self._is_newest(holder, asked)):
                found.append(holder)
        return found

    def _is_newest(self, name: str, asked: Distribution) -> bool:
        """Whether the newest release of a project is allowed, and so pip's first choice."""
        package = self.knowledge.packages.get(name)
        if package is not None and name in self.wanted:
            return package.newest in _releases(self._fitting(name, self.world))
        bounded = any(sign in asked.specifier for sign in ("==", "<", "~="))
        return not asked.version and not asked.direct_url and not bounded

    def _choose_builds(self, name: str, version: Version) -> None:
        """Restrict a package to what its index serves of one release."""
        builds = [b for b in self._fitting(name, self.world) if b.version == version]
        asked = self.wanted[name]
        if not builds or asked.direct_url:
            return
        served = [b for b in builds if any(is_on(b, parts) for parts in self.pages)]
        if not served and not local_part(asked.version) and self._is_all_pypi():
            served = [b for b in builds if _is_plain(b)]
        served = served or builds
        if any(b.attributes.get("fetches") is True for b in served):
            self.world[name] = tuple(builds)  # its setup.py takes one of its own wheels that fits
            return
        wheels = [b for b in served if b.attributes.get("origin") != "source"]
        self.world[name] = tuple(wheels or served)

    def _is_all_pypi(self) -> bool:
        """Whether each index that is named is one like PyPI, or a page of builds that is known."""
        return all(self._is_known(parts) for parts in self.pages)

    def _is_known(self, parts: Sequence[str]) -> bool:
        if not parts or parts[-1] in ("simple", "pypi"):
            return True
        return any(
            isinstance(b, Build) and is_on(b, parts) for n in self.wanted for b in self._every(n)
        )

    def _every(self, name: str) -> Tuple[Build, ...]:
        return self.knowledge.packages[name].builds()

    # --- metadata ----------------------------------------------------------------------------

    def _enforced(self, name: str) -> List[Bound]:
        return [b for b in self.relations.of(name) if b.relation.enforced == "pip"]

    def _agreed(
        self, world: _World, names: Sequence[str], changed: Sequence[str] = ()
    ) -> Optional[_World]:
        """The world less what no metadata allows beside the rest; None if nothing is left.

        `changed` are the packages that changed since the world last agreed; all if none is named.
        """
        world = dict(world)
        touched = set(changed or names)
        while touched:
            before, touched = touched, set()
            for name in names:
                for bound in self._enforced(name):
                    about = [c for c in (name, *bound.components) if c in names]
                    for component in about if before.intersection(about) else ():
                        left = _left(bound, name, component, world)
                        if not left:
                            return None
                        if len(left) < len(world[component]):
                            world[component] = left
                            touched.add(component)
        return world


def _left(bound: Bound, owner: str, component: str, world: _World) -> Domain:
    """The builds of a component with which a relation of `owner` can hold."""
    builds = [b for b in world[component] if isinstance(b, Build)]
    if component == owner:
        return tuple(_kept(bound, builds, world))
    owners = [b for b in world[owner] if isinstance(b, Build)]
    kept: Set[int] = set()
    for group in groups(builds, bound.reads.get(component, ("version",))):
        beside = {**world, component: (group[0],)}
        if any(_can_hold(bound, one, beside) for one in reversed(owners)):
            kept.update(id(build) for build in group)
    return tuple(build for build in builds if id(build) in kept)


def _kept(bound: Bound, builds: Sequence[Build], world: _World) -> List[Build]:
    """The builds for which a relation can hold."""
    kept: Set[int] = set()
    for group in groups(builds, bound.reads["self"]):
        if _can_hold(bound, group[0], world):
            kept.update(id(build) for build in group)
    return [build for build in builds if id(build) in kept]


def _can_hold(bound: Bound, build: Build, world: _World) -> bool:
    """Whether a relation does not fail beside some of the builds of a world."""
    names = [*(c for c in bound.reads if c != "self"), *sorted(bound.asked)]
    domains = [tuple(reversed(world.get(name, (ABSENT,)))) for name in names]
    for values in itertools.product(*domains):
        environment: Dict[str, Value] = {"self": build}
        environment.update(zip(names, values))
        if bound.verdict(environment)[0] is not Verdict.FAILS:
            return True
    return False


def _releases(domain: Sequence[Value]) -> List[Version]:
    found = {b.version for b in domain if isinstance(b, Build) and b.version is not None}
    return list(found)


def _is_plain(build: Build) -> bool:
    """Whether a plain `pip install` takes a build from PyPI."""
    template = build.attributes.get("install")
    if not isinstance(template, str):
        return build.attributes.get("origin") in (None, "source")
    return " " not in template and "+" not in template
