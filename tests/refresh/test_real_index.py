"""What the real index states of some packages, read with other code, is what the matrices say."""

from __future__ import annotations

import email.parser
import io
from html.parser import HTMLParser
from typing import Dict, List, Optional, Set, Tuple
from urllib.parse import unquote, urljoin

import pytest
import remotezip
import requests
from indexes.__main__ import main
from indexes.connection import Connection
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from envdoctor.knowledge.load import load

pytestmark = pytest.mark.real

PACKAGES = ("torch", "transformers", "mmcv", "mmcv-full", "flash-attn", "numpy")


class Links(HTMLParser):
    """(name, address, attributes) of the links of a page by PEP 503."""

    def __init__(self) -> None:
        super().__init__()
        self.found: List[Tuple[str, str, Dict[str, Optional[str]]]] = []

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        if tag == "a":
            attributes = dict(attrs)
            address = (attributes.get("href") or "").partition("#")[0]
            self.found.append((unquote(address.rpartition("/")[2]), address, attributes))


class Seen:
    """The files of one release."""

    def __init__(self) -> None:
        self.sdist = False
        self.yanked: List[bool] = []
        self.linux_asks: Set[str] = set()
        self.asks: Set[str] = set()
        self.tags: Dict[str, Set[str]] = {}
        self.wheels: List[Tuple[str, str, bool]] = []  # name, address, metadata beside it


def version_of(name: str) -> Optional[Version]:
    try:
        if name.endswith(".whl"):
            return parse_wheel_filename(name)[1]
        if name.endswith((".tar.gz", ".zip")):
            return parse_sdist_filename(name)[1]
    except (InvalidVersion, ValueError):
        pass
    return None


def python_tag(interpreter: str, abi: str) -> str:
    if (interpreter[:3] == "cp3" and int(interpreter[3:]) >= 6) or abi == "abi3":
        if abi in (interpreter, interpreter + "m", "none", interpreter + "t"):
            return abi if abi.endswith("t") else interpreter
        return f"{interpreter}-abi3" if abi == "abi3" else ""
    return interpreter if interpreter[:3] == "py3" and abi == "none" else ""


def seen(package: str) -> Dict[Version, Seen]:
    connection = Connection()
    url = f"{connection.index.rstrip('/')}/{package}/"
    answer = connection.session.get(url, headers={"Accept": "text/html"}, timeout=60)
    answer.raise_for_status()
    links = Links()
    links.feed(answer.text)
    found: Dict[Version, Seen] = {}
    for name, address, attributes in links.found:
        version = version_of(name)
        if version is None:
            continue
        release = found.setdefault(version, Seen())
        release.yanked.append("data-yanked" in attributes)
        asked = attributes.get("data-requires-python") or ""
        release.asks.add(asked)
        if not name.endswith(".whl"):
            release.sdist = True
            continue
        beside = bool(
            attributes.get("data-core-metadata") or attributes.get("data-dist-info-metadata")
        )
        release.wheels.append((name, urljoin(url, address), beside))
        for tag in parse_wheel_filename(name)[3]:
            kind = "any" if tag.platform == "any" else ""
            if tag.platform.startswith(("manylinux", "linux")):
                kind = next((a for a in ("x86_64", "aarch64") if tag.platform.endswith(a)), "")
            python = python_tag(tag.interpreter, tag.abi)
            if kind and python:
                release.tags.setdefault(kind, set()).add(python)
                release.linux_asks.add(asked)
    return found


def requirements(session: requests.Session, wheel: Tuple[str, str, bool]) -> List[Requirement]:
    _, url, beside = wheel
    if beside:
        answer = session.get(f"{url}.metadata", timeout=60)
        answer.raise_for_status()
        raw = answer.content
    else:
        with remotezip.RemoteZip(url, session=session) as archive:
            names = [n for n in archive.namelist() if n.split("/")[1:] == ["METADATA"]]
            raw = archive.read(names[0])
    message = email.parser.BytesParser().parse(io.BytesIO(raw))
    stated = (requirement(str(text)) for text in message.get_all("Requires-Dist", []))
    return [r for r in stated if r is not None]


def requirement(text: str) -> Optional[Requirement]:
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def same(one: str, other: str) -> bool:
    """Whether two specifiers are the same; old metadata has ">=3.5.*"."""
    old = one.replace(" ", "")
    for operator in (">=", "<="):
        start = old.find(operator)
        if start >= 0 and old[start:].partition(",")[0].endswith(".*"):
            first = old[start:].partition(",")[0]
            old = old.replace(first, first[:-2])
    return SpecifierSet(old) == SpecifierSet(other)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_matrices_say_what_the_index_states(package: str) -> None:
    known = load().packages[package]
    assert known.pypi is not None
    index = known.file.index
    kept = SpecifierSet(index.prereleases, prereleases=True) if index.prereleases else None
    there = {
        version: release
        for version, release in seen(package).items()
        if version >= Version(index.since)
        and (not version.is_prerelease or (kept is not None and version in kept))
    }
    assert set(known.pypi.releases) == set(there)
    session = Connection().session
    files = 0
    for version, release in there.items():
        assert known.pypi.offered(version) is not all(release.yanked), version
        stated = known.pypi.stated(version)
        texts = release.linux_asks or release.asks
        assert any(same(text, str(stated["requires_python"])) for text in texts), version
        for kind in ("any", "x86_64", "aarch64"):
            told = list(known.pypi.wheels(version, kind))
            tags = {tag for wheel in told for tag in wheel["python"] or []}
            assert tags == release.tags.get(kind, set()), (version, kind)
        assert bool(list(known.pypi.wheels(version, "sdist"))) is release.sdist
        files += len(release.yanked)
        wheels = [w for w in release.wheels if "x86_64.whl" in w[0] or w[0].endswith("any.whl")]
        wheels = [w for w in wheels if "macosx" not in w[0]]
        if not index.asks or not wheels:
            continue
        listed = requirements(session, wheels[0])
        for name in index.asks:
            own = {
                str(r.specifier)
                for r in listed
                if canonicalize_name(r.name) == name
                and (r.marker is None or "extra" not in str(r.marker))
            }
            told_specifier = str(stated[name.replace("-", "_")])
            assert any(same(text, told_specifier) for text in own or {""}), (version, name)
    print(f"{package}: {len(there)} releases, {files} files")
    assert files > 0


@pytest.mark.parametrize("package", PACKAGES)
def test_a_check_finds_nothing_to_write(package: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--check", "--only", "pypi", package])
    assert (status, capsys.readouterr().out) == (0, "")
