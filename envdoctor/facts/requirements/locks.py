"""Lock files: uv.lock, poetry.lock and Pipfile.lock. Each names every package, at one version.

Source: documentation of uv, "Project structure and files"; poetry's and pipenv's own files.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Optional

from packaging.utils import canonicalize_name

from envdoctor.facts.requirements.line import (
    Line,
    Places,
    Reading,
    RequirementsError,
    is_marker,
    is_specifier,
    name_of,
    optional_text,
    read_text,
    toml,
    without_credentials,
)
from envdoctor.model.text import clean

_MAX_TEXT = 10_000_000
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)


def read_uv(path: str, reading: Reading) -> None:
    """Read a uv.lock. Raises RequirementsError."""
    shown = name_of(path)
    text = read_text(path, limit=_MAX_TEXT)
    data = toml(text, shown)
    _begin(shown, "uv", data, reading)
    _python(data.get("requires-python"), Places(shown, text), reading)
    places = Places(shown, text)
    forks: Dict[str, List[str]] = {}
    for package in _packages(data, shown):
        name = _checked_name(package.get("name"), shown)
        forks.setdefault(name, []).append(str(package.get("version")))
    for package in _packages(data, shown):
        name = _checked_name(package.get("name"), shown)
        origin = places.next_line(f'name = "{package["name"]}"')
        source = _table(package, "source")
        if {"virtual", "editable", "workspace"} & set(source):
            continue  # the project itself
        if len(set(forks[name])) > 1 and not isinstance(package.get("resolution-markers"), list):
            reading.note(origin, f"{name} is locked at several versions")
            continue
        markers = package.get("resolution-markers")
        marker = " or ".join(f"({m})" for m in markers or () if isinstance(m, str))
        url = next((source[k] for k in ("url", "git") if isinstance(source.get(k), str)), "")
        if "git" in source and url:
            url = f"git+{url}"
        registry = source.get("registry")
        if isinstance(registry, str) and "://" in registry:
            reading.index(registry)
        _lock(name, package.get("version"), origin, marker, url, reading)


def read_poetry(path: str, reading: Reading) -> None:
    """Read a poetry.lock. Raises RequirementsError."""
    shown = name_of(path)
    text = read_text(path, limit=_MAX_TEXT)
    data = toml(text, shown)
    _begin(shown, "poetry", data, reading)
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        _python(metadata.get("python-versions"), Places(shown, text), reading)
    places = Places(shown, text)
    for package in _packages(data, shown):
        name = _checked_name(package.get("name"), shown)
        origin = places.next_line(f'name = "{package["name"]}"')
        groups = package.get("groups")
        is_main = "main" in groups if isinstance(groups, list) else True
        if package.get("optional") is True or package.get("category") == "dev" or not is_main:
            continue
        marker = package.get("markers")
        if isinstance(marker, dict):
            marker = marker.get("main")
        source = _table(package, "source")
        url = optional_text(source.get("url")) or ""
        if source.get("type") == "legacy":
            reading.index(url)
            url = ""
        elif source.get("type") == "git":
            url = f"git+{url}"
        _lock(name, package.get("version"), origin, optional_text(marker) or "", url, reading)


def read_pipfile(path: str, reading: Reading) -> None:
    """Read a Pipfile.lock, its default section. Raises RequirementsError."""
    shown = name_of(path)
    text = read_text(path, limit=_MAX_TEXT)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        said = getattr(error, "msg", "it is nested too deeply")
        raise RequirementsError(f"{shown}:{line}: is no JSON: {clean(str(said), 120)}") from None
    if not isinstance(data, dict) or not isinstance(data.get("default"), dict):
        raise RequirementsError(f'{shown}:1: is no Pipfile.lock: it has no section "default"')
    reading.files.append(shown)
    reading.managers[shown] = "pipenv"
    reading.complete = True
    places = Places(shown, text)
    meta = _table(data, "_meta")
    requires = meta.get("requires")
    for key in ("python_full_version", "python_version"):
        version = requires.get(key) if isinstance(requires, dict) else None
        if isinstance(version, str) and version:
            specifier = f"=={version}" if key == "python_full_version" else f"=={version}.*"
            _python(specifier, places, reading, key)
            break
    sources = meta.get("sources")
    for source in sources if isinstance(sources, list) else ():
        if isinstance(source, dict) and isinstance(source.get("url"), str):
            reading.index(source["url"])
    default = max(text.find('"default"'), 0)
    body = Places(shown, text[default:], first=text[:default].count("\n") + 1)
    for key, value in data["default"].items():
        name = _checked_name(key, shown)
        details = value if isinstance(value, dict) else {}
        origin = body.next_line(f'"{key}": {{')
        version = optional_text(details.get("version")) or ""
        located = [optional_text(details.get(kind)) for kind in ("git", "file", "path")]
        url = next((one for one in located if one), "")
        if details.get("git"):
            url = f"git+{url}"
        marker = optional_text(details.get("markers")) or ""
        _lock(name, version.lstrip("= ") or None, origin, marker, url, reading)


def _begin(shown: str, manager: str, data: Dict[str, Any], reading: Reading) -> None:
    if not isinstance(data.get("package"), list):
        raise RequirementsError(f"{shown}:1: is no lock file: it has no [[package]]")
    reading.files.append(shown)
    reading.managers[shown] = manager
    reading.complete = True


def _table(data: Dict[str, Any], key: str) -> Dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _packages(data: Dict[str, Any], shown: str) -> List[Dict[str, Any]]:
    packages: List[Dict[str, Any]] = []
    for package in data["package"]:
        if not isinstance(package, dict):
            raise RequirementsError(f"{shown}:1: is no lock file: a package is no table")
        packages.append(package)
    return packages


def _checked_name(name: Any, shown: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RequirementsError(f"{shown}:1: {clean(str(name), 60)!r} is no name of a package")
    return canonicalize_name(name)


def _python(specifier: Any, places: Places, reading: Reading, key: str = "python") -> None:
    from envdoctor.facts.requirements.project import poetry_specifier

    text = poetry_specifier(specifier) if isinstance(specifier, str) else None
    if text and is_specifier(text):
        reading.pythons.append((text, places.of(key)))


def _lock(
    name: str, version: Any, origin: str, marker: str, url: str, reading: Reading
) -> Optional[Line]:
    specifier = f"=={version}" if isinstance(version, str) and version else ""
    if not is_specifier(specifier):
        raise RequirementsError(f"{origin}: {clean(str(version), 60)!r} is no version")
    if marker and not is_marker(marker):
        reading.note(origin, f"not understood: the marker of {name}")
        return None
    line = Line(
        name=name,
        origin=origin,
        text=f"{name} {version}",
        specifier=specifier,
        marker=marker,
        url=without_credentials(url),
        locked=True,
    )
    reading.add(line)
    return line
