"""What names of wheels say, as the matrices write it."""

from __future__ import annotations

import re
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Set, Tuple

from packaging.tags import Tag
from packaging.utils import parse_wheel_filename
from packaging.version import Version

ANY = "any"
ARCHITECTURES = ("x86_64", "aarch64")
_ALIASES = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_PLATFORM = re.compile(
    r"(?P<policy>linux|manylinux1|manylinux2010|manylinux2014|manylinux_(?P<glibc>[0-9]{1,3}_[0-9]{1,3}))"
    r"_(?P<architecture>x86_64|aarch64)"
)
_CPYTHON = re.compile(r"cp3([0-9]{1,2})")
_PYTHON = re.compile(r"py3[0-9]{0,2}")
_LONGEST = 255  # characters of a file's name
HUGE = re.compile(r"\d{19}")  # more digits than a version has, and some thousand than Python reads
_OLDEST = 6  # of Python 3


class Wheel(NamedTuple):
    """A wheel for Linux."""

    project: str
    version: Version
    tags: FrozenSet[str]  # cp38, cp313t, cp39-abi3, py3
    architecture: str  # or ANY
    glibc: str  # the oldest that its platform tag allows; "" where it says nothing


def plain_version(text: str) -> Optional[Version]:
    """A version, or None for text that is none, or whose numbers nobody would choose."""
    if len(text) > _LONGEST or HUGE.search(text):
        return None
    try:
        return Version(text)
    except ValueError:
        return None


def wheel(name: str) -> Optional[Wheel]:
    """What a file name says, or None where it is no wheel for CPython 3.6+ on glibc Linux."""
    if len(name) > _LONGEST or HUGE.search(name):
        return None
    try:
        project, version, _, tags = parse_wheel_filename(name)
    except ValueError:
        return None
    pythons = {python for tag in tags for python in [_python(tag)] if python}
    places = {place for tag in tags for place in [_platform(tag.platform)] if place}
    if not pythons or not places:
        return None
    architecture, glibc = min(places, key=lambda place: (_numbers(place[1]), place))
    return Wheel(project, version, frozenset(pythons), architecture, glibc)


def _python(tag: Tag) -> str:
    """The Python tag as the matrices write it, "" for one that they do not know."""
    interpreter, abi = tag.interpreter, tag.abi
    if _PYTHON.fullmatch(interpreter):
        return interpreter if abi == "none" else ""
    match = _CPYTHON.fullmatch(interpreter)
    if match is None:
        return ""
    if abi == "abi3":
        return f"cp3{max(int(match[1]), _OLDEST)}-abi3"
    if int(match[1]) < _OLDEST:
        return ""
    if abi in (interpreter, interpreter + "m", "none"):
        return interpreter
    return abi if abi == interpreter + "t" else ""


def _platform(text: str) -> Optional[Tuple[str, str]]:
    if text == ANY:
        return (ANY, "")
    match = _PLATFORM.fullmatch(text)
    if match is None:
        return None
    glibc = (match["glibc"] or "").replace("_", ".") or _ALIASES.get(match["policy"], "")
    return (match["architecture"], glibc)


def _numbers(text: str) -> List[int]:
    return [int(part) for part in text.split(".") if part]


def tag_order(tag: str) -> Tuple[int, str]:
    """A key that sorts Python tags as people read them: cp38, cp310, cp313, cp313t, py3."""
    match = _CPYTHON.match(tag)
    return (int(match[1]) if match else 1000, tag)


def by_glibc(wheels: Iterable[Wheel]) -> Dict[str, List[str]]:
    """{oldest glibc: Python tags}; a Python stands with the oldest glibc that it can be had for."""
    found: Dict[str, List[str]] = {}
    seen: Set[str] = set()
    ordered = sorted(wheels, key=lambda w: (_numbers(w.glibc), w.glibc))
    for glibc in dict.fromkeys(w.glibc for w in ordered):
        tags = {tag for w in ordered if w.glibc == glibc for tag in w.tags} - seen
        seen |= tags
        if tags:
            found[glibc] = sorted(tags, key=tag_order)
    return found
