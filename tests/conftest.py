from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

import small

from envdoctor.knowledge.load import Knowledge

# Machines that run tests are slow at times; what a property costs is measured in benchmarks.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


@pytest.fixture(scope="session")
def small_matrices(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """A small set of matrices, see small.py."""
    return small.knowledge(tmp_path_factory.mktemp("matrices"))
