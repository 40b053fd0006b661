"""Tells relations in words: fills the templates of the matrices from the builds at hand."""

from __future__ import annotations

from typing import Callable, Dict, Iterable, List, Optional, Sequence, Set, Tuple

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
        return render(template, self.field(breach, language))

    def field(self, breach: Breach, language: str = ENGLISH) -> Callable[[str], str]:
        """What fills the fields of a breach's templates."""

        def fill(text: str) -> str:
            for search in SEARCHES:
                if text.startswith(search):
                    return self._search(search, text[len(search) :].replace("_", "-"), language)
            if text.startswith("sm(") and text.endswith(")"):
                return _joined(_architectures(values(text[3:-1]), language), language)
            return tell_values(values(text), language)

        def values(text: str) -> List[Value]:
            if text == FAILING:
                return [self.failing(breach)]
            return self._values(breach, text)

        return fill

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


def tell_values(values: Iterable[Value], language: str = ENGLISH) -> str:
    """Values in words: equal ones once, several versions as a run, "1.5 to 1.10"."""
    distinct = list(dict.fromkeys(values))
    versions = sorted(v for v in distinct if isinstance(v, Version))
    if len(versions) > 2 and len(versions) == len(distinct):
        return say(language, "{first} to {last}", first=versions[0], last=versions[-1])
    if versions and len(versions) == len(distinct):
        return say(language, " and ").join(str(v) for v in versions)
    return _joined(dict.fromkeys(_one(v, language) for v in distinct), language)


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
    """The version of a build of the matrices as people write it: "2.7.0+cu128"."""
    package = knowledge.packages.get(build.component)
    cuda = build.attributes.get("cuda")
    local = ""
    if package is not None and package.local is not None and "+" not in build.label:
        text = cuda_tag(cuda) if isinstance(cuda, Version) else str(cuda or "")
        local = f"+{text}" if text and package.local.match(text) else ""
    return build.label + local
