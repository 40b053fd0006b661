"""Laws of matrices/failures: examples show their cause first, near misses do not."""

from __future__ import annotations

import io
from typing import Iterator, List, Tuple

import pytest

from envdoctor.diagnosis import diagnose
from envdoctor.diagnosis.literals import literals
from envdoctor.diagnosis.signs import LINE
from envdoctor.knowledge.failures import failures, kinds
from envdoctor.knowledge.load import load
from envdoctor.model.language import CHINESE, ENGLISH
from envdoctor.model.text import fields
from envdoctor.rules.page import pages

KNOWN = failures()
PAGES = {page.name: page for page in pages().values()}


def _texts(part: str) -> Iterator[Tuple[str, int, str]]:
    for cause, failure in KNOWN.items():
        for index, text in enumerate(getattr(failure, part)):
            yield cause, index, text


def _found(text: str) -> List[str]:
    log = io.BytesIO(text.encode())
    return [cause.id for cause in diagnose([("log", log)], load()).causes]


@pytest.mark.parametrize(("cause", "index", "text"), list(_texts("examples")))
def test_an_example_shows_its_cause_first(cause: str, index: int, text: str) -> None:
    """Of all causes, those of all other files as well."""
    assert _found(text)[:1] == [cause]


@pytest.mark.parametrize(("cause", "index", "text"), list(_texts("near")))
def test_a_near_miss_does_not_show_the_cause(cause: str, index: int, text: str) -> None:
    """It may show another."""
    assert cause not in _found(text)


@pytest.mark.parametrize("cause", sorted(KNOWN))
def test_a_failure_is_whole(cause: str) -> None:
    """Words in both languages with the same fields, a title, examples and near misses."""
    failure = KNOWN[cause]
    assert failure.examples
    assert failure.near
    assert failure.fixes
    assert cause in PAGES or (failure.title and failure.title_zh)
    for words in (failure.words, *(sign.words for sign in failure.signs if sign.words)):
        assert set(words) == {ENGLISH, CHINESE}
        assert set(words[ENGLISH]) == set(words[CHINESE])
        for part, text in words[ENGLISH].items():
            assert sorted(fields(text)) == sorted(fields(words[CHINESE][part]))
    for cure in failure.fixes:
        assert set(cure.words) == {ENGLISH, CHINESE}
        assert sorted(fields(cure.words[ENGLISH])) == sorted(fields(cure.words[CHINESE]))
    assert len({sign.id for sign in failure.signs}) == len(failure.signs)
    assert set(failure.over) <= set(KNOWN) - {cause}


@pytest.mark.parametrize("cause", sorted(KNOWN))
def test_signs_on_lines_have_a_word_to_look_for(cause: str) -> None:
    """Else no line of a long log would be looked at for them."""
    for sign in KNOWN[cause].signs:
        for condition in (sign, *sign.seen, *sign.unseen):
            if LINE in kinds(condition):
                assert literals(condition.where["text"])
