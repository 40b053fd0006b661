"""Logs of healthy runs, of users' own bugs and of bad data: no environment is to blame."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from envdoctor.diagnosis import diagnose
from envdoctor.knowledge.load import load

FOLDER = Path(__file__).parent / "harmless"
LOGS = sorted(FOLDER.glob("*.log"))
HOW = yaml.safe_load((FOLDER / "index.yaml").read_text(encoding="utf-8"))


def test_of_each_log_is_told_how_it_was_made() -> None:
    assert sorted(HOW) == sorted(log.stem for log in LOGS)
    assert all(isinstance(how, str) and how for how in HOW.values())


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_no_cause_is_named(log: Path) -> None:
    with log.open("rb") as stream:
        found = diagnose([(log.name, stream)], load())
    assert [(cause.id, cause.confidence) for cause in found.causes] == []
