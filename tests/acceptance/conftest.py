from __future__ import annotations

from pathlib import Path
from typing import Dict

import pytest
from environments import Environment, Made, Stack, make


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Makes the environment of a stack, once for each description."""
    kept: Dict[str, Environment] = {}

    def get(stack: Stack, python: str, found: bool = True) -> Environment:
        key = repr((sorted(stack.items()), python, found))
        if key not in kept:
            folder: Path = tmp_path_factory.mktemp("environment") / "env"
            kept[key] = make(folder, stack, python, found)
        return kept[key]

    return get
