"""Bare `envdoctor`, `facts`, `explain`, `--version`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import msgspec
import pytest

from envdoctor.facts.snapshot import dump, load
from envdoctor.model.facts import Accelerator, Facts, seen, unseen
from envdoctor.model.finding import Finding

replace = msgspec.structs.replace
ERROR = Finding(
    code="ED412",
    name="torch-abi-mismatch",
    severity="error",
    phase="import",
    component="mmcv-full 1.4.0",
    summary="import mmcv.ops will fail",
)


def written(path: Path, facts: Facts) -> str:
    path.write_bytes(dump(facts))
    return str(path)


def test_the_first_minute(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str
) -> None:
    found([ERROR])
    ended = envdoctor("--facts", snapshot)
    assert (ended.code, ended.err) == (1, "")
    labels = [line.split()[0] for line in ended.out.splitlines() if line[0] != " "]
    assert labels == ["GPU", "Target", "Compile", "Verdict", "Next", "Models", "Stack", "Never"]
    assert "1 error  mmcv-full 1.4.0: import mmcv.ops will fail" in ended.out


@pytest.mark.parametrize("severity", ["", "info", "warning", "error"])
def test_the_first_minute_ends_as_a_check_does(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, severity: str
) -> None:
    found([replace(ERROR, severity=severity)] if severity else [])
    code = envdoctor("--facts", snapshot).code
    assert code == envdoctor("check", "--facts", snapshot).code == (severity == "error")


def following(out: str) -> str:
    """The command that the overview ends with, without what it is for."""
    (line,) = (line for line in out.splitlines() if line.startswith("Next"))
    return line[len("Next") :].strip().partition("   ")[0]


def test_the_next_command_looks_at_the_same(
    envdoctor: Callable[..., Any], found: Callable[..., Any], facts: Facts, tmp_path: Path
) -> None:
    path = written(tmp_path / "my facts.json", facts)
    found([ERROR])
    assert following(envdoctor("--facts", path).out) == f"envdoctor check --facts '{path}'"
    found([])
    healthy = envdoctor("--facts", path).out
    assert following(healthy) == f"envdoctor check --facts '{path}' --verbose"
    login = replace(facts, accelerator=Accelerator(vendor=seen("none", "-"), gpus=seen((), "-")))
    path = written(tmp_path / "login.json", login)
    command = f"envdoctor check --facts {path} --gpu a100 --driver 535"
    assert following(envdoctor("--facts", path).out) == command
    empty = written(tmp_path / "empty.json", replace(facts, target=unseen("no python3")))
    ended = envdoctor("--facts", empty)
    assert ended.code == envdoctor("check", "--facts", empty).code == 3
    assert "Verdict  not examined: no Python environment" in ended.out
    assert following(ended.out) == "envdoctor check --python PATH"


def test_facts_to_stdout_are_whole(
    envdoctor: Callable[..., Any], facts: Facts, snapshot: str
) -> None:
    ended = envdoctor("facts", "--facts", snapshot)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.encode() == dump(facts)


def test_facts_to_a_file_are_redacted(
    envdoctor: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "out.json")
    ended = envdoctor("facts", "--facts", snapshot, "-o", path)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"envdoctor: wrote {path} (1 KB, personal details left out)\n"
    assert "/home/ann" not in Path(path).read_text()
    target = load(path).target.value
    assert target is not None
    assert target.prefix == "~/envs/maptr"
    ended = envdoctor("facts", "--facts", snapshot, "-o", path, "--no-redact", "--quiet")
    assert ended.err == ""
    assert "/home/ann" in Path(path).read_text()


def test_facts_with_an_assumption(envdoctor: Callable[..., Any], snapshot: str) -> None:
    ended = envdoctor("facts", "--facts", snapshot, "--assume", "glibc=2.17", "--redact")
    data = json.loads(ended.out)
    assert data["machine"]["glibc"]["value"] == "2.17"
    assert data["target"]["value"]["prefix"] == "~/envs/maptr"


@pytest.mark.parametrize("name", ["ED101", "ed101", "no-gpu-here", "No-GPU-Here"])
def test_explain_by_code_and_by_name(envdoctor: Callable[..., Any], name: str) -> None:
    ended = envdoctor("explain", name)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("ED101 no-gpu-here (")
    assert len(ended.out.splitlines()) > 4


def test_explain_for_programs(envdoctor: Callable[..., Any]) -> None:
    data = json.loads(envdoctor("explain", "ED101", "--format", "json").out)
    assert (data["command"], data["name"]) == ("explain", "no-gpu-here")
    assert data["matrices_date"]


@pytest.mark.parametrize(("wrong", "near"), [("no-gpu", "no-gpu-here"), ("ED1011", "ED101")])
def test_explain_suggests_the_nearest(envdoctor: Callable[..., Any], wrong: str, near: str) -> None:
    ended = envdoctor("explain", wrong)
    assert ended.code == 2
    assert near in ended.err.partition("nearest:")[2]


def test_version_tells_the_date_of_the_matrices(
    envdoctor: Callable[..., Any], found: Callable[..., Any]
) -> None:
    found([])
    ended = envdoctor("--version")
    assert (ended.code, ended.out) == (0, "envdoctor 0.1.0, matrices of 2026-11-30\n")


@pytest.mark.parametrize("command", [[], ["check"], ["facts"], ["explain"]])
def test_help_fits_on_a_terminal(envdoctor: Callable[..., Any], command: Any) -> None:
    ended = envdoctor(*command, "--help")
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines())) <= 80
