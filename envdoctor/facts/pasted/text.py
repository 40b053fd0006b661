"""The lines of a pasted text, without what trackers, terminals and loggers put around them."""

from __future__ import annotations

import html
import re
from typing import List, NamedTuple, Optional, Tuple

#: Characters of a line that are read; the longest that tools print is a build's settings.
_LONGEST = 20_000
#: Longest name of a fact before its colon.
_KEY = 70

_END = re.compile(r"\r\n|\n|\r")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_HTML = re.compile(
    r"</?(?:a|b|blockquote|br|center|code|details|div|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span"
    r"|strong|sub|summary|sup|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]{0,300})?/?>|<!--|-->",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?:> ?)+(?!>)")
_PROMPT = re.compile(r">>> ?|In \[\d{1,5}\]: ?|\.\.\. ")
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY = r"(?:\d{4}[-/])?\d\d[-/]\d\d"
_LEVEL = r"(?:DEBUG|INFO|WARNING|ERROR)"
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        # mmdet, mmengine: 2020-07-31 22:39:16,038 - mmdet - INFO -
        rf"{_DAY}[ T]{_TIME} - [\w.-]{{1,60}} - {_LEVEL} - ?",
        # detectron2: [11/01 11:18:17 detectron2]:
        rf"\[{_DAY} {_TIME} [\w. -]{{1,60}}\]:? ?",
        # vllm: INFO 03-31 14:02:42 [__init__.py:239]
        rf"{_LEVEL} {_DAY} {_TIME} \[?[^\]]{{1,80}}\] ?",
        # CI and containers: 2023-01-01T00:00:00.0000000Z
        rf"{_DAY}T{_TIME}Z ",
        rf"{_DAY} {_TIME} (?:\| )?{_LEVEL} {{0,8}}[|:-]? ?",
        # launchers: (worker pid=1), [rank0]:, [1,0]<stdout>:
        r"\([\w ]{0,40}pid=\d{1,9}(?:, [^()]{0,60})?\) ?",
        r"\[(?:rank)?\d{1,5}(?:,\d{1,5})?\](?:<std(?:out|err)>)?: ?",
    )
)
_STARTS = tuple("0123456789[(DIWE")
_PRINTED_KEY = re.compile(r"""(?:^|[{(,]) ?\(?(['"])([\w .,/()#+$-]{1,60})\1(?:: |, )""")
_BULLET = re.compile(r"(?:[-*+•·] {1,4}|\d{1,2}[.)] )(?=\S)")
_BOXED = re.compile(r"([A-Za-z][\w ./()?-]{0,69}?) ?[:\uff1a]? ?\[([^\[\]]{1,300})\]\s{0,20}")
_GAP = re.compile(r"\s{2,}|\t")
_MARKS = str.maketrans("", "", "*`\"'")


class Line(NamedTuple):
    """A line without its wrapping; `raw` keeps its blanks, for tables."""

    number: int  # counted from one, in the text as it was pasted
    text: str
    raw: str
    listed: bool = False  # an item of a list, whose sign was taken off


class Pair(NamedTuple):
    """A line that gives a fact's name and its value; the name is in small letters."""

    line: Line
    key: str
    value: str


def lines(text: str) -> List[Line]:
    """The lines that hold something. A printed dictionary becomes one line an entry."""
    found: List[Line] = []
    for number, written in enumerate(_END.split(text.lstrip("\ufeff")), 1):
        if not written or written.isspace():
            continue
        for part in _printed(_unwrapped(written[:_LONGEST])):
            raw = part.rstrip()
            stripped = raw.strip()
            if not stripped.strip("`~"):
                continue
            bullet = _BULLET.match(stripped)
            plain = stripped[bullet.end() :] if bullet else stripped
            found.append(Line(number, plain, raw, bullet is not None))
    return found


def _unwrapped(line: str) -> str:
    line = _COLOUR.sub("", line).replace("\xa0", " ").expandtabs()
    if "<" in line:
        line = _HTML.sub(" ", line)
    if "&" in line:
        line = html.unescape(line)
    stripped = line.lstrip()
    quoted = _QUOTED.match(stripped)
    if quoted and not stripped.startswith(">>>"):
        line = stripped[quoted.end() :]
    stripped = line.lstrip()
    for _ in range(3):
        if not stripped.startswith(_STARTS):
            break
        match = next((m for m in (p.match(stripped) for p in _PREFIXES) if m), None)
        if match is None:
            break
        line = stripped = stripped[match.end() :]
    return line


def _printed(line: str) -> List[str]:
    """The entries of a dictionary that Python printed, each as "key: value"."""
    start = line.lstrip()
    if not start.startswith(("{'", '{"', "'", "OrderedDict([", "('", "[('", '"')):
        return [line]
    keys = list(_PRINTED_KEY.finditer(start))
    if not keys:
        return [line]
    found = []
    for key, following in zip(keys, [*keys[1:], None]):
        value = start[key.end() : following.start() if following else len(start)]
        value = value.strip().rstrip(",)}]").strip()
        if len(value) > 1 and value[0] in "'\"":
            value = value[1:].rstrip("'\"")
        parts = value.replace("\\t", " ").split("\\n")
        found += [f"{key[2]}: {parts[0]}", *parts[1:]]
    return found


def pair(line: Line) -> Optional[Pair]:
    """The fact that a line names, in any of the ways in which people write that."""
    text = line.text
    prompt = _PROMPT.match(text)
    if prompt or text.startswith(("$ ", "# ", "(base) ", "pip install", "conda install")):
        return None
    split = _cells(text) or _boxed(text) or _table(text) or _colon(text)
    if split is None:
        return None
    key = " ".join(split[0].translate(_MARKS).lower().split())
    value = split[1].strip().strip("*`").strip()
    return Pair(line, key, value) if key and len(key) <= _KEY else None


def _cells(text: str) -> Optional[Tuple[str, str]]:
    """A row of a Markdown table with two columns."""
    if not text.startswith("|"):
        return None
    cells = [cell.strip() for cell in text.strip("|").split("|")]
    return (cells[0].rstrip(":"), cells[1]) if len(cells) == 2 else None


def _boxed(text: str) -> Optional[Tuple[str, str]]:
    """A form's "GPU model [GTX 1080Ti]"."""
    match = _BOXED.fullmatch(text) if text.rstrip().endswith("]") else None
    return (match[1], match[2]) if match else None


def _table(text: str) -> Optional[Tuple[str, str]]:
    """Two columns with blanks between, "CUDA_HOME    /usr/local/cuda"."""
    gap = _GAP.search(text)
    if gap is None or ":" in text[: gap.start()]:
        return None
    return text[: gap.start()], text[gap.end() :].lstrip(":= ")


def _colon(text: str) -> Optional[Tuple[str, str]]:
    for sign in (":", "\uff1a", " = ", "="):
        key, found, value = text[:_LONGEST].partition(sign)
        if found and len(key) <= _KEY:
            return (key, value) if not value.startswith("//") else None
    return None
