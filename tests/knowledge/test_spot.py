"""Spot checks: questions whose answers somebody knows, asked of the matrices.

The rows stand in `spot/`, a file for each kind; docs/matrices.md says how one is added.
"""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple

import msgspec
import pytest

from envdoctor.knowledge.document import Document
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.facts import Facts, seen
from envdoctor.relations.assume import assume
from envdoctor.relations.judge import Relations
from envdoctor.relations.question import ANSWERS, Answer, ask, world_of
from envdoctor.relations.wanted import read_wanted

FOLDER = Path(__file__).parent / "spot"
KINDS = (
    "flash-attn",
    "gpu-architectures",
    "mmcv",
    "numpy-abi",
    "openmmlab",
    "paddle",
    "pyg",
    "torch-cuda-driver",
    "torch-pairs",
    "transformers",
)
LEAST = 10
OTHERS = "..."  # at the end of `because`: these, and perhaps others


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question with its answer, and how somebody knows it."""

    ask: List[str]
    answer: str
    reason: str  # a sentence with the source, of one who looked
    assume: Dict[str, str] = {}
    because: List[str] = []  # of a `no`: relations that are told
    warns: List[str] = []  # of what fits: warnings that no choice of builds avoids


class Case(NamedTuple):
    """A row and where it stands."""

    row: Row
    place: str


def cases(kind: str) -> Iterator[Case]:
    """The rows of a file, with their lines."""
    path = FOLDER / f"{kind}.yaml"
    document = Document(path.name, path.read_text(encoding="utf-8"))
    for index, row in enumerate(document.decode(List[Row])):
        yield Case(row, document.place(index))


PRESENT = sorted(path.stem for path in FOLDER.glob("*.yaml"))
CASES = [case for kind in PRESENT for case in cases(kind)]


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


@pytest.fixture(scope="module")
def relations(knowledge: Knowledge) -> Relations:
    return Relations(knowledge)


def asked(row: Row, knowledge: Knowledge, relations: Relations) -> Answer:
    """The answer on a machine of which nothing is known but what the row assumes."""
    bare = Facts()
    stated = dict(row.assume)
    processor = seen(stated.pop("architecture", "x86_64"), "the row")
    machine = msgspec.structs.replace(bare.machine, architecture=processor)
    settings = [f"{key}={value}" for key, value in stated.items()]
    facts = assume(msgspec.structs.replace(bare, machine=machine), settings, knowledge)
    wanted = [read_wanted(text, knowledge) for text in row.ask]
    return ask(wanted, world_of(facts, knowledge), relations)


@pytest.mark.parametrize("case", CASES, ids=[case.place for case in CASES])
def test_the_matrices_answer_as_those_who_know(
    case: Case, knowledge: Knowledge, relations: Relations
) -> None:
    row = case.row
    answer = asked(row, knowledge, relations)
    told = [reason.bound.relation.id for reason in answer.because]
    assert answer.kind == row.answer, (case.place, told, answer.open)
    if OTHERS in row.because:
        assert set(row.because) - {OTHERS} <= set(told), case.place
    else:
        assert sorted(told) == sorted(row.because), case.place
    warned = {reason.bound.relation.id for reason in answer.warnings}
    assert set(row.warns) <= warned, case.place


@pytest.mark.parametrize("case", CASES, ids=[case.place for case in CASES])
def test_a_row_says_what_it_claims_and_how_that_is_known(case: Case) -> None:
    row = case.row
    assert row.answer in ANSWERS, case.place
    assert len(row.reason.split()) >= 5, f"{case.place}: who knows it, and from where?"
    assert bool(row.because) == (row.answer == "no"), f"{case.place}: because"
    assert not row.warns or row.answer in ("prebuilt", "source"), f"{case.place}: warns"


def test_each_kind_is_a_file() -> None:
    assert tuple(PRESENT) == KINDS


@pytest.mark.parametrize("kind", PRESENT)
def test_each_kind_has_enough_rows_and_no_question_twice(kind: str) -> None:
    rows = [case.row for case in cases(kind)]
    assert len(rows) >= LEAST
    questions = [(tuple(sorted(row.ask)), tuple(sorted(row.assume.items()))) for row in rows]
    assert len(set(questions)) == len(questions)
