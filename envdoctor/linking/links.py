"""Which files of an environment are linked to the libraries of another distribution."""

from __future__ import annotations

import os
from typing import Dict, List, Sequence, Tuple

from envdoctor.elf.image import ElfError
from envdoctor.linking.blame import names_torch
from envdoctor.linking.files import SharedObject
from envdoctor.linking.process import Binaries, Outcome
from envdoctor.model.facts import Link

_MAX_LIBRARIES = 10
_MAX_FILES = 5
_MAX_LINKS = 300  # pairs of distributions: a snapshot stays small


class _Pair:
    """What the files of one distribution need of another."""

    def __init__(self) -> None:
        self.libraries: Dict[str, None] = {}
        self.files: List[str] = []
        self.count = 0
        self.cxx = False


class Links:
    """Gathers, file by file, whose libraries the loader would serve them with."""

    def __init__(self, files: Sequence[SharedObject]) -> None:
        """`files` are all shared objects of the environment."""
        self._owners = {file.path: file.distribution for file in files if file.distribution}
        self._named: Dict[str, List[str]] = {}
        for path in self._owners:
            self._named.setdefault(path.rpartition("/")[2], []).append(path)
        self._known: Dict[str, str] = {}
        self._pairs: Dict[Tuple[str, str], _Pair] = {}

    def note(self, file: SharedObject, outcome: Outcome, binaries: Binaries) -> None:
        """Add what a file is linked to, where the simulation found it."""
        if not outcome.objects:
            return
        noted: Dict[str, _Pair] = {}
        first = outcome.objects[0]
        for one in first.needed:
            owner = self._owner(one.path)
            if not owner or owner == file.distribution:
                continue
            pair = self._pairs.setdefault((file.distribution, owner), _Pair())
            names = [name for name in first.library.dynamic.needed if name in one.names]
            pair.libraries.update(dict.fromkeys(names))
            noted[owner] = pair
        for owner, pair in noted.items():
            pair.count += 1
            if len(pair.files) < _MAX_FILES:
                pair.files.append(file.path)
            if owner == "torch" and not pair.cxx:
                pair.cxx = _uses_torch(outcome, binaries)

    def result(self) -> Dict[str, Tuple[Link, ...]]:
        """What was found, by the name of the distribution that the files are of."""
        found: Dict[str, List[Link]] = {}
        for (name, owner), pair in list(self._pairs.items())[:_MAX_LINKS]:
            link = Link(
                owner,
                tuple(pair.libraries)[:_MAX_LIBRARIES],
                tuple(pair.files),
                pair.count,
                pair.cxx,
            )
            found.setdefault(name, []).append(link)
        return {name: tuple(links) for name, links in found.items()}

    def _owner(self, path: str) -> str:
        """The distribution that a loaded library is of, "" if it is of none."""
        if path not in self._known:
            self._known[path] = self._looked_up(path)
        return self._known[path]

    def _looked_up(self, path: str) -> str:
        plain = os.path.normpath(path)
        if plain in self._owners:
            return self._owners[plain]
        real = ""
        for other in self._named.get(plain.rpartition("/")[2], ()):
            real = real or os.path.realpath(plain)  # some folders are reached by a link: lib64
            if os.path.realpath(other) == real:
                return self._owners[other]
        return ""


def _uses_torch(outcome: Outcome, binaries: Binaries) -> bool:
    """Whether a file leaves functions of torch's C++ interface undefined."""
    first = outcome.objects[0]
    try:
        undefined = binaries.undefined(first.identity, first.library)
    except ElfError:
        return True  # what it uses is not known: as most do
    return any(names_torch(one.name) for one in undefined)
