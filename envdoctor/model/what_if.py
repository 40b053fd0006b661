"""What a change would come to: the answer of `what-if`."""

from __future__ import annotations

from typing import Tuple

from envdoctor.model.facts import Record
from envdoctor.model.finding import MachineSummary, Skipped, TargetSummary
from envdoctor.model.language import ENGLISH
from envdoctor.model.resolution import Moved

HARMLESS = "harmless"  #: nothing breaks
UNDECIDED = "undecided"  #: nothing is known to break, but not all is known
RISKY = "risky"  #: nothing breaks for certain, something may
MOVES = "moves"  #: something breaks, and other packages that move as well mend it
BREAKS = "breaks"  #: something breaks that nothing known mends
APART = "apart"  #: a separate environment is safer
IMPOSSIBLE = "impossible"  #: what is asked for cannot be installed here
VERDICTS = (HARMLESS, UNDECIDED, RISKY, MOVES, BREAKS, APART, IMPOSSIBLE)

#: How the reason of a move begins that is a compilation.
TO_COMPILE = "to be compiled again: {why}"


class Break(Record, frozen=True, omit_defaults=False):
    """What would no longer hold, or would hold again."""

    component: str  # "mmcv 2.1.0"
    relation: str  # id in the matrices, empty where a rule or a file says it
    finding: str  # name, "torch-abi-mismatch"
    summary: str
    why: str = ""
    code: str = ""  # "ED402"
    severity: str = "error"
    phase: str = "run"
    source: str = ""  # of the relation
    mended: bool = False  # whether one of the moves mends it


class FileNeed(Record, frozen=True, omit_defaults=False):
    """An installed file that is linked to what goes away."""

    path: str
    distribution: str  # "mmcv 2.1.0"; empty of a file that belongs to none
    needs: Tuple[str, ...]  # the libraries, "libtorch.so"
    why: str
    of: str = ""  # canonical name of the distribution that has them


class Separate(Record, frozen=True, omit_defaults=False):
    """Whether an environment of its own is safer, and why."""

    advised: bool = False
    reasons: Tuple[str, ...] = ()
    commands: Tuple[str, ...] = ()


class WhatIf(Record, frozen=True, omit_defaults=False):
    """The answer of `what-if`."""

    command: str
    envdoctor_version: str
    matrices_date: str
    verdict: str
    asked: Tuple[str, ...] = ()  # as it was typed
    changes: Tuple[Moved, ...] = ()  # what is asked for, in place of what is there
    breaks: Tuple[Break, ...] = ()
    files: Tuple[FileNeed, ...] = ()
    more_files: int = 0  # beside those in `files`
    mended: Tuple[Break, ...] = ()  # what is broken now and would not be
    moves: Tuple[Moved, ...] = ()  # what must move as well
    commands: Tuple[str, ...] = ()  # of the change with its moves
    separate: Separate = Separate()
    undecided: Tuple[Skipped, ...] = ()  # what could not be told, because of the change
    assumptions: Tuple[str, ...] = ()  # what is not known and was taken for granted
    target: TargetSummary = TargetSummary()
    machine: MachineSummary = MachineSummary()
    language: str = ENGLISH
    matrices_added: Tuple[str, ...] = ()
    schema_version: int = 1

    @property
    def breaks_for_good(self) -> bool:
        """Whether something breaks for certain that no move mends."""
        return any(one.severity == "error" and not one.mended for one in self.breaks)


__all__ = [
    "APART",
    "BREAKS",
    "HARMLESS",
    "IMPOSSIBLE",
    "MOVES",
    "RISKY",
    "TO_COMPILE",
    "UNDECIDED",
    "VERDICTS",
    "Break",
    "FileNeed",
    "Moved",
    "Separate",
    "WhatIf",
]
