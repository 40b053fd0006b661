from __future__ import annotations

from pathlib import Path

import pytest
import small_machines

from envdoctor.knowledge.load import Knowledge


@pytest.fixture
def known_machines(tmp_path: Path) -> Knowledge:
    """The small matrices, with a few GPUs."""
    return small_machines.knowledge(tmp_path)
