"""All that the matrices say of builds, told with sources: of one, or whether several fit."""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.package import Package
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.explanation import (
    Beside,
    Devices,
    Explained,
    Floor,
    Known,
    KnownBuild,
    Partly,
    Plain,
    Run,
    Subject,
    Told,
)
from envdoctor.model.finding import Citation
from envdoctor.model.language import ENGLISH, translate
from envdoctor.model.versions import fold
from envdoctor.relations.devices import products
from envdoctor.relations.judge import Bound, Relations
from envdoctor.relations.observe import is_source
from envdoctor.relations.plan import requirement_arguments
from envdoctor.relations.predicates import jit, native
from envdoctor.relations.question import (
    NO,
    PREBUILT,
    SOURCE,
    Question,
    QuestionError,
    Reason,
    World,
)
from envdoctor.relations.tell import Teller, label
from envdoctor.relations.wanted import Wanted, builds_of

_INSTALL = "install"
NATIVE, PTX, NONE, COMPILED = "native", "ptx", "none", "compiled"


def explain(
    wanted: Sequence[Wanted], world: World, relations: Relations, language: str = ENGLISH
) -> Explained:
    """What is known of what is wanted, and whether all of it fits together.

    Raises WantedError and QuestionError.
    """
    return _Explaining(wanted, world, relations, language).explained()


def beside(
    wanted: Sequence[Wanted], package: str, world: World, relations: Relations
) -> Optional[Beside]:
    """Which releases of a package fit beside what is wanted; None if it is too much to ask."""
    others = [one for one in wanted if one.name != package]
    try:
        question = Question([*others, Wanted(package)], world, relations)
    except QuestionError:
        return None
    found: Dict[str, List[Version]] = {}
    deciding: Dict[str, None] = {}
    some: Dict[Tuple[str, ...], List[Version]] = {}
    releases = question.knowledge.packages[package].releases
    for release in releases:
        answer = question.answer_for({package: release})
        by_pip = [r.bound for r in answer.warnings if r.bound.relation.enforced == "pip"]
        deciding.update((bound.relation.id, None) for bound in by_pip)
        if by_pip and answer.fits:  # pip does not install it beside the others
            found.setdefault(NO, []).append(release)
            continue
        found.setdefault(answer.kind, []).append(release)
        deciding.update((r.bound.relation.id, None) for r in answer.because)
        if answer.kind == PREBUILT and not others:
            every = [build for build in question.builds[package] if build.version == release]
            if any(_is_refused(question, release, cuda) for cuda in _cudas(every)):
                some.setdefault(_cudas(answer.fitting[package]), []).append(release)
    fitting = [*found.get(PREBUILT, ()), *found.get(SOURCE, ())]
    known = (PREBUILT, SOURCE, NO)
    untold = [r for kind, listed in found.items() if kind not in known for r in listed]
    return Beside(
        package,
        runs(found.get(PREBUILT, ()), releases),
        runs(found.get(SOURCE, ()), releases),
        runs(untold, releases),
        len(fitting) == len(releases),
        tuple(deciding),
        tuple(
            Partly(first, last, cudas)
            for cudas, listed in some.items()
            for first, last in runs(listed, releases)
        ),
    )


def _cudas(builds: Sequence[Build]) -> Tuple[str, ...]:
    """The CUDAs that wheels among these builds are for, the oldest first."""
    found = {b.attributes.get("cuda", ABSENT) for b in builds if not is_source(b)}
    return tuple(map(str, sorted(cuda for cuda in found if isinstance(cuda, Version))))


def _is_refused(question: Question, release: Version, cuda: str) -> bool:
    """Whether no wheel of a release for a CUDA can fit; not where that is not known."""

    def is_meant(build: Build) -> bool:
        own = str(build.attributes.get("cuda", ""))
        return build.version == release and own == cuda and not is_source(build)

    return question.part(is_meant).kind()[0] == NO


def runs(chosen: Sequence[Version], known: Sequence[Version]) -> Tuple[Run, ...]:
    """Releases as runs of neighbours."""
    return tuple((str(first), str(last)) for first, last in fold(chosen, known))


def told_why(reason: Reason, relations: Relations, language: str) -> str:
    """A reason in words."""
    vendor = reason.bound.relation.accelerator
    teller = Teller(reason.violation, relations, reason.domains, vendor)
    why = teller.part(reason.breach, "why", language)
    return why or teller.part(reason.breach, "summary", language)


