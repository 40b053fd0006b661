"""Grids of what fits what: one package's releases against another's, GPUs or interpreters."""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Value
from envdoctor.model.finding import Citation
from envdoctor.model.grid import Cell, Grid, Line, Refusal
from envdoctor.model.language import ENGLISH, translate
from envdoctor.model.versions import cuda_tag, parse, sm
from envdoctor.relations.components import PYTHON
from envdoctor.relations.devices import products
from envdoctor.relations.explained import told_why
from envdoctor.relations.judge import Bound, Relations
from envdoctor.relations.question import NO, UNDECIDED, Part, Question, World
from envdoctor.relations.wanted import Wanted, WantedError, read_wanted

#: What columns may be of instead of a package.
GPU = "gpu"
AXES = (GPU, PYTHON)


class _Unit(NamedTuple):
    """What a row or a column is of, before it is folded."""

    release: Version
    cuda: str = ""


#: A column of machines: its unit, what the machine has, and what that is called.
_Machine = Tuple[_Unit, Value, str]


class _Asked(NamedTuple):
    """One cell of which the answer was asked."""

    kind: str
    warnings: Tuple[Bound, ...]
    part: Part


def grid(
    rows: Wanted,
    columns: str,
    world: World,
    relations: Relations,
    language: str = ENGLISH,
    own_gpus: bool = False,
) -> Grid:
    """The releases of a package against those of another, or against one of AXES.

    With `own_gpus` the GPUs are those of the world alone. Raises WantedError and QuestionError.
    """
    if columns in AXES:
        if columns == PYTHON:
            values = _pythons(relations.knowledge)
        else:
            values = _gpus_of(world) if own_gpus else _gpus(relations.knowledge)
        return _AgainstMachines(rows, columns, values, world, relations, language).grid()
    wanted = read_wanted(columns, relations.knowledge)
    if wanted.name == rows.name:
        raise WantedError(f"{rows.name} is named twice")
    return _AgainstPackage(rows, wanted, world, relations, language).grid()


def default_axis(name: str, relations: Relations) -> str:
    """What a package alone is shown against: GPUs where it has code for them, else Pythons."""
    speaks = any(bound.decides_running("host.gpu") for bound in relations.of(name))
    return GPU if speaks else PYTHON


