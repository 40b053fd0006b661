"""docs/coverage.md: what the matrices know."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from envdoctor.knowledge.load import load

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coverage.md"


def test_the_page_is_current() -> None:
    script = ROOT / "scripts" / "covered.py"
    spec = importlib.util.spec_from_file_location("coverage_page", str(script))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = PAGE.read_text(encoding="utf-8")
    assert text == module.render(), "write it again: ./scripts/pages"


def test_every_package_and_every_table_stands_there() -> None:
    knowledge = load()
    text = PAGE.read_text(encoding="utf-8")
    for name in [*knowledge.packages, *knowledge.tables]:
        assert text.count(f"\n| {name} |") == 1, name
