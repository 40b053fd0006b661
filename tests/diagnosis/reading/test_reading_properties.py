"""What holds of every log, whatever stands in it."""

from __future__ import annotations

import io
import re
from typing import List, Optional, Tuple

from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.reading import read

#: What logs are made of, and what breaks careless readers.
PARTS = [
    *("\n", "\r\n", "\r", "\r\r\n", "\n\n", " ", "  ", "\t", "\0", "\b", "\x1b", "\x1b[", "\x1b]"),
    *("\x1b[31m", "\x1b[0K", "\x1b]8;;x\x1b\\", "\x1b]0;t\x07", "\x1b[999C", "\x9b31m", "\x07"),
    *("#12 14.91 ", "#12 ERROR: ", "25.60 ", "0: ", "[rank0]: ", "[rank1]:", "[default0]:"),
    *("[1,0]<stderr>:", "(Worker pid=1) ", "worker-0: ", "db-1  | ", "    | ", "E   ", "[0] "),
    *("2026-01-02T03:04:05.678Z ", "Oct 04 13:19:39 host unit[394]: ", "[12345.678901] "),
    *("[2026-04-22 21:34:20] ", "12:34:56 ", "##[error]", '{"log":"', '\\n","stream":"x"}'),
    *(
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        "KeyError: 1",
        "error: ",
    ),
    *("50%|###  | 1/2 [00:01<00:01, 1.0it/s]", "[>> ] 1/2, 1 task/s, elapsed: 1s, ETA: 1s", "ETA:"),
    *("╭─ Traceback (most recent call last) ─╮", "│ /a/b.py:1 in f │", "│ ❱ 1 x │", "╰─────╯", "│"),
    *("╭─ locals ─╮", "+- Traceback (most recent call last) -+", "| x |", "|", "\u202e", "é", "中"),
    *(
        "\ufeff",
        "\u2028",
        "\x85",
        "\x0b",
        "1",
        "23",
        "x",
        "and so on",
        "'",
        '"',
        "\\",
        "[",
        "(",
        ")",
    ),
]
#: Not text in any encoding, or in another one.
BYTES = [b"\xff", b"\xc3", b"\xd6\xd0", b"\xfe\xff", b"\x00\n", b"\n\x00", b"\xef\xbb\xbf"]

logs = st.one_of(
    st.lists(
        st.one_of(
            st.sampled_from(PARTS).map(lambda part: part.encode("utf-8", "surrogatepass")),
            st.sampled_from(BYTES),
        ),
        max_size=120,
    ).map(b"".join),
    st.lists(st.sampled_from(PARTS), max_size=80).map(lambda p: "".join(p).encode("utf-16")),
    st.binary(max_size=600),
)


def came(data: bytes, block: int = 1 << 18) -> List[Line]:
    return list(read(io.BytesIO(data), ["error", "traceback"], block))


@settings(max_examples=200, deadline=None)
@given(logs)
def test_lines_are_whole(data: bytes) -> None:
    reading = read(io.BytesIO(data), ["error"])
    lines = list(reading)
    assert all(line.text.isprintable() and line.source.isprintable() for line in lines)
    assert all(line.text == line.text.rstrip() for line in lines)
    numbers = [line.number for line in lines]
    assert numbers == sorted(numbers)
    assert all(1 <= number <= max(1, reading.lines) for number in numbers)
    assert reading.bytes == len(data) or data.startswith(b"\x1f\x8b")


class Trickling(io.BytesIO):
    """Delivers a few bytes at a time, now more and now fewer."""

    def __init__(self, data: bytes, steps: List[int]) -> None:
        super().__init__(data)
        self._steps = steps
        self._turn = 0

    def read(self, size: Optional[int] = -1) -> bytes:
        self._turn += 1
        step = self._steps[self._turn % len(self._steps)]
        return super().read(min(step, size) if size is not None and size >= 0 else step)


@settings(max_examples=200, deadline=None)
@given(logs, st.lists(st.integers(1, 50), min_size=1, max_size=5), st.integers(8, 200))
def test_how_a_log_is_delivered_does_not_matter(data: bytes, steps: List[int], block: int) -> None:
    if b"\x00" in data[:4096] or data.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b")):
        block = 1 << 18  # the encoding is guessed from the first block
    whole = came(data)
    assert list(read(Trickling(data, steps), ["error", "traceback"])) == whole
    assert came(data, block) == whole


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["", "#7 1.25 ", "[rank0]: ", "(A pid=1) ", "[1,0]<stderr>:", "\x1b[1m"]
            ),
            st.sampled_from(["", " 50%|#  | 1/2 [00:01<00:01]\r", "\x1b[0K", "\r", "[K\r"]),
            st.sampled_from(["\n", "\r\n", "\n", "\r\r\n"]),
        ),
        max_size=60,
    )
)
def test_numbers_are_those_of_the_log(parts: List[Tuple[str, str, str]]) -> None:
    text = "".join(f"{a}{b}<{n}>{end}" for n, (a, b, end) in enumerate(parts, 1))
    lines = came(text.encode())
    found = [(line.number, int(n)) for line in lines for n in re.findall("<([0-9]+)>", line.text)]
    assert found == [(n, n) for n in range(1, len(parts) + 1)]
