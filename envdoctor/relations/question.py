"""Asks the matrices: do these builds fit each other in a world, how, and if not, why not.

The relations are those of `check`, with one difference: a check knows what is there and asks
whether it can be whole; here every build that is asked for is to be had, so one combination that
fits is enough. Of packages that are not asked for nothing is said, nor whether one that is needed
is there: it can be added. What the world does not say (a GPU, a Python) is not asked.
"""

from __future__ import annotations

import itertools
from typing import Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.facts import Facts
from envdoctor.model.versions import local_part
from envdoctor.relations.components import DOTTED
from envdoctor.relations.judge import (
    Bound,
    Breach,
    Domain,
    Domains,
    Relations,
    Verdict,
    Violation,
    groups,
    key,
)
from envdoctor.relations.observe import is_source, kind, observe, set_modules
from envdoctor.relations.sources import with_tools
from envdoctor.relations.wanted import Wanted, builds_of

PREBUILT = "prebuilt"  #: wheels that exist fit as they are
SOURCE = "source"  #: only something that is built from source can fit
NO = "no"  #: nothing that is known can fit
UNTESTED = "untested"  #: newer or older than the matrices know
UNDECIDED = "undecided"  #: something that is not known decides
ANSWERS = (PREBUILT, SOURCE, NO, UNTESTED, UNDECIDED)

_MAX_CHOICES = 20_000
#: Whether it is there, of a package that nobody asked about.
_NOT_ASKED = Unknown("it was not asked about")


class QuestionError(ValueError):
    """A question that is too large; the message says what would make it smaller."""


class World(NamedTuple):
    """What is not asked for: the machine, the interpreter, the tools of a build."""

    domains: Dict[str, Domain]
    accelerator: str

    @property
    def has_gpu(self) -> bool:
        """Whether programs are to run on a GPU: one that is known, or what a driver drives."""
        gpus = self.domains.get("host.gpu", (ABSENT,))[0]
        if isinstance(gpus, tuple):
            return bool(gpus)
        return isinstance(self.domains.get("host.driver", (ABSENT,))[0], Version)


def world_of(facts: Facts, knowledge: Knowledge) -> World:
    """The machine and the interpreter of `facts`, without anything that is installed.

    Tools of a build count where they are assumed: others can be installed beside those of the
    machine.
    """
    observation = observe(facts, knowledge)
    domains = dict(with_tools(observation, facts).domains)
    assumed = {
        "build.toolkit": facts.tools.toolkit.assumed,
        "build.gcc": facts.tools.compiler.assumed,
        "build.clang": facts.tools.compiler.assumed,
    }
    for component, stated in assumed.items():
        if not stated:
            domains[component] = (Unknown(f"the {DOTTED[component]} is not said"),)
    for name in knowledge.packages:
        domains[name] = (ABSENT,)
    set_modules(domains, knowledge)
    return World(domains, observation.accelerator)


class Reason(NamedTuple):
    """A relation that rejects builds, with what is needed to tell it in words."""

    bound: Bound
    violation: Violation  # with this breach alone
    domains: Domains  # the builds that were asked about, in their world
    enough: bool  # whether it rejects every combination by itself

    @property
    def breach(self) -> Breach:
        """The relation and the builds of its owner that it rejects."""
        return self.violation.breaches[0]


class Answer(NamedTuple):
    """Whether builds fit each other, how, and if not, why not."""

    kind: str  # one of ANSWERS
    #: of each package the builds that take part in a combination that fits, or may
    fitting: Mapping[str, Tuple[Build, ...]]
    #: one of those combinations: with the fewest warnings, then with the CUDAs most alike
    example: Mapping[str, Build]
    because: Tuple[Reason, ...] = ()  # of a `no`: what rejects every combination, no more
    also: Tuple[Reason, ...] = ()  # what would reject them all without those
    warnings: Tuple[Reason, ...] = ()  # what is said of every combination that fits
    open: Tuple[str, ...] = ()  # what is not known, where that decides

    @property
    def fits(self) -> bool:
        """Whether something fits for certain."""
        return self.kind in (PREBUILT, SOURCE)


