from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "refresh"))

from serving import Index as Served
from serving import serving


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Served]:
    """An index that pip is configured with, and no other setting of who runs the tests."""
    with serving() as index:
        for name in [n for n in os.environ if n.startswith(("PIP_", "UV_"))]:
            monkeypatch.delenv(name)
        for name in ("NETRC", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        empty = tmp_path / "empty.conf"
        empty.write_text("")
        monkeypatch.setenv("PIP_CONFIG_FILE", str(empty))
        monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        yield index
