"""Pieces of a line that were printed one after the other: behind progress, behind a header."""

from __future__ import annotations

import re
from typing import Iterable, Iterator, List

from envdoctor.diagnosis.reading.prefixes import Item, is_warning
from envdoctor.diagnosis.reading.selection import Raw
from envdoctor.diagnosis.reading.terminal import text

_HEADER = "Traceback (most recent call last):"
#: Lines that were written as one, as the text of an exception or JSON is.
_ESCAPED = "(most recent call last):\\n"
_BREAK = re.compile(r"(?<!\\)(?:\\r)?\\n")
_ESCAPES = re.compile(r"\\([\\'\"tr])")
#: Lines come apart into so many pieces, and all lines together.
_MOST_OF_LINE, _MOST_PIECES = 300, 10_000
#: What is printed again and again on one line of a terminal.
_PROGRESS = re.compile(
    r"\d ?%|it/s|s/it|[kKMG]i?B/s|\b(?:ETA|eta)\b|[\u2501\u2588-\u258f\u2800-\u28ff]|[#=.>-]{4}"
    r"|\d ?/ ?\d|^\s*[-|/\\]?$"
)
#: Bars of tqdm and of mmcv, at whose end something else may have been printed.
_BARS = (
    re.compile(r"\d{1,3}%\|[^|]{0,400}\| {0,2}[^\s\[]{1,40} \[[^\]]{0,200}\]"),
    re.compile(r"\b\d{1,9}it \[[^\]]{0,200}\]"),
    re.compile(r"\[[> ]{1,200}\] \d{1,12}/\d{1,12}(?:, [^,]{1,40}){1,3}ETA: {0,6}\d{1,12}s"),
)


def lines(raws: Iterable[Raw]) -> Iterator[Item]:
    """The lines, as a terminal shows them; progress that was overwritten is left out."""
    gap = False
    for raw in raws:
        gap = gap or raw.gap
        whole = text(raw.data)
        if raw.is_overwritten and (not whole or _PROGRESS.search(whole)):
            whole = _behind_bar(whole)
            if not whole.strip():
                continue
        yield Item(raw.number, whole, gap)
        gap = False


def apart(items: Iterable[Item]) -> Iterator[Item]:
    """The lines, of which those that were printed one behind the other come apart."""
    last = pieces = 0
    for item in items:
        parts = _parts(item.text) if pieces < _MOST_PIECES else [item.text]
        if len(parts) > 1:
            pieces += len(parts)
            for part in parts[:_MOST_OF_LINE]:
                piece = Item(item.number, part, item.gap)
                piece.sources = item.sources
                yield piece
                item.gap = False
        elif item.text or item.number != last:
            yield item
        last = item.number


def _behind_bar(line: str) -> str:
    """What was printed behind a bar."""
    end = 0
    for pattern in _BARS:
        for match in pattern.finditer(line):
            end = max(end, match.end())
    return line[end:] if end else ""


def _parts(line: str) -> List[str]:
    """What stands on a line, apart."""
    if _ESCAPED in line and line.count("\\n") > 1:
        whole = [_ESCAPES.sub(_unescaped, part) for part in _BREAK.split(line)]
        return [part.rstrip() for piece in whole for part in _apart(piece)]
    return _apart(line)


def _unescaped(escape: re.Match[str]) -> str:
    return {"t": "    ", "r": ""}.get(escape[1], escape[1])


def _apart(line: str) -> List[str]:
    parts: List[str] = []
    if "%|" in line or "ETA" in line or "it [" in line:
        rest = _behind_bar(line)
        if rest.strip():
            parts.append(line[: len(line) - len(rest)])
            line = rest
    at = line.find(_HEADER)
    if at >= 0 and not is_warning(line[:at]):
        if line[:at].strip() not in ("", "Original"):
            parts.append(line[:at].rstrip())
            line = line[at:]
            at = 0
        end = at + len(_HEADER)
        if line[end:].strip():
            parts.append(line[:end])
            line = line[end:]
    parts.append(line)
    return parts
