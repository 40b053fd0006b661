"""What would stop working if other builds, or another machine, were here; what else must move."""

from __future__ import annotations

import shlex
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

import msgspec

from envdoctor import __version__
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build
from envdoctor.model.facts import Facts, Target
from envdoctor.model.finding import (
    SEVERITIES,
    Finding,
    MachineSummary,
    Skipped,
    TargetSummary,
)
from envdoctor.model.language import ENGLISH, count, say, translate
from envdoctor.model.names import canonical
from envdoctor.model.text import clean
from envdoctor.model.what_if import (
    APART,
    BREAKS,
    HARMLESS,
    IMPOSSIBLE,
    MOVES,
    RISKY,
    TO_COMPILE,
    UNDECIDED,
    Break,
    Moved,
    WhatIf,
)
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Domain, Relations, Violation, judge
from envdoctor.relations.observe import Observation, kind, observe
from envdoctor.relations.plan import Change, Goal, Plan, requirement_arguments
from envdoctor.relations.repair import Repairs, linked, plans
from envdoctor.relations.tell import label
from envdoctor.relations.wanted import Wanted
from envdoctor.resolver import linked_files
from envdoctor.resolver.apart import kept, separate
from envdoctor.resolver.linked_files import Linked
from envdoctor.resolver.supposed import Asked, Supposed, suppose
from envdoctor.rules.change import others_compiled, plan_fix
from envdoctor.rules.examination import Examination
from envdoctor.rules.lookup import pip
from envdoctor.rules.page import pages

_TORCH_ABI = "torch-abi-mismatch"
_LIBRARY = "shared-library-missing"
#: By the distribution that files are linked to, the finding that they no longer load.
_OF = {"torch": _TORCH_ABI, "numpy": "numpy2-abi"}
_MISSING = "python-module-missing"
_CONFLICT = "dependency-conflict"
_COMPILED = ("source", "compiled")
_NOT_PUBLISHED = ("vendor", "source", "development")
_NVIDIA = ("", "none", "nvidia")
_MOST_FILES = 200

replace = msgspec.structs.replace

#: What a finding is known by before and after: code, package, relation, what it is about.
_Key = Tuple[str, str, str, Tuple[str, ...]]


def what_if(
    facts: Facts,
    asked: Sequence[Asked],
    knowledge: Knowledge,
    language: str = ENGLISH,
    machine: Optional[Facts] = None,
    texts: Sequence[str] = (),
) -> WhatIf:
    """What a change of the environment of `facts` would come to.

    `machine` are the same facts with another machine, where that is asked about, and `texts` what
    was asked for as it was typed. Raises WantedError for a release that there is not.
    """
    question = _Question(facts, asked, knowledge, language, machine or facts)
    return question.answer(tuple(clean(text) for text in texts))


class _Judged(Examination):
    """What is found in an environment; of packages that come also that they cannot be installed."""

    def __init__(
        self,
        facts: Facts,
        knowledge: Knowledge,
        observed: Observation,
        language: str,
        coming: FrozenSet[str] = frozenset(),
    ) -> None:
        """Judge what is observed; `coming` are the packages that are not there yet."""
        self.coming = coming
        super().__init__(facts, knowledge, observed, language)
        self.relations_broken()
        self.rules_broken()

    def _is_told(self, violation: Violation) -> bool:
        return violation.component in self.coming or super()._is_told(violation)


class _Kept(Repairs):
    """Repairs that leave alone what was asked for."""

    def __init__(
        self, observation: Observation, relations: Relations, kept: FrozenSet[str]
    ) -> None:
        """`kept` are the packages that neither move nor come back."""
        self.kept = kept
        super().__init__(observation, relations)

    def _at(self, observation: Observation) -> Repairs:
        return _Kept(observation, self.relations, self.kept)

    def stays(self, name: str) -> str:
        """Why a package is not to be exchanged: it was asked for, or what `Repairs` says."""
        return "what was asked for" if name in self.kept else super().stays(name)

    def _offered(self, build: Build, before: Optional[Build], like: Optional[Build]) -> bool:
        return build.component not in self.kept and super()._offered(build, before, like)


