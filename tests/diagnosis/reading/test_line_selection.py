"""Which lines of a long log come, and that what comes is what stands there."""

from __future__ import annotations

import io
from typing import List, Tuple

import pytest

from envdoctor.diagnosis.reading import read, selection
from envdoctor.diagnosis.reading.triggers import Triggers

MANY = selection.FIRST + selection.LAST + 5000


def log(errors: List[int], lines: int = MANY) -> bytes:
    """Lines with their number, some of them errors."""
    wrong = set(errors)
    made = (b"error: %d\n" if n in wrong else b"fine %d\n" for n in range(1, lines + 1))
    return b"".join(line % n for n, line in enumerate(made, 1))


def numbers(
    data: bytes, triggers: Tuple[str, ...] = ("error:",), block: int = 1 << 18
) -> List[int]:
    came = []
    for line in read(io.BytesIO(data), triggers, block):
        assert line.text.endswith(str(line.number))
        assert line.gap == (bool(came) and came[-1] + 1 != line.number)
        came.append(line.number)
    return came


FIRST = list(range(1, selection.FIRST + 1))
LAST = list(range(MANY - selection.LAST + 1, MANY + 1))


def around(number: int) -> List[int]:
    return list(range(number - selection.BEFORE, number + selection.AFTER + 1))


def test_beginning_and_end_come() -> None:
    assert numbers(log([])) == [*FIRST, *LAST]
    assert numbers(log([], 3000)) == list(range(1, 3001))


@pytest.mark.parametrize("block", [777, 9000, 1 << 18])
def test_what_stands_around_an_error_comes(block: int) -> None:
    assert numbers(log([6000, 6500]), block=block) == [
        *FIRST,
        *around(6000),
        *around(6500),
        *LAST,
    ]


def test_windows_that_touch_are_one() -> None:
    assert numbers(log([6000, 6090])) == [
        *FIRST,
        *range(6000 - selection.BEFORE, 6090 + selection.AFTER + 1),
        *LAST,
    ]


def test_a_window_that_reaches_over_the_beginning_and_into_the_end() -> None:
    end = MANY - selection.LAST - 3
    assert numbers(log([selection.FIRST, end])) == [
        *range(1, selection.FIRST + selection.AFTER + 1),
        *range(end - selection.BEFORE, MANY + 1),
    ]


def test_what_repeats_is_not_of_interest_for_ever() -> None:
    lines = 200_000
    came = numbers(log(list(range(5000, lines, 200)), lines))
    assert len(came) < selection.FIRST + selection.LAST + 101 * (selection.MOST_OF_SHAPE + 1)
    assert set(around(5000)) < set(came)


def test_a_rare_error_among_common_ones_comes() -> None:
    names = [b"a" * (n % 60 + 1) + b"b" * (n // 60 + 1) for n in range(4000)]
    noisy = [b"error: %s\n" % name for name in names]
    quiet = [b"fine\n"] * selection.FIRST
    data = b"".join([*quiet, *noisy, b"Killed process 7\n", *noisy, *quiet])
    texts = [line.text for line in read(io.BytesIO(data), ["error:", "killed process"])]
    assert "Killed process 7" in texts
    assert len(texts) < len(data.splitlines()) - 5000


def test_lines_that_are_overwritten_have_the_number_of_their_line() -> None:
    bar = b"".join(b"\rstep %d/9000" % n for n in range(9000))
    data = log([], MANY) + bar + b"\nerror: 42\n"
    came = list(read(io.BytesIO(data), ["error:"]))
    assert (came[-1].number, came[-1].text) == (MANY + 2, "error: 42")
    assert (came[-2].number, came[-2].text) == (MANY + 1, "step 8999/9000")
    assert came[0].number == 1


@pytest.mark.parametrize(
    ("trigger", "line"),
    [
        ("no module named", "ModuleNotFoundError: No module named 'x'"),
        ("error: ", "IMPORTERROR: x"),
        ("exit code: 137", "did not complete successfully: exit code: 137"),
        ("sm_120", "NVIDIA GeForce RTX 5090 with CUDA capability sm_120"),
        ("c1083", "x.cu(1): fatal error C1083: y"),
        ("fatal error:", "\x1b[01;31m\x1b[Kfatal error:\x1b[m x"),
        ("error: subprocess", "\x1b[1;31merror\x1b[0m: subprocess-exited"),
        ("无法打开包括文件", "C1083: 无法打开包括文件"),
        ("╰─>", "  ╰─> [3 lines of output]"),
        ("::", "a::b"),
        ("x", "yxz"),
        ("killed", "e\0r\0r\0k\0i\0l\0l\0e\0d\0"),
    ],
)
def test_triggers_are_found(trigger: str, line: str) -> None:
    data = [b"fine %d" % n for n in range(MANY)]
    data[MANY // 2] = line.encode()
    numbers = {
        one.number for one in read(io.BytesIO(b"\n".join(data)), [trigger, "something else"])
    }
    assert MANY // 2 + 1 in numbers


def test_triggers_in_the_encoding_of_chinese_windows() -> None:
    data = [b"fine %d" % n for n in range(MANY)]
    data[MANY // 2] = "C1083: 无法打开包括文件".encode("gbk")
    assert MANY // 2 + 1 in {
        one.number for one in read(io.BytesIO(b"\n".join(data)), ["无法打开包括文件"])
    }


def test_triggers_say_what_they_found() -> None:
    triggers = Triggers(["error:", "no module named", "cuda error"])
    lines = [b"RuntimeError: CUDA error: x", b"fine", b"No module named 'error'"]
    assert {line: sorted(held) for line, held in triggers.of_interest(lines).items()} == {
        lines[0]: [b"cuda error", b"error:"],
        lines[2]: [b"no module named"],
    }
    triggers.forget(b"error:")
    assert triggers.of_interest([b"some error: x", b"cuda error"]) == {
        b"cuda error": [b"cuda error"]
    }
