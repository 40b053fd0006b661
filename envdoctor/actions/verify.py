"""Asks indexes and pages whether what a stack names is there, and what is there instead."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envdoctor.actions.index import File, Index, Platform, best
from envdoctor.actions.installer import is_package
from envdoctor.actions.learn import platform_of
from envdoctor.actions.settings import Settings, SettingsError, of_pip
from envdoctor.actions.web import UnreachableError, Web, origin, shown
from envdoctor.model.resolution import (
    MISSING,
    THERE,
    UNASKED,
    Artefact,
    Member,
    Resolution,
    Verified,
)

_AT_ONCE = 8
_MOST_NEAREST = 2
_MOST_TAGS = 6


class _Wanted(NamedTuple):
    """An artefact that has to be there."""

    package: str
    version: str
    page: str = ""  # the page or index of wheels; empty for the configured ones
    url: str = ""  # of the file, where it is known
    hashes: Tuple[Tuple[str, str], ...] = ()
    sdist: bool = False
    builds: bool = True  # whether sources will do, where there is no wheel


def verify(
    resolution: Resolution, platform: Platform, settings: Optional[Settings] = None
) -> Tuple[Verified, ...]:
    """What is said of each member that is downloaded, then of the rest of the tree.

    What is built from a tree of training code, or is the machine's, is on no index. What cannot be
    asked is said to be so; it is no fault of the stack.
    """
    wanted = list(_wanted(resolution))
    try:
        settings = settings or of_pip()
    except SettingsError as error:
        return tuple(_unasked(one, str(error)) for one in wanted)
    asker = _Asker(Index(Web(settings), settings), platform_of(resolution, platform))
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return tuple(threads.map(asker.ask, wanted))


def _wanted(resolution: Resolution) -> Iterator[_Wanted]:
    found = {artefact.package: artefact for artefact in resolution.tree}
    names = set()
    for member in resolution.stack:
        name = canonicalize_name(member.component)
        names.add(name)
        if is_package(member) and not member.tree and member.origin in ("index", "source"):
            yield _of_member(member, found.get(name))
    for artefact in resolution.tree:
        if artefact.package not in names:
            hashes = tuple(artefact.hashes.items())
            yield _Wanted(
                artefact.package, artefact.version, "", artefact.url, hashes, artefact.sdist
            )


def _of_member(member: Member, artefact: Optional[Artefact]) -> _Wanted:
    name, sdist = canonicalize_name(member.component), member.origin == "source"
    wanted = _Wanted(
        name,
        member.version,
        member.url,
        sdist=sdist,
        builds=not member.url and "--only-binary" not in member.arguments,
    )
    if artefact is None or artefact.version != member.version or artefact.sdist != sdist:
        return wanted
    return wanted._replace(url=artefact.url, hashes=tuple(artefact.hashes.items()))


class _Asker:
    def __init__(self, index: Index, platform: Platform) -> None:
        self.index = index
        self.platform = platform

    def ask(self, wanted: _Wanted) -> Verified:
        """Whether it is there. Never raises."""
        try:
            if wanted.url and self._is_there(wanted.url):
                return _there(wanted, wanted.url, dict(wanted.hashes))
            return self._listed(wanted)
        except UnreachableError as error:
            return _unasked(wanted, str(error))

    def _is_there(self, url: str) -> bool:
        if origin(url)[0] == "file":
            return os.path.exists(unquote(urlsplit(url).path))  # noqa: PTH110
        return self.index.web.head(url).there

    def _listed(self, wanted: _Wanted) -> Verified:
        files: Sequence[File]
        if wanted.page:
            place = shown(wanted.page)
            files = self.index.on_page(wanted.page, wanted.package)
        else:
            place = "the index"
            files = self.index.files(wanted.package)
        if not files:
            return _missing(wanted, f"there is no {wanted.package} on {place}")
        try:
            version = Version(wanted.version)
        except InvalidVersion:
            return _missing(wanted, f"{wanted.version} is no version by PEP 440")
        same = [file for file in files if file.version == version]
        nearest = self._nearest(wanted, files, version)
        if not same:
            told = f"there is no {wanted.package} {wanted.version} on {place}"
            return _missing(wanted, told, nearest)
        fitting = self._fitting(wanted, same)
        text = "its project has withdrawn it" if fitting is not None and fitting.yanked else ""
        if fitting is None and wanted.builds and all(file.sdist for file in same):
            fitting = same[0]
            text = f"of {wanted.package} {wanted.version} there are sources only"
        if fitting is None:
            return _missing(wanted, self._unfit(wanted, same), nearest)
        if not self._is_there(fitting.url):
            told = f"{place} lists {fitting.name}, and the file is not there"
            return _missing(wanted, told, nearest)
        return _there(wanted, fitting.url, dict(fitting.hashes), text)

    def _fitting(self, wanted: _Wanted, files: List[File]) -> Optional[File]:
        if wanted.sdist:
            return next((file for file in files if file.sdist), None)
        return best(files, self.platform)

    def _unfit(self, wanted: _Wanted, same: List[File]) -> str:
        if wanted.sdist:
            return f"of {wanted.package} {wanted.version} there are no sources"
        wheels = [file for file in same if not file.sdist]
        if not wheels:
            return f"of {wanted.package} {wanted.version} there are sources only"
        told = f"{wanted.package} {wanted.version}"
        here = [tag for file in wheels for tag in file.tags]
        linux = [tag for tag in here if tag.platform.endswith(f"_{self.platform.architecture}")]
        linux = [tag for tag in linux if "linux" in tag.platform]
        python = {(tag.interpreter, tag.abi) for tag in self.platform.tags()}
        if linux and not any((tag.interpreter, tag.abi) in python for tag in linux):
            pythons = [tag.interpreter for tag in linux]
            return (
                f"no wheel of {told} fits Python {self.platform.python}: "
                f"they are for {_some(pythons)}"
            )
        system = self.platform.architecture
        system += f" (glibc {self.platform.glibc})" if self.platform.glibc else ""
        platforms = [tag.platform for tag in linux or here]
        return f"no wheel of {told} fits {system}: they are for {_some(platforms)}"

    def _nearest(self, wanted: _Wanted, files: Sequence[File], version: Version) -> Tuple[str, ...]:
        """The releases before and after that version which could be had in its place."""
        releases: Dict[Version, List[File]] = {}
        for file in files:
            if not file.yanked and file.version != version:
                releases.setdefault(file.version, []).append(file)
        known = sorted(
            v
            for v, listed in releases.items()
            if (not v.is_prerelease or version.is_prerelease)
            and self._fitting(wanted, listed) is not None
        )
        before = [v for v in known if v < version][-1:]
        after = [v for v in known if v > version][:1]
        return tuple(str(v) for v in [*before, *after][:_MOST_NEAREST])


def _some(names: List[str]) -> str:
    """Names in order, and no more of them than a line holds."""
    found = sorted(set(names), key=_natural)
    return ", ".join(found[:_MOST_TAGS]) + (", ..." if len(found) > _MOST_TAGS else "")


def _natural(name: str) -> List[Tuple[int, str]]:
    """cp38 before cp310."""
    parts = re.split(r"(\d+)", name)
    return [(int(part) if part.isdigit() else -1, part) for part in parts]


def _there(wanted: _Wanted, url: str, hashes: Dict[str, str], text: str = "") -> Verified:
    return Verified(wanted.package, wanted.version, THERE, text, shown(url), hashes)


def _missing(wanted: _Wanted, text: str, nearest: Tuple[str, ...] = ()) -> Verified:
    return Verified(wanted.package, wanted.version, MISSING, text, nearest=nearest)


def _unasked(wanted: _Wanted, text: str) -> Verified:
    return Verified(wanted.package, wanted.version, UNASKED, text)
