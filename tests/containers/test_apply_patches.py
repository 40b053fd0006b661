"""The applier of source patches, on trees that are as they should be and on others."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

from envdoctor.containers import apply_patches
from envdoctor.containers.apply_patches import PatchError, apply, glob

SCRIPT = apply_patches.__file__
EDIT: Dict[str, Any] = {
    "files": ["src/**/*.cu"],
    "find": r"^#include <OLD\.h>$",
    "put": "#include <NEW.h>",
    "least": 1,
    "done": r"^#include <NEW\.h>$",
}
OLD = b"// caf\xe9\n#include <OLD.h>\nint x;\n"
NEW = b"// caf\xe9\n#include <NEW.h>\nint x;\n"


def document(*edits: Dict[str, Any]) -> str:
    return json.dumps({"patches": [{"patch": "a-b", "edits": list(edits)}]})


PATCHES = document(EDIT)


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src" / "cuda").mkdir(parents=True)
    (root / "src" / "cuda" / "a.cu").write_bytes(OLD)
    (root / "src" / "b.cpp").write_bytes(OLD)
    return root


def run(
    root: Path, text: str, script: Optional[List[str]] = None
) -> subprocess.CompletedProcess[str]:
    patches = root.parent / "PATCHES.json"
    patches.write_text(text)
    return subprocess.run(
        [sys.executable, "-I", SCRIPT, *(script or [str(patches), str(root)])],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_script_of_its_own(root: Path) -> None:
    done = run(root, PATCHES)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "a-b, edit 1: 1 place in 1 file\n"
    assert (root / "src/cuda/a.cu").read_bytes() == NEW
    assert (root / "src/b.cpp").read_bytes() == OLD
    again = run(root, PATCHES)
    assert (again.returncode, again.stdout) == (0, "a-b, edit 1: done already\n")
    assert (root / "src/cuda/a.cu").read_bytes() == NEW
    assert sorted(path.name for path in root.rglob("*")) == ["a.cu", "b.cpp", "cuda", "src"]


def test_what_is_not_found_is_one_line_and_nothing_is_written(root: Path) -> None:
    done = run(root, document(EDIT, {**EDIT, "files": ["*.py"], "least": 2}))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "a-b, edit 2: 0 of at least 2 places found\n"
    assert (root / "src/cuda/a.cu").read_bytes() == OLD


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"patches": [{}]}', document({**EDIT, "find": "("}), "[" * 100_000]
    + ['{"patches": [{"patch": "a", "edits": [[1]]}]}', '{"patches": [3]}', '"\\ud800"', "nul"]
    + [document({**EDIT, key: value}) for key in EDIT for value in (3, [4], {"a": 1}, 1e999)]
    + [document({**EDIT, "put": r"\2"}), document({**EDIT, "find": 3})]
    + [document({**EDIT, "files": [one]}) for one in ("../x", "/etc/passwd", "a//b", "a/**", "")],
)
def test_patches_that_cannot_be_read(root: Path, text: str) -> None:
    done = run(root, text)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_wrong_arguments(root: Path) -> None:
    assert run(root, PATCHES, ["one"]).returncode == 2
    gone = run(root, PATCHES, [str(root.parent / "PATCHES.json"), str(root / "gone")])
    assert (gone.returncode, gone.stderr) == (1, f"{root / 'gone'}: no such file or directory\n")
    none = run(root, PATCHES, [str(root / "none.json"), str(root)])
    assert (none.returncode, none.stderr.count("\n")) == (1, 1)


def test_an_edit_that_may_have_nothing_to_do(root: Path) -> None:
    lines = apply(document(EDIT, {**EDIT, "find": "z", "least": 0, "done": ""}), str(root))
    assert lines[1] == "a-b, edit 2: nothing to change here"


def test_edits_follow_one_another(root: Path) -> None:
    second = {**EDIT, "find": r"<NEW\.h>", "put": "<NEWER.h>", "done": "NEWER"}
    assert len(apply(document(EDIT, second), str(root))) == 2
    assert b"#include <NEWER.h>" in (root / "src/cuda/a.cu").read_bytes()


def test_half_of_it_done_before(root: Path) -> None:
    (root / "src/cuda/c.cu").write_bytes(NEW)
    assert apply(document({**EDIT, "least": 2}), str(root)) == ["a-b, edit 1: 1 place in 1 file"]


def test_what_an_edit_puts_it_does_not_find(root: Path) -> None:
    with pytest.raises(PatchError, match="finds what it has put itself"):
        apply(document({**EDIT, "find": "x", "put": "xx"}), str(root))


@pytest.mark.parametrize("mode", [0o444, 0o755, 0o640])
def test_the_mode_stays(root: Path, mode: int) -> None:
    file = root / "src/cuda/a.cu"
    file.chmod(mode)
    apply(PATCHES, str(root))
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_bytes() == NEW


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (OLD.replace(b"\n", b"\r\n"), NEW.replace(b"\n", b"\r\n")),
        (b"\xef\xbb\xbf\n" + OLD, b"\xef\xbb\xbf\n" + NEW),
        (b"a\r\n" + OLD, b"a\r\n" + NEW),  # both kinds
        (b"#include <OLD.h>", b"#include <NEW.h>"),  # no line end at the end
        ("// 中文\n".encode("gbk") + OLD, "// 中文\n".encode("gbk") + NEW),
        (b"\xff\xfe\xfd\n" + OLD, b"\xff\xfe\xfd\n" + NEW),
    ],
)
def test_line_ends_and_encodings_stay(root: Path, before: bytes, after: bytes) -> None:
    (root / "src/cuda/a.cu").write_bytes(before)
    apply(PATCHES, str(root))
    assert (root / "src/cuda/a.cu").read_bytes() == after


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (OLD + b"\0", "no text"),
        (OLD.decode("latin-1").encode("utf-16"), "no text"),
        (OLD + b" " * apply_patches.MAX_FILE, "larger than"),
    ],
)
def test_what_is_no_text_is_left_as_it_is(root: Path, content: bytes, why: str) -> None:
    (root / "src/cuda/a.cu").write_bytes(content)
    with pytest.raises(PatchError, match=f"0 of at least 1 places found; left out: .*{why}"):
        apply(PATCHES, str(root))
    assert (root / "src/cuda/a.cu").read_bytes() == content


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "o.cu").write_bytes(OLD)
    (root / "src" / "link.cu").symlink_to(outside / "o.cu")
    (root / "src" / "folder").symlink_to(outside)
    (root / "src" / "loop").symlink_to(root / "src")
    assert apply(PATCHES, str(root)) == ["a-b, edit 1: 1 place in 1 file"]
    assert (outside / "o.cu").read_bytes() == OLD
    assert (root / "src" / "link.cu").is_symlink()


def test_a_root_that_is_a_link_is_what_was_asked_for(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert apply(PATCHES, str(tmp_path / "link")) == ["a-b, edit 1: 1 place in 1 file"]


def test_what_is_linked_hard_stays_outside(root: Path, tmp_path: Path) -> None:
    os.link(str(root / "src/cuda/a.cu"), str(tmp_path / "kept.cu"))
    apply(PATCHES, str(root))
    assert (tmp_path / "kept.cu").read_bytes() == OLD
    assert (root / "src/cuda/a.cu").read_bytes() == NEW


def test_pipes_and_folders_of_that_name(root: Path) -> None:
    os.mkfifo(str(root / "src" / "pipe.cu"))
    (root / "src" / "folder.cu").mkdir()
    assert apply(PATCHES, str(root)) == ["a-b, edit 1: 1 place in 1 file"]


class Meddling:
    """Does something when the applier comes to writing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, meddle: Any) -> None:
        write = apply_patches.Tree.write

        def written(tree: Any, path: str, source: Any) -> None:
            meddle()
            write(tree, path, source)

        monkeypatch.setattr(apply_patches.Tree, "write", written)


