"""Reads indexes of packages (PEP 503, 691) and pages of wheels: which files there are."""

from __future__ import annotations

import html.parser
import json
import os
import re
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urlsplit

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from envdoctor.actions.settings import Settings
from envdoctor.actions.web import UnreachableError, Web, joined, origin, shown
from envdoctor.model.versions import satisfies, try_parse, try_specifier

_JSON = "application/vnd.pypi.simple.v1+json"
_ACCEPT = ", ".join((_JSON, "application/vnd.pypi.simple.v1+html;q=0.2", "text/html;q=0.1"))
_MOST_FILES = 50_000
_LONGEST_NAME = 300
_HASH = re.compile(r"(sha256|sha384|sha512)=([0-9a-f]{64,128})")
_LOCAL_PAGE = 32 * 2**20


class File(NamedTuple):
    """A distribution on an index or a page."""

    name: str
    url: str
    package: str
    version: Version
    tags: FrozenSet[Tag] = frozenset()  # of a wheel; none of sources
    build: Tuple[int, str] = (-1, "")
    hashes: Tuple[Tuple[str, str], ...] = ()
    requires_python: str = ""
    yanked: bool = False
    metadata: bool = False  # it can be read beside the file (PEP 658)
    listed: str = ""  # on which index or page; empty for the usual one, PyPI or its mirror

    @property
    def sdist(self) -> bool:
        """Whether it holds sources."""
        return not self.tags


class Platform(NamedTuple):
    """What wheels must fit."""

    python: str  # "3.8", "3.8.10"
    architecture: str = "x86_64"
    glibc: str = ""  # "2.31"; empty: not known, any will do

    @property
    def series(self) -> Tuple[int, int]:
        """(3, 8). Raises ValueError for what is no version of Python."""
        version = Version(self.python)
        return (version.major, version.minor)

    @property
    def full(self) -> str:
        """With a number for the patch: one that systems have, and that no package refuses.

        Ubuntu 20.04 has 3.8.10; packages refuse first releases, as 3.9.0 and 3.9.1.
        """
        return self.python if self.python.count(".") > 1 else f"{self.python}.10"

    def names(self) -> List[str]:
        """The platforms of its wheels, the newest C library first."""
        known = try_parse(self.glibc)
        newest = min(known.minor, 99) if known is not None and known.major == 2 else 60
        oldest = 5 if self.architecture in ("x86_64", "i686") else 17
        found = []
        for minor in range(newest, oldest - 1, -1):
            found.append(f"manylinux_2_{minor}_{self.architecture}")
            old = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}.get(minor)
            if old:
                found.append(f"{old}_{self.architecture}")
        return [*found, f"linux_{self.architecture}"]

    def tags(self) -> Dict[Tag, int]:
        """The tags of wheels that fit, with their ranks: the best has 0."""
        series, names = self.series, self.names()
        interpreter = f"cp{series[0]}{series[1]}"
        abis = [interpreter + ("m" if series < (3, 8) else "")]
        every = [*cpython_tags(series, abis, names), *compatible_tags(series, interpreter, names)]
        return {tag: rank for rank, tag in reversed(list(enumerate(every)))}


def fits_python(file: File, platform: Platform) -> bool:
    """Whether what a file says of Requires-Python lets a Python in; what is no range does."""
    version = try_parse(platform.full)
    if version is None or try_specifier(file.requires_python) is None:
        return True
    return satisfies(version, file.requires_python)


def best(files: List[File], platform: Platform) -> Optional[File]:
    """Of the files of one release the wheel that an installer would take; None if none fits."""
    ranks = platform.tags()
    fitting = [
        (min(ranks[tag] for tag in file.tags if tag in ranks), file)
        for file in files
        if fits_python(file, platform) and any(tag in ranks for tag in file.tags)
    ]
    if not fitting:
        return None
    return min(fitting, key=lambda one: (one[0], (-one[1].build[0], one[1].build[1]), one[1].name))[
        1
    ]


class Index:
    """The indexes that pip is configured with, and pages of wheels; each is read once."""

    def __init__(self, web: Web, settings: Settings) -> None:
        """Nothing is asked yet."""
        self.web = web
        self.settings = settings
        self._files: Dict[Tuple[str, str], Tuple[File, ...]] = {}

    def files(self, package: str) -> Tuple[File, ...]:
        """All files of a package on the configured indexes. Raises UnreachableError.

        An index that does not answer hides what it has, unless another lists the package.
        """
        found: List[File] = []
        failures: List[UnreachableError] = []
        asked: List[Tuple[Callable[[str, str], Tuple[File, ...]], str]] = [
            (self.on_index, index) for index in self.settings.indexes
        ]
        asked += [(self.on_page, link) for link in self.settings.links]
        for read, url in asked:
            try:
                found += read(url, package) if url else ()
            except UnreachableError as error:  # noqa: PERF203
                failures.append(error)
        if failures and not found:
            raise failures[0]
        return tuple(found)

    def on_index(self, index: str, package: str) -> Tuple[File, ...]:
        """The files that one index lists of a package; none if it does not have it."""
        url = f"{index.rstrip('/')}/{canonicalize_name(package)}/"
        usual = self.settings.indexes[:1]
        return self._listed(url, package, "" if index in usual else shown(index))

    def on_page(self, page: str, package: str) -> Tuple[File, ...]:
        """The files of a package that a page of wheels links to, as `pip install -f` reads it.

        Where the page is the root of an index, as those of torch are, the package's own is read.
        """
        found = self._listed(page, package, shown(page))
        if found or page.rstrip("/").endswith((".html", ".htm")):
            return found
        return self.on_index(page, package)

    def _listed(self, url: str, package: str, index: str) -> Tuple[File, ...]:
        key = (url, canonicalize_name(package))
        if key not in self._files:
            named = []
            for name, address, said in self._links(url):
                file = read_name(name)
                if file is not None and file.package == key[1]:
                    named.append(file._replace(url=address, listed=index, **said))
            self._files[key] = tuple(named)
        return self._files[key]

    def _links(self, url: str) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
        if origin(url)[0] in ("", "file"):
            yield from _of_folder(url)
            return
        answer = self.web.get(url, _ACCEPT)
        if not answer.there:
            return
        if answer.kind == _JSON or answer.content.lstrip()[:1] == b"{":
            yield from _of_json(answer.content, answer.url)
        else:
            yield from _of_html(answer.content, answer.url)


