"""Wrapping: nothing lost, nothing broken that must stay whole, wide characters counted as two."""

from __future__ import annotations

from typing import List

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from envdoctor.report.lines import apart, wrapped

WORDS = st.lists(st.text(st.sampled_from("abc/.-_,"), min_size=1, max_size=30), max_size=12)


@settings(deadline=None)
@given(WORDS, st.integers(8, 60))
def test_words_stay_whole(words: List[str], width: int) -> None:
    lines = [line.plain for line in wrapped(Text(" ".join(words)), width, "- ", "  ")]
    assert [word for line in lines for word in line[2:].split()] == words
    assert all(len(line) <= width or " " not in line[2:] for line in lines)


COMMA, STOP = "\uff0c", "\u3002"
CHINESE = st.lists(
    st.sampled_from(["编", "译", f"失{COMMA}", f"败{STOP}", " torch ", "2.4"]), max_size=40
)


@settings(deadline=None)
@given(CHINESE, st.integers(16, 40))
def test_chinese_is_broken_between_characters(pieces: List[str], width: int) -> None:
    text = "".join(pieces).replace("2.42.4", "2.4")
    lines = [line.plain for line in wrapped(Text(text), width)]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(line) <= width for line in lines)
    assert not any(line.startswith((COMMA, STOP)) for line in lines)


def test_punctuation_stays_with_what_it_belongs_to() -> None:
    def lines(text: str, width: int) -> List[str]:
        return [line.plain for line in wrapped(Text(text), width)]

    assert lines("显卡\uff08驱动\uff09", 6) == ["显卡", "\uff08驱", "动\uff09"]
    assert lines("VIRTUAL_ENV\u3001CONDA_PREFIX", 14) == ["VIRTUAL_ENV\u3001", "CONDA_PREFIX"]
    assert lines("\u201c可用\u201d是", 5) == ["\u201c可", "用\u201d是"]
    assert lines("[id, 实测]", 8) == ["[id, 实", "测]"]


def test_apart() -> None:
    assert [line.plain for line in apart(Text("ab"), Text("cd"), 8)] == ["ab    cd"]
    assert [line.plain for line in apart(Text("abcd"), Text("efg"), 8)] == ["abcd", "     efg"]
