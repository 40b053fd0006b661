"""Which GPU code a file holds. What real files hold besides is in test_real_gpu_code.py."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import List, Tuple

import pytest

sys.path.append(str(Path(__file__).parent))

from gpu_files import EXACT, FAMILY, LTO, PTX, SASS, container, elf, image

from envdoctor.elf import gpu_code
from envdoctor.elf.gpu_code import Architecture, GpuImages, read_gpu_images, summarize
from envdoctor.model.facts import CodeGroup, GpuCode

FATBINS = Path(__file__).parent / "fatbins"


def told(images: GpuImages) -> str:
    """All that was found, as a line: "2 x 8.0 9.0a | 9.0" are two containers, PTX after the bar."""
    lines: List[str] = []
    for prefix, groups in (("", images.groups), ("to link: ", images.relocatable)):
        for group in groups:
            parts = (" ".join(map(str, group.sass)), "|", " ".join(map(str, group.ptx)))
            lines.append(f"{prefix}{group.containers} x {' '.join(part for part in parts if part)}")
    return "; ".join([*lines, images.problem] if images.problem else lines)


def read(tmp_path: Path, data: bytes) -> GpuImages:
    path = tmp_path / "file.so"
    path.write_bytes(data)
    return read_gpu_images(str(path))


@pytest.mark.parametrize(
    ("name", "found", "images", "other"),
    [
        (
            "nvcc-13.4-zstd.fatbin",
            "1 x 8.0 9.0a 10.0f 10.3a 12.0 | 8.0 9.0a 10.0f 10.3a 12.0",
            10,
            0,
        ),
        ("nvcc-13.4-plain-ptx.fatbin", "1 x | 8.0", 1, 0),
        ("nvcc-13.4-concat.fatbin", "1 x 8.0 9.0 12.0 | 8.0 12.0", 5, 0),
        ("nvcc-13.4-lto.fatbin", "1 x 8.0 |", 1, 2),
        ("fatbinary-13.4-named.fatbin", "1 x 8.0 9.0a | 8.0 9.0", 4, 0),
        ("nvfatbin-12.4-lz4.fatbin", "1 x 7.5 8.0 9.0a | 8.0", 4, 0),
        ("nvfatbin-12.9-lz4.fatbin", "1 x 7.5 8.0 9.0a 10.0a 10.0f 12.0 | 8.0", 7, 0),
        ("ptxas-11.8-sm_90.cubin", "1 x 9.0 |", 1, 0),
        ("ptxas-12.9-sm_90a.cubin", "1 x 9.0a |", 1, 0),
        ("ptxas-12.9-sm_100a.cubin", "1 x 10.0a |", 1, 0),
        ("ptxas-13.4-sm_90a.cubin", "1 x 9.0a |", 1, 0),
        ("ptxas-13.4-sm_120.cubin", "1 x 12.0 |", 1, 0),
    ],
)
def test_what_compilers_write(name: str, found: str, images: int, other: int) -> None:
    read = read_gpu_images(str(FATBINS / name))
    assert told(read) == found
    assert (read.images, read.other, read.problem) == (images, other, "")


def test_versions_of_ptx() -> None:
    read = read_gpu_images(str(FATBINS / "nvcc-13.4-concat.fatbin"))
    assert read.isa == {Architecture(8, 0): (9, 4), Architecture(12, 0): (9, 4)}
    read = read_gpu_images(str(FATBINS / "nvfatbin-12.4-lz4.fatbin"))
    assert read.isa == {Architecture(8, 0): (7, 0)}


MANY = (
    container(image(SASS, 80), image(SASS, 90, EXACT))
    + container(image(SASS, 80), image(PTX, 120))
    + container(image(SASS, 80), image(PTX, 120, isa=(8, 7)))
    + container(image(LTO, 80))
    + container()
)
FOUND = "2 x 8.0 | 12.0; 1 x 8.0 9.0a |"


def test_a_library(tmp_path: Path) -> None:
    linked = container(image(SASS, 100, FAMILY))
    file = elf({".text": b"code", ".nv_fatbin": MANY, "__nv_relfatbin": linked, ".data": MANY})
    found = read(tmp_path, file)
    assert told(found) == f"{FOUND}; to link: 1 x 10.0f |"
    assert found.other == 1
    assert found.isa == {Architecture(12, 0): (8, 7)}
    assert found.sass == (Architecture(8, 0), Architecture(9, 0, "a"))
    assert found.ptx == (Architecture(12, 0),)


def test_a_library_in_which_containers_are_aligned(tmp_path: Path) -> None:
    file = elf({".nv_fatbin": bytes(48) + MANY + bytes(4096) + MANY[:112] + bytes(7)})
    found = read(tmp_path, file)
    assert found.problem.startswith("a fat binary goes on beyond its section")
    file = elf({".nv_fatbin": bytes(48) + MANY + bytes(4096) + MANY + bytes(7)})
    assert read(tmp_path, file).problem == ""
    assert read(tmp_path, file).images == 12


@pytest.mark.parametrize("size", [0, 5, 1 << 20, (1 << 20) - 3])
def test_a_library_without_sections(tmp_path: Path, size: int) -> None:
    body = bytes(size) + MANY + b"noise" + MANY
    file = elf({".nv_fatbin": body}, headers=False, segments=[(0, 40), (30, 200 + len(body))])
    assert read(tmp_path, file).images == 12
    # nothing is loaded of it
    assert read(tmp_path, elf({".nv_fatbin": MANY}, headers=False)) == GpuImages()


def test_more_sections_than_the_header_can_count(tmp_path: Path) -> None:
    file = bytearray(elf({".nv_fatbin": MANY}))
    (table,) = struct.unpack_from("<Q", file, 40)
    count, names = struct.unpack_from("<HH", file, 60)
    struct.pack_into("<HH", file, 60, 0, 0xFFFF)
    struct.pack_into("<Q", file, table + 32, count)
    struct.pack_into("<I", file, table + 40, names)
    assert told(read(tmp_path, bytes(file))).startswith(FOUND)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GROUP ( libtorch.so )",
        b"\x7fELF",
        elf({".text": MANY}),
        elf({".nv_fatbin": MANY})[:4] + b"\x01" + elf({".nv_fatbin": MANY})[5:],  # 32 bits
        elf({}, headers=False),
    ],
)
def test_files_without_gpu_code(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data) == GpuImages()


def _changed(at: int, value: bytes) -> bytes:
    file = bytearray(container(image(SASS, 80), image(PTX, 80)))
    file[at : at + len(value)] = value
    return elf({".nv_fatbin": container(image(SASS, 75)) + bytes(file)})


HUGE = struct.pack("<Q", 2**64 - 1)


@pytest.mark.parametrize(
    ("data", "found", "problem"),
    [
        # of the container: its magic, size; of its first image: size of the header and of the code
        (_changed(0, b"none"), "1 x 7.5 |", "its GPU code has no fat binary at"),
        (_changed(8, HUGE), "1 x 7.5 |; 1 x 8.0 | 8.0", "a fat binary goes on beyond its section"),
        (_changed(8, struct.pack("<Q", 0)), "1 x 7.5 |", "its GPU code has no fat binary at"),
        (_changed(20, bytes(4)), "1 x 7.5 |", "an image goes on beyond its fat binary"),
        (_changed(20, b"\xff" * 4), "1 x 7.5 |", "an image goes on beyond its fat binary"),
        (_changed(24, HUGE), "1 x 7.5 |", "an image goes on beyond its fat binary"),
        (_changed(44, bytes(4)), "1 x 7.5 |", "an image of GPU code is for architecture 0"),
        (
            _changed(44, b"\xff" * 4),
            "1 x 7.5 |",
            "an image of GPU code is for architecture 4294967295",
        ),
    ],
)
def test_damaged_files(tmp_path: Path, data: bytes, found: str, problem: str) -> None:
    images = read(tmp_path, data)
    assert problem in images.problem
    assert told(images._replace(problem="")) in (found, found.replace("", ""))


def test_a_file_that_is_cut(tmp_path: Path) -> None:
    whole = elf({".nv_fatbin": MANY}, first=True)
    assert told(read(tmp_path, whole)) == FOUND
    for length in range(len(whole)):
        found = read(tmp_path, whole[:length])
        assert found.images <= 6
        if length > len(whole) - len(MANY):
            assert found.problem != "", length
    assert told(found) == f"{FOUND}; the file ends before its GPU code does"


def test_what_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_code, "MOST_HEADERS", 100)
    found = read(tmp_path, elf({".nv_fatbin": container() * 1000}))
    assert found.problem == "its GPU code has more than 100 images"
    found = read(tmp_path, container(*[image(SASS, 80)] * 1000))
    assert found.problem == "its GPU code has more than 100 images"
    every = container(*[image(SASS, 80)] * 1000)
    loaded = elf({".x": every}, headers=False, segments=[(0, len(every) + 200)])
    assert read(tmp_path, loaded).problem == "its GPU code has more than 100 images"
    monkeypatch.setattr(gpu_code, "MOST_GROUPS", 3)
    found = read(tmp_path, b"".join(container(image(SASS, 50 + n)) for n in range(9)))
    assert found.problem == "its fat binaries are for too many sets of targets"
    monkeypatch.setattr(gpu_code, "MOST_SECTIONS", 2)
    assert (
        read(tmp_path, elf({".nv_fatbin": MANY})).problem
        == "the file states 3 sections, which is too many"
    )


def test_tables_that_are_said_to_be_huge(tmp_path: Path) -> None:
    file = bytearray(elf({".nv_fatbin": MANY}, headers=False, segments=[(0, 2000)]))
    struct.pack_into("<HH", file, 54, 0xFFFF, 0xFFFF)  # width and number of segments: 4 GB
    assert read(tmp_path, bytes(file)).images == 6
    file = bytearray(elf({".nv_fatbin": MANY}))
    struct.pack_into("<HH", file, 58, 0xFFFF, 0xFFFE)
    assert read(tmp_path, bytes(file)) == GpuImages()


def test_a_pipe_and_a_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    assert read_gpu_images(str(tmp_path / "pipe.so")) == GpuImages()
    assert read_gpu_images("/dev/zero") == GpuImages()
    for path in (tmp_path, tmp_path / "none.so"):
        with pytest.raises(OSError, match="directory"):
            read_gpu_images(str(path))


def _images(*groups: Tuple[int, str, str], late: str = "") -> GpuImages:
    """What a file holds: fat binaries by their number, SASS and PTX; PTX that is linked late."""

    def targets(text: str) -> Tuple[Architecture, ...]:
        return tuple(
            Architecture(int(t.rstrip("af")[:-2]), int(t.rstrip("af")[-1]), t.lstrip(".0123456789"))
            for t in text.split()
        )

    listed = tuple(gpu_code.Group(targets(sass), targets(ptx), n) for n, sass, ptx in groups)
    relocatable = (gpu_code.Group((), targets(late), 1),) if late else ()
    return GpuImages(listed, relocatable, has_kernels=True)


def told_of(*files: GpuImages) -> Tuple[str, ...]:
    """What is said of a package, as lines like those of `told`."""
    code = summarize(files)
    if code is None:
        return ()
    lines = [f"{g.containers} x {' '.join(g.sass)} | {' '.join(g.ptx)}" for g in code.groups]
    assert set(code.sass or ()) == {text for group in code.groups for text in group.sass}
    assert set(code.ptx or ()) == {text for group in code.groups for text in group.ptx}
    return (*lines, *(f"to link: {text}" for text in code.linkable))


def test_what_a_package_has_code_for() -> None:
    assert told_of() == told_of(GpuImages()) == ()
    assert told_of(
        _images((9, "8.0 9.0", "9.0")), _images((1, "9.0a", ""), (2, "8.0 9.0", "9.0"), late="9.0")
    ) == ("11 x 8.0 9.0 | 9.0", "1 x 9.0a | ", "to link: 9.0")
    # what was not read may have more
    damaged = GpuImages(problem="the file ends before its GPU code does")
    assert told_of(_images((1, "8.0", "")), damaged) == ()
    # more than a snapshot holds: nobody makes such files
    every = [(1, " ".join(f"{n}.{m}" for m in range(10)), "") for n in range(5, 50)]
    assert told_of(_images(*every)) == ()
    assert len(told_of(_images(*every[:30]))) == 30


def test_what_nvcc_puts_into_all_that_it_links(tmp_path: Path) -> None:
    stub = image(SASS, 52, size=1448)
    alone = read(tmp_path, elf({".nv_fatbin": container(stub)}))
    assert told(alone) == "1 x 5.2 |"
    assert summarize([alone]) is None
    beside = read(tmp_path, elf({".nv_fatbin": container(stub) + container(image(SASS, 80))}))
    assert told_of(beside) == ("1 x 5.2 | ", "1 x 8.0 | ")
    assert told_of(read(tmp_path, container(image(PTX, 52, size=900)))) == ("1 x  | 5.2",)


def test_what_is_linked_on_the_device(tmp_path: Path) -> None:
    late = container(image(SASS, 80), image(PTX, 90, isa=(9, 0)))
    alone = summarize([read(tmp_path, elf({"__nv_relfatbin": late}))], "file.so")
    assert alone == GpuCode(
        ("8.0",),
        ("9.0",),
        origin="file.so",
        groups=(CodeGroup(("8.0",), ("9.0",), 1),),
        linkable=("9.0",),
        ptx_version="9.0",
    )
    linked = elf({".nv_fatbin": container(image(SASS, 80)), "__nv_relfatbin": late})
    both = summarize([read(tmp_path, linked)])
    assert both == GpuCode(
        ("8.0",), (), groups=(CodeGroup(("8.0",), (), 1),), linkable=("9.0",), ptx_version="9.0"
    )
