"""How each kind of requirement file names an index or a page of wheels, and takes a requirement.

pip's files and conda's `pip:` section take pip's options; pyproject.toml takes tables of the tool
that reads it, and none without one.

Sources: documentation of pip, "Requirements file format"; of conda, "Managing environments"; of uv,
"Package indexes" and "Settings" (`find-links`); of pipenv, "Specifying package indexes"; of poetry,
"Repositories", and `Factory.create_package_source` (a URL that ends in .html is one page of links).
"""

from __future__ import annotations

import re
from typing import List, NamedTuple, Sequence, Tuple
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement

from envdoctor.model.facts import Asked
from envdoctor.model.language import say
from envdoctor.model.text import clean

#: The file in which a lock file's tool is told what to lock.
_BESIDE = {"uv.lock": "pyproject.toml", "poetry.lock": "pyproject.toml", "Pipfile.lock": "Pipfile"}
_TELLING = re.compile(r"cu\d{2,3}|cpu|rocm[\d.]+|torch[\d.]+")


class Place(NamedTuple):
    """A requirement file, and what reads it: "pip", "conda", "uv", "poetry", "pipenv"; or "build".

    "build" is a pyproject.toml of no such tool: it cannot name an index.
    """

    file: str
    manager: str


def place_of(asked: Asked, origin: str = "") -> Place:
    """Where a line can be added: in the file of a line, else in the first that was read."""
    file = origin.rpartition(":")[0]
    if file not in asked.files:
        file = asked.files[0] if asked.files else "requirements.txt"
    manager = asked.managers.get(file, "pip")
    if manager == "pip" and asked.files and asked.managers.get(asked.files[0], "pip") == "pip":
        return Place(asked.files[0], manager)  # the file that includes the others
    folder, slash, name = file.rpartition("/")
    return Place(f"{folder}{slash}{_BESIDE.get(name, name)}", manager)


def page_line(language: str, place: Place, option: str, names: Sequence[str]) -> str:
    """What makes the file's tool look for packages at what an option of pip's names."""
    kind, _, url = option.partition(" ")
    links = kind in ("-f", "--find-links")
    name = _name(url)
    table = [f'name = "{name}"', f'url = "{url}"']
    if place.manager == "uv":
        if links:
            return _under(language, place.file, "[tool.uv]", f'find-links = ["{url}"]')
        index = ", ".join((*table, "explicit = true"))
        used = ", ".join(f'{one} = {{ index = "{name}" }}' for one in names)
        tables = (("[[tool.uv.index]]", index), ("[tool.uv.sources]", used))
        return _tables(language, place.file, tables)
    if place.manager == "poetry" and (not links or url.endswith((".html", ".htm"))):
        source = ", ".join((*table, 'priority = "explicit"'))
        told = _under(language, place.file, "[[tool.poetry.source]]", source)
        return told + say(
            language, ' and source = "{name}" to {packages}', name=name, packages=", ".join(names)
        )
    if place.manager == "pipenv" and not links:
        source = ", ".join((*table, "verify_ssl = true"))
        told = _under(language, place.file, "[[source]]", source)
        return told + say(
            language, ' and index = "{name}" to {packages}', name=name, packages=", ".join(names)
        )
    if place.manager == "conda":
        return _under(language, place.file, '"- pip:"', f"- {option}")
    if place.manager == "pip":
        return say(language, "{file}: add {line}", file=place.file, line=option)
    return say(
        language, "{file} cannot name a page: give pip {option}", file=place.file, option=option
    )


def requirement_line(language: str, place: Place, wanted: str) -> str:
    """What makes the file ask for one more package."""
    if place.manager == "pip":
        return say(language, "{file}: add {line}", file=place.file, line=wanted)
    if place.manager == "conda":
        return _under(language, place.file, '"- pip:"', f"- {wanted}")
    if place.manager in ("poetry", "pipenv"):
        try:
            parsed = Requirement(wanted)
            line = f'{parsed.name} = "{parsed.specifier or "*"}"'
        except (InvalidRequirement, ValueError):
            line = wanted
        tables = {"poetry": "[tool.poetry.dependencies]", "pipenv": "[packages]"}
        return _under(language, place.file, tables[place.manager], line)
    return _under(language, place.file, "project.dependencies", f'"{wanted}"')


def lasting(options: str) -> str:
    """Those of pip's options that a requirement file may hold, one text."""
    words = options.split()
    kept = []
    for option, value in zip(words, words[1:]):
        if option in ("-f", "--find-links", "--extra-index-url"):
            kept.append(f"{option} {value}")
        elif option == "--index-url":
            kept.append(f"--extra-index-url {value}")  # the other lines still want PyPI
    return " ".join(kept)


def _under(language: str, file: str, heading: str, line: str) -> str:
    return say(
        language, "{file}: add under {heading}: {line}", file=file, heading=heading, line=line
    )


def _tables(language: str, file: str, tables: Sequence[Tuple[str, str]]) -> str:
    (heading, line), *others = tables
    told: List[str] = [_under(language, file, heading, line)]
    told += [
        say(language, "under {heading}: {line}", heading=other, line=text) for other, text in others
    ]
    return say(language, ", ").join(told)


def _name(url: str) -> str:
    """A name for an index: the host's, and the part of the path that tells it from others."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").split(".")
        path = parts.path.split("/")
    except ValueError:
        return "wheels"
    tail = [part for part in path if _TELLING.fullmatch(part)]
    return clean("-".join([*host[-2:-1], *tail])) or "wheels"
