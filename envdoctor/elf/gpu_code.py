"""Which compiled GPU code (SASS) and PTX a file holds, as the headers of its fat binaries tell.

A fat binary is a container of images: for each translation unit nvcc writes one, with an image for
each target that it was told. Containers stand one after another in the section `.nv_fatbin`, what
is still to be linked on the device in `__nv_relfatbin`. Nothing is decompressed and nothing is
searched for: each header says where the next is, so a gigabyte costs some thousand small reads.

Sources: `fatbinary_section.h` of NVIDIA's compiler (names of sections, the wrapper), and containers
that nvcc 13.4, nvFatbin 12.4 to 12.9 and the wheels of torch 1.4 to 2.15 hold, compared with what
cuobjdump lists of them. Of a cubin's flags: cubins of ptxas 11.8, 12.9 and 13.4.
"""

from __future__ import annotations

import os
import struct
from typing import (
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from envdoctor.model.facts import CodeGroup, GpuCode

#: Begins every container; the wrapper in `.nvFatBinSegment`, which points to one, has another.
MAGIC = 0xBA55ED50
_LINKED, _RELOCATABLE = b".nv_fatbin", b"__nv_relfatbin"

_CONTAINER = struct.Struct("<IHHQ")  # magic, version, size of this header, size of the rest
_BEGINNING = struct.pack("<IHH", MAGIC, 1, 16)
# kind, attributes, size of this header, size of the image, size if compressed, place of the options
# of its compiler, version (minor, major), architecture, place and length of its name, flags
_ENTRY = struct.Struct("<HHIQIIHHIIIQ")
_ENTRY_SIZE = 64
_SIZE = struct.Struct("<Q")  # of the image when it is not compressed, at the end of its header
# Bytes of a cubin with a kernel: the smallest seen has 2,400, one without 1,450 (CUDA 13.4).
_WITH_KERNEL = 2_000
_FLAGS_ARCHITECTURE, _FLAGS_FAMILY = 0x100000, 0x200000  # sm_90a, sm_100f

_PTX, _ELF, _MERCURY = 1, 2, 0x10
# Several images that were compressed together: their headers follow this one's.
_TOGETHER = 0x100

_EM_CUDA = 190
_ABI_8 = 8  # of cubins: from Blackwell on in CUDA 12, of all targets in CUDA 13
_SHT_NOBITS = 8
MOST_ARCHITECTURE = 1000

# The largest libraries have some ten thousand headers and some dozen sets of targets.
MOST_HEADERS = 500_000
MOST_GROUPS = 1_000
MOST_LISTED = 400  # targets in all sets of one package, of which a snapshot keeps all
MOST_SECTIONS = 200_000
MOST_TOGETHER = 1 << 20  # bytes of headers of images that were compressed together
MOST_NAMES = 16 << 20  # bytes of the names of sections
# What is searched for containers, where no section says where they are.
MOST_SEARCHED = 4 << 30
_CHUNK = 1 << 20
_GAP = 1 << 16  # bytes between two containers that are searched for the next one


class Architecture(NamedTuple):
    """A target of the compiler: 9.0, with the suffix "a" of sm_90a or "f" of sm_100f."""

    major: int
    minor: int
    suffix: str = ""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}{self.suffix}"


class Group(NamedTuple):
    """Containers that have images for the same targets."""

    sass: Tuple[Architecture, ...]
    ptx: Tuple[Architecture, ...]
    containers: int  # how many of them


class GpuImages(NamedTuple):
    """The GPU code of one file. Targets are sorted; of groups the most frequent is first."""

    groups: Tuple[Group, ...] = ()  # of what is loaded as it is
    relocatable: Tuple[Group, ...] = ()  # of what is linked on the device first
    images: int = 0  # of SASS and PTX
    other: int = 0  # images of other kinds, such as code for link-time optimization
    #: Whether there is more than what nvcc puts into all that it links: an image without a kernel.
    has_kernels: bool = False
    #: {PTX target: the newest version of PTX among its images, (8, 4)}
    isa: Dict[Architecture, Tuple[int, int]] = {}
    problem: str = ""  # why it was not read to its end

    @property
    def sass(self) -> Tuple[Architecture, ...]:
        """Targets of which there is compiled code."""
        return tuple(sorted({target for group in self.groups for target in group.sass}))

    @property
    def ptx(self) -> Tuple[Architecture, ...]:
        """Targets of which there is PTX."""
        return tuple(sorted({target for group in self.groups for target in group.ptx}))


