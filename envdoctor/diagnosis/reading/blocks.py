r"""From a stream to blocks of whole lines, each ended by `\n`, or by `\r\n` if overwritten.

What comes next does not depend on the pieces in which a stream delivers.
"""

from __future__ import annotations

import codecs
import re
import zlib
from typing import BinaryIO, Iterator, List, Optional

BLOCK = 1 << 18
#: Of a longer line its beginning and its end are kept.
HEAD, TAIL = 6 << 10, 2 << 10
#: What a compressed log may hold.
MOST_UNPACKED = 8 << 30

#: Stands in for what was taken out of the middle of a long line.
LEFT_OUT = " \u2026 ".encode()
#: A line that is not longer is kept whole.
MOST = HEAD + TAIL + len(LEFT_OUT)

_GZIP, _GZIPPED = b"\x1f\x8b\x08", 31
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: In UTF-16 no text has as many ASCII bytes in a row: another program went on in its own encoding.
_PLAIN = re.compile(rb"[\t\n\r\x1b\x20-\x7e]{64,}")
_MOST_ENDS = 64


class Count:
    """What became known of a log while it was read."""

    def __init__(self) -> None:
        self.bytes = 0
        self.encoding = "utf-8"
        self.shortened = 0  # lines of which the middle was left out
        self.truncated = False  # whether a compressed log was left before its end


def whole_lines(stream: BinaryIO, count: Count, size: int = BLOCK) -> Iterator[bytes]:
    r"""Whole lines of a log, each ended by `\n`; by `\r\n` if the next one overwrote it.

    The last line of the log may lack its end. What cannot be read any more ends the log.
    """
    carry = _Carry(count)
    for raw in _decoded(_unpacked(stream, count, size), count):
        whole = carry.add(raw)
        if whole:
            yield whole
    rest = carry.rest()
    if rest:
        yield rest


def _pieces(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """The stream in pieces of `size`, the last one shorter, however it delivers."""
    parts: List[bytes] = []
    held = 0
    while True:
        try:
            part = stream.read(size - held)
        except (OSError, ValueError, EOFError):
            part = b""
        if not part:
            break
        parts.append(part)
        held += len(part)
        if held >= size:
            yield b"".join(parts)
            parts, held = [], 0
    if parts:
        yield b"".join(parts)


def _unpacked(stream: BinaryIO, count: Count, size: int) -> Iterator[bytes]:
    pieces = _pieces(stream, size)
    first = next(pieces, b"")
    if not first.startswith(_GZIP):
        count.bytes += len(first)
        if first:
            yield first
        for piece in pieces:
            count.bytes += len(piece)
            yield piece
        return
    for piece in _gunzipped(first, pieces, count, size):
        count.bytes += len(piece)
        yield piece


def _gunzipped(first: bytes, pieces: Iterator[bytes], count: Count, size: int) -> Iterator[bytes]:
    """What is packed, in pieces of `size`; as far as it is whole, and not beyond the limit."""
    held: List[bytes] = []
    length = 0
    for part in _inflated(first, pieces, count, size):
        held.append(part)
        length += len(part)
        if length >= size:
            data = b"".join(held)
            yield data[:size]
            held, length = [data[size:]], length - size
    if length:
        yield b"".join(held)


def _inflated(first: bytes, pieces: Iterator[bytes], count: Count, size: int) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=_GZIPPED)
    left = MOST_UNPACKED
    is_begun = False
    packed = first
    while packed and left > 0:
        try:
            part = unpacker.decompress(packed, size)
        except zlib.error:
            break
        left -= len(part)
        if part:
            yield part
        is_begun = not unpacker.eof
        packed = unpacker.unconsumed_tail
        if unpacker.eof:  # members may follow one another, and zeros them
            packed = unpacker.unused_data.lstrip(b"\0")
            unpacker = zlib.decompressobj(wbits=_GZIPPED)
        if not packed:
            packed = next(pieces, b"")
    count.truncated = is_begun or bool(packed)


def _decoded(pieces: Iterator[bytes], count: Count) -> Iterator[bytes]:
    """The pieces in UTF-8, or as they are in an encoding of single bytes."""
    first = next(pieces, None)
    if first is None:
        return
    for mark, name in _BOMS:
        if first.startswith(mark):
            first, encoding = first[len(mark) :], name
            break
    else:
        encoding = _guessed(first)
    count.encoding = encoding
    if encoding == "utf-8":
        yield first
        yield from pieces
        return
    wide = _Wide(encoding)
    yield wide.add(first)
    for piece in pieces:
        yield wide.add(piece)
    yield wide.rest()


