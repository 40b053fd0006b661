"""Grids of what fits what, for people, for programs, and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import msgspec
from rich.cells import cell_len
from rich.text import Text

from envdoctor import __version__
from envdoctor.model.finding import SCHEMA_VERSION
from envdoctor.model.grid import Cell, Grid, Grids, Line, Refusal
from envdoctor.model.language import count, say
from envdoctor.model.text import clean
from envdoctor.report.json import encode
from envdoctor.report.lines import apart, printed, wrapped
from envdoctor.report.sources import Matrices, MatricesAnswer, told_added
from envdoctor.report.view import View

_TEMPLATE = Path(__file__).resolve().parent / "templates" / "matrix.html"
_LONG = 20_000
#: Reasons that are told, unless all is asked for.
_REASONS = 6

#: What cells say, and what that means.
_CELLS: Dict[str, Tuple[str, str]] = {
    "prebuilt": ("prebuilt", "a wheel that exists fits as it is"),
    "source": ("source", "only a build from source can fit"),
    "no": ("no", "nothing that is known fits"),
    "untested": ("untested", "newer than the matrices"),
    "undecided": ("?", "it cannot be told"),
}
_WARNED = "*"
_STYLES = {"prebuilt": "green", "source": "yellow", "no": "dim", "untested": "blue"}


class GridsAnswer(MatricesAnswer, frozen=True, forbid_unknown_fields=True):
    """What `matrix --format json` prints."""

    matrix: Grids


def as_json(grids: Grids, matrices: Matrices, language: str) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/matrix.json."""
    added = list(matrices.added)
    answer = GridsAnswer(
        SCHEMA_VERSION, "matrix", __version__, matrices.date, added, language, grids
    )
    return encode(msgspec.to_builtins(answer))


def as_text(grids: Grids, matrices: Matrices, view: View, language: str) -> str:
    """Tables as wide as the view, each with its reasons; ended by a newline."""
    return printed(_Telling(view, language).grids(grids, matrices), view)


