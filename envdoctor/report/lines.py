"""Lines of text, wrapped so that what a reader copies stays whole."""

from __future__ import annotations

import io
from typing import Iterable, List

from rich.console import Console
from rich.text import Text

from envdoctor.report.view import View

_MEASURE = Console(file=io.StringIO(), width=80)


def wrapped(text: Text, width: int, first: str = "", rest: str = "") -> List[Text]:
    """`text` as lines of at most `width` columns that begin with `first`, then with `rest`.

    Both are as long as each other. A word that is longer than a line (a path, a symbol) overflows
    and is never broken.
    """
    lines: List[Text] = []
    for line in text.wrap(_MEASURE, max(width - len(first), 1), overflow="ignore"):
        line.rstrip()
        lines.append(Text.assemble(rest if lines else first, line))
    return lines


def apart(left: Text, right: Text, width: int) -> List[Text]:
    """One line with `right` at its end; two lines where both do not fit."""
    gap = width - left.cell_len - right.cell_len
    if gap >= 2:
        return [Text.assemble(left, " " * gap, right)]
    return [left, Text.assemble(" " * max(width - right.cell_len, 0), right)]


def printed(lines: Iterable[Text], view: View) -> str:
    """Lines as what is written to a terminal or a file."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=view.width,
        force_terminal=view.colour,
        color_system="standard" if view.colour else None,
        no_color=not view.colour,
        legacy_windows=False,
        highlight=False,
    )
    for line in lines:
        console.print(line, soft_wrap=True)
    return stream.getvalue()
