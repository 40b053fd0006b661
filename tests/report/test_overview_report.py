"""The first minute: fifteen lines of eighty columns, whatever the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import msgspec
import pytest
from rich.cells import cell_len
from sample_reports import ABI, MACHINES, NUMPY, TRAINING, report

from envdoctor.model.facts import NOT_SAID, Accelerator, Gpu, Target, Tools, seen, unseen
from envdoctor.report.overview import render
from envdoctor.report.view import View

GOLDEN = Path(__file__).resolve().parent / "golden"
HOME = View(home="/home/ann")
NEXT = ("envdoctor check", "the evidence and the smallest change")
STACK = "envdoctor resolve MODEL"
MODELS = [("maptr", "new env"), ("sparsedrive", "ready"), ("qcnet", "not as pinned")]

replace = msgspec.structs.replace


@pytest.mark.parametrize("name", MACHINES)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    said = report(NUMPY, ABI) if name == "training" else report()
    golden(GOLDEN / f"overview_{name}.txt", render(said, MACHINES[name], MODELS, NEXT, HOME, STACK))


@pytest.mark.parametrize("name", MACHINES)
def test_golden_in_chinese(name: str, golden: Callable[[Path, str], None]) -> None:
    said = report(NUMPY, ABI) if name == "training" else report(skipped=1)
    told = render(replace(said, language="zh"), MACHINES[name], MODELS, NEXT, HOME, STACK)
    golden(GOLDEN / f"overview_{name}_zh.txt", told)
    assert len(told.splitlines()) <= 15
    assert max(map(cell_len, told.splitlines())) <= 80


@pytest.mark.parametrize("name", MACHINES)
def test_fits_on_a_small_terminal(name: str) -> None:
    lines = render(report(NUMPY, ABI), MACHINES[name], MODELS, NEXT, HOME, STACK).splitlines()
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 80


def test_long_answers_are_cut() -> None:
    gpus = tuple(
        Gpu(f"Some Vendor's Accelerator Number {n} With a Long Name", "9.0") for n in "1234567"
    )
    target = Target(python="/x" * 60, prefix="/a/long/prefix" * 12, version="3.8.18")
    facts = replace(
        TRAINING,
        accelerator=Accelerator(gpus=seen(gpus, "NVML"), driver=unseen("a reason " * 40)),
        target=seen(target, "--python"),
    )
    finding = replace(ABI, summary="long words " * 40)
    lines = render(report(finding), facts, MODELS * 9, NEXT, HOME, STACK).splitlines()
    assert len(lines) <= 15


def test_the_next_command_is_never_cut() -> None:
    told = render(report(), TRAINING, MODELS, NEXT, HOME, STACK)
    assert f"Stack    {STACK}   what to install for one of them, and why" in told.splitlines()
    command = "envdoctor check --python " + "/a/long/prefix" * 12 + "/bin/python"
    lines = render(report(), TRAINING, [], (command, "why"), HOME).splitlines()
    assert "Next     " + command in lines


def test_what_nobody_looked_for_is_not_called_absent() -> None:
    silent = unseen(NOT_SAID)
    facts = replace(TRAINING, tools=Tools(toolkit=silent, compiler=silent))
    assert "Compile  unknown: the report does not say" in render(report(), facts, [], NEXT, HOME)
    facts = replace(TRAINING, tools=Tools(toolkit=unseen("no nvcc on PATH"), compiler=silent))
    assert "Compile  no nvcc: wheels install" in render(report(), facts, [], NEXT, HOME)
