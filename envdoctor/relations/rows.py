"""What the matrices know of a GPU, a driver, a CUDA, a Python, a system: rows of their tables."""

from __future__ import annotations

import difflib
from typing import Dict, Iterator, List, Optional, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Value
from envdoctor.model.explanation import Beside, Cell, ExplainedRow
from envdoctor.model.facts import Facts
from envdoctor.model.text import clean
from envdoctor.model.versions import compute_capability, try_parse
from envdoctor.relations.assume import assume
from envdoctor.relations.devices import lookup
from envdoctor.relations.explained import beside, plain, runs
from envdoctor.relations.judge import Relations
from envdoctor.relations.question import world_of
from envdoctor.relations.removed import described
from envdoctor.relations.wanted import WantedError

#: What is told of an interface that releases lack.
_OF_INTERFACES = ("of", "gone", "back", "since", "passing", "without", "instead", "finding")

#: What is asked about, and the tables that hold it.
KEYS: Dict[str, Tuple[str, ...]] = {
    "gpu": ("gpu", "architecture"),
    "driver": ("branch",),
    "cuda": ("cuda", "family"),
    "python": ("python",),
    "os": ("distribution",),
}


def is_row(text: str) -> bool:
    """Whether a text asks about one of KEYS, "gpu=h100"."""
    key, sign, _ = text.partition("=")
    return bool(sign) and key.strip().lower() in KEYS and not text[len(key) :].startswith("==")


def explain_row(text: str, facts: Facts, relations: Relations) -> ExplainedRow:
    """What is known of "gpu=h100", on an otherwise unknown machine. Raises WantedError."""
    knowledge = relations.knowledge
    key, _, value = (part.strip() for part in text.partition("="))
    key = key.lower()
    cells: List[Cell] = []
    for one in value.split(",") if key == "gpu" else (value,):
        told = [cell for cell in _cells(key, one.strip(), knowledge) if cell not in cells]
        if not told and not any(_cells(key, one.strip(), knowledge)):
            raise WantedError(_unknown(key, one.strip(), knowledge))
        cells += told
    component = {"gpu": "host.gpu", "driver": "host.driver"}.get(key)
    if component is not None:
        world = world_of(assume(facts, [f"{key}={value}"], knowledge), knowledge)
        fitting = []
        for name in knowledge.packages:
            bounds = [b for b in relations.of(name) if b.decides_running(component)]
            found = beside((), name, world, relations) if bounds else None
            if found is not None and {b.relation.id for b in bounds} & set(found.relations):
                fitting.append(found)
        return ExplainedRow(f"{key}={value}", tuple(cells), True, tuple(fitting))
    cuda = try_parse(value) if key == "cuda" else None
    built = _built_for(cuda, knowledge) if cuda is not None else ()
    return ExplainedRow(f"{key}={value}", tuple(cells), False, tuple(built))


def explain_interface(name: str, knowledge: Knowledge) -> Optional[ExplainedRow]:
    """What is known of an interface that releases lack, "np.bool"; None if nothing is."""
    full = f"numpy.{name[3:]}" if name.startswith("np.") else name
    cells = []
    for one in described(knowledge, full):
        values = {
            column: plain(value)
            for column, value in one.row.items()
            if column in _OF_INTERFACES and value not in (ABSENT, "")
        }
        table = one.citation.id.partition("/")[2]
        cells.append(Cell(table, one.name, values, one.citation))
    return ExplainedRow(name, tuple(cells), False, ()) if cells else None


def _cells(key: str, value: str, knowledge: Knowledge) -> Iterator[Cell]:
    for name in KEYS[key]:
        table = knowledge.tables.get(name)
        found = None if table is None else _key(name, value, knowledge)
        if table is None or found is None or found not in table.rows:
            continue
        texts = table.texts[found]
        values = {
            column: texts[column] if column in texts else plain(cell)
            for column, cell in table.rows[found].items()
        }
        yield Cell(name, str(found), values, knowledge.citations[f"table/{name}"])


def _key(table: str, value: str, knowledge: Knowledge) -> Optional[Value]:
    """The key of the row of a table that a value stands for."""
    if table == "gpu":
        device = lookup(value, knowledge)
        return None if device is None else device.id
    if table == "architecture":
        device = lookup(value, knowledge)
        capability = None if device is None else device.row.get("cc")
        if isinstance(capability, Version):
            return capability
        try:
            return try_parse(compute_capability(value))
        except ValueError:
            return None
    version = try_parse(value)
    if table == "distribution":
        rows = knowledge.tables[table].rows
        return value if value in rows else value.partition(".")[0]
    if version is None:
        return None
    if table in ("branch", "family"):
        return try_parse(str(version.major))
    return try_parse(f"{version.major}.{version.minor}")


def _unknown(key: str, value: str, knowledge: Knowledge) -> str:
    known = [str(row) for table in KEYS[key] for row in knowledge.tables[table].rows]
    near = difflib.get_close_matches(value.lower(), known, n=4, cutoff=0.5)
    nearest = f"; nearest: {', '.join(near)}" if near else ""
    return f"the matrices have no {key} {clean(value)!r}{nearest}"


def _built_for(cuda: Version, knowledge: Knowledge) -> Iterator[Beside]:
    """The packages that have builds for a CUDA, with those releases."""
    for name, package in knowledge.packages.items():
        if package.variant.get("cuda") != "cuda":
            continue
        found = [
            release
            for release in package.releases
            if any(build.attributes.get("cuda") == cuda for build in package.builds(release))
        ]
        if found:
            every = len(found) == len(package.releases)
            yield Beside(name, runs(found, package.releases), (), (), every, ())
