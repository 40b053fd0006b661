"""Small compiled parts: libraries with functions that do nothing, and modules that call them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Iterable

from layers import compiled, source


def library(soname: str, *functions: str, version: str = "", options: Iterable[str] = ()) -> Path:
    """A shared library with these functions, which have that symbol version if one is given."""
    body = "".join(f'extern "C" void {function}() {{}}\n' for function in functions)
    names = "".join(f"{function};" for function in functions)
    texts = {"versions": f"{version} {{ global: {names} }};\n"} if version else {}
    script = ["-Wl,--version-script=versions"] if version else []
    options = [f"-Wl,-soname,{soname}", "-nostdlib", *script, *options]
    return compiled(body, *options, texts=texts)


def module(name: str, *needs: Path, calls: str = "", path: str = "", old: bool = False) -> bytes:
    """A module of Python that needs these libraries and calls a function when it is imported.

    `path` is its RUNPATH, or its RPATH if it is an `old` one.
    """
    tags = "disable" if old else "enable"
    return compiled(
        source("module.cpp"),
        "-nostdlib",
        f"-DMODULE={name}",
        *([f"-DCALLS={calls}"] if calls else []),
        *map(str, needs),
        *([f"-Wl,--{tags}-new-dtags,-rpath,{path}"] if path else []),
    ).read_bytes()


def older_libstdcxx() -> bytes:
    """What is left of the libstdc++ of GCC 5 for the loader: its name and the versions it has."""
    versions = ["GLIBCXX_3.4", *(f"GLIBCXX_3.4.{n}" for n in range(1, 22))]
    versions += ["CXXABI_1.3", *(f"CXXABI_1.3.{n}" for n in range(1, 10))]
    texts = {"versions": "".join(f"{v} {{ global: s_{i}; }};\n" for i, v in enumerate(versions))}
    body = "".join(f'extern "C" void s_{i}() {{}}\n' for i in range(len(versions)))
    options = ["-nostdlib", "-Wl,-soname,libstdc++.so.6", "-Wl,--version-script=versions"]
    return compiled(body, *options, texts=texts).read_bytes()


def renamed_version(data: bytes, old: str, new: str) -> bytes:
    """A shared library in which a symbol version is called otherwise, by a name as long."""
    assert len(old) == len(new)
    assert data.count(f"\0{old}\0".encode()) == 1
    data = data.replace(f"\0{old}\0".encode(), f"\0{new}\0".encode())
    # the definition of a version begins with what it hashes to, after three 16-bit numbers
    before, after = struct.pack("<I", _hash(old)), struct.pack("<I", _hash(new))
    assert data.count(before) == 1
    return data.replace(before, after)


def _hash(name: str) -> int:
    value = 0
    for letter in name.encode():
        value = (value << 4) + letter
        value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
    return value