class _DamagedError(Exception):
    """The file does not hold what its headers say."""


def read_gpu_images(path: str) -> GpuImages:
    """The GPU code of a shared library, an object, a fat binary or a cubin; none of other files.

    What follows a damaged place is not read, `problem` says so. Raises OSError.
    """
    # Not blocking: what is called a library may be a pipe.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return _File(handle).read()
    finally:
        os.close(handle)


def summarize(files: Sequence[GpuImages], origin: str = "") -> Optional[GpuCode]:
    """What the files of one package have code for; None if that is nothing, or not known wholly.

    What nvcc linked without being told for which GPUs has an image for the oldest, and no kernel in
    it: that is nothing.
    """
    if not any(file.has_kernels for file in files):
        return None
    counted: Dict[_Targets, int] = {}
    for file in files:
        for group in file.groups:
            targets = _Targets(frozenset(group.sass), frozenset(group.ptx))
            counted[targets] = counted.get(targets, 0) + group.containers
    relocatable = [group for file in files for group in file.relocatable]
    if not counted:  # to be linked where it runs, if at all
        counted = {_Targets(frozenset(g.sass), frozenset(g.ptx)): g.containers for g in relocatable}
    listed = sum(len(targets.sass) + len(targets.ptx) for targets in counted)
    if not listed or listed > MOST_LISTED or any(file.problem for file in files):
        return None
    groups = _groups(counted)
    isa = max((version for file in files for version in file.isa.values()), default=None)
    return GpuCode(
        sass=_texts({target for group in groups for target in group.sass}),
        ptx=_texts({target for group in groups for target in group.ptx}),
        origin=origin,
        groups=tuple(CodeGroup(_texts(g.sass), _texts(g.ptx), g.containers) for g in groups),
        linkable=_texts({target for group in relocatable for target in group.ptx}),
        ptx_version="" if isa is None else f"{isa[0]}.{isa[1]}",
    )


def _texts(targets: Iterable[Architecture]) -> Tuple[str, ...]:
    return tuple(str(target) for target in sorted(targets))


class _Targets(NamedTuple):
    """What one container has images for."""

    sass: FrozenSet[Architecture]
    ptx: FrozenSet[Architecture]


_Counted = Dict[_Targets, int]


def _groups(counted: _Counted) -> Tuple[Group, ...]:
    groups = (
        Group(tuple(sorted(targets.sass)), tuple(sorted(targets.ptx)), count)
        for targets, count in counted.items()
    )
    return tuple(sorted(groups, key=lambda group: (-group.containers, group)))


