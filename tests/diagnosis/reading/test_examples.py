"""Pieces of logs, and the lines that come of them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Dict, List

import pytest
import yaml

from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.reading import read

EXAMPLES = yaml.safe_load((Path(__file__).parent / "examples.yaml").read_text(encoding="utf-8"))


def shown(line: Line) -> str:
    source = f" [{line.source}]" if line.source else ""
    return f"{line.number}{source}: {line.text}".rstrip()


def lines(data: bytes) -> List[str]:
    return [shown(line) for line in read(io.BytesIO(data), ["error"])]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["case"] for example in EXAMPLES])
def test_lines(example: Dict[str, Any]) -> None:
    assert lines(example["log"].encode()) == example["lines"]