def test_a_folder_becomes_a_link(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"

    def meddle() -> None:
        (root / "src/cuda").rename(outside)
        (root / "src/cuda").symlink_to(outside)

    Meddling(monkeypatch, meddle)
    with pytest.raises(PatchError, match=r"src/cuda/a\.cu: "):
        apply(PATCHES, str(root))
    assert (outside / "a.cu").read_bytes() == OLD
    assert sorted(path.name for path in outside.iterdir()) == ["a.cu"]


def test_a_file_goes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Meddling(monkeypatch, (root / "src/cuda/a.cu").unlink)
    with pytest.raises(PatchError, match=r"src/cuda/a\.cu: no such file"):
        apply(PATCHES, str(root))
    assert not list((root / "src/cuda").iterdir())


def test_a_file_changes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "src/cuda/a.cu"
    Meddling(monkeypatch, lambda: file.write_bytes(OLD + b"// mine\n"))
    with pytest.raises(PatchError, match="has changed meanwhile"):
        apply(PATCHES, str(root))
    assert file.read_bytes() == OLD + b"// mine\n"


def test_a_disk_that_is_full(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(PatchError, match=r"src/cuda/a\.cu: no space left on device"):
        apply(PATCHES, str(root))
    assert [path.name for path in (root / "src/cuda").iterdir()] == ["a.cu"]
    assert (root / "src/cuda/a.cu").read_bytes() == OLD


def test_many_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_patches, "MAX_ENTRIES", 3)
    with pytest.raises(PatchError, match="more than 3 files"):
        apply(PATCHES, str(root))
    monkeypatch.undo()
    monkeypatch.setattr(apply_patches, "MAX_READ", 3)
    with pytest.raises(PatchError, match="larger than 3 bytes"):
        apply(PATCHES, str(root))


def test_deep_folders(root: Path) -> None:
    deep = root / "src"
    for _ in range(apply_patches.MAX_DEPTH + 5):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "deep.cu").write_bytes(OLD)
    assert apply(PATCHES, str(root)) == ["a-b, edit 1: 1 place in 1 file"]


@pytest.mark.parametrize(
    ("pattern", "found", "others"),
    [
        ("setup.py", ["setup.py"], ["a/setup.py", "setup.pyc", "setup-py"]),
        ("src/*.cu", ["src/a.cu"], ["src/a/b.cu", "src/.a.cu", "src/a.cu\n"]),
        ("src/**/*.cu", ["src/a.cu", "src/a/b/c.cu"], ["a.cu", "src/.git/a.cu", "src/a.cuh"]),
        ("**/a?.c++", ["ab.c++", "x/ac.c++"], ["a.c++", "abc.c++", "ab.ccc"]),
    ],
)
def test_globs(pattern: str, found: List[str], others: List[str]) -> None:
    compiled = glob(pattern)
    assert [one for one in [*found, *others] if compiled.match(one)] == found
