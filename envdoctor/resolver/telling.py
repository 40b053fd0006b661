"""Cores in words: what does not go together, and the relations that say so."""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from envdoctor.model.build import Build
from envdoctor.model.finding import Citation
from envdoctor.model.language import ENGLISH, count, say, translate
from envdoctor.model.resolution import Core, Reason, Rejection
from envdoctor.relations.tell import tell_releases
from envdoctor.resolver.members import told
from envdoctor.resolver.narrowing import Taken, narrow, why
from envdoctor.resolver.requirement import FACT, PIN, RELATION, Requirement
from envdoctor.resolver.solver import Solver


class Telling:
    """Tells the cores of one request."""

    def __init__(self, solver: Solver, language: str = ENGLISH) -> None:
        """`cited` are the entries of the matrices that were named so far."""
        self.solver = solver
        self.language = language
        self.by_id: Dict[str, Requirement] = {r.id: r for r in solver.requirements}
        self.cited: Dict[str, Citation] = {}
        self._said: Dict[Tuple[object, ...], str] = {}

    def text(self, requirement: Requirement) -> str:
        """A requirement in the language of the answer."""
        return translate(self.language, requirement.text)

    def core(self, core: Sequence[str]) -> Core:
        """A core with its relations, in words."""
        relations = self.solver.relations(core)
        taken = narrow(self.solver, core, relations)
        reasons = [
            Reason(id_, self._kind(id_), self.text(self.by_id[id_]), self._source(id_))
            for id_ in core
        ]
        texts: Dict[str, str] = {}
        folded: List[Rejection] = []
        for one in taken:
            name = self.solver.space.name_of(one.constraint)
            text = self._why(one, core) or self._of_rule(name)
            which = self._which(one)
            told = say(self.language, "{builds}: {reason}", builds=which, reason=text)
            texts.setdefault(name, told)
            component = self.solver.space.variables[one.variable].name
            folded.append(Rejection(component, name, bin(one.values).count("1"), text))
        for name in relations:
            text = texts.get(name) or self._of_rule(name)
            citation = self.solver.space.knowledge.citations.get(name)
            if citation is not None:
                self.cited.setdefault(name, citation)
            source = citation.source if citation is not None else self._rule(name).source
            reasons.append(Reason(name, RELATION, text, source))
        because = say(self.language, ", and because ").join(
            f"{reason.text} [{reason.id}]" for reason in reasons if reason.kind == RELATION
        )
        fixed = [reason.text for reason in reasons if reason.kind != RELATION]
        template = "{fixed} do not go together, because {because}"
        if len(fixed) == 1:
            template = "{fixed} cannot be had, because {because}"
        joined = say(self.language, " and ").join(fixed)
        words = say(self.language, template, fixed=joined, because=because)
        return Core(tuple(reasons), words, tuple(folded))

    def _why(self, taken: Taken, core: Sequence[str]) -> str:
        """Why a relation takes builds away; several cores may rest on the same."""
        scope = taken.constraint.scope
        facts = frozenset(id_ for id_ in core if self.by_id[id_].kind == FACT)
        left = tuple(taken.left[number] for number in scope)
        asked = (
            self.solver.space.name_of(taken.constraint),
            taken.variable,
            taken.values,
            left,
            facts,
        )
        if asked not in self._said:
            self._said[asked] = why(self.solver, taken, core, self.language)
        return self._said[asked]

    def _which(self, taken: Taken) -> str:
        """The builds that a relation takes away, and whose relation it is, if it is another's."""
        gone = self._counted(taken.variable, taken.values)
        owner = taken.owner
        if owner is None or owner == taken.variable:
            return gone
        return f"{self._counted(owner, taken.left[owner])} + {gone}"

    def _counted(self, number: int, mask: int) -> str:
        """Builds of a component, equal ones counted together."""
        variable = self.solver.space.variables[number]
        gone = [
            value
            for position, value in enumerate(variable.values)
            if mask >> position & 1 and isinstance(value, Build)
        ]
        if len(gone) == 1:
            return f"{variable.name} {told(gone[0], self.solver.space.knowledge)}"
        package = self.solver.space.knowledge.packages.get(variable.name)
        versions = sorted({build.version for build in gone if build.version is not None})
        known = package.releases if package is not None else versions
        releases = tell_releases(versions, known, self.language)
        counted = count(self.language, len(gone), "{number} build", "{number} builds")
        named = f"{variable.name} {releases}"
        return say(self.language, "{releases} ({builds})", releases=named, builds=counted)

    def _kind(self, id_: str) -> str:
        return FACT if self.by_id[id_].kind == FACT else PIN

    def _source(self, id_: str) -> str:
        return translate(self.language, self.by_id[id_].source)

    def _rule(self, name: str) -> Requirement:
        rules = {rule.requirement.id: rule.requirement for rule in self.solver.space.rules}
        return rules.get(name, Requirement(name, RELATION, name, ""))

    def _of_rule(self, name: str) -> str:
        """The text of a requirement that is no relation of the matrices."""
        for related in self.solver.space.related:
            if related.bound.relation.id == name:
                return related.bound.relation.needs
        return self.text(self._rule(name))
