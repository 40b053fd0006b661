"""What requirement files ask for: the distributions that an installation of them would bring.

Nothing is executed and nothing is fetched.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Callable, Collection, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.version import InvalidVersion, Version

from envdoctor.facts.requirements import conda, locks, pip, project
from envdoctor.facts.requirements.line import Line, Reading, RequirementsError
from envdoctor.model.facts import Asked, AskedLine, CondaPackage, Distribution, Target
from envdoctor.model.versions import try_specifier

__all__ = [
    "Applying",
    "Line",
    "Reading",
    "RequirementsError",
    "applying",
    "is_python",
    "pythons",
    "read",
    "read_all",
    "target_of",
]

_READERS: Dict[str, Callable[[str, Reading], None]] = {
    "pyproject.toml": project.read,
    "uv.lock": locks.read_uv,
    "poetry.lock": locks.read_poetry,
    "pipfile.lock": locks.read_pipfile,
}
_PYTHON = re.compile(r"3\.\d{1,3}(\.\d{1,3}((a|b|rc)\d{1,3})?)?", re.ASCII)
#: Minor versions of Python 3 that a range is tried on.
_MINORS = range(4, 40)


def read(
    paths: Sequence[str], python: Optional[str] = None, architecture: Optional[str] = None
) -> Target:
    """The environment that all these files ask for together.

    `python` is the interpreter's version where it is known; else the files may say it.
    Raises RequirementsError, whose message names file and line.
    """
    return target_of(read_all(paths), python, architecture)


def read_all(paths: Sequence[str], texts: Sequence[Tuple[str, str]] = ()) -> Reading:
    """What files ask for, and lines of a pip requirement file, each with its origin.

    Raises RequirementsError.
    """
    reading = Reading()
    for path in paths:
        _reader(path)(path, reading)
    if texts:
        pip.read_lines(list(texts), ".", reading)
    return reading


class Applying(NamedTuple):
    """The lines of a reading that apply to a Python, and why others were left out."""

    lines: Tuple[Line, ...]  # constraints after them, as far as they are on what is asked for
    version: str  # of Python, where it is known
    wanted: str  # the specifier of the Pythons that are allowed
    problems: Tuple[str, ...] = ()
    undecided: bool = False  # whether another Python than is known may ask for other lines


def applying(
    reading: Reading,
    python: Optional[str],
    architecture: Optional[str],
    named: Collection[str] = (),
) -> Applying:
    """The lines that apply to a Python and a processor; `named` is asked for beside them."""
    specifiers = [text for text, _ in reading.pythons]
    wanted = ",".join(dict.fromkeys(text for text in specifiers if text))
    version = python or _one_python(wanted)
    marked = _Marked(version, wanted, architecture)
    problems = list(reading.notes)
    undecided = False

    def kept(listed: Sequence[Line]) -> List[Line]:
        nonlocal undecided
        found = []
        for line in listed:
            applies = marked.applies(line.marker)
            if applies:
                found.append(line)
            elif applies is None:
                undecided = True
                problems.append(f"{line.origin}: left out: not known whether {line.marker}")
        return found

    lines = kept(reading.lines)
    names = {*named, *(line.name for line in lines)}
    lines += [line for line in kept(reading.constraints) if line.name in names]
    return Applying(tuple(lines), version, wanted, tuple(problems), undecided)


def is_python(text: str) -> bool:
    """Whether a text is a version of Python 3."""
    return _PYTHON.fullmatch(text) is not None


def _reader(path: str) -> Callable[[str, Reading], None]:
    name = PurePath(path).name.lower()
    if name in _READERS:
        return _READERS[name]
    if name.endswith((".yml", ".yaml")):
        return conda.read
    return project.read if name.endswith(".toml") else pip.read


def target_of(reading: Reading, python: Optional[str], architecture: Optional[str]) -> Target:
    """The environment that the lines of a reading ask for together."""
    found = applying(reading, python, architecture)
    lines = found.lines
    grouped: Dict[str, List[Line]] = {}
    for line in lines:
        grouped.setdefault(line.name, []).append(line)
    return Target(
        python="",
        version=found.version,
        distributions=tuple(_distribution(name, found) for name, found in grouped.items()),
        conda=tuple(
            CondaPackage(name, line.pin or _fixed(line.specifier), line.build, line.channel)
            for line in lines
            if line.installer == "conda"
            for name in [_conda_name(line)]
        ),
        asked=Asked(
            files=tuple(dict.fromkeys(reading.files)),
            lines=tuple(
                AskedLine(x.name, x.specifier, x.origin, x.text, x.installer, x.locked)
                for x in lines
            ),
            python=found.wanted,
            python_origin=", ".join(dict.fromkeys(origin for _, origin in reading.pythons)),
            indexes=tuple(reading.indexes),
            complete=reading.complete,
            previews=reading.pre,
            managers=reading.managers,
        ),
        problems=tuple(dict.fromkeys(found.problems)),
    )


def _conda_name(line: Line) -> str:
    return re.split(r"[^\w.-]", line.text.rpartition("::")[2].strip())[0]


def _fixed(specifier: str) -> str:
    """The version that a prefix fixes as far as it goes, 12.1 of "==12.1.*"."""
    return specifier[2:-2] if re.fullmatch(r"==[^,]*\.\*", specifier) else ""


def _distribution(name: str, lines: Sequence[Line]) -> Distribution:
    """What the lines about one project ask for together."""
    pinned = next((line for line in lines if line.pin), None)
    located = next((line for line in lines if line.url), None)
    first = located or pinned or lines[0]
    specifiers = dict.fromkeys(line.specifier for line in lines if line.specifier)
    build = next((line.build for line in lines if line.build), "")
    cuda = conda.cuda_of(build) if first.installer == "conda" else ""
    version = pinned.pin if pinned is not None else ""
    tag = cuda if cuda in ("", "cpu") else "cu" + cuda.replace(".", "")
    return Distribution(
        name=name,
        version=version,
        path=first.origin,
        search_entry="",
        installer=first.installer,
        tags=first.tags,
        direct_url=first.url,
        specifier=",".join(specifiers),
        built=f"{version}+{tag}" if tag and version else "",
    )


def _one_python(specifier: str) -> str:
    """The series of the only Python 3 that a specifier allows; empty if it allows several."""
    if not specifier:
        return ""
    for clause in specifier.split(","):
        exact = clause.strip()[2:].strip() if clause.strip().startswith("==") else ""
        if _PYTHON.fullmatch(exact.lstrip("=")):
            return exact.lstrip("=")
    found = [f"3.{minor}" for minor in _MINORS if _allows(specifier, f"3.{minor}")]
    return found[0] if len(found) == 1 else ""


def _allows(specifier: str, series: str) -> bool:
    """Whether a specifier allows some release of a series: its first one, or a late one."""
    allowed = try_specifier(specifier)
    if allowed is None:
        return True
    return any(allowed.contains(Version(f"{series}{end}")) for end in ("", ".1", ".8", ".30"))


def pythons(specifier: str) -> List[str]:
    """The series of Python 3 that a specifier allows."""
    return [f"3.{minor}" for minor in _MINORS if _allows(specifier, f"3.{minor}")]


class _Marked:
    """Evaluates markers for a Python that may not be known."""

    def __init__(self, python: str, allowed: str, architecture: Optional[str]) -> None:
        self.architecture = architecture
        self.known = bool(python or allowed)
        self.series = [python] if python else pythons(allowed) if allowed else pythons(">=3.6")
        self._answers: Dict[str, Optional[bool]] = {}

    def applies(self, marker: str) -> Optional[bool]:
        """Whether a requirement is installed; None where that depends on what is not known."""
        if not marker:
            return True
        if marker not in self._answers:
            answers = {self._on(marker, version) for version in self.series}
            self._answers[marker] = answers.pop() if len(answers) == 1 else None
        return self._answers[marker]

    def _on(self, marker: str, version: str) -> Optional[bool]:
        values = self._environment(version)
        if "platform_machine" in marker and not self.architecture:
            return None
        if "platform_release" in marker or "platform_version" in marker:
            return None
        try:
            return Marker(marker).evaluate(dict(values))
        except (UndefinedComparison, UndefinedEnvironmentName, InvalidVersion, ValueError):
            return None

    def _environment(self, version: str) -> Mapping[str, str]:
        full = version if version.count(".") > 1 else f"{version}.0"
        pairs: Tuple[Tuple[str, str], ...] = (
            ("extra", ""),
            ("implementation_name", "cpython"),
            ("implementation_version", full),
            ("os_name", "posix"),
            ("platform_machine", self.architecture or ""),
            ("platform_python_implementation", "CPython"),
            ("platform_system", "Linux"),
            ("python_full_version", full),
            ("python_version", ".".join(version.split(".")[:2])),
            ("sys_platform", "linux"),
        )
        return dict(pairs)
