"""Snapshots: whatever is done to an environment, each file is put back as it was."""

# ruff: noqa: PTH108, PTH118, PTH123 - names of files need be no text

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Dict, List, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor.actions.snapshot import (
    Entries,
    SnapshotError,
    compare,
    drop_untouched,
    listed,
    put_back,
    space_needed,
    take,
    verify,
)

ROOTS = [b"bin", b"lib", b"share"]
ODD = b"lib/caf\xe9.py"  # a name that is no text
LARGE = b"\x7fELF" + bytes(range(256)) * 8192  # 2 MiB
HALF = 1_600_000_000_500_000_000

Tree = Dict[bytes, Tuple[object, ...]]


def tree(prefix: Path) -> Tree:
    """All that can be seen of a folder: kinds, contents, modes, owners, times, links."""
    root = os.fsencode(prefix)
    found: Tree = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files, b"."]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content: bytes = b""
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(Path(os.fsdecode(path)).read_bytes()).digest()
            found[os.path.relpath(path, root)] = (
                status.st_mode,
                status.st_uid,
                status.st_gid,
                status.st_mtime_ns,
                content,
            )
    return found


def environment(prefix: Path) -> None:
    """An environment with what makes putting back hard."""
    site = prefix / "lib" / "site-packages"
    (site / "numpy" / "core").mkdir(parents=True)
    (prefix / "bin").mkdir()
    (site / "numpy" / "__init__.py").write_text("__version__ = '2.1.0'\n")
    (site / "numpy" / "core" / "large.so").write_bytes(LARGE)
    (site / "numpy" / "empty.py").write_bytes(b"")
    (site / "six.py").write_text("six\n")
    (site / "locked").mkdir()
    (site / "locked" / "file.py").write_text("locked\n")
    (site / "locked" / "file.py").chmod(0o444)
    script = prefix / "bin" / "tool with 'quotes'"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (prefix / "lib64").symlink_to("lib")
    (site / "link").symlink_to("numpy")
    (site / "dangling").symlink_to("/nowhere/at all")
    os.link(site / "six.py", site / "twin.py")
    odd = os.path.join(os.fsencode(prefix), ODD)
    with open(odd, "wb") as stream:
        stream.write(b"odd\n")
    for path in [*prefix.rglob("*"), prefix / "lib"]:
        if path.is_file() and not path.is_symlink():
            os.utime(path, ns=(HALF, HALF))
    os.utime(site / "dangling", ns=(HALF, HALF), follow_symlinks=False)
    (site / "locked").chmod(0o555)
    os.utime(site / "numpy", ns=(HALF, HALF))


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "an env's folder"
    folder.mkdir()
    environment(folder)
    return folder


def kept(prefix: Path, store: Path) -> Entries:
    store.mkdir()
    return take(os.fsencode(prefix), ROOTS, store, lambda _done, _of: None)


def back(prefix: Path, entries: Entries, store: Path) -> List[str]:
    return put_back(os.fsencode(prefix), ROOTS, entries, store)


def replaced(path: Path, content: bytes) -> None:
    """As installers do it: away with the old, and a new file in its place."""
    path.unlink()
    path.write_bytes(content)


def test_what_installers_do_is_undone(prefix: Path, tmp_path: Path) -> None:
    before = tree(prefix)
    entries = kept(prefix, tmp_path / "store")
    site = prefix / "lib" / "site-packages"
    replaced(site / "numpy" / "__init__.py", b"__version__ = '1.26.4'\n")
    replaced(site / "numpy" / "core" / "large.so", LARGE[:-1] + b"!")
    shutil.rmtree(site / "locked")
    (site / "numpy" / "empty.py").unlink()
    (site / "new" / "deep").mkdir(parents=True)
    (site / "new" / "deep" / "file.py").write_text("new\n")
    (site / "link").unlink()
    (site / "link").symlink_to("six.py")
    (site / "dangling").unlink()
    (prefix / "bin" / "tool with 'quotes'").chmod(0o600)
    (prefix / "share").mkdir()
    os.unlink(os.path.join(os.fsencode(prefix), ODD))
    assert back(prefix, entries, tmp_path / "store") == []
    assert tree(prefix) == before


