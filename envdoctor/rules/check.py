"""`check`: everything that is wrong, in order, as a report."""

from __future__ import annotations

from envdoctor import __version__
from envdoctor.facts.snapshot import digest
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Facts
from envdoctor.model.finding import (
    PHASES,
    SEVERITIES,
    MachineSummary,
    Report,
    TargetSummary,
    assumed,
)
from envdoctor.model.language import ENGLISH
from envdoctor.relations.asked import observe_asked
from envdoctor.relations.observe import observe
from envdoctor.rules.asked_examination import AskedExamination
from envdoctor.rules.examination import Examination
from envdoctor.rules.outside import SHADOW, by_cause


def check(facts: Facts, knowledge: Knowledge, language: str = ENGLISH) -> Report:
    """Everything that is wrong with the environment of `facts`, gravest first, in a language."""
    examination = _examined(facts, knowledge, language)
    told = by_cause(
        examination.findings, facts, lambda f: _examined(f, knowledge, language).findings, language
    )
    findings = sorted(
        told,
        key=lambda f: (
            -SEVERITIES.index(f.severity),
            PHASES.index(f.phase),
            f.name != SHADOW,  # others may be of what comes from there
            f.code,
            f.component,
        ),
    )
    unsettled = {f.name for f in (*findings, *examination.findings)} | examination.unsettled
    return Report(
        command="check",
        envdoctor_version=__version__,
        matrices_date=knowledge.date,
        findings=tuple(findings),
        language=language,
        target=TargetSummary.of(facts),
        machine=MachineSummary.of(facts),
        assumed=tuple(assumed(facts)),
        ruled_out=tuple(n for n in dict.fromkeys(examination.ruled_out) if n not in unsettled),
        skipped=tuple(examination.skipped),
        facts_digest=digest(facts),
    )


def _examined(facts: Facts, knowledge: Knowledge, language: str) -> Examination:
    """All that is found in facts, with the changes that mend it."""
    target = facts.target.value
    asked = target.asked if target is not None else None
    if target is None or asked is None:
        examination = Examination(facts, knowledge, observe(facts, knowledge), language)
    else:
        observed = observe_asked(facts, target, asked, knowledge)
        examination = AskedExamination(facts, knowledge, observed, language)
    examination.relations_broken()
    examination.rules_broken()
    examination.mend()
    return examination
