"""Five models, nine GPUs, four drivers: what is resolved, and laws that each cell keeps."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Callable

import pytest
from cells import MODELS, Grid

HERE = Path(__file__).parent


@functools.lru_cache(maxsize=None)
def grid(model: str) -> Grid:
    return Grid(model)


@pytest.mark.parametrize("model", MODELS)
def test_the_answers_are_those_that_were_looked_at(
    model: str, golden: Callable[[Path, str], None]
) -> None:
    golden(HERE / "golden" / f"{model}.txt", grid(model).table())
