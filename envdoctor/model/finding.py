"""What envdoctor says: findings with their evidence, and the report that carries them."""

from __future__ import annotations

from typing import Iterator, Optional, Tuple

from envdoctor.model.facts import Facts, Observed, Record
from envdoctor.model.language import ENGLISH

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


class Moved(Record, frozen=True, omit_defaults=False, rename={"before": "from", "after": "to"}):
    """What is put in the place of what is there: versions, "" of what is not there."""

    component: str
    before: str
    after: str
    why: str = ""


class Fix(Record, frozen=True, omit_defaults=False):
    """A change that mends a finding. Its commands are printed; `repair --apply` alone runs any."""

    summary: str
    commands: Tuple[str, ...] = ()
    changes: Tuple[Moved, ...] = ()  # the packages that it exchanges, where it was planned
    complete: bool = True  # whether the commands, where there are any, do all of it


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
    # names that tell it from others of the same code, component and relation; in no language
    about: Tuple[str, ...] = ()


class Skipped(Record, frozen=True, omit_defaults=False):
    """A question that could not be answered, and the reason."""

    code: str
    reason: str
    failed: bool = False  # for a fault of envdoctor's own


class Identity(Record, frozen=True, omit_defaults=False):
    """What a finding is known by from one check to the next, in any language and wording.

    Versions are no part of it: of the component its name stays, of the relation its id.
    """

    code: str
    name: str
    component: str
    relation: str = ""
    about: Tuple[str, ...] = ()
    severity: str = "info"


class Accepted(Record, frozen=True, omit_defaults=False):
    """What a baseline accepts of a report."""

    file: str
    known: Tuple[Identity, ...] = ()  # findings that it holds, which are no longer told
    gone: Tuple[Identity, ...] = ()  # what it holds, and was not found


class TargetSummary(Record, frozen=True, omit_defaults=False):
    """The environment that a report is about, and why it was chosen; empty where unknown."""

    python: str = ""  # path of the interpreter
    version: str = ""
    prefix: str = ""
    torch: str = ""  # its version; empty without torch, too
    why: str = ""
    unknown: str = ""  # why there is no environment

    @classmethod
    def of(cls, facts: Facts) -> TargetSummary:
        """The environment of a snapshot."""
        found, why = facts.target.value, facts.target.origin
        if found is None:
            return cls(why=why, unknown=facts.target.unknown)
        if found.asked is not None:
            return cls(version=found.version, why=", ".join(found.asked.files))
        torch = (found.torch.version.value if found.torch else None) or ""
        return cls(found.python, found.version, found.prefix, torch, why)


class MachineSummary(Record, frozen=True, omit_defaults=False):
    """The machine that a report is about; None where unknown."""

    os: Optional[str] = None
    architecture: Optional[str] = None
    glibc: Optional[str] = None
    accelerator: Optional[str] = None  # vendor
    gpus: Optional[Tuple[str, ...]] = None
    driver: Optional[str] = None
    cuda: Optional[str] = None  # the newest that the driver serves

    @classmethod
    def of(cls, facts: Facts) -> MachineSummary:
        """The machine of a snapshot."""
        machine, accelerator = facts.machine, facts.accelerator
        gpus = accelerator.gpus.value
        return cls(
            os=machine.os.value,
            architecture=machine.architecture.value,
            glibc=machine.glibc.value,
            accelerator=accelerator.vendor.value,
            gpus=None if gpus is None else tuple(gpu.name for gpu in gpus),
            driver=accelerator.driver.value,
            cuda=accelerator.serves.value,
        )


def assumed(facts: Facts) -> Iterator[str]:
    """Names of the facts that an assumption replaced: "accelerator.gpus"."""
    if facts.target.assumed:
        yield "target"
    for part in ("machine", "accelerator", "tools"):
        record = getattr(facts, part)
        for name in record.__struct_fields__:
            fact = getattr(record, name)
            if isinstance(fact, Observed) and fact.assumed:
                yield f"{part}.{name}"


class Report(Record, frozen=True, omit_defaults=False):
    """The result of `check`."""

    command: str
    envdoctor_version: str
    matrices_date: str
    findings: Tuple[Finding, ...]
    target: TargetSummary = TargetSummary()
    machine: MachineSummary = MachineSummary()
    assumed: Tuple[str, ...] = ()  # facts that were not observed
    ruled_out: Tuple[str, ...] = ()
    skipped: Tuple[Skipped, ...] = ()
    ignored: Tuple[Identity, ...] = ()  # findings that were left out as was asked for
    baseline: Optional[Accepted] = None
    configuration: str = ""  # the file whose [tool.envdoctor] was obeyed
    facts_digest: str = ""
    matrices_added: Tuple[str, ...] = ()  # folders of users, beside the matrices that ship
    language: str = ENGLISH  # of summaries, reasons and fixes; codes and names are English
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
    "Accepted",
    "Citation",
    "Evidence",
    "Finding",
    "Fix",
    "Identity",
    "MachineSummary",
    "Moved",
    "Report",
    "Skipped",
    "TargetSummary",
    "assumed",
    "at_or_above",
]
