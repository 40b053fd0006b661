"""What was found of binaries is remembered while nothing that was looked at changes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, Dict

import msgspec
import pytest

sys.path.append(str(Path(__file__).resolve().parent))

from test_examine import module
from worlds import EXTENSION, SITE, Offered, Wanted, World, shared_object

from envdoctor.cache import store, unchanged
from envdoctor.elf.content import content_key
from envdoctor.elf.image import ElfError
from envdoctor.linking import examine
from envdoctor.linking.remembered import NOT_READ, NOT_YET, observe_linking
from envdoctor.model.facts import Linking

pytestmark = pytest.mark.remembering


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(unchanged, "SETTLED_NS", -(10**12))  # what was written now stays so
    world = World(tmp_path / "env")
    world.install_torch()
    files = module("x/_ext", needed=["libc10.so"], wants=[Wanted("_ZN3c105ErrorE")])
    world.install("x", "1.0", files)
    return world


class Reading:
    """Counts examinations."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        examined = examine.examined

        def counted(*arguments: Any) -> Any:
            self.times += 1
            return examined(*arguments)

        monkeypatch.setattr(examine, "examined", counted)


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    return Reading(monkeypatch)


def found(world: World) -> Linking:
    observed = observe_linking(world.target())
    assert observed.value is not None, observed.unknown
    return observed.value


def test_a_second_time_nothing_is_read(
    world: World, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = found(world)
    assert first.files == 2
    opened = []
    plain = os.open
    monkeypatch.setattr(os, "open", lambda path, *more: opened.append(path) or plain(path, *more))
    assert found(world) == first
    assert reading.times == 1
    assert [path for path in opened if str(path).startswith(str(world.root))] == []


CHANGES: Dict[str, Any] = {
    "a binary": lambda w: w.write(f"{SITE}/x/_ext.{EXTENSION}", shared_object(needed=["gone.so"])),
    "a library": lambda w: w.put(f"{SITE}/torch/lib/libc10.so", "libc10.so"),
    "a list of files": lambda w: w.install("x", "1.0", module("x/_more")),
    "what torch loads first": lambda w: w.write(f"{SITE}/torch/__init__.py", b"# other"),
    "the interpreter": lambda w: w.put(
        "bin/python", interpreter="/lib64/ld-linux-x86-64.so.2", exports=[Offered("f")]
    ),
    "a variable": lambda w: w.environ.update(LD_LIBRARY_PATH="/somewhere"),
    "a binary that is gone": lambda w: (w.root / SITE / f"x/_ext.{EXTENSION}").unlink(),
    "a library that comes before": lambda w: w.put(f"{SITE}/torch/lib/libm.so.6", "libm.so.6"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_read_again(world: World, reading: Reading, change: str) -> None:
    found(world)
    CHANGES[change](world)
    again = found(world)
    assert reading.times == 2
    assert again == world.linking()


def test_other_times_and_inodes_are_no_change(world: World, reading: Reading) -> None:
    """As a container has them that is started anew: then content decides."""
    first = found(world)
    moved = world.root.with_name("moved")
    shutil.copytree(world.root, moved)
    shutil.rmtree(world.root)
    moved.rename(world.root)
    assert found(world) == first
    assert reading.times == 1


def test_the_rest_of_the_target_is_no_change(world: World, reading: Reading) -> None:
    found(world)
    world.environ["SLURM_JOB_ID"] = "17"
    found(world)
    assert reading.times == 1


@pytest.mark.parametrize("damage", [b"", b"\0" * 400, None], ids=["empty", "zeros", "cut"])
def test_a_damaged_memory_is_ignored(world: World, reading: Reading, damage: Any) -> None:
    first = found(world)
    folder = Path(store.folder() or "")
    (entry,) = folder.glob("linking-*")
    entry.write_bytes(entry.read_bytes()[:-9] if damage is None else damage)
    assert found(world) == first
    assert reading.times == 2


def test_another_s_memory_is_ignored(world: World, reading: Reading) -> None:
    first = found(world)
    (entry,) = Path(store.folder() or "").glob("linking-*")
    store.write(entry.name, msgspec.msgpack.encode([b"", b"", {}, [], b"", b""]), "linking-", 20)
    assert found(world) == first
    assert reading.times == 2


def test_a_folder_that_cannot_be_written(
    world: World, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing")
    assert found(world) == found(world)
    assert reading.times == 2


def test_what_is_not_known_is_not_read(world: World, reading: Reading) -> None:
    assert observe_linking(world.target(), deep=None).unknown == NOT_YET
    assert observe_linking(world.target(), deep=False).unknown == NOT_READ
    assert reading.times == 0
    first = found(world)
    assert observe_linking(world.target(), deep=None).value == first
    assert observe_linking(world.target(), deep=False).unknown == NOT_READ


def test_a_fault_of_our_own_costs_nothing_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any) -> None:
        raise KeyError("x")

    monkeypatch.setattr(examine, "examine", crash)
    assert observe_linking(world.target()).unknown == "the probe itself failed: KeyError: 'x'"


# --- content -----------------------------------------------------------------------------------


def test_what_tells_files_apart(tmp_path: Path) -> None:
    def key(**fields: Any) -> str:
        path = tmp_path / "a.so"
        path.write_bytes(shared_object("a", **fields))
        return content_key(str(path))

    known: Dict[str, Any] = {"build_id": bytes(range(20))}
    assert key(**known) == key(**known)
    keys = [
        key(**known),
        key(build_id=bytes(range(1, 21))),
        key(**known, runpath="/a"),
        key(**known, runpath="/b"),  # in place, as patchelf does
        key(**known, needed=["b.so"]),
        key(),
        key(filling=8),
        key(exports=[Offered("f")]),
        key(exports=[Offered("g")]),
    ]
    assert len(set(keys)) == len(keys)


def test_a_file_that_is_none_has_no_key(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(b"text")
    with pytest.raises(ElfError):
        content_key(str(tmp_path / "a.so"))
