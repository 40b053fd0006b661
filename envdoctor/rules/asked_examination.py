"""The findings of requirement files: what is allowed, and what pip would take of it."""

from __future__ import annotations

from typing import Iterator, List, Mapping, Set, Tuple

import msgspec

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build
from envdoctor.model.facts import Facts, Target
from envdoctor.model.finding import (
    SEVERITIES,
    Finding,
    Fix,
    Skipped,
)
from envdoctor.model.language import translate
from envdoctor.model.text import clean
from envdoctor.relations.choice import AskedRepairs, Choice, choose, newest_only
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Breach, Violation, judge
from envdoctor.relations.observe import Observation
from envdoctor.relations.plan import Goal, Plan
from envdoctor.relations.repair import Repairs
from envdoctor.relations.sources import (
    ISOLATED,
    sources_due,
    with_newest,
    with_sources,
    with_tools,
)
from envdoctor.rules.asked import asked_summary, taken_evidence
from envdoctor.rules.examination import Examination, stops_compiling
from envdoctor.rules.lines import lines_fix
from envdoctor.rules.page import Page
from envdoctor.rules.rule import Fault

replace = msgspec.structs.replace


class AskedExamination(Examination):
    """Of requirement files: nothing is installed.

    What no allowed combination of builds can satisfy is an error. What fails with the builds that
    pip would take, and not with all that are allowed, is a warning.
    """

    def __init__(
        self, facts: Facts, knowledge: Knowledge, observed: Observation, language: str
    ) -> None:
        """Raises LookupError for facts without requirement files."""
        super().__init__(facts, knowledge, observed, language)
        target = facts.target.value
        if target is None or target.asked is None:
            raise LookupError("no requirement files were read")
        self.target = target
        self.asked = target.asked
        self.wanted = imported(target)
        self.sure: Set[Tuple[str, str]] = set()  # {(component, relation)} that nothing satisfies
        self.choice = self._chosen()

    def _chosen(self) -> Choice:
        """What pip would take, beside what a build from source would use where one is due."""
        chosen = choose(self.observed, self.target, self.relations)
        self.sources = sources_due(chosen, self.target, self.relations, self.observed.accelerator)
        taken, tools = chosen.observation, ["pip"]
        if self.sources:
            self.observed = with_tools(self.observed, self.facts)
            taken = with_tools(with_sources(taken, self.sources, self.knowledge), self.facts)
            tools = [*ISOLATED]
        return chosen._replace(observation=with_newest(taken, tools, self.knowledge))

    def _called(self, build: Build) -> str:
        wanted = self.wanted.get(build.component)
        if wanted is None or wanted.version:
            return str(build)
        return f"{build.component}{wanted.specifier}"

    def _is_told(self, violation: Violation) -> bool:  # noqa: ARG002
        return True

    def _is_due(self, page: Page) -> bool:
        due = "target" not in page.facts or "asked" in page.judges
        return due and self._has_projects(page)

    def _needed(self, page: Page) -> List[str]:
        return [name for name in page.facts if not name.startswith("target.")]  # it has no folders

    def _tell(self, violations: Mapping[str, Tuple[Violation, ...]]) -> None:
        """Tell what fails with pip's choice, and whether any other would do."""
        possible = self.observed
        for name in violations:
            for violation in violations[name]:
                self.sure.update((name, b.bound.relation.id) for b in violation.breaches)
        self.observed = self.choice.observation
        due = [one.name for one in self.sources if one.name not in violations]
        taken = {name: self._judged(name) for name in (*violations, *due)}
        told: Set[Tuple[str, str]] = set()
        for name in taken:
            causes = list(self._causes(name, taken))
            sure = {b.bound.finding for v in causes if self._is_sure(v) for b in v.breaches}
            for violation in causes:
                told.update((name, b.bound.relation.id) for b in violation.breaches)
                if self._is_sure(violation) or violation.breaches[0].bound.finding not in sure:
                    self.findings.append(self._broken(violation))
        self.observed = possible
        for name in violations:
            for violation in self._causes(name, violations):
                if not any((name, b.bound.relation.id) in told for b in violation.breaches):
                    self.findings.append(self._broken(violation))
        for problem in (*self.choice.reasons, *self.target.problems):
            self.skipped.append(Skipped("asked", translate(self.language, clean(problem))))

    def _causes(
        self, name: str, violations: Mapping[str, Tuple[Violation, ...]]
    ) -> Iterator[Violation]:
        """As of what is installed; where its sources do not compile, how it would run is idle."""
        found = list(super()._causes(name, violations))
        stopped = any(
            stops_compiling(one) and one.breaches[0].bound.relation.severity == "error"
            for one in found
        )
        for violation in found:
            relation = violation.breaches[0].bound.relation
            if not (stopped and relation.severity == "warning" and relation.phase == "run"):
                yield violation

    def _told_of_the_newest(self, violation: Violation) -> Finding:
        """The finding in the words of one release where many fail alike."""
        every = self.observed
        names = [n for n in self.wanted if n in self.knowledge.packages]
        self.observed = newest_only(every, names, self.knowledge)
        kept = {id(build) for build in self.observed.domains[violation.component]}
        breaches = [
            Breach(breach.bound, tuple(b for b in breach.builds if id(b) in kept))
            for breach in violation.breaches
        ]
        told = Violation(violation.component, tuple(b for b in breaches if b.builds))
        finding = super()._broken(told if told.breaches else violation)
        self.observed = every
        return finding

    def _judged(self, name: str) -> Tuple[Violation, ...]:
        observed = self.observed
        return judge(self.relations, name, observed.domains, observed.accelerator).violations

    def _is_sure(self, violation: Violation) -> bool:
        """Whether nothing that the files allow satisfies one of these relations."""
        ids = [breach.bound.relation.id for breach in violation.breaches]
        return any((violation.component, one) in self.sure for one in ids)

    def _broken(self, violation: Violation) -> Finding:
        finding = self._told_of_the_newest(violation)
        first = violation.breaches[0].bound.relation
        severity = first.severity
        if not self._is_sure(violation):
            severity = min(severity, "warning", key=SEVERITIES.index)
            summary = asked_summary(
                self.language, violation, self.choice, self.knowledge, finding.summary
            )
            finding = replace(finding, summary=summary)
        if _may_be_patched(violation, self.target):
            severity = min(severity, "warning", key=SEVERITIES.index)
        evidence = taken_evidence(
            self.language, finding.evidence, violation, self.choice, self.knowledge
        )
        return replace(finding, severity=severity, verify=(), evidence=evidence)

    def _repairs(self) -> AskedRepairs:
        return AskedRepairs(self.choice, self.asked, self.relations)

    def _elsewhere(self, goal: Goal, repairs: Repairs) -> None:
        """Nothing: there is no environment yet that could be left as it is."""

    def _change(self, plan: Plan, repairs: Repairs) -> Fix:  # noqa: ARG002
        return lines_fix(self.language, plan, self.asked, self.knowledge)

    def _fault(self, page: Page, fault: Fault) -> Finding:
        finding = super()._fault(page, fault)
        # those of the other pages change what is installed, but where words of its own are of files
        changes = "installed" in page.judges and page.phase != "build" and fault.words != "asked"
        fixes = () if changes and "target" in page.facts else finding.fixes
        return replace(finding, fixes=fixes, verify=())


def _may_be_patched(violation: Violation, target: Target) -> bool:
    """Whether it is about compiling sources that are not the released ones."""
    located = {name for name, one in imported(target).items() if one.direct_url}
    return violation.component in located and all(
        breach.bound.relation.phase == "build" for breach in violation.breaches
    )
