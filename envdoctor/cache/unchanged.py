"""Tells whether files are still what they were when they were read, without reading them again.

As git's index does it: of each path what `stat` tells. The time of an inode's last change (ctime)
is the kernel's own, no program can set it back; the device's number is left out, for that of an
overlay or of an NFS mount differs from one mount to the next.
"""

# ruff: noqa: PTH100, PTH112, PTH116, PTH118, PTH120
# Without pathlib, whose import would take longer than all of this.

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
from typing import Dict, Iterable, List, Optional, Tuple

import msgspec

from envdoctor import __version__

#: A file that changed within this time before it was looked at may change again unnoticed: a
#: change of the same tick of the file system's clock leaves its times as they were.
SETTLED_NS = 2_000_000_000

_ABSENT = (errno.ENOENT, errno.ENOTDIR)
#: What looking at a path ends with as long as nothing on its way changes.
_LASTING = (*_ABSENT, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG)
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def state(paths: Iterable[bytes], before_ns: Optional[int] = None) -> Optional[bytes]:
    """What tells a later state of these paths from this one: equal bytes, equal content.

    None if a file system fails at one of them, or if one changed after `before_ns` (time.time_ns(),
    less SETTLED_NS): then it cannot be told from what it was when it was read.
    """
    found: List[Tuple[int, ...]] = []
    look, lasting = os.lstat, _LASTING
    ways: Dict[bytes, bool] = {}
    for path in paths:
        if before_ns is not None and not _has_settled(os.path.dirname(path), before_ns, ways):
            return None
        try:
            status = look(path)
            if status.st_mode & 0o170000 == 0o120000:  # a link, and what it leads to
                link = (status.st_ino, status.st_ctime_ns)
                if before_ns is not None and status.st_ctime_ns > before_ns:
                    return None
                found.append(link)
                status = os.stat(path)
        except OSError as error:
            if error.errno not in lasting:
                return None
            found.append((error.errno,))
            continue
        except ValueError:  # a null character: no such file can be
            found.append(())
            continue
        if before_ns is not None and status.st_ctime_ns > before_ns:
            return None
        found.append(
            (status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
        )
    return msgspec.msgpack.encode(found)


def _has_settled(folder: bytes, before_ns: int, known: Dict[bytes, bool]) -> bool:
    """Whether all links on the way to and at a folder led where they lead before that time."""
    if folder not in known:
        above = os.path.dirname(folder)
        known[folder] = above == folder or _has_settled(above, before_ns, known)
        with contextlib.suppress(OSError, ValueError):
            status = os.lstat(folder)
            if status.st_mode & 0o170000 == 0o120000 and status.st_ctime_ns > before_ns:
                known[folder] = False
    return known[folder]


#: What tells the matrices that users add to our own from others.
_added: List[bytes] = [b""]


def set_added(state: bytes) -> None:
    """Say which matrices of users count from now on, beside our own: what tells them from others.

    What is remembered from then on is remembered for them alone.
    """
    _added[0] = state


def own_state() -> bytes:
    """What tells this envdoctor from another: its code, its pages, its matrices, its libraries.

    Of a checkout as well, where nobody raises the version for a change; and with what was added.
    """
    return _own() + (b"\n+" + _added[0] if _added[0] else b"")


@functools.lru_cache(maxsize=1)
def _own() -> bytes:
    found = [__version__, sys.version, _PACKAGE]
    folders = [_PACKAGE]
    data = os.path.join(os.path.dirname(_PACKAGE), "matrices")
    if os.path.isdir(data):  # beside the package in a checkout, inside it when installed
        folders.append(data)
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        folders.append(entry.path)
                else:
                    status = entry.stat()
                    found.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
    # Libraries are installed into the folder that holds this one of them.
    libraries = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
    found.append(f"{libraries} {os.stat(libraries).st_mtime_ns}")
    return "\n".join(found).encode("utf-8", "surrogateescape")
