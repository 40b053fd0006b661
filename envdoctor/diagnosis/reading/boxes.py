"""Makes ordinary tracebacks of the boxes that rich draws around them.

Of the source that it shows the line that was run is kept. A path too long for its box goes on in
the next line, as does the exception below it: they come as one. The values of variables, which may
be shown in a box within, are left out.
"""

from __future__ import annotations

import re
from typing import Dict, Iterable, Iterator, List, Optional

from envdoctor.diagnosis.reading.prefixes import Item

_TITLE = "Traceback (most recent call last)"
#: Corners and edges, as rich draws them with Unicode and without.
_TOP = re.compile(r" *[\u256d\u250c+][\u2500-]")
_BOTTOM = re.compile(r" *[\u2570\u2514+][\u2500-]{3,}[\u256f\u2518+]?$")
_SIDES = "\u2502|"
_WHERE = re.compile(r"(?P<path>\S.*?):(?P<line>\d{1,9}) in (?P<name>\S.*)$")
_PATH = re.compile(r"(?:/|~|\.|[A-Za-z]:\\|[\w.-]+[/\\])")
_CODE = re.compile(r" {0,8}(?P<run>[\u2771>])? {0,8}\d{1,9}(?:$| [\u2502 ]*(?P<code>.*)$)")
_MOST_JOINED = 20
_MOST_PATH = 1000
_MOST_BOXES = 256
_MOST_WAITING = 200
_WIDEST = 400
_EDGES = "\u256d\u250c\u2502\u2570\u2514+|"


class _Box:
    """A box of one source."""

    def __init__(self) -> None:
        self.is_open = False
        self.is_locals = False
        self.width = 0
        self.held: Optional[Item] = None  # goes on in the next line
        self.joined = 0
        self.is_below = False  # after a box: the exception


def opened(items: Iterable[Item]) -> Iterator[Item]:
    """The lines, without boxes, in their order."""
    boxes: Dict[str, _Box] = {}
    waiting: List[Item] = []  # for lines above them, which may go on
    for item in items:
        source = item.sources[-1] if item.sources else ""
        box = boxes.get(source)
        first = item.text.lstrip(" ")[:1]
        if first and first in _EDGES:
            if box is None:
                box = boxes[source] = _Box()
            waiting += _inside(item, box)
        elif box is None:
            if not boxes:
                yield item
                continue
            waiting.append(item)
        else:
            waiting += _outside(item, box)
            if box.held is None:
                del boxes[source]
        if len(waiting) > _MOST_WAITING or len(boxes) > _MOST_BOXES:
            waiting += [held for each in boxes.values() for held in _released(each)]
            if len(boxes) > _MOST_BOXES:
                boxes.clear()
        yield from _of_order(waiting, boxes)
    waiting += [held for each in boxes.values() for held in _released(each)]
    yield from _of_order(waiting, {})


def _of_order(waiting: List[Item], boxes: Dict[str, _Box]) -> Iterator[Item]:
    """Those of the lines that wait above which none is held."""
    held = [box.held.number for box in boxes.values() if box.held is not None]
    if held and waiting and waiting[0].number >= min(held):
        return
    waiting.sort(key=lambda item: item.number)
    count = len(waiting)
    if held:
        count = sum(item.number < min(held) for item in waiting)
    yield from waiting[:count]
    del waiting[:count]


def _inside(item: Item, box: _Box) -> List[Item]:
    text = item.text
    if _TITLE in text and _TOP.match(text):
        done = _released(box)
        box.is_open, box.is_locals, box.is_below = True, False, False
        box.width = len(text)
        item.text = _TITLE + ":"
        return [*done, item]
    if _BOTTOM.match(text):
        if not box.is_open and text.lstrip(" ")[0] in "+\u2514":
            return [*_released(box), item]
        done = _released(box)
        box.is_open, box.is_below, box.width = False, True, len(text)
        return done
    return _of_side(item, box)


def _of_side(item: Item, box: _Box) -> List[Item]:
    text = item.text.strip(" ")
    side = text[0]
    is_closed = len(text) > 1 and text[-1] == side
    if side not in _SIDES or not (box.is_open or (is_closed and side == _SIDES[0])):
        return [*_released(box), item]
    box.is_open = True
    inner = text[1:-1] if is_closed else text[1:]
    is_full = is_closed and inner[-2:-1] not in (" ", "")
    inner = inner.strip(" ") if is_full else inner.rstrip(" ")
    bare = inner.strip(" ")
    if box.is_locals or bare[:1] in ("\u256d", "\u250c"):
        box.is_locals = not _BOTTOM.match(bare)
        return []
    return _of_frame(item, box, inner[1:] if inner[:1] == " " else inner, is_full)


def _of_frame(item: Item, box: _Box, inner: str, is_full: bool) -> List[Item]:
    code = _CODE.match(inner)
    if code and box.held is None:
        if not code["run"]:
            return []
        item.text = "    " + (code["code"] or "")
        return [item]
    if not inner.strip():
        return _released(box)
    if box.held is not None:
        item, box.held = box.held, None
        is_one = box.joined < 0 and not inner.startswith("in ")
        item.text += ("" if is_one else " ") + inner.strip(" ")
    else:
        item.text = inner
        box.joined = 0
    where = _WHERE.match(item.text)
    if where:
        item.text = f'  File "{where["path"]}", line {where["line"]}, in {where["name"]}'
    elif _PATH.match(item.text) and len(item.text) < _MOST_PATH:
        box.held, box.joined = item, -1 if is_full else 0
        return []
    return [item]


def _outside(item: Item, box: _Box) -> List[Item]:
    """What stands below a box: the exception, which the width of the box wrapped."""
    if not box.is_below:
        return [*_released(box), item]
    held = box.held
    if held is None:
        if item.text:
            box.held, box.joined = item, len(item.text)
            return []
        return [item]
    last = box.joined  # length of its last line
    first = item.text.partition(" ")[0]
    is_wrapped = first and last <= box.width and last + 1 + len(first) > box.width
    if not is_wrapped or len(held.text) > _MOST_JOINED * min(box.width, _WIDEST):
        return [*_released(box), item]
    # A word of its own line that fills it was cut.
    is_cut = last == box.width and " " not in held.text[-last:]
    held.text += ("" if is_cut else " ") + item.text
    box.joined = len(item.text)
    return []


def _released(box: _Box) -> List[Item]:
    held, box.held = box.held, None
    return [held] if held is not None else []