def ask(wanted: Sequence[Wanted], world: World, relations: Relations) -> Answer:
    """Whether what is wanted fits, all of it together. Raises QuestionError."""
    return Question(wanted, world, relations).answer()


class _Saying(NamedTuple):
    """What a relation says of the first package's builds, for one choice of the rest."""

    rejected: int
    unsure: int
    reason: str


class Question:
    """Builds of packages, asked about together; also for parts of them, as in a grid."""

    def __init__(self, wanted: Sequence[Wanted], world: World, relations: Relations) -> None:
        """Judge each combination of builds. Raises QuestionError."""
        self.world, self.relations = world, relations
        self.knowledge = relations.knowledge
        self.wanted = {one.name: one for one in wanted}
        self.builds = {one.name: self._builds(one) for one in wanted}
        self.bounds = [bound for name in self.builds for bound in self._speaking(name)]
        names = sorted(self.builds, key=lambda name: -len(self.builds[name]))
        self.first, self.rest = names[0], tuple(names[1:])
        self.groups = {name: self._groups(name) for name in names}
        size = 1
        for name in self.rest:
            size *= len(self.groups[name])
        if size > _MAX_CHOICES:
            raise QuestionError(f"{size} combinations are too many: name releases")
        self.choices: List[Tuple[Build, ...]] = list(
            itertools.product(*([group[0] for group in self.groups[name]] for name in self.rest))
        )
        self.own = [group[0] for group in self.groups[self.first]]
        self.sources = _bits(self.own, is_source)
        self.processors = _bits(self.own, lambda build: kind(build) == "cpu")
        self.unlisted = _bits(self.own, self.is_unlisted)
        self._biting: Dict[Bound, bool] = {}
        self.said: Dict[Bound, List[_Saying]] = {}
        for bound in self.bounds:
            self.said[bound] = self._say(bound)

    def answer(self) -> Answer:
        """The answer for everything that is asked about."""
        return self.part(lambda _: True).answer()

    def answer_for(self, releases: Mapping[str, Version]) -> Answer:
        """The answer where these packages are at these releases."""
        return self.part(lambda build: _is_at(build, releases)).answer()

    def part(self, wanted: Callable[[Build], bool]) -> Part:
        """The part of the question that is about the builds for which `wanted` holds."""
        every = _bits(self.own, wanted)
        chosen = [(n, every) for n, choice in enumerate(self.choices) if all(map(wanted, choice))]
        return Part(self, chosen)

    def holding(self, builds: Mapping[str, Build]) -> List[Bound]:
        """The relations that speak of these builds, one of each package, and hold."""
        world: Dict[str, Domain] = dict(self.world.domains)
        world.update((name, (build,)) for name, build in builds.items())
        set_modules(world, self.knowledge)
        found = []
        for bound in self.bounds:
            named = (*bound.components, *bound.asked)
            environment = {component: world.get(component, (ABSENT,))[0] for component in named}
            environment.update((c, _NOT_ASKED) for c in bound.asked if world[c] == (ABSENT,))
            if bound.verdict({**environment, "self": builds[bound.owner]})[0] is Verdict.HOLDS:
                found.append(bound)
        return found

    def is_unlisted(self, build: Build) -> bool:
        """Whether the matrices know of no such build."""
        package = self.knowledge.packages[build.component]
        version = build.version
        if version is not None and not package.releases[0] <= version <= package.newest:
            return True
        return bool(package.file.builds) and not build.entry

    # --- what is asked about ----------------------------------------------------------------

    def _builds(self, one: Wanted) -> Tuple[Build, ...]:
        """The builds that may be taken: none for the processor alone where there is a GPU."""
        architecture = self.world.domains.get("host.architecture", (ABSENT,))[0]
        found = builds_of(one, self.knowledge, architecture)
        if self.world.has_gpu and not local_part(one.label):
            found = tuple(b for b in found if kind(b) != "cpu") or found
        return found

    def _speaking(self, name: str) -> Iterator[Bound]:
        """The relations of a package that speak of what is asked about and of the world."""
        accelerator = self.world.accelerator
        for bound in self.relations.of(name):
            vendor = bound.relation.accelerator
            if vendor and accelerator not in ("", vendor):
                continue
            if bound.is_of_files:
                continue  # no build states what is read of files
            if all(self._is_there(component) for component in bound.components):
                yield bound

    def _is_there(self, component: str) -> bool:
        if component.startswith("module."):
            providers = self.knowledge.providers[component[len("module.") :]]
            return any(name in self.builds for name in providers)
        return component in self.builds or self.world.domains[component] != (ABSENT,)

    def _groups(self, name: str) -> List[List[Build]]:
        """Builds that the relations cannot tell apart, together."""
        read = {"version", "origin", "cuda"}
        for bound in self.bounds:
            for component, names in bound.reads.items():
                if self._package(component, bound) == name:
                    read.update(names)
        return groups(self.builds[name], sorted(read))

    def _package(self, component: str, bound: Bound) -> str:
        """The package that is asked about and that a component of a relation stands for."""
        if component == "self":
            return bound.owner
        if component.startswith("module."):
            providers = self.knowledge.providers[component[len("module.") :]]
            return next((name for name in providers if name in self.builds), "")
        return component if component in self.builds else ""

    # --- what the relations say ------------------------------------------------------------------

    def _say(self, bound: Bound) -> List[_Saying]:
        """What a relation says for each choice of the rest, in their order."""
        involved = {c: self._package(c, bound) for c in bound.reads}
        world = {c: self._outside(c) for c in (*bound.reads, *bound.asked) if not involved.get(c)}
        for component in bound.asked:
            if self._package(component, bound):
                world[component] = self.builds[self._package(component, bound)][0]
            elif world[component] == ABSENT:
                world[component] = _NOT_ASKED
        places = {name: n for n, name in enumerate(self.rest)}
        read = [(c, name, bound.reads[c]) for c, name in involved.items() if name in places]
        mine = [c for c, name in involved.items() if name == self.first]
        names = tuple(sorted({name for c in mine for name in bound.reads[c]}))
        own = self._members(names)
        known: Dict[object, _Saying] = {}
        said = []
        for choice in self.choices:
            seen: List[object] = [key(choice[places[name]], names) for _, name, names in read]
            if bound.owner in places:  # of one newer than the matrices nothing is said
                seen.append(choice[places[bound.owner]].version)
            kept = tuple(seen)
            if kept not in known:
                environment = {**world, **{c: choice[places[name]] for c, name, _ in read}}
                known[kept] = self._judge(bound, environment, mine, own)
            said.append(known[kept])
        return said

    def _judge(
        self,
        bound: Bound,
        environment: Mapping[str, Value],
        mine: Sequence[str],
        own: Sequence[Tuple[Build, int]],
    ) -> _Saying:
        rejected = unsure = 0
        reason = ""
        for build, bits in own:
            full = {**environment, **dict.fromkeys(mine, build)}
            verdict, why = bound.verdict(full)
            if verdict is Verdict.FAILS:
                rejected |= bits
            elif verdict is Verdict.UNDECIDED and not self._is_left_out(bound, full):
                unsure |= bits
                reason = reason or why
        return _Saying(rejected, unsure, reason)

    def _is_left_out(self, bound: Bound, environment: Mapping[str, Value]) -> bool:
        """Whether what is unknown is what nobody asked about, or what compiling will decide."""
        if any(isinstance(environment[c], Unknown) for c in (*bound.components, *bound.asked)):
            return True
        parts = [environment[c] for c in bound.reads if isinstance(environment[c], Build)]
        if any(is_source(part) for part in parts if isinstance(part, Build)):
            return True
        applies = bound.condition is None or bound.condition.evaluate(environment) is True
        if applies and not any(self._package(c, bound) for c in bound.needs.reads):
            return True
        about = {self._package(component, bound) for component in bound.reads}
        return about <= {bound.owner, ""} and not self._bites(bound, environment)

    def _bites(self, bound: Bound, environment: Mapping[str, Value]) -> bool:
        """Whether a relation with the world alone rejects any build of its package at all."""
        if bound not in self._biting:
            every = groups(self.knowledge.packages[bound.owner].builds(), bound.reads["self"])
            self._biting[bound] = any(
                bound.verdict({**environment, "self": group[0]})[0] is Verdict.FAILS
                for group in every
            )
        return self._biting[bound]

    def _members(self, names: Tuple[str, ...]) -> List[Tuple[Build, int]]:
        """The first package's builds that these attributes tell apart, with the bits of each."""
        if not names:
            return [(self.own[0], (1 << len(self.own)) - 1)]
        place = {id(build): 1 << n for n, build in enumerate(self.own)}
        return [
            (group[0], sum(place[id(build)] for build in group))
            for group in groups(self.own, names)
        ]

    def _outside(self, component: str) -> Value:
        return self.world.domains.get(component, (ABSENT,))[0]


