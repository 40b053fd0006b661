from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path
from typing import Callable

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

import small

from envdoctor.cache import store
from envdoctor.knowledge.load import Knowledge

# Machines that run tests are slow at times; what a property costs is measured in benchmarks.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")

# What is started in the background ignores Ctrl-C, and under nohup a closed terminal, too; children
# inherit that, and tests send both to theirs.
for _number, _handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(_number, _handler)


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


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are compared in English, whatever the language of who runs the tests."""
    monkeypatch.setenv("ENVDOCTOR_LANG", "en")


@pytest.fixture(autouse=True)
def _nothing_is_remembered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test observes and judges anew, but for those marked `remembering`."""
    if request.node.get_closest_marker("remembering"):
        return
    read, write = store.read, store.write
    families = ("report-", "target-", "readings-", "linking-")
    monkeypatch.setattr(
        store, "read", lambda name: None if name.startswith(families) else read(name)
    )
    monkeypatch.setattr(
        store,
        "write",
        lambda name, *rest, **more: name.startswith(families) or write(name, *rest, **more),
    )


@pytest.fixture(scope="session")
def small_matrices(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """A small set of matrices, see small.py."""
    return small.knowledge(tmp_path_factory.mktemp("matrices"))
