"""What logs say, as people and programs read it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple, Optional

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from sample_diagnoses import DIAGNOSES, THC

import envdoctor.report
from envdoctor.model.diagnosis import Cause, Diagnosis, LogRead, ProvingLine
from envdoctor.model.finding import Fix
from envdoctor.report.diagnosis import as_json, as_text
from envdoctor.report.sources import Matrices
from envdoctor.report.view import View

GOLDEN = Path(__file__).resolve().parent / "golden"
SCHEMAS = Path(envdoctor.report.__file__).resolve().parent / "schemas"
MATRICES = Matrices("2026-01-01")


class Case(NamedTuple):
    """Which diagnosis is shown, and how."""

    diagnosis: str
    view: View = View(home="/home/ann")
    is_all: bool = False
    exit_code: Optional[int] = None


#: {golden file: case}
CASES: Dict[str, Case] = {
    "cause": Case("cause"),
    "cause_narrow": Case("cause", View(width=50)),
    "cause_verbose": Case("cause", View(verbose=True, home="/home/ann")),
    "cause_quiet": Case("cause", View(quiet=True)),
    "several": Case("several"),
    "several_all": Case("several", is_all=True),
    "nothing": Case("nothing"),
    "nothing_verbose": Case("nothing", View(verbose=True)),
    "nothing_quiet": Case("nothing", View(quiet=True)),
    "weak": Case("weak"),
    "weak_all": Case("weak", is_all=True),
    "empty": Case("empty"),
    "run": Case("cause", exit_code=1),
    "run_killed": Case("empty", exit_code=137),
    "secrets": Case("secrets", View(verbose=True)),
}


def shown(case: Case, language: str) -> str:
    found = DIAGNOSES[case.diagnosis]
    return as_text(found, MATRICES, case.view, language, case.is_all, case.exit_code)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", CASES)
def test_what_people_read(name: str, language: str, golden: Callable[[Path, str], None]) -> None:
    case = CASES[name]
    text = shown(case, language)
    golden(GOLDEN / f"diagnose_{name}{'_zh' if language == 'zh' else ''}.txt", text)
    copied = re.compile(r" pip install |\S{40}")  # commands and paths are never broken
    long = [line for line in text.splitlines() if cell_len(line) > case.view.width]
    assert case.view.quiet or [line for line in long if not copied.search(line)] == []


@pytest.mark.parametrize("name", DIAGNOSES)
@pytest.mark.parametrize("exit_code", [None, 1])
def test_what_programs_read_obeys_the_schema(name: str, exit_code: Optional[int]) -> None:
    data: Dict[str, Any] = json.loads(as_json(DIAGNOSES[name], MATRICES, "en", exit_code))
    shipped = json.loads((SCHEMAS / "diagnose.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)
    assert data["command"] == ("diagnose" if exit_code is None else "run")
    assert data["exit_code"] == exit_code


def test_programs_find_what_was_promised() -> None:
    data = json.loads(as_json(DIAGNOSES["cause"], MATRICES, "en"))
    assert list(data)[:4] == ["schema_version", "command", "envdoctor_version", "matrices_date"]
    (cause,) = data["causes"]
    assert {"id", "confidence", "summary", "evidence", "fixes", "verify"} <= set(cause)
    assert (cause["id"], cause["code"]) == ("thc-headers-removed", "ED501")
    assert cause["evidence"][1]["line"] == 12
    assert cause["evidence"][1]["text"] == "Collecting torch==1.13.1"
    assert [one["id"] for one in data["candidates"]] == ["gpu-out-of-memory"]
    nothing = json.loads(as_json(DIAGNOSES["nothing"], MATRICES, "en"))
    assert (nothing["causes"], nothing["candidates"]) == ([], [])


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_and_codes_of_terminals_are_nowhere(form: str) -> None:
    case = CASES["secrets"]
    told = shown(case, "en")
    if form == "json":
        told = as_json(DIAGNOSES["secrets"], MATRICES, "en")
    assert "hunter2" not in told
    assert "hf_abcdef" not in told
    assert "AKIAB2" not in told
    assert "eyJhbGci" not in told
    assert [c for c in told if not (c.isprintable() or c == "\n")] == []


@given(
    st.text(), st.integers(0, 10**9), st.lists(st.text(), max_size=3), st.floats(0, 1), st.text()
)
def test_whatever_a_log_holds_can_be_told(
    text: str, line: int, around: Any, confidence: float, name: str
) -> None:
    proof = ProvingLine(line, text, name, text, tuple(around), tuple(around))
    cause = Cause(
        "some-cause", confidence, text, "", text, (proof,), (), text, text, (Fix(text, (text,)),)
    )
    found = Diagnosis((cause,), (cause,), (LogRead(name, line, line, "", text),), (), text)
    for language in ("en", "zh"):
        told = as_text(found, MATRICES, View(verbose=True), language, is_all=True)
        assert [c for c in told if not (c.isprintable() or c == "\n")] == []
    json.loads(as_json(found, MATRICES, "en"))


def test_the_proving_line_is_marked_and_stands_where_it_stood() -> None:
    text = shown(CASES["cause"], "en")
    place = text.splitlines().index("    213")
    assert text.splitlines()[place + 1 : place + 4] == [
        "  > 214  /tmp/pip-install-1x2y/mmcv-full/mmcv/ops/csrc/pytorch/cuda/psamask_cuda.cu:5:10:",
        "         fatal error: THC/THC.h: No such file or directory",
        "    215        5 | #include <THC/THC.h>",
    ]


def test_more_is_told_where_it_is_asked_for() -> None:
    whole = shown(CASES["cause_verbose"], "en")
    assert all(str(proof.line) in whole for proof in THC.evidence)
    assert all(fix.summary[:40] in whole for fix in THC.fixes)
    assert "patched" not in shown(CASES["cause"], "en")
