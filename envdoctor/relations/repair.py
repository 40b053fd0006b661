"""The smallest change of installed packages that mends a violation.

One package is exchanged, added, or put in the place of another that provides the same module;
packages that this breaks are exchanged with it, if they can be. Larger changes are the resolver's.
A plan is judged before it is told: what was to be mended is, nothing else is broken, and what was
compiled against a package that moves is installed again.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterator, List, Optional, Sequence, Set, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.versions import local_part, parse, series
from envdoctor.relations.distance import Distance, Rank
from envdoctor.relations.fit import Fit
from envdoctor.relations.judge import Bound, Domain, Relations, Violation
from envdoctor.relations.observe import Observation, kind, set_modules
from envdoctor.relations.plan import (
    Change,
    Goal,
    Made,
    Plan,
    joined,
    requirement_arguments,
    touched_by,
)
from envdoctor.relations.tell import label

_MODULE = "module."
_MAX_CHANGES = 4
_MAX_TRIED = 40  # builds of a follower that are tried for one which breaks nothing more
_NVIDIA = ("", "none", "nvidia")  # vendors of accelerators whose machines the wheels are for
#: Origins of builds that no published wheel was compiled against.
_OTHERS = ("vendor", "source", "development")
_LINKED = ("cuda", "abi")  # with its series, what compiled code was made for

_World = Dict[str, Domain]


def plans(repairs: Repairs, goals: Sequence[Goal]) -> List[Made]:
    """Plans that agree: each is made for what the earlier ones leave, no package is in two.

    Goals that stand first choose first. Those for which there was no plan are tried once more in
    the end, when others have moved what was in the way.
    """
    made: List[Made] = []
    apparent = {n for n, goal in enumerate(goals) if repairs.is_met(goal)}
    left = list(range(len(goals)))
    before = len(left) + 1
    while left and len(left) < before:
        before = len(left)
        for number in tuple(left):
            if number not in left:
                continue
            others = [n for n in left if n != number and n not in apparent]
            plan = repairs.mend(goals[number], [goals[n] for n in others])
            if plan is None:
                continue
            repairs = repairs.after(plan)
            reached = [number, *(n for n in others if repairs.is_met(goals[n]))]
            left = [n for n in left if n not in reached]
            made = joined(made, plan, reached)
    return made


def repair(violation: Violation, observation: Observation, relations: Relations) -> Optional[Plan]:
    """The smallest plan, the nearest build among equals; None if one package is not enough."""
    return Repairs(observation, relations).plan(violation)


class Repairs:
    """Looks for the repairs of one observed environment."""

    def __init__(
        self, observation: Observation, relations: Relations, fit: Optional[Fit] = None
    ) -> None:
        """`fit` is one that was asked of another observation of the same machine."""
        self.observation = observation
        self.relations = relations
        self.knowledge: Knowledge = relations.knowledge
        self.fit = fit or Fit(relations, observation.accelerator)
        self._heeded: Dict[str, List[Bound]] = {}
        self.world: _World = dict(observation.domains)
        driver, serves = (
            self.world.get(c, (Unknown(),))[0] for c in ("host.driver", "host.serves")
        )
        if isinstance(driver, Version) and not isinstance(serves, Version):
            self.world["host.serves"] = (parse("0"),)  # unknown is not known to be enough
        self.installed: Dict[str, Build] = {}
        for name in self.knowledge.packages:
            domain = self.world.get(name, ())
            if domain and isinstance(domain[0], Build):
                self.world[name] = self._possible(name)
                self.installed[name] = _common(
                    [b for b in self.world[name] if isinstance(b, Build)]
                )
        set_modules(self.world, self.knowledge)
        self._reads = {
            name: [(bound, self._packages_read(bound)) for bound in self._of(name)]
            for name in self.installed
        }
        self._readers: Dict[str, List[str]] = {}
        for name, read in self._reads.items():
            for other in sorted({c for _, components in read for c in components}):
                self._readers.setdefault(other, []).append(name)
        self.before = {name: self._violated(name, self.world) for name in self.installed}
        self._platform = self._kind_of_the_stack()
        self._is_likely_enough = False  # whether wheels that nobody has seen are taken as well
        self._single: Dict[int, Domain] = {}
        self._alike: Dict[Tuple[int, int], int] = {}
        self._ranked: Dict[Tuple[object, ...], List[Tuple[Rank, int, Build]]] = {}

    # --- what is asked -----------------------------------------------------------------------

    def plan(self, violation: Violation) -> Optional[Plan]:
        """The smallest plan that mends a violation, the nearest builds among equals."""
        return self.mend(Goal.of(violation))

    def mend(self, goal: Goal, others: Sequence[Goal] = ()) -> Optional[Plan]:
        """The smallest plan for a goal. One that reaches some of the others, too, saves theirs.

        A wheel that was planned for this Python, and that nobody has seen, is better than another
        generation of its package, and than none.
        """
        plan = self._for(goal, others)
        if plan is not None and not any(self._is_generation(change) for change in plan):
            return plan
        packages = [self.knowledge.packages[coming] for _, coming in self._starts(goal)]
        if plan is None and not any("proven" in package.variant for package in packages):
            return None
        self._is_likely_enough = True
        likely = self._for(goal, others)
        self._is_likely_enough = False
        if likely is None or (plan and any(self._is_generation(change) for change in likely)):
            return plan
        return likely

    def is_met(self, goal: Goal) -> bool:
        """Whether nothing of a goal is left to do in the world as it is."""
        return self._is_met(goal, self.world)

    def after(self, plan: Plan) -> Repairs:
        """The repairs of what a plan makes of the environment."""
        domains = dict(self.observation.domains)
        origins = dict(self.observation.origins)
        for change in plan:
            name = change.after.component
            if change.compiled_again:
                domains[name] = self._sources(name)
                continue
            if change.removed:
                domains[change.removed] = (ABSENT,)
                origins.pop(change.removed, None)
            told = label(change.after, self.knowledge)
            domains[name] = (change.after.with_attributes({}, label=told),)
            origins.setdefault(name, "")
        set_modules(domains, self.knowledge)
        observation = self.observation._replace(domains=domains, origins=origins)
        return self._at(observation)

    def _at(self, observation: Observation) -> Repairs:
        """The repairs of another observation of the same machine."""
        return Repairs(observation, self.relations, self.fit)

    def is_likely(self, build: Build) -> bool:
        """Whether a build was planned for this interpreter, and nobody has seen it."""
        return not _proven(build, self.world.get("python", ()))

    def stays(self, name: str) -> str:
        """Why an installed package is not to be exchanged, "" if it may be."""
        origin = self.observation.origins.get(name, "")
        build = self.installed[name]
        package = self.knowledge.packages[name]
        for_devices = "cuda" in package.variant
        if name in self.observation.served:
            return f"served from {self.observation.served[name]}"
        if origin == "vendor" or (local_part(build.label) and package.local is None):
            return "a vendor's or somebody's own build"
        if origin == "source":
            return "installed from source"
        if origin == "development":
            return "a development build"
        if for_devices and origin == "conda":
            return "conda's build"
        if for_devices and self.observation.accelerator not in _NVIDIA:
            return f"the build for {self.observation.accelerator}"
        if for_devices and self.world.get("host.jetson", ("",))[0] and kind(build) != "cpu":
            return "the build for Jetson"
        return ""

    def compiles(self, name: str) -> bool:
        """Whether an installed release may be compiled (again) beside what is here."""
        return self._compiles(name, self.world)

    def elsewhere(self, goal: Goal) -> Optional[Tuple[Repairs, Plan]]:
        """What would mend it if nothing had to stay, and the repairs that say so.

        For another environment, where all comes from an index. None if something else is in the
        way, too.
        """
        if not any(self.stays(name) for name in self.concerned(goal)):
            return None
        free = _Free(self.observation._replace(origins={}), self.relations, self.fit)
        plan = free.mend(goal)
        return None if plan is None else (free, plan)

    def concerned(self, goal: Goal) -> List[str]:
        """The installed packages that a goal is about."""
        names = [leaving for leaving, _ in self._starts(goal) if leaving is not None]
        names += self._requires(goal.component)
        return [name for name in dict.fromkeys(names) if name in self.installed]

    # --- the search --------------------------------------------------------------------------

    def _for(self, goal: Goal, others: Sequence[Goal]) -> Optional[Plan]:
        if not goal.no_cpu:
            return self._search(goal, others, _MAX_CHANGES) if goal.ids else None
        if not self._are_gpus_known():
            return None
        platform, self._platform = self._platform, "cuda"
        most = _MAX_CHANGES + len(self._for_the_cpu(self.world))
        plan = self._search(goal, others, most)
        self._platform = platform
        return plan

    def _are_gpus_known(self) -> bool:
        """Whether driver and GPUs are known well enough to choose a build for them."""
        (serves,), (gpus,) = self.world["host.serves"], self.world["host.gpu"]
        if not isinstance(serves, Version) or not isinstance(gpus, tuple):
            return False
        return all(isinstance(gpu.attributes.get("cc"), Version) for gpu in gpus)

    def _starts(self, goal: Goal) -> List[Tuple[Optional[str], str]]:
        """What may be changed first, as (what leaves, what comes)."""
        own = goal.component
        starts: List[Tuple[Optional[str], str]] = [(own, own)]
        if goal.no_cpu:
            return starts
        for module in self.knowledge.packages[own].modules:
            if any(_MODULE + module in b.reads for read in self._reads.values() for b, _ in read):
                starts += [(own, other) for other in self.knowledge.providers[module]]
        for bound in goal.bounds:
            for component in (*bound.components, *sorted(bound.asked)):
                if component.startswith(_MODULE):
                    providers = self.knowledge.providers[component[len(_MODULE) :]]
                    there = [name for name in providers if name in self.installed]
                    leaving: Sequence[Optional[str]] = there or (None,)
                    starts += [(one, other) for one in leaving for other in providers]
                elif component in self.installed:
                    starts.append((component, component))
                elif component in self.knowledge.packages and component in bound.asked:
                    starts.append((None, component))
        return list(dict.fromkeys(starts))

    def _search(self, goal: Goal, others: Sequence[Goal], most: int) -> Optional[Plan]:
        best: Optional[Tuple[Rank, Plan]] = None
        for leaving, coming in self._starts(goal):
            if leaving is not None and self.stays(leaving):
                continue
            limit = min(most, best[0][0] + len(others)) if best else most
            for found in self._plans(leaving, coming, goal, others, limit):
                if best is None or found[0] < best[0]:
                    best = found
        return best[1] if best else None

    def _plans(
        self,
        leaving: Optional[str],
        coming: str,
        goal: Goal,
        others: Sequence[Goal],
        limit: int,
    ) -> Iterator[Tuple[Rank, Plan]]:
        """Plans that begin with one package, ever better ones.

        What a plan costs is how many packages it changes, less the other goals that it reaches.
        """
        before = self.installed[leaving] if leaving is not None else None
        felt = self._felt(coming, goal.component) ** 2
        world = dict(self.world)
        if leaving is not None and leaving != coming:
            world[leaving] = (ABSENT,)
            set_modules(world, self.knowledge)
        allowed = self._allowed(coming, world, before)
        is_found, farther = False, 0
        for distance, position, build in self._nearest(coming, before, None):
            if limit < 1 or farther > _MAX_TRIED:
                return
            if not allowed >> position & 1 or (goal.no_cpu and kind(build) == "cpu"):
                continue
            farther += is_found
            change = Change(before, build)
            plan = self._complete(self._with(self.world, change), [change], goal, limit)
            if plan is not None:
                again = sum(change.compiled_again for change in plan)
                heavy = sum(self._weight(change.after.component) for change in plan)
                cost = len(plan) - self._reached(others, plan)
                yield (cost, again, heavy, distance[0] * felt, felt, *distance), tuple(plan)
                # those that follow are farther, and may spare a compilation
                limit = min(limit, cost + len(others) - (0 if again else 1))
                is_found = True

    def _reached(self, goals: Sequence[Goal], plan: Sequence[Change]) -> int:
        """How many goals a plan reaches."""
        if not goals:
            return 0
        world = self.world
        for change in plan:
            world = self._with(world, change)
        return sum(self._is_met(goal, world) for goal in goals)

    def _is_met(self, goal: Goal, world: _World) -> bool:
        if goal.no_cpu:
            return goal.component not in self._for_the_cpu(world)
        return not self._violated(goal.component, world) & goal.ids

    def _is_generation(self, change: Change) -> bool:
        """Whether a package of which wheels may be had that nobody has seen gets another major."""
        before, after = change.before, change.after
        if before is None or before.version is None or after.version is None:
            return False
        variant = self.knowledge.packages[after.component].variant
        return "proven" in variant and before.version.major != after.version.major

    def _complete(
        self, world: _World, plan: List[Change], goal: Goal, limit: int
    ) -> Optional[List[Change]]:
        """Change what the changes broke, until nothing is broken by them; None if it cannot be."""
        while True:
            broken = self._broken_by(plan, world, goal)
            if not broken:
                return plan if self._hold(plan, world) else None
            if len(plan) + len(broken) > limit:
                return None
            change = self._mend(broken, plan, world, goal)
            if change is None:
                return None
            plan = [*plan, change]
            world = self._with(world, change)

    def _mend(
        self, broken: Sequence[str], plan: List[Change], world: _World, goal: Goal
    ) -> Optional[Change]:
        """A change that makes the first of the broken packages whole."""
        name = broken[0]
        if name not in self.installed or any(c.after.component == name for c in plan):
            return self._add(self._missing(name, world), broken, plan, world, goal)
        before = self.installed[name]
        again = Change(before, before) if self._compiles(name, world) else None
        if self.stays(name):
            return again
        surely = len(self._compiled(name, self.world[name])) == len(self.world[name])
        first: Optional[Change] = None
        allowed = self._allowed(name, world, before)
        tried = 0
        for _, position, build in self._nearest(name, before, plan[0].after):
            if again and surely and build.version != before.version:
                break
            if not allowed >> position & 1 or (goal.no_cpu and kind(build) == "cpu"):
                continue
            change = Change(before, build)
            after = self._broken_by([*plan, change], self._with(world, change), goal)
            if len(after) < len(broken):
                return change
            first = first or change
            tried += 1
            if tried > _MAX_TRIED:
                break
        return again or first or self._add(self._missing(name, world), broken, plan, world, goal)

    def _add(
        self,
        missing: Sequence[str],
        broken: Sequence[str],
        plan: List[Change],
        world: _World,
        goal: Goal,
    ) -> Optional[Change]:
        """One of the packages that are missing, in the newest build that breaks nothing."""
        for name in missing:
            allowed = self._allowed(name, world, None)
            for _, position, build in self._nearest(name, None, plan[0].after):
                if not allowed >> position & 1:
                    continue
                change = Change(None, build)
                after = self._broken_by([*plan, change], self._with(world, change), goal)
                if len(after) < len(broken):
                    return change
        return None

    # --- what is judged ----------------------------------------------------------------------

    def _broken_by(self, plan: Sequence[Change], world: _World, goal: Goal) -> List[str]:
        """Packages that are not whole after these changes: broken by them, or not yet mended."""
        touched = touched_by(plan)
        came = {change.after.component for change in plan}
        names = [goal.component, *(n for t in sorted(touched) for n in self._readers.get(t, ()))]
        found = [
            name
            for name in dict.fromkeys(names)
            if name not in touched and self._is_broken(name, touched, world, goal)
        ]
        found += [n for n in self.installed if n not in (*touched, *found) and self._moved(n, plan)]
        if goal.no_cpu:
            found += [n for n in self._for_the_cpu(self.world) if n not in (*touched, *found)]
        return [*found, *(n for n in sorted(came) if self._missing(n, world))]

    def _is_broken(self, name: str, touched: Set[str], world: _World, goal: Goal) -> bool:
        violated = self._violated(name, world)
        if not violated:
            return False
        if violated - self.before[name] or (name == goal.component and violated & goal.ids):
            return True
        return any(
            bound.relation.id in violated and touched & read for bound, read in self._reads[name]
        )

    def _hold(self, plan: Sequence[Change], world: _World) -> bool:
        """Whether each package that came fits the world that all of them have made."""
        for change in plan:
            name = change.after.component
            if change.compiled_again:
                if not self._compiles(name, world):
                    return False
                continue
            builds = self.knowledge.packages[name].builds()
            (position,) = (n for n, build in enumerate(builds) if build is change.after)
            if not self._allowed(name, world, change.before) >> position & 1:
                return False
        return True

    def _of(self, name: str) -> List[Bound]:
        """The relations of a package that a plan has to heed: information is none."""
        if name not in self._heeded:
            bounds = self.fit.of(name)
            self._heeded[name] = [b for b in bounds if b.relation.severity != "info"]
        return self._heeded[name]

    def _violated(self, name: str, world: _World) -> FrozenSet[str]:
        """Ids of the relations that reject an installed package, or one that it may be."""
        builds = world[name]
        return frozenset(
            bound.relation.id
            for bound in self._of(name)
            if self.fit.ask(bound, builds, world).rejected
        )

    def _allowed(self, name: str, world: _World, before: Optional[Build]) -> int:
        """The builds of a package that no relation of its own rejects, as a set of bits.

        That something needed is not there rejects none, since it can be added. What is not known
        of a build counts against it, unless as little is known of the one in whose place it comes.
        """
        builds = self.knowledge.packages[name].builds()
        rejected = 0
        for bound in self._of(name):
            if any(not _is_there(world.get(c)) for c in bound.asked):
                continue
            answer = self.fit.ask(bound, builds, world)
            rejected |= answer.rejected
            if answer.unsure:
                rejected |= answer.unsure & ~self._equal(bound, builds, before)
        return ~rejected & ((1 << len(builds)) - 1)

    def _equal(self, bound: Bound, builds: Tuple[Build, ...], before: Optional[Build]) -> int:
        """The builds that a relation cannot tell from the installed one."""
        if before is None or before.component != bound.owner:
            return 0
        names = bound.reads["self"]
        own = self.fit.view(self._alone(before), names)
        asked = (id(bound), own)
        if asked not in self._alike:
            self._alike[asked] = sum(
                1 << n for n, b in enumerate(builds) if self.fit.view(self._alone(b), names) == own
            )
        return self._alike[asked]

    def _missing(self, name: str, world: _World) -> List[str]:
        """Packages that are not there and that a package of this world asks for."""
        found: List[str] = []
        for bound in self._of(name):
            gone = [c for c in sorted(bound.asked) if not _is_there(world.get(c))]
            if gone and self.fit.ask(bound, world[name], world).rejected:
                for component in gone:
                    if component in self.knowledge.packages:
                        found.append(component)
                    elif component.startswith(_MODULE):
                        found += self.knowledge.providers[component[len(_MODULE) :]]
        return found

    def _compiles(self, name: str, world: _World) -> bool:
        """Whether the installed release may be compiled (again) in a world."""
        sources = self._sources(name)
        return bool(sources) and not any(
            self.fit.ask(bound, sources, world).rejected for bound in self._of(name)
        )

    def _sources(self, name: str) -> Domain:
        """The installed build as compiled from source, if it may be that."""
        builds = self._compiled(name, self.observation.domains[name])
        return self._alone(builds[0]) if builds else ()

    def _compiled(self, name: str, domain: Domain) -> List[Build]:
        """Of what may be installed, what was compiled for what is beside it."""
        if "compiles" not in self.knowledge.packages[name].variant:
            return []
        builds = (build for build in domain if isinstance(build, Build))
        return [build for build in builds if build.attributes.get("origin") == "source"]

    def _moved(self, name: str, plan: Sequence[Change]) -> bool:
        """Whether a package that was compiled here needs it again: what it was made for moved."""
        if not self._compiled(name, self.world[name]):
            return False
        required = self._requires(name)
        return any(
            change.before is not None
            and change.after.component in required
            and linked(change.before) != linked(change.after)
            for change in plan
        )

    def _for_the_cpu(self, world: _World) -> List[str]:
        builds = {name: [b for b in world[name] if isinstance(b, Build)] for name in self.installed}
        return [name for name, found in builds.items() if found and kind(_common(found)) == "cpu"]

    # --- builds and worlds -------------------------------------------------------------------

    def _possible(self, name: str) -> Domain:
        """Of the builds that may be installed, those that could be, and fit what is beside them.

        Of one that is broken, how it was to fit tells nothing.
        """
        domain = self.observation.domains[name]
        every = left = (1 << len(domain)) - 1
        fitting = every
        is_broken = False
        for bound in self._of(name):
            rejected = self.fit.ask(bound, domain, self.observation.domains).rejected
            if bound.relation.phase == "install":
                left &= ~rejected
            elif bound.relation.owner is not None and rejected != every:
                fitting &= ~rejected
            elif bound.relation.owner is not None and bound.relation.severity == "error":
                is_broken = True
        left = left or every
        if not is_broken:
            left = left & fitting or left
        possible = tuple(build for n, build in enumerate(domain) if left >> n & 1)
        # sources compiled beside another package are no more sure to fit than a wheel for it
        wheels = tuple(
            b for b in possible if isinstance(b, Build) and b.attributes.get("origin") == "wheel"
        )
        return wheels or possible

    def _kind_of_the_stack(self) -> Optional[str]:
        """What device the installed builds are for.

        Where they differ, it is CUDA's if a GPU is there, else that of what the others require.
        """
        kinds = {kind(build) for build in self.installed.values()} - {None}
        for other in sorted(str(k) for k in kinds - {"cuda", "cpu"}):
            return other
        if len(kinds) == 1:
            return kinds.pop()
        if isinstance(self.world.get("host.gpu", (Unknown(),))[0], tuple):
            return "cuda"
        required = {kind(b) for n, b in self.installed.items() if not self._requires(n)} - {None}
        return required.pop() if len(required) == 1 else None

    def _requires(self, name: str) -> Tuple[str, ...]:
        return self.knowledge.packages[name].requires

    def _packages_read(self, bound: Bound) -> Set[str]:
        found: Set[str] = set()
        for component in (*bound.components, *bound.asked):
            if component.startswith(_MODULE):
                found.update(self.knowledge.providers[component[len(_MODULE) :]])
            else:
                found.add(component)
        return found

    def _felt(self, name: str, mended: str) -> int:
        """How much a change of `name` is felt by what is installed beside the `mended` package.

        A package is kept rather than what it needs.
        """
        dependents = len([n for n in self._readers.get(name, ()) if n not in (name, mended)])
        return 1 + dependents + (name == mended)

    def _weight(self, name: str) -> int:
        """1 of a package that has GPU code: others, known or not, may be compiled against it."""
        return int("sass" in self.knowledge.packages[name].variant)

    def _alone(self, build: Build) -> Domain:
        return self._single.setdefault(id(build), (build,))

    def _with(self, world: _World, change: Change) -> _World:
        changed = dict(world)
        name = change.after.component
        if change.removed:
            changed[change.removed] = (ABSENT,)
        changed[name] = self._sources(name) if change.compiled_again else self._alone(change.after)
        for module in self.knowledge.packages[name].modules:
            names = self.knowledge.providers[module]
            there = [changed[n] for n in names if _is_there(changed.get(n))]
            if len(there) == 1:
                changed[_MODULE + module] = there[0]
            else:
                changed[_MODULE + module] = tuple(b for domain in there for b in domain) or (
                    ABSENT,
                )
        return changed

    def _companion(self, name: str) -> Optional[Build]:
        """The installed package whose CUDA and processor the builds of a package are to share."""
        for required in self._requires(name):
            build = self.installed.get(required)
            if build is not None and "cuda" in build.attributes:
                return build
        return None

    def _nearest(
        self, name: str, before: Optional[Build], beside: Optional[Build]
    ) -> List[Tuple[Rank, int, Build]]:
        """Builds that can be installed by a command of the matrices, nearest first.

        `beside` is the build for whose sake it is exchanged: the CUDA is to be that one's. Nearest
        to nothing is the newest.
        """
        like = beside if beside is not None and "cuda" in beside.attributes else None
        like = like or self._companion(name) or before
        cuda = like.attributes.get("cuda") if like is not None else None
        if not isinstance(cuda, Version):
            cuda = self.world.get("host.serves", (None,))[0]
        asked = (name, id(before), cuda, self._is_likely_enough, self._platform)
        if asked not in self._ranked:
            package = self.knowledge.packages[name]
            distance = Distance(before, package.releases, cuda)
            ranked = [
                (distance.of(build), position, build)
                for position, build in enumerate(package.builds())
                if self._offered(build, before, like)
            ]
            ranked.sort(key=lambda item: (_unstated(item[2], package.variant), *item[:2]))
            self._ranked[asked] = ranked
        return self._ranked[asked]

    def _offered(self, build: Build, before: Optional[Build], like: Optional[Build]) -> bool:
        """Whether a build is known to be had, for this interpreter, processor and device."""
        python = self.world.get("python", ())
        if requirement_arguments(build) is None:
            return False
        if not (self._is_likely_enough or _proven(build, python)):
            return False
        if _is_preview(build) and not (before is not None and _is_preview(before)):
            return False
        own = kind(build)
        if own is not None:
            if own != self._platform or self.observation.accelerator not in _NVIDIA:
                return False
            needs = self._requires(build.component)
            beside = self._companion(build.component)
            if needs and (
                beside is None or self.observation.origins.get(beside.component) in _OTHERS
            ):
                return False  # it was compiled for something that is not there
        architecture = build.attributes.get("architecture")
        for other in (before, like):
            stated = other.attributes.get("architecture") if other is not None else None
            if architecture is not None and stated not in (None, architecture):
                return False
        return True


class _Free(Repairs):
    """Of an environment in which each build may be exchanged."""

    def stays(self, name: str) -> str:  # noqa: ARG002
        """Nothing has to stay."""
        return ""


def _is_there(domain: Optional[Domain]) -> bool:
    return domain is not None and isinstance(domain[0], Build)


def linked(build: Build) -> Tuple[Optional[Value], ...]:
    """What code that was compiled against a build depends on."""
    version = series(build.version) if build.version is not None else None
    return (version, *(build.attributes.get(name) for name in _LINKED))


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


def _unstated(build: Build, variant: Dict[str, str]) -> bool:
    """Whether it is not known for which interpreters a build is, though it is of others."""
    names = [name for name in ("python", "requires_python") if name in variant]
    return bool(names) and not any(name in build.attributes for name in names)


def _is_preview(build: Build) -> bool:
    return build.version is not None and build.version.is_prerelease
