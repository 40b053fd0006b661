"""Stacks, and why there is none, as people and programs read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Callable, Dict, Tuple

import jsonschema
import msgspec
import pytest
from rich.cells import cell_len
from sample_resolutions import NONE, RELAXED_ON_H100, RESOLUTIONS, SOLVED_AS_PINNED

import envdoctor.report
from envdoctor.model.resolution import Core, Member, Reason, Rejection, Resolution
from envdoctor.report.resolution import ResolutionAnswer, as_json, as_text
from envdoctor.report.view import View

replace = msgspec.structs.replace

GOLDEN = Path(__file__).resolve().parent / "golden"
SCHEMA = Path(envdoctor.report.__file__).resolve().parent / "schemas" / "resolve.json"
NEXT = "envdoctor resolve maptr --gpu h100 --explain"

#: {golden file: resolution, how it is shown, whether all reasons are told}
CASES: Dict[str, Tuple[str, View, bool]] = {
    **{name: (name, View(), False) for name in RESOLUTIONS},
    "relaxed_quiet": ("relaxed", View(quiet=True), False),
    "relaxed_verbose": ("relaxed", View(verbose=True), False),
    "none_explain": ("none", View(), True),
    "relaxed_narrow": ("relaxed", View(width=60), False),
}
#: Those of which more was asked for, and on a narrow screen.
LONGER = ("relaxed_verbose", "relaxed_narrow")


def told(name: str, language: str) -> str:
    resolution, view, explain = CASES[name]
    found = replace(RESOLUTIONS[resolution], language=language)
    return as_text(found, view, explain, NEXT if name == "none" else "")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", CASES)
def test_what_people_read(name: str, language: str, golden: Callable[[Path, str], None]) -> None:
    text = told(name, language)
    golden(GOLDEN / f"resolve_{name}{'_zh' if language == 'zh' else ''}.txt", text)
    assert [
        x for x in text.splitlines() if cell_len(x) > CASES[name][1].width and NEXT not in x
    ] == []


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [name for name in CASES if name not in LONGER])
def test_an_answer_is_no_longer_than_a_page(name: str, language: str) -> None:
    assert told(name, language).count("\n") <= 40


@pytest.mark.parametrize("name", RESOLUTIONS)
def test_what_programs_read_obeys_the_schema(name: str) -> None:
    data = json.loads(as_json(RESOLUTIONS[name]))
    shipped = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)


def test_programs_get_all_of_it() -> None:
    """The interface that other programs use: what `resolve --format json` is said to hold."""
    left_out = {*Resolution.__struct_fields__} - {*ResolutionAnswer.__struct_fields__}
    assert left_out == set()
    data = json.loads(as_json(RELAXED_ON_H100))
    assert (data["schema_version"], data["command"], data["status"]) == (1, "resolve", "relaxed")
    assert data["cores"][0][1] == {
        "id": "pin/torch",
        "kind": "pin",
        "text": "torch ==1.9.1 (cuda 11.1)",
        "source": "docs/install.md:15",
    }
    assert data["relaxed"][1] == {
        "pin": "mmcv-full ==1.4.0",
        "to": "1.7.2",
        "because": ["mmcv-full/thc"],
    }
    assert [one["name"] for one in data["criteria"]] == [
        "dropped_pins",
        "pin_distance",
        "source_patches",
        "changes",
        "source_builds",
        "tested_distance",
        "age",
    ]
    assert data["criteria"][1]["value"] == [0, 4, 3, 2]
    host = json.loads(as_json(RESOLUTIONS["host"]))
    assert host["changes"][0] == {
        "component": "numpy",
        "from": "2.1.0",
        "to": "1.26.4",
        "why": "torch 2.2.2 was compiled with NumPy 1",
    }


def test_reasons_are_sentences_with_their_sources() -> None:
    (first, _) = json.loads(as_json(NONE))["explanations"]
    assert first["words"] == (
        "torch ==1.9.1 (cuda 11.1) [docs/install.md:15] cannot be had with GPU h100 (sm_90) "
        "[--gpu], because torch 1.9.1+cu111 has code up to sm_86 and no PTX [torch/code, measured]."
    )
    assert [one["builds"] for one in first["folded"]] == [3, 1]


FACT, PIN, OTHER = (
    Reason(k, k, text, "x") for k, text in (("fact", "F"), ("pin", "P"), ("pin", "Q"))
)
R, S, T = (Reason(name, "relation", name, "") for name in "RST")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ((FACT, PIN, R), "P [x] cannot be had with F [x], because R [R]."),
        ((FACT, PIN, R, S), "P [x] cannot be had with F [x], because R [R], and because S [S]."),
        (
            (PIN, OTHER, R, S, T),
            "P [x] and Q [x] exclude each other, because R [R], because S [S], and because T [T].",
        ),
        ((PIN, OTHER), "P [x] and Q [x] exclude each other."),
        ((PIN, R), "P [x] cannot be had, because R [R]."),
        ((FACT, R), "nothing can be had with F [x], because R [R]."),
    ],
)
def test_a_core_is_a_sentence(members: Tuple[Reason, ...], words: str) -> None:
    (found,) = json.loads(as_json(replace(NONE, cores=(Core(members),))))["explanations"]
    assert found["words"] == words


def test_what_rejects_builds_is_the_reason_where_no_relation_is_named() -> None:
    folded = (Rejection("torch", "torch/code", 9, "no code for sm_90"),)
    (found,) = json.loads(as_json(replace(NONE, cores=(Core((PIN,), folded=folded),))))[
        "explanations"
    ]
    assert found["words"] == (
        "P [x] cannot be had, because 9 builds of torch: no code for sm_90 [torch/code]."
    )


def test_a_search_that_ended_early_is_told() -> None:
    text = as_text(replace(NONE, status="unknown", reason=""), View())
    assert text.startswith("It could not be found out: the search was ended at its limit.")


def test_words_that_are_given_are_told_where_members_are_not() -> None:
    core = Core((), words="It is raining [weather].")
    text = as_text(replace(NONE, cores=(core,)), View())
    assert "  It is raining [weather]." in text.splitlines()


def test_what_strangers_wrote_is_no_control() -> None:
    hostile = "a\x1b[2Jb\r\n\x00\u202e"
    reason = Reason(hostile, "pin", hostile, hostile)
    member = Member(hostile, hostile, url=f"https://{hostile}", patches=(hostile,))
    found = replace(
        SOLVED_AS_PINNED,
        asked=(hostile,),
        machine=(hostile,),
        stack=(member,),
        cores=(Core((reason,)),),
        rest=(hostile,),
        notes=(hostile,),
        reason=hostile,
    )
    for text in (as_text(found, View(verbose=True), True, hostile), as_json(found)):
        assert [c for c in text if not (c.isprintable() or c == "\n")] == []


@pytest.mark.parametrize("name", ["relaxed", "none"])
def test_what_else_would_do_and_what_plays_no_part(name: str) -> None:
    text = told(name, "en")
    assert "runs the authors' stack unchanged" in text
    assert ("no part" in text) == bool(RESOLUTIONS[name].idle)