class _Broken(NamedTuple):
    """What breaks, and how it may be mended."""

    told: Break
    goal: Optional[Goal] = None
    compiled: str = ""  # the package to compile again


class _Moves(NamedTuple):
    moved: List[Moved]
    plan: List[Change]
    mended: FrozenSet[int]  # numbers of the breaks


class _Question:
    def __init__(
        self,
        facts: Facts,
        asked: Sequence[Asked],
        knowledge: Knowledge,
        language: str,
        machine: Facts,
    ) -> None:
        self.facts, self.machine, self.asked = facts, machine, tuple(asked)
        self.knowledge, self.language = knowledge, language
        self.relations = Relations(knowledge)
        self.observed = observe(facts, knowledge)
        self.now = Repairs(self.observed, self.relations)
        # today's packages are the builds that fit what is beside them: else all would be open
        self.world: Dict[str, Domain] = {name: self.now.world[name] for name in self.now.installed}
        self.supposed = suppose(machine, self.world, self.asked, self.relations)
        self.there = self._there()
        if self.there:
            self.asked = tuple(one for one in self.asked if one.name not in self.there)
            self.supposed = suppose(machine, self.world, self.asked, self.relations)
        self.names = frozenset(one.name for one in self.asked)

    def say(self, template: str, **values: object) -> str:
        return say(self.language, template, **values)

    def answer(self, texts: Tuple[str, ...]) -> WhatIf:
        today = self.observed._replace(domains={**self.observed.domains, **self.world})
        before = _Judged(self.facts, self.knowledge, today, self.language)
        after = _Judged(
            self.supposed.facts,
            self.knowledge,
            self.supposed.observation,
            self.language,
            self.names,
        )
        links, open_ = self._links()
        broken = self._broken(before, after, links)
        moves = self._moves(broken)
        breaks = self._with_moves(before, after, broken, moves)
        apart = separate(
            self.facts, self.asked, self.supposed, breaks, moves.moved, self.now, self.language
        )
        names = [one.name for one in self.asked]
        held = kept(names, breaks, moves.moved, self.now)
        files = [file for one in links for file in one.files]
        answer = WhatIf(
            command="what-if",
            envdoctor_version=__version__,
            matrices_date=self.knowledge.date,
            verdict="",
            asked=texts,
            changes=tuple(self._changes()),
            breaks=breaks,
            files=tuple(files[:_MOST_FILES]),
            more_files=sum(one.more for one in links) + max(len(files) - _MOST_FILES, 0),
            mended=tuple(self._mended(before, after)),
            moves=tuple(moves.moved),
            commands=tuple(self._commands(moves.plan, held)),
            separate=apart,
            undecided=tuple(self._undecided(before, after, open_)),
            assumptions=tuple(self._assumptions(breaks)),
            target=TargetSummary.of(self.facts),
            machine=MachineSummary.of(self.machine),
            language=self.language,
            matrices_added=self.knowledge.added,
        )
        return replace(answer, verdict=_verdict(answer, self.supposed))

    def _there(self) -> Dict[str, str]:
        """What is asked for and is here already, with its version."""
        target = self.facts.target.value
        labels = {n: v for n, v in self.supposed.labels.items() if v}
        return {n: v for n, v in labels.items() if v == self._label_now(n, target)}

    # --- what breaks -------------------------------------------------------------------------

    def _broken(self, before: _Judged, after: _Judged, links: Sequence[Linked]) -> List[_Broken]:
        """What is found afterwards and not now, the gravest first."""
        known = {_key(finding) for finding in before.findings}
        found = [
            _Broken(_break(finding), after.goals.get(place))
            for place, finding in enumerate(after.findings)
            if finding.severity != "info" and _key(finding) not in known
        ]
        about = {n for f in after.findings if _key(f) not in known for n in f.about}
        found += self._needing(about | {_name(one.told) for one in found})
        errors = [one.told for one in found if one.told.severity == "error"]
        found += self._compiled({_name(one) for one in errors})
        errors = [one.told for one in found if one.told.severity == "error"]
        found += self._by_files(links, {_name(one) for one in errors})
        return sorted(found, key=lambda one: self._rank(one.told))

    def _rank(self, one: Break) -> Tuple[object, ...]:
        package = self.knowledge.packages.get(_name(one))
        depth = len(package.requires) if package is not None else 0
        is_asked = _name(one) in self.names
        return (-SEVERITIES.index(one.severity), not is_asked, depth, one.code, one.component)

    def _needing(self, told: Set[str]) -> Iterator[_Broken]:
        """What needs a package that goes, where nothing else says so."""
        for gone in (one.name for one in self.asked if one.removed):
            for name, build in self.now.installed.items():
                needs = self.knowledge.packages[name].requires
                if gone in needs and name not in self.names and name not in told:
                    summary = self.say("{package} needs {name}", package=build, name=gone)
                    yield _Broken(_told(str(build), _MISSING, summary, "", "import"))

    def _compiled(self, told: Set[str]) -> Iterator[_Broken]:
        """What was compiled here, or by a vendor, for a package that moves."""
        for name, required in self._to_fit():
            if name in told or not self._is_compiled(name):
                continue
            build = self.now.installed[name]
            summary = self.say(
                "{package} was compiled for {old}, and not for {new}",
                package=build,
                old=self.now.installed[required],
                new=f"{required} {self.supposed.labels[required]}",
            )
            yield _Broken(_told(str(build), _TORCH_ABI, summary, "", "import"), compiled=name)

    def _to_fit(self) -> Iterator[Tuple[str, str]]:
        """Compiled packages that stay, each with one that moves and that they were compiled for."""
        for name in self.now.installed:
            package = self.knowledge.packages[name]
            if name in self.names or not {"compiles", "cuda"} & set(package.variant):
                continue
            for required in package.requires:
                old, new = self.now.installed.get(required), self.supposed.builds.get(required)
                if old is not None and new is not None and linked(old) != linked(new):
                    yield name, required
                    break

    def _is_compiled(self, name: str) -> bool:
        """Whether a package is none of the wheels of the matrices."""
        builds = [b for b in self.world[name] if isinstance(b, Build)]
        if all(b.attributes.get("origin") in _COMPILED for b in builds):
            return True
        return self.observed.origins.get(name) in _NOT_PUBLISHED

    def _links(self) -> Tuple[List[Linked], List[str]]:
        """What becomes of files, and what cannot be told of them."""
        target = self.facts.target.value
        there = imported(target) if target is not None else {}
        changes = {
            one.name: linked_files.Change(
                one.name,
                self.now.installed.get(one.name),
                self.supposed.builds.get(one.name),
                self._label_now(one.name, target),
                self.supposed.labels[one.name],
            )
            for one in self.asked
            if one.name in there
        }
        if target is None or not changes:
            return [], []
        found, open_ = linked_files.files_for_numpy_1(
            target, changes.pop("numpy", None), self.language
        )
        if target.linking.value is not None:
            more, unknown = linked_files.linked_files(target, changes, self.language)
            return [*found, *more], [*open_, *unknown]
        changes = {n: c for n, c in changes.items() if self._has_libraries(n)}
        if not changes:
            return found, open_
        reason = translate(self.language, target.linking.unknown)
        names = self.say(", ").join(sorted(changes))
        told = self.say(
            "which files are linked to {names} is not known: {reason}",
            names=names,
            reason=reason or self.say("binaries were not read"),
        )
        return found, [*open_, clean(told, 1000)]

    def _has_libraries(self, name: str) -> bool:
        """Whether others may be linked to what a package brings, as far as its name tells."""
        package = self.knowledge.packages.get(name)
        is_needed = any(name in other.requires for other in self.knowledge.packages.values())
        return name.startswith("nvidia-") or bool(
            package is not None and is_needed and "cuda" in package.variant
        )

    def _by_files(self, links: Sequence[Linked], told: Set[str]) -> Iterator[_Broken]:
        """What files say of distributions of which nothing else does."""
        seen = set(told)
        for one in links:
            package = one.files[0].distribution or one.files[0].path if one.files else ""
            if one.name in seen or not package:
                continue
            seen.add(one.name)
            summary = count(
                self.language,
                len(one.files) + one.more,
                "{number} file of it would not load",
                "{number} files of it would not load",
            )
            finding = _OF.get(one.of, _LIBRARY)
            severity = "error" if one.sure else "warning"
            is_compiled = one.name in self.now.installed
            yield _Broken(
                _told(package, finding, summary, one.why, "import", severity),
                compiled=one.name if is_compiled else "",
            )

    # --- what must move ----------------------------------------------------------------------

    def _moves(self, broken: Sequence[_Broken]) -> _Moves:
        """The smallest changes that mend what breaks and leave alone what was asked for."""
        if not all(self.supposed.fits_here.values()):
            return _Moves([], [], frozenset())  # it does not come, so nothing makes room for it
        repairs = _Kept(self.supposed.observation, self.relations, self.names)
        numbers = [number for number, one in enumerate(broken) if one.goal is not None]
        goals = [goal for goal in (one.goal for one in broken) if goal is not None]
        moved: List[Moved] = []
        plan: List[Change] = []
        mended: List[int] = []
        for made, reached in plans(repairs, goals):
            own = [broken[numbers[number]].told for number in reached]
            mended += [numbers[number] for number in reached]
            for change in made:
                moved += self._moved(change, own)
                plan.append(change)
        touched = {change.after.component for change in plan}
        for number, one in enumerate(broken):
            if not one.compiled or number in mended:
                continue
            build = repairs.installed.get(one.compiled)
            if one.compiled in touched:
                mended.append(number)
            elif build is not None and repairs.compiles(one.compiled):
                mended.append(number)
                again = Change(build, build)
                moved += self._moved(again, [one.told])
                plan.append(again)
        return _Moves(moved, plan, frozenset(mended))

    def _with_moves(
        self, before: _Judged, after: _Judged, broken: Sequence[_Broken], moves: _Moves
    ) -> Tuple[Break, ...]:
        """What breaks, judged again with the moves: what these mend, and what they break."""
        told = [replace(one.told, mended=n in moves.mended) for n, one in enumerate(broken)]
        more = [self._as_asked(one) for one in moves.moved if not self._is_compiling(one)]
        if not more:
            return tuple(told)
        moved = suppose(self.machine, self.world, [*self.asked, *more], self.relations)
        names = self.names | {one.name for one in more}
        found = _Judged(moved.facts, self.knowledge, moved.observation, self.language, names)
        known = {_key(finding) for finding in (*before.findings, *after.findings)}
        new = [f for f in found.findings if f.severity != "info" and _key(f) not in known]
        return (*told, *sorted(map(_break, new), key=self._rank))

    def _as_asked(self, one: Moved) -> Asked:
        if not one.after:
            return Asked(one.component, removed=True)
        return Asked(one.component, Wanted(one.component, one.after))

    def _is_compiling(self, one: Moved) -> bool:
        return one.why.startswith(self.say(TO_COMPILE, why=""))

    def _moved(self, change: Change, mended: Sequence[Break]) -> Iterator[Moved]:
        name = change.after.component
        own = [one for one in mended if _name(one) == name] or list(mended)
        why = own[0].summary if own else ""
        before = label(change.before, self.knowledge) if change.before is not None else ""
        if change.compiled_again:
            why = self.say(TO_COMPILE, why=why)
            yield Moved(name, clean(before), clean(before), why)
            return
        if change.removed:
            yield Moved(change.removed, clean(before), "", why)
            before = ""
        yield Moved(name, clean(before), clean(label(change.after, self.knowledge)), why)

    def _commands(self, plan: Sequence[Change], held: Mapping[str, str]) -> Iterator[str]:
        """The change with its moves: what goes first, then all that comes.

        None where it cannot be, or would destroy what nobody can have again.
        """
        target = self.facts.target.value
        coming = [one.name for one in self.asked if not one.removed]
        if target is None or not all(self.supposed.fits_here.values()):
            return
        if any(name in held for name in (*coming, *(c.after.component for c in plan))):
            return
        gone = [one.name for one in self.asked if one.removed]
        if gone:
            yield from filter(None, [pip(target, "uninstall", "-y", *gone)])
        whole: List[Change] = []
        for name in coming:
            build = self.supposed.builds.get(name)
            if build is None or requirement_arguments(build) is None:
                requirement = f"{name}=={self.supposed.labels[name]}"
                yield from filter(None, [pip(target, "install", requirement)])
            else:
                whole.append(Change(self.now.installed.get(name), build))
        everything: Plan = (*whole, *plan)
        of_conda = [
            f"{change.after.component}={change.after.version}"
            for change in everything
            if self.observed.origins.get(change.after.component) == "conda"
            and not change.compiled_again
        ]
        if of_conda:  # pip would write over what conda keeps a list of
            yield shlex.join(["conda", "install", "-p", clean(target.prefix), *of_conda])
        if everything:
            yield from plan_fix(self.language, everything, self.now, self.facts).commands

    # --- what else is told -------------------------------------------------------------------

    def _label_now(self, name: str, target: Optional[Target]) -> str:
        if name in self.now.installed:
            return clean(label(self.now.installed[name], self.knowledge))
        there = imported(target).get(name) if target is not None else None
        return clean(there.version) if there is not None else ""

    def _undecided(
        self, before: _Judged, after: _Judged, open_: Sequence[str]
    ) -> Iterator[Skipped]:
        """What can no longer be told, or not of what comes."""
        known = {(one.code, self._of_any(one.reason)) for one in before.skipped}
        for one in after.skipped:
            if (one.code, self._of_any(one.reason)) not in known:
                yield one
        yield from (Skipped("binaries", text) for text in open_)
        target = self.facts.target.value
        plan = tuple(
            Change(self.now.installed.get(name), build)
            for name, build in self.supposed.builds.items()
        )
        if target is not None and target.linking.value is None:
            told = "compiled, and what for is not known"
            for package in others_compiled(plan, self.now, self.facts):
                text = self.say("{builds}: {reason}", builds=package, reason=self.say(told))
                yield Skipped("binaries", clean(text))
        vendor = self.supposed.observation.accelerator
        for name, build in self.supposed.builds.items():
            if vendor not in _NVIDIA and kind(build) == "cuda":
                told = "whether {package}, made for NVIDIA's GPUs, runs on {vendor} is not known"
                package = f"{name} {self.supposed.labels[name]}"
                yield Skipped("accelerator", self.say(told, package=package, vendor=vendor))
        told = "whether it was compiled for {package} is not known"
        for name, required in self._unjudged():
            package = f"{required} {self.supposed.labels[required]}"
            held = clean(str(self.now.installed[name]))
            reason = self.say(told, package=package)
            yield Skipped("relations", self.say("{builds}: {reason}", builds=held, reason=reason))

    def _of_any(self, text: str) -> str:
        """A reason without the versions of what changes: what it says of both is no news."""
        target = self.facts.target.value
        for name in sorted(self.names):
            labels = {self._label_now(name, target), self.supposed.labels[name]}
            if name in self.now.installed:
                labels.add(self.now.installed[name].label)
            for version in sorted(filter(None, labels), key=len, reverse=True):
                text = text.replace(f"{name} {version}", name)
        return text

    def _unjudged(self) -> Iterator[Tuple[str, str]]:
        """Compiled packages of which no relation says whether they fit what they need."""
        for name, required in self._to_fit():
            if self._is_compiled(name):
                continue  # that it was not is told
            observation = self.supposed.observation
            said = judge(self.relations, name, observation.domains, observation.accelerator)
            decided = [
                *said.held,
                *(breach.bound for v in said.violations for breach in v.breaches),
            ]
            if not any(required in bound.components for bound in decided):
                yield name, required

    def _changes(self) -> Iterator[Moved]:
        target = self.facts.target.value
        for name, version in self.there.items():
            yield Moved(name, version, version)
        for one in self.asked:
            yield Moved(one.name, self._label_now(one.name, target), self.supposed.labels[one.name])

    def _mended(self, before: _Judged, after: _Judged) -> Iterator[Break]:
        """What is found now and not afterwards, where that is for certain."""
        left = {_key(finding) for finding in after.findings}
        gone = {one.name for one in self.asked if one.removed}
        for finding in before.findings:
            told = _break(finding)
            if _key(finding) in left or finding.severity == "info" or _name(told) in gone:
                continue
            # rules read files, of which those that come are not known
            is_of_others = finding.name == _CONFLICT and not self.names & set(finding.about)
            if is_of_others or (told.relation and self._is_decided(_name(told), told.relation)):
                yield told

    def _is_decided(self, name: str, relation: str) -> bool:
        """Whether it is known what a relation of a package says afterwards."""
        if name not in self.knowledge.packages:
            return False
        observation = self.supposed.observation
        said = judge(self.relations, name, observation.domains, observation.accelerator)
        return all(bound.relation.id != relation for bound, _ in said.undecided)

    def _assumptions(self, breaks: Sequence[Break]) -> Iterator[str]:
        coming = [f"{n} {version}" for n, version in self.supposed.labels.items() if version]
        if coming:
            names = self.say(", ").join(map(clean, coming))
            told = "what {names} asks for is known as far as the matrices say it: pip may add more"
            yield self.say(told, names=names)
        for name in dict.fromkeys(_name(one) for one in breaks):
            if name in self.names or name not in self.world:
                continue
            if len(self.world[name]) < len(self.observed.domains[name]):
                told = "{package} is one of the builds that fit what is beside it now"
                yield self.say(told, package=clean(str(self.now.installed[name])))


