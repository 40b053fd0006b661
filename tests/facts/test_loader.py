from __future__ import annotations

import platform
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_host import compile_library, lay_out, real_host

from envdoctor.facts.loader import CACHE, Found, find

ELF64 = b"\x7fELF\x02"
ELF32 = b"\x7fELF\x01"


def served(*arguments, **named):
    return list(find(*arguments, **named))


def cache(entries, flags=0x0303):
    """The loader's cache with (name, path) entries, as ldconfig writes it."""
    table, text = b"", b""
    start = 48 + 24 * len(entries)
    for name, path in entries:
        table += struct.pack("<iIIIQ", flags, start + len(text), 0, 0, 0)
        text += name.encode() + b"\0"
        table = table[:-16] + struct.pack("<IIQ", start + len(text), 0, 0)
        text += path.encode() + b"\0"
    header = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(text)) + bytes(20)
    return header + table + text


def test_order_is_library_path_then_cache_then_default_folders(tmp_path):
    lay_out(
        tmp_path,
        {
            "/opt/a/libx.so.1": ELF64,
            "/opt/b/libx.so.1": ELF64,
            "/usr/lib64/libx.so.1": ELF64,
            CACHE: cache([("libw.so.1", "/opt/a/libw.so.1"), ("libx.so.1", "/opt/b/libx.so.1")]),
        },
    )
    host = real_host(tmp_path, {"LD_LIBRARY_PATH": "/nowhere:relative::/opt/a/"})
    in_cache, by_default = (
        Found("/opt/b/libx.so.1", CACHE),
        Found("/usr/lib64/libx.so.1", "the loader's default folders"),
    )
    assert served(host, "libx.so.1") == [
        Found("/opt/a/libx.so.1", "LD_LIBRARY_PATH"),
        in_cache,
        by_default,
    ]
    assert served(host, "libx.so.1", library_path=False) == [in_cache, by_default]
    assert served(host, "liby.so.1") == []


def test_32_bit_objects_and_second_names_of_a_file_are_passed_over(tmp_path):
    lay_out(
        tmp_path,
        {
            "/opt/lib32/libx.so.1": ELF32,
            "/opt/cuda-12.1/lib64/libx.so.1": ELF64,
            "/opt/cuda": Path("/opt/cuda-12.1"),
        },
    )
    host = real_host(
        tmp_path, {"LD_LIBRARY_PATH": "/opt/lib32:/opt/cuda/lib64:/opt/cuda-12.1/lib64"}
    )
    assert served(host, "libx.so.1") == [Found("/opt/cuda/lib64/libx.so.1", "LD_LIBRARY_PATH")]


def test_entries_of_another_architecture_are_passed_over(tmp_path):
    lay_out(
        tmp_path,
        {
            "/opt/libx.so.1": ELF64,
            CACHE: cache([("libx.so.1", "/opt/libx.so.1")], flags=0x0A03),
        },
    )
    assert served(real_host(tmp_path), "libx.so.1") == []
    arm = real_host(tmp_path, architecture="aarch64")
    assert served(arm, "libx.so.1") == [Found("/opt/libx.so.1", CACHE)]


def test_cache_after_an_older_table(tmp_path):
    lay_out(
        tmp_path,
        {
            "/opt/libx.so.1": ELF64,
            CACHE: b"ld.so-1.7.0\0" + bytes(36) + cache([("libx.so.1", "/opt/libx.so.1")]),
        },
    )
    assert served(real_host(tmp_path), "libx.so.1") == [Found("/opt/libx.so.1", CACHE)]


@settings(deadline=None)  # the machine may be busy
@given(data=st.binary(max_size=200))
def test_any_cache_is_read_without_an_error(tmp_path_factory, data):
    root = tmp_path_factory.mktemp("root")
    name = b"libx.so.1\0"
    lay_out(root, {CACHE: b"glibc-ld.so.cache1.1" + data + name})
    assert served(real_host(root), "libx.so.1") == []


def test_cache_that_ldconfig_wrote(tmp_path):
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin:/usr/bin")
    if ldconfig is None:
        pytest.skip("no glibc here: there is no ldconfig")
    library = tmp_path / "opt/libenvdoctor-test.so.1"
    compile_library(library, "int x;")
    (tmp_path / "conf").write_text(f"{library.parent}\n")
    (tmp_path / "etc").mkdir()
    subprocess.run(
        [ldconfig, "-X", "-C", str(tmp_path / "etc/ld.so.cache"), "-f", str(tmp_path / "conf")],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    # The paths in it are those of the running machine: seen from a root they do not exist.
    (tmp_path / str(tmp_path).lstrip("/")).parent.mkdir(parents=True)
    (tmp_path / str(tmp_path).lstrip("/")).symlink_to(tmp_path)
    host = real_host(tmp_path, architecture=platform.machine())
    assert [found.path for found in served(host, "libenvdoctor-test.so.1")] == [str(library)]
