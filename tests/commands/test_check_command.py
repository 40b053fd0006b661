"""`envdoctor check`: exit codes, formats, where the answer goes."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

import envdoctor as package
from envdoctor.model.facts import Facts
from envdoctor.model.finding import Finding, Report
from envdoctor.model.text import clean

THRESHOLDS = ("info", "warning", "error", "never")


def finding(severity: str) -> Finding:
    return Finding(
        code="ED412",
        name="torch-abi-mismatch",
        severity=severity,
        phase="import",
        component="mmcv-full 1.4.0",
        summary="import mmcv.ops will fail",
    )


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("severities", "codes"),
    [
        # --fail-on        info warning error never
        ([], (0, 0, 0, 0)),
        (["info"], (1, 0, 0, 0)),
        (["warning"], (1, 1, 0, 0)),
        (["info", "error"], (1, 1, 1, 0)),
    ],
)
def test_the_exit_code_is_the_threshold_s(
    envdoctor: Callable[..., Any],
    found: Callable[..., Any],
    snapshot: str,
    form: str,
    severities: List[str],
    codes: Any,
) -> None:
    found([finding(severity) for severity in severities])
    options = ["check", "--facts", snapshot, "--format", form]
    assert codes == tuple(envdoctor(*options, "--fail-on", t).code for t in THRESHOLDS)
    assert envdoctor(*options).code == codes[THRESHOLDS.index("error")]


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_what_fails_a_check_is_told(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, quiet: List[str]
) -> None:
    found([finding("info")])
    ended = envdoctor("check", "--facts", snapshot, "--fail-on", "info", *quiet)
    assert ended.code == 1
    assert "torch-abi-mismatch" in ended.out
    assert "(--verbose)" not in ended.out
    assert "torch-abi-mismatch" not in envdoctor("check", "--facts", snapshot, *quiet).out


def test_a_live_check_looks_at_the_tools_of_a_build(envdoctor: Callable[..., Any]) -> None:
    told = json.loads(envdoctor("check", "--python", sys.executable, "--format", "json").out)
    assert "not looked for" not in json.dumps(told["skipped"])
    assert "tools." not in json.dumps(told["skipped"])


def test_text_and_nothing_else_on_stdout(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str
) -> None:
    found([finding("error"), finding("info")])
    ended = envdoctor("check", "--facts", snapshot)
    assert ended.err == ""
    assert ended.out.startswith("1 error; 1 note (--verbose)")
    assert " x ED412 torch-abi-mismatch" in ended.out
    assert " i ED412" not in ended.out
    assert " i ED412" in envdoctor("check", "--facts", snapshot, "--verbose").out
    quiet = envdoctor("check", "--facts", snapshot, "--quiet").out.splitlines()
    assert [line[:9] for line in quiet] == ["1 error; ", " x ED412 "]


def test_json_is_the_report(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str
) -> None:
    found([finding("error")])
    data = json.loads(envdoctor("check", "--facts", snapshot, "--format", "json").out)
    assert data["command"] == "check"
    assert [f["code"] for f in data["findings"]] == ["ED412"]


def test_json_says_what_was_examined_and_assumed(
    envdoctor: Callable[..., Any], snapshot: str
) -> None:
    ended = envdoctor("check", "--facts", snapshot, "--format", "json", "--gpu", "h100")
    data = json.loads(ended.out)
    assert data["target"]["prefix"] == "/home/ann/envs/maptr"
    assert (data["target"]["version"], data["target"]["why"]) == ("3.8.18", "VIRTUAL_ENV")
    assert data["machine"]["driver"] == "535.129.03"
    assert data["assumed"] == ["accelerator.vendor", "accelerator.gpus"]


def test_no_environment_is_no_pass(
    envdoctor: Callable[..., Any], found: Callable[..., Any], tmp_path: Path
) -> None:
    found([])
    path = tmp_path / "facts.json"
    path.write_text('{"schema_version": 1, "target": {"unknown": "no python3 on PATH"}}')
    ended = envdoctor("check", "--facts", str(path))
    assert ended.code == 3
    assert ended.out.startswith("Not examined: no Python environment")
    assert ended.err == (
        "envdoctor: there is no Python environment to examine: no python3 on PATH\n"
        "  Name one: envdoctor check --python PATH\n"
    )
    ended = envdoctor("check", "--facts", str(path), "--format", "json")
    assert ended.code == 3
    assert json.loads(ended.out)["findings"] == []


def test_assumptions_reach_the_facts(
    envdoctor: Callable[..., Any], snapshot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: Dict[str, Any] = {}

    def assume(facts: Facts, settings: Any, _: Any) -> Facts:
        given["settings"] = list(settings)
        return facts

    monkeypatch.setattr("envdoctor.relations.assume.assume", assume)
    arguments = "--assume python=3.8 --gpu a100,h100 --driver 535 --os ubuntu:20.04 --glibc 2.31"
    arguments += " --gcc 9.4 --toolkit 11.1 --cudnn 8.9 --assume gpu=h100"
    assert envdoctor("check", "--facts", snapshot, *arguments.split()).code in (0, 1)
    assert given["settings"] == [
        "python=3.8",
        "gpu=h100",
        "gpu=a100,h100",
        "driver=535",
        "glibc=2.31",
        "gcc=9.4",
        "toolkit=11.1",
        "cudnn=8.9",
        "os=ubuntu:20.04",
    ]


def test_output_goes_to_a_file_whole(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    found([finding("error")])
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / "report.json"
    path.write_text("older")
    path.chmod(0o640)
    (folder / "link").symlink_to(path)
    for name in ("report.json", "link"):
        ended = envdoctor(
            "check", "--facts", snapshot, "--format", "json", "--output", str(folder / name)
        )
        assert (ended.code, ended.out, ended.err) == (1, "", "")
        assert json.loads(path.read_text())["command"] == "check"
    assert (folder / "link").is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(p.name for p in folder.iterdir()) == ["link", "report.json"]


def test_output_to_a_pipe(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    found([])
    pipe = tmp_path / "pipe"
    os.mkfifo(str(pipe))
    read: List[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert envdoctor("check", "--facts", snapshot, "-o", str(pipe)).code == 0
    reader.join(10)
    assert read[0].startswith("Nothing found wrong")
    assert pipe.is_fifo()


def test_output_that_cannot_be_written(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    found([])
    path = tmp_path / "missing" / "report.txt"
    ended = envdoctor("check", "--facts", snapshot, "-o", str(path))
    assert ended.code == 3
    assert ended.err == f"envdoctor: cannot write {path}: No such file or directory\n"


def test_output_to_what_is_no_file(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    found([])
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, reason in (
        (tmp_path, "Is a directory"),
        (loop, "Too many levels of symbolic links"),
        (loop / "report.txt", "Too many levels of symbolic links"),
        (Path(snapshot) / "report.txt", "Not a directory"),
        (Path("/dev/full"), "No space left on device"),
        (tmp_path / ("a" * 300), "File name too long"),
    ):
        for command in ("check", "facts"):
            ended = envdoctor(command, "--facts", snapshot, "-o", str(path))
            assert (ended.code, ended.out) == (3, "")
            assert ended.err == f"envdoctor: cannot write {clean(str(path))}: {reason}\n"
    assert loop.is_symlink()


def test_output_through_a_link_that_leads_nowhere_yet(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    found([])
    (tmp_path / "latest.txt").symlink_to("report.txt")
    assert envdoctor("check", "--facts", snapshot, "-o", str(tmp_path / "latest.txt")).code == 0
    assert (tmp_path / "latest.txt").is_symlink()
    assert (tmp_path / "report.txt").read_text().startswith("Nothing found wrong")


def test_list_rules(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("check", "--list-rules")
    assert ended.code == 0
    assert "ED101 no-gpu-here" in ended.out
    data = json.loads(envdoctor("check", "--list-rules", "--format", "json").out)
    codes = [rule["code"] for rule in data["rules"]]
    assert "ED101" in codes
    assert codes == sorted(codes)


def test_python_api(found: Callable[..., Any], facts: Facts, snapshot: str) -> None:
    calls = found([finding("error")])
    assert package.check(facts=snapshot).worst() == "error"
    assert package.check(facts=Path(snapshot)).worst() == "error"
    assert package.check(facts=facts).worst() == "error"
    assert calls == [facts] * 3
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        package.chekc  # noqa: B018


def test_python_api_assumes(facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: List[Facts] = []
    reported = Report("check", "0", "2026-11-30", ())

    def check(facts: Facts, *_: object) -> Report:
        seen.append(facts)
        return reported

    monkeypatch.setattr("envdoctor.rules.check.check", check)
    assert package.check(facts=facts, assume=["glibc=2.17"]) is reported
    assert seen[0].machine.glibc.value == "2.17"
    assert seen[0].machine.glibc.assumed
