"""Reads a package's releases from PyPI, or the index that pip is configured with."""

from __future__ import annotations

import email.parser
import functools
import hashlib
import json
import re
from typing import Dict, Iterable, List, Optional, Set, Tuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from pypi_simple import (
    ACCEPT_ANY,
    DistributionPackage,
    ProjectPage,
    UnsupportedRepoVersionError,
)

from envdoctor.knowledge.load import load
from envdoctor.knowledge.schema import IndexEntry, PyPIFiles
from indexes.connection import Connection, UnreachableError
from indexes.runs import ranges
from indexes.wheels import ANY, ARCHITECTURES, HUGE, Wheel, by_glibc, plain_version, wheel

_ORDER = ("===", "==", "~=", ">=", ">", "<=", "<", "!=")


class Release:
    """The files of one release."""

    def __init__(self, version: Version) -> None:
        """Start with none."""
        self.version = version  # of 1.0 and 1.0.0, which are the same, the longer
        self.files: List[DistributionPackage] = []
        self.wheels: List[Wheel] = []

    @property
    def yanked(self) -> bool:
        """Whether all of its files were withdrawn."""
        return all(file.is_yanked for file in self.files)

    @property
    def sdist(self) -> bool:
        """Whether sources are there."""
        return any(file.package_type == "sdist" for file in self.files)

    def requires_python(self) -> str:
        """What its files ask of Python; where they differ, what the Linux wheels ask."""
        asked = {file.filename: file.requires_python or "" for file in self.files}
        linux = {text for name, text in asked.items() if wheel(name) is not None}
        stated = linux or set(asked.values())
        return ordered(min(stated, key=lambda text: (len(text), text), default=""))


def read(package: str, entry: IndexEntry, connection: Connection, today: str) -> PyPIFiles:
    """What PyPI lists of a package. Raises UnreachableError."""
    releases = _releases(package, entry, connection)
    if not releases:
        raise UnreachableError(f"PyPI lists no release of {package} that is asked for")
    versions = sorted(release.version for release in releases.values())
    try:
        return _files(package, versions, releases, entry, connection, today)
    except ValueError as error:
        raise UnreachableError(f"PyPI, {package}: {error}") from None


def _files(
    package: str,
    versions: List[Version],
    releases: Dict[Version, Release],
    entry: IndexEntry,
    connection: Connection,
    today: str,
) -> PyPIFiles:
    sdist = ranges(versions, {v: True if r.sdist else None for v, r in releases.items()})
    return PyPIFiles(
        checked=today,
        releases=[str(v) for v in versions],
        yanked=[str(v) for v in versions if releases[v].yanked],
        requires_python=ranges(versions, {v: r.requires_python() for v, r in releases.items()}),
        requires=_requires(package, versions, releases, entry.asks, connection),
        wheels=_wheels(versions, releases),
        sdist=list(sdist),
    )


def _project(package: str, connection: Connection) -> ProjectPage:
    """The page of a package. Raises UnreachableError."""
    answer = connection.get(f"{connection.index.rstrip('/')}/{package}/", ACCEPT_ANY)
    if not answer.there:
        raise UnreachableError(f"PyPI does not have {package}")
    try:
        if "json" in answer.kind:
            return ProjectPage.from_json_data(json.loads(answer.content), answer.url)
        return ProjectPage.from_html(package, answer.content, answer.url)
    except (ValueError, TypeError, LookupError, RecursionError, UnsupportedRepoVersionError):
        raise UnreachableError(f"PyPI, {package}: its page cannot be read") from None


def _releases(package: str, entry: IndexEntry, connection: Connection) -> Dict[Version, Release]:
    page = _project(package, connection)
    oldest = Version(entry.since) if entry.since else None
    kept = SpecifierSet(entry.prereleases, prereleases=True) if entry.prereleases else None
    found: Dict[Version, Release] = {}
    for file in page.packages:
        version = _version(file)
        if version is None or (oldest is not None and version < oldest):
            continue
        if version.is_prerelease and (kept is None or version not in kept):
            continue
        release = found.setdefault(version, Release(version))
        release.version = max(release.version, version, key=lambda v: (len(str(v)), str(v)))
        release.files.append(file)
        read_name = wheel(file.filename) if file.package_type == "wheel" else None
        if read_name is not None:
            release.wheels.append(read_name)
    return found


def _version(file: DistributionPackage) -> Optional[Version]:
    if file.package_type not in ("wheel", "sdist") or file.version is None:
        return None
    version = plain_version(file.version)
    return None if version is None or version.local else version


def _wheels(
    versions: List[Version], releases: Dict[Version, Release]
) -> Dict[str, Dict[str, Dict[str, List[str]]]]:
    found = {}
    for architecture in (ANY, *ARCHITECTURES):
        told = {
            version: by_glibc(w for w in release.wheels if w.architecture == architecture) or None
            for version, release in releases.items()
        }
        if any(told.values()):
            found[architecture] = ranges(versions, told)
    return found


