"""What the loader reads of a file: of well-formed ones, of others, and of this machine's own."""

from __future__ import annotations

import io
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Dict, List, Set, Tuple

import pytest
from elf_files import I386, S390, Offered, Wanted, shared_object, specimen
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor.elf.image import ElfError, Image
from envdoctor.elf.library import Library, open_library
from envdoctor.elf.versions import Need

SHAPES = [(wide, order) for wide in (True, False) for order in "<>"]


def library(data: bytes) -> Library:
    return Library(Image(io.BytesIO(data)))


@pytest.mark.parametrize(("wide", "order"), SHAPES)
def test_all_that_is_read(wide: bool, order: str) -> None:
    with library(specimen(wide, order)) as found:
        assert (found.machine, found.bits) == ("x86_64", 64 if wide else 32)
        assert found.dynamic.soname == "libspecimen.so.1"
        assert found.dynamic.needed == ("libc.so.6", "libother.so.2")
        assert (found.dynamic.rpath, found.dynamic.runpath) == (None, "$ORIGIN/../lib:/opt/lib")
        assert found.build_id == bytes(range(20)).hex()
        assert found.interpreter == ""
        assert found.is_loadable
        assert found.versions.needs == (
            Need("libc.so.6", "GLIBC_2.34", False, 4),
            Need("libc.so.6", "GLIBC_2.2.5", False, 6),
            Need("libother.so.2", "OTHER_1", True, 5),
        )
        assert found.versions.defined == {2: "SPEC_1.0", 3: "SPEC_2.0"}
        assert [(u.name, u.version, u.file, u.weak) for u in found.undefined()] == [
            (b"printf", "GLIBC_2.2.5", "libc.so.6", False),
            (b"_ZN3c105ErrorE", "", "", False),
            (b"maybe", "", "", True),
        ]
        assert found.symbols.referenced({1, 2, 3, 4}) == {1, 2, 3}


def test_flags_and_a_program() -> None:
    data = shared_object(rpath="/a", nodeflib=True, interpreter="/lib64/ld-linux-x86-64.so.2")
    with library(data) as found:
        assert found.dynamic.rpath == "/a"
        assert found.dynamic.flags == ("NODEFLIB",)
        assert found.interpreter == "/lib64/ld-linux-x86-64.so.2"
        assert found.build_id == ""


@pytest.mark.parametrize(
    ("machine", "name"), [(I386, "i386"), (S390, "s390x"), (183, "aarch64"), (999, "machine 999")]
)
def test_machines(machine: int, name: str) -> None:
    with library(specimen(machine=machine)) as found:
        assert found.machine == name


HASHES: List[Tuple[str, ...]] = [("gnu",), ("sysv",), ("gnu", "sysv"), ()]


@pytest.mark.parametrize("hashes", HASHES, ids=str)
@pytest.mark.parametrize(("wide", "order"), SHAPES)
def test_exported_symbols_are_found(wide: bool, order: str, hashes: Tuple[str, ...]) -> None:
    exports = [Offered(f"function_{number}") for number in range(60)]
    data = shared_object(
        "liba.so", exports=exports, wants=[Wanted("gone")], hashes=hashes, wide=wide, order=order
    )
    with library(data) as found:
        assert all(found.symbols.exports(one.name.encode()) for one in exports)
        assert not found.symbols.exports(b"gone")
        assert not found.symbols.exports(b"function_60")
        assert not found.symbols.exports(b"")


def test_undefined_symbols_of_a_file_that_exports_nothing() -> None:
    """The linker's empty table says that the first symbol is hashed, and hashes none."""
    data = shared_object(wants=[Wanted("a"), Wanted("b")])
    with library(data) as found:
        assert [one.name for one in found.undefined()] == [b"a", b"b"]