def test_kinds_that_were_exchanged(prefix: Path, tmp_path: Path) -> None:
    before = tree(prefix)
    entries = kept(prefix, tmp_path / "store")
    site = prefix / "lib" / "site-packages"
    (site / "six.py").unlink()
    (site / "six.py").mkdir()
    (site / "six.py" / "__init__.py").write_text("a folder now\n")
    shutil.rmtree(site / "numpy")
    (site / "numpy").symlink_to("/tmp")
    (site / "dangling").unlink()
    (site / "dangling").write_text("a file now\n")
    assert back(prefix, entries, tmp_path / "store") == []
    assert tree(prefix) == before


def test_small_files_that_were_written_into(prefix: Path, tmp_path: Path) -> None:
    """They are copies, and also come back with the time that hides the change."""
    before = tree(prefix)
    entries = kept(prefix, tmp_path / "store")
    path = prefix / "lib" / "site-packages" / "six.py"
    with path.open("r+b") as stream:
        stream.write(b"SIX\n")
    os.utime(path, ns=(HALF, HALF))
    assert back(prefix, entries, tmp_path / "store") == []
    assert tree(prefix) == before


def test_a_large_file_that_was_written_into_is_told(prefix: Path, tmp_path: Path) -> None:
    """Where the file system shares no blocks its copy is the file itself: never a silent lie."""
    entries = kept(prefix, tmp_path / "store")
    path = prefix / "lib" / "site-packages" / "numpy" / "core" / "large.so"
    is_same = any(p.samefile(path) for p in (tmp_path / "store").rglob("*") if p.is_file())
    with path.open("r+b") as stream:
        stream.write(b"BAD!")
    os.utime(path, ns=(HALF, HALF))
    problems = back(prefix, entries, tmp_path / "store")
    told = ["lib/site-packages/numpy/core/large.so has another content"]
    assert problems == (told if is_same else [])


def test_putting_back_can_be_done_twice(prefix: Path, tmp_path: Path) -> None:
    before = tree(prefix)
    entries = kept(prefix, tmp_path / "store")
    shutil.rmtree(prefix / "lib" / "site-packages" / "numpy")
    assert back(prefix, entries, tmp_path / "store") == []
    assert back(prefix, entries, tmp_path / "store") == []
    assert tree(prefix) == before


def test_a_copy_that_is_lost_is_told(prefix: Path, tmp_path: Path) -> None:
    entries = kept(prefix, tmp_path / "store")
    path = prefix / "lib" / "site-packages" / "six.py"
    path.unlink()
    shutil.rmtree(tmp_path / "store")
    assert back(prefix, entries, tmp_path / "store") == ["lib/site-packages/six.py is gone"]


def test_what_did_not_change_needs_no_copy(prefix: Path, tmp_path: Path) -> None:
    before = tree(prefix)
    store = tmp_path / "store"
    entries = kept(prefix, store)
    replaced(prefix / "lib" / "site-packages" / "six.py", b"seven\n")
    drop_untouched(os.fsencode(prefix), ROOTS, entries, store)
    left = [path for path in store.rglob("*") if path.is_file()]
    assert {path.read_bytes() for path in left} == {b"six\n"}
    assert back(prefix, entries, store) == []
    assert tree(prefix) == before