def _requires(
    package: str,
    versions: List[Version],
    releases: Dict[Version, Release],
    asks: Iterable[str],
    connection: Connection,
) -> Dict[str, Dict[str, str]]:
    wanted = sorted(canonicalize_name(name) for name in asks)
    if not wanted:
        return {}
    stated: Dict[str, Dict[Version, Optional[str]]] = {name: {} for name in wanted}
    for version in versions:
        requirements = _metadata(releases[version], connection)
        for name in wanted:
            stated[name][version] = (
                None
                if requirements is None
                else asked(requirements, name, releases[version].requires_python(), package)
            )
    return {name: ranges(versions, values) for name, values in stated.items()}


def _metadata(release: Release, connection: Connection) -> Optional[Tuple[str, ...]]:
    """The requirements in the metadata of a release's wheel; None where there is no wheel."""
    files = [file for file in release.files if file.package_type == "wheel"]
    files.sort(key=lambda file: (_rank(file), file.filename))
    if not files:
        return None
    raw = _raw_metadata(files[0], connection)
    message = email.parser.BytesHeaderParser().parsebytes(raw)
    return tuple(str(text) for text in message.get_all("Requires-Dist", []))


def _rank(file: DistributionPackage) -> int:
    """Wheels for Linux on x86_64 first: those of other systems may ask for other packages."""
    read_name = wheel(file.filename)
    order = (ANY, *ARCHITECTURES)
    return len(order) if read_name is None else order.index(read_name.architecture)


def _raw_metadata(file: DistributionPackage, connection: Connection) -> bytes:
    """METADATA of a wheel: from beside it (PEP 658), else from within, without the rest of it."""
    if file.has_metadata:
        answer = connection.get(file.metadata_url)
        if answer.there:
            digest = (file.metadata_digests or {}).get("sha256")
            if digest and hashlib.sha256(answer.content).hexdigest() != digest.lower():
                raise UnreachableError(f"PyPI, {file.filename}: its metadata has another digest")
            return answer.content
    return connection.metadata(file.url)


def asked(requirements: Iterable[str], name: str, pythons: str, package: str) -> str:
    """The specifier that is asked of a package on Linux, "" if nothing is.

    What is asked on some Pythons only (triton by torch 2.2 below 3.12) stands for all of them; of
    several the loosest, which refuses nothing that some Python takes. Raises UnreachableError where
    there is none.
    """
    own = [r for r in map(_requirement, requirements) if r and canonicalize_name(r.name) == name]
    texts: Set[str] = set()
    for python in _pythons():
        if pythons and not _contains(pythons, python):
            continue
        environment = {
            "python_version": python,
            "python_full_version": f"{python}.0",
            "platform_system": "Linux",
            "platform_machine": "x86_64",
            "sys_platform": "linux",
            "os_name": "posix",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "extra": "",
        }
        try:
            parts = [
                str(r.specifier) for r in own if not r.marker or r.marker.evaluate(environment)
            ]
        except ValueError:  # a marker that compares what cannot be compared
            continue
        texts.add(ordered(",".join(part for part in parts if part)))
    if len(texts) > 1:
        texts.discard("")
    if len(texts) > 1:
        try:
            return _loosest(texts)
        except ValueError:
            raise UnreachableError(
                f"{package}: asks {name} differs by Python: {sorted(texts)}"
            ) from None
    return texts.pop() if texts else ""


@functools.lru_cache(maxsize=None)
def _pythons() -> Tuple[str, ...]:
    """The series of Python that the matrices which ship know."""
    return tuple(map(str, load().tables["python"].rows))


def _loosest(texts: Set[str]) -> str:
    """The specifier that lets pass whatever one of the others does. Raises ValueError."""
    parts = [part for text in texts for part in SpecifierSet(text)]
    edges = [Version(part.version.replace(".*", "")) for part in parts]
    points = [p for e in edges for p in (e, Version(f"{e}.0.0.1"), Version(f"{e}.dev0"))]
    for text in sorted(texts):
        own = SpecifierSet(text, prereleases=True)
        passed = [p for other in texts for p in points if _lets_pass(other, p)]
        if all(point in own for point in passed):
            return text
    raise ValueError("none of them is")


def _lets_pass(text: str, version: Version) -> bool:
    return version in SpecifierSet(text, prereleases=True)


def _requirement(text: str) -> Optional[Requirement]:
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def _contains(text: str, python: str) -> bool:
    try:
        return SpecifierSet(text).contains(f"{python}.99")
    except InvalidSpecifier:
        return True


def ordered(text: str) -> str:
    """A specifier set as people write it: lower end, upper end, exceptions; "" where it is none.

    Old metadata has ">=3.5.*", which PEP 440 does not know and pip reads as ">=3.5".
    """
    if HUGE.search(text):
        return ""
    try:
        parts = set(SpecifierSet(re.sub(r"(?<=[<>]=)(\s*[\d.]+)\.\*", r"\1", text)))
    except InvalidSpecifier:
        return ""
    return ",".join(str(part) for part in sorted(parts, key=_place))


def _place(part: Specifier) -> Tuple[int, str]:
    return (_ORDER.index(part.operator), part.version)
