"""Binaries that a user names by `--path`: a folder, one file, or a wheel that is not installed."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import zipfile
import zlib
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import msgspec

from envdoctor.linking.files import SharedObject, module_of, walked
from envdoctor.model.facts import Binary, Linking, Observed
from envdoctor.model.text import clean

_MAX_MEMBERS = 20_000
_MAX_BYTES = 8 << 30  # of all shared objects of a wheel: torch's has 2.5 GB
_CHUNK = 1 << 20


class PathError(Exception):
    """A path that was named cannot be read; the message is one sentence for the user."""


class Named(NamedTuple):
    """What was named."""

    files: Tuple[SharedObject, ...]
    unpacked: Dict[str, str]  # {folder: the wheel that was unpacked there}


@contextlib.contextmanager
def opened(paths: Sequence[str], ends: Tuple[str, ...]) -> Iterator[Named]:
    """The shared objects at these paths; `ends` are how files of modules end.

    A wheel is unpacked into a folder that is gone afterwards, its shared objects alone. Raises
    PathError.
    """
    files: List[SharedObject] = []
    unpacked: Dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        for path in dict.fromkeys(map(os.path.abspath, paths)):
            root = _root(path)
            if root is None:
                name = path.rpartition("/")[2]
                files.append(SharedObject(path, module_of(name, ends), root=path))
                continue
            if root == "wheel":
                root = stack.enter_context(tempfile.TemporaryDirectory(prefix="envdoctor-"))
                unpacked[root] = path
                members = _unpack(path, root)
                found = [
                    SharedObject(f"{root}/{member}", module_of(member, ends), root=path)
                    for member in members
                ]
            else:
                found = [one._replace(root=path) for one in walked(path, ends, {})]
            files += found
        yield Named(tuple(files), unpacked)


def _root(path: str) -> Optional[str]:
    """The folder that is to be walked, "wheel" of a wheel, None of a file. Raises PathError."""
    shown = clean(path)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise PathError(f"{shown}: cannot be read: {reason}") from None
    if stat.S_ISDIR(mode):
        return path
    if not stat.S_ISREG(mode):
        raise PathError(f"{shown}: cannot be read: not a regular file")
    return "wheel" if path.endswith(".whl") else None


def _unpack(path: str, folder: str) -> List[str]:
    """Unpack the shared objects of a wheel; returns their names in it. Raises PathError."""
    found: List[str] = []
    left = _MAX_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist()[:_MAX_MEMBERS]:
                name = os.path.normpath(member.filename)
                inside = not (name.startswith(("/", "..")) or "\0" in name)
                if not inside or not (name.endswith(".so") or ".so." in name):
                    continue
                place = f"{folder}/{name}"
                os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
                with archive.open(member) as source, open(place, "wb") as target:  # noqa: PTH123
                    while chunk := source.read(_CHUNK):
                        left -= len(chunk)
                        if left < 0:
                            raise PathError(f"{clean(path)}: is larger than any wheel")
                        target.write(chunk)
                found.append(name)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        reason = clean(str(error))
        raise PathError(f"{clean(path)}: is no wheel that can be read: {reason}") from None
    return found


def as_named(linking: Observed[Linking], unpacked: Dict[str, str]) -> Observed[Linking]:
    """What was found, with a wheel's own path in place of the folder that it was unpacked to."""
    if linking.value is None or not unpacked:
        return linking

    def renamed(text: str) -> str:
        for folder, wheel in unpacked.items():
            text = text.replace(folder, wheel)
        return text

    def told(one: Binary) -> Binary:
        return msgspec.structs.replace(
            one,
            path=renamed(one.path),
            by=renamed(one.by),
            instead=renamed(one.instead),
            origin=renamed(one.origin),
            looked=tuple(map(renamed, one.looked)),
        )

    value = msgspec.structs.replace(
        linking.value,
        binaries=tuple(map(told, linking.value.binaries)),
        undecided=tuple(map(renamed, linking.value.undecided)),
    )
    return msgspec.structs.replace(linking, value=value)
