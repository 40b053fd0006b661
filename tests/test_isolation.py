"""The doctor never lives inside the patient: what PYTHONPATH holds is examined, not imported."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

import pytest

from envdoctor import __main__ as start

ROOT = Path(__file__).resolve().parent.parent
STANDARD = os.path.dirname(os.__file__)  # noqa: PTH120
#: What envdoctor imports, of others and of the standard library after its start.
IMPORTED = ("click", "msgspec", "packaging", "rich", "yaml", "typing", "dataclasses", "textwrap")
SCRIPT = """\
import sys
from envdoctor.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture
def patient(tmp_path: Path) -> Path:
    """A folder with modules that leave a mark where they are imported."""
    folder = tmp_path / "patient"
    folder.mkdir()
    for name in IMPORTED:
        (folder / f"{name}.py").write_text(f'open("{tmp_path}/imported", "a").write("{name} ")\n')
    return folder


@pytest.mark.parametrize("by", ["module", "script"])
def test_modules_of_the_patient_are_not_imported(tmp_path: Path, patient: Path, by: str) -> None:
    (patient / "envdoctor").write_text(SCRIPT)  # beside the modules, as in a folder of commands
    command = {"module": ["-m", "envdoctor"], "script": [str(patient / "envdoctor")]}[by]
    variable = f"{patient}::{ROOT}"  # an empty entry is the current folder
    done = subprocess.run(
        [sys.executable, *command, "facts", "--python", sys.executable],
        cwd=str(patient),
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": variable},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert not (tmp_path / "imported").exists()
    assert json.loads(done.stdout)["target"]["value"]["environ"]["PYTHONPATH"] == variable


@pytest.mark.parametrize(
    ("path", "variable", "expected"),
    [
        # a command, nothing named
        (["/opt/bin", "/lib", "/lib/site-packages"], "", ["/lib", "/lib/site-packages"]),
        # `python -m` from the project that is examined
        (["/project", "/lib", "/lib/site-packages"], "", ["/lib", "/lib/site-packages"]),
        # training machines: a project and a folder of packages
        (
            ["/opt/bin", "/project/src", "/other", "/lib", "/lib/site-packages"],
            "src:/other/",
            ["/lib", "/lib/site-packages"],
        ),
        # envdoctor itself is there: for developers, or `pip install --target`
        (
            ["/opt/bin", "/other", "/doctor", "/lib", "/lib/site-packages"],
            "/other:/doctor",
            ["/lib", "/lib/site-packages", "/doctor"],
        ),
        # the interpreter's own folders are named
        (
            ["/opt/bin", STANDARD, "/lib/site-packages", "/other", "/lib"],
            f"{STANDARD}:/lib/site-packages:/other",
            ["/lib", STANDARD, "/lib/site-packages"],
        ),
        # the user's site is no part of an envdoctor that lies elsewhere, what it needs may be
        (
            ["/opt/bin", "/lib", "/user", "/lib/site-packages"],
            "",
            ["/lib", "/lib/site-packages", "/user"],
        ),
    ],
)
def test_search_path(
    monkeypatch: pytest.MonkeyPatch, path: List[str], variable: str, expected: List[str]
) -> None:
    assert searched(monkeypatch, "/doctor", path, variable) == expected


def test_search_path_of_an_envdoctor_in_the_user_s_site(monkeypatch: pytest.MonkeyPatch) -> None:
    path = ["/user/bin", "/other", "/lib", "/user", "/lib/site-packages"]
    found = searched(monkeypatch, "/user", path, "/other")
    assert found == ["/lib", "/user", "/lib/site-packages"]


def searched(
    monkeypatch: pytest.MonkeyPatch, own: str, path: List[str], variable: str
) -> List[str]:
    monkeypatch.setattr(start, "__file__", f"{own}/envdoctor/__main__.py")
    monkeypatch.setattr(sys, "path", list(path))
    monkeypatch.setattr(sys, "argv", [f"{path[0]}/envdoctor"])
    monkeypatch.setattr(os, "getcwd", lambda: "/project")
    monkeypatch.setattr(site, "USER_SITE", "/user")
    monkeypatch.setattr(site, "getsitepackages", lambda: ["/lib/site-packages"])
    monkeypatch.setenv("PYTHONPATH", variable)
    start._leave_the_patient()
    return sys.path


@pytest.mark.parametrize("flag", ["-I", "-E"])
def test_what_the_interpreter_leaves_out_itself(flag: str, tmp_path: Path) -> None:
    program = "import sys; b = list(sys.path); from envdoctor import __main__ as m; " + (
        "m._leave_the_patient(); print([p for p in b if p not in sys.path])"
    )
    environ: Dict[str, str] = {"PYTHONPATH": STANDARD}
    done = subprocess.run(
        [sys.executable, flag, "-c", f"import sys; sys.path.append({str(ROOT)!r}); {program}"],
        cwd=str(tmp_path),
        env=environ,
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    assert done.stdout in (b"[]\n", b"['']\n")


def test_a_folder_that_was_removed(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            "sh",
            "-c",
            f"mkdir x; cd x; rmdir ../x; exec {sys.executable} -m envdoctor explain ED101",
        ],
        cwd=str(tmp_path),
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
