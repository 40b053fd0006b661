"""Where a snapshot lies, who may use it, and what a later call does with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

from envdoctor.actions.apply import is_broken_off, roll_back
from envdoctor.actions.refusal import RefusedError
from envdoctor.actions.snapshot import SnapshotError, take
from envdoctor.actions.undo import DONE, RUNNING, TAKING, Journal, Undo, chosen, existing, places


class Silent:
    """Is told what goes on, and keeps it."""

    def __init__(self) -> None:
        self.told: List[str] = []

    def keeping(self, done: int, of: int) -> None:
        self.told.append(f"kept {done} of {of}")

    def begun(self, number: int, of: int, command: str) -> None:
        self.told.append(f"{number} of {of}: {command}")

    def heard(self, line: str) -> None:
        self.told.append(line)

    def checking(self) -> None:
        self.told.append("checking")

    def putting_back(self) -> None:
        self.told.append("putting back")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ENVDOCTOR_NO_CACHE", raising=False)


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    folder = tmp_path / "env"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "six.py").write_text("six\n")
    return str(folder)


def begun(prefix: str, state: str) -> Undo:
    """A change that came so far when it was killed."""
    undo, is_near = chosen(prefix)
    assert is_near
    journal = Journal(prefix, ("lib",), state, ("pip install six",))
    with undo.locked():
        undo.begin(journal)
        if state != TAKING:
            root = os.fsencode(prefix)
            undo.keep(take(root, [b"lib"], undo.files, lambda _done, _of: None))
    return undo


def test_it_lies_in_the_cache_or_beside(
    prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo, _ = chosen(prefix)
    assert tmp_path / "cache" / "envdoctor" / "repairs" == undo.place.parent
    monkeypatch.setenv("ENVDOCTOR_NO_CACHE", "1")
    undo, _ = chosen(prefix)
    assert undo.place.parent == tmp_path
    assert len(places(prefix)) == 1


def test_what_was_killed_before_anything_was_changed(prefix: str) -> None:
    undo = begun(prefix, TAKING)
    assert not is_broken_off(prefix)
    carried = roll_back(prefix, Silent())
    assert (carried.files, carried.problems) == (0, ())
    assert not undo.place.exists()


def test_what_was_killed_while_a_step_ran(prefix: str) -> None:
    undo = begun(prefix, RUNNING)
    assert is_broken_off(prefix)
    (Path(prefix) / "lib" / "six.py").unlink()
    told = Silent()
    assert roll_back(prefix, told).problems == ()
    assert told.told == ["putting back"]
    assert (Path(prefix) / "lib" / "six.py").read_text() == "six\n"
    assert not undo.place.exists()
    with pytest.raises(RefusedError, match="is there to be taken back"):
        roll_back(prefix, Silent())


def test_a_step_that_still_runs(prefix: str) -> None:
    undo = begun(prefix, RUNNING)
    step = subprocess.Popen([sys.executable, "-c", "input()"], cwd=undo.work, stdin=subprocess.PIPE)
    try:
        with pytest.raises(RefusedError, match=f"still runs: process {step.pid}"):
            roll_back(prefix, Silent())
    finally:
        step.communicate(b"\n", timeout=60)
    assert roll_back(prefix, Silent()).problems == ()


def test_one_at_a_time(prefix: str) -> None:
    undo = begun(prefix, RUNNING)
    other = pytest.raises(SnapshotError, match="another envdoctor is changing this environment")
    with undo.locked(), other:
        roll_back(prefix, Silent())
    assert roll_back(prefix, Silent()).problems == ()


def test_a_folder_that_others_can_write_to_is_not_believed(prefix: str) -> None:
    undo = begun(prefix, RUNNING)
    undo.place.chmod(0o777)
    assert existing(prefix) is None
    with pytest.raises(SnapshotError, match="others can write to"), undo.locked():
        pass


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\x00", b'{"prefix": 3}'])
def test_a_journal_that_cannot_be_read(prefix: str, content: bytes) -> None:
    undo = begun(prefix, RUNNING)
    (undo.place / "journal.json").write_bytes(content)
    assert existing(prefix) is None


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x81\xa1a\xa1b"])
def test_a_snapshot_that_cannot_be_read(prefix: str, content: bytes) -> None:
    undo = begun(prefix, DONE)
    (undo.place / "entries").write_bytes(content)
    with pytest.raises(SnapshotError, match="cannot be read"):
        roll_back(prefix, Silent())
    assert (Path(prefix) / "lib" / "six.py").exists()