def read_name(name: str) -> Optional[File]:
    """What the name of a distribution says; None for other files."""
    if len(name) > _LONGEST_NAME:
        return None
    try:
        if name.endswith(".whl"):
            package, version, build, tags = parse_wheel_filename(name)
            return File(name, "", package, version, frozenset(tags), (build or (-1, ""))[:2])
        if name.endswith(".tar.bz2"):
            name = name[: -len(".tar.bz2")] + ".tar.gz"
        package, version = parse_sdist_filename(name)
    except (ValueError, InvalidVersion):
        return None
    return File(name, "", package, version)


# --- forms of pages -------------------------------------------------------------------------


def _of_json(content: bytes, base: str) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    """The files of a project's page by PEP 691. Raises UnreachableError."""
    try:
        said = json.loads(content)
        files = said["files"]
        if not isinstance(files, list):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnreachableError(f"{shown(base)}: gave no readable answer") from None
    for entry in files[:_MOST_FILES]:
        if not isinstance(entry, dict):
            continue
        name, url = entry.get("filename"), entry.get("url")
        if not isinstance(name, str) or not isinstance(url, str):
            continue
        python, hashes = entry.get("requires-python"), entry.get("hashes")
        beside = entry.get("core-metadata", entry.get("dist-info-metadata"))
        yield (
            name,
            joined(base, url),
            {
                "hashes": _hashes(hashes if isinstance(hashes, dict) else {}),
                "requires_python": python if isinstance(python, str) else "",
                "yanked": entry.get("yanked") not in (None, False),
                "metadata": beside not in (None, False),
            },
        )


def _hashes(said: Dict[Any, Any]) -> Tuple[Tuple[str, str], ...]:
    found = [_HASH.fullmatch(f"{kind}={value}") for kind, value in said.items()]
    return tuple((match[1], match[2]) for match in found if match)


class _Anchors(html.parser.HTMLParser):
    """The links of a page with their attributes, and what `<base>` says."""

    def __init__(self) -> None:
        super().__init__()
        self.found: List[Dict[str, str]] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        """Keep links."""
        said = {name: value or "" for name, value in attrs}
        if tag == "base" and not self.base:
            self.base = said.get("href", "")
        elif tag == "a" and said.get("href") and len(self.found) < _MOST_FILES:
            self.found.append(said)


def _of_html(content: bytes, base: str) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    """The files that a page links to, by PEP 503 or as a page of wheels."""
    page = _Anchors()
    try:
        page.feed(content.decode("utf-8", "replace"))
    except (ValueError, AssertionError, RecursionError):  # of markup that is none
        raise UnreachableError(f"{shown(base)}: gave no readable answer") from None
    base = joined(base, page.base) or base
    for said in page.found:
        url, _, fragment = joined(base, said["href"]).partition("#")
        name = unquote(url.partition("?")[0].rpartition("/")[2])
        match = _HASH.fullmatch(fragment)
        yield (
            name,
            url,
            {
                "hashes": ((match[1], match[2]),) if match else (),
                "requires_python": said.get("data-requires-python", ""),
                "yanked": "data-yanked" in said,
                "metadata": "data-core-metadata" in said or "data-dist-info-metadata" in said,
            },
        )


def _of_folder(url: str) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    """The files of a folder, or of a page on this machine, that pip is configured with."""
    try:
        parts = urlsplit(url)
        path = unquote(parts.path) if parts.scheme else url
        if os.path.isdir(path):  # noqa: PTH112
            page = os.path.join(path, "index.html")  # noqa: PTH118
            if not os.path.isfile(page):  # noqa: PTH113
                for name in sorted(os.listdir(path))[:_MOST_FILES]:  # noqa: PTH208
                    yield name, f"file://{os.path.join(path, name)}", {}  # noqa: PTH118
                return
            path = page
        with open(path, "rb") as file:  # noqa: PTH123
            content = file.read(_LOCAL_PAGE)
    except (OSError, ValueError):
        return
    yield from _of_html(content, f"file://{path}")
