"""Binaries that a user names by `--path`: a folder, one file, or a wheel that is not installed."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import zipfile
from typing import Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import msgspec

from envdoctor.elf.image import ElfError
from envdoctor.elf.library import open_library
from envdoctor.linking.files import SharedObject, is_foreign, module_of, walked
from envdoctor.model.facts import Binary, Linking, Observed
from envdoctor.model.text import clean

_MAX_MEMBERS = 20_000
_MAX_BYTES = 8 << 30  # of all shared objects of a wheel: torch's has 2.5 GB
_CHUNK = 1 << 20
_MAX_BESIDE = 20_000
# What pip puts into site-packages, too: "binary distribution format" of the packaging guide.
_DATA = re.compile(r"[^/]+\.data/(?:purelib|platlib)/")


class PathError(Exception):
    """A path that was named cannot be read; the message is one sentence for the user."""


class Unpacked(NamedTuple):
    """A wheel that was unpacked, and what stands beside it as if it were installed."""

    wheel: str
    site: str  # the site-packages where it would be installed, "" of an unknown one
    beside: FrozenSet[str] = frozenset()  # the folders of that, from it on

    def place_of(self, inside: str) -> str:
        """Where what lies at `inside` of the folder is: in the wheel, or in site-packages."""
        parts = inside.split("/")
        is_beside = any("/".join(parts[:count]) in self.beside for count in (1, 2))
        return f"{self.site if is_beside else self.wheel}/{inside}"


class Named(NamedTuple):
    """What was named."""

    files: Tuple[SharedObject, ...]
    unpacked: Dict[str, Unpacked]  # by the folder that it was unpacked to


@contextlib.contextmanager
def opened(paths: Sequence[str], ends: Tuple[str, ...], site: str = "") -> Iterator[Named]:
    """The shared objects at these paths; `ends` are how files of modules end.

    A wheel is unpacked into a folder that is gone afterwards, its shared objects alone, with links
    to what it would find in `site`, the site-packages: wheels name folders of others by $ORIGIN.
    Raises PathError.
    """
    files: List[SharedObject] = []
    unpacked: Dict[str, Unpacked] = {}
    with contextlib.ExitStack() as stack:
        for path in dict.fromkeys(map(os.path.abspath, paths)):
            root = _root(path)
            if root is None:
                name = path.rpartition("/")[2]
                files.append(SharedObject(path, module_of(name, ends), root=path))
                continue
            if root == "wheel":
                root = stack.enter_context(tempfile.TemporaryDirectory(prefix="envdoctor-"))
                members = _unpack(path, root)
                unpacked[root] = Unpacked(path, site, _link_beside(root, site))
                found = [_member(root, member, ends)._replace(root=path) for member in members]
            else:
                found = [one._replace(root=path) for one in walked(path, ends, {})]
            files += found
        yield Named(tuple(files), unpacked)


def _member(folder: str, member: str, ends: Tuple[str, ...]) -> SharedObject:
    """A shared object of a wheel, named from site-packages on."""
    module = module_of(member, ends)
    wanted = ""
    if not module and is_foreign(member):
        place, _, file = member.rpartition("/")
        stem = f"{place}/{file.partition('.')[0]}" if place else file.partition(".")[0]
        if not any(os.path.exists(f"{folder}/{stem}{end}") for end in ends):  # noqa: PTH110
            wanted = module_of(f"{stem}.so", ends)
    return SharedObject(f"{folder}/{member}", module, wanted=wanted)


def _root(path: str) -> Optional[str]:
    """The folder that is to be walked, "wheel" of a wheel, None of a file. Raises PathError."""
    shown = clean(path)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise PathError(f"{shown}: cannot be read: {reason}") from None
    if stat.S_ISDIR(mode):
        if not os.access(path, os.R_OK | os.X_OK):
            raise PathError(f"{shown}: cannot be read: permission denied")
        return path
    if not stat.S_ISREG(mode):
        raise PathError(f"{shown}: cannot be read: not a regular file")
    if path.endswith(".whl"):
        return "wheel"
    try:
        open_library(path).close()
    except ElfError as error:
        raise PathError(f"{shown}: {error}") from None
    return None


def _unpack(path: str, folder: str) -> List[str]:
    """Unpack the shared objects of a wheel; returns their names in it. Raises PathError."""
    found: List[str] = []
    left = _MAX_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist()[:_MAX_MEMBERS]:
                name = _DATA.sub("", os.path.normpath(member.filename), count=1)
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
    except PathError:
        raise
    except Exception as error:  # each way of compressing has errors of its own
        reason = clean(str(error))
        raise PathError(f"{clean(path)}: is no wheel that can be read: {reason}") from None
    return found


def _link_beside(folder: str, site: str) -> FrozenSet[str]:
    """Link in `folder` to the folders of site-packages that it lacks; returns their names.

    Of those that both have, a namespace like `nvidia` is made of both; else the wheel's own counts,
    for it takes the place of what is installed.
    """
    found: Set[str] = set()
    pending = [""] if site else []
    while pending:
        inside = pending.pop()
        with contextlib.suppress(OSError), os.scandir(f"{site}/{inside}") as entries:
            for entry in entries:
                name = f"{inside}{entry.name}"
                own = f"{folder}/{name}"
                if len(found) >= _MAX_BESIDE or not entry.is_dir():
                    continue
                if not os.path.lexists(own):
                    os.symlink(entry.path, own)  # noqa: PTH211
                    found.add(name)
                elif not inside and not os.path.exists(f"{entry.path}/__init__.py"):  # noqa: PTH110
                    pending.append(f"{name}/")
    return frozenset(found)


def as_named(linking: Observed[Linking], unpacked: Dict[str, Unpacked]) -> Observed[Linking]:
    """What was found, with a wheel's own path in place of the folder that it was unpacked to."""
    if linking.value is None or not unpacked:
        return linking

    def renamed(text: str) -> str:
        for folder, one in unpacked.items():
            start, found, inside = text.partition(f"{folder}/")
            text = start + one.place_of(inside) if found else text.replace(folder, one.wheel)
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
