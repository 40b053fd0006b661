"""`--deep`, `--no-deep` and `--path` of the commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest

from envdoctor.commands.cli import run

sys.path.append(str(Path(__file__).resolve().parents[1] / "elf"))

from elf_files import Offered, shared_object


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Dict[str, Any]:
    run([*arguments, "--python", sys.executable])
    told: Dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def reasons(report: Dict[str, Any]) -> List[str]:
    return [one["reason"] for one in report["skipped"] if one["code"] == "binaries"]


def test_no_deep(capsys: pytest.CaptureFixture[str]) -> None:
    report = answer(capsys, "check", "--format", "json", "--no-deep")
    assert reasons(report) == ["binaries were not read (--no-deep)"]
    facts = answer(capsys, "facts", "--no-deep")
    assert facts["target"]["value"]["linking"] == {"unknown": "binaries were not read (--no-deep)"}


def test_deep_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    linking = answer(capsys, "facts")["target"]["value"]["linking"]
    assert linking["value"]["files"] > 0
    assert "binaries" not in linking["value"]


def test_a_path(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.so"
    exports = [Offered("PyInit_mine")]
    path.write_bytes(shared_object(exports=exports, needed=["libnobody-has-it.so.7"]))
    report = answer(capsys, "check", "--format", "json", "--path", str(path))
    (finding,) = [one for one in report["findings"] if one["name"] == "shared-library-missing"]
    assert (finding["component"], finding["severity"]) == ("mine", "error")
    assert finding["evidence"][0]["value"] == "libnobody-has-it.so.7"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--path", "/gone.so"], "/gone.so: cannot be read: no such file or directory"),
        (["--path", "/x", "--no-deep"], "--path and --no-deep exclude each other"),
    ],
)
def test_a_path_that_is_none(
    capsys: pytest.CaptureFixture[str], arguments: List[str], said: str
) -> None:
    assert run(["check", *arguments, "--python", sys.executable]) in (2, 3)
    assert said in capsys.readouterr().err
