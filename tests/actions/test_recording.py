"""What a command printed is kept: lines whole, the beginning and the end, in bounded space."""

from __future__ import annotations

import errno
import io
from typing import List, Tuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.actions.recording import Recording


def kept(recording: Recording) -> bytes:
    recording.finish()
    with recording.read() as stream:
        return stream.read()


def test_lines_of_two_streams_are_not_mixed() -> None:
    recording = Recording()
    for stream, data in (("1", b"a"), ("2", b"x\ny"), ("1", b"b\nc"), ("2", b"z\n"), ("1", b"d")):
        recording.feed(stream, data)
    assert kept(recording) == b"x\nab\nyz\ncd"


@given(st.lists(st.binary(max_size=40)))
def test_one_stream_is_kept_as_it_is(pieces: List[bytes]) -> None:
    recording = Recording(head=10_000, tail=10_000)
    for piece in pieces:
        recording.feed("1", piece)
    assert kept(recording) == b"".join(pieces)


@given(st.lists(st.binary(max_size=30), max_size=40), st.integers(1, 40), st.integers(1, 40))
@example([b"\0" * 7 + b"\n"], 1, 2)  # the end of the line stands where the ring begins again
def test_of_much_the_beginning_and_the_end_are_kept(
    pieces: List[bytes], head: int, tail: int
) -> None:
    recording = Recording(head=head, tail=tail)
    for piece in pieces:
        recording.feed("1", piece)
    whole = b"".join(pieces)
    found = kept(recording)
    if len(whole) <= head + tail:
        assert found == whole
        return
    mark = f"\n[envdoctor: {len(whole) - head - tail} bytes are left out here]\n".encode()
    first, _, last = found.partition(mark)
    assert first == whole[:head]
    end = whole[-tail:]
    assert last == (end.partition(b"\n")[2] if b"\n" in end else end)


def test_a_line_that_does_not_end_is_kept_in_pieces() -> None:
    recording = Recording()
    for _ in range(1000):
        recording.feed("1", b"x" * 1000)
    recording.feed("2", b"y\n")
    found = kept(recording)
    assert (found.count(b"x"), found.count(b"y\n")) == (1_000_000, 1)
    assert found.index(b"y") > 900_000


class Full(io.RawIOBase):
    """A disk with room for a few bytes."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:  # type: ignore[override]
        if not self.room:
            raise OSError(errno.ENOSPC, "no space left on device")
        taken = bytes(data)[: self.room]  # type: ignore[call-overload]
        self.room -= len(taken)
        self.content += taken
        return len(taken)


def test_a_copy_that_cannot_be_written_is_told() -> None:
    full = Full(4)
    recording = Recording(full)  # type: ignore[arg-type]
    recording.feed("1", b"abc\ndef\n")
    recording.feed("1", b"ghi\n")
    assert full.content == b"abc\n"
    assert recording.problem is not None
    assert recording.problem.errno == errno.ENOSPC
    assert kept(recording) == b"abc\ndef\nghi\n"


@pytest.mark.parametrize("sizes", [(0, 10), (10, 100)])
def test_without_a_disk_less_is_kept(
    sizes: Tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoDisk(io.BytesIO):
        def write(self, data: object) -> int:  # type: ignore[override]
            if self.tell() + len(data) > sizes[1]:  # type: ignore[arg-type]
                raise OSError(errno.ENOSPC, "no space left on device")
            return super().write(data)  # type: ignore[arg-type]

    monkeypatch.setattr("tempfile.SpooledTemporaryFile", lambda **_: NoDisk())
    recording = Recording()
    for number in range(100):
        recording.feed("1", f"line {number}\n".encode())
    assert kept(recording).endswith(b"line 98\nline 99\n")