class _Explaining:
    def __init__(
        self, wanted: Sequence[Wanted], world: World, relations: Relations, language: str
    ) -> None:
        self.wanted, self.world, self.relations = tuple(wanted), world, relations
        self.knowledge = relations.knowledge
        self.language = language
        self.question = Question(wanted, world, relations)
        self.answer = self.question.answer()

    def explained(self) -> Explained:
        answer = self.answer
        fits = answer.kind in (PREBUILT, SOURCE)
        return Explained(
            asked=tuple(map(str, self.wanted)),
            answer=answer.kind,
            open=tuple(translate(self.language, text) for text in answer.open),
            subjects=tuple(self._subject(one) for one in self.wanted),
            because=self._told(answer.because),
            also=self._told(answer.also),
            warnings=self._told(answer.warnings),
            holding=tuple(self._holding()) if len(self.wanted) > 1 and fits else (),
            from_source=tuple(
                n for n, build in answer.example.items() if fits and is_source(build)
            ),
            install=tuple(self._install()) if fits and any(o.label for o in self.wanted) else (),
            no_command=tuple(self._without_command()) if answer.kind == PREBUILT else (),
            beside=tuple(self._beside()),
        )

    # --- one package -----------------------------------------------------------------------------

    def _subject(self, one: Wanted) -> Subject:
        package = self.knowledge.packages[one.name]
        builds = builds_of(one, self.knowledge, self._architecture())
        alone = len(self.wanted) == 1
        shown = builds if one.label else ()
        return Subject(
            name=one.name,
            asked=str(one),
            label=one.label or one.specifier,
            oldest=str(package.releases[0]),
            newest=str(package.newest),
            releases=len(package.releases),
            modules=package.modules,
            requires=package.requires,
            known=sum(bool(build.entry) or _is_listed(build, package) for build in builds),
            fitting=len(self.answer.fitting.get(one.name, ())) if self.answer.fits else 0,
            spans=_spans(builds),
            builds=tuple(self._build(build) for build in shown if build.attributes),
            devices=tuple(self._devices(shown)) if alone else (),
            floors=tuple(self._floors(shown)) if alone else (),
            relations=tuple(self._relations(one.name)) if alone else (),
        )

    def _architecture(self) -> Value:
        return self.world.domains.get("host.architecture", (ABSENT,))[0]

    def _build(self, build: Build) -> KnownBuild:
        attributes = {
            name: plain(value)
            for name, value in build.attributes.items()
            if name != _INSTALL and not isinstance(value, Unknown)
        }
        return KnownBuild(
            version=label(build, self.knowledge),
            attributes=attributes,
            install=requirement_arguments(build) or "",
            source=self.knowledge.citations.get(build.entry, Citation(build.entry, "", "", "")),
        )

    def _devices(self, builds: Sequence[Build]) -> Iterator[Devices]:
        """The products that run each kind of GPU code among these builds."""
        known = products(self.knowledge)
        seen = set()
        for build in builds:
            code = tuple(build.attributes.get(name) for name in ("cuda", "sass", "ptx"))
            if not isinstance(code[1], tuple) or not code[1] or code in seen:
                continue
            seen.add(code)
            for capability, named in known.items():
                gpu = Build("host.gpu", None, {"cc": capability})
                how = _how(build, gpu)
                if how:
                    yield Devices(str(code[0] or ""), str(capability), how, tuple(named))

    def _floors(self, builds: Sequence[Build]) -> Iterator[Floor]:
        """The drivers that compiled code needs, and code that the driver is to compile."""
        if not (self._has("family") and self._has("cuda")):
            return
        seen: Dict[Version, bool] = {}
        for build in builds:
            cuda = build.attributes.get("cuda")
            if isinstance(cuda, Version):
                seen[cuda] = seen.get(cuda, False) or bool(build.attributes.get("ptx"))
        for cuda, has_ptx in sorted(seen.items()):
            family = self._cell("family", Version(str(cuda.major)), "floor")
            exact = self._cell("cuda", cuda, "driver")
            if family or exact:
                table = "family" if family else "cuda"
                yield Floor(str(cuda), family or exact, COMPILED, self._table(table))
            if family and exact and has_ptx:
                yield Floor(str(cuda), exact, PTX, self._table("cuda"))

    def _has(self, table: str) -> bool:
        return table in self.knowledge.tables

    def _cell(self, table: str, key: Version, column: str) -> str:
        return self.knowledge.tables[table].texts.get(key, {}).get(column, "")

    def _table(self, name: str) -> Citation:
        return self.knowledge.citations[f"table/{name}"]

    def _relations(self, name: str) -> Iterator[Known]:
        """The relations of a package, and those that others have with it."""
        for bound in self.relations.of(name):
            if not bound.is_of_files:
                yield self._known(bound)
        for other in self.knowledge.packages:
            if other == name:
                continue
            for bound in self.relations.of(other):
                if self._speaks_of(bound, name):
                    yield self._known(bound)

    def _speaks_of(self, bound: Bound, name: str) -> bool:
        modules = {f"module.{module}" for module in self.knowledge.packages[name].modules}
        return name in bound.components or bool(modules & set(bound.components))

    def _known(self, bound: Bound) -> Known:
        relation = bound.relation
        return Known(
            self.knowledge.citations[relation.id],
            bound.finding,
            relation.severity,
            relation.phase,
            bound.owner,
            tuple(bound.components),
        )

    # --- several ---------------------------------------------------------------------------------

    def _told(self, reasons: Sequence[Reason]) -> Tuple[Told, ...]:
        return tuple(self._in_words(reason) for reason in reasons)

    def _in_words(self, reason: Reason) -> Told:
        bound, breach = reason.bound, reason.breach
        wanted = self.question.wanted[bound.owner]
        return Told(
            relation=self.knowledge.citations[bound.relation.id],
            finding=bound.finding,
            severity=bound.relation.severity,
            phase=bound.relation.phase,
            component=f"{wanted.name} {wanted.label or wanted.specifier}".rstrip(),
            builds=len(breach.builds),
            enough=reason.enough,
            why=told_why(reason, self.relations, self.language),
            patch=bound.relation.waiver,
        )

    def _holding(self) -> Iterator[Known]:
        """The relations between what was asked about that speak of the combination told."""
        names = {one.name for one in self.wanted}
        for bound in self.question.holding(self.answer.example):
            if any(self._speaks_of(bound, name) for name in names - {bound.owner}):
                yield self._known(bound)

    def _install(self) -> Iterator[str]:
        """What pip is told, what others are compiled against first."""
        example = self.answer.example
        if len(example) == 1:
            listed = (requirement_arguments(b) for n in example for b in self.answer.fitting[n])
            yield from dict.fromkeys(one for one in listed if one)
            return
        order = sorted(example, key=lambda name: sum(self._needs(o, name) for o in example))
        for name in reversed(order):
            arguments = requirement_arguments(example[name])
            if arguments:
                yield arguments

    def _without_command(self) -> Iterator[str]:
        """Of what fits: builds that exist, but of which it is not known where."""
        for name, build in self.answer.example.items():
            named = len(self.wanted) > 1 or self.question.wanted[name].label
            of_one = self.answer.fitting[name] if len(self.wanted) == 1 else (build,)
            if named and not any(is_source(b) or requirement_arguments(b) for b in of_one):
                yield f"{name} {build.version}"

    def _needs(self, other: str, name: str) -> bool:
        return other != name and any(self._speaks_of(b, name) for b in self.relations.of(other))

    def _beside(self) -> Iterator[Beside]:
        if len(self.wanted) == 1:
            if not self.wanted[0].label or not self.answer.fits:
                return
            names = self._related(self.wanted[0].name)
        elif self.answer.fits:
            return
        else:
            names = [one.name for one in self.wanted]
        for name in names:
            found = beside(self.wanted, name, self.world, self.relations)
            if found is not None:
                yield found

    def _related(self, name: str) -> List[str]:
        """The packages whose builds have to do with a package's."""
        found = {
            other
            for other in self.knowledge.packages
            if other != name
            and any(
                b.relation.severity == "error" and self._speaks_of(b, name)
                for b in self.relations.of(other)
            )
        }
        for bound in self.relations.of(name):
            if bound.relation.severity == "error":
                found |= {c for c in bound.components if c in self.knowledge.packages}
                for component in bound.components:
                    if component.startswith("module."):
                        found |= set(self.knowledge.providers[component[len("module.") :]])
        return sorted(found - {name})


