"""Tells relations in words: fills the templates of the matrices from the builds at hand."""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterable, List, Match, Optional, Sequence, Set, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.language import ENGLISH, say
from envdoctor.model.relation import words_in
from envdoctor.model.text import render
from envdoctor.model.versions import cuda_tag, fold, sm
from envdoctor.relations.expression import compile_value
from envdoctor.relations.fit import Fit
from envdoctor.relations.judge import Bound, Breach, Domains, Relations, Verdict, Violation
from envdoctor.relations.observe import alike, set_modules
from envdoctor.relations.values import scalar

SEARCHES = ("fits.", "first.", "last.")
FAILING = "failing.gpu"
#: An attribute of GPUs that stands alone, not in all(... for g in host.gpu): of those that fail.
_OF_A_GPU = "host.gpu."
#: Both ends of what fits, told as a run.
_ENDS = re.compile(r"(?P<first>\{first\.(?P<name>\w+)\})[^{}]{1,20}\{last\.(?P=name)\}")
_MAX_LISTED = 12


class Teller:
    """Fills templates for one violation in one assignment."""

    def __init__(
        self, violation: Violation, relations: Relations, domains: Domains, accelerator: str
    ) -> None:
        """Tell `violation`, found in `domains`."""
        self.violation = violation
        self.relations = relations
        self.knowledge = relations.knowledge
        self.domains = domains
        self.accelerator = accelerator
        self._fits: Dict[str, List[Build]] = {}
        self._fit = Fit(relations, accelerator)

    def part(self, breach: Breach, name: str, language: str = ENGLISH) -> str:
        """The part of a breach's words ("summary", "why", "fix"), filled; empty if it has none."""
        template = words_in(language, breach.bound.relation.words).get(name, "")
        template = _ENDS.sub(lambda match: self._span(match, language), template)
        return render(template, self.field(breach, language))

    def field(self, breach: Breach, language: str = ENGLISH) -> Callable[[str], str]:
        """What fills the fields of a breach's templates."""

        def fill(text: str) -> str:
            for search in SEARCHES:
                if text.startswith(search):
                    return self._search(search, text[len(search) :].replace("_", "-"), language)
            if text.startswith("sm(") and text.endswith(")"):
                return _joined(_architectures(values(text[3:-1]), language), language)
            return tell_values(values(text), language, self._neighbours(text))

        def values(text: str) -> List[Value]:
            if text == FAILING:
                return [self.failing(breach)]
            return self._values(breach, text)

        return fill

    def _span(self, match: Match[str], language: str) -> str:
        """A template "{first.x} to {last.x}"; of one end alone where both are told alike."""
        name = match.group("name").replace("_", "-")
        first, last = (self._search(end, name, language) for end in ("first.", "last."))
        return match.group("first") if first == last else match.group()

    def _neighbours(self, text: str) -> Sequence[Version]:
        """All values that an attribute of this name could have, in order; none if that is open."""
        name = text.rpartition(".")[2]
        if name == "cuda" and "cuda" in self.knowledge.tables:
            rows = self.knowledge.tables["cuda"].rows
            return sorted(key for key in rows if isinstance(key, Version))
        package = self.knowledge.packages.get(name.replace("_", "-"))
        releases = () if package is None else package.releases
        return sorted({Version(f"{v.major}.{v.minor}") for v in releases})

    def failing(self, breach: Breach) -> Value:
        """The GPUs with which the relation would fail were they alone in the machine."""
        (gpus,) = self.domains["host.gpu"]
        failing = []
        for gpu in gpus if isinstance(gpus, tuple) else ():
            environment: Dict[str, Value] = {"self": breach.builds[0]}
            for component in breach.bound.components:
                environment[component] = self.domains.get(component, (ABSENT,))[0]
            environment["host.gpu"] = (gpu,)
            if breach.bound.verdict(environment)[0] is Verdict.FAILS:
                failing.append(gpu)
        return tuple(failing) or gpus

    def _values(self, breach: Breach, text: str) -> List[Value]:
        value = compile_value(text, self.knowledge, breach.bound.owner)
        found: List[Value] = []
        for build in breach.builds:
            environments: List[Dict[str, Value]] = [{"self": build}]
            for component in value.components:
                domain: Sequence[Value] = self.domains.get(component, (ABSENT,))
                if component == "host.gpu" and _OF_A_GPU in text:
                    failing = self.failing(breach)
                    domain = failing if isinstance(failing, tuple) else (failing,)
                environments = [
                    {**environment, component: other}
                    for environment in environments
                    for other in domain
                ]
            found += [value.evaluate(environment) for environment in environments]
        return found

    def _search(self, search: str, component: str, language: str) -> str:
        name = self.violation.component if component == "self" else component
        builds = self.fits(name)
        if not builds:
            return say(language, "none known")
        if search == "fits.":
            package = self.knowledge.packages[name]
            found = [b.version for b in builds if b.version]
            return tell_releases(found, package.releases, language)
        ends = min if search == "first." else max
        end = ends(b.version for b in builds if b.version is not None)
        return self._end(name, end, [b for b in builds if b.version == end])

    def _end(self, name: str, version: Version, fitting: Sequence[Build]) -> str:
        """A release, with its CUDA tag if only some of its builds fit."""
        tags = {scalar(b.attributes.get("cuda", ABSENT)) for b in fitting}
        every = {
            scalar(b.attributes.get("cuda", ABSENT))
            for b in self._known(name)
            if b.version == version
        }
        versions = [t for t in tags if isinstance(t, Version)]
        if tags == every or not versions:
            return str(version)
        return f"{version}+{cuda_tag(min(versions))}"

    def fits(self, name: str) -> List[Build]:
        """Builds of the package `name` with which this finding would not be made.

        Relations of one finding stand together: where one does not apply, another may.
        """
        if name not in self._fits:
            ours = {breach.bound.finding for breach in self.violation.breaches}
            if name == self.violation.component:
                self._fits[name] = self._own_that_fit(ours)
            else:
                self._fits[name] = [b for b in self._known(name) if self._mends(b, ours)]
        return self._fits[name]

    def _own_that_fit(self, ours: Set[str]) -> List[Build]:
        """Judge all builds of the broken package at once: there may be thousands.

        One of which too little is known to tell is not known to fit.
        """
        name = self.violation.component
        known = self._known(name)
        unfit = 0
        for bound in self._fit.of(name):
            if self._counts(bound, ours):
                answer = self._fit.ask(bound, known, self.domains)
                unfit |= answer.rejected | answer.unsure
        return [build for n, build in enumerate(known) if not unfit >> n & 1]

    def _counts(self, bound: Bound, ours: Set[str]) -> bool:
        """Whether a relation decides what fits: information rules nothing out that is graver."""
        grave = any(one.bound.relation.severity != "info" for one in self.violation.breaches)
        return bound.finding in ours and not (grave and bound.relation.severity == "info")

    def _known(self, name: str) -> Tuple[Build, ...]:
        """The builds that could stand in for the one that is there."""
        package = self.knowledge.packages.get(name)
        present = [b for b in self.domains.get(name, ()) if isinstance(b, Build)]
        return tuple(
            build
            for build in (package.builds() if package else ())
            if not present or any(alike(one, build) for one in present)
        )

    def _mends(self, build: Build, ours: Set[str]) -> bool:
        name = self.violation.component
        domains = {**self.domains, build.component: (build,)}
        set_modules(domains, self.knowledge)
        every = (1 << len(domains[name])) - 1
        unfit = 0
        for bound in self._fit.of(name):
            if self._counts(bound, ours):
                unfit |= self._fit.ask(bound, domains[name], domains).rejected
        return unfit != every


