"""`envdoctor repair --apply`: mended, or as it was, whatever happens on the way.

The environments are those of `environments`; their pip is a stand-in that changes files as pip
does, and does what a test needs to go wrong. With the true pip: test_real_repair.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, NamedTuple, Tuple

import pytest
from environments import ROOT, make

#: In the place of pip: installs NAME==VERSION by writing what pip would, and no code.
PIP = """
import os, shutil, sys, time
from pathlib import Path

site = Path(__file__).resolve().parent.parent
mode = os.environ.get("STAND_IN", "")
print("Collecting things", flush=True)
verb, words = sys.argv[1], [w for w in sys.argv[2:] if not w.startswith("-")]
with (site.parents[2] / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
for word in words:
    name, _, version = word.partition("==")
    for old in site.glob(name.replace("-", "_") + "-*.dist-info"):
        text = (old / "METADATA").read_text()
        kept = {p.name: p.read_bytes() for p in old.iterdir()}
        shutil.rmtree(old)
        was = old.name[: -len(".dist-info")].rpartition("-")[2]
        if verb == "uninstall":
            continue
        if mode == "other":
            version = "2.2.0"
        new = site / old.name.replace(was, version)
        new.mkdir()
        for file, content in kept.items():
            (new / file).write_bytes(content.replace(was.encode(), version.encode()))
        module = site / name / "__init__.py"
        module.unlink()
        module.write_text("__version__ = %r\\n" % version)
    (site / "left_over.py").write_text("half\\n")
    if mode == "hang":
        print("hanging", flush=True)
        time.sleep(600)
    if mode == "fail":
        sys.exit("ERROR: no space left for " + name)
    if mode == "break":
        shutil.rmtree(site / "llvmlite")
    (site / "left_over.py").unlink()
if mode == "beside":
    (site / "somebody.txt").write_text("mine\\n")
"""
BROKEN = {"numpy": "2.1.0", "numba": "0.59.1", "llvmlite": "0.42.0"}
WANTED = "numpy==1.26.4"

Tree = Dict[str, Tuple[object, ...]]


def tree(prefix: Path) -> Tree:
    """All that can be seen of an environment, but for what the stand-in noted of its calls."""
    found: Tree = {}
    for folder, folders, files in os.walk(prefix):
        for name in [*folders, *files]:
            path = Path(folder, name)
            status = path.lstat()
            content = b""
            if stat.S_ISLNK(status.st_mode):
                content = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(path.read_bytes()).digest()
            if path != prefix / "calls":
                key = str(path.relative_to(prefix))
                found[key] = (status.st_mode, status.st_uid, status.st_mtime_ns, content)
    return found


class Ended(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str


class Patient:
    """A broken environment, and envdoctor to repair it."""

    def __init__(self, prefix: Path, home: Path) -> None:
        self.prefix = prefix
        self.python = str(prefix / "bin" / "python")
        self.home = home
        self.before = tree(prefix)

    def command(self, *options: str) -> Tuple[str, ...]:
        return (sys.executable, "-m", "envdoctor", "repair", "--python", self.python, *options)

    def environ(self, stand_in: str = "", **more: str) -> Dict[str, str]:
        bare = {"PATH": os.defpath, "HOME": str(self.home), "LANG": "C.UTF-8"}
        return {**bare, "STAND_IN": stand_in, **more}

    def repair(self, *options: str, stand_in: str = "", **more: str) -> Ended:
        done = subprocess.run(
            self.command(*options),
            cwd=ROOT,
            env=self.environ(stand_in, **more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def starts(self, stand_in: str) -> subprocess.Popen[bytes]:
        """A repair whose first step has begun to change files, and hangs."""
        process = subprocess.Popen(
            self.command("--apply", "--yes"),
            cwd=ROOT,
            env=self.environ(stand_in),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + 60
        while not list(self.prefix.glob("lib/python3*/site-packages/left_over.py")):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        return process

    @property
    def site(self) -> Path:
        (site,) = self.prefix.glob("lib/python3*/site-packages")
        return site

    def calls(self) -> str:
        file = self.prefix / "calls"
        return file.read_text() if file.exists() else ""

    def is_as_before(self) -> bool:
        return tree(self.prefix) == self.before

    def keeps_nothing(self) -> bool:
        places = [*self.home.rglob("repairs/*"), *self.prefix.parent.glob(".*envdoctor*")]
        return not places


def flat(text: str) -> str:
    """A text that was wrapped, as one line."""
    return " ".join(text.split())


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("broken") / "env"
    make(folder, BROKEN, "3.11", found=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "pip" / "__main__.py").write_text(PIP)
    return folder


@pytest.fixture
def patient(broken: Path, tmp_path: Path) -> Patient:
    prefix = tmp_path / 'an env\'s "folder"'
    shutil.copytree(broken, prefix, symlinks=True)
    home = tmp_path / "home"
    home.mkdir()
    return Patient(prefix, home)


# --- the plan --------------------------------------------------------------------------------


def test_the_plan_is_that_of_check(patient: Patient) -> None:
    ended = patient.repair("--format", "json")
    plan = json.loads(ended.out)
    assert (ended.code, plan["status"], plan["optimal"]) == (1, "solved", True)
    (change,) = plan["changes"]
    assert (change["component"], change["from"], change["to"]) == ("numpy", "2.1.0", "1.26.4")
    assert change["why"].startswith("ED430 numba 0.59.1: ")
    (step,) = plan["steps"]
    assert step["arguments"] == [patient.python, "-m", "pip", "install", WANTED]
    assert [one["code"] for one in plan["mends"]] == ["ED430"]
    assert plan["criteria"][0] == {"name": "changes", "value": 1}
    assert plan["outcome"] is None
    checked = subprocess.run(
        [sys.executable, "-m", "envdoctor", "check", "--python", patient.python, "--format=json"],
        cwd=ROOT,
        env=patient.environ(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    (finding,) = [f for f in json.loads(checked.stdout)["findings"] if f["code"] == "ED430"]
    assert finding["fixes"][0]["commands"] == plan["commands"]
    assert patient.is_as_before()


def test_nothing_is_changed_unasked(patient: Patient) -> None:
    for options in ([], ["--dry-run"]):
        ended = patient.repair(*options)
        assert ended.code == 1
        assert "numpy 2.1.0 -> 1.26.4" in ended.out
    ended = patient.repair("--apply")
    assert (ended.code, ended.err) == (
        2,
        "envdoctor: --apply asks before it changes anything; without a terminal say --yes\n",
    )
    assert patient.is_as_before()
    assert patient.calls() == ""


# --- carried out -----------------------------------------------------------------------------


def test_it_is_mended_and_can_be_taken_back(patient: Patient) -> None:
    ended = patient.repair("--apply", "--yes")
    assert ended.code == 0, ended.err
    assert "Changed: numpy 2.1.0 -> 1.26.4\n" in ended.out
    assert patient.calls() == f"install {WANTED}\n"
    assert not patient.is_as_before()
    again = patient.repair()
    assert again.code == 0
    assert again.out.startswith("Nothing to repair")
    assert patient.repair("--rollback").code == 0
    assert patient.is_as_before()
    assert patient.keeps_nothing()
    nothing = patient.repair("--rollback")
    assert nothing.code == 3
    assert nothing.err.endswith("is there to be taken back\n")


def test_programs_are_told_what_became_of_it(patient: Patient) -> None:
    ended = patient.repair("--apply", "--yes", "--format", "json")
    said = json.loads(ended.out)
    assert said["outcome"]["status"] == "applied"
    assert said["outcome"]["distributions"] == [
        {"component": "numpy", "from": "2.1.0", "to": "1.26.4", "why": ""}
    ]
    assert said["outcome"]["others"] == []


def test_what_somebody_changed_since_is_not_taken_back(patient: Patient) -> None:
    assert patient.repair("--apply", "--yes").code == 0
    (patient.site / "mine.py").write_text("mine\n")
    ended = patient.repair("--rollback")
    assert ended.code == 3
    assert "the environment was changed since" in ended.err
    assert "mine.py" in ended.err
    assert (patient.site / "mine.py").exists()


def test_what_python_compiled_since_is_no_hindrance(patient: Patient) -> None:
    assert patient.repair("--apply", "--yes").code == 0
    command = [patient.python, "-c", "import numpy"]
    subprocess.run(command, env=patient.environ(), check=True, timeout=60)
    assert list(patient.site.glob("numpy/__pycache__/*.pyc"))
    assert patient.repair("--rollback").code == 0
    assert patient.is_as_before()


def test_other_changes_meanwhile_are_told(patient: Patient) -> None:
    ended = patient.repair("--apply", "--yes", stand_in="beside")
    assert ended.code == 0
    assert "Something else changed files of the environment meanwhile: " in flat(ended.out)
    assert "somebody.txt" in ended.out


# --- put back --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stand_in", "reason"),
    [
        ("fail", "pip install numpy==1.26.4: exit status 1"),
        ("other", "check still finds what was to be mended: ED430 numba 0.59.1"),
        ("break", "check finds what was not wrong before: ED209"),
    ],
)
def test_what_fails_is_put_back(patient: Patient, stand_in: str, reason: str) -> None:
    ended = patient.repair("--apply", "--yes", stand_in=stand_in)
    assert ended.code == 4, ended.err
    assert reason in flat(ended.out)
    assert "The environment is as it was" in ended.out
    assert patient.is_as_before()
    assert patient.keeps_nothing()
    if stand_in == "fail":
        assert "ERROR: no space left for numpy" in ended.out


def test_it_is_kept_for_who_wants_that(patient: Patient) -> None:
    ended = patient.repair("--apply", "--yes", "--keep-going", stand_in="other")
    assert ended.code == 1
    assert not patient.is_as_before()
    assert patient.repair("--rollback").code == 0
    assert patient.is_as_before()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_stops_it_gets_back_what_was(patient: Patient, number: int) -> None:
    process = patient.starts("hang")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4, err.decode()
    assert b"Rolled back: it was stopped" in out
    assert patient.is_as_before()
    assert patient.keeps_nothing()


def test_out_of_time(patient: Patient) -> None:
    ended = patient.repair("--apply", "--yes", "--timeout", "4", stand_in="hang")
    assert ended.code == 4, ended.err
    assert "it took too long" in ended.out
    assert patient.is_as_before()


def test_what_was_killed_is_taken_back_later(patient: Patient) -> None:
    process = patient.starts("hang")
    process.kill()
    process.wait(60)
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    told = patient.repair()
    assert "was broken off; take it back" in told.err
    refused = patient.repair("--apply", "--yes")
    assert refused.code == 3 or "nothing to repair" in refused.out.lower()
    back = patient.repair("--rollback")
    assert back.code == 0, back.err
    assert patient.is_as_before()
    assert patient.keeps_nothing()
    assert patient.repair("--apply", "--yes").code == 0


def test_a_second_repair_waits_for_nobody(patient: Patient) -> None:
    process = patient.starts("hang")
    for options in (["--rollback"], ["--apply", "--yes", "--keep-going"]):
        refused = patient.repair(*options)
        assert refused.code in (0, 3)
        if refused.code == 3:
            assert "another envdoctor is changing" in refused.err or "broken off" in refused.err
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 4
    assert patient.is_as_before()


# --- refused ---------------------------------------------------------------------------------


def refused(patient: Patient, *options: str, **environ: str) -> str:
    """The one line that says why nothing was done."""
    before = tree(patient.prefix)
    ended = patient.repair("--apply", "--yes", *options, **environ)
    assert ended.code in (2, 3), ended
    assert tree(patient.prefix) == before
    assert patient.calls() == ""
    assert patient.keeps_nothing()
    line = [line for line in ended.err.splitlines() if line.startswith("envdoctor: ")]
    return line[-1]


def test_facts_of_another_machine(patient: Patient, tmp_path: Path) -> None:
    assert "is for the machine that is there" in refused(patient, "--gpu", "a100")
    assert "ENVDOCTOR_ASSUME assumes another" in refused(patient, ENVDOCTOR_ASSUME="gpu=a100")
    ended = subprocess.run(
        [sys.executable, "-m", "envdoctor", "repair", "--facts", "f.json", "--apply", "--yes"],
        cwd=ROOT,
        env=patient.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (
        2,
        "envdoctor: --apply changes an environment of this machine, "
        "and --facts describes another\n",
    )


def test_a_record_that_names_files_outside(patient: Patient, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious\n")
    record = next(patient.site.glob("numpy-*.dist-info")) / "RECORD"
    record.write_text(record.read_text() + "../../../../precious,,\n")
    assert "RECORD lists a file outside of the environment" in refused(patient)
    assert precious.read_text() == "precious\n"


def test_site_packages_that_are_a_link(patient: Patient, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(str(patient.site), elsewhere)
    site = next(patient.prefix.glob("lib/python3*")) / "site-packages"
    site.symlink_to(elsewhere)
    assert "which lies outside of the environment" in refused(patient)


def linked_out(patient: Patient, package: str, folder: Path) -> Path:
    """A package that is a link to a folder outside of the environment."""
    shutil.move(str(patient.site / package), folder / package)
    (patient.site / package).symlink_to(folder / package)
    return folder / package


def test_a_package_that_changes_and_is_a_link(patient: Patient, tmp_path: Path) -> None:
    outside = linked_out(patient, "numpy", tmp_path)
    before = tree(outside)
    assert "outside of the environment" in refused(patient)
    assert tree(outside) == before


def test_a_package_that_stays_may_be_a_link(patient: Patient, tmp_path: Path) -> None:
    outside = linked_out(patient, "llvmlite", tmp_path)
    inside, before = tree(patient.prefix), tree(outside)
    assert patient.repair("--apply", "--yes").code == 0
    assert patient.repair("--rollback").code == 0
    assert (tree(patient.prefix), tree(outside)) == (inside, before)


def test_no_pip(patient: Patient) -> None:
    for folder in patient.site.glob("pip*"):
        shutil.rmtree(folder)
    assert "the environment has no pip" in refused(patient)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--apply", "--dry-run"], "--apply and --dry-run exclude each other"),
        (["--apply", "--rollback"], "--apply and --rollback exclude each other"),
        (["--yes"], "--yes goes with --apply"),
        (["--keep-going"], "--keep-going goes with --apply"),
    ],
)
def test_options_that_make_no_sense(options: Any, error: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "envdoctor", "repair", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert error in done.stderr
