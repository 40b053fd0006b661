"""A few inputs of every target; `./scripts/fuzz --inputs 250000` tries as many as are wanted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from run import fuzz, made
from targets import TARGETS

INPUTS = 12


@pytest.mark.parametrize("name", TARGETS)
def test_promises(name: str) -> None:
    done = fuzz(name, 1, min(INPUTS, TARGETS[name].share))
    assert [f"--only {find.number}: {find.said}" for find in done.finds] == []


def test_the_same_seed_gives_the_same_inputs() -> None:
    assert made("report/parse", 7, 3) == made("report/parse", 7, 3)
    assert made("report/parse", 7, 3) != made("report/parse", 8, 3)


def test_what_breaks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(data: bytes) -> None:
        if b"torch" in data:
            raise KeyError("torch")

    def loop(data: bytes) -> None:
        while data:
            pass

    entry = TARGETS["assume"]._replace(seeds=lambda: [b"x"])
    monkeypatch.setattr("run.SECONDS", 0.1)
    monkeypatch.setitem(TARGETS, "assume", entry._replace(enter=len))
    assert fuzz("assume", 1, 5).finds == []
    monkeypatch.setitem(TARGETS, "report/parse", TARGETS["report/parse"]._replace(enter=crash))
    from run import tried

    assert "KeyError" in str(tried("report/parse", b"torch"))
    assert tried("report/parse", b"numpy") is None
    monkeypatch.setitem(TARGETS, "report/parse", TARGETS["report/parse"]._replace(enter=loop))
    assert "took too long" in str(tried("report/parse", b"torch"))
