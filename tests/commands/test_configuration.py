"""`[tool.envdoctor]` and variables: found, obeyed, weaker than the command line, or one error."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

from envdoctor.commands import configuration
from envdoctor.commands.cli import _Options
from envdoctor.facts.snapshot import load
from envdoctor.model.finding import Finding

ERROR = Finding("ED412", "torch-abi-mismatch", "error", "import", "mmcv-full 1.4.0", "fails")
WARNING = Finding("ED203", "python-module-missing", "warning", "import", "mmdet 2.14.0", "fails")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes a project whose pyproject.toml has this table, and enters a folder of it."""

    def make(table: str) -> Path:
        file = tmp_path / "project" / "pyproject.toml"
        inner = file.parent / "tools" / "train"
        inner.mkdir(parents=True, exist_ok=True)
        (file.parent / ".git").mkdir(exist_ok=True)
        file.write_text(f'[project]\nname = "x"\n\n[tool.envdoctor]\n{table}\n', encoding="utf-8")
        monkeypatch.chdir(inner)
        monkeypatch.setenv("HOME", str(tmp_path))
        return file

    return make


def checked(envdoctor: Callable[..., Any], snapshot: str, *options: str) -> Dict[str, Any]:
    ended = envdoctor("check", "--facts", snapshot, "--format", "json", *options)
    assert ended.err == ""
    told: Dict[str, Any] = json.loads(ended.out)
    return {**told, "code": ended.code}


# --- what it says is done --------------------------------------------------------------------


def test_a_configuration_is_obeyed_and_told(
    envdoctor: Callable[..., Any],
    found: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
) -> None:
    file = project('ignore = ["ED4"]\nfail-on = "warning"')
    found([ERROR, WARNING])
    told = checked(envdoctor, snapshot)
    assert told["code"] == 1
    assert [f["code"] for f in told["findings"]] == ["ED203"]
    assert told["configuration"] == str(file)
    said = envdoctor("check", "--facts", snapshot).out
    assert "Configuration: ~/project/pyproject.toml" in said
    assert "1 warning; 1 ignored" in said
    said = envdoctor("--facts", snapshot)  # the first minute ends as a check does
    assert said.code == 1
    assert "1 warning; 1 ignored" in said.out


def test_the_overview_obeys_it_too(
    envdoctor: Callable[..., Any],
    found: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
) -> None:
    project('fail-on = "warning"')
    found([WARNING])
    assert envdoctor("--facts", snapshot).code == 1
    project("")
    assert envdoctor("--facts", snapshot).code == 0


@pytest.mark.parametrize(
    ("options", "codes", "code"),
    [
        ([], ["ED203"], 1),
        (["--ignore", "ED2"], ["ED412"], 1),
        (["--select", "ED2"], ["ED203"], 1),
        (["--fail-on", "never"], ["ED203"], 0),
        (["--isolated"], ["ED412", "ED203"], 1),
        (["--isolated", "--fail-on", "never"], ["ED412", "ED203"], 0),
    ],
    ids=str,
)
def test_the_command_line_is_stronger(
    envdoctor: Callable[..., Any],
    found: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
    options: List[str],
    codes: List[str],
    code: int,
) -> None:
    project('ignore = "ED4"\nfail-on = "warning"')
    found([ERROR, WARNING])
    told = checked(envdoctor, snapshot, *options)
    assert ([f["code"] for f in told["findings"]], told["code"]) == (codes, code)
    assert bool(told["configuration"]) is ("--isolated" not in options)


def test_files_are_named_from_where_the_configuration_lies(
    envdoctor: Callable[..., Any],
    found: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
) -> None:
    file = project('baseline = "ci/known.json"')
    (file.parent / "ci").mkdir()
    known = str(file.parent / "ci" / "known.json")
    found([ERROR])
    options = ["--write-baseline", known, "--quiet"]
    assert envdoctor("check", "--facts", snapshot, *options).code == 0
    told = checked(envdoctor, snapshot)
    assert (told["code"], told["findings"]) == (0, [])
    assert told["baseline"]["file"] == known
    assert envdoctor("--facts", snapshot).code == 0


