"""Relations broken by an observed assignment, and faults that the rules see, as findings."""

from __future__ import annotations

import importlib
import shlex
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

import msgspec
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build, Value
from envdoctor.model.facts import Facts, Observed, Target
from envdoctor.model.finding import (
    PHASES,
    SEVERITIES,
    Citation,
    Evidence,
    Finding,
    Fix,
    Skipped,
)
from envdoctor.model.language import say, translate
from envdoctor.model.names import canonical
from envdoctor.model.relation import words_in
from envdoctor.model.text import clean, render
from envdoctor.relations.judge import Relations, Violation, judge
from envdoctor.relations.observe import Observation
from envdoctor.relations.plan import Goal, Plan
from envdoctor.relations.repair import Repairs
from envdoctor.relations.sources import SourceBuild
from envdoctor.relations.tell import Teller, probe
from envdoctor.relations.values import attribute
from envdoctor.rules import linked
from envdoctor.rules.change import elsewhere, fixes, interpreter, not_found, plan_fix
from envdoctor.rules.lookup import name_of
from envdoctor.rules.outside import of_place
from envdoctor.rules.page import Page, pages
from envdoctor.rules.published import for_cuda
from envdoctor.rules.rule import Context, Fault, Undecided

#: Facts that pages name, in words.
FACTS = {
    "accelerator.driver": "NVIDIA driver",
    "accelerator.gpus": "GPU",
    "accelerator.pci": "what is plugged into the PCI bus",
    "accelerator.vendor": "vendor of the accelerator",
    "machine.ahead": "what stands before torch's own libraries on the loader path",
    "machine.container": "whether this is a container",
    "machine.cpus": "the number of processors",
    "machine.glibc": "glibc",
    "machine.interfaces": "what network interfaces there are",
    "machine.libraries": "what libraries the system has",
    "machine.libstdcxx": "libstdc++",
    "machine.memory_mib": "the size of memory",
    "machine.open_files": "the limit of open files",
    "machine.own_libstdcxx": "the environment's libstdc++",
    "machine.shm_mib": "the size of /dev/shm",
    "target": "Python environment",
    "target.path": "the search path of Python",
    "tools.toolkit": "CUDA toolkit",
}

#: What to do about a card that is not for training.
_LEAVE_OUT = (
    "leave that card out of the training: CUDA_VISIBLE_DEVICES=N for the others (nvidia-smi -L "
    "lists them)"
)

replace = msgspec.structs.replace


