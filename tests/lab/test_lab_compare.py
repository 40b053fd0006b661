"""The comparison of the lab itself: each way to be wrong is told apart."""

from __future__ import annotations

from typing import Dict, List

import pytest
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
