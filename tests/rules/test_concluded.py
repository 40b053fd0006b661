"""Equal facts have equal reports, and nothing else has."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List

import msgspec
import pytest

from envdoctor.cache import store, unchanged
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.facts import Facts, seen
from envdoctor.model.finding import Report, Skipped
from envdoctor.rules import check
from envdoctor.rules.concluded import conclude

pytestmark = pytest.mark.remembering


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "envdoctor"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> List[Any]:
    """The facts that were really judged."""
    found: List[Any] = []
    judge = check.check

    def noted(facts: Facts, knowledge: Knowledge, language: str) -> Report:
        found.append(facts)
        return judge(facts, knowledge, language)

    monkeypatch.setattr(check, "check", noted)
    return found


FACTS = Facts(taken="2026-11-30T00:00:00Z")


def other(facts: Facts) -> Facts:
    machine = msgspec.structs.replace(facts.machine, glibc=seen("2.17", "somewhere"))
    return msgspec.structs.replace(facts, machine=machine)


def test_the_same_facts_are_judged_once(judged: List[Any]) -> None:
    first = conclude(FACTS, load, "en")
    later = msgspec.structs.replace(FACTS, taken="2026-12-24T00:00:00Z")
    assert conclude(later, load, "en") == first
    assert len(judged) == 1


def test_other_facts_another_language_another_envdoctor(
    judged: List[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    conclude(FACTS, load, "en")
    conclude(other(FACTS), load, "en")
    assert conclude(FACTS, load, "zh").language == "zh"
    monkeypatch.setattr(unchanged, "own_state", lambda: b"another")
    conclude(FACTS, load, "en")
    assert len(judged) == 4


def test_a_fault_of_our_own_is_not_kept(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    failed = Report("check", "0", "", (), skipped=(Skipped("ED203", "a fault", failed=True),))
    monkeypatch.setattr(check, "check", lambda *_: failed)
    assert conclude(FACTS, load, "en") is failed
    assert not list(cache.glob("report-*"))


def test_what_is_no_report_is_ignored(judged: List[Any], cache: Path) -> None:
    first = conclude(FACTS, load, "en")
    (entry,) = cache.glob("report-*")
    for content in (b"", b"\xc1", b"\x90"):
        store.write(entry.name, content, "report-", 5)
        assert conclude(FACTS, load, "en") == first
    assert len(judged) == 4