class _File:
    """A file that is read at places, and what was found in it."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.size = os.fstat(handle).st_size
        self.linked: _Counted = {}
        self.relocatable: _Counted = {}
        self.headers = 0
        self.images = 0
        self.other = 0
        self.has_kernels = False
        self.isa: Dict[Architecture, Tuple[int, int]] = {}

    def read(self) -> GpuImages:
        problem = ""
        try:
            self._read()
        except _DamagedError as error:
            problem = str(error)
        return GpuImages(
            groups=_groups(self.linked),
            relocatable=_groups(self.relocatable),
            images=self.images,
            other=self.other,
            has_kernels=self.has_kernels,
            isa=dict(sorted(self.isa.items())),
            problem=problem,
        )

    def at(self, offset: int, size: int) -> bytes:
        """Bytes of the file; fewer where it ends."""
        if offset >= self.size:  # also beyond what the system can count to
            return b""
        # Not mapped into memory: a file that is cut while it is read would end the process.
        return os.pread(self.handle, min(size, self.size - offset), offset)

    def _read(self) -> None:
        header = self.at(0, 64)
        if header.startswith(_BEGINNING):
            self._containers(0, self.size, self.linked)  # a fat binary by itself
        # 64 bits, the lowest byte first: CUDA has no other hosts.
        if len(header) < 64 or not header.startswith(b"\x7fELF\x02\x01"):
            return
        sections = self._sections(header)
        if struct.unpack_from("<H", header, 18)[0] == _EM_CUDA:
            compat = next(
                (start for name, start, _ in sections if name == b".nv.compat"), self.size
            )
            self.images += 1
            self.has_kernels = True
            self._count({self._cubin(header, self.at(compat, 4))}, set(), self.linked)
            return
        for name, start, size in sections:
            if name == _LINKED:
                self._containers(start, start + size, self.linked)
            elif name == _RELOCATABLE:
                self._containers(start, start + size, self.relocatable)
        if not sections:
            for start, end in self._segments(header):
                self._search(start, end)

    def _sections(self, header: bytes) -> List[Tuple[bytes, int, int]]:
        """Name, offset and size of the sections that have bytes in the file."""
        (table,) = struct.unpack_from("<Q", header, 40)
        width, count, names = struct.unpack_from("<HHH", header, 58)
        first = self.at(table, 64)
        if not table or width < 64 or len(first) < 64:
            return []
        if count == 0:  # more than the field can hold
            (count,) = struct.unpack_from("<Q", first, 32)
        if names == 0xFFFF:
            (names,) = struct.unpack_from("<I", first, 40)
        if count > MOST_SECTIONS:
            raise _DamagedError(f"the file states {count} sections, which is too many")
        rows = self.at(table, count * width)
        places = range(0, len(rows) - width + 1, width)
        listed = [struct.unpack_from("<IIQQQQ", rows, at) for at in places]
        if names >= len(listed):
            return []
        texts = self.at(listed[names][4], min(listed[names][5], MOST_NAMES))
        return [
            (texts[name : name + 32].partition(b"\0")[0], start, size)
            for name, kind, _, _, start, size in listed
            if kind != _SHT_NOBITS and size
        ]

    def _segments(self, header: bytes) -> Iterator[Tuple[int, int]]:
        """Where the parts lie that are loaded of a file without sections."""
        (table,) = struct.unpack_from("<Q", header, 32)
        width, count = struct.unpack_from("<HH", header, 54)
        rows = self.at(table, width * count) if width >= 56 else b""
        last = 0
        for at in range(0, len(rows) - 55, max(width, 56)):
            kind, _, start, _, _, size = struct.unpack_from("<IIQQQQ", rows, at)
            if kind == 1 and max(start, last) < min(start + size, self.size):
                start, last = max(start, last), min(start + size, self.size)
                yield start, last

    def _search(self, start: int, end: int) -> None:
        """Read the containers between two places, where nothing says at which they begin."""
        end = min(end, start + MOST_SEARCHED)
        while start < end:
            chunk = self.at(start, min(_CHUNK, end - start))
            found = chunk.find(_BEGINNING)
            if found < 0:
                if len(chunk) < _CHUNK:
                    return
                start += _CHUNK - len(_BEGINNING) + 1
                continue
            start += found
            try:
                start = self._container(start, end, self.linked)
            except _DamagedError:
                if self.headers > MOST_HEADERS:
                    raise
                start += len(_BEGINNING)

    def _containers(self, start: int, end: int, counted: _Counted) -> None:
        """Read containers that stand one after another, with nothing but padding in between."""
        if end > self.size:
            end = self.size
            self._containers(start, end, counted)
            raise _DamagedError("the file ends before its GPU code does")
        while end - start >= _CONTAINER.size:
            if self.at(start, len(_BEGINNING)) != _BEGINNING:
                between = self.at(start, min(_GAP, end - start))
                found = between.find(_BEGINNING)
                if found < 0 and (between.strip(b"\0") or len(between) == _GAP):
                    raise _DamagedError(f"its GPU code has no fat binary at {start:#x}")
                if found < 0:
                    return
                start += found
            start = self._container(start, end, counted)

    def _container(self, start: int, end: int, counted: _Counted) -> int:
        """Read one container; returns where it ends."""
        header = self.at(start, _CONTAINER.size)
        if len(header) < _CONTAINER.size:
            raise _DamagedError(f"the file ends inside a fat binary, at {start:#x}")
        _, _, width, size = _CONTAINER.unpack(header)
        stop: int = start + width + size
        self._header()
        sass: Set[Architecture] = set()
        ptx: Set[Architecture] = set()
        at = start + width
        try:
            while min(stop, end) - at >= _ENTRY_SIZE:
                at = self._entry(at, stop, sass, ptx)
        finally:
            self._count(sass, ptx, counted)
        if stop > end:
            raise _DamagedError(f"a fat binary goes on beyond its section, at {start:#x}")
        return stop

    def _entry(self, at: int, stop: int, sass: Set[Architecture], ptx: Set[Architecture]) -> int:
        """Read the header of one image, or of several; returns where the next one is."""
        header = self.at(at, _ENTRY_SIZE)
        if len(header) < _ENTRY_SIZE:
            raise _DamagedError(f"the file ends inside a fat binary, at {at:#x}")
        kind, _, width, size = _ENTRY.unpack_from(header)[:4]
        if width < _ENTRY_SIZE or at + width + size > stop:
            raise _DamagedError(f"an image goes on beyond its fat binary, at {at:#x}")
        if kind == _TOGETHER:
            self._together(
                self.at(at + _ENTRY_SIZE, min(width - _ENTRY_SIZE, MOST_TOGETHER)), sass, ptx
            )
        else:
            self._image(header, sass, ptx)
        return int(at + width + size)

    def _together(self, table: bytes, sass: Set[Architecture], ptx: Set[Architecture]) -> None:
        """Read the headers of images that were compressed together: their number, then each."""
        number, at = struct.unpack_from("<I", table)[0] if len(table) >= 8 else 0, 8
        while number > 0 and at + _ENTRY_SIZE <= len(table):
            header = table[at : at + _ENTRY_SIZE]
            self._image(header, sass, ptx)
            at += _length(table, at)
            number -= 1

    def _image(self, header: bytes, sass: Set[Architecture], ptx: Set[Architecture]) -> None:
        self._header()
        kind, _, _, size, _, _, minor, major, number, _, _, flags = _ENTRY.unpack_from(header)
        if kind not in (_PTX, _ELF, _MERCURY):
            self.other += 1
            return
        suffix = "f" if flags & _FLAGS_FAMILY else "a" if flags & _FLAGS_ARCHITECTURE else ""
        target = _architecture(number, suffix)
        self.images += 1
        (unpacked,) = _SIZE.unpack_from(header, _ENTRY_SIZE - _SIZE.size)
        self.has_kernels = self.has_kernels or kind == _PTX or max(size, unpacked) >= _WITH_KERNEL
        if kind == _PTX:
            ptx.add(target)
            self.isa[target] = max((major, minor), self.isa.get(target, (0, 0)))
        else:
            sass.add(target)

    def _header(self) -> None:
        self.headers += 1
        if self.headers > MOST_HEADERS:
            raise _DamagedError(f"its GPU code has more than {MOST_HEADERS} images")

    def _count(self, sass: Set[Architecture], ptx: Set[Architecture], counted: _Counted) -> None:
        if not sass and not ptx:
            return
        targets = _Targets(frozenset(sass), frozenset(ptx))
        if targets not in counted and len(counted) >= MOST_GROUPS:
            raise _DamagedError("its fat binaries are for too many sets of targets")
        counted[targets] = counted.get(targets, 0) + 1

    def _cubin(self, header: bytes, compat: bytes) -> Architecture:
        """The target of a cubin by itself. Its layout changed with the version of its ABI."""
        (flags,) = struct.unpack_from("<I", header, 48)
        if header[8] < _ABI_8:
            return _architecture(flags & 0xFF, "a" if flags & 0x800 else "")
        # CUDA 13 no longer tells it in the flags; its first property of compatibility does.
        is_exact = flags & 0x8 or compat == b"\x02\x09\x01\x00"
        return _architecture(flags >> 8 & 0xFFFF, "a" if is_exact else "")


def _length(table: bytes, at: int) -> int:
    """How long one of several headers is: its name and its options follow it, each with its end."""
    fields = _ENTRY.unpack_from(table, at)
    options, name, letters = fields[5], fields[9], fields[10]
    end = _ENTRY_SIZE
    if name:
        end = max(end, name + letters + 1)
    if options and at + options + 8 <= len(table):
        begin, letters = struct.unpack_from("<II", table, at + options)
        end = max(end, begin + letters + 1)
    return int(-(-end // 8) * 8)


def _architecture(number: int, suffix: str) -> Architecture:
    """The target of its number, 120 of 12.0."""
    if not 10 <= number < MOST_ARCHITECTURE:
        raise _DamagedError(f"an image of GPU code is for architecture {number}")
    return Architecture(number // 10, number % 10, suffix)