def _guessed(data: bytes) -> str:
    """The encoding of what has no mark: UTF-16 shows by a NUL in every other place."""
    start = data[:4096]
    odd, even = start[1::2].count(0), start[::2].count(0)
    half = len(start) // 2
    if half >= 2 and odd > 0.4 * half and even < 0.1 * half:
        return "utf-16-le"
    if half >= 2 and even > 0.4 * half and odd < 0.1 * half:
        return "utf-16-be"
    return "utf-8"


class _Wide:
    """Makes UTF-8 of an encoding of two or four bytes, piece by piece."""

    def __init__(self, encoding: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._little = encoding.endswith("le")
        self._held = b""
        self._is_plain = False  # whether the text before was ASCII among UTF-16

    def add(self, piece: bytes) -> bytes:
        data = self._held + piece
        # A run of ASCII that touches the end may go on, or be a part of the next character.
        end = len(data)
        stop = max(0, end - _MOST_ENDS)
        while end > stop and _is_plain(data[end - 1]):
            end -= 1
        if end == stop:
            end = len(data) - 1
        elif not self._little and end < len(data):
            end = max(0, end - 1)  # the first half of a character
        self._held = data[end:]
        return self._converted(data[:end], final=False)

    def rest(self) -> bytes:
        return self._converted(self._held, final=True)

    def _converted(self, data: bytes, final: bool) -> bytes:
        made: List[bytes] = []
        at = 0
        if self._is_plain:  # goes on
            while at < len(data) and _is_plain(data[at]):
                at += 1
            if self._little and data[at : at + 1] == b"\0":
                at = max(0, at - 1)
            made.append(data[:at])
            self._is_plain = at == len(data)
        for run in _PLAIN.finditer(data, at):
            start, end = run.span()
            if self._little and data[end : end + 1] == b"\0":
                end -= 1  # the low byte of a character
            elif not self._little and data[start - 1 : start] == b"\0":
                start += 1
            made.append(self._text(data[at:start], final=True))
            made.append(data[start:end])
            at = end
            self._is_plain = end == len(data)
        made.append(self._text(data[at:], final))
        return b"".join(made)

    def _text(self, data: bytes, final: bool) -> bytes:
        return self._decoder.decode(data, final).encode("utf-8", "replace")


def _is_plain(byte: int) -> bool:
    return 32 <= byte < 127 or byte in b"\t\n\r\x1b"


class _Carry:
    """Cuts pieces at the ends of lines; holds no more of a line than its beginning and its end."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._held = b""  # of the line that has not ended
        self._head: Optional[bytes] = None  # its beginning, once it is too long to be held

    def add(self, piece: bytes) -> bytes:
        """The lines that have ended."""
        data = self._held + piece
        # A carriage return at the very end may be half of a line's end.
        end = 1 + max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1))
        whole = self._whole(data[:end]) if end else b""
        self._held = data[end:]
        if len(self._held) > MOST:
            if self._head is None:
                self._head = self._held[:HEAD]
            self._held = self._held[-TAIL:]
        return whole

    def rest(self) -> bytes:
        """What is left at the end of the log."""
        data, self._held = self._held, b""
        return self._whole(data)

    def _whole(self, data: bytes) -> bytes:
        if b"\r" in data:
            # Windows' programs print more than one return before the end of a line.
            data = data.replace(b"\r\n", b"\n").replace(b"\r\n", b"\n").replace(b"\r", b"\r\n")
        if self._head is not None:
            end = data.find(b"\n")
            end = len(data) if end < 0 else end
            close = end - 1 if data[end - 1 : end] == b"\r" else end
            middle = self._head + LEFT_OUT + data[max(0, close - TAIL) : close]
            data = middle + data[close:]
            self._head = None
            self._count.shortened += 1
        return self._shortened(data)

    def _shortened(self, data: bytes) -> bytes:
        """The lines, none longer than what is kept of one."""
        if len(data) <= MOST:
            return data
        made: List[bytes] = []
        at = done = 0
        while at + MOST < len(data):
            # Lines that end within reach are as they are.
            end = data.rfind(b"\n", at, at + MOST + 1)
            if end >= 0:
                at = end + 1
                continue
            end = data.find(b"\n", at + MOST)
            end = len(data) if end < 0 else end
            close = end - 1 if data[end - 1 : end] == b"\r" else end
            if close - at > MOST:
                made += [data[done : at + HEAD], LEFT_OUT, data[close - TAIL : close]]
                self._count.shortened += 1
                done = close
            at = end + 1
        if not made:
            return data
        made.append(data[done:])
        return b"".join(made)
