"""`matrix`, as it is called, on the real matrices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest


def shown(envdoctor: Callable[..., Any], snapshot: str, *arguments: str) -> Dict[str, Any]:
    ended = envdoctor("matrix", *arguments, "--facts", snapshot, "--format", "json")
    assert (ended.code, ended.err) == (0, "")
    data: Dict[str, Any] = json.loads(ended.out)
    return data["matrix"]


def test_torch_by_mmcv_full_is_for_the_machine_that_is_named(
    envdoctor: Callable[..., Any], snapshot: str
) -> None:
    found = shown(envdoctor, snapshot, "torch", "mmcv-full")
    assert found["world"]["Python"] == "3.8.18"
    assert found["world"]["driver"] == "535.129.03"
    (grid,) = found["grids"]
    answers = {
        (row["first"], column["first"]): cell["answer"]
        for row, cells in zip(grid["rows"], grid["cells"])
        for column, cell in zip(grid["columns"], cells)
    }
    assert {"prebuilt", "source", "no"} <= set(answers.values())
    assert len(grid["rows"]) < 30
    assert len(grid["columns"]) < 30
    ids = {cited["id"] for refusal in grid["refusals"] for cited in refusal["relations"]}
    assert {"mmcv-full/wheel-torch", "mmcv-full/thc"} <= ids


def test_what_is_assumed_replaces_it(envdoctor: Callable[..., Any], snapshot: str) -> None:
    found = shown(envdoctor, snapshot, "torch", "--assume", "python=3.12")
    assert found["world"]["Python"] == "3.12"
    assert [grid["columns_of"] for grid in found["grids"]] == ["gpu"]
    assert "GPU" not in found["world"]
    assert [g["columns_of"] for g in shown(envdoctor, snapshot, "numpy")["grids"]] == ["python"]


def test_gpus_that_are_named_are_the_columns_and_the_heading_names_them(
    envdoctor: Callable[..., Any], snapshot: str
) -> None:
    found = shown(envdoctor, snapshot, "torch", "gpu", "--gpu", "h100,a100")
    assert found["world"]["GPU"] == "H100, A100"
    columns = found["grids"][0]["columns"]
    assert [(c["first"], c["note"]) for c in columns] == [("8.0", "A100"), ("9.0", "H100")]
    (column,) = shown(envdoctor, snapshot, "torch", "--gpu", "h100")["grids"][0]["columns"]
    assert (column["first"], column["last"]) == ("9.0", "9.0")


def test_several_are_pairs_of_the_first_with_each(
    envdoctor: Callable[..., Any], snapshot: str
) -> None:
    found = shown(envdoctor, snapshot, "torch>=2", "torchvision", "python")
    pairs = [(grid["rows_of"], grid["columns_of"]) for grid in found["grids"]]
    assert pairs == [("torch", "torchvision"), ("torch", "python")]


def test_for_people_and_as_a_page(
    envdoctor: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    ended = envdoctor("matrix", "torch", "mmcv-full", "--facts", snapshot)
    assert ended.code == 0
    assert ended.out.startswith("torch by mmcv-full")
    assert "Why no" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    page = tmp_path / "grid.html"
    ended = envdoctor(
        "matrix", "torch", "mmcv-full", "--facts", snapshot, "--format", "html", "-o", str(page)
    )
    assert (ended.code, ended.out) == (0, "")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    told = envdoctor("matrix", "numpy", "--facts", snapshot, "--lang", "zh").out
    assert told.startswith("numpy 与 Python")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "Missing argument 'PACKAGE...'"),
        (["torhc"], "the matrices have no package 'torhc'; nearest: torch"),
        (["torch", "torch"], "torch is named twice"),
        (["gpu", "torch"], "gpu can only be columns: matrix torch gpu"),
        (["python", "torch"], "python can only be columns: matrix torch python"),
        (["torch==1.9.7", "numpy"], "torch has no release 1.9.7"),
        (["torch", *["numpy"] * 9], "6 grids are as many as can be shown together"),
        (["torch", "--format", "xml"], "xml"),
        (["torch", "--project", "."], "--project"),
    ],
)
def test_wrong_usage(
    envdoctor: Callable[..., Any], snapshot: str, arguments: List[str], problem: str
) -> None:
    ended = envdoctor("matrix", *arguments, "--facts", snapshot)
    assert (ended.code, ended.out) == (2, "")
    assert problem in ended.err
