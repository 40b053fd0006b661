"""The distributions as a user gets them: built, installed in a fresh place, run from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Set, Tuple

import pytest

import envdoctor

pytestmark = pytest.mark.real

ROOT = Path(__file__).resolve().parent.parent


def run(
    command: List[str], cwd: Path, codes: Tuple[int, ...] = (0,), **environ: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command as a user without an active environment would, but with pip's settings."""
    settings = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_", "REQUESTS_")) or name.lower().endswith("_proxy")
    }
    done = subprocess.run(
        command,
        cwd=str(cwd),
        env={
            **settings,
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(cwd.parent),
            **environ,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in codes, done.stdout + done.stderr
    return done


def tree(folder: Path, under: str) -> Set[str]:
    """The files of a folder, as paths below `under`; bytecode left out."""
    return {
        under + "/" + path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-I", "-m", "build", "--outdir", str(folder), str(ROOT)], folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands' folder of a fresh environment with nothing but the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("doctor") / "environment"
    run([sys.executable, "-I", "-m", "venv", str(folder)], built)
    (wheel,) = built.glob("*.whl")
    run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", str(wheel)], built)
    return folder / "bin"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


@pytest.fixture
def patient(tmp_path: Path) -> Path:
    """An environment with a torch that cannot be imported."""
    folder = tmp_path / "patient"
    venv.create(str(folder), symlinks=True, with_pip=False)
    (site,) = folder.glob("lib/python3*/site-packages")
    files = {
        "torch/__init__.py": "raise SystemExit('torch was imported')\n",
        "torch/version.py": "__version__ = '2.4.1+cu121'\ncuda = '12.1'\n",
        "torch-2.4.1+cu121.dist-info/METADATA": (
            "Metadata-Version: 2.1\nName: torch\nVersion: 2.4.1+cu121\n"
        ),
        "torch-2.4.1+cu121.dist-info/INSTALLER": "pip\n",
        "torch-2.4.1+cu121.dist-info/RECORD": "torch/__init__.py,,\ntorch/version.py,,\n",
    }
    for name, text in files.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)
    return folder


def state(folder: Path) -> Dict[str, Tuple[int, int]]:
    """Every path below a folder with its size and time of change."""
    return {
        str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in folder.rglob("*")
    }


def test_wheel_holds_the_package_and_its_data_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(str(wheel)).namelist())
    info = f"envdoctor-{envdoctor.__version__}.dist-info/"
    matrices = tree(ROOT / "matrices", "envdoctor/data/matrices")
    assert any(name.endswith(".yaml") for name in matrices)
    assert {name for name in names if not name.startswith(info)} == (
        tree(ROOT / "envdoctor", "envdoctor")
        | matrices
        | tree(ROOT / "images", "envdoctor/data/images")
    )
    assert any(name.startswith(info) and name.endswith("LICENSE") for name in names)


def test_source_distribution_holds_what_its_tests_need(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(str(sdist)) as archive:
        names = set(archive.getnames())
    top = f"envdoctor-{envdoctor.__version__}"
    for folder in ("tests", "benchmarks", "scripts"):
        assert tree(ROOT / folder, f"{top}/{folder}") <= names


def test_version(installed: Path, empty: Path) -> None:
    done = run([str(installed / "envdoctor"), "--version"], empty)
    assert envdoctor.__version__ in done.stdout


def test_check_from_an_empty_folder(installed: Path, patient: Path, empty: Path) -> None:
    python = str(patient / "bin" / "python")
    command = [str(installed / "envdoctor"), "check", "--format", "json", "--python", python]
    report: Dict[str, Any] = json.loads(run(command, empty, codes=(0, 1)).stdout)
    assert report["command"] == "check"
    assert report["envdoctor_version"] == envdoctor.__version__
    assert report["matrices_date"]
    assert list(empty.iterdir()) == []


def test_facts_of_the_installed_command(installed: Path, patient: Path, empty: Path) -> None:
    python = str(patient / "bin" / "python")
    facts = json.loads(
        run([str(installed / "envdoctor"), "facts", "--python", python], empty).stdout
    )
    assert facts["target"]["value"]["python"] == python
    assert facts["target"]["value"]["torch"]["version"]["value"] == "2.4.1+cu121"
    # The doctor's own packages are not the patient's.
    assert [d["name"] for d in facts["target"]["value"]["distributions"]] == ["torch"]


def test_the_active_environment_is_the_target(installed: Path, patient: Path, empty: Path) -> None:
    facts = json.loads(
        run([str(installed / "envdoctor"), "facts"], empty, VIRTUAL_ENV=str(patient)).stdout
    )
    assert facts["target"]["value"]["prefix"] == str(patient)
    assert "VIRTUAL_ENV" in facts["target"]["origin"]


def test_the_patient_is_left_as_it_was(installed: Path, patient: Path, empty: Path) -> None:
    before = state(patient)
    python = str(patient / "bin" / "python")
    for arguments in (["check"], ["facts"], []):
        command = [str(installed / "envdoctor"), *arguments, "--python", python]
        run(command, empty, codes=(0, 1))
    assert state(patient) == before


def test_the_python_interface(installed: Path, patient: Path, empty: Path) -> None:
    code = "import envdoctor, sys; print(envdoctor.check(python=sys.argv[1]).envdoctor_version)"
    python = str(patient / "bin" / "python")
    done = run([str(installed / "python"), "-c", code, python], empty)
    assert done.stdout.split() == [envdoctor.__version__]