#: Combinations: the number of a choice of the rest, and a mask of the first package's builds.
_Where = List[Tuple[int, int]]


class Part:
    """Some of the combinations of a question, and the answer for them."""

    def __init__(self, question: Question, chosen: _Where) -> None:
        """`chosen` are numbers of choices of the rest, each with a mask of the first's builds."""
        self.question = question
        self.chosen = chosen

    def answer(self) -> Answer:
        """The answer, with reasons and what fits."""
        kind_, where, told = self._settled()
        if kind_ == NO:
            return self._refused(self._of_severity("error"))
        if kind_ == UNTESTED:
            return self._unlisted_answer(where)
        return self._found(kind_, where, told)

    def kind(self) -> Tuple[str, Tuple[Bound, ...]]:
        """The answer in a word, and the warnings that no combination avoids which fits."""
        kind_, where, _ = self._settled()
        if kind_ == UNTESTED:
            return self._unlisted_answer(where).kind, ()
        if kind_ not in (PREBUILT, SOURCE):
            return kind_, ()
        said = self.question.said
        warned = [
            bound
            for bound in self._of_severity("warning")
            if all(not mask & ~said[bound][n].rejected for n, mask in where)
        ]
        return kind_, tuple(warned)

    def refusal(self) -> Tuple[Bound, ...]:
        """The relations that are told of a no."""
        return tuple(self._told(self._rejections(self._of_severity("error"))))

    def _settled(self) -> Tuple[str, _Where, Tuple[str, ...]]:
        """The answer in a word, the combinations that it rests on, and what is not known."""
        question = self.question
        errors = self._of_severity("error")
        sources_, unlisted = question.sources, question.unlisted
        fit: Dict[str, _Where] = {PREBUILT: [], SOURCE: []}
        may: Dict[str, _Where] = {PREBUILT: [], SOURCE: []}
        new: _Where = []
        reasons: Dict[str, None] = {}
        for n, every in self.chosen:
            rejected = unsure = 0
            for bound in errors:
                said = question.said[bound][n]
                rejected |= said.rejected
                unsure |= said.unsure
                if said.unsure & every & ~said.rejected:
                    reasons.setdefault(said.reason)
            left = every & ~rejected
            choice = question.choices[n]
            if any(question.is_unlisted(build) for build in choice):
                new.append((n, left))
                continue
            new.append((n, left & unlisted))
            left &= ~unlisted
            built = left if any(is_source(b) for b in choice) else left & sources_
            for how, mask in ((SOURCE, built), (PREBUILT, left & ~built)):
                fit[how].append((n, mask & ~unsure))
                may[how].append((n, mask & unsure))
        for kind_, where, told in (
            (PREBUILT, fit[PREBUILT], ()),
            (UNDECIDED, may[PREBUILT], tuple(reasons)),
            (SOURCE, fit[SOURCE], ()),
            (UNDECIDED, may[SOURCE], tuple(reasons)),
            (UNTESTED, new, ()),
        ):
            left_over = [(n, mask) for n, mask in where if mask]
            if left_over:
                return kind_, self._fewest_built(self._for_gpus(left_over)), told
        return NO, [], ()

    def _for_gpus(self, where: _Where) -> _Where:
        """The combinations without a build for the processor alone, where there are others."""
        kept = [
            (n, mask & ~self.question.processors)
            for n, mask in where
            if all(kind(build) != "cpu" for build in self.question.choices[n])
        ]
        return [(n, mask) for n, mask in kept if mask] or where

    def _fewest_built(self, where: _Where) -> _Where:
        """The combinations in which the fewest packages are built: the rest has wheels."""
        counted: Dict[int, _Where] = {}
        sources = self.question.sources
        for n, mask in where:
            number = sum(map(is_source, self.question.choices[n]))
            for more, part in ((0, mask & ~sources), (1, mask & sources)):
                if part:
                    counted.setdefault(number + more, []).append((n, part))
        return counted[min(counted)]

    def _of_severity(self, *severities: str) -> List[Bound]:
        return [b for b in self.question.bounds if b.relation.severity in severities]

    def _found(self, how: str, where: _Where, open_: Tuple[str, ...] = ()) -> Answer:
        question = self.question
        warned = self._of_severity("warning")
        fitting: Dict[str, Dict[int, Build]] = {name: {} for name in question.builds}
        best: Tuple[Tuple[int, _Apart], Dict[str, Build]] = ((len(warned) + 1, (0, 0)), {})
        always = dict.fromkeys(warned, True)
        for n, mask in where:
            if not mask:
                continue
            choice = question.choices[n]
            apart = _Apartness(choice)
            for name, build in zip(question.rest, choice):
                fitting[name].update((id(b), b) for b in self._alike(name, build))
            for position, build in enumerate(question.own):
                if not mask >> position & 1:
                    continue
                first = self._alike(question.first, build)
                fitting[question.first].update((id(b), b) for b in first)
                said = [b for b in warned if question.said[b][n].rejected >> position & 1]
                for bound in warned:
                    always[bound] = always[bound] and bound in said
                rank = (len(said), apart.with_(build))
                if rank <= best[0]:
                    best = (rank, dict(zip(question.rest, choice)))
                    best[1][question.first] = build
        domains = self._domains({n: tuple(b.values()) for n, b in fitting.items()})
        warnings = [self._reason(b, domains, True) for b in warned if always[b]]
        example = {name: best[1][name] for name in question.builds}
        found = {name: tuple(fitting[name].values()) for name in question.builds}
        return Answer(how, found, example, warnings=tuple(warnings), open=open_)

    def _alike(self, name: str, build: Build) -> Sequence[Build]:
        return next(group for group in self.question.groups[name] if group[0] is build)

    def _unlisted_answer(self, where: _Where) -> Answer:
        found = self._found(UNTESTED, where)
        told = []
        new = False
        for name, builds in found.fitting.items():
            package = self.question.knowledge.packages[name]
            for build in builds:
                version = build.version
                if version is not None and version > package.newest:
                    new = True
                    told.append(f"{build} is newer than the matrices know ({package.newest})")
                elif version is not None and version < package.releases[0]:
                    new, oldest = True, package.releases[0]
                    told.append(f"{build} is older than the matrices know ({oldest})")
                elif self.question.is_unlisted(build) and build.label == str(version):
                    told.append(f"which builds of {build} there are is not known")
                elif self.question.is_unlisted(build):
                    told.append(f"{build} is no build that the matrices know")
        return found._replace(kind=UNTESTED if new else UNDECIDED, open=tuple(dict.fromkeys(told)))

    def _refused(self, errors: Sequence[Bound]) -> Answer:
        """Which relations reject every combination: those that do alone, else as few as do."""
        rejects = self._rejections(errors)
        whole = [every for _, every in self.chosen]
        told = self._told(rejects)
        rest = _cover({b: masks for b, masks in rejects.items() if b not in told}, whole)
        domains = self._domains(self._builds())
        because = tuple(self._reason(b, domains, rejects[b] == whole) for b in told)
        also = tuple(self._reason(b, domains, False) for b in rest)
        return Answer(NO, {}, {}, because, also)

    def _rejections(self, errors: Sequence[Bound]) -> Dict[Bound, List[int]]:
        """Of each relation that rejects something, what it rejects of each choice."""
        found = {}
        for bound in errors:
            said = self.question.said[bound]
            masks = [said[n].rejected & every for n, every in self.chosen]
            if any(masks):
                found[bound] = masks
        return found

    def _told(self, rejects: Mapping[Bound, List[int]]) -> List[Bound]:
        whole = [every for _, every in self.chosen]
        alone = [bound for bound, masks in rejects.items() if masks == whole]
        return alone or _cover(rejects, whole)

    def _builds(self) -> Dict[str, Tuple[Build, ...]]:
        """The builds that this part is about."""
        question = self.question
        found: Dict[str, Dict[int, Build]] = {name: {} for name in question.builds}
        every = 0
        for n, mask in self.chosen:
            every |= mask
            for name, build in zip(question.rest, question.choices[n]):
                found[name].update((id(b), b) for b in self._alike(name, build))
        for position, build in enumerate(question.own):
            if every >> position & 1:
                of_first = self._alike(question.first, build)
                found[question.first].update((id(b), b) for b in of_first)
        return {name: tuple(builds.values()) for name, builds in found.items()}

    def _domains(self, builds: Mapping[str, Tuple[Build, ...]]) -> Domains:
        domains = {**self.question.world.domains, **builds}
        set_modules(domains, self.question.knowledge)
        return domains

    def _reason(self, bound: Bound, domains: Domains, enough: bool) -> Reason:
        """The relation, with the builds of its owner that it rejects in some combination."""
        question = self.question
        rejected: Dict[int, Build] = {}
        for n, every in self.chosen:
            mask = question.said[bound][n].rejected & every
            if not mask:
                continue
            if bound.owner != question.first:
                build = question.choices[n][question.rest.index(bound.owner)]
                rejected.update((id(b), b) for b in self._alike(bound.owner, build))
                continue
            for position, build in enumerate(question.own):
                if mask >> position & 1:
                    rejected.update((id(b), b) for b in self._alike(bound.owner, build))
        breach = Breach(bound, tuple(rejected.values()))
        return Reason(bound, Violation(bound.owner, (breach,)), domains, enough)


