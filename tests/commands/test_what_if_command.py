"""`what-if`, as it is called, on the real matrices."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

import pytest

FIXTURES = Path(__file__).resolve().parent.parent / "acceptance" / "fixtures"
SLURM = ("--facts", str(FIXTURES / "slurm-module.json"))
NGC = ("--facts", str(FIXTURES / "ngc.json"))


def asked(envdoctor: Callable[..., Any], *arguments: str) -> Tuple[int, Dict[str, Any]]:
    ended = envdoctor("what-if", *arguments, "--format", "json")
    assert ended.err == ""
    data: Dict[str, Any] = json.loads(ended.out)
    return ended.code, data


def test_moves_mend_it(envdoctor: Callable[..., Any]) -> None:
    code, data = asked(envdoctor, "torch==2.1.0", "torchvision==0.16.0", *SLURM)
    assert (code, data["verdict"], data["command"]) == (0, "moves", "what-if")
    assert data["asked"] == ["torch==2.1.0", "torchvision==0.16.0"]
    assert [one["component"] for one in data["moves"]] == ["mmcv"]
    assert [one["relation"] for one in data["breaks"]] == ["mmcv/wheel-cuda"]
    text = envdoctor("what-if", "torch==2.1.0", "torchvision==0.16.0", *SLURM)
    assert text.code == 0
    assert text.out.startswith("It breaks mmcv 2.1.0; what else must move mends that\n")


def test_something_breaks(envdoctor: Callable[..., Any]) -> None:
    code, data = asked(envdoctor, "torch==1.9.1+cu111", *NGC)
    assert (code, data["verdict"]) == (1, "impossible")
    ended = envdoctor("what-if", "torch==1.9.1+cu111", *NGC)
    assert ended.code == 1
    first, *_ = ended.out.splitlines()
    assert first.startswith("It cannot be installed here: torch 1.9.1+cu111 has no wheel for")


def test_a_minus_removes(envdoctor: Callable[..., Any]) -> None:
    for given in (["-torch"], ["--remove", "torch"], ["--remove=torch"]):
        code, data = asked(envdoctor, *given, *SLURM)
        assert (code, data["asked"]) == (1, ["-torch"])
    _, both = asked(envdoctor, "numpy==1.24.4", "-opencv-python", *SLURM, "-v")
    assert both["asked"] == ["numpy==1.24.4", "-opencv-python"]


def test_the_machine_changes(envdoctor: Callable[..., Any]) -> None:
    code, data = asked(envdoctor, "--driver", "450.36.06", *SLURM)
    assert (code, data["verdict"]) == (1, "breaks")
    assert data["machine"]["driver"] == "450.36.06"
    ended = envdoctor("what-if", "--driver", "450.36.06", *SLURM)
    assert "Change: driver=450.36.06\n" in ended.out


def test_what_the_variable_assumes_is_the_machine_as_it_is(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVDOCTOR_ASSUME", "driver=450.36.06")
    _, same = asked(envdoctor, "--gpu", "a100", *SLURM)
    assert same["breaks"] == []  # that driver is what there is
    _, newer = asked(envdoctor, "--driver", "535.129.03", *SLURM)
    assert {one["finding"] for one in newer["mended"]} == {"driver-too-old"}


def test_a_file_and_chinese_and_the_verdict_alone(
    envdoctor: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "answer.txt"
    ended = envdoctor("what-if", "torch==2.1.0", *SLURM, "-o", str(file), "--lang", "zh", "-q")
    assert (ended.code, ended.out) == (0, "")
    (line,) = file.read_text(encoding="utf-8").splitlines()
    assert line.startswith("会弄坏 ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "nothing is asked: name a requirement"),
        (["trch==1.0"], "nearest: torch"),
        (["torch==1.9.7"], "nearest: 1.9.0, 1.9.1, 1.10.0, 1.10.1"),
        (["-trch"], "'trch' is not installed here; nearest: torch"),
        (["torch==2.0.1", "-torch"], "torch is named twice"),
        (["--assume", "python=3.12"], "the Python of an environment is not exchanged"),
        (["--driver", "x"], "driver=x: a version is expected"),
        ([f"numpy=={number}" for number in range(30)], "20 changes are as many"),
        (["torch==1.0; import os"], "is no version"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_usage(envdoctor: Callable[..., Any], arguments: Any, told: str) -> None:
    ended = envdoctor("what-if", *arguments, *SLURM)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    chinese = envdoctor("what-if", *arguments, *SLURM, "--lang", "zh")
    assert chinese.code == 2
    assert told.partition(";")[0] not in chinese.err or "nearest" in told or "twice" in told


def test_nothing_to_examine(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    empty = tmp_path / "facts.json"
    empty.write_text('{"schema_version": 1}', encoding="utf-8")
    ended = envdoctor("what-if", "numpy==2.0", "--facts", str(empty))
    assert (ended.code, ended.out) == (3, "")
    assert "there is no Python environment to examine" in ended.err
    assert envdoctor("what-if", "numpy==2.0", "--facts", str(tmp_path / "no.json")).code == 3


def test_this_environment(envdoctor: Callable[..., Any]) -> None:
    """The one that runs the tests, whose binaries are read; packaging is of Python alone."""
    code, data = asked(envdoctor, "-packaging", "--python", sys.executable)
    assert code in (0, 1)
    named = " ".join(one["summary"] for one in data["breaks"])
    assert "packaging is not installed; " in named  # pytest and envdoctor itself require it
    assert data["changes"][0]["component"] == "packaging"
    assert os.path.exists(sys.executable)  # noqa: PTH110 - nothing was removed
