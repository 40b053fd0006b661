"""The dynamic section of an ELF file: what the loader is told of it and of its needs."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Tuple

from envdoctor.elf.image import PT_DYNAMIC, PT_INTERP, PT_NOTE, Image

_MAX_ENTRIES = 8192
_MAX_NEEDED = 1024
_MAX_NOTES = 1 << 16
_PATH = 4096

NEEDED, PLTRELSZ, HASH, STRTAB, SYMTAB = 1, 2, 4, 5, 6
RELA, RELASZ, STRSZ, SYMENT, SONAME, RPATH, SYMBOLIC, REL, RELSZ = 7, 8, 10, 11, 14, 15, 16, 17, 18
PLTREL, JMPREL, BIND_NOW, RUNPATH, FLAGS = 20, 23, 24, 29, 30
GNU_HASH, VERSYM, FLAGS_1 = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFB
VERDEF, VERDEFNUM, VERNEED, VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF

_FLAG_NAMES = ((FLAGS, 0x1, "ORIGIN"), (FLAGS, 0x2, "SYMBOLIC"), (FLAGS, 0x8, "BIND_NOW"))
_FLAG_1_NAMES = (
    (FLAGS_1, 0x1, "NOW"),
    (FLAGS_1, 0x2, "GLOBAL"),
    (FLAGS_1, 0x8, "NODELETE"),
    (FLAGS_1, 0x80, "ORIGIN"),
    (FLAGS_1, 0x800, "NODEFLIB"),
    (FLAGS_1, 0x8000000, "PIE"),
)
_TAG_NAMES = ((SYMBOLIC, "SYMBOLIC"), (BIND_NOW, "BIND_NOW"))


class Dynamic(NamedTuple):
    """What the dynamic section says; texts are as written, with $ORIGIN and the like in them."""

    soname: str = ""
    needed: Tuple[str, ...] = ()
    rpath: Optional[str] = None
    runpath: Optional[str] = None
    flags: Tuple[str, ...] = ()  # "NODEFLIB", "BIND_NOW", ...
    tags: Dict[int, int] = {}  # the last value of each tag, for who reads tables


def read_dynamic(image: Image) -> Optional[Dynamic]:
    """The dynamic section; None of a file that has none, which is linked statically or no library.

    Raises ElfError if the file cannot be read.
    """
    segment = image.segment(PT_DYNAMIC)
    if segment is None or not segment.size:
        return None
    pair = image.layout.pair
    # The loader goes by the address; the offset is right in files that no tool has edited.
    data = image.at(segment.address, min(segment.size, _MAX_ENTRIES * pair.size))
    data = data or image.read(segment.offset, min(segment.size, _MAX_ENTRIES * pair.size))
    needed: List[int] = []
    tags: Dict[int, int] = {}
    for at in range(0, len(data) - pair.size + 1, pair.size):
        tag, value = pair.unpack_from(data, at)
        if tag == 0:
            break
        if tag == NEEDED:
            needed.append(value)
        else:
            tags[tag] = value
    strings = _Strings(image, tags)
    flags = [name for tag, bit, name in (*_FLAG_NAMES, *_FLAG_1_NAMES) if tags.get(tag, 0) & bit]
    flags += [name for tag, name in _TAG_NAMES if tag in tags]
    return Dynamic(
        soname=strings.get(tags.get(SONAME)) or "",
        needed=tuple(strings.get(at) or "" for at in needed[:_MAX_NEEDED]),
        rpath=strings.get(tags.get(RPATH)),
        runpath=strings.get(tags.get(RUNPATH)),
        flags=tuple(dict.fromkeys(flags)),
        tags=tags,
    )


class _Strings:
    """The table of strings that the dynamic section names."""

    def __init__(self, image: Image, tags: Dict[int, int]) -> None:
        self._image = image
        self._offset = image.offset(tags.get(STRTAB, 0))
        self._size = tags.get(STRSZ, 0)

    def get(self, at: Optional[int]) -> Optional[str]:
        if at is None or self._offset is None or at >= self._size:
            return None
        return self._image.text(self._offset + at)[: _PATH * 4].decode("utf-8", "surrogateescape")


def read_interpreter(image: Image) -> str:
    """The loader that a program asks for (PT_INTERP), "" of a library."""
    segment = image.segment(PT_INTERP)
    if segment is None:
        return ""
    data = image.read(segment.offset, min(segment.size, _PATH))
    return data.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def read_build_id(image: Image) -> str:
    """The build id in hexadecimal digits, "" of a file without one."""
    for segment in image.segments:
        if segment.kind == PT_NOTE:
            found = _build_id(image, image.read(segment.offset, min(segment.size, _MAX_NOTES)))
            if found:
                return found
    return ""


def _build_id(image: Image, data: bytes) -> str:
    order = "little" if image.layout.order == "<" else "big"
    at = 0
    while at + 12 <= len(data):
        name, size, kind = (
            int.from_bytes(data[at + i : at + i + 4], order)  # type: ignore[arg-type]
            for i in (0, 4, 8)
        )
        text = at + 12
        content = text + (name + 3 & ~3)
        if kind == 3 and data[text : text + name] == b"GNU\0" and 0 < size <= 64:
            return data[content : content + size].hex()
        at = content + (size + 3 & ~3)
    return ""
