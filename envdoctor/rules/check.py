"""`check`: everything that is wrong, in order, as a report."""

from __future__ import annotations

from typing import Iterator, List, Sequence

import msgspec

from envdoctor import __version__
from envdoctor.facts.snapshot import digest
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import FAILED, Facts, Observed
from envdoctor.model.finding import (
    PHASES,
    SEVERITIES,
    Finding,
    MachineSummary,
    Report,
    Skipped,
    TargetSummary,
    assumed,
)
from envdoctor.model.language import ENGLISH, say, translate
from envdoctor.model.text import clean
from envdoctor.relations.observe import observe
from envdoctor.rules.examination import Examination
from envdoctor.rules.outside import SHADOW, by_cause


def check(facts: Facts, knowledge: Knowledge, language: str = ENGLISH) -> Report:
    """Everything that is wrong with the environment of `facts`, gravest first, in a language."""
    examination = _examined(facts, knowledge, language)
    findings = sorted(
        _by_cause(examination, knowledge, language),
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
        findings=tuple(map(_verifiable, findings)),
        language=language,
        target=TargetSummary.of(facts),
        machine=MachineSummary.of(facts),
        assumed=tuple(assumed(facts)),
        ruled_out=tuple(n for n in dict.fromkeys(examination.ruled_out) if n not in unsettled),
        skipped=(*examination.skipped, *_failed_probes(facts, language)),
        facts_digest=digest(facts),
        matrices_added=knowledge.added,
    )


def _by_cause(examination: Examination, knowledge: Knowledge, language: str) -> Sequence[Finding]:
    """The findings, what comes from outside of the environment told as the cause."""

    def examine(facts: Facts) -> List[Finding]:
        return _examined(facts, knowledge, language).findings

    try:
        return by_cause(examination.findings, examination.facts, examine, language)
    except Exception as error:
        examination.failed("causes", "looking for the cause failed: {error}", error)
        return examination.findings


def _verifiable(finding: Finding) -> Finding:
    """A finding with a command that shows it: of most it is in its page, under Check yourself."""
    if finding.verify:
        return finding
    return msgspec.structs.replace(finding, verify=(f"envdoctor explain {finding.code}",))


def _failed_probes(facts: Facts, language: str) -> Iterator[Skipped]:
    """What a fault of envdoctor's own kept from being observed."""
    for name in ("machine", "accelerator", "tools"):
        record = getattr(facts, name)
        reasons = {
            fact.unknown
            for fact in (getattr(record, field) for field in record.__struct_fields__)
            if isinstance(fact, Observed) and fact.unknown.startswith(FAILED)
        }
        for reason in sorted(reasons):
            why = translate(language, clean(reason))
            said = say(language, "{part}: {reason}", part=name, reason=why)
            yield Skipped("probe", said, failed=True)


def _examined(facts: Facts, knowledge: Knowledge, language: str) -> Examination:
    """All that is found in facts, with the changes that mend it."""
    target = facts.target.value
    asked = target.asked if target is not None else None
    if target is None or asked is None:
        examination = Examination(facts, knowledge, observe(facts, knowledge), language)
    else:
        # Only where files are asked about: an environment's check is not to wait for them.
        from envdoctor.relations.asked import observe_asked
        from envdoctor.rules.asked_examination import AskedExamination

        observed = observe_asked(facts, target, asked, knowledge)
        examination = AskedExamination(facts, knowledge, observed, language)
    examination.relations_broken()
    examination.rules_broken()
    examination.binaries_refused()
    examination.mend()
    examination.changes_judged()
    return examination
