from __future__ import annotations

import re
from typing import List

from hypothesis import given
from hypothesis import strategies as st

from envdoctor.diagnosis.words import any_of


def test_words_that_begin_alike_share_their_beginning() -> None:
    assert any_of(["error: a", "error: b", "err", "killed"]).pattern == "(?:err|killed)"
    assert any_of(["torch.six", "torch.fft", "nvcc"]).pattern == r"(?:nvcc|torch\.(?:fft|six))"


def test_no_words_are_found_nowhere() -> None:
    assert any_of([]).search("text") is None


@given(
    st.lists(st.text("ab.+ ", min_size=1, max_size=6), max_size=12), st.text("ab.+ ", max_size=20)
)
def test_it_finds_what_one_of_them_finds(words: List[str], text: str) -> None:
    plain = re.compile("|".join(map(re.escape, words)) or "(?!)")
    assert bool(any_of(words).search(text)) == bool(plain.search(text))
