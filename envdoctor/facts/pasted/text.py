"""The lines of a pasted text, without what trackers, terminals and loggers put around them."""

from __future__ import annotations

import html
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from envdoctor.model.text import plain_digits

#: Characters of a line that are read; the longest that tools print is a build's settings.
_LONGEST = 20_000
#: Longest name of a fact before its colon.
_KEY = 70

_END = re.compile(r"\r\n|\n|\r")
#: What colours a terminal; trackers lose the first character.
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|\[(?:\d{1,2};){0,3}\d{1,2}m")
#: Blanks of other widths, and marks of no width.
_BLANKS: Dict[int, str] = {
    **dict.fromkeys(map(ord, "\xa0\u2002\u2003\u2009\u202f\u3000"), " "),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u2060\ufe0f\ufeff"), ""),
}
_HTML = re.compile(
    r"</?(?:a|b|blockquote|br|center|code|details|div|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span"
    r"|strong|sub|summary|sup|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]{0,300})?/?>|<!--|-->",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?:> ?)+(?!>)")
_PROMPT = re.compile(r">>> ?|In \[\d{1,5}\]: ?|\.\.\. ")
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY = r"(?:\d{4}[-/])?\d\d[-/]\d\d"
_LEVEL = r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)"
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
        # loguru: 2023-05-05 10:10:10.123 | INFO     | module:function:12 -
        rf"{_DAY} {_TIME} \| {_LEVEL} {{0,8}}\| [\w.:<>-]{{1,80}} - ?",
        rf"{_DAY} {_TIME} {{1,4}}(?:\| )?{_LEVEL} {{0,8}}[|:-]? ?",
        # deepspeed: [2024-01-09 07:02:25,093] [INFO] [real_accelerator.py:161:get_accelerator]
        rf"\[{_DAY} {_TIME}\] {{0,2}}\[{_LEVEL}\] {{0,2}}(?:\[[^\]]{{1,80}}\] ?)?",
        # glog, as paddle writes: W0412 09:12:33.115432  4021 gpu_resources.cc:61]
        rf"[IWEF]\d{{4}} {_TIME} {{1,6}}\d{{1,9}} [\w.]{{1,60}}:\d{{1,6}}\] ?",
        # Python's logging without a format: INFO:mmdet:
        rf"{_LEVEL}:[\w.]{{1,60}}: ?",
        # launchers: (worker pid=1), [rank0]:, [1,0]<stdout>:
        r"\([\w ]{0,40}pid=\d{1,9}(?:, [^()]{0,60})?\) ?",
        r"\[(?:rank)?\d{1,5}(?:,\d{1,5})?\](?:<std(?:out|err)>)?: ?",
    )
)
_STARTS = tuple("0123456789[(DIWEFC")
_PRINTED_KEY = re.compile(r"""(?:^|[{(,]) ?\(?(['"])([\w .,/()#+$-]{1,60})\1(?:: |, )""")
_BULLET = re.compile(r"(?:[-*+•·] {1,4}|\d{1,2}[.)] )(?=\S)")
_BOXED = re.compile(r"([A-Za-z][\w ./()?-]{0,69}?) ?[:\uff1a]? ?\[([^\[\]]{1,300})\]\s{0,20}")
_GAP = re.compile(r"\s{2,}|\t")
#: deepspeed's "torch version .................... 2.1.2"
_DOTTED = re.compile(r"([a-z][\w ()/.-]{2,40}?) \.{3,40} (\S.{0,300})")
_MARKS = str.maketrans("", "", "*`\"'")
#: What forms add to a question, "PyTorch Version (e.g., 1.0)".
_EXAMPLE = re.compile(r" ?\((?:e\.g|eg|i\.e|for example)[^()]{0,60}\)")
_HEADING = re.compile(r"#{1,6} {1,3}(\S.{0,60}?) ?#{0,6}|\*\*([^*]{1,60})\*\*[:\uff1a]?")
#: Longer names first: they hold the shorter ones.
_CHINESE = {
    "操作系统": "os",
    "系统版本": "os",
    "显卡驱动版本": "driver version",
    "显卡驱动": "driver",
    "驱动版本": "driver version",
    "显卡型号": "gpu",
    "显卡": "gpu",
    "驱动": "driver",
    "版本号": "version",
    "版本": "version",
}


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
    line = _COLOUR.sub("", line).translate(_BLANKS).expandtabs()
    if "<" in line:
        line = _HTML.sub(" ", line)
    if "&" in line:
        line = html.unescape(line)
    line = plain_digits(line)
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
    before, mark, _ = start.partition(": {'")
    if mark and before == "Environment info":
        start = start[len(before) + 2 :]
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
    split = _dotted(text) or _cells(text) or _boxed(text) or _table(text) or _colon(text)
    if split is None:
        return None
    key = _key(split[0])
    value = split[1].strip().strip("*`").strip()
    return Pair(line, key, value) if key and len(key) <= _KEY else None


def headed(lines: List[Line]) -> List[Pair]:
    """The facts that a form asks for in a heading and that stand in the line below it."""
    found = []
    for line, following in zip(lines, lines[1:]):
        match = _HEADING.fullmatch(line.text)
        if match and not following.text.startswith(("#", "**", "|", "_No response_")):
            key = _key((match[1] or match[2]).rstrip(" :?\uff1a"))
            found.append(Pair(following, key, following.text.strip("*` ")))
    return found


def _key(text: str) -> str:
    """A name in small letters, in English where it is one of those that forms have in Chinese."""
    key = " ".join(_EXAMPLE.sub("", text.translate(_MARKS).lower()).split())
    for chinese, english in _CHINESE.items():
        if chinese in key:
            key = " ".join(key.replace(chinese, f" {english} ").split())
    return key


def _dotted(text: str) -> Optional[Tuple[str, str]]:
    match = _DOTTED.fullmatch(text) if " .." in text else None
    return (match[1], match[2]) if match else None


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
