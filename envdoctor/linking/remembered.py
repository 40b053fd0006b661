"""Remembers what the loader would do with an environment's binaries while nothing of it changes.

A first examination opens hundreds of files. What it found is kept with every path that it looked
at: shared objects, lists of files, folders that were searched. If `stat` tells of all of them what
it told then, the answer stands, and no binary is opened (`envdoctor.cache.unchanged`). Where times
or inodes differ, as in a container that was started anew or after a copy, their content decides:
of binaries by `envdoctor.elf.content`, of folders by their names, of other files by all they hold.
"""

# ruff: noqa: PTH112, PTH208
# Without pathlib, whose import would take longer than all of this.

from __future__ import annotations

import os
import time
import zlib
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple

import msgspec

from envdoctor.cache import store, unchanged
from envdoctor.model.facts import FAILED, Linking, Observed, Target, unseen
from envdoctor.model.text import clean

if TYPE_CHECKING:
    from envdoctor.linking.examine import Progress

#: Why nothing is known of them where nobody wanted to wait.
NOT_READ = "binaries were not read (--no-deep)"
#: The same where nobody has waited so far.
NOT_YET = "binaries were not read yet: envdoctor check does"
_FAMILY = "linking-"
_KEPT = 20  # answers: an environment each, and a few variables
_MAX_PATHS = 100_000
_MAX_TEXT = 1 << 24


class _Memory(msgspec.Struct, array_like=True):
    key: bytes
    own: bytes
    answer: Observed[Linking]
    paths: List[bytes]
    state: bytes
    content: bytes


def observe_linking(
    target: Target,
    projects: Tuple[str, ...] = (),
    deep: Optional[bool] = True,
    progress: Optional[Callable[[], Optional[Progress]]] = None,
    paths: Sequence[str] = (),
) -> Observed[Linking]:
    """What would not load of a target of this machine.

    Not `deep`: that it was not looked at; None: what is known from before, or that. A fault of
    envdoctor's own is told as the reason why it is unknown. `progress` makes who is told how far a
    first reading is. `paths` are folders, files and wheels whose binaries are examined as well.

    Raises PathError if one of these cannot be read.
    """
    if deep is False:
        return unseen(NOT_READ)
    if paths:
        return _with_paths(target, projects, progress, paths)
    try:
        memory = Remembered(target, projects)
        known = memory.answer()
        if known is not None:
            return known
        if deep is None:
            return unseen(NOT_YET)
        from envdoctor.linking.examine import examined
        from envdoctor.linking.gpu_code import with_gpu_code

        found, looked = examined(target, projects, progress() if progress is not None else None)
        found = with_gpu_code(found, target, projects)
        memory.keep(found, looked)
    except Exception as error:
        return unseen(clean(f"{FAILED}: {type(error).__name__}: {error}"))
    return found


def _with_paths(
    target: Target,
    projects: Tuple[str, ...],
    progress: Optional[Callable[[], Optional[Progress]]],
    paths: Sequence[str],
) -> Observed[Linking]:
    """The same with what was named, which is looked at anew each time. Raises PathError."""
    from envdoctor.linking.examine import examined
    from envdoctor.linking.files import suffixes
    from envdoctor.linking.gpu_code import with_gpu_code
    from envdoctor.linking.named import as_named, opened

    sites = (entry for entry in target.path if entry.endswith(("/site-packages", "/dist-packages")))
    with opened(paths, suffixes(target), next(sites, "")) as named:
        try:
            told = progress() if progress is not None else None
            found, _ = examined(target, projects, told, named.files)
            return as_named(with_gpu_code(found, target, projects), named.unpacked)
        except Exception as error:
            return unseen(clean(f"{FAILED}: {type(error).__name__}: {error}"))


class Remembered:
    """What is remembered of the binaries of one target."""

    def __init__(self, target: Target, projects: Tuple[str, ...]) -> None:
        """Nothing is read yet."""
        self._key = _key(target, projects)
        self._name = f"{_FAMILY}{zlib.crc32(self._key):08x}"
        self._own = unchanged.own_state()
        self._started = time.time_ns()

    def answer(self) -> Optional[Observed[Linking]]:
        """What was found, None if it has to be looked for."""
        data = store.read(self._name)
        if data is None:
            return None
        try:
            memory = msgspec.msgpack.decode(data, type=_Memory)
        except msgspec.DecodeError:
            return None
        if memory.key != self._key or memory.own != self._own:
            return None
        if unchanged.state(memory.paths) == memory.state:
            return memory.answer
        if content(memory.paths) != memory.content:
            return None
        self._write(memory.answer, memory.paths, memory.content)
        return memory.answer

    def keep(self, answer: Observed[Linking], looked: List[str]) -> None:
        """Keep what was found, with all that was looked at."""
        paths = [os.fsencode(path) for path in dict.fromkeys(looked)]
        if len(paths) <= _MAX_PATHS:
            self._write(answer, paths, content(paths))

    def _write(self, answer: Observed[Linking], paths: List[bytes], digest: bytes) -> None:
        # What changed a moment ago may change again unnoticed: then content decides, too.
        state = unchanged.state(paths, self._started - unchanged.SETTLED_NS) or b""
        memory = _Memory(self._key, self._own, answer, paths, state, digest)
        try:
            data = msgspec.msgpack.encode(memory)
        except UnicodeEncodeError:  # a path that is no text
            return
        store.write(self._name, data, _FAMILY, _KEPT)


def _key(target: Target, projects: Tuple[str, ...]) -> bytes:
    """All that the answer depends on beside files."""
    variables = sorted(
        (name, value)
        for name, value in target.environ.items()
        if name.startswith("LD_") or name in ("TORCH_USE_RTLD_GLOBAL", "TORCH_EXTENSIONS_DIR")
    )
    distributions = [
        (one.name, one.version, one.path, one.search_entry, one.editable, one.modules)
        for one in target.distributions
    ]
    torch = target.torch
    told: Tuple[Any, ...] = (
        os.uname().nodename,  # a home folder may be shared by machines
        os.environ.get("XDG_CACHE_HOME", ""),
        os.environ.get("HOME", ""),
        (target.python, target.soabi, target.version, target.path),
        variables,
        distributions,
        sorted(target.modules.items()),
        (torch.path, torch.cuda.value, torch.abi.value) if torch is not None else None,
        projects,
    )
    return repr(told).encode("utf-8", "surrogatepass")


def content(paths: List[bytes]) -> bytes:
    """What tells the content of these paths, in this order, from another."""
    import hashlib

    digest = hashlib.sha256()
    for path in paths:
        one = _content(path)
        digest.update(b"%d " % len(one))
        digest.update(one)
    return digest.digest()


def _content(path: bytes) -> bytes:
    from envdoctor.elf.content import content_key
    from envdoctor.elf.image import ElfError
    from envdoctor.facts.probe import read_file

    try:
        if os.path.isdir(path):
            return b"folder " + b"\0".join(sorted(os.listdir(path)))
        return content_key(os.fsdecode(path)).encode()
    except OSError:
        return b"unreadable"
    except ElfError:
        return b"file " + read_file(os.fsdecode(path), _MAX_TEXT, [])
    except ValueError:
        return b"none"