def test_nothing_outside_of_the_environment_is_touched(prefix: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious\n")
    site = prefix / "lib" / "site-packages"
    (site / "elsewhere").symlink_to(outside)
    before = tree(outside)
    entries = kept(prefix, tmp_path / "store")
    assert not any(b"precious" in path for path in entries)
    (site / "elsewhere").unlink()
    (site / "also").symlink_to(outside)
    assert back(prefix, entries, tmp_path / "store") == []
    assert tree(outside) == before
    assert (site / "elsewhere").is_symlink()
    assert not (site / "also").is_symlink()


def test_a_file_that_somebody_writes_to_is_not_kept(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    six = prefix / "lib" / "site-packages" / "six.py"
    times = iter(range(10**6))

    def write(_done: int, _of: int) -> None:
        with six.open("a") as stream:
            stream.write(f"{next(times)}\n")

    (tmp_path / "store").mkdir()
    with pytest.raises(SnapshotError, match="was changed meanwhile by another process"):
        take(os.fsencode(prefix), ROOTS, tmp_path / "store", write)


def test_how_it_differs(prefix: Path, tmp_path: Path) -> None:
    entries = kept(prefix, tmp_path / "store")
    assert not compare(os.fsencode(prefix), ROOTS, entries)
    site = prefix / "lib" / "site-packages"
    (site / "new.py").write_text("")
    (site / "numpy" / "empty.py").unlink()
    (site / "six.py").chmod(0o600)
    differs = compare(os.fsencode(prefix), ROOTS, entries)
    assert differs.new == (b"lib/site-packages/new.py",)
    assert differs.gone == (b"lib/site-packages/numpy/empty.py",)
    # one file with two names
    assert differs.changed == (b"lib/site-packages/six.py", b"lib/site-packages/twin.py")
    assert verify(os.fsencode(prefix), ROOTS, entries) != []


def test_the_space_that_is_asked_for_holds_it(prefix: Path, tmp_path: Path) -> None:
    entries = listed(os.fsencode(prefix), ROOTS)
    assert (
        space_needed(entries, is_near=False) - space_needed(entries, is_near=True)
        == len(LARGE) + 4096 - len(LARGE) % 4096
    )


def test_another_name_of_a_file_is_no_change(prefix: Path, tmp_path: Path) -> None:
    """uv gives the files of its cache a name in each environment."""
    entries = kept(prefix, tmp_path / "store")
    after = listed(os.fsencode(prefix), ROOTS)
    os.link(prefix / "lib" / "site-packages" / "six.py", tmp_path / "elsewhere.py")
    assert not compare(os.fsencode(prefix), ROOTS, entries)
    assert not compare(os.fsencode(prefix), ROOTS, after)


#: What may be done to a path, by number.
DAMAGE = ("remove", "write", "chmod", "touch", "replace", "folder", "link")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(DAMAGE)), max_size=12))
def test_any_damage_is_undone(damages: List[Tuple[int, str]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        prefix, store = Path(temporary) / "env", Path(temporary) / "store"
        prefix.mkdir()
        environment(prefix)
        before = tree(prefix)
        entries = kept(prefix, store)
        for number, damage in damages:
            paths = sorted(
                p for p in (prefix / "lib").rglob("*") if "large" not in p.name or damage != "write"
            )
            if paths:
                done(paths[number % len(paths)], damage)
        assert back(prefix, entries, store) == []
        assert tree(prefix) == before
        (prefix / "lib" / "site-packages" / "locked").chmod(0o755)


def done(path: Path, damage: str) -> None:
    is_folder = path.is_dir() and not path.is_symlink()
    if damage in ("remove", "replace", "folder", "link"):
        path.parent.chmod(0o755)
        if is_folder:
            for folder in path.rglob("*"):
                if folder.is_dir() and not folder.is_symlink():
                    folder.chmod(0o755)
            path.chmod(0o755)
            shutil.rmtree(path)
        else:
            path.unlink()
    if damage == "replace":
        path.write_bytes(LARGE[::-1])
    elif damage == "folder":
        (path / "a" / "b").mkdir(parents=True)
        (path / "a" / "b" / "c").write_text("c")
    elif damage == "link":
        path.symlink_to("/etc")
    elif damage == "chmod" and not path.is_symlink():
        path.chmod(0o700)
    elif damage == "touch":
        os.utime(path, ns=(1, 1), follow_symlinks=False)
    elif damage == "write" and path.is_file() and not path.is_symlink():
        path.chmod(0o644)
        with path.open("ab") as stream:
            stream.write(b"more")