class _Gridding:
    """Cells, and how they are folded."""

    def __init__(self, rows: str, columns: str, relations: Relations, language: str) -> None:
        self.names = rows, columns
        self.relations = relations
        self.knowledge: Knowledge = relations.knowledge
        self.language = language
        self.rows: List[_Unit] = []
        self.columns: List[_Unit] = []
        self.notes: Mapping[_Unit, str] = {}
        self.cells: Dict[Tuple[_Unit, _Unit], _Asked] = {}

    def grid(self) -> Grid:
        rows = self._folded_rows()
        columns = self._folded_columns(rows)
        cells = tuple(tuple(self._cell(row[0][0], column[0]) for column in columns) for row in rows)
        asked = self.cells.values()
        open_ = dict.fromkeys(
            text for cell in asked if cell.kind == UNDECIDED for text in cell.part.answer().open[:1]
        )
        return Grid(
            rows_of=self.names[0],
            columns_of=self.names[1],
            rows=tuple(self._row_line(row) for row in rows),
            columns=tuple(self._column_line(column) for column in columns),
            cells=cells,
            refusals=tuple(self._refusals()),
            open=tuple(translate(self.language, text) for text in open_),
            warned=self._warned(),
        )

    def _cell(self, row: _Unit, column: _Unit) -> Cell:
        asked = self.cells[row, column]
        return Cell(asked.kind, tuple(bound.relation.id for bound in asked.warnings))

    # --- folding ---------------------------------------------------------------------------------

    def _alike(self, row: _Unit) -> Tuple[object, ...]:
        """What tells a row from others."""
        return tuple(self._cell(row, column) for column in self.columns)

    def _folded_rows(self) -> List[List[List[_Unit]]]:
        """Rows: for each the units of each of its releases."""
        by_release: Dict[Version, List[List[_Unit]]] = {}
        for unit in self.rows:
            lines = by_release.setdefault(unit.release, [])
            same = next((line for line in lines if self._alike(line[0]) == self._alike(unit)), None)
            if same is None:
                lines.append([unit])
            else:
                same.append(unit)
        found: List[List[List[_Unit]]] = []
        before: object = None
        start = 0
        for lines in by_release.values():
            cudas = [tuple(u.cuda for u in line) if len(lines) > 1 else () for line in lines]
            now = [(cuda, self._alike(line[0])) for cuda, line in zip(cudas, lines)]
            if now == before:
                for row, line in zip(found[start:], lines):
                    row.append(line)
            else:
                start = len(found)
                found += [[line] for line in lines]
            before = now
        return found

    def _folded_columns(self, rows: Sequence[Sequence[Sequence[_Unit]]]) -> List[List[_Unit]]:
        found: List[List[_Unit]] = []
        before: object = None
        for unit in self.columns:
            now = [self._cell(row[0][0], unit) for row in rows]
            if found and now == before:
                found[-1].append(unit)
            else:
                found.append([unit])
            before = now
        return found

    def _row_line(self, row: Sequence[Sequence[_Unit]]) -> Line:
        first, last = row[0][0].release, row[-1][0].release
        every = [unit.cuda for unit in self.rows if unit.release == first]
        cudas = tuple(unit.cuda for unit in row[0])
        return Line(str(first), str(last), len(row), cudas if len(cudas) < len(every) else ())

    def _column_line(self, column: Sequence[_Unit]) -> Line:
        notes = dict.fromkeys(self.notes.get(unit, "") for unit in column)
        note = "; ".join(note for note in notes if note)
        return Line(str(column[0].release), str(column[-1].release), len(column), (), note)

    # --- reasons ---------------------------------------------------------------------------------

    def _refusals(self) -> List[Refusal]:
        """Why cells are no, those of one reason together, the most frequent first."""
        found: Dict[Tuple[Bound, ...], List[Tuple[_Unit, _Unit]]] = {}
        for (row, column), asked in self.cells.items():
            if asked.kind == NO:
                found.setdefault(asked.part.refusal(), []).append((row, column))
        listed = sorted(found.items(), key=lambda one: -len(one[1]))
        return [self._refusal(bounds, cells) for bounds, cells in listed]

    def _refusal(self, bounds: Sequence[Bound], cells: Sequence[Tuple[_Unit, _Unit]]) -> Refusal:
        row, column = cells[len(cells) // 2]
        answer = self.cells[row, column].part.answer()
        why = tuple(told_why(reason, self.relations, self.language) for reason in answer.because)
        pairs = {(one.release, other.release) for one, other in cells}
        cited = tuple(self._citation(bound) for bound in bounds)
        shown = f"{row.release}+{_tag(row.cuda)}" if row.cuda else str(row.release)
        owners = tuple(bound.owner for bound in bounds)
        return Refusal(cited, owners, why, len(pairs), shown, str(column.release))

    def _citation(self, bound: Bound) -> Citation:
        return self.knowledge.citations[bound.relation.id]

    def _warned(self) -> Dict[str, str]:
        found: Dict[str, str] = {}
        for asked in self.cells.values():
            if any(bound.relation.id not in found for bound in asked.warnings):
                for reason in asked.part.answer().warnings:
                    why = told_why(reason, self.relations, self.language)
                    found.setdefault(reason.bound.relation.id, why)
        return found


def _tag(cuda: str) -> str:
    return cuda_tag(parse(cuda)) if cuda[:1].isdigit() else cuda


class _AgainstPackage(_Gridding):
    def __init__(
        self,
        rows: Wanted,
        columns: Wanted,
        world: World,
        relations: Relations,
        language: str,
    ) -> None:
        super().__init__(rows.name, columns.name, relations, language)
        question = Question([rows, columns], world, relations)
        splits = any(
            "cuda" in bound.reads.get(rows.name, ()) for bound in relations.of(columns.name)
        )
        self.rows, of_rows = _units(question, rows.name, with_cuda=splits)
        self.columns, of_columns = _units(question, columns.name, with_cuda=False)
        is_first = question.first == rows.name
        for row in self.rows:
            for column in self.columns:
                first, rest = (of_rows[row], of_columns[column])
                if not is_first:
                    first, rest = rest, first
                mask = sum(1 << n for n in first)
                part = Part(question, [(n, mask) for n in rest])
                self.cells[row, column] = _Asked(*part.kind(), part)


class _AgainstMachines(_Gridding):
    """Releases against worlds that differ in the GPU or the interpreter."""

    def __init__(
        self,
        rows: Wanted,
        axis: str,
        values: Sequence[_Machine],
        world: World,
        relations: Relations,
        language: str,
    ) -> None:
        super().__init__(rows.name, axis, relations, language)
        component = "host.gpu" if axis == GPU else PYTHON
        self.notes = {unit: note for unit, _, note in values}
        self.columns = [unit for unit, _, _ in values]
        for unit, value, _ in values:
            domains = {**world.domains, component: (value,)}
            vendor = "nvidia" if axis == GPU else world.accelerator
            question = Question([rows], World(domains, vendor), relations)
            units, of_rows = _units(question, rows.name, with_cuda=True)
            self.rows = units
            for row in units:
                mask = sum(1 << n for n in of_rows[row])
                part = Part(question, [(0, mask)])
                self.cells[row, unit] = _Asked(*part.kind(), part)


def _units(
    question: Question, name: str, with_cuda: bool
) -> Tuple[List[_Unit], Dict[_Unit, List[int]]]:
    """The units of a package, the oldest first, and where their builds stand in the question.

    A release of which no build is known (one that was withdrawn) is left out.
    """
    if name == question.first:
        builds: Sequence[Build] = question.own
    else:
        builds = [choice[question.rest.index(name)] for choice in question.choices]
    found: Dict[_Unit, List[int]] = {}
    package = question.knowledge.packages[name]
    for n, build in enumerate(builds):
        known = build.version is not None and build.version <= package.newest
        if build.version is not None and not (known and question.is_unlisted(build)):
            cuda = build.attributes.get("cuda") if with_cuda else None
            unit = _Unit(build.version, "" if cuda is None else str(cuda))
            found.setdefault(unit, []).append(n)
    return sorted(found, key=lambda unit: (unit.release, _order(unit.cuda))), found


def _order(cuda: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in cuda.split(".")) if cuda[:1].isdigit() else ()


def _gpus_of(world: World) -> List[_Machine]:
    """A device of each compute capability of the world's, with the names of all of them."""
    gpus = world.domains.get("host.gpu", (ABSENT,))[0]
    of: Dict[Version, List[Build]] = {}
    for gpu in gpus if isinstance(gpus, tuple) else ():
        capability = gpu.attributes.get("cc") if isinstance(gpu, Build) else None
        if isinstance(gpu, Build) and isinstance(capability, Version):
            of.setdefault(capability, []).append(gpu)
    return [
        (_Unit(capability), (devices[0],), ", ".join(dict.fromkeys(d.label for d in devices)))
        for capability, devices in sorted(of.items())
    ]


def _gpus(knowledge: Knowledge) -> List[_Machine]:
    """A device of each compute capability that some product has."""
    found: List[_Machine] = []
    for capability, names in products(knowledge).items():
        device = Build("host.gpu", None, {"cc": capability}, label=sm(capability))
        found.append((_Unit(capability), (device,), names[0]))
    return found


def _pythons(knowledge: Knowledge) -> List[_Machine]:
    found: List[_Machine] = []
    for series, row in sorted(knowledge.tables["python"].rows.items(), key=lambda r: str(r[0])):
        if isinstance(series, Version):
            python = Build(PYTHON, series, {"tag": row.get("tag", ABSENT)}, label=str(series))
            found.append((_Unit(series), python, ""))
    return sorted(found, key=lambda one: one[0].release)


def described(world: World, columns: Sequence[str] = ()) -> Dict[str, str]:
    """What a world says, in the words of reports, less what stands in the columns.

    What is not known is left out.
    """
    found: Dict[str, str] = {}
    shown = {GPU: "host.gpu", PYTHON: PYTHON}
    for component, name in _TOLD.items():
        if component in {shown.get(column) for column in columns}:
            continue
        value = world.domains.get(component, (ABSENT,))[0]
        text = _text(value)
        if text is not None:
            found[name] = text
    return found


#: Components of a world that decide what fits, and what they are called.
_TOLD = {
    "host.gpu": "GPU",
    "host.driver": "driver",
    PYTHON: "Python",
    "host.glibc": "glibc",
    "host.architecture": "processor",
    "build.toolkit": "nvcc",
    "build.gcc": "gcc",
}


def _text(value: Value) -> Optional[str]:
    if isinstance(value, Build):
        return value.label
    if isinstance(value, tuple):
        names = [one.label for one in value if isinstance(one, Build)]
        return ", ".join(dict.fromkeys(names)) or None
    return str(value) if isinstance(value, (Version, str)) else None
