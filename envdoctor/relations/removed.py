"""Interfaces that some releases lack: what is looked for, and which builds have it not."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.finding import Citation
from envdoctor.model.interface import Interface, pattern_of
from envdoctor.relations.components import PYTHON, words
from envdoctor.relations.observe import Observation
from envdoctor.relations.values import Truth, attribute, compare, conjunction, negation

#: Tables of interfaces, by the beginning of their names: those that went, those that came, and
#: those that are often said to have gone. Else the table of a row says its source only.
REMOVED, ADDED, KEPT = "removed_", "added_", "kept_"
TABLES = (REMOVED, ADDED, KEPT)


_PARTS = ("kind", "pattern", "passing", "without", "made_by")


class Removed(NamedTuple):
    """A row of the tables, for the builds that are here."""

    name: str  # the row's, which may be of the module around what is used
    row: Dict[str, Value]
    build: str  # "numpy 1.26.4"
    citation: Citation

    def text(self, column: str) -> str:
        """A cell as text, "" where it is empty."""
        return str(self.row.get(column) or "")


class Told(NamedTuple):
    """A row that speaks of a name, whatever builds are here."""

    name: str
    row: Dict[str, Value]
    citation: Citation


class Undecided(NamedTuple):
    """It is not known whether the builds that are here have it."""

    reason: str


def _rows(knowledge: Knowledge) -> Dict[str, Tuple[Dict[str, Value], str]]:
    """{interface: (its row, the table's name)}."""
    found: Dict[str, Tuple[Dict[str, Value], str]] = {}
    for table in knowledge.tables.values():
        if table.name.startswith(TABLES):
            for key, row in table.rows.items():
                found[str(key)] = (row, table.name)
    return found


def interfaces(knowledge: Knowledge) -> Tuple[Interface, ...]:
    """What to look for in source trees."""
    return tuple(
        Interface(
            name, is_kept=table.startswith(KEPT), **{p: str(row.get(p) or "") for p in _PARTS}
        )
        for name, (row, table) in _rows(knowledge).items()
    )


def _is_kept(table: str) -> bool:
    return table.startswith(KEPT)


def described(knowledge: Knowledge, name: str) -> Tuple[Told, ...]:
    """The rows that speak of a name: its own, else of a call of it, else the nearest around it."""
    rows = _rows(knowledge)
    while name:
        own = [key for key in rows if key == name or key.partition("(")[0] == name]
        own = own or [key for key in rows if "*" in key and pattern_of(key).match(name)]
        if own:
            return tuple(
                Told(key, rows[key][0], knowledge.citations[f"table/{rows[key][1]}"]) for key in own
            )
        name = name.rpartition(".")[0]
    return ()


class RemovedInterfaces:
    """The tables, judged against what was observed."""

    def __init__(self, knowledge: Knowledge, observed: Observation) -> None:
        """Judge nothing yet."""
        self.rows = _rows(knowledge)
        self.citations = knowledge.citations
        self.domains = observed.domains

    def finding(self, name: str) -> str:
        """The name of the finding that tells of an interface, "" of one that no table has."""
        return str(self.rows[name][0]["finding"]) if name in self.rows else ""

    def judge(self, name: str) -> Union[Removed, Undecided, None]:
        """Whether every build that may be here lacks an interface, or a module around it.

        None if one of them has it, and if its component is not there.
        """
        undecided: Optional[Undecided] = None
        for one in self._around(name):
            row, table = self.rows[one]
            if _is_kept(table):
                return None
            domain = self._domain(str(row["of"]))
            if domain == (ABSENT,):
                continue
            lacks = conjunction(self._lacks(row, build) for build in domain)
            if lacks is True:
                label = _label(str(row["of"]), domain)
                return Removed(one, row, label, self.citations[f"table/{table}"])
            if isinstance(lacks, Unknown) and undecided is None:
                undecided = Undecided(lacks.reason)
        return undecided

    def _around(self, name: str) -> List[str]:
        """The interface, then the longer and longer parts of the tree that it stands in."""
        found = []
        while name:
            if name in self.rows:
                found.append(name)
            name = name.partition("(")[0].rpartition(".")[0]
        return found

    def _domain(self, component: str) -> Tuple[Value, ...]:
        return tuple(self.domains.get(component, (ABSENT,)))

    def _lacks(self, row: Dict[str, Value], build: Value) -> Truth:
        if "standard" in row:
            return compare(">", attribute(build, "cxx"), row["standard"])
        if "since" in row:
            return compare("<", build, row["since"])
        lacks = compare(">=", build, row["gone"])
        if "back" in row:
            lacks = conjunction([lacks, negation(compare(">=", build, row["back"]))])
        served = str(row.get("served") or "")
        if served:
            there = [isinstance(one, Build) for one in self._domain(served)]
            is_there: Truth = Unknown(f"whether {served} is here is not known")
            if all(there):
                is_there = True
            elif self._domain(served) == (ABSENT,):
                is_there = False
            lacks = conjunction([lacks, negation(is_there)])
        return lacks


def _label(component: str, domain: Tuple[Value, ...]) -> str:
    """What to call the builds that are here: "numpy 1.26.4", "CUDA toolkit 13.0"."""
    if len(set(map(str, domain))) != 1:
        return words(component)
    label = str(domain[0])
    if not isinstance(domain[0], Build):
        label = f"{words(component)} {label}"
    return "P" + label[1:] if label.startswith(f"{PYTHON} ") else label
