"""Lines of text, wrapped so that what a reader copies stays whole."""

from __future__ import annotations

import io
import re
from typing import Iterable, Iterator, List

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from envdoctor.report.view import View

# What a line is never broken inside: a word, or one wide character, with the punctuation that
# belongs to it.
_WIDE = "\u2e80-\u2fff\u3003-\u3007\u3021-\ua4cf\uac00-\ud7ff\uf900-\ufaff"
_FULL_STOPS = "\u3001\u3002\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
_OPENING = "\u2018\u201c\u300a\u300c\u300e\u3010\uff08"
_CLOSING = f"\u2019\u201d{_FULL_STOPS}"
_WORD = rf"[^\s{_WIDE}{_OPENING}{_FULL_STOPS}]+"
_PIECE = re.compile(
    rf"[{_OPENING}]*(?:[{_WIDE}][])}},.;:!?]*|{_WORD})[{_CLOSING}]*"
    rf"|[{_OPENING}]+|[{_FULL_STOPS}]+|\s+"
)


def wrapped(text: Text, width: int, first: str = "", rest: str = "") -> List[Text]:
    """`text` as lines of at most `width` columns that begin with `first`, then with `rest`.

    Both are as wide as each other. A word that is longer than a line (a path, a symbol) overflows
    and is never broken.
    """
    lines: List[Text] = []
    for line in text.divide(_breaks(text.plain, width - cell_len(first))):
        line.rstrip()
        lines.append(Text.assemble(rest if lines else first, line))
    return lines


def _breaks(text: str, width: int) -> Iterator[int]:
    """Where lines of at most `width` columns begin, the first left out."""
    column = 0
    for piece in _PIECE.finditer(text):
        columns = cell_len(piece.group())
        if column and column + columns > width and not piece.group().isspace():
            yield piece.start()
            column = 0
        column += columns


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
