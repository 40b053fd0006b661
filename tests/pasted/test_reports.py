"""Reports of public issues, each with its verdict: no error on a healthy one, visible faults found.

`verdict` is healthy, fault (the report shows it) or fault-invisible. `component` and `cause_id` say
what is wrong; with `only_if_build_due` the toolkit is wrong only for what has to be compiled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

import pytest
import yaml

from envdoctor.facts.pasted import parse
from envdoctor.knowledge.load import load
from envdoctor.model.finding import Report
from envdoctor.rules.check import check

CASES: Dict[str, Dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "reports").glob("*.yaml"))
}
#: Faults that cannot be told from the report for certain: {report: why}.
UNDECIDED = {
    "flash-attn257-torch230": "flash-attn may have been compiled for this torch",
}


def named(verdict: str) -> List[str]:
    return [name for name, case in CASES.items() if case["verdict"] == verdict]


def checked(name: str) -> Report:
    return check(parse(CASES[name]["report"]), load())


@pytest.mark.parametrize("name", named("healthy"))
def test_nothing_is_wrong_with_a_healthy_one(name: str) -> None:
    grave = [f for f in checked(name).findings if f.severity != "info"]
    assert grave == []


@pytest.mark.parametrize("name", [n for n in named("fault") if n not in UNDECIDED])
def test_a_visible_fault_is_found(name: str) -> None:
    fault = CASES[name]["fault"]
    causes = {fault["cause_id"], *fault.get("also_accept", [])}
    idle = fault.get("only_if_build_due", False)
    component = fault["component"]
    found = [f for f in checked(name).findings if f.name in causes or component in f.component]
    assert found
    assert idle or all(f.severity in ("error", "warning") for f in found)


@pytest.mark.parametrize("name", [n for n in named("fault") if n in UNDECIDED])
def test_what_may_be_otherwise_is_skipped(name: str) -> None:
    report = checked(name)
    assert [f for f in report.findings if f.severity == "error"] == []
    component = CASES[name]["fault"]["component"]
    assert any(component in skipped.reason for skipped in report.skipped)


@pytest.mark.parametrize("name", named("fault-invisible"))
def test_an_invisible_fault_is_not_guessed(name: str) -> None:
    component = CASES[name]["fault"]["component"]
    errors = [f for f in checked(name).findings if f.severity == "error"]
    assert [f for f in errors if component not in f.component] == []