#: How many CUDAs of a combination are of another major version, and how far the others lie apart.
_Apart = Tuple[int, int]


class _Apartness:
    """How unlike the CUDA of a build is to those of a choice of the rest."""

    def __init__(self, choice: Sequence[Build]) -> None:
        self._cudas = [build.attributes.get("cuda") for build in choice]
        self._known: Dict[Value, _Apart] = {}

    def with_(self, build: Build) -> _Apart:
        """Of the combination with a build of the first package. What is unknown is like any."""
        cuda = build.attributes.get("cuda", ABSENT)
        if cuda not in self._known:
            pairs = list(itertools.combinations([*self._cudas, cuda], 2))
            others = sum(_is_other_major(one, other) for one, other in pairs)
            self._known[cuda] = (others, sum(_minors_between(*pair) for pair in pairs))
        return self._known[cuda]


def _is_other_major(one: Optional[Value], other: Optional[Value]) -> bool:
    if isinstance(one, Version) and isinstance(other, Version):
        return one.major != other.major
    told = isinstance(one, (str, Version)) and isinstance(other, (str, Version))
    return told and one != other  # "cpu"


def _minors_between(one: Optional[Value], other: Optional[Value]) -> int:
    if isinstance(one, Version) and isinstance(other, Version) and one.major == other.major:
        return abs(one.minor - other.minor)
    return 0


