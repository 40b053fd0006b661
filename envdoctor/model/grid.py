"""A grid of what fits what: the releases of one package against those of another."""

from __future__ import annotations

from typing import Dict, Tuple

from envdoctor.model.facts import Record
from envdoctor.model.finding import Citation


class Line(Record, frozen=True, omit_defaults=False):
    """A row or a column: neighbouring releases that are alike in all cells."""

    first: str
    last: str
    releases: int
    cuda: Tuple[str, ...] = ()  # only its builds for these; empty where all of them are alike
    note: str = ""  # what else to say of it: products of a compute capability


class Cell(Record, frozen=True, omit_defaults=False):
    """What is answered for a row and a column."""

    answer: str  # prebuilt, source, no, untested, undecided
    warnings: Tuple[str, ...] = ()  # ids of relations that warn of every build that fits


class Refusal(Record, frozen=True, omit_defaults=False):
    """Why cells are no: relations that together, or each alone, reject every build."""

    relations: Tuple[Citation, ...]
    of: Tuple[str, ...]  # the package that each is of
    why: Tuple[str, ...]  # in words, of the example
    cells: int  # pairs of releases, before rows and columns were folded
    row: str  # an example
    column: str


class Grid(Record, frozen=True, omit_defaults=False):
    """What fits what."""

    rows_of: str
    columns_of: str  # a package, "gpu" or "python"
    rows: Tuple[Line, ...]
    columns: Tuple[Line, ...]
    cells: Tuple[Tuple[Cell, ...], ...]  # a tuple for each row
    refusals: Tuple[Refusal, ...]
    open: Tuple[str, ...]  # what is not known, where that decides
    warned: Dict[str, str] = {}  # {id of a relation that warns: its words}


class Grids(Record, frozen=True, omit_defaults=False):
    """The grids that were asked for, and the machine that they are for."""

    world: Dict[str, str]  # {"Python": "3.8", "GPU": "A100", ...}; what is not in it is not asked
    grids: Tuple[Grid, ...]