class Examination:
    """What is found in facts, with the changes that mend it."""

    def __init__(
        self, facts: Facts, knowledge: Knowledge, observed: Observation, language: str
    ) -> None:
        """Nothing yet of `facts`, whose assignment is `observed`."""
        self.language = language
        self.facts = facts
        self.knowledge = knowledge
        self.observed = observed
        self.pages = pages()
        self.by_name = {page.name: page for page in self.pages.values()}
        self.relations = Relations(knowledge)
        self.sources: Tuple[SourceBuild, ...] = ()  # builds from source that are due
        self.findings: List[Finding] = []
        self.goals: Dict[int, Goal] = {}  # by the place of the finding that a plan is to mend
        self.skipped: List[Skipped] = []
        self.ruled_out: List[str] = []
        self.unsettled: Set[str] = set()  # names of findings that could not be ruled out

    def relations_broken(self) -> None:
        """Judge the relations of everything that is installed."""
        undecided: Dict[Tuple[str, str], Set[str]] = {}
        held: Dict[str, None] = {}
        violations: Dict[str, Tuple[Violation, ...]] = {}
        for name, domain in self.observed.domains.items():
            if name not in self.knowledge.packages or not isinstance(domain[0], Build):
                continue
            try:
                judgement = judge(
                    self.relations, name, self.observed.domains, self.observed.accelerator
                )
            except Exception as error:
                self.unsettled |= {bound.finding for bound in self.relations.of(name)}
                self.failed("relations", "{package}: judging it failed: {error}", error, name)
                continue
            violations[name] = judgement.violations
            held.update(dict.fromkeys(bound.finding for bound in judgement.held))
            for bound, reason in judgement.undecided:
                if bound.relation.phase != "build":
                    page = self.by_name[bound.finding]
                    self.unsettled.add(page.name)
                    undecided.setdefault((page.code, reason), set()).add(self._called(domain[0]))
        try:
            self._tell(violations)
        except Exception as error:
            broken = [violation for found in violations.values() for violation in found]
            self.unsettled |= {breach.bound.finding for one in broken for breach in one.breaches}
            names = say(self.language, ", ").join(name for name in violations if violations[name])
            self.failed("relations", "{package}: judging it failed: {error}", error, names)
        try:
            self._tell_of_every_cuda(violations)
        except Exception as error:
            self.failed("relations", "{package}: judging it failed: {error}", error, "torch")
        for build in self.observed.untested:
            self.unsettled |= {bound.finding for bound in self.relations.of(build.component)}
            newest = self.knowledge.packages[build.component].newest
            untested = "{build} is newer than the matrices know ({newest}): untested"
            reason = say(self.language, untested, build=clean(str(build)), newest=newest)
            self.skipped.append(Skipped("untested", reason))
        for reason in self.observed.unclear:
            self.skipped.append(Skipped("untested", translate(self.language, clean(reason))))
        for (code, reason), builds in undecided.items():
            names = say(self.language, ", ").join(sorted(builds))
            why = translate(self.language, reason)
            told = say(self.language, "{builds}: {reason}", builds=names, reason=why)
            self.skipped.append(Skipped(code, clean(told)))
        self.ruled_out += held

    def _called(self, build: Build) -> str:
        """What a package is called where its builds are not told apart."""
        return str(build)

    def _tell(self, violations: Mapping[str, Tuple[Violation, ...]]) -> None:
        for name in violations:
            for violation in self._causes(name, violations):
                try:
                    self.findings.append(self._broken(violation))
                except Exception as error:  # noqa: PERF203
                    self.goals.pop(len(self.findings), None)
                    self.unsettled |= {breach.bound.finding for breach in violation.breaches}
                    self.failed("relations", "{package}: judging it failed: {error}", error, name)

    def _tell_of_every_cuda(self, violations: Mapping[str, Tuple[Violation, ...]]) -> None:
        """Tell what a reported torch fails whichever build for CUDA it is, as a warning."""
        if violations.get("torch"):
            return
        actual, supposed = self.observed, for_cuda(self.facts, self.observed)
        if supposed is None:
            return
        self.observed = supposed
        try:
            found = judge(self.relations, "torch", supposed.domains, supposed.accelerator)
            of_cuda = {"host.gpu", "host.driver", "host.serves"}
            for violation in filter(self._is_told, found.violations):
                if not all(of_cuda & set(b.bound.components) for b in violation.breaches):
                    continue
                finding = self._broken(violation)
                del self.goals[len(self.findings)]  # which build to exchange is not known
                said = "whichever build for CUDA it is: {summary}"
                summary = say(self.language, said, summary=finding.summary)
                severity = min(finding.severity, "warning", key=SEVERITIES.index)
                self.findings.append(replace(finding, summary=summary, severity=severity))
        finally:
            self.observed = actual

    def failed(self, code: str, template: str, error: Exception, package: str = "") -> None:
        """Say that a fault of envdoctor's own kept something from being judged."""
        named = f"{type(error).__name__}: {error}"
        said = say(self.language, template, error=named, package=package)
        self.skipped.append(Skipped(code, clean(said), failed=True))

    def _is_told(self, violation: Violation) -> bool:
        """Not that it cannot be installed: it is; whether it can be imported, tags tell a rule."""
        return any(breach.bound.relation.phase != "install" for breach in violation.breaches)

    def _causes(
        self, name: str, violations: Mapping[str, Tuple[Violation, ...]]
    ) -> Iterator[Violation]:
        """The violations of a package that are no consequence of those of what it requires.

        A driver that is too old for torch is too old for each extension beside it: one fault, and
        its fix exchanges them all. Of what stops the compiling of its sources the first is told.
        """
        inherited = {
            breach.bound.relation.id
            for required in self._required(name)
            for violation in violations.get(required, ())
            for breach in violation.breaches
            if breach.bound.relation.owner is None
        }
        stopped = False
        for violation in violations[name]:
            own = [b for b in violation.breaches if b.bound.relation.id not in inherited]
            rejected = {id(build) for breach in own for build in breach.builds}
            every = {id(build) for breach in violation.breaches for build in breach.builds}
            cause = Violation(name, tuple(own))
            if not own or rejected != every or not self._is_told(cause):
                continue
            if stops_compiling(cause):
                if stopped:
                    continue
                stopped = True
            yield cause

    def _required(self, name: str) -> List[str]:
        names = list(self.knowledge.packages[name].requires)
        for required in names:
            more = self.knowledge.packages[required].requires
            names += [other for other in more if other not in names]
        return names

    def _broken(self, violation: Violation) -> Finding:
        teller = Teller(violation, self.relations, self.observed.domains, self.observed.accelerator)
        first = violation.breaches[0]
        relation = first.bound.relation
        page = self.by_name[first.bound.finding]
        whys = [teller.part(breach, "why", self.language) for breach in violation.breaches]
        build = first.builds[0]
        severity, fixed = _severity(violation), self._fixes(violation, teller)
        if self._is_beside(violation, teller):
            self.goals.pop(
                len(self.findings), None
            )  # the card is left out, and not torch exchanged
            severity = min(severity, "warning", key=SEVERITIES.index)
            fixed = (Fix(say(self.language, _LEAVE_OUT)),)
        return Finding(
            code=page.code,
            name=page.name,
            severity=severity,
            phase=_first_phase(violation),
            component=clean(f"{build.component} {build.label}"),
            summary=teller.part(first, "summary", self.language),
            why=say(self.language, "; ").join(dict.fromkeys(why for why in whys if why)),
            evidence=tuple(self._evidence(violation)),
            relation=Citation(relation.id, relation.source, relation.checked, relation.basis),
            fixes=fixed,
            verify=tuple(
                dict.fromkeys(_probes(violation, self.knowledge, interpreter(self.facts)))
            ),
        )

    def _evidence(self, violation: Violation) -> Iterator[Evidence]:
        components = [violation.component]
        for breach in violation.breaches:
            components += [c for c in breach.bound.components if c != violation.component]
        for component in dict.fromkeys(components):
            if component.startswith("module."):
                module = component[len("module.") :]
                names = self.knowledge.providers[module]
            else:
                names = (component,)
            for name in names:
                if name in self.observed.evidence:
                    yield _cleaned(self.language, self.observed.evidence[name])
        target = self.facts.target.value
        code = target.gpu_code.get(violation.component) if target is not None else None
        if code is not None and any(breach.bound.is_of_files for breach in violation.breaches):
            held = ", ".join([*(code.sass or ()), *(f"PTX {ptx}" for ptx in code.ptx or ())])
            told = Evidence(f"GPU code of {violation.component}", held, code.origin)
            yield _cleaned(self.language, told)

    def _is_beside(self, violation: Violation, teller: Teller) -> bool:
        """Whether it fails on a lesser card alone, as one for the screen beside those that train.

        Not where somebody named the cards, which are then all meant, or where it is no lesser one.
        """
        gpus = self.observed.domains.get("host.gpu", ((),))[0]
        target = self.facts.target.value
        selected = target is not None and "CUDA_VISIBLE_DEVICES" in target.environ
        if not isinstance(gpus, tuple) or selected or self.facts.accelerator.gpus.assumed:
            return False
        for breach in violation.breaches:
            failing = teller.failing(breach) if "host.gpu" in breach.bound.components else ()
            bad = [gpu for gpu in gpus if isinstance(failing, tuple) and gpu in failing]
            good = [gpu for gpu in gpus if gpu not in bad]
            if not bad or not good or not _is_lesser(bad, good):
                return False
        return True

    def _fixes(self, violation: Violation, teller: Teller) -> Tuple[Fix, ...]:
        """What mends it by hand, where its words say that; a plan is made for it later."""
        # Of what was read of files, no build says whether it would fit better.
        if not all(breach.bound.is_of_files for breach in violation.breaches):
            self.goals[len(self.findings)] = Goal.of(violation)
        told = (teller.part(breach, "fix", self.language) for breach in violation.breaches)
        return tuple(Fix(text) for text in dict.fromkeys(told) if text)

    def mend(self) -> None:
        """Plan the changes, now that all that is broken is known: the gravest, the root first."""
        try:
            self._mend()
        except Exception as error:
            self.failed("changes", "looking for changes failed: {error}", error)

    def _mend(self) -> None:
        if not self.goals:
            return
        places = sorted(self.goals, key=self._urgency)
        findings = [self.findings[place] for place in places]
        names = [f"{finding.code} {finding.component}" for finding in findings]
        goals = [self.goals[place] for place in places]
        repairs = self._repairs()

        def tell(plan: Plan) -> Fix:
            return self._change(plan, repairs)

        made = fixes(self.language, goals, names, repairs, tell)
        for place, goal, change in zip(places, goals, made):
            finding = self.findings[place]
            by_hand = finding.fixes if finding.relation is not None else ()
            none = None if by_hand else not_found(self.language, repairs, goal)
            other = None if by_hand or change else self._elsewhere(goal, repairs)
            told = [*by_hand, *(fix for fix in [change or none, other] if fix is not None)]
            if told:
                self.findings[place] = replace(finding, fixes=tuple(told))

    def _elsewhere(self, goal: Goal, repairs: Repairs) -> Optional[Fix]:
        """What another environment would have in the place of what stays in this one."""
        return elsewhere(self.language, repairs, goal, self.facts)

    def _repairs(self) -> Repairs:
        return Repairs(self.observed, self.relations)

    def _change(self, plan: Plan, repairs: Repairs) -> Fix:
        """A plan in words, and how to carry it out."""
        return plan_fix(self.language, plan, repairs, self.facts)

    def _urgency(self, place: int) -> Tuple[object, ...]:
        finding = self.findings[place]
        depth = len(set(self._required(self.goals[place].component)))
        return (-SEVERITIES.index(finding.severity), depth, finding.code, finding.component)

    def _is_due(self, page: Page) -> bool:
        """Whether a rule has something to look at here."""
        return "installed" in page.judges and self._has_projects(page)

    def _has_projects(self, page: Page) -> bool:
        """Whether a rule on source trees has one; it is no gap if nobody named any."""
        return "projects" not in page.facts or bool(self.facts.projects)

    def _needed(self, page: Page) -> List[str]:
        """The facts without which a rule is skipped."""
        return page.facts

    def rules_broken(self) -> None:
        """Run every rule whose facts are known."""
        context = Context(self.facts, self.knowledge, self.observed, self.language, self.sources)
        for project in self.facts.projects:
            for problem in project.problems:
                reason = translate(self.language, problem)
                told = say(
                    self.language, "{builds}: {reason}", builds=project.root, reason=clean(reason)
                )
                self.skipped.append(Skipped("project", clean(told)))
        self._run(context, [page for page in self.pages.values() if self._is_due(page)])

    def binaries_refused(self) -> None:
        """Tell the binaries that would not load, where nothing else says it of their component."""
        target = self.facts.target.value
        if target is None:
            return
        linking = target.linking
        if linking.unknown:
            reason = translate(self.language, clean(linking.unknown))
            self.skipped.append(Skipped("binaries", reason))
        if linking.value is None:
            return
        context = Context(self.facts, self.knowledge, self.observed, self.language)
        for reason in linking.value.undecided:
            self.skipped.append(Skipped("binaries", translate(self.language, clean(reason))))
        others = len(self.findings)
        try:
            for told in linked.faults(context):
                self._refused(told, others)
        except Exception as error:
            self.failed("binaries", "the rule itself failed: {error}", error)

    def _refused(self, told: linked.Told, others: int) -> None:
        page = self.by_name[told.page]
        finding = self._fault(page, told.fault)
        name = finding.component.partition(" ")[0]
        for place, other in enumerate(self.findings[:others]):
            if other.component.partition(" ")[0] != name:
                continue
            is_graver = SEVERITIES.index(other.severity) >= SEVERITIES.index(finding.severity)
            if linked.says_why(other, finding) or (other.name in linked.SAME and is_graver):
                severity = other.severity if is_graver else finding.severity
                kept = tuple(dict.fromkeys((*other.evidence, *finding.evidence)))
                self.findings[place] = replace(other, severity=severity, evidence=kept)
                return
        self.findings.append(finding)

    def changes_judged(self) -> None:
        """Run the rules about the commands that the findings propose, now that they are known."""
        commands = tuple(c for f in self.findings for fix in f.fixes for c in fix.commands)
        if commands:
            context = Context(
                self.facts, self.knowledge, self.observed, self.language, commands=commands
            )
            self._run(context, [p for p in self.pages.values() if "changes" in p.judges])

    def _run(self, context: Context, due: Sequence[Page]) -> None:
        for page in due:
            if not page.is_rule:
                continue
            missing = _missing(self.language, self.facts, self._needed(page))
            if missing is not None:
                self.skipped.append(Skipped(page.code, missing))
                self.unsettled.add(page.name)
                continue
            try:
                said = _said(page, context)
                faults = [one for one in said if isinstance(one, Fault)]
                found = [self._fault(page, fault) for fault in faults]
            except Exception as error:
                self.failed(page.code, "the rule itself failed: {error}", error)
                self.unsettled.add(page.name)
                continue
            for one in said:
                if isinstance(one, Undecided):
                    reason = translate(self.language, clean(one.reason))
                    self.skipped.append(Skipped(page.code, reason))
                    self.unsettled.add(page.name)
            for fault, finding in zip(faults, found):
                if fault.goal is not None:
                    self.goals[len(self.findings)] = fault.goal
                self.findings.append(finding)
            if not faults and page.severity != "info" and not _is_reported(self.facts):
                self.ruled_out.append(page.name)

    def _fault(self, page: Page, fault: Fault) -> Finding:
        target = self.facts.target.value
        finding = finding_of(page, fault, self.language)
        if target is None:
            return finding
        finding = replace(finding, about=_about(fault, target))
        return of_place(finding, fault, target, self.language)


