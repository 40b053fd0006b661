"""Faults of envdoctor's own in a part of a check: the rest is told, and so is the fault."""

from __future__ import annotations

import sys
from typing import Any, Dict, Set

import pytest
from test_check import facts

from envdoctor.facts import snapshot
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.facts import Observed
from envdoctor.model.finding import Report
from envdoctor.report import text
from envdoctor.report.view import View
from envdoctor.rules.check import check

#: Whose driver is too old: the finding that is to survive.
BROKEN = facts("torch 2.4.1+cu121", "numpy 2.0.0", driver="470.57.02")


def failing(*_: Any, **__: Any) -> Any:
    raise KeyError("no\x1b[31m such thing")


def failures(report: Report) -> Dict[str, str]:
    return {one.code: one.reason for one in report.skipped if one.failed}


def names(report: Report) -> Set[str]:
    return {finding.name for finding in report.findings}


def test_nothing_fails(small_matrices: Knowledge) -> None:
    report = check(BROKEN, small_matrices)
    assert failures(report) == {}
    assert "driver-too-old" in names(report)
    assert "failed" not in text.render(report, BROKEN, 0, View())


def test_a_rule_that_fails(small_matrices: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    import envdoctor.rules.ED203_python_module_missing as rule

    whole = check(BROKEN, small_matrices)
    monkeypatch.setattr(rule, "examine", failing)
    report = check(BROKEN, small_matrices)
    assert list(failures(report)) == ["ED203"]
    assert failures(report)["ED203"].startswith("the rule itself failed: KeyError: ")
    assert names(report) == names(whole) - {"python-module-missing"}
    assert "python-module-missing" not in report.ruled_out


def test_words_that_fail(small_matrices: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    import envdoctor.rules.examination as module

    lacking = facts("torch 2.4.1+cu121")
    monkeypatch.setattr(module, "finding_of", failing)
    monkeypatch.setattr(
        "envdoctor.rules.ED203_python_module_missing.examine", lambda _: [module.Fault("x", ())]
    )
    report = check(lacking, small_matrices)
    assert "ED203" in failures(report)
    assert "driver-too-old" in names(report)


@pytest.mark.parametrize(
    ("place", "code", "is_lost"),
    [
        ("envdoctor.rules.examination.judge", "relations", True),
        ("envdoctor.rules.examination.Examination._broken", "relations", True),
        ("envdoctor.rules.examination.Examination._causes", "relations", True),
        ("envdoctor.rules.examination.fixes", "changes", False),
        ("envdoctor.rules.check.by_cause", "causes", False),
    ],
)
def test_a_part_that_fails(
    small_matrices: Knowledge,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    code: str,
    is_lost: bool,
) -> None:
    monkeypatch.setattr(place, failing)
    report = check(BROKEN, small_matrices)
    assert code in failures(report)
    assert ("driver-too-old" not in names(report)) is is_lost
    assert "driver-too-old" not in report.ruled_out


@pytest.mark.parametrize("view", [View(), View(quiet=True), View(verbose=True)])
def test_what_failed_is_seen(
    small_matrices: Knowledge, monkeypatch: pytest.MonkeyPatch, view: View
) -> None:
    monkeypatch.setattr("envdoctor.rules.ED203_python_module_missing.examine", failing)
    said = text.render(check(BROKEN, small_matrices), BROKEN, 0, view)
    assert "; 1 part of the check failed" in said.splitlines()[0]
    assert "\x1b" not in said
    if not view.quiet:
        told = " ".join(said.split())
        assert "to be reported with a snapshot: ED203 (the rule itself failed: KeyError" in told


@pytest.mark.parametrize("part", ["machine", "tools", "accelerator"])
def test_a_probe_that_fails(
    small_matrices: Knowledge, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(snapshot, f"observe_{part}", failing)
    observed = snapshot.observe(
        sys.executable, None, {"PATH": "/usr/bin:/bin"}, lambda: load().providers
    )
    assert observed.target.known
    for name in ("machine", "tools", "accelerator"):
        record = getattr(observed, name)
        values = [getattr(record, field) for field in record.__struct_fields__]
        reasons = {v.unknown for v in values if isinstance(v, Observed)}
        is_failed = any(r.startswith("the probe itself failed: KeyError") for r in reasons)
        assert is_failed is (name == part)
    report = check(observed, small_matrices)
    assert failures(report)["probe"].startswith(f"{part}: the probe itself failed: KeyError")
    alone = snapshot.observe_machine_alone({"PATH": "/usr/bin:/bin"})
    assert alone.machine.glibc.known is (part != "machine")


def test_a_search_for_the_environment_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envdoctor.facts.target.observe", failing)
    observed = snapshot.observe(
        sys.executable, None, {"PATH": "/usr/bin:/bin"}, lambda: load().providers
    )
    assert observed.target.unknown.startswith("the probe itself failed: KeyError")
    assert observed.machine.glibc.known


def test_every_finding_has_a_command_that_shows_it(small_matrices: Knowledge) -> None:
    report = check(BROKEN, small_matrices)
    assert report.findings
    for finding in report.findings:
        assert finding.verify
    explained = [f for f in report.findings if f.verify == (f"envdoctor explain {f.code}",)]
    assert explained
    said = text.render(report, BROKEN, 0, View())
    assert f"   Look yourself: envdoctor explain {explained[0].code}\n" in said
