"""What a matrix file may contain. Scalars are text; `typed` gives them their type.

docs/matrices.md describes the same to people.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

import msgspec

from envdoctor.model.build import Specifier, Value
from envdoctor.model.relation import BASES, Words
from envdoctor.model.text import nearest, number
from envdoctor.model.versions import architecture, cuda_of_tag, parse, specifier


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the parts of a matrix file."""


T = TypeVar("T")
Scalar = Optional[str]
Raw = Union[str, None, List[Scalar]]


class BuildEntry(Entry, frozen=True):
    """Builds that exist, as a product: versions x cells x product."""

    id: str
    versions: Union[str, List[str], None] = None  # a specifier over `releases`, or a list
    each: Dict[str, Dict[str, Raw]] = {}  # instead: {version: its own attributes}
    set: Dict[str, Raw] = {}  # attributes that all of them share
    axes: List[str] = []  # attributes that the nested keys of `cells` give
    cells: Any = None
    product: Dict[str, List[str]] = {}  # {attribute: values}: each was built
    pypi: str = ""  # they are files on PyPI: those of an architecture, "any", or "sdist"
    page: str = ""  # a listing of `pages`, which says for each release which of `cells` there are
    install: str = ""  # pip's arguments for it
    source: Union[str, List[str]] = ""
    checked: str = ""
    basis: str = ""
    note: str = ""


class RelationEntry(Entry, frozen=True, rename={"condition": "for"}):
    """See model.relation.Relation."""

    id: str
    needs: str
    phase: str
    finding: str
    words: Words
    condition: str = ""
    severity: str = "error"
    source: Union[str, List[str]] = ""
    checked: str = ""
    basis: str = ""
    waiver: Dict[str, str] = {}
    probe: str = ""
    enforced: str = ""
    note: str = ""


class TableEntry(Entry, frozen=True):
    """Rows of typed columns, looked up by key."""

    rows: Dict[str, Dict[str, Raw]]
    columns: Dict[str, str] = {}
    key: str = ""  # type of the row's key: version if nothing is said
    source: Union[str, List[str]] = ""
    checked: str = ""
    basis: str = ""
    note: str = ""


class PageEntry(Entry, frozen=True):
    """A page of wheels to read: one for each combination of the attributes that its URL names."""

    url: str
    axes: List[str] = []  # attributes that tell its wheels apart, outermost first


class IndexEntry(Entry, frozen=True, rename={"since": "from"}):
    """What scripts/refresh looks for. It reads this part and writes `pypi` and `pages`."""

    since: str = ""  # the oldest release that is kept
    prereleases: str = ""  # a specifier of those that are kept
    asks: List[str] = []  # packages; what the metadata asks of them becomes an attribute
    pages: Dict[str, PageEntry] = {}


#: {specifier of releases: value}; the first that a release satisfies counts.
ByRelease = Dict[str, T]


class PyPIFiles(Entry, frozen=True):
    """What PyPI lists of a package. Written by scripts/refresh."""

    checked: str
    releases: List[str]
    yanked: List[str] = []  # those of them that its authors have withdrawn
    requires_python: ByRelease[str] = {}
    requires: Dict[str, ByRelease[str]] = {}  # by package; "" where nothing is asked of it
    # Linux wheels: {architecture or any: {releases: {oldest glibc, or "": Python tags}}}
    wheels: Dict[str, ByRelease[Dict[str, List[str]]]] = {}
    sdist: List[str] = []  # specifiers of the releases that have one


class Listing(Entry, frozen=True):
    """What a project's own pages list. Written by scripts/refresh."""

    checked: str
    # {release: {value of the first axis: ... {value of the last: Python tags}}}
    wheels: Dict[str, Any]


class PackageFile(Entry, frozen=True):
    """matrices/packages/NAME.yaml."""

    package: str
    checked: str
    releases: List[str] = []  # those that PyPI does not list
    modules: List[str] = []  # import names that it provides; the package's own if empty
    requires: List[str] = []  # components without which it cannot be imported
    framework: str = "false"  # whether others are compiled against it: true or false
    sources: Dict[str, str] = {}
    variant: Dict[str, str] = {}  # {attribute: type}
    # {attribute: {specifier of releases: value}} of all their builds that do not state another
    by_release: Dict[str, Dict[str, str]] = {}
    local: str = ""  # pattern of the local version part; its groups are attributes
    findings: Dict[str, str] = {}  # {relation of a platform: name of the finding here}
    builds: List[BuildEntry] = []
    relations: List[RelationEntry] = []
    basis: str = "documented"
    source: Union[str, List[str]] = ""
    note: str = ""
    index: IndexEntry = IndexEntry()
    pypi: Optional[PyPIFiles] = None
    pages: Dict[str, Listing] = {}


