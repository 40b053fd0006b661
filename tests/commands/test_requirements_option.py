"""`envdoctor check --requirements`: what would be installed, on this machine or an assumed one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import pytest

import envdoctor as package
from envdoctor.facts.snapshot import dump
from envdoctor.model.facts import Facts

MACHINE = ["--assume", "python=3.10", "--gpu", "a100", "--driver", "535"]


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.txt").write_text("torch==2.2.2\nnumpy\n")
    (tmp_path / "bad.txt").write_text("torch==2.2.2\n\nnumpy=1\n")


def test_text(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("check", "--requirements", "r.txt", *MACHINE)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("1 warning")
    assert "Target: r.txt (what they ask for)  Python 3.10" in ended.out
    assert "pip would take numpy 2.2.6: " in ended.out
    assert "Smallest change: 1 line: r.txt:2: numpy -> numpy<2" in ended.out
    assert envdoctor("check", "--requirements", "r.txt", *MACHINE, "--fail-on", "warning").code == 1


def test_json(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("check", "--requirements", "r.txt", *MACHINE, "--format", "json")
    said = json.loads(ended.out)
    assert said["target"]["why"] == "r.txt"
    assert said["target"]["version"] == "3.10"
    assert "target" in said["assumed"]
    (finding,) = said["findings"]
    (fix,) = finding["fixes"]
    assert (fix["summary"], fix["commands"]) == ("1 line: r.txt:2: numpy -> numpy<2", [])


def test_several_are_merged(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("numpy<2\n")
    files = ["--requirements", "r.txt", "--requirements", "more.txt"]
    ended = envdoctor("check", *files, *MACHINE)
    assert ended.out.startswith("Nothing found wrong")
    assert "Target: r.txt, more.txt (what they ask for)" in ended.out


def test_the_machine_of_a_snapshot(
    envdoctor: Callable[..., Any], facts: Facts, tmp_path: Path
) -> None:
    (tmp_path / "facts.json").write_bytes(dump(facts))
    (tmp_path / "pins.txt").write_text("torch==1.9.1+cu111\n")
    options = ["check", "--facts", "facts.json", "--requirements", "pins.txt"]
    assert envdoctor(*options, "--assume", "python=3.8").code == 0  # an A100
    ended = envdoctor(*options, "--assume", "python=3.8", "--gpu", "h100")
    assert (ended.code, "gpu-arch-not-in-torch" in ended.out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--requirements", "bad.txt"], 3, "envdoctor: bad.txt:3: 'numpy=1' is no requirement: "),
        (["--requirements", "gone.txt"], 3, "envdoctor: gone.txt: cannot be read: no such file"),
        (["--requirements", "."], 3, "envdoctor: .: cannot be read: is a directory"),
        (["--requirements", "r.txt", "--python", "x"], 2, "--python and --requirements exclude"),
        (["--requirements", "r.txt", "--env", "x"], 2, "--env and --requirements exclude"),
        (["--requirements", "r.txt", "--assume", "python=x"], 2, "python=x: a version is expected"),
    ],
)
def test_what_cannot_be_read(
    envdoctor: Callable[..., Any], arguments: Any, code: int, said: str
) -> None:
    ended = envdoctor("check", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err


def test_from_python(tmp_path: Path, facts: Facts) -> None:
    for given in (None, facts):
        report = package.check(
            facts=given, requirements=[tmp_path / "r.txt"], assume=["python=3.10", "gpu=a100"]
        )
        assert "numpy2-abi" in [finding.name for finding in report.findings]
