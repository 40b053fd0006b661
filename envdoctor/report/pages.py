"""Pages of findings, for people and for programs: one page, or the list of them."""

from __future__ import annotations

import re
import textwrap
from typing import Iterator, List, Sequence

import msgspec

from envdoctor import __version__
from envdoctor.model.finding import SCHEMA_VERSION
from envdoctor.report.json import encode
from envdoctor.report.view import View
from envdoctor.rules.page import Page

# Lines that stay as they are: headings, tables, quotations, indented code.
_FIXED = re.compile(r"[#|>]|    ")
_ITEM = re.compile(r"\s{0,3}([-*]|\d+\.)\s+")
_CODE = re.compile(r"`[^`]*`")
# Stands for the spaces of inline code while a paragraph is filled, so that a command stays whole.
_GLUE = "\0"


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `check --list-rules --format json`."""

    code: str
    name: str
    severity: str
    severities: List[str]
    phase: str
    title: str


class Listing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `check --list-rules --format json` prints."""

    schema_version: int
    command: str
    envdoctor_version: str
    matrices_date: str
    rules: List[Listed]


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `explain --format json` prints. `body` is Markdown."""

    schema_version: int
    command: str
    envdoctor_version: str
    matrices_date: str
    code: str
    name: str
    severity: str
    severities: List[str]
    phase: str
    title: str
    facts: List[str]
    body: str


def explanation_json(page: Page, matrices_date: str) -> str:
    """A page as JSON."""
    output = Explanation(
        schema_version=SCHEMA_VERSION,
        command="explain",
        envdoctor_version=__version__,
        matrices_date=matrices_date,
        code=page.code,
        name=page.name,
        severity=page.severity,
        severities=list(page.severities),
        phase=page.phase,
        title=page.title,
        facts=page.facts,
        body=page.body,
    )
    return encode(msgspec.to_builtins(output))


def listing_json(pages: Sequence[Page], matrices_date: str) -> str:
    """All pages in short as JSON."""
    output = Listing(
        schema_version=SCHEMA_VERSION,
        command="check",
        envdoctor_version=__version__,
        matrices_date=matrices_date,
        rules=[
            Listed(p.code, p.name, p.severity, list(p.severities), p.phase, p.title) for p in pages
        ],
    )
    return encode(msgspec.to_builtins(output))


def explanation_text(page: Page, view: View) -> str:
    """A page as text: its Markdown, paragraphs filled to the width."""
    head = f"{page.code} {page.name} ({_severities(page)}, phase {page.phase})"
    return "\n".join([head, *_filled(page.title, view.width), "", *_body(page.body, view.width)])


def listing_text(pages: Sequence[Page], view: View) -> str:
    """All pages in short as text, one after the other."""
    lines = []
    for page in pages:
        lines.append(f"{page.code} {page.name} ({_severities(page)}, {page.phase})")
        lines += [" " * 6 + line for line in _filled(page.title, view.width - 6)]
    return "\n".join([*lines, ""])


def _severities(page: Page) -> str:
    return " or ".join(page.severities)


def _body(markdown: str, width: int) -> Iterator[str]:
    """The lines of a page's Markdown, paragraphs and list items filled to the width."""
    paragraph: List[str] = []
    fenced = False
    for line in [*markdown.strip().splitlines(), ""]:
        fence = line.startswith("```")
        fixed = fenced or fence or not line or _FIXED.match(line)
        if paragraph and (fixed or _ITEM.match(line)):
            yield from _filled(" ".join(paragraph), width)
            paragraph = []
        if fixed:
            yield line
        else:
            paragraph.append(line if not paragraph else line.strip())
        fenced ^= fence


def _filled(text: str, width: int) -> List[str]:
    item = _ITEM.match(text)
    glued = _CODE.sub(lambda code: code.group().replace(" ", _GLUE), text)
    lines = textwrap.wrap(
        glued,
        width,
        subsequent_indent=" " * (item.end() if item else 0),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in lines]