def as_html(grids: Grids, matrices: Matrices, language: str) -> str:
    """One page that needs nothing else, no script either; ended by a newline."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(_Telling(View(), language).page(grids, matrices)) + "\n"


class _Row(NamedTuple):
    """A row of a page of columns."""

    label: str
    cells: Tuple[Cell, ...]


class _Telling:
    def __init__(self, view: View, language: str) -> None:
        self.view = view
        self.language = language

    def grids(self, grids: Grids, matrices: Matrices) -> Iterator[Text]:
        for number, grid in enumerate(grids.grids):
            if number:
                yield Text()
            head = say(self.language, "matrices of {date}", date=matrices.date)
            yield from apart(Text(self._title(grid), "bold"), Text(head, "dim"), self.view.width)
            yield from told_added(matrices, self.view, self.language)
            yield from self._wrapped(self._world(grids))
            yield from self._tables(grid)
            yield from self._notes(grid)
            yield from self._refusals(grid)
        yield Text()
        yield from self._legend(grids)

    # --- words -----------------------------------------------------------------------------------

    def _say(self, template: str, **values: object) -> str:
        return say(self.language, template, **values)

    def _title(self, grid: Grid) -> str:
        names = {"gpu": self._say("GPUs"), "python": "Python"}
        columns = names.get(grid.columns_of, grid.columns_of)
        return clean(self._say("{rows} by {columns}", rows=grid.rows_of, columns=columns))

    def _world(self, grids: Grids) -> str:
        if not grids.world:
            return self._say("For any machine.")
        told = self._say(", ").join(
            f"{self._say(name)} {clean(value)}" for name, value in grids.world.items()
        )
        return self._say("For {machine}. What is not named here is not asked.", machine=told)

    def _label(self, line: Line) -> str:
        first, last = clean(line.first), clean(line.last)
        if first == last:
            return first
        return self._say("{first} to {last}", first=first, last=last)

    def _cell(self, cell: Cell) -> str:
        return self._say(_CELLS[cell.answer][0]) + (_WARNED if cell.warnings else "")

    # --- tables ----------------------------------------------------------------------------------

    def _tables(self, grid: Grid) -> Iterator[Text]:
        """The columns in as many tables as the width asks for, in each alike rows as one."""
        start = 0
        while start < len(grid.columns):
            end, rows, labels = self._page(grid, start)
            yield Text()
            yield from self._table(grid, grid.columns[start:end], rows, labels)
            start = end

    def _notes(self, grid: Grid) -> Iterator[Text]:
        """What columns are, besides their numbers."""
        told = [f"{self._label(c)}: {clean(c.note)}" for c in grid.columns if c.note]
        if told:
            yield Text()
            yield from self._wrapped(self._say("; ").join(told))

    def _page(self, grid: Grid, start: int) -> Tuple[int, List[_Row], int]:
        """How many columns fit from `start` on; the rows, folded; how wide their labels are."""
        widths = [self._width(grid, number) for number in range(len(grid.columns))]
        end = len(grid.columns)
        while end > start + 1 and sum(widths[start:end]) > self.view.width:
            end -= 1
        while True:
            rows = self._folded(grid, start, end)
            labels = max([cell_len(row.label) for row in rows] + [cell_len(grid.rows_of)])
            if end <= start + 1 or labels + sum(widths[start:end]) <= self.view.width:
                return end, rows, labels
            end -= 1

    def _width(self, grid: Grid, number: int) -> int:
        column = grid.columns[number]
        texts = [column.first, column.last, *(self._cell(row[number]) for row in grid.cells)]
        return max(map(cell_len, texts)) + 2

    def _folded(self, grid: Grid, start: int, end: int) -> List[_Row]:
        """Rows that these columns do not tell apart, together; of a release all or no builds."""
        blocks: List[List[int]] = []  # rows of the same releases
        for number, row in enumerate(grid.rows):
            last = grid.rows[blocks[-1][0]] if blocks else None
            if last is not None and (last.first, last.last) == (row.first, row.last):
                blocks[-1].append(number)
            else:
                blocks.append([number])
        found: List[_Row] = []
        whole: List[Tuple[Line, Line]] = []  # of the last row, if it is of all builds
        for block in blocks:
            kinds: Dict[Tuple[Cell, ...], List[int]] = {}
            for number in block:
                kinds.setdefault(grid.cells[number][start:end], []).append(number)
            line = grid.rows[block[0]]
            if len(kinds) > 1:
                whole = []
                for cells, numbers in kinds.items():
                    cudas = [cuda for number in numbers for cuda in grid.rows[number].cuda]
                    label = f"{self._label(line)}  {' '.join(map(clean, cudas))}"
                    found.append(_Row(label, cells))
                continue
            (cells,) = kinds
            if whole and found[-1].cells == cells:
                first = whole[0][0]
                merged = msgspec.structs.replace(first, last=line.last)
                found[-1] = _Row(self._label(merged), cells)
            else:
                whole = [(line, line)]
                found.append(_Row(self._label(line), cells))
        return found

    def _table(
        self, grid: Grid, columns: Sequence[Line], rows: Sequence[_Row], labels: int
    ) -> Iterator[Text]:
        first = grid.columns.index(columns[0])
        widths = [self._width(grid, first + n) for n in range(len(columns))]
        heads = [self._heads(column) for column in columns]
        for level in range(max(map(len, heads))):
            name = grid.rows_of if level == 0 else ""
            line = Text(_padded(clean(name), labels), "bold")
            for head, width in zip(heads, widths):
                text = head[level] if level < len(head) else ""
                line.append(" " * (width - cell_len(text)) + text, "bold")
            line.rstrip()
            yield line
        for row in rows:
            line = Text(_padded(row.label, labels))
            for cell, width in zip(row.cells, widths):
                text = self._cell(cell)
                line.append(" " * (width - cell_len(text)))
                line.append(text, _STYLES.get(cell.answer, ""))
            yield line

    def _heads(self, column: Line) -> List[str]:
        first, last = clean(column.first), clean(column.last)
        return [first] if first == last else [first, self._say("to"), last]

    # --- what is below ---------------------------------------------------------------------------

    def _refusals(self, grid: Grid) -> Iterator[Text]:
        if grid.refusals:
            yield Text()
            yield Text(self._say("Why no"), "bold")
        limit = len(grid.refusals) if self.view.verbose else _REASONS
        for refusal in grid.refusals[:limit]:
            yield from self._indented(self._refusal_head(grid, refusal), "  ")
            for cited, why in zip(refusal.relations, self._whys(refusal)):
                basis = self._say(cited.basis)
                text = f"{why}  [{clean(cited.id)}, {basis}]"
                if self.view.verbose:
                    checked = self._say("checked {date}", date=cited.checked)
                    source = clean(cited.source, _LONG)
                    text = f"{why}  [{clean(cited.id)}, {basis}, {checked}] {source}"
                yield from self._indented(text, "    ")
        if len(grid.refusals) > limit:
            more = len(grid.refusals) - limit
            yield Text(f"  {self._say('and {number} more (--verbose)', number=more)}")
        if grid.warned:
            yield Text()
            yield Text(self._say("{mark} It fits, but", mark=_WARNED), "bold")
        for name, why in grid.warned.items():
            yield from self._indented(f"{clean(why, _LONG)}  [{clean(name)}]", "  ")
        if grid.open:
            yield Text()
        for text in grid.open:
            yield from self._wrapped(clean(f"? {text}", _LONG))

    def _whys(self, refusal: Refusal) -> Iterator[str]:
        for package, why in zip(refusal.of, refusal.why):
            told = why if why.startswith(f"{package} ") else f"{package}{self._say(': ')}{why}"
            yield clean(told, _LONG)

    def _refusal_head(self, grid: Grid, refusal: Refusal) -> str:
        pairs = count(self.language, refusal.cells, "{number} pair", "{number} pairs")
        return self._say(
            "{pairs}, as {row} and {column}:",
            pairs=pairs,
            row=clean(f"{grid.rows_of} {refusal.row}"),
            column=clean(f"{grid.columns_of} {refusal.column}"),
        )

    def _legend(self, grids: Grids) -> Iterator[Text]:
        used = {c.answer for grid in grids.grids for row in grid.cells for c in row}
        for answer, (text, said) in _CELLS.items():
            if answer in used:
                yield from self._wrapped(f"{self._say(text)}: {self._say(said)}")

    def _wrapped(self, text: str) -> List[Text]:
        return wrapped(Text(text), self.view.width)

    def _indented(self, text: str, indent: str) -> List[Text]:
        return wrapped(Text(text), self.view.width, indent, indent)

    # --- a page ----------------------------------------------------------------------------------

    def page(self, grids: Grids, matrices: Matrices) -> Dict[str, Any]:
        """What fills the template. Nothing of it is markup."""
        titles = [self._title(grid) for grid in grids.grids]
        date = self._say("matrices of {date}", date=matrices.date)
        return {
            "lang": "zh-CN" if self.language == "zh" else "en",
            "title": self._say(", ").join(titles),
            "intro": self._world(grids),
            "grids": [self._page_grid(grid, title) for grid, title in zip(grids.grids, titles)],
            "legend": [
                {"text": self._say(text), "said": self._say(said)} for text, said in _CELLS.values()
            ],
            "words": {
                "why": self._say("Why no"),
                "warned": self._say("{mark} It fits, but", mark=_WARNED),
                "legend": self._say("What the cells say"),
            },
            "footer": f"envdoctor {__version__}, {date}",
            "added": [line.plain for line in told_added(matrices, self.view, self.language)],
        }

    def _page_grid(self, grid: Grid, title: str) -> Dict[str, Any]:
        caption = self._say(
            "rows: releases of {rows}; columns: {columns}",
            rows=clean(grid.rows_of),
            columns=clean(grid.columns_of),
        )
        rows = [
            {
                "label": self._label(line),
                "note": f"CUDA {' '.join(map(clean, line.cuda))}" if line.cuda else "",
                "cells": [
                    {
                        "answer": cell.answer,
                        "text": self._cell(cell),
                        "warnings": " ".join(map(clean, cell.warnings)),
                    }
                    for cell in cells
                ],
            }
            for line, cells in zip(grid.rows, grid.cells)
        ]
        return {
            "title": title,
            "caption": caption,
            "columns": [{"label": self._label(c), "note": clean(c.note)} for c in grid.columns],
            "rows": rows,
            "refusals": [self._page_refusal(grid, refusal) for refusal in grid.refusals],
            "warned": [
                {"id": clean(name), "text": clean(why, _LONG)} for name, why in grid.warned.items()
            ],
            "open": [clean(text, _LONG) for text in grid.open],
        }

    def _page_refusal(self, grid: Grid, refusal: Refusal) -> Dict[str, Any]:
        told = []
        for cited, why in zip(refusal.relations, self._whys(refusal)):
            checked = self._say("checked {date}", date=clean(cited.checked))
            told.append(
                {
                    "text": why,
                    "id": clean(cited.id),
                    "about": f", {self._say(cited.basis)}, {checked}",
                    "source": clean(cited.source, _LONG),
                }
            )
        return {"head": self._refusal_head(grid, refusal), "why": told}


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
