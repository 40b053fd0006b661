"""Findings that are accepted: a file that lists them, and a report without them.

A finding is known if the file holds one of the same code, component, relation and names that was at
least as grave. Neither versions nor words count, so that an upgrade, another language or another
release of envdoctor makes nothing new of it; another missing package or a graver severity does.
"""

from __future__ import annotations

import json
from typing import Iterable, Tuple

import msgspec

from envdoctor.facts.files import FileError, read_text
from envdoctor.model.finding import SEVERITIES, Accepted, Finding, Identity, Report
from envdoctor.model.text import clean
from envdoctor.rules.selection import Selection, identity

SCHEMA_VERSION = 1
_KIND = "envdoctor baseline"
_MAX_TEXT = 5_000_000


class BaselineError(Exception):
    """A baseline cannot be read; the message names the file and what is wrong with it."""


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file holds."""

    kind: str
    schema_version: int
    findings: Tuple[Identity, ...]


def dump(findings: Iterable[Finding]) -> str:
    """The findings as a file; the same findings give the same text."""
    entries = sorted({identity(finding) for finding in findings}, key=_order)
    told = Baseline(_KIND, SCHEMA_VERSION, tuple(entries))
    return json.dumps(msgspec.to_builtins(told), indent=2, ensure_ascii=False) + "\n"


def _order(one: Identity) -> Tuple[str, str, str, Tuple[str, ...], str]:
    return one.code, one.component, one.relation, one.about, one.severity


def load(path: str) -> Baseline:
    """Read a file that `dump` made. Raises BaselineError."""
    try:
        text = read_text(path, _MAX_TEXT)
    except FileError as error:
        raise BaselineError(str(error)) from None
    shown = clean(path)
    try:
        read = msgspec.json.decode(text.encode("utf-8"), type=_Versioned)
        if read.schema_version != SCHEMA_VERSION:
            raise BaselineError(
                f"{shown}: has schema version {read.schema_version}; "
                f"this envdoctor reads {SCHEMA_VERSION}"
            )
        baseline = msgspec.json.decode(text.encode("utf-8"), type=Baseline)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        reason = clean(str(error))
        raise BaselineError(
            f"{shown}: is no baseline of `envdoctor check --write-baseline`: {reason}"
        ) from None
    wrong = [one.severity for one in baseline.findings if one.severity not in SEVERITIES]
    if baseline.kind != _KIND or wrong:
        reason = f"{clean(wrong[0])!r} is no severity" if wrong else f"kind is not {_KIND!r}"
        raise BaselineError(
            f"{shown}: is no baseline of `envdoctor check --write-baseline`: {reason}"
        )
    return baseline


class _Versioned(msgspec.Struct):
    schema_version: int


def accepted(report: Report, baseline: Baseline, file: str, selection: Selection) -> Report:
    """The report without the findings that the baseline holds; which they are is listed.

    What the baseline holds and was not found is said to be gone, where it was looked for: neither
    left out by the selection nor skipped.
    """
    findings = []
    known = []
    for finding in report.findings:
        ours = identity(finding)
        if any(_holds(entry, ours) for entry in baseline.findings):
            known.append(ours)
        else:
            findings.append(finding)
    found = [identity(finding) for finding in report.findings]
    unsettled = {skipped.code for skipped in report.skipped}
    gone = [
        entry
        for entry in baseline.findings
        if not any(_is_alike(entry, one) for one in found)
        and selection.takes(entry.code)
        and entry.code not in unsettled
        and not report.target.unknown
    ]
    summary = Accepted(file, tuple(known), tuple(gone))
    return msgspec.structs.replace(report, findings=tuple(findings), baseline=summary)


def _is_alike(one: Identity, other: Identity) -> bool:
    return (one.code, one.component, one.relation) == (other.code, other.component, other.relation)


def _holds(entry: Identity, finding: Identity) -> bool:
    """Whether an accepted finding is this one, or was more than it."""
    graver = SEVERITIES.index(finding.severity) > SEVERITIES.index(entry.severity)
    return _is_alike(entry, finding) and set(finding.about) <= set(entry.about) and not graver