#: What builds are told apart by.
_AXES = ("origin", "torch", "cuda", "python", "architecture")


def _spans(builds: Sequence[Build]) -> Dict[str, Tuple[str, ...]]:
    """The values of each axis among builds, in order."""
    found: Dict[str, Tuple[str, ...]] = {}
    for axis in _AXES:
        values: List[Value] = []
        for build in builds:
            value = build.attributes.get(axis, ABSENT)
            values += value if isinstance(value, tuple) else [value]
        versions = sorted({v for v in values if isinstance(v, Version)})
        others = dict.fromkeys(v for v in values if isinstance(v, str))
        if versions or others:
            found[axis] = (*map(str, others), *map(str, versions))
    return found


def _how(build: Build, gpu: Build) -> str:
    """How a GPU runs a build; "" where that is not known."""
    compiled, by_driver = native(build, gpu), jit(build, gpu)
    if compiled is True:
        return NATIVE
    if by_driver is True:
        return PTX
    return NONE if compiled is False and by_driver is False else ""


def _is_listed(build: Build, package: Package) -> bool:
    return not package.file.builds and build.version in package.releases


def plain(value: Value) -> Plain:
    """A value for programs."""
    if isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        return [str(item) for item in value]
    if isinstance(value, int):
        return value
    return str(value)
