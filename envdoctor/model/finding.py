"""What envdoctor says: findings with their evidence, and the report that carries them."""

from __future__ import annotations

from typing import Optional, Tuple

from envdoctor.model.facts import Record

SCHEMA_VERSION = 1

#: Mildest first.
SEVERITIES = ("info", "warning", "error")
#: In the order in which a user meets them.
PHASES = ("resolve", "build", "install", "import", "run")


class Evidence(Record, frozen=True, omit_defaults=False):
    """One observed fact: what it is, its value, where it was read."""

    fact: str
    value: str
    origin: str


class Citation(Record, frozen=True, omit_defaults=False):
    """The matrix entry that a finding rests on."""

    id: str
    source: str
    checked: str
    basis: str


class Fix(Record, frozen=True, omit_defaults=False):
    """A change that mends a finding. Commands are printed, never run."""

    summary: str
    commands: Tuple[str, ...] = ()


class Finding(Record, frozen=True, omit_defaults=False):
    """One fault (or piece of information), with the evidence that it rests on."""

    code: str  # "ED412"
    name: str  # "torch-abi-mismatch"
    severity: str
    phase: str
    component: str  # whose fault it is, "mmcv-full 1.4.0"
    summary: str
    why: str = ""  # the reason, one sentence or more
    evidence: Tuple[Evidence, ...] = ()
    relation: Optional[Citation] = None
    fixes: Tuple[Fix, ...] = ()
    verify: Tuple[str, ...] = ()


class Skipped(Record, frozen=True, omit_defaults=False):
    """A question that could not be answered, and the reason."""

    code: str
    reason: str


class Report(Record, frozen=True, omit_defaults=False):
    """The result of `check`."""

    command: str
    envdoctor_version: str
    matrices_date: str
    findings: Tuple[Finding, ...]
    ruled_out: Tuple[str, ...] = ()
    skipped: Tuple[Skipped, ...] = ()
    facts_digest: str = ""
    schema_version: int = SCHEMA_VERSION

    def worst(self) -> Optional[str]:
        """The gravest severity among the findings, or None."""
        return max((f.severity for f in self.findings), key=SEVERITIES.index, default=None)


def at_or_above(severity: str, threshold: str) -> bool:
    """Whether `severity` is at least as grave as `threshold`."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(threshold)


__all__ = [
    "PHASES",
    "SCHEMA_VERSION",
    "SEVERITIES",
    "Citation",
    "Evidence",
    "Finding",
    "Fix",
    "Report",
    "Skipped",
    "at_or_above",
]
