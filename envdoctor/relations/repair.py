"""The smallest change of installed packages that mends a violation.

One package is exchanged; packages that its new build breaks are exchanged with it, if they can be.
Larger changes are the resolver's.
"""

from __future__ import annotations

import re
from typing import (
    Dict,
    FrozenSet,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build, Value
from envdoctor.model.versions import cuda_tag, parse
from envdoctor.relations.judge import Domain, Relations, Violation, judge
from envdoctor.relations.observe import Observation, alike, set_modules

_FIELD = re.compile(r"\{([\w.]+)\}")
_MAX_FOLLOWERS = 4
_HEAVY = 7  # dependents that a package with GPU code counts for
_MAJOR = 10  # series that a step to another major number counts for
_MAX_TRIED = 60  # builds of the first package that break others and are followed up


class Change(NamedTuple):
    """A package to exchange: what is there, and the build to put in its place."""

    before: Build
    after: Build


Plan = Tuple[Change, ...]


def repair(violation: Violation, observation: Observation, relations: Relations) -> Optional[Plan]:
    """The smallest plan, the nearest build among equals; None if one package is not enough."""
    search = _Search(observation, relations)
    names = [violation.component]
    for breach in violation.breaches:
        names += [n for n in breach.bound.reads if n in relations.knowledge.packages]
        for module in breach.bound.reads:
            if module.startswith("module."):
                names += relations.knowledge.providers[module[len("module.") :]]
    best: Optional[Tuple[Tuple[int, ...], Plan]] = None
    for name in dict.fromkeys(names):
        limit = len(best[1]) if best else _MAX_FOLLOWERS
        found = search.exchange(name, violation.component, limit)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return best[1] if best else None


def requirement_arguments(build: Build) -> Optional[str]:
    """What follows `pip install` for a build of the matrices, None if they do not say."""
    template = build.attributes.get("install")
    if not isinstance(template, str):
        return None

    def fill(match: re.Match[str]) -> str:
        name, _, form = match.group(1).partition(".")
        if name in ("name", "version"):
            return build.component if name == "name" else str(build.version)
        value = build.attributes[name]
        if form == "tag" and isinstance(value, Version):
            return cuda_tag(value)
        return str(value)

    return _FIELD.sub(fill, template)


class _Search:
    def __init__(self, observation: Observation, relations: Relations) -> None:
        self.observation = observation
        self.relations = relations
        self.knowledge: Knowledge = relations.knowledge
        self.installed: Dict[str, Build] = {}
        self.domains: Dict[str, Domain] = dict(observation.domains)
        for name in self.knowledge.packages:
            domain = observation.domains.get(name, ())
            if domain and isinstance(domain[0], Build):
                self.domains[name] = self._possible(name, domain)  # whole now, it need not stay so
                self.installed[name] = _common(
                    [b for b in self.domains[name] if isinstance(b, Build)]
                )
        set_modules(self.domains, self.knowledge)
        self.before = {name: self._breaches(name, self.domains) for name in self.installed}

    def _possible(self, name: str, domain: Domain) -> Domain:
        """Of the builds that may be installed, those that fit the packages beside them."""
        judgement = judge(
            self.relations, name, self.observation.domains, self.observation.accelerator
        )
        rejected = {
            id(build)
            for breach in judgement.breaches
            if breach.bound.relation.owner is not None
            for build in breach.builds
        }
        possible = tuple(build for build in domain if id(build) not in rejected) or domain
        # sources compiled beside another package are no more sure to fit than a wheel for it
        wheels = tuple(
            build
            for build in possible
            if isinstance(build, Build) and build.attributes.get("origin") == "wheel"
        )
        return wheels or possible

    def exchange(
        self, name: str, mended: str, limit: int
    ) -> Optional[Tuple[Tuple[int, ...], Plan]]:
        """The best plan that begins with `name`, of at most `limit` changes, with its rank."""
        if name not in self.installed:
            return None
        before = self.installed[name]
        best: Optional[Tuple[Tuple[int, ...], Plan]] = None
        tried = 0
        whole = self._whole(name, self.domains)
        for distance, build in self._nearest(before):
            if id(build) not in whole:
                continue
            domains = self._with(self.domains, build)
            if name != mended and self._broken(mended, domains):
                continue
            plan: Optional[List[Change]] = [Change(before, build)]
            broken = self._broken_beside(name, domains, mended)
            if broken:
                tried += 1
                if tried > _MAX_TRIED:
                    break
                plan = self._follow(broken, domains, [Change(before, build)], limit)
            if plan is None:
                continue
            felt = self._felt(name, mended) ** 2
            rank = (len(plan), distance[0] * felt, felt, *distance)
            if best is None or rank < best[0]:
                best = (rank, tuple(plan))
            if len(plan) == 1:
                break
        return best

    def _follow(
        self,
        broken: Sequence[str],
        domains: Dict[str, Domain],
        plan: List[Change],
        limit: int,
    ) -> Optional[List[Change]]:
        """Exchange the packages that a change broke as well."""
        if len(plan) + len(broken) > limit:
            return None
        for name in broken:
            before = self.installed[name]
            whole = self._whole(name, domains)
            for _, build in self._nearest(before, plan[0].after):
                if id(build) not in whole:
                    continue
                tried = self._with(domains, build)
                if not self._broken(name, tried):
                    domains, plan = tried, [*plan, Change(before, build)]
                    break
            else:
                if self._worse(name, domains):
                    return None
        touched = [change.after.component for change in plan]
        if any(self._broken(name, domains) for name in touched):
            return None
        for name in touched:
            later = self._broken_beside(name, domains, *touched)
            if any(self._worse(other, domains) for other in later):
                return None
        return plan

    def _broken_beside(self, name: str, domains: Dict[str, Domain], *passed: str) -> List[str]:
        """Installed packages that speak of `name` and are broken, but for those `passed` over."""
        components = self._components(name)
        return [
            other
            for other in self.installed
            if other not in (name, *passed)
            and any(components & set(bound.reads) for bound in self.relations.of(other))
            and self._broken(other, domains)
        ]

    def _whole(self, name: str, domains: Mapping[str, Domain]) -> Set[int]:
        """Identities of the builds of `name` that no relation of its own rejects."""
        builds = self.knowledge.packages[name].builds()
        judgement = judge(
            self.relations, name, {**domains, name: builds}, self.observation.accelerator
        )
        rejected = {
            id(build)
            for breach in judgement.breaches
            if breach.bound.relation.severity != "info"
            for build in breach.builds
        }
        return {id(build) for build in builds} - rejected

    def _worse(self, name: str, domains: Mapping[str, Domain]) -> bool:
        """Whether a package is broken in a way in which it was not before."""
        return bool(self._breaches(name, domains) - self.before[name])

    def _broken(self, name: str, domains: Mapping[str, Domain]) -> bool:
        return bool(self._breaches(name, domains))

    def _breaches(self, name: str, domains: Mapping[str, Domain]) -> FrozenSet[str]:
        """Ids of the relations that leave no build of an installed package."""
        if name not in self.installed:
            return frozenset()
        judgement = judge(self.relations, name, domains, self.observation.accelerator)
        return frozenset(
            breach.bound.relation.id
            for violation in judgement.violations
            for breach in violation.breaches
            if breach.bound.relation.severity != "info"
        )

    def _felt(self, name: str, mended: str) -> int:
        """How much a change of `name` is felt by what is installed beside the `mended` package.

        What is exchanged for one that has GPU code, others were compiled against; and a package
        is kept rather than what it needs.
        """
        components = self._components(name)
        dependents = sum(
            other not in (name, mended)
            and any(components & set(bound.reads) for bound in self.relations.of(other))
            for other in self.installed
        )
        heavy = _HEAVY if "sass" in self.knowledge.packages[name].variant else 0
        return 1 + dependents + heavy + (name == mended)

    def _components(self, name: str) -> Set[str]:
        return {name} | {f"module.{m}" for m in self.knowledge.packages[name].modules}

    def _with(self, domains: Dict[str, Domain], build: Build) -> Dict[str, Domain]:
        changed = {**domains, build.component: (build,)}
        set_modules(changed, self.knowledge)
        return changed

    def _companion(self, build: Build) -> Build:
        """The installed package whose CUDA a build is to share: what it requires, else itself."""
        for name in self.knowledge.packages[build.component].requires:
            required = self.installed.get(name)
            if required is not None and "cuda" in required.attributes:
                return required
        return build

    def _nearest(
        self, before: Build, beside: Optional[Build] = None
    ) -> Iterator[Tuple[Tuple[int, ...], Build]]:
        """Builds that can be installed by a command of the matrices, nearest first.

        `beside` is the build for whose sake it is exchanged: the CUDA is to be that one's.
        """
        package = self.knowledge.packages[before.component]
        python = self.observation.domains.get("python", ())
        like = beside or self._companion(before)
        distance = _Distance(before, package.releases, like.attributes.get("cuda"))
        ranked = []
        for order, build in enumerate(package.builds()):
            if requirement_arguments(build) is None or not _proven(build, python):
                continue
            if _is_preview(build) and not _is_preview(before):
                continue
            if alike(before, build) and alike(like, build):
                ranked.append((distance.of(build), order, build))
        ranked.sort(key=lambda item: item[:2])
        for rank, _, build in ranked:
            yield rank, build


def _common(builds: Sequence[Build]) -> Build:
    """What is sure of a build that may be any of these."""
    first = builds[0]
    sure = {
        name: value
        for name, value in first.attributes.items()
        if all(build.attributes.get(name) == value for build in builds)
    }
    return Build(first.component, first.version, sure, label=first.label, origin=first.origin)


def _proven(build: Build, python: Domain) -> bool:
    """Whether a wheel for this interpreter was seen, where the matrices tell seen from planned."""
    proven = build.attributes.get("proven")
    tags = [b.attributes.get("tag") for b in python if isinstance(b, Build)]
    return not isinstance(proven, tuple) or not tags or any(tag in proven for tag in tags)


def _is_preview(build: Build) -> bool:
    return build.version is not None and build.version.is_prerelease


class _Distance:
    """How far builds are from one: series apart, releases apart, CUDA apart, older."""

    def __init__(self, before: Build, releases: Sequence[Version], cuda: Optional[Value]) -> None:
        self.before = before
        self.cuda = cuda
        self.release: Dict[Version, int] = {}
        self.series: Dict[Tuple[int, int], int] = {}
        if before.version is not None:
            known = sorted({*releases, parse(before.version.public)})
            self.release = {version: index for index, version in enumerate(known)}
            for version in known:
                self.series.setdefault((version.major, version.minor), len(self.series))

    def of(self, after: Build) -> Tuple[int, ...]:
        old, new = self.before.version, after.version
        if old is None or new is None:
            return (0, 0, 0, 0)
        steps = self.release[new] - self.release[parse(old.public)]
        apart = abs(self.series[new.major, new.minor] - self.series[old.major, old.minor])
        apart += _MAJOR * abs(new.major - old.major)
        cuda = after.attributes.get("cuda")
        toolkits = 0
        if isinstance(self.cuda, Version) and isinstance(cuda, Version):
            toolkits = abs(100 * (self.cuda.major - cuda.major) + self.cuda.minor - cuda.minor)
        return (apart, abs(steps), toolkits, int(steps < 0))
