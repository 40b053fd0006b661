"""What holds around an event is what held at its line, however late it is told."""

from __future__ import annotations

import io
from typing import List

import pytest

from envdoctor.diagnosis import diagnose
from envdoctor.knowledge.load import load


@pytest.mark.parametrize(
    ("lines", "cause", "component"),
    [
        (
            ["ModuleNotFoundError: No module named 'yaml'", "$ pip install foo"],
            "python-module-missing",
            "",
        ),
        (
            [
                "Collecting a",
                "  Getting requirements to build wheel ... error",
                "  ModuleNotFoundError: No module named 'numpy'",
                "Collecting b==1.0",
            ],
            "build-dep-missing",
            "a",
        ),
        (
            [
                "Collecting flash-attn",
                "  Getting requirements to build wheel ... error",
                "  ModuleNotFoundError: No module named 'torch'",
                "$ ls",
            ],
            "build-isolation-hides-torch",
            "flash-attn",
        ),
    ],
)
def test_the_next_line_does_not_change_it(lines: List[str], cause: str, component: str) -> None:
    log = "\n".join([*lines, ""]).encode()
    first = diagnose([("log", io.BytesIO(log))], load()).causes[0]
    assert (first.id, first.component) == (cause, component)