def _cover(rejects: Mapping[Bound, List[int]], whole: Sequence[int]) -> List[Bound]:
    """As few relations as reject everything together, the widest first; none if they do not."""
    left = list(whole)
    taken: List[Bound] = []
    while any(left):
        widest = max(
            (b for b in rejects if b not in taken),
            key=lambda b: sum(_count(m & rest) for m, rest in zip(rejects[b], left)),
            default=None,
        )
        if widest is None or not any(m & rest for m, rest in zip(rejects[widest], left)):
            return []
        taken.append(widest)
        left = [rest & ~mask for rest, mask in zip(left, rejects[widest])]
    for bound in list(taken):
        others = [b for b in taken if b is not bound]
        together = [0] * len(whole)
        for other in others:
            together = [a | b for a, b in zip(together, rejects[other])]
        if all(not rest & ~mask for rest, mask in zip(whole, together)):
            taken = others
    return [bound for bound in rejects if bound in taken]


def _count(mask: int) -> int:
    return bin(mask).count("1")


def _bits(builds: Sequence[Build], test: Callable[[Build], bool]) -> int:
    return sum(1 << n for n, build in enumerate(builds) if test(build))


def _is_at(build: Build, releases: Mapping[str, Version]) -> bool:
    return build.component not in releases or build.version == releases[build.component]
