"""`--facts` with a report as it is pasted, from a file and from standard input."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, List

import pytest

from envdoctor.commands.cli import run

REPORT = """\
### Environment
```
PyTorch version: 1.9.0+cu102
CUDA used to build PyTorch: 10.2
Python version: 3.8.10 (default, Jun  4 2021, 15:09:15) [GCC 7.5.0] (64-bit runtime)
GPU models and configuration: GPU 0: GeForce RTX 3090
Nvidia driver version: 470.57.02
```
"""


def report(tmp_path: Path, data: bytes = REPORT.encode()) -> str:
    path = tmp_path / "report.txt"
    path.write_bytes(data)
    return str(path)


def test_a_report_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--facts", report(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "Target: as reported  Python 3.8.10  torch 1.9.0+cu102" in said
    assert "ED111 gpu-arch-not-in-torch" in said
    assert "collect_env, line 6" in said
    assert "python -m pip install" in said


@pytest.mark.parametrize(
    "data",
    [
        REPORT.replace("\n", "\r\n").encode(),
        REPORT.encode("utf-16"),  # of Windows' shells
        b"\xef\xbb\xbf" + REPORT.encode(),
        b"\xff\xfe\xfa in no encoding\n"[2:] + REPORT.encode(),
        b"\n" * 2000 + REPORT.encode(),
        b"2020-07-31 22:39:16,038 - mmdet - INFO - Environment info:\n" + REPORT.encode(),
        b"{'sys.platform': 'linux'}\n" + REPORT.encode(),
        b"[pip3] numpy==1.19.5\n" + REPORT.encode(),
        b"[11/01 11:18:17 d2.utils]: Rank\n" + REPORT.encode(),
    ],
)
def test_beginnings_and_encodings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    assert run(["check", "--facts", report(tmp_path, data), "--format", "json"]) == 1
    (finding,) = [
        f for f in json.loads(capsys.readouterr().out)["findings"] if f["severity"] == "error"
    ]
    assert finding["name"] == "gpu-arch-not-in-torch"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(REPORT.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert run(["check", "--facts", "-", "--quiet"]) == 1
    assert "ED111" in capsys.readouterr().out


def test_what_was_read_can_be_kept_and_replayed(tmp_path: Path, capsys: Any) -> None:
    kept = tmp_path / "facts.json"
    assert run(["facts", "--facts", report(tmp_path), "-o", str(kept), "--quiet"]) == 0
    assert run(["check", "--facts", str(kept), "--quiet"]) == 1
    assert "ED111" in capsys.readouterr().out


def test_assumptions_hold_beside_a_report(tmp_path: Path, capsys: Any) -> None:
    assert run(["check", "--facts", report(tmp_path), "--gpu", "v100", "--quiet"]) == 0
    assert "Nothing found wrong" in capsys.readouterr().out


def test_a_report_without_a_python(tmp_path: Path, capsys: Any) -> None:
    path = report(tmp_path, b"torch: 2.3.0\nflash-attn: 2.5.7\n")
    assert run(["check", "--facts", path]) == 0
    assert "as reported  Python unknown  torch 2.3.0" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["check"], ["facts"], []])
def test_a_text_that_is_no_report(tmp_path: Path, capsys: Any, arguments: List[str]) -> None:
    path = report(tmp_path, b"It does not work, please help.\n")
    assert run([*arguments, "--facts", path]) == 3
    assert capsys.readouterr().err == (
        f"envdoctor: {path}: is no snapshot of `envdoctor facts`, nor a report: no line is of a "
        "known report (collect_env, transformers env, pip or conda list, nvidia-smi, nvcc)\n"
    )
