"""The answer of `repair`: what mends an environment, what that costs, and what became of it."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

from envdoctor.model.facts import Record
from envdoctor.model.finding import SCHEMA_VERSION, Finding, MachineSummary, Moved, TargetSummary
from envdoctor.model.language import ENGLISH
from envdoctor.model.resolution import Criterion

#: What becomes of a plan that is carried out.
APPLIED, ROLLED_BACK = "applied", "rolled back"

#: What a plan costs, the weightiest first.
CHANGES, SOURCE_BUILDS = "changes", "source_builds"

#: Kinds of steps, in the order in which they are done.
REMOVE, UNINSTALL, INSTALL = "remove", "uninstall", "install"


#: What comes, where every version of it will do.
ANY = "*"


class Named(Record, frozen=True, omit_defaults=False):
    """A finding, as a plan speaks of it."""

    code: str
    name: str
    severity: str
    component: str
    summary: str
    verify: Tuple[str, ...] = ()

    @classmethod
    def of(cls, finding: Finding) -> Named:
        """Of a finding its head."""
        return cls(
            finding.code,
            finding.name,
            finding.severity,
            finding.component,
            finding.summary,
            finding.verify,
        )


class Step(Record, frozen=True, omit_defaults=False):
    """A command of a plan, and the findings that it is for."""

    kind: str
    command: str  # for a shell
    arguments: Tuple[str, ...]  # the same, word by word
    mends: Tuple[str, ...]  # "ED304 torch 2.2.2"


class Left(Record, frozen=True, omit_defaults=False):
    """A finding that the plan leaves, why, and what people can do about it."""

    finding: Named
    reason: str
    commands: Tuple[str, ...] = ()


class Apart(Record, frozen=True, omit_defaults=False):
    """Another environment, where one that is to stay as it is cannot be mended."""

    summary: str
    requirements: Tuple[str, ...]
    commands: Tuple[str, ...]
    mends: Tuple[str, ...]


class Outcome(Record, frozen=True, omit_defaults=False):
    """What became of a plan that was to be carried out."""

    status: str  # applied or rolled back
    done: int = 0  # steps that ended well
    reason: str = ""  # why it was rolled back
    output: Tuple[str, ...] = ()  # the last lines of the step that failed
    distributions: Tuple[Moved, ...] = ()  # all that changed; none of what was rolled back
    others: Tuple[str, ...] = ()  # files that something else changed meanwhile
    files: int = 0  # that were compared with the snapshot
    undo: str = ""  # the command that takes it back


class Repair(Record, frozen=True, omit_defaults=False):
    """The smallest set of commands that makes `check` clean."""

    command: str
    envdoctor_version: str
    matrices_date: str
    status: str
    optimal: bool = False  # whether no smaller set of distributions would do, as was proved
    changes: Tuple[Moved, ...] = ()
    steps: Tuple[Step, ...] = ()
    commands: Tuple[str, ...] = ()  # those of the steps
    criteria: Tuple[Criterion, ...] = ()
    mends: Tuple[Named, ...] = ()
    left: Tuple[Left, ...] = ()
    brings: Tuple[Named, ...] = ()  # findings that there are not now, and would be then
    apart: Tuple[Apart, ...] = ()
    verify: Tuple[str, ...] = ()  # how to make sure
    undo: Tuple[str, ...] = ()  # how to take it back
    outcome: Optional[Outcome] = None  # of --apply
    stays: Dict[str, str] = {}  # {package: version} of builds that are never exchanged
    target: TargetSummary = TargetSummary()
    machine: MachineSummary = MachineSummary()
    assumed: Tuple[str, ...] = ()
    configuration: str = ""
    facts_digest: str = ""
    matrices_added: Tuple[str, ...] = ()
    language: str = ENGLISH
    schema_version: int = SCHEMA_VERSION


__all__ = [
    "ANY",
    "APPLIED",
    "CHANGES",
    "INSTALL",
    "REMOVE",
    "ROLLED_BACK",
    "SOURCE_BUILDS",
    "UNINSTALL",
    "Apart",
    "Criterion",
    "Finding",
    "Left",
    "MachineSummary",
    "Moved",
    "Named",
    "Outcome",
    "Repair",
    "Step",
    "TargetSummary",
]
