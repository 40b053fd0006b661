"""pyproject.toml: the project's dependencies (PEP 621), poetry's, and dependency groups (PEP 735).

Source: PyPA specifications, "pyproject.toml"; poetry documentation, "Dependency specification".
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

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
    requirement,
    toml,
    without_credentials,
)
from envdoctor.model.text import clean

_INDEXES = ("index-url", "extra-index-url", "find-links")
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)(.*)")


def read(path: str, reading: Reading, extras: Optional[List[str]] = None) -> None:
    """Read a pyproject.toml. Extras are left out unless they are named.

    Raises RequirementsError.
    """
    shown = name_of(path)
    text = read_text(path)
    data = toml(text, shown)
    reading.files.append(shown)
    reading.managers[shown] = _manager(path, _table(data, "tool"))
    places = Places(shown, text)
    project = _table(data, "project")
    poetry = _table(_table(data, "tool"), "poetry")
    if not project and not poetry:
        raise RequirementsError(f"{shown}:1: has neither [project] nor [tool.poetry]")
    python = optional_text(project.get("requires-python"))
    if python is not None:
        origin = places.of("requires-python")
        if not is_specifier(python):
            raise RequirementsError(f"{origin}: {clean(python, 60)!r} is no specifier of versions")
        reading.pythons.append((python, origin))
    _take_listed(project.get("dependencies"), places, reading)
    optional = _table(project, "optional-dependencies")
    for name in extras or ():
        _take_listed(optional.get(name), places, reading)
    skipped = sorted(set(optional) - set(extras or ()))
    if skipped:
        reading.note(shown, f"extras were left out: {', '.join(skipped)}")
    _take_poetry(_table(poetry, "dependencies"), places, reading)
    for source in poetry.get("source", ()) if isinstance(poetry.get("source"), list) else ():
        url = source.get("url") if isinstance(source, dict) else None
        if isinstance(url, str):
            reading.index(url)
    uv = _table(_table(data, "tool"), "uv")
    for listed in (uv.get("index"), *(t.get(k) for t in (uv, _table(uv, "pip")) for k in _INDEXES)):
        for index in listed if isinstance(listed, list) else [listed]:
            url = index.get("url") if isinstance(index, dict) else index
            if isinstance(url, str):
                reading.index(url)


def _manager(path: str, tools: Dict[str, Any]) -> str:
    """Which tool reads the file: one that has a table in it, or a lock file beside it."""
    for tool in ("poetry", "uv"):
        if tool in tools or Path(path).with_name(f"{tool}.lock").is_file():
            return tool
    return "build"


def _table(data: Any, key: str) -> Dict[str, Any]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def _take_listed(listed: Any, places: Places, reading: Reading) -> None:
    """Take a list of requirements of PEP 508."""
    if listed is None:
        return
    if not isinstance(listed, list):
        raise RequirementsError(f"{places.shown}:1: dependencies are no list")
    for text in listed:
        if not isinstance(text, str):
            raise RequirementsError(f"{places.shown}:1: a dependency is no text")
        reading.add(requirement(text, _place_of(text, places)))


def _place_of(text: str, places: Places) -> str:
    for quote in ('"', "'"):
        origin = places.of(f"{quote}{text}{quote}")
        if origin != places.shown:
            return origin
    return places.of(re.split(r"[^A-Za-z0-9._-]", text.strip())[0])


def _take_poetry(table: Dict[str, Any], places: Places, reading: Reading) -> None:
    for key, value in table.items():
        origin = places.of(key, "=")
        for one in value if isinstance(value, list) else [value]:
            line = _of_poetry(key, one, origin, reading)
            if line is None:
                continue
            if line.name == "python":
                if line.specifier:
                    reading.pythons.append((line.specifier, origin))
            else:
                reading.add(line)


def _of_poetry(key: str, value: Any, origin: str, reading: Reading) -> Optional[Line]:
    details: Dict[str, Any] = value if isinstance(value, dict) else {"version": value}
    if details.get("optional") is True:
        return None
    version = optional_text(details.get("version")) or ""
    specifier = poetry_specifier(version)
    if specifier is None or not is_specifier(specifier):
        reading.note(origin, f"not understood: {key} = {version!r}")
        specifier = ""
    marker = optional_text(details.get("markers")) or ""
    python = poetry_specifier(optional_text(details.get("python")) or "")
    if python:
        marker = " and ".join([*([f"({marker})"] if marker else []), *_python_marker(python)])
    if marker and not is_marker(marker):
        reading.note(origin, f"not understood: the marker of {key}")
        return None
    located = [optional_text(details.get(kind)) for kind in ("git", "url", "path", "file")]
    url = next((text for text in located if text), "")
    if details.get("git"):
        url = f"git+{url}"
    return Line(
        name=canonicalize_name(key),
        origin=origin,
        text=f"{key} = {version!r}",
        specifier=specifier,
        marker=marker,
        url=without_credentials(url),
    )


def _python_marker(specifier: str) -> Iterator[str]:
    for clause in specifier.split(","):
        match = re.fullmatch(r"\s*(===?|~=|!=|<=|>=|<|>)\s*([\w.*]+)\s*", clause)
        if match:
            yield f"python_version {match[1]} '{match[2]}'"


def poetry_specifier(text: str) -> Optional[str]:
    """A constraint of poetry as a specifier of PEP 440; None if it cannot be said so."""
    if "|" in text or len(text) > 1000:
        return None
    parts = []
    for part in re.sub(r"(===?|~=|!=|<=|>=|<|>|\^|~)\s+", r"\1", text).replace(",", " ").split():
        if part == "*":
            continue
        if part[0] == "^":
            bounds = _caret(part[1:])
        elif part[0] == "~" and not part.startswith("~="):
            bounds = _tilde(part[1:])
        elif part[0] in "<>=!~":
            bounds = "==" + part[1:] if re.match(r"=[^=]", part) else part
        else:
            bounds = f"=={part}"
        if bounds is None:
            return None
        parts.append(bounds)
    return ",".join(parts)


def _caret(version: str) -> Optional[str]:
    match = _NUMBERS.fullmatch(version)
    if match is None or len(match[1]) > 100:
        return None
    numbers = [int(n) for n in match[1].split(".")]
    first = next((i for i, n in enumerate(numbers) if n), len(numbers) - 1)
    upper = [*numbers[:first], numbers[first] + 1]
    return f">={version},<{'.'.join(map(str, upper))}"


def _tilde(version: str) -> Optional[str]:
    match = _NUMBERS.fullmatch(version)
    if match is None or len(match[1]) > 100:
        return None
    numbers = [int(n) for n in match[1].split(".")]
    keep = numbers[: max(1, min(2, len(numbers)))]
    keep[-1] += 1
    return f">={version},<{'.'.join(map(str, keep))}"
