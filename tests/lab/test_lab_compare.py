"""The comparison of the lab itself: each way to be wrong is told apart."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Dict, List

import pytest
import test_lab_real
import test_lab_small
import test_lab_torch
from case import WORKS, Bench, Case, Lab
from compare import Finding, differences
from outcome import agrees

FAILS = "ImportError: /env/ops.so: undefined symbol: _ZN3c105Error"


def nothing(bench: Bench) -> Lab:
    raise NotImplementedError


def a_case(outcome: str = FAILS, undecided: bool = False, **blame: str) -> Case:
    return Case("a case", nothing, {"import ops": outcome}, blame, undecided=undecided)


def a_finding(name: str, severity: str = "error", component: str = "ops 1.0") -> Finding:
    summary = f"loading {component} will fail"
    return {
        "name": name,
        "severity": severity,
        "component": component,
        "summary": summary,
        "evidence": [],
    }


BROKEN = a_case(ops="other-torch")
RIGHT = a_finding("torch-abi-mismatch")


@pytest.mark.parametrize(
    ("case", "now", "findings", "said"),
    [
        (BROKEN, FAILS, [RIGHT], []),
        (BROKEN, FAILS, [], ["missed: ops (other-torch)"]),
        (BROKEN, FAILS, [a_finding("cxx11-abi-mismatch")], ["wrong blame: ops (other-torch)"]),
        (BROKEN, FAILS, [a_finding("torch-abi-mismatch", "warning")], ["only warnings"]),
        (
            BROKEN,
            FAILS,
            [RIGHT, a_finding("dependency-conflict", "warning", "pandas 2.0")],
            ["false alarm: warning dependency-conflict of pandas 2.0"],
        ),
        (
            BROKEN,
            FAILS,
            [a_finding("torch-abi-mismatch", component="boxes 1.0")],
            ["missed: ops", "false alarm: error torch-abi-mismatch of boxes 1.0"],
        ),
        (a_case(ops="other-abi or other-torch"), FAILS, [RIGHT], []),
        (a_case(WORKS), WORKS, [], []),
        (a_case(WORKS), WORKS, [RIGHT], ["false alarm: error torch-abi-mismatch"]),
        (a_case(WORKS), FAILS, [], ["recorded otherwise: import ops: works", "recorded otherwise"]),
        (BROKEN, WORKS, [RIGHT], ["recorded otherwise: import ops", "recorded otherwise"]),
        (a_case(undecided=True, ops="other-torch"), FAILS, [RIGHT], ["an error, though"]),
        (
            a_case(undecided=True, ops="other-torch"),
            FAILS,
            [a_finding("torch-abi-mismatch", "warning")],
            [],
        ),
    ],
)
def test_each_difference_is_told_apart(
    case: Case, now: str, findings: List[Finding], said: List[str]
) -> None:
    outcomes: Dict[str, str] = {"import ops": now}
    found = differences(case, outcomes, findings)
    assert len(found) == len(said), found
    assert all(one.startswith(start) for one, start in zip(found, said)), found


@pytest.mark.parametrize("module", [test_lab_small, test_lab_torch, test_lab_real])
def test_the_readme_lists_every_environment_and_what_is_to_blame(module: ModuleType) -> None:
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    table = text.partition(f"| `{module.__name__}.py`, environment |")[2].partition("\n\n")[0]
    rows = [f"| {case.title} | {_to_blame(case)} |" for case in module.CASES]
    assert table.splitlines()[2:] == rows, "\n".join(rows)


def _to_blame(case: Case) -> str:
    words = "; ".join(dict.fromkeys(case.blame.values())) or "-"
    return f"{words} (undecided)" if case.undecided else words


@pytest.mark.parametrize(
    ("recorded", "is_so"),
    [
        ("ImportError: undefined symbol", True),
        ("ImportError: ops.so ... _ZN3c105Error", True),
        ("ImportError: _ZN3c105Error ... ops.so", False),
        ("OSError: undefined symbol", False),
        (WORKS, False),
    ],
)
def test_an_outcome_is_as_recorded_by_its_class_and_parts_of_its_text(
    recorded: str, is_so: bool
) -> None:
    assert agrees(FAILS, recorded) is is_so
