"""The machine as the readers of facts see it: files under a root, variables, commands.

Nothing else in `facts` opens a file of the machine or starts a command, so a test can describe a
machine as a folder of files and a few recorded outputs.
"""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path
from typing import Callable, List, Mapping, Optional, Sequence

from envdoctor.facts import child
from envdoctor.facts.remembered import Readings, is_program

TEXT_CAP = 256 * 1024
OUTPUT_CAP = 4 * 1024 * 1024


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):  # the C library of this process is not glibc
        return ""


class Host:
    """A machine. Paths given and returned are its own: absolute, without `root`."""

    def __init__(
        self,
        root: str = "/",
        environ: Optional[Mapping[str, str]] = None,
        architecture: Optional[str] = None,
        libc: Optional[str] = None,
        execute: Callable[..., child.Completed] = child.run,
    ) -> None:
        """What is not given is this machine's; `libc` is "glibc 2.35", empty if it is another."""
        self.root = root
        self.environ = dict(os.environ) if environ is None else environ
        self.architecture = os.uname().machine if architecture is None else architecture
        self.libc = _libc() if libc is None else libc
        self.execute = execute
        self._readings = Readings()

    def with_variables(self, environ: Mapping[str, str]) -> Host:
        """The same machine under other variables."""
        return Host(self.root, environ, self.architecture, self.libc, self.execute)

    def at(self, path: str) -> str:
        """Where `path` of this machine lies for the running process."""
        return path if self.root == "/" else self.root + path

    def _own(self, place: str) -> str:
        return place if self.root == "/" else place[len(self.root) :]

    def read_bytes(self, path: str, cap: int) -> Optional[bytes]:
        """The first `cap` bytes of a file; None if it cannot be read."""
        try:
            # Without blocking: opening a pipe or a device must not hang.
            descriptor = os.open(self.at(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                return file.read(cap)
        except (OSError, ValueError):
            return None

    def read_text(self, path: str, cap: int = TEXT_CAP) -> Optional[str]:
        """The first `cap` bytes of a file as text; None if it cannot be read."""
        data = self.read_bytes(path, cap)
        return None if data is None else data.decode("utf-8", "replace")

    def is_program(self, path: str) -> bool:
        """Whether a file is a program itself, and no script that starts one."""
        return is_program(self.at(path))

    def exists(self, path: str) -> bool:
        """Whether there is something, links followed."""
        try:
            return Path(self.at(path)).exists()
        except (OSError, ValueError):
            return False

    def glob(self, pattern: str) -> List[str]:
        """The paths that match a shell pattern, sorted; hidden names only if it names the dot."""
        return sorted(map(self._own, glob.glob(self.at(pattern))))  # noqa: PTH207

    def real(self, path: str) -> str:
        """The path with its links resolved."""
        place = os.path.realpath(self.at(path))
        return self._own(place) if place.startswith(self.root) else path

    def which(self, command: str, folders: Optional[Sequence[str]] = None) -> str:
        """The file that `command` starts, by PATH or by the folders given; empty if none does."""
        if "/" in command:
            candidates = [command]
        else:
            if folders is None:
                folders = self.search_path()
            candidates = [f"{folder.rstrip('/')}/{command}" for folder in folders]
        for candidate in candidates:
            place = self.at(candidate)
            if os.access(place, os.X_OK) and not Path(place).is_dir():
                return candidate
        return ""

    def search_path(self) -> List[str]:
        """The absolute folders of PATH."""
        return [f for f in self.environ.get("PATH", "").split(":") if f.startswith("/")]

    def read_once(self, question: str, path: str, read: Callable[[], str]) -> str:
        """What `read` says to a question about a file, from before if that file is unchanged."""
        if self.root != "/" or self.execute is not child.run:
            return read()
        return self._readings.of(question, path, read)

    def run(self, argv: Sequence[str], timeout: float) -> child.Completed:
        """Run a command of this machine, given by its path, in the C locale; see `child.run`."""
        environ = {**self.environ, "LC_ALL": "C"}
        return self.execute([self.at(argv[0]), *argv[1:]], timeout, OUTPUT_CAP, environ)

    def run_script(self, script: Path, arguments: Sequence[str], timeout: float) -> child.Completed:
        """Run a script of ours, which needs the standard library only, with our interpreter."""
        argv = [sys.executable, "-I", "-S", str(script), *arguments]
        return self.execute(argv, timeout, OUTPUT_CAP, dict(self.environ))