def _key(finding: Finding) -> _Key:
    relation = finding.relation.id if finding.relation is not None else ""
    return (finding.code, finding.component.partition(" ")[0].lower(), relation, finding.about)


def _name(one: Break) -> str:
    return canonical(one.component.partition(" ")[0])


def _break(finding: Finding) -> Break:
    return Break(
        component=finding.component,
        relation=finding.relation.id if finding.relation is not None else "",
        finding=finding.name,
        summary=finding.summary,
        why=finding.why,
        code=finding.code,
        severity=finding.severity,
        phase=finding.phase,
        source=finding.relation.source if finding.relation is not None else "",
    )


def _told(
    component: str, finding: str, summary: str, why: str, phase: str, severity: str = "error"
) -> Break:
    """A break that no relation tells."""
    (code,) = (page.code for page in pages().values() if page.name == finding)
    return Break(
        component=clean(component),
        relation="",
        finding=finding,
        summary=clean(summary, 1000),
        why=why,
        code=code,
        severity=severity,
        phase=phase,
    )


def _verdict(answer: WhatIf, supposed: Supposed) -> str:
    if not all(supposed.fits_here.values()):
        return IMPOSSIBLE
    if answer.separate.advised:
        return APART
    if answer.breaks_for_good:
        return BREAKS
    if any(one.severity == "error" for one in answer.breaks):
        return MOVES
    if answer.breaks:
        return RISKY
    return UNDECIDED if answer.undecided else HARMLESS
