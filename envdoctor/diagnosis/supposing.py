"""Facts of the environment that logs speak of, as far as they state versions.

The readers of pasted reports find them: logs hold the same things, an installer's last line, an
answer at a prompt, a warning that names the GPU.
"""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Sequence, Set

from envdoctor.diagnosis.line import Line
from envdoctor.facts.pasted import ReportError, parse
from envdoctor.model.diagnosis import Stated
from envdoctor.model.facts import Facts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}", re.ASCII)
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+!_-]{0,60}", re.ASCII)
#: Where modules of an interpreter lie: each series has its own folder.
_FOLDER = re.compile(
    r"python(\d\.\d{1,2})/(?:site|dist)-packages|[\\/]Python(\d)(\d{1,2})[\\/]", re.ASCII
)
#: Components of the machine, as reports call them.
_CALLED = {
    "python": "Python version: {}",
    "host.driver": "Nvidia driver version: {}",
    "build.toolkit": "CUDA runtime version: {}",
    "build.gcc": "GCC version: {}",
    "host.glibc": "Libc version: glibc-{}",
}
_MOST_LINES, _LONGEST = 5_000, 500


class Said:
    """Lines of a log in which versions may stand, bounded."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self.pythons: Set[str] = set()

    def feed(self, line: Line) -> None:
        """A line that passes."""
        if len(self.lines) < _MOST_LINES:
            self.lines.append(line.text[:_LONGEST])
            folder = _FOLDER.search(line.text)
            if folder is not None:
                self.pythons.add(folder.group(1) or f"{folder.group(2)}.{folder.group(3)}")


def facts_of(said: Sequence[Said], stated: Sequence[Stated]) -> Optional[Facts]:
    """The facts, or None where the logs state nothing of an environment.

    What a log states twice was exchanged in between: the last statement holds.
    """
    versions: Dict[str, str] = {}
    pythons = {python for one in said for python in one.pythons}
    if len(pythons) == 1:
        versions["python"] = pythons.pop()
    for one in stated:
        if _NAME.fullmatch(one.component) and _VERSION.fullmatch(one.version):
            versions[one.component] = one.version
    lines = [form.format(versions.pop(name)) for name, form in _CALLED.items() if name in versions]
    lines += [f"{name}=={version}" for name, version in versions.items() if "." not in name]
    lines += [line for one in said for line in one.lines]
    try:
        return parse("\n".join([*lines, ""]))
    except ReportError:
        return None
