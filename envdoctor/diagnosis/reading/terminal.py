"""From the bytes of a line to what a terminal would have shown of it."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import List

from envdoctor.diagnosis.reading.blocks import HEAD, LEFT_OUT, MOST, TAIL

#: What a terminal obeys: CSI, OSC, DCS, SOS, PM and APC with their texts, codes of two characters.
_CODES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x1b"
)
_FORWARD = re.compile(r"\x1b\[(\d{0,4})C")
#: Colours whose escape character was lost on the way.
_LOST = re.compile(
    r"(?:\^\[|#033|\\x1b|\\e|\\033|\\u001b|\u241b|\u2190)\[[0-9;]{0,20}[mK]"
    r"|\[(?:0|0?[139];[0-9;]{1,16}|38;5;\d{1,3}|[39][0-7]|0?1;[39][0-7])m(?![ ]?\d+s)"
    r"|\[0?m"
)
_WIDEST = 200
_CJK = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


def text(data: bytes) -> str:
    """A line without its end: no control characters, tabs are four spaces."""
    line = _unwrapped(_decoded(data))
    if "\t" in line:
        line = line.replace("\t", "    ")
    if not line.isprintable():
        line = _printable(line)
    if "m" in line and "[" in line and _LOST.search(line):
        line = _LOST.sub("", line)
    if len(line) > MOST:  # spaces that codes stand for
        line = line[:HEAD] + LEFT_OUT.decode() + line[-TAIL:]
    return line.rstrip()


def _unwrapped(line: str) -> str:
    """What a line of Docker's own JSON log holds; any other line as it is."""
    if not line.startswith('{"log":"') or '"stream":"' not in line:
        return line
    try:
        held = json.loads(line)["log"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return line
    return held.rstrip("\r\n") if isinstance(held, str) else line


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    line = data.decode("utf-8", "replace")
    wrong = line.count("\ufffd")
    if wrong <= sum(char > "\x7f" for char in line) - wrong:
        return line  # a character or two that were cut
    try:
        other = data.decode("gbk")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
    foreign = [char for char in other if char > "\x7f"]
    if len(foreign) > 1 and all(_CJK.match(char) for char in foreign):
        return other
    return data.decode("cp1252", "replace")


def _printable(line: str) -> str:
    if "\x1b" in line or "\x9b" in line:
        if "C" in line:
            line = _FORWARD.sub(_spaces, line)
        line = _CODES.sub("", line)
    if "\b" in line:
        line = _overstruck(line)
    if line.isprintable():
        return line
    return "".join(char if char.isprintable() else _seen(char) for char in line)


def _spaces(code: re.Match[str]) -> str:
    return " " * min(int(code[1] or 1), _WIDEST)


def _overstruck(line: str) -> str:
    shown: List[str] = []
    for char in line.rstrip("\b"):
        if char != "\b":
            shown.append(char)
        elif shown:
            shown.pop()
    return "".join(shown)


def _seen(char: str) -> str:
    """What stands in for a character that is not printed."""
    kind = unicodedata.category(char)
    if kind in ("Zs", "Zl", "Zp") or char in "\v\f\x85\x1c\x1d\x1e":
        return " "
    return "" if kind in ("Cc", "Cf") else "\ufffd"
