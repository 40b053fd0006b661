"""Entries of the user's cache folder: bytes that are either what was written or not there.

A verdict is taken from them, so they count only where nobody else can have written them.
"""

# ruff: noqa: PTH103, PTH105, PTH108, PTH111, PTH116, PTH117, PTH118, PTH120
# Without pathlib and hashlib, whose imports would take longer than what is read here.

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from typing import List, Optional

MAX_BYTES = 16 << 20
_CHECKSUM = 4  # bytes of the CRC-32 that precedes the content: against mishaps, not against malice


def folder() -> Optional[str]:
    """The user's cache folder for envdoctor, which may not exist yet; None if none is wanted."""
    if os.environ.get("ENVDOCTOR_NO_CACHE"):
        return None
    # A relative folder is invalid (XDG Base Directory Specification): it would be a project's.
    # An empty HOME makes "~/.cache" a folder of the machine's root.
    home = "~/.cache" if os.environ.get("HOME", "~") else ""
    for root in (os.environ.get("XDG_CACHE_HOME", ""), home):
        expanded = os.path.expanduser(root)
        if os.path.isabs(expanded):
            return os.path.join(expanded, "envdoctor")
    return None


def read(name: str) -> Optional[bytes]:
    """What was written under a name; None unless it is there whole. Never waits, never raises."""
    place = folder()
    if place is None:
        return None
    with contextlib.suppress(OSError, ValueError):
        # Without blocking: what lies there may be a pipe.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(os.path.join(place, name), flags)
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not (stat.S_ISREG(status.st_mode) and _is_ours(status) and _is_ours(os.stat(place))):
                return None
            checksum, content = stream.read(_CHECKSUM), stream.read(MAX_BYTES)
        if checksum == _checksum(content):
            return content
    return None


def write(name: str, content: bytes, family: str, keep: int) -> None:
    """Write an entry; of the others whose names begin with `family` the newest `keep` stay.

    What cannot be written is not.
    """
    place = folder()
    if place is None or len(content) > MAX_BYTES:
        return
    import tempfile

    with contextlib.suppress(OSError, ValueError):
        if not _may_make(place):
            return
        os.makedirs(place, mode=0o700, exist_ok=True)
        if not _is_ours(os.stat(place)):
            return
        for old in _relatives(place, family, name)[keep:]:
            with contextlib.suppress(OSError):  # another process was faster; or it is a folder
                os.unlink(old)
        handle, temporary = tempfile.mkstemp(dir=place)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(_checksum(content))
                stream.write(content)
            os.replace(temporary, os.path.join(place, name))  # atomic, and on one file system
        except BaseException:
            os.unlink(temporary)
            raise


def _is_ours(status: os.stat_result) -> bool:
    """Whether nobody else can write to a file or folder (root can, in any case)."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _may_make(place: str) -> bool:
    """Whether a folder is there, or would be where it is made.

    Under sudo the home folder may still be the user's, who could not write to what root made there.
    """
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    return os.geteuid() != 0 or os.stat(place).st_uid == 0


def _relatives(place: str, family: str, name: str) -> List[str]:
    """The other entries of a family, the newest first."""
    found = []
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(family) and entry.name != name:
                with contextlib.suppress(FileNotFoundError):  # another process was faster
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime_ns, entry.path))
    return [path for _, path in sorted(found, reverse=True)]


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECKSUM, "little")
