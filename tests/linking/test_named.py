"""Binaries at paths that were named: a folder, a file, a wheel."""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict

import pytest

sys.path.append(str(Path(__file__).resolve().parent))

from test_examine import module
from worlds import EXTENSION, Offered, Wanted, World, shared_object

from envdoctor.linking.named import PathError
from envdoctor.linking.remembered import observe_linking
from envdoctor.model.facts import Binary

STALE = [Wanted("_ZN2at4goneE")]


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path / "env")
    world.install_torch()
    return world


def wheel(path: Path, files: Dict[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return str(path)


def told(world: World, *paths: str) -> Dict[str, Binary]:
    found = observe_linking(world.target(), paths=paths)
    assert found.value is not None, found.unknown
    return {binary.path: binary for binary in found.value.binaries}


def test_a_wheel_before_it_is_installed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    library = shared_object("liba-1.so", exports=[Offered("f")], needed=["libc10.so"])
    fields = {"needed": ["libc10.so", "liba-1.so"], "rpath": "$ORIGIN/../mmcv.libs"}
    good = {
        **module("mmcv/_ext", wants=[Wanted("f"), Wanted("_ZN3c105ErrorE")], **fields),
        "mmcv.libs/liba-1.so": library,
        "mmcv/__init__.py": b"",
    }
    path = wheel(tmp_path / "mmcv-1-cp311-cp311-linux_x86_64.whl", good)
    assert told(world, path) == {}
    stale = {**good, **module("mmcv/_ext", wants=STALE, **fields)}
    path = wheel(tmp_path / "mmcv-2-cp311-cp311-linux_x86_64.whl", stale)
    (binary,) = told(world, path).values()
    assert binary.path == f"{path}/mmcv/_ext.{EXTENSION}"
    assert (binary.module, binary.cause, binary.named) == ("mmcv._ext", "torch-abi-mismatch", True)
    assert list(tmp_path.glob("envdoctor-*")) == []


def test_a_wheel_finds_what_is_installed_beside_it(world: World, tmp_path: Path) -> None:
    libraries = {f"other/lib{name}.so": shared_object(f"lib{name}.so") for name in "ab"}
    libraries["nvidia/nccl/lib/libnccl.so.2"] = shared_object("libnccl.so.2")
    world.install("other", "1", libraries)
    world.put("lib/python3.11/site-packages/mmcv/libold.so", "libold.so")
    site = f"{world.root}/lib/python3.11/site-packages"
    runpath = "$ORIGIN/../other:$ORIGIN/../nvidia/nccl/lib:$ORIGIN/../nvidia/own:$ORIGIN"
    files = {"nvidia/own/libown.so": shared_object("libown.so")}
    for needed, missing in (
        (["liba.so", "libb.so", "libnccl.so.2", "libown.so"], []),
        (["liba.so", "libgone.so"], ["libgone.so"]),
        (["libold.so"], ["libold.so"]),  # goes with the release that is replaced
    ):
        own = module("mmcv/_ext", needed=needed, runpath=runpath)
        path = wheel(tmp_path / "mmcv-1-cp311-cp311-linux_x86_64.whl", {**files, **own})
        found = told(world, path).values()
        assert [one.missing for one in found] == missing
        for one in found:
            assert one.looked[0] == f"{site}/other"
            assert one.looked[2:] == (f"{path}/nvidia/own", f"{path}/mmcv")
    assert [one.name for one in Path(site, "nvidia").iterdir()] == ["nccl"]
    assert Path(site, "other/liba.so").exists()


def test_modules_in_the_data_folder_of_a_wheel(world: World, tmp_path: Path) -> None:
    files = module("x-1.data/platlib/x/_ext", needed=["libc10.so"], wants=STALE)
    path = wheel(tmp_path / "x-1-cp311-cp311-linux_x86_64.whl", files)
    (binary,) = told(world, path).values()
    assert (binary.module, binary.cause) == ("x._ext", "torch-abi-mismatch")


def test_a_wheel_of_another_python(world: World, tmp_path: Path) -> None:
    other = {"x/_ext.cpython-38-x86_64-linux-gnu.so": shared_object(exports=[])}
    path = wheel(tmp_path / "x-1-cp38-cp38-linux_x86_64.whl", other)
    (binary,) = told(world, path).values()
    assert (binary.module, binary.outcome) == ("x._ext", "other-python")
    both = {**other, **module("x/_ext")}
    assert told(world, wheel(tmp_path / "x-2-py3-none-any.whl", both)) == {}


def test_a_folder_that_this_user_cannot_read(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: path != str(tmp_path))
    with pytest.raises(PathError, match="cannot be read: permission denied"):
        observe_linking(world.target(), paths=(str(tmp_path),))


def test_a_wheel_whose_members_cannot_be_unpacked(world: World, tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.so", b"x" * 500)
    data = bytearray(path.read_bytes())
    data[40:60] = bytes(value ^ 0x5A for value in data[40:60])
    path.write_bytes(data)
    with pytest.raises(PathError, match=r"x\.whl: is no wheel that can be read: "):
        observe_linking(world.target(), paths=(str(path),))


def test_a_folder_and_a_file(world: World, tmp_path: Path) -> None:
    for name, data in module("build/_ext", needed=["libc10.so"], wants=STALE).items():
        path = world.write(f"../work/{name}", data)
    path = os.path.normpath(path)
    for named in (path, str(tmp_path / "work" / "build")):
        (binary,) = told(world, named).values()
        assert (binary.path, binary.cause) == (path, "torch-abi-mismatch")


def test_members_that_lead_out_of_a_wheel_are_left_out(world: World, tmp_path: Path) -> None:
    files = {"../out.so": shared_object(), "/abs.so": shared_object(), "a/../../b.so": b""}
    path = wheel(tmp_path / "x-1-py3-none-any.whl", files)
    assert told(world, path) == {}
    assert not (tmp_path / "out.so").exists()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no", b"text"])
def test_what_is_no_wheel(world: World, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.whl"
    path.write_bytes(data)
    with pytest.raises(PathError, match=r"x\.whl: is no wheel that can be read: "):
        observe_linking(world.target(), paths=(str(path),))


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "it is empty"), (b"hello", "it is text"), (b"\x7fELF\2", "its ELF header")],
)
def test_a_file_that_is_nothing_to_load(
    world: World, tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(data)
    with pytest.raises(PathError, match=rf"x\.so: {said}"):
        observe_linking(world.target(), paths=(str(path),))


def test_a_library_that_no_import_loads_is_asked_for(world: World, tmp_path: Path) -> None:
    path = tmp_path / "lib-x.so.1"
    path.write_bytes(shared_object(needed=["libgone.so.3"]))
    (binary,) = told(world, str(path)).values()
    assert (binary.outcome, binary.missing, binary.named) == (
        "missing-library",
        "libgone.so.3",
        True,
    )


def test_paths_that_are_not_there(world: World, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("gone", "no such file or directory"), ("pipe", "not a regular file")):
        with pytest.raises(PathError, match=rf"{name}: cannot be read: {said}"):
            observe_linking(world.target(), paths=(str(tmp_path / name),))