@pytest.mark.parametrize(
    ("name", "version", "is_bound"),
    [
        ("plain", "", True),
        ("plain", "ANY_1", True),  # a symbol without a version serves every reference
        ("old", "SPEC_1.0", True),
        ("old", "SPEC_2.0", True),
        ("old", "SPEC_3.0", False),
        ("old", "", True),  # the first version of a file is what plain references get
        ("new", "", True),  # the only one that is not hidden
        ("new", "SPEC_2.0", True),
        ("twice", "", False),  # of two later ones neither
    ],
)
def test_versions_bind_as_in_the_loader(name: str, version: str, is_bound: bool) -> None:
    exports = [
        Offered("plain"),
        *(Offered("old", "SPEC_1.0"), Offered("old", "SPEC_2.0", hidden=True)),
        *(Offered("new", "SPEC_2.0"), Offered("new", "SPEC_4.0", hidden=True)),
        *(Offered("twice", "SPEC_2.0"), Offered("twice", "SPEC_4.0")),
    ]
    with library(shared_object("libspec.so", exports=exports)) as found:
        assert found.symbols.exports(name.encode(), version) is is_bound
        assert found.has_versions


def test_a_file_without_versions_serves_every_reference() -> None:
    with library(shared_object("liba.so", exports=[Offered("f")])) as found:
        assert found.symbols.exports(b"f", "GLIBC_2.2.5")
        assert not found.has_versions


def test_versions_under_which_a_symbol_is_exported() -> None:
    with library(specimen()) as found:
        assert found.symbols.versions_of(b"old") == {"SPEC_1.0", "SPEC_2.0"}
        assert found.symbols.versions_of(b"plain") == {""}
        assert found.symbols.versions_of(b"maybe") == set()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b"\0" * 100, "it is no ELF file"),
        (b"/* ld */\nGROUP ( /lib/libc.so.6 AS_NEEDED ( x ) )\n", "it is a linker script"),
        (b"version https://git-lfs.github.com/spec/v1\noid x\n", "it is a pointer of Git LFS"),
        (b"libfoo.so.1", "it is text, not an ELF file"),
        (b"\x7fELF", "its ELF header is cut off or invalid"),
        (b"\x7fELF\x02\x01" + bytes(50), "its ELF header is cut off or invalid"),
        (b"\x7fELF\x07\x01" + bytes(90), "its ELF header is cut off or invalid"),
        (specimen()[:64], "its program headers are cut off"),
    ],
)
def test_what_is_no_library(data: bytes, said: str) -> None:
    with pytest.raises(ElfError) as raised:
        library(data)
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    for name, said in (
        ("pipe.so", "it is not a regular file"),
        ("gone.so", "it cannot be read: no such file or directory"),
        (".", "it is not a regular file"),
        ("a\0b", "it cannot be read: .*embedded null"),
    ):
        with pytest.raises(ElfError, match=said):
            open_library(f"{tmp_path}/{name}")


def test_a_static_program() -> None:
    data = bytearray(shared_object(kind=2))
    at = 64 + 56
    data[at : at + 4] = bytes(4)  # its PT_DYNAMIC is a PT_NULL
    with library(bytes(data)) as found:
        assert found.is_static
        assert not found.is_loadable
        assert found.undefined() == ()


def test_a_file_that_is_cut_off_keeps_what_is_there() -> None:
    """Python and pip write front to back; whatever is gone reads as nothing."""
    whole = shared_object("liba.so", ["libb.so"], [Offered("f")], [Wanted("g")])
    answers = {answer(whole[:length]) for length in range(len(whole))}
    assert ("", 0, False) in answers
    assert answer(whole) == ("", 1, True)


def answer(data: bytes) -> Tuple[str, int, bool]:
    """The error, or how many symbols are undefined and whether f is found."""
    try:
        with library(data) as found:
            return "", len(found.undefined()), found.symbols.exports(b"f")
    except ElfError as error:
        return str(error), 0, False


def test_a_chain_that_leads_to_itself() -> None:
    names = [f"f{number}" for number in range(40)]
    data = bytearray(shared_object("a", exports=[Offered(n) for n in names], hashes=("sysv",)))
    for at in range(0, len(data) - 8, 4):
        if struct.unpack_from("<II", data, at) == (20, 41):  # the table's head
            struct.pack_into(f"<{20 + 41}I", data, at + 8, *([3] * 61))
    with library(bytes(data)) as found:
        assert not found.symbols.exports(b"gone")


@pytest.mark.parametrize("count", [1, 0xFFFFFFFF, 1 << 31])
@pytest.mark.parametrize("place", range(0, 16, 4))
def test_tables_that_say_they_are_huge(place: int, count: int) -> None:
    data = bytearray(shared_object("a", exports=[Offered("f")], wants=[Wanted("g")]))
    with library(bytes(data)) as found:
        offset = found.image.offset(found.dynamic.tags[0x6FFFFEF5])
    assert offset is not None
    struct.pack_into("<I", data, offset + place, count)
    with library(bytes(data)) as found:
        found.symbols.exports(b"f")
        assert len(found.undefined()) < 10


