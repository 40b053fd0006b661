from __future__ import annotations

import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from indexes.connection import Connection
from serving import Index, serving


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    """An index that pip is configured with, and no other setting of who runs the tests."""
    with serving() as served:
        for name in ("CERT", "PROXY", "CLIENT_CERT"):
            monkeypatch.delenv(f"PIP_{name}", raising=False)
        for name in ("GITHUB_TOKEN", "NETRC", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        empty = tmp_path / "empty.conf"
        empty.write_text("")
        monkeypatch.setenv("PIP_CONFIG_FILE", str(empty))
        monkeypatch.setenv("PIP_INDEX_URL", f"{served.url}/simple")
        monkeypatch.setattr(Connection, "pause", 0.0)
        yield served
