"""Writes shared objects and programs as linkers lay them out: of both classes and byte orders."""

from __future__ import annotations

import struct
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

X86_64, AARCH64, I386, S390 = 62, 183, 3, 22


class Wanted(NamedTuple):
    """A symbol that another file must bring."""

    name: str
    version: str = ""
    file: str = ""  # the SONAME that the version is asked of
    weak: bool = False
    referenced: bool = True  # by a relocation


class Offered(NamedTuple):
    """A symbol that is exported."""

    name: str
    version: str = ""
    hidden: bool = False  # not the version that new references get


def gnu_hash(name: bytes) -> int:
    value = 5381
    for byte in name:
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def old_hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = ((value ^ (high >> 24)) & ~high) & 0xFFFFFFFF
    return value


class _Strings:
    def __init__(self) -> None:
        self.data = b"\0"

    def add(self, text: str) -> int:
        raw = text.encode("utf-8", "surrogateescape") + b"\0"
        at = self.data.find(b"\0" + raw)
        if at >= 0:
            return at + 1
        self.data += raw
        return len(self.data) - len(raw)


def shared_object(
    soname: str = "",
    needed: Sequence[str] = (),
    exports: Sequence[Offered] = (),
    wants: Sequence[Wanted] = (),
    *,
    rpath: Optional[str] = None,
    runpath: Optional[str] = None,
    nodeflib: bool = False,
    hashes: Tuple[str, ...] = ("gnu",),
    needs: Sequence[Tuple[str, str, bool]] = (),  # more versions: file, version, weak
    defines: Sequence[str] = (),  # more versions
    interpreter: str = "",
    build_id: bytes = b"",
    machine: int = X86_64,
    wide: bool = True,
    order: str = "<",
    kind: int = 3,
    filling: int = 0,  # bytes at the end
) -> bytes:
    """The bytes of a file; `hashes` are the tables it has, of "gnu" and "sysv"."""
    strings = _Strings()
    buckets = max(1, len(exports) // 2)
    ordered = sorted(exports, key=lambda one: gnu_hash(one.name.encode()) % buckets)
    if "gnu" not in hashes:
        ordered = list(exports)
    names = [*(w.name for w in wants), *(o.name for o in ordered)]
    first = 1 + len(wants)

    # versions: of others, then its own
    asked: Dict[Tuple[str, str], int] = {}
    number = 2 + len(dict.fromkeys([*defines, *(o.version for o in exports if o.version)]))
    own: Dict[str, int] = {}
    for version in dict.fromkeys([*defines, *(o.version for o in exports if o.version)]):
        own[version] = 2 + len(own)
    weak_ones = set()
    for file, version, weak in [
        *needs,
        *((w.file, w.version, False) for w in wants if w.version),
    ]:
        if (file, version) not in asked:
            asked[(file, version)] = number
            number += 1
            if weak:
                weak_ones.add((file, version))
    versym = [0]
    versym += [asked[(w.file, w.version)] if w.version else 1 for w in wants]
    versym += [(own[o.version] | (0x8000 if o.hidden else 0)) if o.version else 1 for o in ordered]

    word = "Q" if wide else "I"
    symbols = bytes(24 if wide else 16)
    for index, name in enumerate(names):
        is_export = index >= len(wants)
        weak = not is_export and wants[index].weak
        info = (2 if weak else 1) << 4 | (2 if is_export else 0)
        section, value = (7, 0x10) if is_export else (0, 0)
        at = strings.add(name)
        if wide:
            symbols += struct.pack(order + "IBBHQQ", at, info, 0, section, value, 1)
        else:
            symbols += struct.pack(order + "IIIBBH", at, value, 1, info, 0, section)

    verneed = b""
    files = list(dict.fromkeys(file for file, _ in asked))
    for position, file in enumerate(files):
        each = [(version, n) for (f, version), n in asked.items() if f == file]
        following = 16 + 16 * len(each) if position + 1 < len(files) else 0
        verneed += struct.pack(order + "HHIII", 1, len(each), strings.add(file), 16, following)
        for place, (version, n) in enumerate(each):
            flags = 2 if (file, version) in weak_ones else 0
            further = 16 if place + 1 < len(each) else 0
            verneed += struct.pack(
                order + "IHHII", old_hash(version.encode()), flags, n, strings.add(version), further
            )
    verdef = b""
    listed = [(soname, 1, 1), *((v, n, 0) for v, n in own.items())] if own else []
    for place, (version, n, flags) in enumerate(listed):
        following = 28 if place + 1 < len(listed) else 0
        verdef += struct.pack(
            order + "HHHHIII", 1, flags, n, 1, old_hash(version.encode()), 20, following
        )
        verdef += struct.pack(order + "II", strings.add(version), 0)

    gnu = b""
    if "gnu" in hashes:
        gnu = _gnu_table(ordered, first, buckets, wide, order)
    sysv = b""
    if "sysv" in hashes:
        sysv = _old_table(["", *names], order)
    relocations = b""
    for index, want in enumerate(wants):
        if want.referenced:
            info = (index + 1) << 32 | 6 if wide else (index + 1) << 8 | 6
            relocations += struct.pack(order + word * 2 + ("q" if wide else "i"), 0x20, info, 0)

    entries: List[Tuple[int, int]] = [(1, strings.add(name)) for name in needed]
    if soname:
        entries.append((14, strings.add(soname)))
    if rpath is not None:
        entries.append((15, strings.add(rpath)))
    if runpath is not None:
        entries.append((29, strings.add(runpath)))
    if nodeflib:
        entries.append((0x6FFFFFFB, 0x800))

    note = b""
    if build_id:
        note = struct.pack(order + "III", 4, len(build_id), 3) + b"GNU\0" + build_id
    header_size, segment_size = (64, 56) if wide else (52, 32)
    program = interpreter.encode() + b"\0" if interpreter else b""
    kinds = [1, 2, *([3] if program else []), *([4] if note else [])]
    at = header_size + segment_size * len(kinds)
    places: Dict[str, int] = {}
    body = b""

    def put(name: str, data: bytes) -> None:
        nonlocal body
        body += bytes(-len(body) % 8)
        places[name] = at + len(body)
        body += data

    put("symbols", symbols)
    put("strings", strings.data)
    put("versym", struct.pack(f"{order}{len(versym)}H", *versym))
    for name, data in (
        ("verneed", verneed), ("verdef", verdef), ("gnu", gnu), ("sysv", sysv),
        ("relocations", relocations), ("program", program), ("note", note),
    ):  # fmt: skip
        if data:
            put(name, data)
    entries += [
        (5, places["strings"]), (10, len(strings.data)), (6, places["symbols"]),
        (11, 24 if wide else 16),
    ]  # fmt: skip
    if verneed or verdef:
        entries.append((0x6FFFFFF0, places["versym"]))
    if verneed:
        entries += [(0x6FFFFFFE, places["verneed"]), (0x6FFFFFFF, len(files))]
    if verdef:
        entries += [(0x6FFFFFFC, places["verdef"]), (0x6FFFFFFD, len(listed))]
    if gnu:
        entries.append((0x6FFFFEF5, places["gnu"]))
    if sysv:
        entries.append((4, places["sysv"]))
    if relocations:
        entries += [(7, places["relocations"]), (8, len(relocations)), (9, 24 if wide else 12)]
    dynamic = b"".join(struct.pack(order + word * 2, tag, value) for tag, value in entries)
    put("dynamic", dynamic + bytes(16 if wide else 8))
    body += bytes(filling)

    whole = at + len(body)
    spans = {
        1: (0, whole),
        2: (places["dynamic"], len(dynamic) + (16 if wide else 8)),
        3: (places.get("program", 0), len(program)),
        4: (places.get("note", 0), len(note)),
    }
    table = b""
    for segment in kinds:
        offset, size = spans[segment]
        if wide:
            table += struct.pack(
                order + "IIQQQQQQ", segment, 4, offset, offset, offset, size, size, 8
            )
        else:
            table += struct.pack(
                order + "IIIIIIII", segment, offset, offset, offset, size, size, 4, 8
            )
    head = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    head += struct.pack(order + "HHI", kind, machine, 1)
    head += struct.pack(order + word * 3, 0, header_size, 0)
    head += struct.pack(order + "IHHHHHH", 0, header_size, segment_size, len(kinds), 0, 0, 0)
    return head + table + body


def _gnu_table(
    ordered: Sequence[Offered], first: int, buckets: int, wide: bool, order: str
) -> bytes:
    width = 64 if wide else 32
    bloom = 0
    heads = [0] * buckets
    chains: List[int] = []
    values = [gnu_hash(one.name.encode()) for one in ordered]
    for index, value in enumerate(values):
        bloom |= 1 << value % width | 1 << (value >> 6) % width
        bucket = value % buckets
        heads[bucket] = heads[bucket] or first + index
        is_last = index + 1 == len(values) or values[index + 1] % buckets != bucket
        chains.append(value & ~1 | is_last)
    table = struct.pack(order + "IIII", buckets, first if values else 1, 1, 6)
    table += struct.pack(order + ("Q" if wide else "I"), bloom)
    return table + struct.pack(f"{order}{buckets + len(chains)}I", *heads, *chains)


def _old_table(names: Sequence[str], order: str) -> bytes:
    buckets = max(1, len(names) // 2)
    heads, chains = [0] * buckets, [0] * len(names)
    for index, name in enumerate(names):
        if index:
            bucket = old_hash(name.encode()) % buckets
            chains[index] = heads[bucket]
            heads[bucket] = index
    return struct.pack(f"{order}{2 + buckets + len(names)}I", buckets, len(names), *heads, *chains)


#: A small library with everything in it that a reader may meet.
def specimen(wide: bool = True, order: str = "<", machine: int = X86_64) -> bytes:
    return shared_object(
        "libspecimen.so.1",
        ["libc.so.6", "libother.so.2"],
        [Offered("plain"), Offered("old", "SPEC_1.0", hidden=True), Offered("old", "SPEC_2.0")],
        [
            Wanted("printf", "GLIBC_2.2.5", "libc.so.6"),
            Wanted("_ZN3c105ErrorE"),
            Wanted("maybe", weak=True),
        ],
        runpath="$ORIGIN/../lib:/opt/lib",
        hashes=("gnu", "sysv"),
        needs=[("libc.so.6", "GLIBC_2.34", False), ("libother.so.2", "OTHER_1", True)],
        build_id=bytes(range(20)),
        wide=wide,
        order=order,
        machine=machine,
    )
