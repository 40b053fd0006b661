"""What click prints of itself, in Chinese: its layout, with columns counted as a terminal does."""

from __future__ import annotations

from typing import Iterable, List, Optional, Tuple

import click
from rich.cells import cell_len
from rich.text import Text

from envdoctor.model.language import CHINESE, say, translate
from envdoctor.report.lines import wrapped

_SPACING = 2


class ChineseHelp(click.HelpFormatter):
    """click's formatter of help, for texts that are translated before they are wrapped."""

    def write_usage(self, prog: str, args: str = "", prefix: Optional[str] = None) -> None:
        """Write the line of usage, which is short."""
        del prefix
        self.write(say(CHINESE, "Usage: {command}", command=f"{prog} {args}".rstrip()) + "\n")

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self.write(" " * self.current_indent + say(CHINESE, f"{heading}:") + "\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        indent = " " * self.current_indent
        told = []
        for paragraph in text.split("\n\n"):
            chinese = translate(CHINESE, " ".join(paragraph.split()))
            told.append("\n".join(_lines(chinese, self.width, indent, indent)))
        self.write("\n\n".join(told) + "\n")

    def write_dl(
        self, rows: Iterable[Tuple[str, str]], col_max: int = 30, col_spacing: int = _SPACING
    ) -> None:
        """Write terms, each with what it means beside it, or below it where it is long."""
        listed = list(rows)
        indent = " " * self.current_indent
        column = min(max(cell_len(term) for term, _ in listed), col_max) + col_spacing
        for term, meaning in listed:
            first = f"{indent}{term}".ljust(len(indent) + column)
            rest = " " * (len(indent) + column)
            if cell_len(term) > column - col_spacing:
                self.write(f"{indent}{term}\n")
                first = rest
            lines = _lines(translate(CHINESE, meaning), self.width, first, rest)
            self.write("\n".join(lines or [first.rstrip()]) + "\n")


def chinese_usage(error: click.ClickException) -> str:
    """An error of usage as click tells it."""
    said = translate(CHINESE, error.format_message())
    told = say(CHINESE, "Error: {message}", message=said) + "\n"
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return told
    context.formatter_class = ChineseHelp
    return f"{context.get_usage()}\n\n{told}"


def _lines(text: str, width: int, first: str, rest: str) -> List[str]:
    return [line.plain for line in wrapped(Text(text), width, first, rest)]
