"""The cache is an aid only: nothing that lies where an entry is expected changes an answer."""

from __future__ import annotations

import os
import resource
import socket
from pathlib import Path
from typing import Callable, Dict, List

import pytest

from envdoctor.cache import store
from envdoctor.knowledge.cache import cached


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "envdoctor"


@pytest.fixture
def ask() -> Callable[[], bool]:
    """Asks for what is cached; whether it had to be made."""
    made: List[str] = []

    def make(texts: Dict[str, str]) -> Dict[str, str]:
        made.append("")
        return {name: text.upper() for name, text in texts.items()}

    def call() -> bool:
        made.clear()
        found = cached("letters", [("a.txt", b"abc")], [Path(__file__)], Dict[str, str], make)
        assert found == {"a.txt": "ABC"}
        return bool(made)

    return call


def entry(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


def test_an_entry_is_made_once(folder: Path, ask: Callable[[], bool]) -> None:
    assert [ask(), ask(), ask()] == [True, False, False]


@pytest.mark.parametrize("altered", [b"", b"\x93garbage", b"ABD", b"\0" * 100])
def test_an_altered_entry_is_noticed_and_mended(
    folder: Path, ask: Callable[[], bool], altered: bytes
) -> None:
    ask()
    content = entry(folder).read_bytes()
    # "ABD": still what msgspec would decode
    changed = content.replace(b"ABC", b"ABD") if altered == b"ABD" else altered
    entry(folder).write_bytes(changed)
    assert [ask(), ask()] == [True, False]
    assert entry(folder).read_bytes() == content


@pytest.mark.parametrize("at", [0, 3, 4, -1])
def test_a_flipped_bit_is_noticed(folder: Path, ask: Callable[[], bool], at: int) -> None:
    ask()
    content = bytearray(entry(folder).read_bytes())
    content[at] ^= 1
    entry(folder).write_bytes(content)
    assert ask()


def pipe(path: Path) -> None:
    os.mkfifo(str(path))


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(str(path.parent), os.O_RDONLY)  # such a path may be longer than 108 bytes
        server.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


@pytest.mark.parametrize(
    "put",
    [
        pipe,
        listener,
        Path.mkdir,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to("/dev/full"),
        lambda path: path.symlink_to(path),
    ],
)
def test_what_is_no_file_is_not_read(
    folder: Path, ask: Callable[[], bool], put: Callable[[Path], None]
) -> None:
    ask()
    path = entry(folder)
    path.unlink()
    put(path)
    assert ask()
    assert [other.name for other in folder.iterdir()] == [path.name]


def test_an_entry_past_all_measure_is_not_taken(
    folder: Path, ask: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    monkeypatch.setattr(store, "MAX_BYTES", 3)
    assert ask()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"XDG_CACHE_HOME": "{tmp}/x", "HOME": "/gone"}, "x/envdoctor"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "{tmp}/home"}, "home/.cache/envdoctor"),
        ({"XDG_CACHE_HOME": "", "HOME": "{tmp}/home"}, "home/.cache/envdoctor"),
        ({"XDG_CACHE_HOME": "./x", "HOME": "relative"}, ""),
        ({"XDG_CACHE_HOME": "x", "HOME": ""}, ""),
    ],
)
def test_a_relative_folder_is_no_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[], bool],
    variables: Dict[str, str],
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    assert ask()
    found = [str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("*.msgpack")]
    assert found == ([expected] if expected else [])


def test_a_folder_that_cannot_be_made_is_no_fault(
    tmp_path: Path, folder: Path, ask: Callable[[], bool]
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert [ask(), ask()] == [True, True]


def test_none_is_wanted(
    tmp_path: Path, folder: Path, ask: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVDOCTOR_NO_CACHE", "1")
    assert [ask(), ask()] == [True, True]
    assert not folder.exists()


def test_a_full_disk_leaves_nothing_behind(folder: Path, ask: Callable[[], bool]) -> None:
    folder.mkdir(parents=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        assert ask()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(folder.iterdir()) == []
