"""A cause stays where it was when a log is changed in ways that do not touch its evidence."""

from __future__ import annotations

import io
import random
from functools import lru_cache
from pathlib import Path
from typing import Iterator, List, Tuple

import pytest
import yaml
from mutations import MUTATIONS, OF_ANY_PACKAGE, packages

from envdoctor.diagnosis import diagnose
from envdoctor.knowledge.load import load
from envdoctor.model.diagnosis import Diagnosis

pytestmark = pytest.mark.answers

FOLDER = Path(__file__).parent / "cases" / "dev"
NONE = "no-known-environment-cause"
CASES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@lru_cache(maxsize=None)
def _right(case: str) -> Tuple[str, ...]:
    label = yaml.safe_load((FOLDER / f"{case}.yaml").read_text(encoding="utf-8"))
    return () if label["cause"] == NONE else (label["cause"], *label["also_accept"])


@lru_cache(maxsize=None)
def _lines(case: str) -> List[str]:
    return (FOLDER / f"{case}.log").read_text(encoding="utf-8").split("\n")


def _found(lines: List[str]) -> Diagnosis:
    return diagnose([("log", io.BytesIO("\n".join(lines).encode()))], load())


@lru_cache(maxsize=None)
def _unchanged(case: str) -> Diagnosis:
    return _found(_lines(case))


def _is_right(case: str, found: Diagnosis) -> bool:
    first = found.causes[0].id if found.causes else ""
    return first in _right(case) if _right(case) else not first


def _named() -> Iterator[str]:
    """Cases that are named rightly as they are; `benchmarks/diagnosis.py` tells the others."""
    return (case for case in CASES if _is_right(case, _unchanged(case)))


def _changed() -> Iterator[Tuple[str, str]]:
    for case in _named():
        family = yaml.safe_load((FOLDER / f"{case}.yaml").read_text(encoding="utf-8"))["family"]
        for mutation in sorted(MUTATIONS):
            if mutation != packages.__name__ or family in OF_ANY_PACKAGE:
                yield case, mutation


@pytest.mark.parametrize(("case", "mutation"), _changed())
def test_the_cause_stays(case: str, mutation: str) -> None:
    """Of a log with other paths, numbers, prefixes, noise, neighbours."""
    chance = random.Random(f"{case} {mutation}")
    found = _found(MUTATIONS[mutation](_lines(case), chance))
    assert _is_right(case, found), [cause.id for cause in found.causes]


@pytest.mark.parametrize("case", [case for case in _named() if _right(case)])
def test_the_cause_stays_of_a_log_that_is_cut_off(case: str) -> None:
    """Behind the last of the lines that prove it."""
    last = max(proof.line for proof in _unchanged(case).causes[0].evidence)
    assert _is_right(case, _found(_lines(case)[:last]))


def test_most_cases_are_named_rightly() -> None:
    """The share that the project asks of itself."""
    assert len(list(_named())) >= 0.95 * len(CASES)
