"""Symbols of an ELF file: those that it leaves undefined, and look-ups of those that it exports.

Exported symbols are never listed: torch's libraries have hundreds of thousands. A look-up goes
through the hash table as the loader's does (glibc's elf/dl-lookup.c, do_lookup_x and check_match).
The GNU hash table is described in "ELF: better symbol lookup via DT_GNU_HASH" of Ali Bahrami, the
older one in the System V ABI.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from envdoctor.elf.dynamic import (
    GNU_HASH,
    HASH,
    JMPREL,
    PLTREL,
    PLTRELSZ,
    REL,
    RELA,
    RELASZ,
    RELSZ,
    STRTAB,
    SYMTAB,
    VERSYM,
    Dynamic,
)
from envdoctor.elf.image import PT_INTERP, Image
from envdoctor.elf.versions import HIDDEN, INDEX, Need, Versions

#: Symbols of a file that are looked at: libtorch_python has 30,000 undefined ones.
MAX_SYMBOLS = 1 << 21
_MAX_TABLE = 1 << 26
_MAX_CHAIN = 4096  # entries of one bucket
_AT_ONCE = 4096  # symbols
#: What is remembered of look-ups; libstdc++ is asked for some thousand symbols again and again.
_MAX_BOUND = 20_000
#: String tables up to this size are read as a whole: one call in place of one for each name.
_SMALL = 1 << 21

_UNDEFINED, _ABSOLUTE = 0, 0xFFF1
_GLOBAL, _WEAK, _UNIQUE = 1, 2, 10
_TLS = 6
#: NOTYPE, OBJECT, FUNC, COMMON, TLS, GNU_IFUNC: what the loader binds to.
_BOUND_TYPES = frozenset([0, 1, 2, 5, 6, 10])
_INTERNAL, _HIDDEN_VISIBILITY = 1, 2


class Undefined(NamedTuple):
    """A symbol that must come from elsewhere."""

    name: bytes
    version: str  # "" where none is asked for
    file: str  # the SONAME that the version is asked of
    weak: bool  # it may stay undefined
    number: int


class _Symbol(NamedTuple):
    name: int
    info: int
    other: int
    section: int
    value: int

    @property
    def binding(self) -> int:
        return self.info >> 4

    @property
    def type(self) -> int:
        return self.info & 15


class Symbols:
    """The dynamic symbols of an image, which must stay open."""

    def __init__(self, image: Image, dynamic: Dynamic, versions: Versions) -> None:
        """Read nothing yet but the heads of the hash tables. Raises ElfError."""
        self._image = image
        self._tags = dynamic.tags
        self._versions = versions
        self._entry = image.layout.symbol
        self._table = image.offset(dynamic.tags.get(SYMTAB, 0)) if SYMTAB in dynamic.tags else None
        self._names = image.offset(dynamic.tags.get(STRTAB, 0))
        self._has_versions = VERSYM in dynamic.tags
        self._gnu = _gnu_hash(image, dynamic)
        self._old = _old_hash(image, dynamic) if self._gnu is None else None
        self._linear: Optional[Dict[bytes, List[int]]] = None
        self._bound: Set[Tuple[bytes, str]] = set()  # what was looked for and found

    # --- undefined symbols

    def undefined(self) -> Iterator[Undefined]:
        """Every symbol that must come from elsewhere. Raises ElfError."""
        if self._table is None or self._names is None:
            return
        needs = {need.number: need for need in self._versions.needs}
        small = self._small_strings()
        count = self.count_of_undefined()
        for first in range(0, count, _AT_ONCE):
            size = min(_AT_ONCE, count - first)
            data = self._image.read(self._table + first * self._entry.size, size * self._entry.size)
            versions = self._version_indexes(first, size)
            data = data[: len(data) // self._entry.size * self._entry.size]
            for place, fields in enumerate(self._entry.iter_unpack(data)):
                symbol = self._symbol(fields)
                if symbol.section != _UNDEFINED or symbol.binding not in (_GLOBAL, _WEAK):
                    continue
                name = self._text(symbol.name, small)
                if not name:
                    continue
                need: Optional[Need] = None
                if place < len(versions):
                    need = needs.get(versions[place] & INDEX)
                yield Undefined(
                    name,
                    need.version if need is not None else "",
                    need.file if need is not None else "",
                    symbol.binding == _WEAK,
                    first + place,
                )

    def count_of_undefined(self) -> int:
        """How many symbols, from the first on, may be undefined ones."""
        # Linkers put symbols that the GNU hash table leaves out, as it does undefined ones, first;
        # in programs some of these are in the table all the same.
        is_program = self._image.segment(PT_INTERP) is not None
        if self._gnu is not None and self._gnu.first_hashed and not is_program:
            return min(self._gnu.first_hashed, MAX_SYMBOLS)
        return self.count()

    def count(self) -> int:
        """How many symbols there are; no table states it where there is only a GNU hash table."""
        if self._old is None and HASH in self._tags:
            head = self._image.at(self._tags[HASH], 8)
            if len(head) == 8:
                symbols: int = struct.unpack(self._image.layout.order + "II", head)[1]
                return min(symbols, self._room())
        if self._old is not None:
            return min(self._old.symbols, self._room())
        return self._room()

    def _room(self) -> int:
        """How many fit before what comes next in the file; linkers put the strings there."""
        table = self._tags.get(SYMTAB, 0)
        others = [
            self._tags[tag]
            for tag in (STRTAB, VERSYM, GNU_HASH, HASH, RELA, REL, JMPREL)
            if self._tags.get(tag, 0) > table
        ]
        end = min(others, default=table)
        return min((end - table) // self._entry.size, MAX_SYMBOLS, self._image.size)

    def _version_indexes(self, first: int, count: int) -> Tuple[int, ...]:
        if not self._has_versions:
            return ()
        data = self._image.at(self._tags[VERSYM] + 2 * first, 2 * count)
        return struct.unpack(f"{self._image.layout.order}{len(data) // 2}H", data[: len(data) & ~1])

    def _small_strings(self) -> bytes:
        """The strings of a file that has few of them; b"" of others."""
        from envdoctor.elf.dynamic import STRSZ

        size = self._tags.get(STRSZ, 0)
        if self._names is None or not 0 < size <= _SMALL:
            return b""
        return self._image.read(self._names, size)

    def _text(self, at: int, small: bytes) -> bytes:
        if small:
            end = small.find(b"\0", at)
            return small[at:end] if at < len(small) and end >= 0 else b""
        return b"" if self._names is None else self._image.text(self._names + at)

    def _symbol(self, fields: Tuple[int, ...]) -> _Symbol:
        if self._image.layout.wide:
            name, info, other, section, value, _ = fields
        else:
            name, value, _, info, other, section = fields
        return _Symbol(name, info, other, section, value)

    # --- exported symbols

    def exports(self, name: bytes, version: str = "") -> bool:
        """Whether a reference to a symbol, of a version if one is named, binds to this file.

        Of which file the version is asked plays no part. Raises ElfError.
        """
        if (name, version) in self._bound:
            return True
        if self._gnu is not None and not self._gnu.may_hold(gnu_hash(name)):
            return False
        if not self._binds(name, version):
            return False
        if len(self._bound) < _MAX_BOUND:
            self._bound.add((name, version))
        return True

    def _binds(self, name: bytes, version: str) -> bool:
        found = self._defined(name)
        if not self._has_versions:
            return bool(found)  # the loader takes a symbol of a file without versions
        unclear = 0
        for index in found:
            indexes = self._version_indexes(index, 1)
            own = indexes[0] if indexes else 1
            defined = self._versions.defined.get(own & INDEX, "")
            if version:
                if defined == version or (not defined and not own & HIDDEN):
                    return True
            elif own & INDEX < 3:
                return True
            elif not own & HIDDEN:
                unclear += 1
        return unclear == 1

    def versions_of(self, name: bytes) -> FrozenSet[str]:
        """The versions under which a symbol is exported; "" stands for none. Raises ElfError."""
        found = set()
        for index in self._defined(name):
            indexes = self._version_indexes(index, 1)
            found.add(self._versions.defined.get(indexes[0] & INDEX, "") if indexes else "")
        return frozenset(found)

    def _defined(self, name: bytes) -> List[int]:
        """The symbols of a name that the loader would bind to."""
        if self._table is None or self._names is None:
            return []
        if self._gnu is not None:
            candidates: Iterable[int] = self._gnu.candidates(gnu_hash(name))
        elif self._old is not None:
            candidates = self._old.candidates(old_hash(name))
        else:
            candidates = self._listed().get(name, ())
        return [index for index in candidates if self._is_export(index, name)]

    def _is_export(self, index: int, name: bytes) -> bool:
        if self._table is None or self._names is None or index >= MAX_SYMBOLS:
            return False
        data = self._image.read(self._table + index * self._entry.size, self._entry.size)
        if len(data) < self._entry.size:
            return False
        symbol = self._symbol(self._entry.unpack(data))
        return (
            _is_bindable(symbol)
            and self._image.read(self._names + symbol.name, len(name) + 1) == name + b"\0"
        )

    def _listed(self) -> Dict[bytes, List[int]]:
        """Exported symbols by name, of a file without a hash table."""
        if self._linear is None:
            self._linear = {}
            small = self._small_strings()
            data = self._image.read(self._table or 0, self.count() * self._entry.size)
            data = data[: len(data) // self._entry.size * self._entry.size]
            for index, fields in enumerate(self._entry.iter_unpack(data)):
                symbol = self._symbol(fields)
                if _is_bindable(symbol):
                    name = self._text(symbol.name, small)
                    self._linear.setdefault(name, []).append(index)
        return self._linear

    # --- relocations

    def referenced(self, indexes: Set[int]) -> Set[int]:
        """Which of these symbols a relocation names; the loader looks for no others.

        Raises ElfError.
        """
        found: Set[int] = set()
        with_addend = self._tags.get(PLTREL) != REL
        for table, length, addend in (
            (RELA, RELASZ, True),
            (REL, RELSZ, False),
            (JMPREL, PLTRELSZ, with_addend),
        ):
            if table in self._tags:
                size = min(self._tags.get(length, 0), _MAX_TABLE)
                found |= self._named(self._image.at(self._tags[table], size), addend) & indexes
        return found

    def _named(self, data: bytes, addend: bool) -> Set[int]:
        wide = self._image.layout.wide
        form = ("QQq" if wide else "IIi")[: 3 if addend else 2]
        entry = struct.Struct(self._image.layout.order + form)
        data = data[: len(data) // entry.size * entry.size]
        shift = 32 if wide else 8
        return {fields[1] >> shift for fields in entry.iter_unpack(data)}


def _is_bindable(symbol: _Symbol) -> bool:
    """Whether the loader binds references to it, apart from its name and version."""
    has_value = symbol.value or symbol.section == _ABSOLUTE or symbol.type == _TLS
    return bool(
        symbol.section != _UNDEFINED
        and has_value
        and symbol.type in _BOUND_TYPES
        and symbol.binding in (_GLOBAL, _WEAK, _UNIQUE)
        and symbol.other & 3 not in (_INTERNAL, _HIDDEN_VISIBILITY)
    )


@lru_cache(maxsize=1 << 16)
def gnu_hash(name: bytes) -> int:
    """The hash of a name in a GNU hash table."""
    value = 5381
    for byte in name:
        value = value * 33 + byte & 0xFFFFFFFF
    return value


def old_hash(name: bytes) -> int:
    """The hash of a name in the hash table of the System V ABI."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


