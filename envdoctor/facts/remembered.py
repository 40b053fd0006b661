"""Remembers what was read, for as long as nothing that was looked at changes.

Of an interpreter what the probe said: it names every path that it looked at (how one is known to
be unchanged is in `envdoctor.cache.unchanged`). Its answer depends on nothing else than the
variables and the folder it is run with, who runs it, and this envdoctor's own code and matrices.
Of a script or a program that starts a Python that does not hold: it may choose by what nobody sees,
as the shims of version managers do, or look at the files of a container.
"""

# ruff: noqa: PTH109, PTH110, PTH121, PTH123

from __future__ import annotations

import contextlib
import os
import time
import zlib
from typing import Callable, Dict, List, Optional, Tuple

import msgspec

from envdoctor.cache import store, unchanged

_FAMILY = "target-"
#: What a shell counts and notes for itself.
_OF_THE_SHELL = frozenset([b"PWD", b"OLDPWD", b"SHLVL", b"_"])
_OF_FOLDERS = (b"PATH", b"PYTHONPATH", b"PYTHONHOME", b"PYTHONUSERBASE", b"LD_LIBRARY_PATH")
_READINGS = "readings-"
_MAX_READINGS = 100
_KEPT = 20  # answers: an environment each, and a few variables
#: Seconds after which an answer is not kept: the probe may have left out what it had no time for.
_SLOW = 8.0
#: A probe that looked at more is not remembered.
_MAX_PATHS = 200_000


class _Memory(msgspec.Struct, array_like=True):
    key: List[bytes]
    own: bytes
    answer: bytes
    paths: List[bytes]
    state: bytes


def _folder() -> str:
    """The current folder, if a variable names folders by where they are from it."""
    named = [os.environb[name] for name in _OF_FOLDERS if os.environb.get(name)]
    if all(folder.startswith(b"/") for value in named for folder in value.split(b":")):
        return ""
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


class Remembered:
    """What is remembered of one interpreter, as it would be run now."""

    def __init__(self, python: str) -> None:
        """Nothing is read yet; `python` is the path that would be run."""
        variables = b"\0".join(
            name + b"=" + value
            for name, value in sorted(os.environb.items())
            if name not in _OF_THE_SHELL
        )
        who = (*os.getresuid(), *os.getresgid(), *sorted(os.getgroups()))
        told = (
            os.uname().nodename,  # a home folder may be shared by machines
            " ".join(map(str, who)),  # who may read what
            f"{len(variables)} {zlib.crc32(variables)}",  # their values are nobody's business
        )
        self._python = python
        self._key = [os.fsencode(part) for part in (python, _folder(), *told)]
        self._name = f"{_FAMILY}{zlib.crc32(msgspec.msgpack.encode(self._key)):08x}"
        self._own = unchanged.own_state()
        self._started = time.time_ns()
        self._clock = time.monotonic()

    def answer(self) -> Optional[bytes]:
        """What the probe would print, None if it has to be asked."""
        content = store.read(self._name) if self._is_program() else None
        if content is None:
            return None
        try:
            memory = msgspec.msgpack.decode(content, type=_Memory)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if memory.key != self._key or memory.own != self._own:
            return None
        return memory.answer if unchanged.state(memory.paths) == memory.state else None

    def keep(self, answer: bytes, looked_at: List[bytes]) -> None:
        """Keep what the probe printed, if all that it looked at is sure to be what it saw.

        Before each path stands whether it was there: "+", "-", or "?" for what was not told. The
        first one is that of the program that looked.
        """
        slow = time.monotonic() - self._clock > _SLOW
        if slow or not looked_at or len(looked_at) > _MAX_PATHS or not self._is_program():
            return
        paths = [path[1:] for path in looked_at]
        if not _is_same(paths[0], self._python) or any(map(_came_or_went, looked_at)):
            return
        state = unchanged.state(paths, self._started - unchanged.SETTLED_NS)
        if state is not None:
            memory = _Memory(self._key, self._own, answer, paths, state)
            store.write(self._name, msgspec.msgpack.encode(memory), _FAMILY, _KEPT)

    def _is_program(self) -> bool:
        return is_program(self._python)


def _came_or_went(looked_at: bytes) -> bool:
    """Whether a path that was there is not any more, or the other way round."""
    sign, path = looked_at[:1], looked_at[1:]
    return not os.path.lexists(path) if sign == b"+" else sign == b"-" and os.path.exists(path)


def _is_same(path: bytes, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def is_program(path: str) -> bool:
    """Whether a file is a program itself, and no script that starts one."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except (OSError, ValueError):
        return False


class _Reading(msgspec.Struct, array_like=True):
    question: str
    path: str
    state: bytes
    answer: str


class _Known(msgspec.Struct, array_like=True):
    own: bytes
    readings: List[_Reading]


class Readings:
    """Texts that were read of single files: the version that a compiler prints, for instance."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._known: Optional[Dict[Tuple[str, str], _Reading]] = None
        self._name = f"{_READINGS}{zlib.crc32(os.uname().nodename.encode()):08x}"

    def of(self, question: str, path: str, read: Callable[[], str]) -> str:
        """What `read` returns, which depends on the file at `path` alone."""
        if self._known is None:
            self._known = self._load()
        place = os.fsencode(path)
        known = self._known.get((question, path))
        if known is not None and known.state == unchanged.state([place]):
            return known.answer
        started = time.time_ns()
        answer = read()
        state = unchanged.state([place], started - unchanged.SETTLED_NS)
        if state is not None and answer:
            self._known[question, path] = _Reading(question, path, state, answer)
            latest = list(self._known.values())[-_MAX_READINGS:]
            with contextlib.suppress(UnicodeEncodeError):
                content = msgspec.msgpack.encode(_Known(unchanged.own_state(), latest))
                store.write(self._name, content, _READINGS, _KEPT)
        return answer

    def _load(self) -> Dict[Tuple[str, str], _Reading]:
        content = store.read(self._name)
        if content is None:
            return {}
        try:
            known = msgspec.msgpack.decode(content, type=_Known)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return {}
        if known.own != unchanged.own_state():  # another envdoctor may read files otherwise
            return {}
        return {(reading.question, reading.path): reading for reading in known.readings}
