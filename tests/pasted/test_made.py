"""Composed reports of many tools, each with its verdict: healthy, or a fault that it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

import pytest
import yaml

from envdoctor.facts.pasted import parse
from envdoctor.knowledge.load import load
from envdoctor.model.finding import Finding
from envdoctor.rules.check import check

CASES: Dict[str, Dict[str, Any]] = {
    name: case
    for path in sorted((Path(__file__).parent / "made").glob("*.yaml"))
    for name, case in yaml.safe_load(path.read_text(encoding="utf-8")).items()
}
HEALTHY = [name for name, case in CASES.items() if case["verdict"] == "healthy"]
FAULTY = [name for name, case in CASES.items() if case["verdict"] == "fault"]


def findings(name: str) -> List[Finding]:
    return list(check(parse(CASES[name]["report"]), load()).findings)


def test_every_report_has_a_verdict() -> None:
    assert sorted([*HEALTHY, *FAULTY]) == sorted(CASES)


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_wrong_with_a_healthy_one(name: str) -> None:
    assert [f for f in findings(name) if f.severity != "info"] == []


@pytest.mark.parametrize("name", FAULTY)
def test_a_visible_fault_is_found_by_its_cause(name: str) -> None:
    fault = CASES[name]["fault"]
    causes = {fault["cause_id"], *fault.get("also_accept", [])}
    found = [f for f in findings(name) if f.name in causes]
    assert found
    # what matters only for a build is told as information as long as none is due
    assert fault.get("only_if_build_due") or any(f.severity != "info" for f in found)
