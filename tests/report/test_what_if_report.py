"""What a change would come to, as people and programs read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict

import jsonschema
import pytest
from msgspec.structs import replace
from rich.cells import cell_len

import envdoctor.report
from envdoctor.model.facts import Facts, Target, TorchFiles, seen
from envdoctor.model.finding import Skipped, TargetSummary
from envdoctor.model.language import say
from envdoctor.model.what_if import TO_COMPILE, Break, FileNeed, Moved, Separate, WhatIf
from envdoctor.report.view import View
from envdoctor.report.what_if import render_json, render_text

GOLDEN = Path(__file__).resolve().parent / "golden"
SCHEMA = Path(envdoctor.report.__file__).resolve().parent / "schemas" / "what-if.json"
SITE = "/home/ann/envs/maptr/lib/python3.8/site-packages"
FACTS = Facts(
    target=seen(
        Target(
            python="/home/ann/envs/maptr/bin/python",
            version="3.8.18",
            prefix="/home/ann/envs/maptr",
            base_prefix="/usr",
            torch=TorchFiles(f"{SITE}/torch", seen("1.9.1+cu111", "torch/version.py")),
        ),
        "VIRTUAL_ENV",
    )
)
MMCV = Break(
    "mmcv-full 1.4.0",
    "mmcv-full/wheel-torch",
    "torch-abi-mismatch",
    "import mmcv.ops will fail: mmcv-full 1.4.0 has no build for torch 2.0.1+cu117",
    "its wheels were compiled for torch 1.9",
    "ED412",
    "error",
    "import",
    "open-mmlab/mmcv docs",
)
VISION = Break(
    "torchvision 0.10.1+cu111",
    "torchvision/torch",
    "torch-torchvision-mismatch",
    "torchvision 0.10.1+cu111 is not built for torch 2.0.1+cu117",
    code="ED302",
    mended=True,
)
OPS = Break(
    "my-ops 0.1",
    "",
    "torch-abi-mismatch",
    "2 files of it would not load",
    "compiled for torch 1.9.1+cu111: the C++ interface of torch 2.0.1+cu117 is another one",
    "ED412",
    mended=True,
)
LIBRARIES = ("libtorch.so", "libc10.so")
RANGE = Break(
    "torch 2.0.1+cu117",
    "",
    "dependency-conflict",
    "torch 2.0.1+cu117 is outside the range of lab 1.0 (torch<2)",
    code="ED204",
    severity="warning",
    phase="install",
)
BASE = WhatIf(
    command="what-if",
    envdoctor_version="0.1.0",
    matrices_date="2026-12-01",
    verdict="harmless",
    asked=("torch==2.0.1",),
    changes=(Moved("torch", "1.9.1+cu111", "2.0.1+cu117"),),
    commands=("/home/ann/envs/maptr/bin/python -m pip install torch==2.0.1",),
    target=TargetSummary("/home/ann/envs/maptr/bin/python", "3.8.18", "/home/ann/envs/maptr"),
)


def compiled(language: str) -> str:
    return say(language, TO_COMPILE, why=OPS.summary)


def answer(name: str, language: str) -> WhatIf:
    """One of each verdict."""
    files = tuple(
        FileNeed(
            f"{SITE}/my_ops/{file}", "my-ops 0.1", ("libtorch.so", "libc10.so"), OPS.why, "torch"
        )
        for file in ("_C.so", "_D.so")
    )
    moves = (
        Moved("torchvision", "0.10.1+cu111", "0.15.2+cu117", VISION.summary),
        Moved("my-ops", "0.1", "0.1", compiled(language)),
        Moved("mmcv", "2.0.0", "2.0.0", "for torch 2.0"),
        Moved("mmcv-full", "1.4.0", "", MMCV.summary),
        Moved("tokenizers", "", "0.19.1", "transformers asks for it"),
    )
    said: Dict[str, WhatIf] = {
        "harmless": BASE,
        "moves": replace(
            BASE,
            verdict="moves",
            breaks=(VISION, OPS, RANGE),
            files=files,
            more_files=3,
            mended=(replace(MMCV, component="timm 0.4.1", summary="timm 0.4.1 needs torch 2"),),
            moves=moves,
            undecided=(Skipped("ED303", "torchaudio 0.9.1: which build it is cannot be told"),),
            assumptions=("torchvision 0.10.1+cu111 is one of the builds that fit",),
        ),
        "apart": replace(
            BASE,
            verdict="apart",
            breaks=(MMCV, VISION),
            moves=moves[:1],
            commands=(),
            separate=Separate(
                True,
                ("nothing known mends mmcv-full 1.4.0", "4 other packages have to move"),
                ("envdoctor resolve torch==2.0.1 --target venv --lock script -o torch-2.0.1.sh",),
            ),
        ),
        "impossible": replace(BASE, verdict="impossible", breaks=(RANGE, MMCV), commands=()),
        "breaks": replace(
            BASE,
            verdict="breaks",
            changes=(Moved("torch", "1.9.1+cu111", ""),),
            breaks=(MMCV,),
            commands=("pip uninstall -y torch",),
        ),
        "risky": replace(BASE, verdict="risky", breaks=(RANGE,)),
        "undecided": replace(
            BASE,
            verdict="undecided",
            undecided=tuple(Skipped("ED111", f"reason {number}") for number in range(5)),
        ),
    }
    told = said[name]
    if name == "impossible":
        install = replace(MMCV, component="torch 2.0.1+cu117", phase="install")
        told = replace(told, breaks=(install,))
    return replace(told, language=language)


NAMES = ("harmless", "moves", "apart", "impossible", "breaks", "risky", "undecided")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_text(name: str, language: str, golden: Callable[[Path, str], None]) -> None:
    view = View(home="/home/ann")
    text = render_text(answer(name, language), FACTS, view)
    suffix = "" if language == "en" else f"_{language}"
    golden(GOLDEN / f"what_if_{name}{suffix}.txt", text)
    prose = [line for line in text.splitlines() if not line.startswith("     ")]
    assert max(map(cell_len, prose)) <= 80


def test_verbose_and_quiet() -> None:
    whole = render_text(answer("moves", "en"), FACTS, View(verbose=True))
    assert "Taken for granted: torchvision 0.10.1+cu111 is one of the builds that fit" in whole
    assert "     torchvision 0.10.1+cu111 is not built for torch 2.0.1+cu117" in whole
    brief = render_text(answer("moves", "en"), FACTS, View(quiet=True))
    assert len(brief.splitlines()) == 1
    every = render_text(answer("undecided", "en"), FACTS, View(verbose=True))
    assert "reason 4" in every


def test_a_machine_is_a_change() -> None:
    told = replace(BASE, changes=(), commands=())
    text = render_text(told, FACTS, View(), "driver=470.57.02")
    assert "Change: driver=470.57.02\n" in text


@pytest.mark.parametrize("name", NAMES)
def test_json(name: str) -> None:
    data: Dict[str, Any] = json.loads(render_json(answer(name, "en")))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(data)
    first = ["schema_version", "command", "envdoctor_version", "matrices_date", "matrices_added"]
    assert list(data)[:7] == [*first, "language", "verdict"]
    assert data["verdict"] == name
    assert data["changes"][0]["from"] == "1.9.1+cu111"


def test_nothing_that_a_terminal_obeys_is_printed() -> None:
    odd = "\x1b[31m[bold]red[/bold]\n"
    hostile = replace(
        BASE,
        verdict="moves",
        changes=(Moved(odd, odd, f"{odd}2"),),
        breaks=(replace(OPS, component=odd, summary=odd, why=odd),),
        files=(FileNeed(odd, odd, (odd,), odd, odd),),
        moves=(Moved(odd, odd, odd, odd),),
        commands=(odd,),
        separate=Separate(True, (odd,), (odd,)),
        undecided=(Skipped("ED111", odd),),
        assumptions=(odd,),
    )
    for view in (View(), View(verbose=True)):
        text = render_text(hostile, FACTS, view, odd.strip())
        assert all(line.isprintable() for line in text.splitlines())
        assert "[bold]red[/bold]" in text
    assert "\x1b" not in render_json(hostile)