def _said(page: Page, context: Context) -> List[Union[Fault, Undecided]]:
    """What the rule of a page says."""
    if page.module:
        rule = importlib.import_module(f"envdoctor.rules.{page.module}")
        return list(rule.examine(context))
    from envdoctor.rules.project import faults

    return list(faults(context, page.name, page.interfaces))


def _about(fault: Fault, target: Target) -> Tuple[str, ...]:
    """Names of what a fault is about beside its component, which words and versions leave alone."""
    installed = {name_of(distribution) for distribution in target.distributions}
    named = {canonical(fact.fact.partition(" ")[0]) for fact in fault.evidence}
    own = canonical(fault.component.partition(" ")[0])
    return tuple(sorted({*fault.about, *(named & installed)} - {own}))


def finding_of(page: Page, fault: Fault, language: str) -> Finding:
    """A fault in the words of its page."""
    texts = words_in(language, page.words)
    suffix = f"_{fault.words}" if fault.words else ""

    def part(name: str) -> str:
        template = texts.get(name + suffix, texts.get(name, ""))
        return render(template, lambda name: translate(language, fault.fields[name]))

    fixes = tuple(replace(fix, summary=fix.summary or part("fix")) for fix in fault.fixes)
    if not fixes and part("fix"):
        fixes = (Fix(part("fix")),)
    return Finding(
        code=page.code,
        name=page.name,
        severity=fault.severity or page.severity,
        phase=page.phase,
        component=clean(fault.component),
        summary=part("summary"),
        why=part("why"),
        evidence=tuple(_cleaned(language, evidence) for evidence in fault.evidence),
        fixes=fixes,
        verify=fault.verify,
    )


