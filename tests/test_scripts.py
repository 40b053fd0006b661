"""The scripts that set envdoctor up from a clone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Dict

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(script: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return subprocess.run(
        [str(script), *arguments],
        env={**settings, "PATH": "/usr/bin:/bin", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("name", ["envdoctor", "test", "lint", "fuzz"])
def test_an_interpreter_that_cannot_serve_is_refused(name: str) -> None:
    done = run(ROOT / "scripts" / name, PYTHON="/bin/false")
    assert done.returncode == 3
    assert "PYTHON=/bin/false is not a Python 3.8 or newer" in done.stderr


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "不是带有"),
        ({"LANG": "C", "ENVDOCTOR_LANG": "zh"}, "不是带有"),
        ({"LANG": "zh_TW"}, "不是带有"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "is not a Python"),
        ({"LANG": "zh_CN.GBK"}, "is not a Python"),
        ({"LANG": "en_US.UTF-8"}, "is not a Python"),
    ],
    ids=str,
)
def test_the_language_of_the_locale(environ: Dict[str, str], said: str) -> None:
    done = run(ROOT / "scripts" / "envdoctor", PYTHON="/bin/false", **environ)
    assert done.returncode == 3
    assert said in done.stderr


@pytest.mark.real
def test_first_run_leaves_the_active_environment_the_target(tmp_path: Path) -> None:
    clone = tmp_path / "a clone"
    shutil.copytree(str(ROOT), str(clone), ignore=shutil.ignore_patterns(".?*", "__pycache__"))
    patient = tmp_path / "patient"
    venv.create(str(patient), symlinks=True, with_pip=False)
    before = sorted(patient.rglob("*"))
    environ = {
        "HOME": str(tmp_path),
        "PYTHON": sys.executable,
        "VIRTUAL_ENV": str(patient),
        "PATH": f"{patient}/bin:/usr/bin:/bin",
        # Settings of the user that must not reach the doctor's environment.
        "PIP_TARGET": str(patient),
        "PIP_USER": "1",
        "PYTHONPATH": str(patient),
    }
    first = run(clone / "scripts" / "envdoctor", "facts", **environ)
    assert first.returncode == 0, first.stderr
    assert "Setting up .venv-doctor" in first.stderr
    target = json.loads(first.stdout)["target"]
    assert target["value"]["prefix"] == str(patient)
    assert "VIRTUAL_ENV" in target["origin"]
    assert sorted(patient.rglob("*")) == before

    second = run(clone / "scripts" / "envdoctor", "--version", **environ)
    assert second.returncode == 0, second.stderr
    assert "Setting up" not in second.stderr
