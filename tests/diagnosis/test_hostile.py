"""Logs of ten megabytes that mislead careless readers: they end, and are told in few words.

No time is asserted: what takes the square of a line's length would not end here.
"""

from __future__ import annotations

import io
import tracemalloc
from typing import Callable, Iterator, Tuple

import msgspec
import pytest

from envdoctor.diagnosis import diagnose
from envdoctor.knowledge.load import load

pytestmark = pytest.mark.answers

SIZE = 10_000_000

#: What is repeated, on one line and on lines of fifteen thousand characters.
REPEATED = [
    *("(", "[", "[rank0]:", "[1,0]<stderr>:", "(a pid=1) ", "#1 0.1 ", "0: ", "a: ", "a | ", "> "),
    *("\u2502 ", "\u256d\u2500", "E   ", "12:34:56 ", "<6>", "    | ", "2026-01-02T03:04:05Z "),
    *("\x1b[", "\x1b]", "\x1b]8;;", "\x1bP", "\x1b[1C", "\b", "a\b", "\r", "\0", "\t", " ", "'"),
    *("Traceback (most recent call last):", '  File "', 'File "a", line 1, in ', "KeyError: "),
    *("50%|", "1/2", "ETA: ", "[>", "\\n", "\\n(most recent call last):\\n", "\\", '{"log":"'),
    *("error: ", "fatal error: ", "undefined symbol: ", "No module named '", "version `GLIBC_"),
    *("ERROR: ", "error: command '", "FAILED: ", "Collecting ", "Building wheel for ", "torch=="),
    *("NCCL WARN ", "exitcode: ", "Killed process ", "from ", "requires ", "(from ", "\xff", "中"),
]


def logs(word: str) -> Tuple[bytes, bytes]:
    data = word.encode()
    whole = data * (SIZE // len(data))
    lines = data * (15_000 // len(data)) + b"\n"
    return whole, lines * (SIZE // 5 // len(lines))


@pytest.mark.parametrize("word", REPEATED, ids=ascii)
def test_a_log_of_one_word_is_diagnosed(word: str) -> None:
    for data in logs(word):
        found = diagnose([("log", io.BytesIO(data))], load())
        assert found.logs[0].bytes == len(data)
        assert len(msgspec.json.encode(found)) < 100_000


class Endless(io.RawIOBase):
    """A log that is made while it is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self, _: int = -1) -> bytes:
        return next(self._pieces, b"")


def unique_errors(size: int) -> Iterator[bytes]:
    for n in range(size // 1000):
        yield b"RuntimeError: " + b"%07d " % n * 120 + b"\n"


def unique_words(size: int) -> Iterator[bytes]:
    letters = bytes.maketrans(b"0123456789", b"abcdefghij")
    for n in range(size // 1000):
        yield (b"%07d" % n).translate(letters) * 140 + b"\n"


def conditions(size: int) -> Iterator[bytes]:
    """Signs that look for others beside them, all different."""
    letters = bytes.maketrans(b"0123456789", b"abcdefghij")
    for n in range(size // 110):
        word = (b"%07d" % n).translate(letters)
        yield b"could not run torch.cuda %s: No CUDA GPUs are available\n" % word
        yield b"%s not enough memory: you tried to allocate 4GB\n" % word


def one_line(size: int) -> Iterator[bytes]:
    for n in range(size // 1000):
        yield b"error %07d" % n * 66


def progress(size: int) -> Iterator[bytes]:
    for n in range(size // 1000):
        yield b"\r%07d/9 [00:00<00:00]" % n * 40


@pytest.mark.parametrize("made", [unique_errors, unique_words, conditions, one_line, progress])
def test_memory_does_not_grow_with_the_log(made: Callable[[int], Iterator[bytes]]) -> None:
    knowledge = load()
    diagnose([("log", io.BytesIO(b"error: x\n"))], knowledge)  # what is loaded once
    tracemalloc.start()
    try:
        found = diagnose([("log", Endless(made(30_000_000)))], knowledge)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.logs[0].bytes > 25_000_000
    assert peak < 40_000_000
