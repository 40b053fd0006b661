"""Printed commands can be typed: they call envdoctor as it was called."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

from envdoctor.commands.program import as_called, fixes_as_called, program
from envdoctor.model.finding import Finding, Fix, Report

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "envdoctor"
CLONE = "./scripts/envdoctor"


@pytest.fixture
def on_path(tmp_path: Path) -> Path:
    """A folder with an executable `envdoctor`."""
    command = tmp_path / "bin" / "envdoctor"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    return command


def test_the_variable_comes_first(on_path: Path) -> None:
    environ = {"ENVDOCTOR_PROG": "/a clone/envdoctor", "PATH": str(on_path.parent)}
    assert program(environ, str(on_path)) == "'/a clone/envdoctor'"
    assert program({"ENVDOCTOR_PROG": "x\x1b[2J\n"}, "") == "'x [2J'"


def test_a_command_that_path_has_is_called_by_its_name(on_path: Path) -> None:
    assert program({"PATH": str(on_path.parent)}, str(on_path)) == "envdoctor"
    assert program({"PATH": "/nowhere"}, str(on_path)) == str(on_path)
    assert program({"PATH": "/nowhere"}, "/site-packages/envdoctor/__main__.py") == "envdoctor"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("envdoctor check --gpu a100", f"{CLONE} check --gpu a100"),
        ("srun --gres=gpu:1 envdoctor facts -o x", f"srun --gres=gpu:1 {CLONE} facts -o x"),
        ("see `envdoctor explain ED101`", f"see `{CLONE} explain ED101`"),
        ("wrote envdoctor.json; envdoctor is read only", None),
        ("/opt/bin/envdoctor check", None),
    ],
)
def test_commands_in_a_text(monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    assert as_called(text) == text
    monkeypatch.setenv("ENVDOCTOR_PROG", CLONE)
    assert as_called(text) == (text if said is None else said)


def test_fixes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVDOCTOR_PROG", CLONE)
    fix = Fix("look", ("envdoctor check", "pip install x"))
    finding = Finding("ED101", "no-gpu-here", "info", "run", "host", "none", fixes=(fix,))
    (called,) = fixes_as_called(Report("check", "0", "2026-01-01", (finding,))).findings
    assert called.fixes == (Fix("look", (f"{CLONE} check", "pip install x")),)


def test_everything_that_a_user_is_told_to_type(
    envdoctor: Callable[..., Any], snapshot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVDOCTOR_PROG", CLONE)
    assert f"\nNext     {CLONE} check --facts " in envdoctor("--facts", snapshot).out
    assert f"`{CLONE} check --facts facts.json`" in envdoctor("explain", "ED101").out
    assert f"list them: {CLONE} check --list-rules" in envdoctor("explain", "#").err
    assert f"Usage: {CLONE} check [OPTIONS]" in envdoctor("check", "--help").out
    said = envdoctor("--gpu", "a100", "check").err
    assert f"--gpu belongs after the command: {CLONE} check --gpu ..." in said
    said = envdoctor("check", "--python", "/bin/true").err
    assert f"  Name one: {CLONE} check --python PATH" in said


def typed(command: str, cwd: Path, path: str) -> str:
    """What a clone's script, called so, tells the module that it starts."""
    environ: Dict[str, str] = {"PATH": f"{path}:/usr/bin:/bin", "HOME": str(cwd)}
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=str(cwd),
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_script_of_a_clone_says_how_it_was_called(tmp_path: Path) -> None:
    clone = tmp_path / "a clone"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(str(SCRIPT), str(clone / "scripts" / "envdoctor"))
    # In place of an environment: an interpreter that tells what it was given.
    (clone / "scripts" / "setup.sh").write_text("prepare() { :; }\n")
    python = clone / ".venv-doctor" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$ENVDOCTOR_PROG"\n')
    python.chmod(0o755)
    scripts = str(clone / "scripts")
    links = tmp_path / "links"
    links.mkdir()
    (links / "envdoctor").symlink_to(f"{scripts}/envdoctor")
    assert typed("./scripts/envdoctor", clone, "") == "./scripts/envdoctor"
    assert typed("'../a clone/scripts/envdoctor'", clone, "") == "../a clone/scripts/envdoctor"
    assert typed("envdoctor", clone, scripts) == "envdoctor"
    assert typed("envdoctor", clone, str(links)) == "envdoctor"
