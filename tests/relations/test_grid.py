"""Grids: the same answers as of each pair alone, folded without losing any."""

from __future__ import annotations

from typing import Dict, List, Set, Tuple

import pytest
from test_question import world

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.grid import Grid, Line
from envdoctor.model.versions import parse
from envdoctor.relations.grid import default_axis, described, grid
from envdoctor.relations.judge import Relations
from envdoctor.relations.question import ask
from envdoctor.relations.wanted import WantedError, read_wanted


def made(knowledge: Knowledge, rows: str, columns: str, *settings: str) -> Grid:
    relations = Relations(knowledge)
    return grid(read_wanted(rows, knowledge), columns, world(knowledge, *settings), relations)


def between(line: Line, knowledge: Knowledge, name: str) -> List[str]:
    """The releases that a line stands for."""
    first, last = parse(line.first), parse(line.last)
    return [str(v) for v in knowledge.packages[name].releases if first <= v <= last]


def told(found: Grid) -> Dict[Tuple[str, str], str]:
    """{(row, column): answer} of a grid, as it is folded."""

    def name(line: Line) -> str:
        run = line.first if line.first == line.last else f"{line.first}-{line.last}"
        return " ".join([run, *line.cuda])

    return {
        (name(row), name(column)): cell.answer
        for row, cells in zip(found.rows, found.cells)
        for column, cell in zip(found.columns, cells)
    }


def test_alike_neighbours_are_one_and_cuda_is_told_where_it_matters(
    small_matrices: Knowledge,
) -> None:
    assert told(made(small_matrices, "torch", "mmcv-full")) == {
        ("1.9.0-1.9.1", "1.4.0"): "prebuilt",
        ("1.9.0-1.9.1", "1.4.6-1.7.1"): "source",
        ("1.10.0 10.2", "1.4.0"): "source",
        ("1.10.0 10.2", "1.4.6-1.7.1"): "source",
        ("1.10.0 11.1", "1.4.0"): "prebuilt",
        ("1.10.0 11.1", "1.4.6-1.7.1"): "source",
        ("2.4.1-2.7.0", "1.4.0"): "no",
        ("2.4.1-2.7.0", "1.4.6-1.7.1"): "source",
    }


def test_rows_of_what_others_do_not_read_the_cuda_of_are_not_split(
    small_matrices: Knowledge,
) -> None:
    assert told(made(small_matrices, "mmcv-full", "torch")) == {
        ("1.4.0", "1.9.0-1.10.0"): "prebuilt",
        ("1.4.0", "2.4.1-2.7.0"): "no",
        ("1.4.6-1.7.1", "1.9.0-1.10.0"): "source",
        ("1.4.6-1.7.1", "2.4.1-2.7.0"): "source",
    }


@pytest.mark.parametrize(
    ("rows", "columns"), [("mmcv-full>=1.4", "torch>=1.10,<2.2"), ("mmdet>=3", "mmcv>=2")]
)
def test_each_cell_is_what_the_pair_alone_answers(rows: str, columns: str) -> None:
    knowledge = load()
    relations = Relations(knowledge)
    there = world(knowledge, "python=3.8", "gpu=a100", "driver=535.129.03")
    found = made(knowledge, rows, columns, "python=3.8", "gpu=a100", "driver=535.129.03")
    first, second = (read_wanted(text, knowledge).name for text in (rows, columns))
    assert all(not line.cuda for line in found.rows)
    for row, cells in zip(found.rows, found.cells):
        for column, cell in zip(found.columns, cells):
            for one in between(row, knowledge, first)[:2]:
                for other in between(column, knowledge, second)[:2]:
                    wanted = [f"{first}=={one}", f"{second}=={other}"]
                    asked = [read_wanted(text, knowledge) for text in wanted]
                    answer = ask(asked, there, relations)
                    assert (answer.kind, wanted) == (cell.answer, wanted)
                    warned = {reason.bound.relation.id for reason in answer.warnings}
                    assert warned == set(cell.warnings)


def test_reasons_of_all_that_is_no_are_counted(small_matrices: Knowledge) -> None:
    (refusal,) = made(small_matrices, "torch", "mmcv-full").refusals
    assert [cited.id for cited in refusal.relations] == ["mmcv-full/wheel-torch", "mmcv-full/thc"]
    assert refusal.of == ("mmcv-full", "mmcv-full")
    assert refusal.cells == 2  # torch 2.4.1 and 2.7.0 with mmcv-full 1.4.0
    assert refusal.why == ("its wheels are for torch 1.9 and 1.10", "its sources stop at THC/THC.h")


def test_releases_against_gpus_and_interpreters() -> None:
    knowledge = load()
    old = "torch>=1.9,<1.11"
    gpus = made(knowledge, old, "gpu", "python=3.8")
    assert answers_at("9.0", gpus) == {"no"}
    assert answers_at("8.6", gpus) == {"no", "prebuilt"}  # for CUDA 10.2 and for 11.1
    assert any("H100" in column.note for column in gpus.columns)
    pythons = made(knowledge, old, "python")
    assert answers_at("3.8", pythons) == {"prebuilt"}
    assert answers_at("3.12", pythons) == {"no"}


def answers_at(value: str, found: Grid) -> Set[str]:
    """The answers of the column that holds a value."""
    wanted = parse(value)
    for number, column in enumerate(found.columns):
        if parse(column.first) <= wanted <= parse(column.last):
            return {cells[number].answer for cells in found.cells}
    return set()


def test_what_one_package_alone_is_shown_against() -> None:
    relations = Relations(load())
    assert default_axis("torch", relations) == "gpu"
    assert default_axis("numpy", relations) == "python"


def test_what_is_not_known_of_the_machine_is_left_out(small_matrices: Knowledge) -> None:
    assert described(world(small_matrices)) == {"processor": "x86_64"}
    known = world(small_matrices, "python=3.8", "gpu=sm_80")
    assert described(known) == {"GPU": "sm_80", "Python": "3.8", "processor": "x86_64"}
    assert described(known, ["gpu", "torch"]) == {"Python": "3.8", "processor": "x86_64"}


@pytest.mark.parametrize("columns", ["torch", "torhc", "torch==", "torch==1.9.7"])
def test_what_cannot_be_shown(columns: str) -> None:
    with pytest.raises(WantedError):
        made(load(), "torch", columns)
