"""Pages of findings, for people and for programs: one page, or the list of them."""

from __future__ import annotations

import re
from typing import Iterator, List, Sequence

import msgspec

from envdoctor import __version__
from envdoctor.model.finding import SCHEMA_VERSION
from envdoctor.model.language import ENGLISH, say
from envdoctor.report.json import encode
from envdoctor.report.view import View
from envdoctor.rules.page import Page

# Lines that stay as they are: headings, tables, quotations, indented code.
_FIXED = re.compile(r"[#|>]|    ")
_ITEM = re.compile(r"\s{0,3}([-*]|\d+\.)\s+")
_CODE = re.compile(r"`[^`]*`")
# Stands for the spaces of inline code while a paragraph is filled, so that a command stays whole.
_GLUE = "\ue000"
# The end of a line before which, or after which, Chinese goes on.
_WIDE = "\u2e80-\u9fff\uff00-\uff65"
_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}])\n(?=[{_WIDE}])|(?<=[\u3000-\u303f\uff00-\uff65])\n")


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
    language: str  # of titles
    rules: List[Listed]


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `explain --format json` prints. `body` is Markdown."""

    schema_version: int
    command: str
    envdoctor_version: str
    matrices_date: str
    language: str  # of title and body
    code: str
    name: str
    severity: str
    severities: List[str]
    phase: str
    title: str
    facts: List[str]
    body: str


def explanation_json(page: Page, matrices_date: str, language: str = ENGLISH) -> str:
    """A page as JSON."""
    output = Explanation(
        schema_version=SCHEMA_VERSION,
        command="explain",
        envdoctor_version=__version__,
        matrices_date=matrices_date,
        language=language,
        code=page.code,
        name=page.name,
        severity=page.severity,
        severities=list(page.severities),
        phase=page.phase,
        title=page.title_in(language),
        facts=page.facts,
        body=page.body_in(language),
    )
    return encode(msgspec.to_builtins(output))


def listing_json(pages: Sequence[Page], matrices_date: str, language: str = ENGLISH) -> str:
    """All pages in short as JSON."""
    output = Listing(
        schema_version=SCHEMA_VERSION,
        command="check",
        envdoctor_version=__version__,
        matrices_date=matrices_date,
        language=language,
        rules=[
            Listed(
                code=page.code,
                name=page.name,
                severity=page.severity,
                severities=list(page.severities),
                phase=page.phase,
                title=page.title_in(language),
            )
            for page in pages
        ],
    )
    return encode(msgspec.to_builtins(output))


def explanation_text(page: Page, view: View, language: str = ENGLISH) -> str:
    """A page as text: its Markdown, paragraphs filled to the width."""
    head = _head("{code} {name} ({severities}, phase {phase})", page, language)
    title = _filled(page.title_in(language), view.width)
    return "\n".join([head, *title, "", *_body(page.body_in(language), view.width)])


def listing_text(pages: Sequence[Page], view: View, language: str = ENGLISH) -> str:
    """All pages in short as text, one after the other."""
    lines = []
    for page in pages:
        head = _head("{code} {name} ({severities}, {phase})", page, language)
        title = _filled(page.title_in(language), view.width - 6)
        lines += [head, *(" " * 6 + line for line in title)]
    return "\n".join([*lines, ""])


def _head(template: str, page: Page, language: str) -> str:
    return say(
        language,
        template,
        code=page.code,
        name=page.name,
        severities=say(language, " or ".join(page.severities)),
        phase=say(language, page.phase),
    )


def _body(markdown: str, width: int) -> Iterator[str]:
    """The lines of a page's Markdown, paragraphs and list items filled to the width."""
    paragraph: List[str] = []
    fenced = False
    for line in [*markdown.strip().splitlines(), ""]:
        fence = line.startswith("```")
        fixed = fenced or fence or not line or _FIXED.match(line)
        if paragraph and (fixed or _ITEM.match(line)):
            yield from _filled(_joined(paragraph), width)
            paragraph = []
        if fixed:
            yield line
        else:
            paragraph.append(line if not paragraph else line.strip())
        fenced ^= fence


def _filled(text: str, width: int) -> List[str]:
    from rich.text import Text

    from envdoctor.report.lines import wrapped

    item = _ITEM.match(text)
    first = item.group() if item else ""
    glued = _CODE.sub(lambda code: code.group().replace(" ", _GLUE), text[len(first) :])
    lines = wrapped(Text(glued), width, first, " " * len(first))
    return [line.plain.replace(_GLUE, " ") for line in lines]


def _joined(lines: Sequence[str]) -> str:
    """The lines of a paragraph as one; between Chinese characters stands no space."""
    return _BETWEEN_WIDE.sub("", "\n".join(lines)).replace("\n", " ")
