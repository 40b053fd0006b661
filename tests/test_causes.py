"""docs/causes.md: which causes are seen beforehand."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Dict, List

import yaml

from envdoctor.rules.page import pages

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "causes.py"


def causes() -> List[Dict[str, Any]]:
    text = (ROOT / "docs" / "causes.yaml").read_text(encoding="utf-8")
    return [cause for listed in yaml.safe_load(text).values() for cause in listed]


def test_the_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("causes", str(SCRIPT))
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (ROOT / "docs" / "causes.md").read_text(encoding="utf-8")
    assert written == script.render(), "write it again: ./scripts/pages"


def test_causes_are_named_once_and_told() -> None:
    ids = [cause["id"] for cause in causes()]
    assert len(ids) == len(set(ids)) > 70
    for cause in causes():
        assert set(cause) <= {"id", "meaning", "by", "unseen", "open"}, cause
        assert 10 < len(cause["meaning"]) < 120, cause
        assert not cause["meaning"].endswith("."), cause


def test_a_cause_is_seen_or_it_is_said_why_not() -> None:
    known = {page.name for page in pages().values()}
    for cause in causes():
        seen = {cause["id"], *cause.get("by", ())} & known
        assert not (seen and "unseen" in cause), f"{cause['id']}: it is seen: {seen}"
        assert set(cause.get("by", ())) <= known, cause
