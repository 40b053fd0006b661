"""An ELF file as the dynamic loader sees it: bytes at addresses, by its program headers.

Section headers are not used: strip may take them, and the loader does without. Everything is read
with `pread`, a part when it is needed: mapping a file into memory would end the process if
somebody cut it off at that moment (SIGBUS), as pip does when it installs over it, and what is
needed of a library of 2 GB is a few MB.

Layouts are those of the System V ABI, "Object Files" and "Program Loading and Dynamic Linking".
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from typing import BinaryIO, Dict, List, NamedTuple, Optional, Union

#: Largest table that is read at once. The string table of a library of 1 GB has some 40 MB, and is
#: not read as a whole.
MAX_TABLE = 1 << 28
#: Bytes of a symbol's name: those of deep templates in C++ have some thousands.
MAX_NAME = 1 << 16
_MAX_SEGMENTS = 512
#: Bytes that hold most names; C++ has longer ones.
_NAME = 256
_SCRIPT = 1 << 16

PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE = 1, 2, 3, 4
ET_EXEC, ET_DYN = 2, 3

#: What e_machine says, as `uname -m` calls it.
MACHINES: Dict[int, str] = {
    3: "i386",
    8: "mips",
    20: "powerpc",
    21: "ppc64le",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    224: "amdgpu",
    190: "cuda",
    243: "riscv64",
    258: "loongarch64",
}


class ElfError(Exception):
    """A file is no ELF file that could be loaded; the message is a clause that names no path."""


class UnreadableError(ElfError):
    """A file is there and cannot be read, at this moment or by this user."""


#: What says that a file is not there; whatever else open(2) says is of this process or this moment.
_ABSENT = (errno.ENOENT, errno.ENOTDIR)


def failed(error: Exception) -> ElfError:
    """What `os.open` or `os.stat` raised, as an error of this module."""
    said = f"it cannot be read: {(getattr(error, 'strerror', None) or str(error)).lower()}"
    is_there = isinstance(error, OSError) and error.errno not in _ABSENT
    return UnreadableError(said) if is_there else ElfError(said)


class Segment(NamedTuple):
    """A program header."""

    kind: int
    offset: int
    address: int
    size: int  # in the file


class Layout(NamedTuple):
    """How numbers are laid out: the two classes and the two byte orders."""

    order: str  # of struct: "<" or ">"
    wide: bool  # 64 bits

    @property
    def word(self) -> struct.Struct:
        """An address."""
        return struct.Struct(self.order + ("Q" if self.wide else "I"))

    @property
    def pair(self) -> struct.Struct:
        """An entry of the dynamic section."""
        return struct.Struct(self.order + ("qQ" if self.wide else "iI"))

    @property
    def symbol(self) -> struct.Struct:
        """A symbol; see `symbols`, which knows the order of its fields."""
        return struct.Struct(self.order + ("IBBHQQ" if self.wide else "IIIBBH"))


class Image:
    """An ELF file, open for reading. Close it, or use it in a `with` statement."""

    def __init__(self, source: Union[int, BinaryIO]) -> None:
        """Take the descriptor of a regular file, which it then owns, or a stream that can seek.

        Raises ElfError if it is no ELF file, or has no whole header.
        """
        self._descriptor: Optional[int] = None
        self._stream: Optional[BinaryIO] = None
        if isinstance(source, int):
            self._descriptor = source
            self.size = os.fstat(source).st_size
        else:
            self._stream = source
            self.size = source.seek(0, os.SEEK_END)
        try:
            self._read_header()
        except ElfError:
            self.close()
            raise

    def _read_header(self) -> None:
        head = self.read(0, 64)
        if not head.startswith(b"\x7fELF"):
            raise ElfError(self._what_else(head))
        if len(head) < 52 or head[4] not in (1, 2) or head[5] not in (1, 2):
            raise ElfError("its ELF header is cut off or invalid")
        self.layout = Layout("<" if head[5] == 1 else ">", head[4] == 2)
        if self.layout.wide and len(head) < 64:
            raise ElfError("its ELF header is cut off or invalid")
        form = "HHIQQQIHHH" if self.layout.wide else "HHIIIIIHHH"
        fields = struct.unpack_from(self.layout.order + form, head, 16)
        self.type: int = fields[0]
        self.machine = MACHINES.get(fields[1], f"machine {fields[1]}")
        self.segments = self._read_segments(fields[4], fields[8], fields[9])
        self._loads = [segment for segment in self.segments if segment.kind == PT_LOAD]

    def _what_else(self, head: bytes) -> str:
        if not head:
            return "it is empty"
        text = self.read(0, _SCRIPT)
        if b"\0" in text:
            return "it is no ELF file"
        if any(word in text for word in (b"GROUP", b"INPUT", b"OUTPUT_FORMAT")):
            return "it is a linker script, not a library"
        if text.startswith(b"version https://git-lfs"):
            return "it is a pointer of Git LFS: the file itself was not fetched"
        return "it is text, not an ELF file"

    def _read_segments(self, offset: int, size: int, count: int) -> List[Segment]:
        wide = self.layout.wide
        entry = struct.Struct(self.layout.order + ("IIQQQQQQ" if wide else "IIIIIIII"))
        if count and size < entry.size:
            raise ElfError("its program headers are invalid")
        found = []
        data = self.read(offset, min(count, _MAX_SEGMENTS) * size)
        for at in range(0, len(data) - entry.size + 1, size or 1):
            fields = entry.unpack_from(data, at)
            where, address, length = (2, 3, 5) if wide else (1, 2, 4)
            found.append(Segment(fields[0], fields[where], fields[address], fields[length]))
        if count and not found:
            raise ElfError("its program headers are cut off")
        return found

    @property
    def is_whole(self) -> bool:
        """Whether every segment that the loader maps lies within the file."""
        return all(segment.offset + segment.size <= self.size for segment in self._loads)

    def segment(self, kind: int) -> Optional[Segment]:
        """The first segment of a kind."""
        return next((segment for segment in self.segments if segment.kind == kind), None)

    def read(self, offset: int, size: int) -> bytes:
        """At most `size` bytes from an offset; fewer where the file ends. Raises ElfError."""
        size = min(size, self.size - offset, MAX_TABLE)
        if offset < 0 or size <= 0:
            return b""
        try:
            if self._descriptor is not None:
                data = os.pread(self._descriptor, size, offset)
                while len(data) < size:  # a network's file system may give less at once
                    more = os.pread(self._descriptor, size - len(data), offset + len(data))
                    if not more:
                        break
                    data += more
                return data
            if self._stream is not None:
                self._stream.seek(offset)
                return self._stream.read(size)
        except (OSError, ValueError) as error:
            raise failed(error) from None
        raise ElfError("it is closed")

    def offset(self, address: int) -> Optional[int]:
        """Where in the file an address of memory lies; None if it is in no segment's file part."""
        for segment in self._loads:
            if segment.address <= address < segment.address + segment.size:
                return segment.offset + address - segment.address
        return None

    def at(self, address: int, size: int) -> bytes:
        """At most `size` bytes from an address; b"" if the file does not hold it."""
        offset = self.offset(address)
        return b"" if offset is None else self.read(offset, size)

    def text(self, offset: int, limit: int = MAX_NAME) -> bytes:
        """The bytes up to the next NUL; b"" beyond the file, and of more than `limit` bytes."""
        data = self.read(offset, min(_NAME, limit))
        end = data.find(b"\0")
        if end < 0 and len(data) == _NAME < limit:
            data = self.read(offset, limit)
            end = data.find(b"\0")
        return data[:end] if end >= 0 else b""

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_image(path: str) -> Image:
    """Open an ELF file. Raises ElfError if it cannot be opened, or is none."""
    try:
        # Without blocking, lest a pipe without a writer is waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        raise failed(error) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ElfError("it is not a regular file")
    return Image(descriptor)
