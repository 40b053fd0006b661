"""Which interpreters and systems a wheel's tags allow.

Source: PyPA specifications, "Platform compatibility tags"; What's New In Python 3.8, "Debug build
uses the same ABI as release build".
"""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple, Optional, Tuple

from packaging.version import Version

from envdoctor.model.facts import Distribution, Facts, Target
from envdoctor.model.versions import parse, try_parse

_CPYTHON_ABI = re.compile(r"cp(\d)(\d+)([a-z]*)")
_LEGACY_MANYLINUX = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")
_ARCHITECTURES = ("x86_64", "i686", "aarch64", "armv7l", "ppc64le", "s390x", "riscv64")
_OTHER_SYSTEMS = ("win", "macosx", "android", "ios", "pyodide", "emscripten", "wasi")


class Tag(NamedTuple):
    """One tag of a wheel: what it says of interpreter, ABI and platform."""

    python: str
    abi: str
    platform: str


class Interpreter(NamedTuple):
    """What matters of the examined interpreter. Texts are empty where it is not known."""

    series: Tuple[int, int]
    flags: str  # of the ABI: "m", "d", "t"
    architecture: str
    musl: bool


def interpreter_of(facts: Facts, target: Target) -> Optional[Interpreter]:
    """The interpreter; None if it is not a CPython, whose ABI alone is known here."""
    version = try_parse(target.version)
    if target.implementation != "cpython" or version is None:
        return None
    match = re.match(r"cpython-\d+([a-z]*)-(\w+?)-linux-(gnu|musl)", target.soabi)
    if match:
        flags, architecture = match[1], match[2]
    else:
        older = "m" if version < parse("3.8") else ""
        flags = "t" if target.free_threaded else older
        architecture = facts.machine.architecture.value or ""
    # A kernel of 64 bits may run an interpreter of 32, and names of those vary.
    known = architecture if architecture in ("x86_64", "aarch64") else ""
    musl = match is not None and match[3] == "musl"
    return Interpreter((version.major, version.minor), flags, known, musl)


def tags_of(distribution: Distribution) -> Iterator[Tag]:
    """The tags of a wheel, compressed ones expanded; what is no tag is passed over."""
    for text in distribution.tags:
        parts = text.split("-")
        if len(parts) == 3:
            for python in parts[0].split("."):
                for abi in parts[1].split("."):
                    for platform in parts[2].split("."):
                        yield Tag(python, abi, platform)


def serves(tag: Tag, interpreter: Interpreter) -> bool:
    """Whether a wheel of this tag may be imported; glibc is not looked at. Doubt counts as yes."""
    return _abi_serves(tag.abi, interpreter) and _platform_serves(tag.platform, interpreter)


def _abi_serves(abi: str, interpreter: Interpreter) -> bool:
    if abi.startswith("pypy"):
        return False
    match = _CPYTHON_ABI.fullmatch(abi)
    if match is None:  # none, abi3, or of an interpreter that is not known here
        return True
    if (int(match[1]), int(match[2])) != interpreter.series:
        return False
    # A debug build loads release builds, too; not the other way round.
    return match[3] == interpreter.flags or "d" in interpreter.flags


def _platform_serves(platform: str, interpreter: Interpreter) -> bool:
    if platform.startswith(_OTHER_SYSTEMS):
        return False
    if platform.startswith("musllinux") and not interpreter.musl:
        return False
    architecture = next((a for a in _ARCHITECTURES if platform.endswith(f"_{a}")), "")
    return not architecture or interpreter.architecture in ("", architecture)


def glibc_of(tag: Tag) -> Optional[Version]:
    """The oldest glibc that a tag allows; None if it says nothing of glibc."""
    match = _MANYLINUX.match(tag.platform)
    if match:
        return parse(f"{match[1]}.{match[2]}")
    legacy = _LEGACY_MANYLINUX.get(tag.platform.partition("_")[0])
    return parse(legacy) if legacy else None