def _is_lesser(cards: Sequence[Value], others: Sequence[Value]) -> bool:
    """Whether cards are none for computing, and older than all others."""
    ours, theirs = _capabilities(cards), _capabilities(others)
    known = len(ours) == len(cards) and len(theirs) == len(others)
    computing = any(attribute(gpu, "family") == "datacenter" for gpu in cards)
    return known and not computing and max(ours) < min(theirs)


def _capabilities(cards: Sequence[Value]) -> List[Version]:
    found = (attribute(gpu, "cc") for gpu in cards)
    return [capability for capability in found if isinstance(capability, Version)]


def _cleaned(language: str, evidence: Evidence) -> Evidence:
    parts = (evidence.fact, evidence.value, evidence.origin)
    fact, value, origin = (translate(language, clean(part)) for part in parts)
    return Evidence(fact, value, origin)


def stops_compiling(violation: Violation) -> bool:
    """Whether sources of a package do not compile, by what is in them."""
    relations = [breach.bound.relation for breach in violation.breaches]
    return all(r.phase == "build" and r.owner is not None for r in relations)


def _severity(violation: Violation) -> str:
    """The first relation's; sources that would not compile as released may have been patched."""
    severity = violation.breaches[0].bound.relation.severity
    if all(breach.bound.relation.phase == "build" for breach in violation.breaches):
        return min(severity, "warning", key=SEVERITIES.index)
    return severity


