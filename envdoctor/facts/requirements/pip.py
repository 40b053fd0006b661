"""pip's requirement files.

Source: pip documentation, "Requirements File Format"; pip/_internal/req/req_file.py of pip 24.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Iterator, List, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urlsplit

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from envdoctor.facts.requirements.line import (
    LONGEST_LINE,
    Line,
    Reading,
    RequirementsError,
    is_marker,
    name_of,
    read_text,
    requirement,
    sibling,
    without_credentials,
)
from envdoctor.model.text import clean

_DEEPEST = 20  # files that include each other in a row
_MOST_FILES = 200

_COMMENT = re.compile(r"(?:^|\s+)#.*$")
_SCHEME = re.compile(r"(?:git|hg|svn|bzr)\+[a-z]+:|(?:https?|ftp|file):", re.IGNORECASE)
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_LAST = re.compile(r"/([A-Za-z0-9][A-Za-z0-9._-]*?)(?:\.git)?(?:@[^/@]*(?:/[^@]*)?)?$")
_NAMED_TAG = re.compile(r"@v?(\d+(?:\.\d+){1,3}(?:(?:a|b|rc|\.post)\d+)?)(?:#|$)")
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tar.bz2", ".tgz", ".tar")

# {option: whether it takes a value}; the short forms stand for the long ones.
_OPTIONS = {
    "--requirement": True,
    "--constraint": True,
    "--editable": True,
    "--index-url": True,
    "--pypi-url": True,
    "--extra-index-url": True,
    "--find-links": True,
    "--no-index": False,
    "--no-binary": True,
    "--only-binary": True,
    "--prefer-binary": False,
    "--require-hashes": False,
    "--pre": False,
    "--trusted-host": True,
    "--use-feature": True,
    "--always-unzip": False,
    "--use-wheel": False,
    "--no-use-wheel": False,
    "--process-dependency-links": False,
}
_SHORT = {"-r": "--requirement", "-c": "--constraint", "-e": "--editable"}
_SHORT.update({"-i": "--index-url", "-f": "--find-links", "-Z": "--always-unzip"})


class Option(NamedTuple):
    """An option of a file, and what it is set to."""

    name: str
    value: str


def read(path: str, reading: Reading, origin: str = "") -> None:
    """Read a requirement file and what it includes. Raises RequirementsError."""
    _Files(reading, path).read(path, origin, constraint=False)


def read_lines(texts: List[Tuple[str, str]], path: str, reading: Reading) -> None:
    """Read lines of a requirement file that stand, each with its origin, in the file `path`."""
    files = _Files(reading, path)
    for text, origin in texts:
        files.line(text.strip(), origin, path, constraint=False)


class _Files:
    def __init__(self, reading: Reading, path: str) -> None:
        self.reading = reading
        self.root = _root(path)
        self.open: List[str] = []  # those whose include lines are being followed
        self.done: List[Tuple[str, bool]] = []

    def read(self, path: str, origin: str, constraint: bool) -> None:
        real = os.path.realpath(path)
        if origin and not (real + "/").startswith(self.root.rstrip("/") + "/"):
            self.reading.note(origin, f"not read: {path} lies outside of {self.root}")
            return
        if real in self.open:
            self.reading.note(origin, f"not read again: {path} includes itself")
            return
        if (real, constraint) in self.done:
            return
        if len(self.open) >= _DEEPEST or len(self.done) >= _MOST_FILES:
            raise RequirementsError(f"{origin}: includes too many files: {clean(path)}")
        text = read_text(path, origin)
        shown = name_of(path)
        if shown not in self.reading.files:
            self.reading.files.append(shown)
        self.open.append(real)
        self.done.append((real, constraint))
        for number, line in _lines(text):
            self.line(line, f"{shown}:{number}", path, constraint)
        self.open.pop()

    def line(self, text: str, origin: str, path: str, constraint: bool) -> None:
        if not text:
            return
        if len(text) > LONGEST_LINE:
            # hashes of many files are on one logical line
            text = text[:LONGEST_LINE].partition(" --hash")[0]
        if text.startswith("-"):
            option = _option(text, origin)
            if option is not None:
                self._obey(option, origin, path, constraint)
            else:
                self.reading.note(origin, f"not understood: {text}")
            return
        found = self._requirement(_without_options(text), origin)
        if found is not None:
            self.reading.add(found, constraint)

    def _obey(self, option: Option, origin: str, path: str, constraint: bool) -> None:
        name, value = option
        if name in ("--requirement", "--constraint"):
            if _SCHEME.match(value) and not value.startswith("file:"):
                self.reading.note(origin, f"not read: offline ({without_credentials(value)})")
                return
            file = unquote(value[len("file:") :]) if value.startswith("file:") else value
            file = re.sub(r"^//(localhost)?(?=/)", "", file)
            if "${" in file:
                self.reading.note(origin, f"not read: {value} (a variable)")
                return
            is_constraint = constraint or name == "--constraint"
            self.read(sibling(path, file), origin, is_constraint)
        elif name == "--editable":
            found = self._requirement(_without_options(value), origin)
            if found is not None:
                self.reading.add(found, constraint)
        elif name in ("--index-url", "--pypi-url", "--extra-index-url", "--find-links"):
            self.reading.index(value)
        elif name == "--pre":
            self.reading.pre = True

    def _requirement(self, text: str, origin: str) -> Optional[Line]:
        if _SCHEME.match(text) or _is_path(text):
            return self._located(text, origin)
        found = requirement(text, origin)
        return _of_url(found.name, found.url, found) if found.url else found

    def _located(self, text: str, origin: str) -> Optional[Line]:
        """A requirement that is a URL or a path alone."""
        location, sign, marker = text.partition(" ;" if _SCHEME.match(text) else ";")
        location = location.strip()
        if sign and not is_marker(marker.strip()):
            raise RequirementsError(f"{origin}: {clean(marker, 60)!r} is no marker")
        line = Line("", origin, text, marker=marker.strip())
        location = without_credentials(location)
        egg = _EGG.search(location)
        name = egg[1] if egg else _repository(location)
        found = _of_url(canonicalize_name(name), location, line)
        if not found.name:
            self.reading.note(origin, f"not read: {location}")
            return None
        return found


def _repository(location: str) -> str:
    """The name of a git repository, which most projects have as well; "" if it is none."""
    place, _, fragment = location.partition("#")
    if not place.startswith("git+") or "subdirectory=" in fragment:
        return ""
    try:
        match = _LAST.search(urlsplit(place).path.rstrip("/"))
    except ValueError:
        return ""
    return match[1] if match else ""


def _root(path: str) -> str:
    """The folder outside of which nothing is included: the repository of the file.

    Without one, the folder that holds the file's own.
    """
    folder = Path(os.path.realpath(path)).parent
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return str(place)
    return str(folder.parent)


def _of_url(name: str, url: str, line: Line) -> Line:
    """A requirement with what the name of the file, or of the tag, at a URL tells."""
    file = unquote(url.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2])
    try:
        if file.endswith(".whl"):
            own, version, _, tags = parse_wheel_filename(file)
            shown = tuple(sorted(str(tag) for tag in tags))[:100]
            return line._replace(name=name or own, specifier=f"=={version}", url=url, tags=shown)
        if file.endswith((".tar.gz", ".zip")) and not url.startswith("git+"):
            own, version = parse_sdist_filename(file)
            if name in ("", own):
                return line._replace(name=own, specifier=f"=={version}", url=url)
    except (InvalidWheelFilename, InvalidSdistFilename, ValueError):
        pass
    tag = _NAMED_TAG.search(url) if url.startswith("git+") else None
    return line._replace(name=name, specifier=f"=={tag[1]}" if tag else "", url=url)


def _is_path(text: str) -> bool:
    location = text.partition(";")[0].strip()
    if location.startswith((".", "/", "~")):
        return True
    before, at, _ = location.partition("@")
    if at and re.fullmatch(r"[A-Za-z0-9._-]+\s*(?:\[[^\]]*\])?\s*", before):
        return False  # name @ url
    return "/" in location or location.endswith(_ARCHIVES)


def _lines(text: str) -> Iterator[Tuple[int, str]]:
    """Logical lines with the number of their first line: continuations joined, comments gone."""
    held: List[str] = []
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        is_comment = line.lstrip().startswith("#")
        first = first if held else number
        if line.endswith("\\") and not is_comment:
            held.append(line[:-1])
            continue
        held.append(f" {line}" if is_comment else line)
        yield first, _uncommented("".join(held))
        held = []
    if held:
        yield first, _uncommented("".join(held))


def _uncommented(line: str) -> str:
    if "#" not in line:
        return line.strip()
    # Runs of blanks would make the pattern try each of them.
    return _COMMENT.sub("", re.sub(r"\s", " ", " ".join(line.split()))).strip()


def _without_options(text: str) -> str:
    """A requirement without its own options, --hash and the like."""
    words = text.split(" ")
    for position, word in enumerate(words):
        if word.startswith("-") and position:
            return " ".join(words[:position]).strip()
    return text.strip()


def _option(text: str, origin: str) -> Optional[Option]:
    """The option of a line that starts with one; None if it is not known."""
    if text.startswith("--"):
        match = re.match(r"(--[a-z-]+)(?:\s*=\s*|\s+|$)", text)
        if match is None or match[1] not in _OPTIONS:
            return None
        name, value = match[1], text[match.end() :]
    else:
        short = _SHORT.get(text[:2])
        if short is None:
            return None
        name, value = short, text[2:].lstrip(" =")
    value = value.strip().strip("\"'")
    if _OPTIONS[name] and not value:
        raise RequirementsError(f"{origin}: {name} has no value")
    if _OPTIONS[name] and name != "--editable":
        value = value.split(" --")[0].strip().strip("\"'")
    return Option(name, value)
