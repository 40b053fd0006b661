"""What a command printed, kept while it runs: the beginning and the end, in bounded space."""

from __future__ import annotations

import io
import tempfile
from typing import IO, BinaryIO, Dict, Optional, cast

#: How much is kept of the beginning and of the end, in bytes; of what is more the middle is lost.
HEAD, TAIL = 32 << 20, 64 << 20
# The same where no temporary file can be written.
_IN_MEMORY_HEAD, _IN_MEMORY_TAIL = 1 << 20, 3 << 20
# What is this small stays in memory.
_SMALL = 1 << 20
# A line that does not end is kept in pieces.
_LONGEST_LINE = 1 << 16
_CHUNK = 1 << 16
_LEFT_OUT = b"\n[envdoctor: %d bytes are left out here]\n"


class Recording:
    """What several streams printed, in the order of its lines, which are never mixed.

    `copy` is a file that is given all of it. That it cannot be written to, `problem` says; nothing
    is raised.
    """

    def __init__(self, copy: Optional[BinaryIO] = None, head: int = HEAD, tail: int = TAIL) -> None:
        self.problem: Optional[OSError] = None  # of the copy
        self._copy = copy
        self._head, self._tail = head, tail
        self._size = 0  # of all that was printed
        self._begun: Dict[str, bytearray] = {}  # of each stream the line that has not ended
        self._file: Optional[IO[bytes]] = tempfile.SpooledTemporaryFile(max_size=_SMALL)  # noqa: SIM115

    def feed(self, stream: str, data: bytes) -> None:
        """Take what a stream printed."""
        begun = self._begun.setdefault(stream, bytearray())
        end = data.rfind(b"\n") + 1
        if end:
            self._keep(bytes(begun) + data[:end])
            begun[:] = data[end:]
        else:
            begun += data
        if len(begun) > _LONGEST_LINE:
            self._keep(bytes(begun))
            begun.clear()

    def finish(self) -> None:
        """Keep lines that did not end, too."""
        for begun in self._begun.values():
            if begun:
                self._keep(bytes(begun))
            begun.clear()

    @property
    def left_out(self) -> int:
        """How many bytes between the beginning and the end are lost."""
        return max(0, self._size - self._head - self._tail)

    def read(self) -> BinaryIO:
        """What is kept, from its beginning."""
        return cast("BinaryIO", io.BufferedReader(_Kept(self), _CHUNK))

    def close(self) -> None:
        """Forget it."""
        if self._file is not None:
            self._file.close()

    def _keep(self, data: bytes) -> None:
        if self._copy is not None and self.problem is None:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[self._copy.write(rest) :]
            except OSError as error:
                self.problem = error
        try:
            self._write(data)
        except OSError:
            # The disk is full, or there is none: from here on in memory, and of that less.
            self._file = io.BytesIO()
            self._head, self._tail = _IN_MEMORY_HEAD, _IN_MEMORY_TAIL
            self._size = 0
            self._write(data)

    def _write(self, data: bytes) -> None:
        if self._file is None:
            return
        if len(data) > self._tail and self._size >= self._head:
            self._size += len(data) - self._tail
            data = data[-self._tail :]
        rest = memoryview(data)
        while rest:
            place = self._place(self._size)
            room = self._head if place < self._head else self._head + self._tail
            piece = rest[: room - place]
            self._file.seek(place)
            self._file.write(piece)
            self._size += len(piece)
            rest = rest[len(piece) :]

    def _place(self, position: int) -> int:
        """Where in the file stands what was printed at a position; the end is written in a ring."""
        if position < self._head:
            return position
        return self._head + (position - self._head) % self._tail

    def _at(self, position: int, most: int) -> bytes:
        """Some bytes from a position on; none at the end."""
        if self._file is None or position >= self._size:
            return b""
        place = self._place(position)
        room = self._head if place < self._head else self._head + self._tail
        self._file.seek(place)
        return self._file.read(min(most, room - place, self._size - position))


class _Kept(io.RawIOBase):
    """The beginning, a word about what is left out, and the end from a line's beginning on."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._position = 0
        self._said = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        data = self._next(len(view))
        view[: len(data)] = data
        return len(data)

    def _next(self, most: int) -> bytes:
        recording = self._recording
        head, left_out = recording._head, recording.left_out  # noqa: SLF001 - one thing in two parts
        if left_out and self._position == head:
            self._position += left_out
            self._said = _LEFT_OUT % left_out
            self._skip_to_line()
        if self._said:
            data, self._said = self._said[:most], self._said[most:]
            return data
        if left_out and self._position < head:
            most = min(most, head - self._position)
        data = recording._at(self._position, most)  # noqa: SLF001
        self._position += len(data)
        return data

    def _skip_to_line(self) -> None:
        """The end is kept from some byte on: what is left of a line there is left out, too."""
        position = self._position
        while position < self._position + _LONGEST_LINE:
            data = self._recording._at(position, _CHUNK)  # noqa: SLF001 - less where the ring turns
            if not data:
                return
            end = data.find(b"\n")
            if end >= 0:
                self._position = position + end + 1
                return
            position += len(data)