class _GnuHash(NamedTuple):
    first: int  # the first symbol that is hashed
    first_hashed: int  # the same where any is, else 0
    width: int  # bits of a word of the filter
    shift: int
    bloom: Tuple[int, ...]
    buckets: Tuple[int, ...]
    chains: bytes
    order: str

    def may_hold(self, value: int) -> bool:
        """Whether the filter lets a hash pass."""
        width = self.width
        word = self.bloom[value // width % len(self.bloom)]
        return bool(word >> value % width & word >> (value >> self.shift) % width & 1)

    def candidates(self, value: int) -> Iterator[int]:
        """The symbols whose hash this is."""
        if not self.may_hold(value):
            return
        index = self.buckets[value % len(self.buckets)]
        if index < self.first or not index:
            return
        little = "little" if self.order == "<" else "big"
        at = 4 * (index - self.first)
        for step in range(_MAX_CHAIN):
            data = self.chains[at : at + 4]
            if len(data) < 4:
                return
            entry = int.from_bytes(data, little)  # type: ignore[arg-type]
            if entry | 1 == value | 1:
                yield index + step
            if entry & 1:
                return
            at += 4


def _gnu_hash(image: Image, dynamic: Dynamic) -> Optional[_GnuHash]:
    """The GNU hash table; None if there is none, or it is cut off. Raises ElfError."""
    offset = image.offset(dynamic.tags[GNU_HASH]) if GNU_HASH in dynamic.tags else None
    head = image.read(offset, 16) if offset is not None else b""
    if offset is None or len(head) < 16:
        return None
    order, width = image.layout.order, 64 if image.layout.wide else 32
    buckets, first, words, shift = struct.unpack(order + "IIII", head)
    size = words * (width // 8) + 4 * buckets
    if not buckets or not words or size > _MAX_TABLE:
        return None
    data = image.read(offset + 16, size)
    if len(data) < size:
        return None
    letter = "Q" if width == 64 else "I"
    numbers = struct.unpack(f"{order}{words}{letter}{buckets}I", data)
    heads = numbers[words:]
    last = max(heads)
    if last < first:
        return _GnuHash(first, 0, width, shift, numbers[:words], heads, b"", order)
    # The chain of the last bucket ends where its lowest bit says so, which is no more known here.
    length = min(4 * (last - first + _MAX_CHAIN), _MAX_TABLE)
    chains = image.read(offset + 16 + size, length)
    return _GnuHash(first, first, width, shift, numbers[:words], heads, chains, order)


class _OldHash(NamedTuple):
    symbols: int
    buckets: Tuple[int, ...]
    chains: Tuple[int, ...]

    def candidates(self, value: int) -> Iterator[int]:
        """The symbols of the bucket of a hash."""
        index = self.buckets[value % len(self.buckets)]
        for _ in range(_MAX_CHAIN):
            if not 0 < index < len(self.chains):
                return
            yield index
            index = self.chains[index]


def _old_hash(image: Image, dynamic: Dynamic) -> Optional[_OldHash]:
    """The System V hash table; None if there is none, or it is cut off. Raises ElfError."""
    offset = image.offset(dynamic.tags[HASH]) if HASH in dynamic.tags else None
    head = image.read(offset, 8) if offset is not None else b""
    if offset is None or len(head) < 8:
        return None
    order = image.layout.order
    buckets, symbols = struct.unpack(order + "II", head)
    size = 4 * (buckets + symbols)
    if not buckets or size > _MAX_TABLE:
        return None
    data = image.read(offset + 8, size)
    if len(data) < size:
        return None
    numbers = struct.unpack(f"{order}{buckets + symbols}I", data)
    return _OldHash(symbols, numbers[:buckets], numbers[buckets:])