def probe(bound: Bound, build: Build, knowledge: Knowledge) -> str:
    """The statement that fails where the relation is broken for `build`; empty if there is none."""

    def fill(text: str) -> str:
        return tell_values([compile_value(text, knowledge, bound.owner).evaluate({"self": build})])

    return render(bound.relation.probe, fill)


def tell_values(
    values: Iterable[Value], language: str = ENGLISH, known: Sequence[Version] = ()
) -> str:
    """Values in words: equal ones once, versions as runs of neighbours, "1.5 to 1.10 and 1.13".

    Neighbours are those of `known`; where it lacks any, those whose last numbers follow.
    """
    distinct = list(dict.fromkeys(values))
    versions = sorted(v for v in distinct if isinstance(v, Version))
    if not versions or len(versions) != len(distinct):
        return _joined(dict.fromkeys(_one(v, language) for v in distinct), language)
    texts: List[str] = []
    for run in _runs(versions, known):
        if len(run) > _PAIR:
            texts.append(say(language, "{first} to {last}", first=run[0], last=run[-1]))
        else:
            texts += map(str, run)
    if len(texts) > _MAX_LISTED:
        return _joined(texts, language)
    before = say(language, ", ").join(texts[:-1])
    return say(language, " and ").join([before, texts[-1]] if before else texts)


