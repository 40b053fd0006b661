"""What the matrices say of builds, as people and programs read it: on small, invented matrices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

import jsonschema
import pytest
from rich.cells import cell_len
from small_machines import bare

import envdoctor.report
from envdoctor.knowledge.load import Knowledge
from envdoctor.relations.assume import assume
from envdoctor.relations.explained import explain
from envdoctor.relations.judge import Relations
from envdoctor.relations.question import world_of
from envdoctor.relations.rows import explain_row
from envdoctor.relations.wanted import read_wanted
from envdoctor.report import explanation as report
from envdoctor.report.sources import Matrices
from envdoctor.report.view import View

GOLDEN = Path(__file__).resolve().parent / "golden"
SCHEMAS = Path(envdoctor.report.__file__).resolve().parent / "schemas"

#: {golden file: what is asked, what is assumed, whether all is asked for}
CASES: Dict[str, Tuple[str, Tuple[str, ...], bool]] = {
    "build": ("torch==1.9.1+cu111", (), False),
    "build_no": ("torch==1.9.1+cu111", ("gpu=h100",), False),
    "builds_verbose": ("torch==2.7.0", (), True),
    "package": ("mmcv-full", (), False),
    "fit": ("mmcv-full==1.4.0 torch==1.9.1", ("python=3.8",), False),
    "misfit": ("mmcv-full==1.4.0 torch==2.4.1", ("python=3.8",), False),
    "source": ("mmcv-full==1.4.6 torch==2.4.1", (), False),
    "untested": ("torch==9.9", (), False),
    "row": ("gpu=rtx5090", (), False),
}


def answered(knowledge: Knowledge, name: str, language: str, form: str) -> str:
    asked, assumed, verbose = CASES[name]
    relations = Relations(knowledge)
    view = View(verbose=verbose)
    if name == "row":
        row = explain_row(asked, bare(), relations)
        if form == "json":
            return report.row_json(row, Matrices(knowledge.date), language)
        return report.row_text(row, Matrices(knowledge.date), view, language)
    world = world_of(assume(bare(), assumed, knowledge), knowledge)
    wanted = [read_wanted(text, knowledge) for text in asked.split()]
    found = explain(wanted, world, relations, language)
    if form == "json":
        return report.packages_json(found, assumed, Matrices(knowledge.date), language)
    return report.packages_text(found, assumed, Matrices(knowledge.date), view, language)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", CASES)
def test_what_people_read(
    known_machines: Knowledge, name: str, language: str, golden: Callable[[Path, str], None]
) -> None:
    text = answered(known_machines, name, language, "text")
    golden(GOLDEN / f"explain_{name}{'_zh' if language == 'zh' else ''}.txt", text)
    long = [line for line in text.splitlines() if cell_len(line) > 80 and "pip install" not in line]
    assert long == []


@pytest.mark.parametrize("name", CASES)
def test_what_programs_read_obeys_the_schema(known_machines: Knowledge, name: str) -> None:
    data: Dict[str, Any] = json.loads(answered(known_machines, name, "en", "json"))
    schema = "explain-row" if name == "row" else "explain-packages"
    shipped = json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)
    assert (data["command"], data["matrices_date"]) == ("explain", "2026-01-01")


def test_programs_are_told_why_and_from_where(known_machines: Knowledge) -> None:
    data = json.loads(answered(known_machines, "misfit", "en", "json"))["packages"]
    assert data["answer"] == "no"
    assert [(t["relation"]["id"], t["enough"], t["patch"]) for t in data["because"]] == [
        ("mmcv-full/wheel-torch", False, ""),
        ("mmcv-full/thc", False, "mmcv-thc"),
    ]
    assert {t["relation"]["source"] for t in data["because"]} == {"invented"}
    beside = {one["package"]: (one["prebuilt"], one["source"]) for one in data["beside"]}
    assert beside == {
        "mmcv-full": ([], [["1.4.6", "1.7.1"]]),
        "torch": ([["1.9.0", "1.10.0"]], []),
    }


def test_everything_stands_in_the_answer_of_a_build(known_machines: Knowledge) -> None:
    data = json.loads(answered(known_machines, "build", "en", "json"))["packages"]
    (subject,) = data["subjects"]
    (build,) = subject["builds"]
    assert build["attributes"]["sass"] == ["7.0", "8.0", "8.6"]
    assert build["install"] == "torch==1.9.1+cu111 -f page"
    assert build["source"]["id"] == "torch/1.9"
    assert [(d["capability"], d["how"]) for d in subject["devices"]] == [
        ("7.0", "native"),
        ("8.0", "native"),
        ("9.0", "none"),
        ("12.0", "none"),
    ]
    assert [(f["driver"], f["kind"]) for f in subject["floors"]] == [("450.80.02", "compiled")]