def test_requirement_files_are_examined_unless_something_else_is_named(
    envdoctor: Callable[..., Any], snapshot: str, project: Callable[[str], Path]
) -> None:
    file = project('requirements = ["requirements.txt"]')
    (file.parent / "requirements.txt").write_text("torch==2.4.1\n")
    asked = json.loads(envdoctor("check", "--format", "json").out)
    assert asked["target"]["why"] == str(file.parent / "requirements.txt")
    assert checked(envdoctor, snapshot)["target"]["why"] == "VIRTUAL_ENV"
    ended = envdoctor("check", "--python", "/bin/true", "--format", "json")
    assert ended.code == 3
    assert "exclude" not in ended.err


@pytest.mark.parametrize(
    ("variables", "options", "language"),
    [
        ({}, [], "zh"),
        ({"LANG": "en_US.UTF-8"}, [], "zh"),
        ({"ENVDOCTOR_LANG": "en"}, [], "en"),
        ({}, ["--lang", "en"], "en"),
        ({}, ["--isolated"], "en"),
    ],
)
def test_the_language(
    envdoctor: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    variables: Dict[str, str],
    options: List[str],
    language: str,
) -> None:
    for name in ("LANG", "LC_ALL", "LC_MESSAGES", "ENVDOCTOR_LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    project('lang = "zh"')
    assert checked(envdoctor, snapshot, *options)["language"] == language
    said = envdoctor("check", "--help", *options).out
    assert said.startswith("用法" if language == "zh" else "Usage")


# --- assumptions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "gpu=a100,h100 driver=535.129.03",
        "gpu=a100,h100;driver=535.129.03",
        "gpu=a100,h100,driver=535.129.03",
        " gpu=a100,h100 ;\n driver=535.129.03, ",
    ],
)
def test_a_variable_assumes(
    envdoctor: Callable[..., Any], snapshot: str, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("ENVDOCTOR_ASSUME", text)
    told = checked(envdoctor, snapshot)
    assert told["machine"]["driver"] == "535.129.03"
    assert [name[:4] for name in told["machine"]["gpus"]] == ["A100", "H100"]
    assert "accelerator.driver" in told["assumed"]
    said = envdoctor("check", "--facts", snapshot).out
    assert "driver 535.129.03 (ENVDOCTOR_ASSUME)" in " ".join(said.split())


def test_where_an_assumption_comes_from(
    envdoctor: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = project('assume = ["gpu=a100", "driver=470", "glibc=2.31"]')
    monkeypatch.setenv("ENVDOCTOR_ASSUME", "driver=440.33.01")
    out = str(tmp_path / "assumed.json")
    options = ["--facts", snapshot, "--glibc", "2.17", "-o", out, "--no-redact", "--quiet"]
    assert envdoctor("facts", *options).code == 0
    facts = load(out)
    assert facts.accelerator.gpus.origin == f"assumed ({file}:5)"
    assert (facts.accelerator.driver.value, facts.accelerator.driver.origin) == (
        "440.33.01",
        "assumed (ENVDOCTOR_ASSUME)",
    )
    assert (facts.machine.glibc.value, facts.machine.glibc.origin) == ("2.17", "assumed")
    report = tmp_path / "report.txt"
    report.write_text("PyTorch version: 2.4.1+cu121\nPython version: 3.8.10\n")
    told = checked(envdoctor, str(report))
    origins = [e["origin"] for f in told["findings"] for e in f["evidence"]]
    assert "assumed (ENVDOCTOR_ASSUME)" in origins


@pytest.mark.parametrize("text", ["gpu", "gpu=", "a100", "gpus=a100", "gpu=rtx9999", "gpu=a100,=x"])
def test_a_variable_that_cannot_be_understood(
    envdoctor: Callable[..., Any], snapshot: str, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("ENVDOCTOR_ASSUME", text)
    ended = envdoctor("check", "--facts", snapshot)
    assert (ended.code, ended.out) == (2, "")
    assert "Error: ENVDOCTOR_ASSUME: " in ended.err


def test_an_assumption_of_the_configuration_that_cannot_be_understood(
    envdoctor: Callable[..., Any], snapshot: str, project: Callable[[str], Path]
) -> None:
    file = project('assume = ["gpu=rtx4900"]')
    ended = envdoctor("check", "--facts", snapshot)
    assert ended.code == 2
    assert f"{file}:5: gpu=rtx4900: neither a known GPU" in ended.err


# --- where it is looked for ------------------------------------------------------------------


def test_where_it_is_looked_for(tmp_path: Path) -> None:
    home = tmp_path / "home"
    inner = home / "work" / "repository" / "tools"
    inner.mkdir(parents=True)
    for folder in (tmp_path, home, home / "work", inner.parent, inner):
        (folder / "pyproject.toml").touch()
    files = [str(folder / "pyproject.toml") for folder in (inner, inner.parent, home / "work")]
    assert list(configuration.find(str(inner), str(home))) == files
    (inner.parent / ".git").touch()  # of a worktree it is a file
    assert list(configuration.find(str(inner), str(home))) == files[:2]
    assert next(configuration.find(str(home), str(home))) == str(home / "pyproject.toml")


def test_files_without_the_table_are_passed_over(
    envdoctor: Callable[..., Any], snapshot: str, project: Callable[[str], Path]
) -> None:
    file = project('fail-on = "never"')
    for other in ("[project]\n", "this is [ no TOML\n", '[tool.black]\nname = "envdoctor"\n'):
        Path("pyproject.toml").write_text(other)
        assert checked(envdoctor, snapshot)["configuration"] == str(file)


def test_a_folder_that_was_removed_has_no_configuration(
    envdoctor: Callable[..., Any], snapshot: str, project: Callable[[str], Path]
) -> None:
    project('fail-on = "never"')
    Path.cwd().rmdir()
    assert checked(envdoctor, snapshot)["configuration"] == ""


# --- one clear error -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('ignores = "ED1"', "5: there is no key 'ignores'; nearest: ignore"),
        ('fail_on = "error"', "5: there is no key 'fail_on'; nearest: fail-on"),
        ("\n\n'xyz' = 1", "7: there is no key 'xyz'; known are assume, baseline, fail-on"),
        ('python = "/usr/bin/python3"', "5: there is no key 'python'"),
        ('# fail-on\nfail-on = "fatal"', "6: fail-on is one of error, warning, info, never"),
        ("fail-on = 3", "5: fail-on is one of error, warning, info, never, not a number"),
        ("select = 4", "5: select is a list of texts, not a number"),
        ("select = [1]", "5: select is a list of texts, not a list of other things"),
        ("baseline = []", "5: baseline is a text, not a list of other things"),
        ("baseline = 2026-11-30", "5: baseline is a text, not a date or a time"),
        ("[tool.envdoctor.assume]\ngpu = 'a100'", "5: assume is a list of texts, not a table"),
        ('lang = "de"', "5: lang is one of en, zh, not 'de'"),
        ("ignore = [", "is no TOML"),
        ('lang = "zh"\nlang = "en"', "is no TOML"),
    ],
)
@pytest.mark.parametrize("command", [["check"], [], ["facts"]], ids=["check", "", "facts"])
def test_what_cannot_be_understood(
    envdoctor: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
    command: List[str],
    table: str,
    says: str,
) -> None:
    file = project(table)
    ended = envdoctor(*command, "--facts", snapshot)
    assert (ended.code, ended.out) == (2, "")
    first, second = ended.err.splitlines()
    assert first.startswith(f"envdoctor: {file}:")
    assert says in first
    assert second == "  --isolated leaves configuration files out."
    assert envdoctor(*command, "--facts", snapshot, "--isolated").code in (0, 1)
    for other in (["--help"], ["check", "--help"], ["explain", "ED101"], ["--version"]):
        assert envdoctor(*other).code == 0


def test_a_misspelt_code_names_its_line(
    envdoctor: Callable[..., Any], snapshot: str, project: Callable[[str], Path]
) -> None:
    file = project('fail-on = "never"\nignore = [\n  "ED4",\n  "numpy3-abi",\n]')
    ended = envdoctor("check", "--facts", snapshot)
    assert (ended.code, ended.out) == (2, "")
    assert f"Error: {file}:6: no finding is called 'numpy3-abi'; nearest: numpy2-abi" in ended.err


def test_the_table_is_one(
    envdoctor: Callable[..., Any], snapshot: str, project: Callable[[str], Path]
) -> None:
    file = project("")
    file.write_text("[tool]\nenvdoctor = 7\n")
    ended = envdoctor("check", "--facts", snapshot)
    assert ended.code == 2
    assert ended.err.startswith(f"envdoctor: {file}:2: [tool.envdoctor] is no table\n")
    file.write_text('[tool]\nenvdoctor = {fail-on = "never"}\n')
    assert checked(envdoctor, snapshot)["code"] == 0
    file.write_text('tool.envdoctor.fail-on = "grave"\n')
    assert f"{file}:1: fail-on" in envdoctor("check", "--facts", snapshot).err


def hostile(file: Path, kind: str) -> None:
    file.unlink()
    if kind == "directory":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(str(file))
    elif kind == "loop":
        file.symlink_to(file)
    elif kind == "huge":
        with file.open("wb") as stream:
            stream.truncate(1 << 30)
    elif kind == "no UTF-8":
        file.write_bytes(b"[tool.envdoctor]\nignore = '\xff'\n")
    elif kind == "null":
        file.write_bytes(b"[tool.envdoctor]\n\0")
    elif kind == "deep":
        file.write_text("[tool.envdoctor]\nignore = " + "[" * 100_000)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("directory", ": cannot be read: "),
        ("pipe", ": cannot be read: not a regular file"),
        ("loop", ": cannot be read: too many levels of symbolic links"),
        ("huge", ": is larger than 1 MB, which no file of its kind is"),
        ("no UTF-8", ":2: is no text in UTF-8"),
        ("null", ":2: is no text: it holds a null character"),
        ("deep", ": is no TOML: "),
    ],
)
def test_a_hostile_file_is_one_clear_error(
    envdoctor: Callable[..., Any],
    snapshot: str,
    project: Callable[[str], Path],
    kind: str,
    says: str,
) -> None:
    file = project("")
    hostile(file, kind)
    ended = envdoctor("check", "--facts", snapshot)
    assert (ended.code, ended.out) == (2, "")
    first, second = ended.err.splitlines()
    assert first.startswith(f"envdoctor: {file}:")
    assert says in first
    assert second == "  --isolated leaves configuration files out."


# --- one place -------------------------------------------------------------------------------


def test_keys_are_those_of_options() -> None:
    """An option becomes a key by `cls=Configurable`, and by nothing else."""
    keys = {option.key for option in _Options() if isinstance(option, configuration.Configurable)}
    documented = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    assert {"assume", "baseline", "fail-on", "ignore", "lang", "requirements", "select"} <= keys
    assert [key for key in sorted(keys) if f"| `{key}` |" not in documented] == []


def test_a_baseline_that_is_gone_is_told_with_the_line_that_names_it(
    envdoctor: Callable[..., Any], project: Callable[..., Path], snapshot: str
) -> None:
    file = project('ignore = ["ED4"]\nbaseline = "gone.json"')
    ended = envdoctor("check", "--facts", snapshot)
    assert (ended.code, ended.out) == (3, "")
    assert f"{file}:6: baseline: {file.parent / 'gone.json'}: cannot be read" in ended.err
    named = envdoctor("check", "--facts", snapshot, "--baseline", "gone.json")
    assert named.err.startswith("envdoctor: gone.json: cannot be read")