#: So many neighbours are told one by one.
_PAIR = 2


def _runs(versions: Sequence[Version], known: Sequence[Version]) -> List[List[Version]]:
    """Sorted versions, neighbours together."""
    places = {version: place for place, version in enumerate(known)}
    listed = all(version in places for version in versions)
    runs: List[List[Version]] = []
    for version in versions:
        before = runs[-1][-1] if runs else None
        if before is None:
            follows = False
        elif listed:
            follows = places[version] == places[before] + 1
        else:
            follows = _follows(before.release, version.release)
        if follows:
            runs[-1].append(version)
        else:
            runs.append([version])
    return runs


def _follows(before: Tuple[int, ...], after: Tuple[int, ...]) -> bool:
    return before[:-1] == after[:-1] and after[-1] == before[-1] + 1


def tell_releases(
    chosen: Sequence[Version], known: Sequence[Version], language: str = ENGLISH
) -> str:
    """Releases as runs of neighbours, "1.5.0 to 1.10.2, 1.12.0"."""
    runs = fold(chosen, known)
    texts = [
        str(a) if a == b else say(language, "{first} to {last}", first=a, last=b) for a, b in runs
    ]
    return _joined(texts, language)


def _one(value: Value, language: str) -> str:
    if isinstance(value, tuple):
        listed = say(language, ", ").join(dict.fromkeys(_one(v, language) for v in value))
        return listed or say(language, "none")
    if isinstance(value, Build):
        return value.label if value.component == "host.gpu" else str(value)
    if isinstance(value, Unknown):
        return say(language, "unknown")
    return str(value)


def _architectures(values: Iterable[Value], language: str) -> List[str]:
    """Names of architectures, of compute capabilities or of devices."""
    names: List[str] = []
    for value in values:
        for item in value if isinstance(value, tuple) else (value,):
            capability: Optional[Value] = item
            if isinstance(item, Build):
                capability = item.attributes.get("cc")
            if isinstance(capability, Version):
                names.append(sm(capability))
            else:
                names.append(say(language, "unknown"))
    return list(dict.fromkeys(names))


def _joined(texts: Iterable[str], language: str) -> str:
    listed = list(texts)
    if len(listed) > _MAX_LISTED:
        more = say(language, "{number} more", number=len(listed) - _MAX_LISTED + 1)
        listed = [*listed[: _MAX_LISTED - 1], more]
    return say(language, ", ").join(listed)


def label(build: Build, knowledge: Knowledge) -> str:
    """The version of a build of the matrices as people write it: "2.7.0+cu128".

    Where a package has an attribute `tag`, that is the local part: "1.6.1+pt20cu118".
    """
    package = knowledge.packages.get(build.component)
    if package is None or package.local is None or "+" in build.label:
        return build.label
    cuda = build.attributes.get("cuda")
    text = cuda_tag(cuda) if isinstance(cuda, Version) else str(cuda or "")
    if "tag" in package.variant:
        text = str(build.attributes.get("tag") or "")
    return f"{build.label}+{text}" if text and package.local.match(text) else build.label
