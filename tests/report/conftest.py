from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest
import small_machines

from envdoctor.knowledge.load import Knowledge

GOLDEN = Path(__file__).resolve().parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is rendered now as what is expected; then read the difference",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with the file that holds what is expected."""
    update = request.config.getoption("--update-golden", default=False)

    def compare(path: Path, text: str) -> None:
        if update:
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return compare


@pytest.fixture
def known_machines(tmp_path: Path) -> Knowledge:
    """The small matrices, with a few GPUs."""
    return small_machines.knowledge(tmp_path)
