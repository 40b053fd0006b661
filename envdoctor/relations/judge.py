"""Judges what is known of an assignment: which relations no completion of it can satisfy.

A component's domain holds every build that it may be. What is installed may hide its variant, so
one release can stand for many builds. A relation is broken if it fails for all of them; several
relations are broken together if each build fails one of them.
"""

from __future__ import annotations

import enum
import itertools
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.relation import Relation
from envdoctor.relations.expression import (
    Environment,
    Expression,
    ExpressionError,
    compile_expression,
)
from envdoctor.relations.values import attribute, scalar

Domain = Tuple[Value, ...]
Domains = Mapping[str, Domain]

_MAX_COMBINATIONS = 20_000


class Verdict(enum.Enum):
    """What a relation says of one full choice of builds."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    IDLE = "idle"  # it does not speak of these builds


class Bound:
    """A relation compiled for the package whose builds are its self."""

    def __init__(self, relation: Relation, owner: str, knowledge: Knowledge) -> None:
        """Compile it. Raises ExpressionError, which names the file and line."""
        self.relation = relation
        self.owner = owner
        package = knowledge.packages[owner]
        self.finding = package.file.findings.get(relation.id, relation.finding)
        self._oldest, self._newest = package.releases[0], package.newest
        try:
            self.needs = compile_expression(relation.needs, knowledge, owner)
            self.condition: Optional[Expression] = None
            if relation.condition:
                self.condition = compile_expression(relation.condition, knowledge, owner)
        except ExpressionError as error:
            raise ExpressionError(f"{relation.where}: {relation.id}: {error}") from None
        self.reads: Dict[str, Tuple[str, ...]] = {}
        for part in (self.needs, self.condition):
            for component, names in part.reads.items() if part else ():
                merged = {*self.reads.get(component, ()), *names}
                self.reads[component] = tuple(sorted(merged))
        self.reads.setdefault("self", ())
        asked = self.needs.asked | (self.condition.asked if self.condition else frozenset())
        self.asked = asked - set(self.reads)
        self.components = tuple(sorted(set(self.reads) - {"self"}))

    @property
    def is_of_files(self) -> bool:
        """Whether it judges GPU code that was read of files, which no build states."""
        return "code" in self.reads["self"]

    def decides_running(self, component: str) -> bool:
        """Whether a build that breaks it cannot run with what this component is."""
        how = (self.relation.phase, self.relation.severity)
        return component in self.components and how == ("run", "error") and not self.is_of_files

    def verdict(self, environment: Environment) -> Tuple[Verdict, str]:
        """The verdict and, if undecided, what is missing."""
        for component in self.components:
            if environment[component] is ABSENT:
                return Verdict.IDLE, ""
        applies = self.condition.evaluate(environment) if self.condition else True
        if applies is False:
            return Verdict.IDLE, ""
        holds = self.needs.evaluate(environment)
        if holds is True:
            return Verdict.HOLDS, ""
        for part in (applies, holds):
            if isinstance(part, Unknown):
                return Verdict.UNDECIDED, part.reason
        owner = environment["self"]
        version = owner.version if isinstance(owner, Build) else None
        if version is not None and version > self._newest:
            return Verdict.UNDECIDED, f"{owner} is newer than the matrices know ({self._newest})"
        if version is not None and version < self._oldest:
            return Verdict.UNDECIDED, f"{owner} is older than the matrices know ({self._oldest})"
        return Verdict.FAILS, ""


class Relations:
    """The relations of the matrices, compiled when they are first asked for."""

    def __init__(self, knowledge: Knowledge) -> None:
        """Index the relations of `knowledge` by owner."""
        self.knowledge = knowledge
        self._bound: Dict[str, Tuple[Bound, ...]] = {}
        self._own: Dict[str, List[Relation]] = {}
        self._shared: List[Tuple[Relation, Tuple[str, ...]]] = []
        for relation in knowledge.relations:
            if relation.owner is None:
                self._shared.append((relation, _self_attributes(relation, knowledge)))
            else:
                self._own.setdefault(relation.owner, []).append(relation)

    def of(self, owner: str) -> Tuple[Bound, ...]:
        """The relations whose self can be a build of `owner`, in the order of the matrices."""
        if owner not in self._bound:
            variant = self.knowledge.packages[owner].variant
            relations = [*self._own.get(owner, ())]
            relations += [r for r, used in self._shared if all(name in variant for name in used)]
            self._bound[owner] = tuple(Bound(r, owner, self.knowledge) for r in relations)
        return self._bound[owner]


def _self_attributes(relation: Relation, knowledge: Knowledge) -> Tuple[str, ...]:
    used: Set[str] = set()
    for text in (relation.condition, relation.needs):
        if text:
            try:
                used |= compile_expression(text, knowledge, None).reads.get("self", frozenset())
            except ExpressionError as error:
                raise ExpressionError(f"{relation.where}: {relation.id}: {error}") from None
    return tuple(sorted(used - {"version"}))


class Breach(NamedTuple):
    """A relation, and the builds of its owner's domain that it rejects."""

    bound: Bound
    builds: Tuple[Build, ...]