@settings(max_examples=150, deadline=None)
@given(
    edits=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=12),
    shape=st.sampled_from(SHAPES),
    cut=st.integers(0, 2000),
)
def test_damaged_files_end_in_an_error_or_an_answer(
    edits: List[Tuple[int, int]], shape: Tuple[bool, str], cut: int
) -> None:
    data = bytearray(specimen(*shape))
    for place, value in edits:
        data[place % len(data)] = value
    said, undefined, _ = answer(bytes(data[: max(cut, 200)]))
    assert "\n" not in said
    assert undefined <= len(data)


@settings(max_examples=60, deadline=None)
@given(
    names=st.sets(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1)),
    absent=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1),
    hashes=st.sampled_from(HASHES),
)
def test_a_look_up_finds_what_is_there_and_nothing_else(
    names: Set[str], absent: str, hashes: Tuple[str, ...]
) -> None:
    data = shared_object("a", exports=[Offered(name) for name in sorted(names)], hashes=hashes)
    with library(data) as found:
        assert {name for name in names if found.symbols.exports(name.encode())} == names
        assert found.symbols.exports(absent.encode()) is (absent in names)


# --- this machine's own ------------------------------------------------------------------------

READELF = shutil.which("readelf")


def own_files() -> List[str]:
    """The interpreter, and some of what it can load."""
    folders = [sysconfig.get_config_var("DESTSHARED"), sysconfig.get_config_var("LIBDIR")]
    found = [os.path.realpath(sys.executable)]
    for folder in filter(None, folders):
        paths = (path for path in sorted(Path(folder).glob("*.so*")) if path.is_file())
        found += map(str, itertools.islice(paths, 12))
    for libc in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"):
        found += [libc] if Path(libc).exists() else []
    return list(dict.fromkeys(found))


def told(path: str, *options: str) -> str:
    done = subprocess.run(
        [READELF or "", "-W", *options, path],
        capture_output=True,
        text=True,
        env={"LC_ALL": "C"},
        check=True,
        timeout=60,
    )
    return done.stdout


@pytest.mark.skipif(READELF is None, reason="compares with readelf of binutils, which is not here")
@pytest.mark.parametrize("path", own_files(), ids=os.path.basename)
def test_readelf_says_the_same(path: str) -> None:
    try:
        found = open_library(path)
    except ElfError:
        assert not Path(path).read_bytes().startswith(b"\x7fELF")
        return
    with found:
        section = told(path, "-d")
        tags: Dict[str, List[str]] = {}
        for tag, value in re.findall(r"\((NEEDED|SONAME|RPATH|RUNPATH)\)[^\[]*\[(.*)\]", section):
            tags.setdefault(tag, []).append(value)
        assert list(found.dynamic.needed) == tags.get("NEEDED", [])
        assert found.dynamic.soname == "".join(tags.get("SONAME", []))
        assert (found.dynamic.rpath or "") == "".join(tags.get("RPATH", []))
        assert (found.dynamic.runpath or "") == "".join(tags.get("RUNPATH", []))
        undefined, exported = [], []
        for line in told(path, "--dyn-syms").splitlines():
            words = line.split()
            if len(words) < 8 or not words[0].rstrip(":").isdigit() or words[4] == "LOCAL":
                continue
            name, _, version = words[7].partition("@")
            if words[6] == "UND":
                undefined.append((name, version, words[4] == "WEAK"))
            elif words[5] == "DEFAULT" and words[3] != "NOTYPE":
                exported.append((name, version.lstrip("@")))
        read = [(one.name.decode(), one.version, one.weak) for one in found.undefined()]
        assert sorted(read) == sorted(undefined)
        for name, version in exported[:400]:
            if (name, version) != (version, version):  # the names of versions are symbols, too
                assert found.symbols.exports(name.encode(), version), (name, version)
        needs = re.findall(r"Name: (\S+)  Flags: .*?  Version: \d+", told(path, "-V"))
        assert sorted(need.version for need in found.versions.needs) == sorted(needs)
