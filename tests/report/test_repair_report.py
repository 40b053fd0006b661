"""What `repair` shows: the plan and what became of it, in English and Chinese; JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Callable

import jsonschema
import pytest
from sample_reports import MACHINES

import envdoctor.report
from envdoctor.model.language import CHINESE, ENGLISH, LANGUAGES
from envdoctor.model.repair import (
    APPLIED,
    CHANGES,
    INSTALL,
    ROLLED_BACK,
    SOURCE_BUILDS,
    Apart,
    Criterion,
    Left,
    Moved,
    Named,
    Outcome,
    Repair,
    Step,
)
from envdoctor.model.resolution import RELAXED, SOLVED, UNKNOWN
from envdoctor.report.repair import render, render_json, render_outcome
from envdoctor.report.view import View

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = Path(envdoctor.report.__file__).resolve().parent / "schemas" / "repair.json"
FACTS = MACHINES["training"]
PYTHON = "/home/ann/envs/maptr/bin/python"
NUMBA = Named(
    "ED430",
    "numba-numpy-range",
    "error",
    "numba 0.59.1",
    "import numba will fail: numba 0.59.1 checks for NumPy >=1.22,<1.27, installed is numpy 2.1.0",
    (f"{PYTHON} -c 'import numba'",),
)
DRIVER = Named(
    "ED110",
    "driver-too-old",
    "warning",
    "torch 2.4.1+cu121",
    "the driver is older than what torch's GPU code needs",
)
VISION = Named(
    "ED302",
    "torch-torchvision-mismatch",
    "error",
    "torchvision 0.22.0",
    "torchvision 0.22.0 is for torch 2.7, and not for torch 2.3.0a0+6ddf5cf85e.nv24.04",
)
COMMAND = (PYTHON, "-m", "pip", "install", "numpy==1.26.4", "tqdm")
PLAN = Repair(
    command="repair",
    envdoctor_version="0.1.0",
    matrices_date="2026-11-30",
    status=RELAXED,
    changes=(
        Moved("numpy", "2.1.0", "1.26.4", f"ED430 numba 0.59.1: {NUMBA.summary}"),
        Moved("tqdm", "", "*", "ED203 transformers 4.57.6: tqdm is not installed"),
        Moved("opencv-python-headless", "4.8.1.78", "", "ED206 opencv-python 4.9.0.80: both"),
        Moved("six", "1.16.0", "1.16.0", "ED209 six 1.16.0: files are gone"),
    ),
    steps=(Step(INSTALL, " ".join(COMMAND), COMMAND, ("ED430 numba 0.59.1",)),),
    commands=(" ".join(COMMAND),),
    criteria=(Criterion(CHANGES, 4), Criterion(SOURCE_BUILDS, 0)),
    mends=(NUMBA,),
    left=(
        Left(DRIVER, "upgrade the driver, which nothing inside the environment can replace"),
        Left(VISION, "torch 2.3.0a0+6ddf5cf85e.nv24.04 is a vendor's build, and stays"),
    ),
    brings=(
        Named(
            "ED204",
            "dependency-conflict",
            "warning",
            "numpy 1.26.4",
            "numpy 1.26.4 is outside the range of foo 1.0 (numpy>=2)",
        ),
    ),
    apart=(
        Apart(
            "leave this environment as it is, and make one of its own with torch 2.7.0+cu128",
            ("torch==2.7.0+cu128",),
            (f"{PYTHON} -m venv apart", "apart/bin/python -m pip install torch==2.7.0"),
            ("ED302 torchvision 0.22.0",),
        ),
    ),
    verify=(f"envdoctor check --python {PYTHON}", *NUMBA.verify),
    undo=(f"envdoctor repair --rollback --python {PYTHON}",),
)
APPLY = f"envdoctor repair --python {PYTHON} --apply"
GONE = Outcome(
    ROLLED_BACK,
    0,
    reason=f"{PYTHON} -m pip install numpy==1.26.4: exit status 1",
    output=("Collecting numpy==1.26.4", "ERROR: [Errno 28] No space left on device"),
    others=("/home/ann/envs/maptr/lib/python3.8/site-packages/mine.py",),
    files=10_671,
)
DONE = Outcome(
    APPLIED,
    1,
    distributions=(Moved("numpy", "2.1.0", "1.26.4"), Moved("tqdm", "", "4.70.1")),
    undo=f"envdoctor repair --python {PYTHON} --rollback",
)


def named(name: str, language: str) -> Path:
    return GOLDEN / f"repair_{name}{'' if language == ENGLISH else '_zh'}.txt"


def said_in(language: str, plan: Repair = PLAN) -> Repair:
    import msgspec

    return msgspec.structs.replace(plan, language=language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "view"), [("plan", View()), ("verbose", View(verbose=True))])
def test_the_plan(
    name: str, view: View, language: str, golden: Callable[[Path, str], None]
) -> None:
    golden(named(name, language), render(said_in(language), FACTS, 0.4, view, APPLY))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "outcome"), [("rolled_back", GONE), ("applied", DONE)])
def test_what_became_of_it(
    name: str, outcome: Outcome, language: str, golden: Callable[[Path, str], None]
) -> None:
    golden(named(name, language), render_outcome(said_in(language), outcome, View()))


def test_the_commands_alone() -> None:
    text = render(PLAN, FACTS, 0.4, View(quiet=True), APPLY)
    assert text.splitlines()[1:] == ["", f"     {' '.join(COMMAND)}"]


def test_nothing_to_do() -> None:
    nothing = Repair("repair", "0.1.0", "2026-11-30", SOLVED)
    assert render(nothing, FACTS, 0.4, View()).startswith("Nothing to repair")
    unknown = Repair("repair", "0.1.0", "2026-11-30", UNKNOWN)
    assert render(unknown, FACTS, 0.4, View()).startswith("Not examined")


@pytest.mark.parametrize("outcome", [None, DONE, GONE])
def test_programs_get_all_of_it(outcome: object) -> None:
    import msgspec

    text = render_json(msgspec.structs.replace(PLAN, outcome=outcome))
    data = json.loads(text)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert set(data) == set(Repair.__struct_fields__)
    assert data["changes"][0]["from"] == "2.1.0"
    assert (CHINESE in text) is False