class Violation(NamedTuple):
    """A component of whose possible builds none is left: one breach rejects all, or several do."""

    component: str
    breaches: Tuple[Breach, ...]


class Judgement(NamedTuple):
    """What the relations owned by one component say."""

    violations: Tuple[Violation, ...]
    breaches: Tuple[Breach, ...]  # every relation that rejects some build of the domain
    held: Tuple[Bound, ...]
    undecided: Tuple[Tuple[Bound, str], ...]
    survivors: Tuple[Build, ...]  # builds of the domain that no error rejects


def judge(
    relations: Relations, component: str, domains: Domains, accelerator: str = ""
) -> Judgement:
    """Judge the relations that `component` owns.

    `accelerator` is the vendor of the machine's accelerator; relations that speak of another
    vendor's machines are passed over ("" where it is unknown: none is).
    """
    candidates = [b for b in domains[component] if isinstance(b, Build)]
    held: List[Bound] = []
    undecided: List[Tuple[Bound, str]] = []
    breaches: List[Breach] = []
    for bound in relations.of(component):
        if bound.relation.accelerator and accelerator not in ("", bound.relation.accelerator):
            continue
        rejected = []
        said = set()
        reason = ""
        for group, verdict, why in verdicts(bound, candidates, domains):
            said.add(verdict)
            reason = reason or why
            if verdict is Verdict.FAILS:
                rejected += group
        if rejected:
            breaches.append(Breach(bound, tuple(rejected)))
        if said == {Verdict.HOLDS}:
            held.append(bound)
        elif Verdict.UNDECIDED in said or (rejected and len(said) > 1):
            undecided.append((bound, reason or "which build it is cannot be told"))
    errors = [b for b in breaches if b.bound.relation.severity == "error"]
    rejected_ids = {id(build) for breach in errors for build in breach.builds}
    survivors = tuple(b for b in candidates if id(b) not in rejected_ids)
    alone = [b for b in breaches if candidates and len(b.builds) == len(candidates)]
    violations = tuple(Violation(component, (breach,)) for breach in alone)
    together = [breach for breach in errors if breach not in alone]
    rejected_ids = {id(build) for breach in together for build in breach.builds}
    if candidates and all(id(build) in rejected_ids for build in candidates):
        violations = (Violation(component, tuple(together)), *violations)
    return Judgement(violations, tuple(breaches), tuple(held), tuple(undecided), survivors)


def verdicts(
    bound: Bound, candidates: Sequence[Build], domains: Domains
) -> Iterator[Tuple[List[Build], Verdict, str]]:
    """For each group of candidates that the relation cannot tell apart, its verdict."""
    others = [
        (component, _distinct(domains.get(component, (Unknown(f"{component} is unknown"),)), names))
        for component, names in bound.reads.items()
        if component != "self"
    ]
    others += [(c, _distinct(domains.get(c, (ABSENT,)), ("version",))) for c in bound.asked]
    size = 1
    for _, values in others:
        size *= len(values)
    for group in groups(candidates, bound.reads["self"]):
        if size > _MAX_COMBINATIONS:
            yield group, Verdict.UNDECIDED, "too many builds may be installed"
            continue
        seen: Dict[Verdict, str] = {}
        for combination in itertools.product(*(values for _, values in others)):
            environment: Dict[str, Value] = {"self": group[0]}
            environment.update(zip((name for name, _ in others), combination))
            verdict, why = bound.verdict(environment)
            seen.setdefault(verdict, why)
        if len(seen) == 1:
            (verdict,) = seen
            yield group, verdict, seen[verdict]
        elif Verdict.FAILS in seen or Verdict.UNDECIDED in seen:
            yield group, Verdict.UNDECIDED, seen.get(Verdict.UNDECIDED, "")
        else:
            yield group, Verdict.HOLDS, ""


def key(value: Value, names: Sequence[str]) -> Tuple[object, ...]:
    """What tells a value from others where only these attributes count."""
    if not isinstance(value, Build):
        return (value,)
    return tuple(scalar(value) if n == "version" else attribute(value, n) for n in names)


def groups(builds: Sequence[Build], names: Sequence[str]) -> List[List[Build]]:
    """Builds that these attributes do not tell apart, together."""
    found: Dict[Tuple[object, ...], List[Build]] = {}
    for build in builds:
        found.setdefault(key(build, names), []).append(build)
    return list(found.values())


def _distinct(values: Domain, names: Sequence[str]) -> List[Value]:
    """One value of each kind that these attributes tell apart."""
    found: Dict[Tuple[object, ...], Value] = {}
    for value in values:
        kind = value.component if isinstance(value, Build) else ""
        found.setdefault((kind, *key(value, names)), value)
    return list(found.values())
