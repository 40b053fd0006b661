"""What the readers of all formats yield, and how they read a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.facts import files
from envdoctor.model.text import clean
from envdoctor.model.versions import specifier

#: Longer than any that a person or a tool writes: what a hostile file may cost is bounded.
LONGEST_LINE = 10_000
MOST_LINES = 20_000  # requirements of all files together
MOST_OF_ONE = 200  # requirements of one project
_MAX_TEXT = 1_000_000
_MOST_MISSES = 200
_CREDENTIALS = re.compile(r"://[^/\s]*@")
_PIN = re.compile(r"\s*===?\s*([^\s,*]+)\s*")


class RequirementsError(Exception):
    """A requirement file cannot be read; the message is one line that names file and line."""


class Line(NamedTuple):
    """One requirement, as one line of a file states it."""

    name: str  # canonical
    origin: str  # "requirements.txt:3"
    text: str  # as written
    specifier: str = ""
    marker: str = ""
    url: str = ""
    tags: Tuple[str, ...] = ()  # of the wheel that is named
    build: str = ""  # conda's build string
    channel: str = ""
    installer: str = "pip"  # "conda" where conda would install it
    locked: bool = False  # a lock file's choice: changed by locking again

    @property
    def pin(self) -> str:
        """The one version that it allows; empty if it allows several."""
        return pin(self.specifier)


class Reading:
    """What was read so far, of all files together."""

    def __init__(self) -> None:
        self.files: List[str] = []
        self.managers: Dict[str, str] = {}  # what reads a file, where it is not pip
        self.lines: List[Line] = []
        self.constraints: List[Line] = []
        self.indexes: List[str] = []  # URLs of indexes and of pages of links, in their order
        self.pythons: List[Tuple[str, str]] = []  # (specifier, origin)
        self.notes: List[str] = []
        self.complete = False  # a lock file: what it does not name will not be there
        self._times: Dict[str, int] = {}
        self.pre = False  # --pre: pre-releases are as good as releases

    def add(self, line: Line, constraint: bool = False) -> None:
        """Take a requirement. Raises RequirementsError past any sane number."""
        listed = self.constraints if constraint else self.lines
        listed.append(line._replace(text=without_credentials(line.text)))
        if len(listed) > MOST_LINES:
            raise RequirementsError(f"{line.origin}: more than {MOST_LINES} requirements")
        self._times[line.name] = self._times.get(line.name, 0) + 1
        if self._times[line.name] > MOST_OF_ONE:
            raise RequirementsError(
                f"{line.origin}: {clean(line.name, 60)} is asked for more than {MOST_OF_ONE} times"
            )

    def note(self, origin: str, text: str) -> None:
        """Say what was not read, and why."""
        self.notes.append(clean(f"{origin}: {without_credentials(text)}"))

    def index(self, url: str) -> None:
        """Take the URL of an index, without credentials."""
        url = without_credentials(clean(url))
        if url not in self.indexes:
            self.indexes.append(url)


def pin(specifier: str) -> str:
    """The version of a specifier that is a plain ==, else an empty text."""
    match = _PIN.fullmatch(specifier)
    return match[1] if match else ""


def without_credentials(text: str) -> str:
    """A text, in whose URLs no user and no password is left."""
    return _CREDENTIALS.sub("://", text)


def requirement(text: str, origin: str) -> Line:
    """The requirement of PEP 508 that a text is. Raises RequirementsError."""
    if len(text) > LONGEST_LINE:
        raise RequirementsError(f"{origin}: a requirement of {len(text)} characters")
    try:
        parsed = Requirement(text)
        specifier = str(parsed.specifier)
        marker = str(parsed.marker) if parsed.marker else ""
    except InvalidRequirement as error:
        raise RequirementsError(f"{origin}: {_reason(text, error)}") from None
    except (ValueError, RecursionError) as error:  # numbers and nesting past what Python takes
        raise RequirementsError(
            f"{origin}: {clean(without_credentials(text), 60)!r}: {clean(str(error), 80)}"
        ) from None
    return Line(
        name=canonicalize_name(parsed.name),
        origin=origin,
        text=text,
        specifier=specifier,
        marker=marker,
        url=without_credentials(parsed.url or ""),
    )


def _reason(text: str, error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    text = clean(without_credentials(text), 60)
    return f"{text!r} is no requirement: {without_credentials(clean(first, 120))}"


def is_marker(text: str) -> bool:
    """Whether a text is an environment marker."""
    if len(text) > LONGEST_LINE:
        return False
    try:
        Marker(text)
    except (InvalidMarker, ValueError, RecursionError):
        return False
    return True


def is_specifier(text: str) -> bool:
    """Whether a text is a specifier of PEP 440."""
    if len(text) > LONGEST_LINE:
        return False
    try:
        specifier(text)
    except (ValueError, RecursionError):
        return False
    return True


def read_text(path: str, origin: str = "", limit: int = _MAX_TEXT) -> str:
    """The text of a regular file of bounded size. `origin` is the line that includes it.

    Raises RequirementsError.
    """
    try:
        return files.read_text(path, limit)
    except files.FileError as error:
        raise RequirementsError(f"{origin}: {error}" if origin else str(error)) from None


def toml(text: str, shown: str) -> Dict[str, Any]:
    """A TOML document. Raises RequirementsError."""
    try:
        return files.toml(text, shown)
    except files.FileError as error:
        raise RequirementsError(str(error)) from None


class Places:
    """Finds the line on which something stands in a file whose parser does not tell it."""

    def __init__(self, shown: str, text: str, first: int = 1) -> None:
        """`shown` is what the file is called, `first` the number of the first line of `text`."""
        self.shown = shown
        self._lines = text.split("\n")
        self._first = first
        self._next = 0
        self._misses = 0
        self._whole: Dict[str, List[int]] = {}

    def of(self, *texts: str) -> str:
        """Name "file:line" of a line that holds all texts; the file alone if none does.

        What is asked for in the order of the file is found quickly.
        """
        if self._misses < _MOST_MISSES:
            count = len(self._lines)
            for step in range(count):
                number = (self._next + step) % count
                if all(text in self._lines[number] for text in texts):
                    self._next = number
                    return f"{self.shown}:{number + self._first}"
            self._misses += 1
        return self.shown

    def next_line(self, text: str) -> str:
        """Name "file:line" of the next line that is this text, or the file alone."""
        if not self._whole:
            for number in range(len(self._lines) - 1, -1, -1):
                self._whole.setdefault(self._lines[number].strip(), []).append(number)
        numbers = self._whole.get(text, [])
        number = numbers.pop() if len(numbers) > 1 else (numbers or [-1])[0]
        return self.shown if number < 0 else f"{self.shown}:{number + self._first}"


def name_of(path: str) -> str:
    """What a file is called in messages: as it was named."""
    return clean(path)


def sibling(path: str, other: str) -> str:
    """The path of a file that another one names."""
    return str(Path(path).parent / other)


def optional_text(value: Any) -> Optional[str]:
    """A text, or None for anything else."""
    return value if isinstance(value, str) else None