def _first_phase(violation: Violation) -> str:
    """The phase in which a user meets it: a build that is installed is past its building."""
    phases = [breach.bound.relation.phase for breach in violation.breaches]
    later = [p for p in phases if p not in ("resolve", "build")]
    return min(later or phases, key=PHASES.index)


def _probes(violation: Violation, knowledge: Knowledge, python: str) -> Iterator[str]:
    for breach in violation.breaches:
        statement = probe(breach.bound, breach.builds[0], knowledge)
        if statement:
            yield shlex.join([python, "-c", statement])


def _missing(language: str, facts: Facts, names: List[str]) -> Optional[str]:
    """Why a fact that a rule needs is unknown; None if all are known."""
    for name in names:
        value: object = facts
        for part in name.split("."):
            value = getattr(value, part)
            if isinstance(value, Observed):
                if value.value is None and value.unknown:
                    return translate(language, clean(value.unknown))
                if value.value is None:
                    return say(language, "{fact} is unknown", fact=_named(language, name))
                value = value.value
                if value == ():
                    if name == "accelerator.gpus":
                        return say(language, "there is no {thing} here", thing="GPU")
                    return say(language, "{fact}: none was found", fact=_named(language, name))
        if value == ():
            return say(language, "{fact} is unknown", fact=_named(language, name))
    return None


def _named(language: str, fact: str) -> str:
    """What to call a fact that a page names by its path."""
    return translate(language, FACTS.get(fact, fact))


def _is_reported(facts: Facts) -> bool:
    """Whether somebody reported the facts: they tell of faults, not that there are none."""
    target = facts.target.value
    if target is None or target.asked is not None:
        return False
    return not target.python and not facts.target.assumed
