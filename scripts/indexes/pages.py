"""Reads wheels that projects list on pages of their own: HTML with links, or a forge's JSON."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, Collection, Dict, Iterator, List, Mapping, Sequence, Set, Tuple
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name
from packaging.version import Version
from pypi_simple import RepositoryPage, UnsupportedRepoVersionError

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.knowledge.schema import Listing, PageEntry
from envdoctor.model.build import Value
from envdoctor.model.versions import cuda_tag, parse, series
from indexes.connection import Connection, UnreachableError, same_place, without_secrets
from indexes.wheels import Wheel, tag_order, wheel

_FIELD = re.compile(r"\{(torch|cuda\.tag)\}")
_MOST_PAGES = 50  # that one address may be continued on

Cell = Tuple[str, ...]


def read(
    package: Package,
    page: PageEntry,
    releases: Collection[Version],
    knowledge: Knowledge,
    connection: Connection,
    today: str,
) -> Listing:
    """What the pages list of these releases, for Linux on x86_64. Raises UnreachableError."""
    unknown = [axis for axis in page.axes if axis not in package.variant]
    if unknown:
        raise UnreachableError(f"{page.url}: variant: has no {', '.join(unknown)}")
    known = set(releases)
    found: Dict[Version, Dict[Cell, Set[str]]] = {}
    for values in _addresses(page.url, package, knowledge):
        url = page.url
        for field, value in values.items():
            url = url.replace(f"{{{field}}}", value)
        for name in _names(url, connection):
            own = wheel(name)
            if own is None or canonicalize_name(own.project) != package.name:
                continue
            version = Version(own.version.public)
            if own.architecture != "x86_64" or version not in known:
                continue
            cell = _cell(package, page.axes, values, own)
            if cell is not None:
                release = found.setdefault(version, {})
                release.setdefault(cell, set()).update(own.tags)
    if not found:
        raise UnreachableError(f"{page.url}: no wheel of {package.name} on any of its pages")
    # Releases are called what the package's list of them calls them, whatever the page does.
    return Listing(
        checked=today,
        wheels={str(v): _nested(found[v]) for v in sorted(known) if v in found},
    )


def _addresses(url: str, package: Package, knowledge: Knowledge) -> Iterator[Dict[str, str]]:
    """The values of the fields in a URL: those of torch's builds, and of the package's own."""
    fields = set(_FIELD.findall(url))
    if not fields:
        yield {"torch": "", "cuda.tag": ""}
        return
    chosen = set()
    torch_builds = knowledge.packages["torch"].builds() if "torch" in knowledge.packages else ()
    for build in torch_builds:
        if build.version is not None and "cuda" in build.attributes:
            torch = str(series(build.version)) if "torch" in fields else ""
            chosen.add((torch, _tag(build.attributes["cuda"]) if "cuda.tag" in fields else ""))
    if fields == {"cuda.tag"}:
        own = (build.attributes.get("cuda") for build in package.builds())
        chosen |= {("", _tag(cuda)) for cuda in own if cuda is not None}
    for torch, cuda in sorted(chosen, key=lambda pair: (parse(pair[0] or "0"), pair[1])):
        yield {"torch": torch, "cuda.tag": cuda}


def _tag(cuda: Value) -> str:
    return cuda if isinstance(cuda, str) else cuda_tag(cuda)  # type: ignore[arg-type]


def _names(url: str, connection: Connection) -> Iterator[str]:
    """Names of the files that a page lists; none where there is no such page."""
    place = url
    for number in range(_MOST_PAGES):
        answer = connection.get(place)
        if not answer.there:
            if number:
                raise UnreachableError(f"{url}: does not go on where it says that it does")
            return
        if "json" in answer.kind:
            yield from _of_json(answer.content, url)
        else:
            yield from _of_html(answer.content, answer.url)
        if not answer.following:
            return
        if not same_place(answer.following, url):
            raise UnreachableError(f"{url}: is said to go on at another server")
        place = answer.following
    raise UnreachableError(f"{url}: continued on more than {_MOST_PAGES} pages")


def _of_html(content: bytes, url: str) -> List[str]:
    """Names of the files that links lead to."""
    try:
        links = RepositoryPage.from_html(content.decode("utf-8", "replace"), base_url=url).links
        paths = [unquote(urlsplit(link.url).path) for link in links]
    except (ValueError, LookupError, RecursionError, UnsupportedRepoVersionError):
        raise UnreachableError(f"{without_secrets(url)}: cannot be read") from None
    return [path.rpartition("/")[2] for path in paths]


def _of_json(content: bytes, url: str) -> Iterator[str]:
    """Names of the assets of a list of releases."""
    try:
        releases = json.loads(content)
        for release in releases:
            for asset in release["assets"]:
                yield str(asset["name"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnreachableError(f"{url}: no list of releases with assets") from None


def _cell(package: Package, axes: Sequence[str], values: Mapping[str, str], own: Wheel) -> Any:
    """The values of the axes: what the local part of the version says, else what the URL says."""
    said: Dict[str, str] = {"torch": values["torch"], "cuda": values["cuda.tag"]}
    local = own.version.local or ""
    match = package.local.match(local) if package.local is not None else None
    if local and match is None:
        return None
    if match is not None:
        said.update({k: v for k, v in match.groupdict().items() if v is not None})
    if not all(said.get(axis) for axis in axes):
        return None
    try:
        return tuple(_spelt(axis, package.typed(axis, said[axis])) or said[axis] for axis in axes)
    except ValueError:
        return None


def _spelt(axis: str, value: Value) -> str:
    """A version in the one way that the matrices write it: torch 20 is 2.0; else ""."""
    if not isinstance(value, Version):
        return ""
    return cuda_tag(value) if axis == "cuda" else str(value)


def _nested(cells: Mapping[Cell, Set[str]]) -> Any:
    """{first axis: {... {last axis: tags}}}, in the order of numbers."""
    if () in cells:
        return sorted(cells[()], key=tag_order)
    nested: Dict[str, Any] = {}
    ordered = sorted(cells, key=lambda cell: [_numbers(value) for value in cell])
    for value, group in itertools.groupby(ordered, key=lambda cell: cell[0]):
        nested[value] = _nested({cell[1:]: cells[cell] for cell in group})
    return nested


def _numbers(text: str) -> List[Tuple[int, str]]:
    """A key by which 1.10 comes after 1.9, and cu102 before cu92 does not."""
    parts = re.findall(r"\d+|\D+", text)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
