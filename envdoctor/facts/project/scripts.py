"""Reads shell scripts: which Python scripts they start through torch.distributed.launch."""

from __future__ import annotations

import posixpath
import re
from typing import Iterator, List, NamedTuple, Sequence, Tuple

_LAUNCHER = "torch.distributed.launch"
# With it the launcher passes LOCAL_RANK as a variable and no flag.
_BY_VARIABLE = re.compile(r"--use[_-]env\b")
_WORD = re.compile(r"[^\s'\"`;|&=<>]+")
#: Of a command, in characters: more is no command.
_LONGEST = 4000
#: What stands for the folder of the shell script itself.
_BESIDE = re.compile(
    r"\$\(\s*dirname\b[^)]*\)|\$\{?(?:DIR|SCRIPT_DIR|HERE|BASEDIR)\}?", re.IGNORECASE
)
_VARIABLE = re.compile(r"^.*\$\{?[\w@#*]+\}?/?")
_MARK = "\0"


class Launch(NamedTuple):
    """A command that starts a script."""

    script: str  # its path from the root of the project, or only its end
    place: str  # "tools/dist_train.sh:9"


def launches(path: str, text: str) -> Iterator[Launch]:
    """The scripts that a shell script, or a README, starts with a flag for the rank."""
    if _LAUNCHER not in text:
        return
    for number, command in _commands(text):
        head, launcher, rest = command.partition(_LAUNCHER)
        if not launcher or len(command) > _LONGEST or head.lstrip().startswith("#"):
            continue
        if _BY_VARIABLE.search(rest):
            continue
        words = _WORD.findall(_BESIDE.sub(_MARK, rest.replace('"', "").replace("'", "")))
        named = next((word for word in words if word.endswith(".py")), "")
        if not named:
            continue
        if _MARK in named:
            named = posixpath.join(posixpath.dirname(path), named.rpartition(_MARK)[2].lstrip("/"))
        elif "$" in named:
            named = _VARIABLE.sub("", named)
        yield Launch(posixpath.normpath(named), f"{path}:{number}")


def _commands(text: str) -> Iterator[Tuple[int, str]]:
    """Commands with the line on which they begin, continued lines joined."""
    start = 1
    parts: List[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not parts:
            start = number
        if line.endswith("\\"):
            parts.append(line[:-1])
            continue
        yield start, " ".join([*parts, line])
        parts = []
    if parts:
        yield start, " ".join(parts)


def launched(script: str, among: Sequence[Launch]) -> str:
    """The place that starts a script, "" if none is known.

    A path is that of the root, of the shell script's folder or of a project inside; a bare name is
    not that of any folder.
    """
    for launch in among:
        beside = posixpath.join(posixpath.dirname(launch.place.rpartition(":")[0]), launch.script)
        if script in (launch.script, beside):
            return launch.place
    for launch in among:
        if "/" in launch.script and script.endswith("/" + launch.script):
            return launch.place
    return ""
