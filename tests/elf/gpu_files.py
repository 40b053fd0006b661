"""Writes fat binaries, and ELF files around them, as the compilers of CUDA lay them out."""

from __future__ import annotations

import struct
from typing import Mapping, Sequence, Tuple

PTX, SASS, LTO = 1, 2, 8
EXACT, FAMILY = 0x100000, 0x200000  # sm_90a, sm_100f


def image(
    kind: int,
    number: int,
    flags: int = 0,
    isa: Tuple[int, int] = (8, 4),
    payload: bytes = bytes(16),
    size: int = 3000,
) -> bytes:
    """One image for an architecture, 90 of sm_90; `size` is that of what was compressed."""
    return (
        struct.pack("<HHIQ", kind, 0x101, 64, len(payload))
        + struct.pack("<IIHHIIIQQQ", 0, 0, isa[1], isa[0], number, 0, 0, flags | 0x11, 0, size)
        + payload
    )


def container(*images: bytes) -> bytes:
    """A fat binary of these images."""
    body = b"".join(images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def elf(
    sections: Mapping[str, bytes],
    headers: bool = True,
    segments: Sequence[Tuple[int, int]] = (),
    first: bool = False,
) -> bytes:
    """A shared library of these sections; `segments` are offsets and sizes of what is loaded.

    With `first` the headers of sections stand before them, so that they outlive a cut.
    """
    names = b"\0.shstrtab\0" + b"".join(name.encode() + b"\0" for name in sections)
    listed = [(".shstrtab", names), *sections.items()]
    start = 64 + 56 * len(segments)
    body, rows = b"", [bytes(64)]
    before = 64 * (1 + len(listed)) if first else 0
    for name, data in listed:
        at, offset = names.index(name.encode() + b"\0"), start + before + len(body)
        rows.append(struct.pack("<IIQQQQIIQQ", at, 1, 0, 0, offset, len(data), 0, 0, 8, 0))
        body += data
    table = b"".join(rows) if headers else b""
    place = (start if first else start + len(body)) if headers else 0
    counts = (64, len(rows), 1) if headers else (0, 0, 0)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 3, 62, 1)
    header += struct.pack("<QQQIHHHHHH", 0, 64, place, 0, 64, 56, len(segments), *counts)
    loaded = (struct.pack("<IIQQQQQQ", 1, 4, at, 0, 0, size, size, 8) for at, size in segments)
    return header + b"".join(loaded) + (table + body if first else body + table)
