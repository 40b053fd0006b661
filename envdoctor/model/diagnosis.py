"""What logs of a failure say: its causes, the lines that prove them, and what mends them."""

from __future__ import annotations

from typing import Tuple

from envdoctor.model.facts import Record
from envdoctor.model.finding import Fix

#: From this confidence on a cause is told; what is weaker is a candidate.
SURE = 0.5


class ProvingLine(Record, frozen=True, omit_defaults=False):
    """A line that proves a cause, as it stands in its log, with what stands around it.

    Texts are a stranger's: whoever tells them cleans and masks them.
    """

    line: int  # from 1, as editors count
    text: str
    log: str = ""  # the log's name; "" where there is one log only
    source: str = ""  # who printed it: "rank 3", a container; "" where nothing tells
    before: Tuple[str, ...] = ()  # lines just before it
    after: Tuple[str, ...] = ()  # lines just after it


class LineRange(Record, frozen=True, omit_defaults=False):
    """Lines of one log, the first and the last."""

    first: int
    last: int
    log: str = ""


class Cause(Record, frozen=True, omit_defaults=False):
    """One cause that explains what logs say."""

    id: str  # of its file in `matrices/failures`: "thc-headers-removed"
    confidence: float  # how often such a judgement is right, 0 to 1
    summary: str  # a clause, in the language of the diagnosis
    code: str = ""  # of the page of the same name, "ED501"; "" if there is none
    why: str = ""
    evidence: Tuple[ProvingLine, ...] = ()  # the most telling line first
    consequences: Tuple[LineRange, ...] = ()  # errors that it entails
    component: str = ""  # whose fault it is, "mmcv-full 1.4.0"; "" where that is nobody's
    source: str = ""  # who failed of it first: "rank 3"
    fixes: Tuple[Fix, ...] = ()  # the best one first
    verify: Tuple[str, ...] = ()  # commands that show whether it is mended


class LogRead(Record, frozen=True, omit_defaults=False):
    """What was read of a log."""

    name: str  # the path that was given; "-" for standard input
    lines: int
    bytes: int
    encoding: str = ""
    cut: str = ""  # how many lines were left out or shortened; "" if none


class Stated(Record, frozen=True, omit_defaults=False):
    """A version that a log states."""

    component: str  # "torch", "build.toolkit"
    version: str
    line: int = 0
    log: str = ""


class Diagnosis(Record, frozen=True, omit_defaults=False):
    """What the logs of one job say, all together."""

    causes: Tuple[Cause, ...] = ()  # best first, of confidence `SURE` and more
    candidates: Tuple[Cause, ...] = ()  # best first, weaker ones
    logs: Tuple[LogRead, ...] = ()
    stated: Tuple[Stated, ...] = ()
    # what fixes were computed from beside the logs: a path, "this machine"; "" for logs alone
    facts_from: str = ""
    errors: int = 0  # lines that tell of a failure, explained or not
    unexplained: Tuple[ProvingLine, ...] = ()  # without a cause: the first of these lines


__all__ = [
    "SURE",
    "Cause",
    "Diagnosis",
    "LineRange",
    "LogRead",
    "ProvingLine",
    "Stated",
]
