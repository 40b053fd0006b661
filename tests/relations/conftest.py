from __future__ import annotations

import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import small

from envdoctor.knowledge.load import Knowledge


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    """A small set of matrices, see small.py."""
    return small.knowledge(tmp_path_factory.mktemp("matrices"))
