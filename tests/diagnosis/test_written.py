"""Logs that were written in the wordings of the tools, for causes that no recorded case shows."""

from __future__ import annotations

from pathlib import Path
from typing import List

import pytest
import yaml

from envdoctor.diagnosis import diagnose
from envdoctor.knowledge.load import load

FOLDER = Path(__file__).parent / "cases" / "written"
NONE = "no-known-environment-cause"


def _right(name: str) -> List[str]:
    label = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return [label["cause"], *label["also_accept"]]


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.log")))
def test_the_cause_is_named_first(name: str) -> None:
    """Or none where no environment is at fault."""
    with (FOLDER / f"{name}.log").open("rb") as log:
        found = diagnose([(name, log)], load())
    first = found.causes[0].id if found.causes else NONE
    assert first in _right(name), [cause.id for cause in found.causes]
