#!/usr/bin/env python3
"""Writes docs/coverage.md: what the matrices know, package by package and table by table.

./scripts/pages calls it, in an environment with what it needs.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Sequence, Tuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from envdoctor.knowledge.load import Knowledge, load  # noqa: E402
from envdoctor.knowledge.package import Package  # noqa: E402
from envdoctor.model.finding import Citation  # noqa: E402
from envdoctor.model.relation import BASES  # noqa: E402
from envdoctor.relations.judge import Relations  # noqa: E402

PAGE = ROOT / "docs" / "coverage.md"
_HEAD = """\
<!-- Written by scripts/covered.py from the matrices. -->

# What the matrices know

{packages} packages with {releases} releases and {builds} builds, {relations} relations between
them, and {tables} tables of platforms with {rows} rows. [The format](matrices.md) says how to add
to them. `basis` counts the entries of a package's file, of builds and relations, by what they rest
on: {bases}.

A release that is not listed here is *untested*: neither fit nor unfit.
"""
#: What a version hides, by the attributes of builds that say it.
_TOLD = {
    "CUDA": ("cuda", "toolkit", "cudart"),
    "GPU code": ("sass",),
    "C++ ABI": ("abi",),
    "torch": ("torch", "works", "pin"),
    "Python tags": ("python",),
    "Requires-Python": ("requires_python",),
    "NumPy": ("numpy", "numpy2", "headers"),
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")


def render() -> str:
    """The page as it must be."""
    knowledge = load()
    packages = [knowledge.packages[name] for name in sorted(knowledge.packages)]
    tables = knowledge.tables.values()
    parts = [
        _HEAD.format(
            packages=len(packages),
            releases=sum(len(p.releases) for p in packages),
            builds=sum(len(p.builds()) for p in packages),
            relations=len(knowledge.relations),
            tables=len(knowledge.tables),
            rows=sum(len(table.rows) for table in tables),
            bases=" | ".join(BASES),
        ),
        "## Packages\n",
        _table(
            ("package", "releases", "from", "builds", "sources", "known", "relations", "basis"),
            (_package(package, knowledge) for package in packages),
        ),
        "`from`: where a program reads the releases and wheels; else they are written by hand.\n",
        "## Platforms\n",
        _table(
            ("table", "rows", "columns", "basis", "checked", "source"),
            (_platform(name, knowledge) for name in sorted(knowledge.tables)),
        ),
        "## Relations of platforms\n",
        _table(("relation", "phase", "basis", "speaks of"), _relations(knowledge)),
    ]
    return "\n".join(parts)


def _package(package: Package, knowledge: Knowledge) -> Tuple[str, ...]:
    builds = package.builds()
    wheels = [b for b in builds if b.attributes.get("origin") != "source"]
    told = [
        what
        for what, attributes in _TOLD.items()
        if any(attribute in build.attributes for build in builds for attribute in attributes)
    ]
    own = [relation for relation in knowledge.relations if relation.owner == package.name]
    entries = [knowledge.citations[entry.id] for entry in package.file.builds]
    cited = [*entries, *(knowledge.citations[relation.id] for relation in own)]
    return (
        package.name,
        _span(package),
        ", ".join([*(["PyPI"] if package.pypi else []), *package.file.index.pages]) or "by hand",
        str(len(wheels)),
        "yes" if len(wheels) < len(builds) else "",
        ", ".join(told),
        str(len(own)),
        _bases(cited),
    )


def _span(package: Package) -> str:
    first, last = package.releases[0], package.releases[-1]
    return f"{first} to {last} ({len(package.releases)})" if first != last else str(first)


def _bases(citations: Iterable[Citation]) -> str:
    found = Counter(citation.basis for citation in citations)
    return ", ".join(f"{basis} {found[basis]}" for basis in BASES if found[basis])


def _platform(name: str, knowledge: Knowledge) -> Tuple[str, ...]:
    table, citation = knowledge.tables[name], knowledge.citations[f"table/{name}"]
    return (
        name,
        str(len(table.rows)),
        ", ".join(table.columns),
        citation.basis,
        citation.checked,
        citation.source,
    )


def _relations(knowledge: Knowledge) -> Iterator[Tuple[str, ...]]:
    relations = Relations(knowledge)
    told: Dict[str, List[str]] = {}
    for name in sorted(knowledge.packages):
        for bound in relations.of(name):
            told.setdefault(bound.relation.id, []).append(name)
    for relation in sorted(knowledge.relations, key=lambda r: r.id):
        if relation.owner is None:
            names = told.get(relation.id, [])
            few = ", ".join(names) if len(names) <= 4 else f"{len(names)} packages"
            yield (relation.id, relation.phase, relation.basis, few)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([c.replace("|", "\\|") for c in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
