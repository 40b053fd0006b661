"""Grids as people and programs read them, and as a page: on small, invented matrices."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple

import jsonschema
import pytest
from rich.cells import cell_len
from small_machines import bare

import envdoctor.report
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.finding import Citation
from envdoctor.model.grid import Cell, Grid, Grids, Line, Refusal
from envdoctor.relations.assume import assume
from envdoctor.relations.grid import described, grid
from envdoctor.relations.judge import Relations
from envdoctor.relations.question import world_of
from envdoctor.relations.wanted import read_wanted
from envdoctor.report import matrix as report
from envdoctor.report.sources import Matrices
from envdoctor.report.view import View

GOLDEN = Path(__file__).resolve().parent / "golden"
SCHEMA = Path(envdoctor.report.__file__).resolve().parent / "schemas" / "matrix.json"

MATRICES = Matrices("2026-01-01")

#: {golden file: rows, columns, what is assumed, columns of the terminal}
CASES: Dict[str, Tuple[str, Tuple[str, ...], Tuple[str, ...], int]] = {
    "pair": ("torch", ("mmcv-full",), ("python=3.8",), 80),
    "narrow": ("torch", ("torchvision",), (), 40),
    "gpu": ("torch", ("gpu",), (), 80),
    "three": ("mmcv-full", ("torch", "mmdet"), ("gpu=a100",), 80),
}


def grids(knowledge: Knowledge, name: str, language: str) -> Grids:
    rows, others, assumed, _ = CASES[name]
    relations = Relations(knowledge)
    world = world_of(assume(bare(), assumed, knowledge), knowledge)
    wanted = read_wanted(rows, knowledge)
    found = tuple(grid(wanted, other, world, relations, language) for other in others)
    return Grids(described(world, others), found)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", CASES)
def test_what_people_read(
    known_machines: Knowledge, name: str, language: str, golden: Callable[[Path, str], None]
) -> None:
    width = CASES[name][3]
    view = View(width=width)
    text = report.as_text(grids(known_machines, name, language), MATRICES, view, language)
    golden(GOLDEN / f"matrix_{name}{'_zh' if language == 'zh' else ''}.txt", text)
    assert [line for line in text.splitlines() if cell_len(line) > width] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page(
    known_machines: Knowledge, language: str, golden: Callable[[Path, str], None]
) -> None:
    page = report.as_html(grids(known_machines, "pair", language), MATRICES, language)
    golden(GOLDEN / f"matrix_pair{'_zh' if language == 'zh' else ''}.html", page)


@pytest.mark.parametrize("name", CASES)
def test_what_programs_read_obeys_the_schema(known_machines: Knowledge, name: str) -> None:
    data = json.loads(report.as_json(grids(known_machines, name, "en"), MATRICES, "en"))
    shipped = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)
    assert (data["command"], data["matrices_date"]) == ("matrix", "2026-01-01")
    for one in data["matrix"]["grids"]:
        assert [len(row) for row in one["cells"]] == [len(one["columns"])] * len(one["rows"])


class Read(HTMLParser):
    """What a browser sees: tags, attributes, texts; and whether all that is opened is closed."""

    VOID = ("meta", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: List[str] = []
        self.tags: List[str] = []
        self.attributes: List[Tuple[str, Optional[str]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def test_a_page_needs_nothing_else_and_can_be_read_aloud(known_machines: Knowledge) -> None:
    page = report.as_html(grids(known_machines, "three", "en"), MATRICES, "en")
    read = Read(page)
    assert read.open == []
    assert not {"script", "link", "img", "iframe", "object"} & set(read.tags)
    assert not {"src", "href"} & {name for name, _ in read.attributes}
    assert "url(" not in page
    assert "@import" not in page
    assert read.tags.count("table") == read.tags.count("caption") == 2
    assert ("lang", "en") in read.attributes
    assert {value for name, value in read.attributes if name == "scope"} == {"col", "row"}
    for word in ("prebuilt", "source", "no"):  # cells say it in words, not in colours alone
        assert word in read.text


EVIL = "<script>alert(1)</script>\"'&{{ 7*7 }}{% raw %}\x1b[31m\u202e"


def test_hostile_texts_stay_texts() -> None:
    cited = Citation(EVIL, EVIL, EVIL, "measured")
    lines = (Line(EVIL, EVIL, 1, (EVIL,), EVIL),)
    cells = ((Cell("no", (EVIL,)),),)
    refusal = Refusal((cited,), (EVIL,), (EVIL,), 1, EVIL, EVIL)
    one = Grid(EVIL, EVIL, lines, lines, cells, (refusal,), (EVIL,), {EVIL: EVIL})
    evil = Grids({"Python": EVIL}, (one,))
    page = report.as_html(evil, MATRICES, "en")
    read = Read(page)
    assert read.open == []
    assert "script" not in read.tags
    assert "<script>alert(1)</script>" in read.text
    assert "{{ 7*7 }}" in read.text
    for text in (page, report.as_text(evil, MATRICES, View(), "en")):
        assert "\x1b" not in text
        assert "\u202e" not in text
    json.loads(report.as_json(evil, MATRICES, "en"))


def test_one_column_is_shown_however_narrow_it_is(known_machines: Knowledge) -> None:
    found = grids(known_machines, "pair", "en")
    text = report.as_text(found, MATRICES, View(width=10), "en")
    assert text.count("\ntorch ") == len(found.grids[0].columns)


def test_rows_are_folded_anew_on_each_page() -> None:
    def line(first: str, last: str, *cuda: str) -> Line:
        return Line(first, last, 2, cuda)

    yes, no = Cell("prebuilt"), Cell("no")
    one = Grid(
        "a",
        "b",
        (line("1", "2"), line("3", "4", "11.8"), line("3", "4", "12.1"), line("5", "6")),
        (line("1", "1"), line("2", "2")),
        ((yes, no), (yes, no), (yes, yes), (yes, no)),
        (),
        (),
    )
    text = report.as_text(Grids({}, (one,)), MATRICES, View(width=20), "en")
    assert text.splitlines()[4:12] == [
        "a              1",
        "1 to 6  prebuilt",
        "",
        "a                    2",
        "1 to 2              no",
        "3 to 4  11.8        no",
        "3 to 4  12.1  prebuilt",
        "5 to 6              no",
    ]
