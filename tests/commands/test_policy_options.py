"""`--select`, `--ignore`, `--baseline`: what is told, what is counted, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

from envdoctor.model.finding import Finding


def finding(code: str, name: str, severity: str, component: str) -> Finding:
    return Finding(code, name, severity, "import", component, f"{component} fails")


FOUND = [
    finding("ED412", "torch-abi-mismatch", "error", "mmcv-full 1.4.0"),
    finding("ED203", "python-module-missing", "warning", "mmdet 2.14.0"),
    finding("ED203", "python-module-missing", "warning", "mmsegmentation 0.14.1"),
]


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ([], 1, ["ED412", "ED203", "ED203"]),
        (["--ignore", "ED412"], 0, ["ED203", "ED203"]),
        (["--ignore", "torch-abi-mismatch"], 0, ["ED203", "ED203"]),
        (["--ignore", "ED412", "--fail-on", "warning"], 1, ["ED203", "ED203"]),
        (["--ignore", "ED2", "--ignore", "ED4"], 0, []),
        (["--ignore", "ED2,ED4", "--fail-on", "info"], 0, []),
        (["--select", "ED20"], 0, ["ED203", "ED203"]),
        (["--select", "ED20", "--ignore", "ED203", "--fail-on", "info"], 0, []),
        (["--select", "ed4", "--fail-on", "never"], 0, ["ED412"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_the_exit_code_follows_what_is_left(
    envdoctor: Callable[..., Any],
    found: Callable[..., Any],
    snapshot: str,
    options: List[str],
    code: int,
    told: List[str],
) -> None:
    found(FOUND)
    ended = envdoctor("check", "--facts", snapshot, "--format", "json", *options)
    data = json.loads(ended.out)
    assert (ended.code, ended.err) == (code, "")
    assert [one["code"] for one in data["findings"]] == told
    assert len(data["findings"]) + len(data["ignored"]) == 3


def test_what_is_ignored_is_never_silent(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str
) -> None:
    found(FOUND)
    said = envdoctor("check", "--facts", snapshot, "--ignore", "ED").out
    assert said.startswith("Nothing found wrong; 3 ignored")
    assert "Ignored: ED203 python-module-missing (2), ED412 torch-abi-mismatch." in said
    quiet = envdoctor("check", "--facts", snapshot, "--ignore", "ED4", "--quiet").out
    assert quiet.startswith("2 warnings; 1 ignored")
    assert "Ignored" not in envdoctor("check", "--facts", snapshot).out


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("torch-abi", "no finding is called 'torch-abi'; nearest: torch-abi-mismatch"),
        ("ED4,ED4I2", "no finding is called 'ED4I2'; nearest: ED4"),
        ("", "a code or a name of findings is expected, and nothing was given"),
        ("#", "list them: envdoctor check --list-rules"),
    ],
)
def test_a_misspelt_code_is_wrong_usage(
    envdoctor: Callable[..., Any], snapshot: str, option: str, text: str, says: str
) -> None:
    ended = envdoctor("check", "--facts", snapshot, option, text)
    assert (ended.code, ended.out) == (2, "")
    assert f"Error: {option}: " in ended.err
    assert says in ended.err


def test_a_baseline_is_written_and_accepted(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "known.json")
    check = ["check", "--facts", snapshot]
    found(FOUND)
    ended = envdoctor(*check, "--write-baseline", file)
    assert ended.code == 0
    assert ended.out.startswith("1 error, 2 warnings")
    assert ended.err == f"envdoctor: wrote {file} (3 accepted from now on)\n"
    ended = envdoctor(*check, "--baseline", file)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Nothing found wrong; 3 known")
    known = "python-module-missing (2), ED412 torch-abi-mismatch."
    assert known in " ".join(ended.out.split())
    assert "Gone" not in ended.out

    fresh = finding("ED204", "dependency-conflict", "error", "numba 0.48.0")
    found([*FOUND[1:], fresh])
    ended = envdoctor(*check, "--baseline", file)
    assert ended.code == 1
    assert ended.out.startswith("1 error; 2 known")
    assert f"Gone, and still in {file}: ED412 mmcv-full." in " ".join(ended.out.split())
    data = json.loads(envdoctor(*check, "--baseline", file, "--format", "json").out)
    assert [one["code"] for one in data["findings"]] == ["ED204"]
    assert [one["component"] for one in data["baseline"]["known"]] == ["mmdet", "mmsegmentation"]
    assert [one["code"] for one in data["baseline"]["gone"]] == ["ED412"]
    assert data["baseline"]["file"] == file

    # written anew it holds what was known, too
    assert envdoctor(*check, "--baseline", file, "--write-baseline", file, "--quiet").code == 0
    assert envdoctor(*check, "--baseline", file, "--fail-on", "info").code == 0


def test_what_is_ignored_does_not_get_into_a_baseline(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    found(FOUND)
    file = tmp_path / "known.json"
    options = ["--ignore", "ED2", "--write-baseline", str(file), "--quiet"]
    assert envdoctor("check", "--facts", snapshot, *options).code == 0
    assert [one["code"] for one in json.loads(file.read_text())["findings"]] == ["ED412"]
    ended = envdoctor("check", "--facts", snapshot, "--baseline", str(file), "--ignore", "ED4")
    assert ended.out.startswith("2 warnings; 1 ignored")
    assert "Gone" not in ended.out


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "cannot be read: no such file or directory"), ("{", "is no baseline of `envdoctor")],
)
def test_a_baseline_that_cannot_be_read(
    envdoctor: Callable[..., Any], snapshot: str, tmp_path: Path, content: Any, says: str
) -> None:
    file = tmp_path / "known.json"
    if content is not None:
        file.write_text(content)
    ended = envdoctor("check", "--facts", snapshot, "--baseline", str(file))
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith(f"envdoctor: {file}: {says}")
    assert ended.err.count("\n") == 1


def test_nothing_examined_is_no_baseline(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text('{"schema_version": 1, "target": {"unknown": "no python3 on PATH"}}')
    file = tmp_path / "known.json"
    assert envdoctor("check", "--facts", str(facts), "--write-baseline", str(file)).code == 3
    assert not file.exists()


def test_a_baseline_that_cannot_be_written(
    envdoctor: Callable[..., Any], found: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    found([])
    file = tmp_path / "none" / "known.json"
    ended = envdoctor("check", "--facts", snapshot, "--write-baseline", str(file))
    assert ended.code == 3
    assert ended.err == f"envdoctor: cannot write {file}: No such file or directory\n"


def test_a_baseline_is_in_no_language(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    """Of the real rules: what is written in Chinese accepts what is found in English."""
    report = tmp_path / "report.txt"
    report.write_text("PyTorch version: 2.4.1+cu121\nPython version: 3.8.10\n")
    written: Dict[str, str] = {}
    for language in ("en", "zh"):
        file = tmp_path / f"{language}.json"
        options = ["--gpu", "a100", "--driver", "470", "--lang", language]
        options += ["--write-baseline", str(file)]
        assert envdoctor("check", "--facts", str(report), *options).code == 0
        written[language] = file.read_text()
    assert written["en"] == written["zh"]
    assert "driver-too-old" in written["en"]
