"""Encodings, compression, long lines: what files hold."""

from __future__ import annotations

import gzip
import io
from typing import List

import pytest

from envdoctor.diagnosis.reading import blocks, read

TEXT = "début\nfatal error C1083: 无法打开包括文件: “THC/THC.h”\n  end\n"
LINES = [(1, "début"), (2, "fatal error C1083: 无法打开包括文件: “THC/THC.h”"), (3, "  end")]


def lines(data: bytes, block: int = 1 << 18) -> List[object]:
    return [(line.number, line.text) for line in read(io.BytesIO(data), ["error"], block)]


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-32", "utf-32-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings(encoding: str, told: str, end: str) -> None:
    data = TEXT.replace("\n", end).encode(encoding)
    reading = read(io.BytesIO(data), ["error"])
    assert [(line.number, line.text) for line in reading] == LINES
    assert (reading.encoding, reading.bytes, reading.lines) == (told, len(data), 3)


def test_chinese_windows_among_utf_8() -> None:
    data = "é\n".encode() + "fatal error C1083: 无法打开包括文件\n".encode("gbk") + "中\n".encode()
    assert lines(data) == [(1, "é"), (2, "fatal error C1083: 无法打开包括文件"), (3, "中")]


def test_windows_western() -> None:
    assert lines("Le fichier spécifié est introuvable\n".encode("cp1252")) == [
        (1, "Le fichier spécifié est introuvable")
    ]


def test_a_character_that_was_cut_does_not_change_the_rest() -> None:
    assert lines("中文文文".encode()[:-1]) == [(1, "中文文\ufffd")]


@pytest.mark.parametrize("block", [64, 100, 1 << 18])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_two_programs_wrote_in_two_encodings(encoding: str, block: int) -> None:
    # PowerShell's > and then cmd's >>
    plain = (
        "RuntimeError: "
        + "x" * 200
        + "\nERROR: done, at the end of a rather long line of text that is plain\n"
    )
    data = "\ufeffune é\n".encode(encoding) + plain.encode() + "dernière\n".encode(encoding)
    assert lines(data, block) == [
        (1, "une é"),
        (2, "RuntimeError: " + "x" * 200),
        (3, "ERROR: done, at the end of a rather long line of text that is plain"),
        (4, "dernière"),
    ]


def test_nuls_are_nothing() -> None:
    assert lines(b"\0\0e\0r\0ror: x\0\n\0" + b"\0" * 1000) == [(1, "error: x"), (2, "")]


def test_compressed() -> None:
    packed = gzip.compress(b"one\n") + gzip.compress(b"two\n")
    reading = read(io.BytesIO(packed), ["error"])
    assert [line.text for line in reading] == ["one", "two"]
    assert reading.bytes == len(b"one\ntwo\n")
    assert not reading.truncated


def test_compressed_and_cut() -> None:
    packed = gzip.compress(b"".join(b"line %d\n" % n for n in range(9000)))
    reading = read(io.BytesIO(packed[: len(packed) // 2]), ["error"])
    assert next(iter(reading)).text == "line 0"
    list(reading)
    assert 1000 < reading.lines < 9000
    broken = packed[:200] + b"\xff" * 200
    reading = read(io.BytesIO(broken), ["error"])
    list(reading)
    assert reading.truncated


def test_a_bomb_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_UNPACKED", 3 << 20)
    reading = read(io.BytesIO(gzip.compress(b"x" * (20 << 20))), ["error"])
    assert len(list(reading)) == 1
    assert reading.truncated
    assert reading.bytes < 4 << 20


@pytest.mark.parametrize("block", [1000, 50_000, 1 << 18])
def test_of_a_long_line_both_ends_are_kept(block: int) -> None:
    long = b"begin " + b"x" * 1_000_000 + b" end"
    reading = read(io.BytesIO(b"one\n" + long + b"\r\ntwo\n" + long + b"\n"), ["error"], block)
    texts = [line.text for line in reading]
    kept = "begin " + "x" * (blocks.HEAD - 6) + " … " + "x" * (blocks.TAIL - 4) + " end"
    assert texts == ["one", kept, "two", kept]
    assert reading.cut == 2
    assert reading.lines == 4


def test_a_line_that_just_fits_is_whole() -> None:
    fits = b"x" * blocks.MOST
    assert lines(b"a\n" + fits + b"\nb") == [(1, "a"), (2, fits.decode()), (3, "b")]


class Failing(io.RawIOBase):
    """A stream that ends with an error."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise OSError("gone")


def test_a_stream_that_fails_has_ended() -> None:
    assert list(read(Failing(), ["error"])) == []  # type: ignore[arg-type]


def test_nothing() -> None:
    reading = read(io.BytesIO(b""), ["error"])
    assert list(reading) == []
    assert (reading.lines, reading.bytes, reading.cut) == (0, 0, 0)
