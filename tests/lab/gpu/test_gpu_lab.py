"""The laboratory's judgement, and what was recorded on machines with GPUs, predicted again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, Optional, Tuple

import pytest

sys.path.append(str(Path(__file__).parent))

from gpu_cases import CASES, EXTENSIONS
from gpu_lab import agrees

from envdoctor.model.facts import CodeGroup, GpuCode
from envdoctor.model.versions import parse
from envdoctor.relations.gpu_code import read_code

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("outcome", "runs", "findings", "right"),
    [
        ("runs", True, [], True),
        ("runs", True, None, True),
        ("fails", False, [["ED112"]], True),
        ("part", None, [], True),
        ("part", True, [], True),
        ("runs", None, [], True),
        ("fails", True, [], False),
        ("fails", None, [], False),
        ("fails", False, [], False),
        ("runs", False, [["ED112"]], False),
        ("runs", True, [["ED112"]], False),
        ("part", False, [], False),
    ],
)
def test_what_agrees(
    outcome: str, runs: Optional[bool], findings: Optional[object], right: bool
) -> None:
    told: Dict[str, Any] = {"outcome": outcome, "predicted": {"runs": runs}}
    if findings is not None:
        told["checked"] = {"findings": findings}
    assert agrees(told) is right


def test_where_nothing_was_predicted() -> None:
    assert agrees({"outcome": "fails", "predicted": {"problem": "no GPU code"}}) is None


def recorded() -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    for path in sorted((HERE / "recorded").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for case, told in data["cases"].items():
            yield f"{path.stem}: {case}", data["machine"]["capability"], told


def test_what_was_recorded_is_predicted() -> None:
    for name, capability, told in recorded():
        groups = told.get("predicted", {}).get("groups", ())
        code = GpuCode(groups=tuple(CodeGroup(tuple(s), tuple(p), n) for s, p, n in groups))
        if groups and told["outcome"] == "runs":
            assert read_code(code).runs_on(parse(capability)) is not False, name
        elif groups and told["outcome"] == "fails" and not told["predicted"]["ptx_version"]:
            assert read_code(code).runs_on(parse(capability)) is False, name


def test_names_are_those_of_one_case() -> None:
    assert not set(CASES) & set(EXTENSIONS)
