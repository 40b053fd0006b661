"""Walks a source tree: which files there are to read, within bounds."""

from __future__ import annotations

import os
import stat
import time
from typing import Dict, Iterator, List, Optional, Tuple

PYTHON = (".py",)
CXX = (".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".inl")
SHELL = (".sh", ".bash", ".slurm", ".sbatch")

# Bounds. A tree such as MapTR has 700 Python files, one of many models together 10,000.
MAX_FILES = 20_000
MAX_ENTRIES = 200_000
MAX_DEPTH = 24
MAX_BYTES = 600_000  # of one file: larger ones are data, or generated
MAX_TOTAL = 200_000_000
SECONDS = 60.0

#: Folders that hold nothing of the project's own code, or code that training does not run.
_SKIPPED = frozenset(
    """
    3rdparty __pycache__ bower_components build build_ext cmake-build-debug dist doc docs eggs
    external extern htmlcov node_modules site-packages tests third-party third_party thirdparty
    vendor venv wandb wheels work_dirs
    """.split()  # noqa: SIM905
)
#: What stands at the top of an environment's folder.
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")


class Tree:
    """A source tree; `problems` says, after a walk, what of it was not read and why."""

    def __init__(self, root: str) -> None:
        """Nothing is read yet."""
        self.root = root
        self.problems: Dict[str, int] = {}  # {reason: how often}
        self.folders: List[str] = []  # that were walked, "" for the root
        self._until = time.monotonic() + SECONDS
        self._left = MAX_TOTAL

    def note(self, reason: str) -> None:
        """Something was not read."""
        self.problems[reason] = self.problems.get(reason, 0) + 1

    def files(self, endings: Tuple[str, ...]) -> List[str]:
        """Paths, from the root, of the files with these endings, those near the root first."""
        found: List[str] = []
        waiting: List[Tuple[str, int]] = [("", 0)]
        seen = 0
        for folder, depth in waiting:  # which grows while it is walked
            entries = self._entries(folder)
            if entries is None:
                continue
            seen += len(entries)
            if seen > MAX_ENTRIES or time.monotonic() > self._until:
                self.note("the tree is too large: the rest was not read")
                break
            self.folders.append(folder)
            for name, is_folder in entries:
                path = f"{folder}/{name}" if folder else name
                if is_folder:
                    if depth + 1 >= MAX_DEPTH:
                        self.note("folders are nested too deeply: the innermost were not read")
                    elif not _is_skipped(name):
                        waiting.append((path, depth + 1))
                elif name.endswith(endings):
                    if len(found) == MAX_FILES:
                        self.note("the tree is too large: the rest was not read")
                        return found
                    found.append(path)
        return found

    def _entries(self, folder: str) -> Optional[List[Tuple[str, bool]]]:
        """Names of regular files and of folders, sorted; links lead to what is read elsewhere."""
        listed: List[Tuple[str, bool]] = []
        try:
            with os.scandir(self.full(folder)) as scan:
                for entry in scan:
                    if len(listed) > MAX_ENTRIES:
                        break
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            listed.append((entry.name, True))
                        elif entry.is_file(follow_symlinks=False):
                            listed.append((entry.name, False))
                    except OSError:
                        continue
        except OSError:
            self.note("some folders cannot be listed")
            return None
        names = {name for name, _ in listed}
        if folder and any(name in names for name in _ENVIRONMENT):
            return None
        return sorted(listed)

    def full(self, path: str) -> str:
        """The path of what lies in the tree."""
        return f"{self.root.rstrip('/')}/{path}"

    def text(self, path: str) -> Optional[str]:
        """What a file holds, undecodable bytes replaced; None, and a note, where it is not read."""
        if time.monotonic() > self._until or self._left <= 0:
            self.note("the tree is too large: the rest was not read")
            return None
        data = self._bytes(path)
        if data is None:
            self.note("some files cannot be read")
            return None
        self._left -= len(data)
        if len(data) > MAX_BYTES:
            self.note("some files are too large for sources: they were not read")
            return None
        return data.decode("utf-8", "replace").lstrip("\ufeff")

    def text_if_there(self, path: str) -> str:
        """What a file of the tree holds, "" if there is none or it cannot be read."""
        return (self._bytes(path) or b"")[:MAX_BYTES].decode("utf-8", "replace")

    def _bytes(self, path: str) -> Optional[bytes]:
        try:
            # Without blocking: between the listing and now it may have become a pipe.
            descriptor = os.open(self.full(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            with open(descriptor, "rb") as file:  # noqa: PTH123
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return None
                return file.read(MAX_BYTES + 1)
        except OSError:
            return None

    def reasons(self) -> Iterator[str]:
        """What was not read and why, each reason once."""
        yield from self.problems


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED or name.endswith((".egg-info", ".dist-info"))
