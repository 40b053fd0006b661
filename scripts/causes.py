#!/usr/bin/env python3
"""Writes docs/causes.md: which causes of failures a check finds beforehand, and from what.

./scripts/pages calls it, in an environment with what it needs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import yaml  # noqa: E402

from envdoctor.knowledge.load import load  # noqa: E402
from envdoctor.relations.judge import Bound, Relations  # noqa: E402
from envdoctor.rules import linked  # noqa: E402
from envdoctor.rules.page import Page, pages  # noqa: E402

DATA = ROOT / "docs" / "causes.yaml"
PAGE = ROOT / "docs" / "causes.md"
_HEAD = """\
<!-- Written by scripts/causes.py; change docs/causes.yaml and the pages of findings. -->

# What is seen before it fails

Each cause of a failure that envdoctor knows by name, whether `envdoctor check` sees it beforehand,
and what it looks at for that. `environment` is what is installed, `machine` its GPUs, driver,
system and tools; both are read from this machine, from a snapshot, or from a report that somebody
pasted (`--facts`), as far as it tells. `--requirements` means that files say what would be
installed, `--project` that a source tree is read. `relations` are those of the matrices that the
finding is made of; a rule looks at files, paths, variables and commands.

{seen} of {all} causes are seen, {unseen} cannot be, and {open} are not seen yet.
"""
_ROW = "| {} |"
_MACHINE = ("accelerator", "machine", "tools")


def render() -> str:
    """The page as text."""
    listed: Dict[str, List[Dict[str, Any]]] = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    known = {page.name: page for page in pages().values()}
    relations = _relations()
    lines = []
    counts = {"seen": 0, "unseen": 0, "open": 0}
    for family, causes in listed.items():
        lines += ["", f"## {family.capitalize()}", "", _row("cause", "is", "found by", "from")]
        lines.append(_row("---", "---", "---", "---"))
        for cause in causes:
            found = [known[name] for name in _names(cause) if name in known]
            kind = "seen" if found else "unseen" if "unseen" in cause else "open"
            counts[kind] += 1
            by = ", ".join(_link(page, relations) for page in found)
            inputs = dict.fromkeys(i for page in found for i in _inputs(page, relations))
            if kind != "seen":
                by = "-" if kind == "unseen" else "not seen yet"
            told = ", ".join(inputs) or cause.get("unseen" if kind == "unseen" else "open", "")
            lines.append(_row(f"`{cause['id']}`", cause["meaning"], by, told))
    named = {name for causes in listed.values() for cause in causes for name in _names(cause)}
    lines += ["", "## Findings beside these", "", _row("finding", "is", "found by", "from")]
    lines.append(_row("---", "---", "---", "---"))
    for page in known.values():
        if page.name not in named:
            told = ", ".join(_inputs(page, relations))
            lines.append(_row(f"`{page.name}`", page.title, _link(page, relations), told))
    every = sum(counts.values())
    return _HEAD.format(all=every, **counts) + "\n".join([*lines, ""])


def _row(*cells: str) -> str:
    return _ROW.format(" | ".join(cells))


def _names(cause: Dict[str, Any]) -> List[str]:
    return [cause["id"], *cause.get("by", ())]


def _relations() -> Dict[str, List[Bound]]:
    """The relations of each finding, one of each id."""
    knowledge = load()
    relations = Relations(knowledge)
    found: Dict[str, Dict[str, Bound]] = {}
    for package in knowledge.packages:
        for bound in relations.of(package):
            found.setdefault(bound.finding, {}).setdefault(bound.relation.id, bound)
    return {finding: list(bounds.values()) for finding, bounds in found.items()}


def _link(page: Page, relations: Dict[str, List[Bound]]) -> str:
    stem = f"{page.code}_{page.name.replace('-', '_')}"
    parts = ["a rule"] if page.is_rule else []
    parts += ["binaries"] if page.name in (*linked.OWN, *linked.SHARED) else []
    number = len(relations.get(page.name, ()))
    if number:
        parts.append(f"{number} relation{'s' if number > 1 else ''}")
    return f"[{page.code}](../envdoctor/rules/{stem}.md) ({' and '.join(parts) or 'no data yet'})"


def _inputs(page: Page, relations: Dict[str, List[Bound]]) -> Iterator[str]:
    """What a finding is made from."""
    bounds = relations.get(page.name, [])
    components = {component for bound in bounds for component in bound.components}
    project = "projects" in page.facts
    if bounds or ("installed" in page.judges and (not project or "target" in page.facts)):
        yield "environment"
    is_of_the_machine = any(fact.startswith(_MACHINE) for fact in page.facts)
    if is_of_the_machine or any(c.startswith(("host.", "build.")) for c in components):
        yield "machine"
    if bounds or ("asked" in page.judges and not project):
        yield "`--requirements`"
    if project:
        yield "`--project`"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
