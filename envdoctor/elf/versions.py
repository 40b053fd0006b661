"""Symbol versions of an ELF file: what it needs of which file, and what it defines.

The tables are those of "Linux Standard Base Core, Symbol Versioning".
"""

from __future__ import annotations

import struct
from typing import Dict, List, NamedTuple, Tuple

from envdoctor.elf.dynamic import STRTAB, VERDEF, VERDEFNUM, VERNEED, VERNEEDNUM, Dynamic
from envdoctor.elf.image import Image

_MAX_FILES = 1024
_MAX_VERSIONS = 65536
#: Bytes of a table: an entry has 16 to 20, and a library has some dozens of them.
_MAX_BYTES = 1 << 20
_MAX_NAME = 256
#: The low bits of an index; the highest says that it is hidden.
INDEX = 0x7FFF
HIDDEN = 0x8000
_BASE, _WEAK = 1, 2


class Need(NamedTuple):
    """A version that is asked of a file."""

    file: str  # the SONAME, "libc.so.6"
    version: str  # "GLIBC_2.28"
    weak: bool  # where it is not there the loader only warns
    number: int


class Versions(NamedTuple):
    """What a file says of versions."""

    needs: Tuple[Need, ...] = ()
    defined: Dict[int, str] = {}  # by index; the file's own name, the base, is left out


def read_versions(image: Image, dynamic: Dynamic) -> Versions:
    """The versions of a file. Tables that are damaged end where they are. Raises ElfError."""
    return Versions(_needs(image, dynamic), _defined(image, dynamic))


def _text(image: Image, dynamic: Dynamic, at: int) -> str:
    offset = image.offset(dynamic.tags.get(STRTAB, 0))
    return (
        ""
        if offset is None
        else image.text(offset + at, _MAX_NAME).decode("utf-8", "surrogateescape")
    )


def _needs(image: Image, dynamic: Dynamic) -> Tuple[Need, ...]:
    data = image.at(dynamic.tags.get(VERNEED, 0), _MAX_BYTES) if VERNEED in dynamic.tags else b""
    file_entry = struct.Struct(image.layout.order + "HHIII")
    entry = struct.Struct(image.layout.order + "IHHII")
    found: List[Need] = []
    at = 0
    for _ in range(min(dynamic.tags.get(VERNEEDNUM, 0), _MAX_FILES)):
        if at + file_entry.size > len(data):
            break
        _, count, name, first, following = file_entry.unpack_from(data, at)
        file = _text(image, dynamic, name)
        each = at + first
        for _ in range(count):
            if each + entry.size > len(data) or len(found) >= _MAX_VERSIONS:
                break
            _, flags, index, version, further = entry.unpack_from(data, each)
            text = _text(image, dynamic, version)
            found.append(Need(file, text, bool(flags & _WEAK), index & INDEX))
            if not further:
                break
            each += further
        if not following:
            break
        at += following
    return tuple(found)


def _defined(image: Image, dynamic: Dynamic) -> Dict[int, str]:
    data = image.at(dynamic.tags.get(VERDEF, 0), _MAX_BYTES) if VERDEF in dynamic.tags else b""
    entry = struct.Struct(image.layout.order + "HHHHIII")
    found: Dict[int, str] = {}
    at = 0
    for _ in range(min(dynamic.tags.get(VERDEFNUM, 0), _MAX_VERSIONS)):
        if at + entry.size > len(data):
            break
        _, flags, index, count, _, first, following = entry.unpack_from(data, at)
        name = data[at + first : at + first + 4]
        if count and len(name) == 4 and not flags & _BASE:
            (where,) = struct.unpack(image.layout.order + "I", name)
            found[index & INDEX] = _text(image, dynamic, where)
        if not following:
            break
        at += following
    return found