class PlatformFile(Entry, frozen=True):
    """matrices/platform/NAME.yaml."""

    platform: str
    checked: str
    accelerator: str = ""
    sources: Dict[str, str] = {}
    tables: Dict[str, TableEntry] = {}
    relations: List[RelationEntry] = []
    basis: str = "documented"
    source: Union[str, List[str]] = ""
    note: str = ""


def _cuda(text: str) -> Value:
    if text == "cpu" or text.startswith(("rocm", "xpu")):
        return text
    return parse(cuda_of_tag(text) if text.startswith("cu") else text)


def _series(text: str) -> Value:
    """A release series as it is, "1.13", or without its dot as tags have it: 113, 20, 210."""
    if "." in text:
        return parse(text)
    if not text.isascii() or not text.isdigit() or len(text) < 2:
        raise ValueError(f"{text!r} is no release series")
    return parse(f"{text[0]}.{text[1:]}")


def _int(text: str) -> Value:
    found = number(text.lstrip("-"))
    if found is None or text.startswith("--"):
        raise ValueError(f"a whole number is wanted, not {text!r}")
    return -found if text.startswith("-") else found


def _bool(text: str) -> Value:
    if text not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text == "true"


def _flag(text: str) -> Value:
    values = {"TRUE": 1, "FALSE": 0}  # as names of wheels write it: cxx11abiTRUE
    if text.upper() not in values:
        raise ValueError(f"{text!r} is neither TRUE nor FALSE")
    return values[text.upper()]


def _specifier(text: str) -> Value:
    specifier(text)
    return Specifier(text)


def _code(text: str) -> Value:
    raise ValueError(f"{text!r}: GPU code is read of files, no build states it")


def _basis(text: str) -> Value:
    if text not in BASES:
        raise ValueError(f"{text!r} is none of {', '.join(BASES)}")
    return text


_SCALARS: Dict[str, Callable[[str], Value]] = {
    "string": str,
    "int": _int,
    "bool": _bool,
    "flag": _flag,
    "version": parse,
    "series": _series,
    "cuda": _cuda,
    "specifier": _specifier,
    "basis": _basis,
    "code": _code,
}
_LISTS: Dict[str, Callable[[str], Value]] = {
    "strings": str,
    "versions": parse,
    "cudas": _cuda,
    "architectures": architecture,
}
TYPES: Tuple[str, ...] = (*_SCALARS, *_LISTS)


_WANTED = {
    "string": "text",
    "int": "a whole number",
    "bool": "true or false",
    "cuda": "a CUDA release",
}


def _said(raw: Any) -> str:
    """What was written instead of another thing."""
    if isinstance(raw, str):
        return repr(raw)
    return "nothing" if raw is None else "a list" if isinstance(raw, list) else "keys with values"


#: Attributes that every reader compares with these words, and what they are of.
CLOSED: Dict[str, Tuple[str, ...]] = {
    "origin": ("wheel", "source", "conda", "vendor"),
    "compiles": ("cuda", "c++", "c"),
}


def one_of(what: str, text: str, allowed: Sequence[str]) -> None:
    """Raise ValueError for a word that is none of those allowed."""
    if text not in allowed:
        near = nearest(text, allowed)
        raise ValueError(f"{what} is one of {', '.join(allowed)}, not {text!r}{near}")


def typed(kind: str, raw: Raw) -> Value:
    """The value of a raw scalar or list. Raises ValueError."""
    if kind in _LISTS:
        if not isinstance(raw, list):
            raise ValueError(f"a list is wanted, not {_said(raw)}")
        convert = _LISTS[kind]
        return tuple(convert(item or "") for item in raw)
    if kind not in _SCALARS:
        raise ValueError(f"{kind!r} is no type ({', '.join(TYPES)})")
    if not isinstance(raw, str):
        raise ValueError(f"{_WANTED.get(kind, f'a {kind}')} is wanted, not {_said(raw)}")
    return _SCALARS[kind](raw)
