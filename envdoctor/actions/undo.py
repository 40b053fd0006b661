"""Where the snapshot of an environment lies while it is changed, and what a later call knows of it.

A folder that nobody else can write to, in the user's cache folder if that is on the file system of
the environment, else beside the environment: large files get a second name there. The journal says
how far a change came, so that what was broken off can be taken back by another process.
"""

# ruff: noqa: PTH116, PTH208
# Paths are bytes, for names of files need be no text; pathlib has no such.

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from pathlib import Path
from typing import Iterator, List, Optional, Tuple

import msgspec

from envdoctor.actions.snapshot import Entries, SnapshotError
from envdoctor.cache import store as cache

#: States of a change: the snapshot is being taken; steps run; all went well.
TAKING, RUNNING, DONE = "taking", "running", "done"

_JOURNAL, _ENTRIES, _AFTER, _LOCK = "journal.json", "entries", "after", "lock"
#: Folders of an undo folder: the copies, and where steps are run.
FILES, WORK = "files", "work"


class Journal(msgspec.Struct, omit_defaults=True):
    """How far a change came."""

    prefix: str
    roots: Tuple[str, ...]
    state: str
    steps: Tuple[str, ...] = ()
    format: int = 1


class Undo:
    """The undo folder of an environment."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @property
    def files(self) -> Path:
        """The folder of the copies."""
        return self.place / FILES

    @property
    def work(self) -> Path:
        """An empty folder to run steps in: nothing of a project lies there."""
        return self.place / WORK

    def begin(self, journal: Journal) -> None:
        """Make the folder anew, in place of what an earlier change left. Raises OSError."""
        self.forget()
        for folder in (self.place, self.files, self.work):
            folder.mkdir(mode=0o700, parents=folder == self.place, exist_ok=True)
        self.note(journal)

    def note(self, journal: Journal) -> None:
        """Write how far it came, so that it is known after a crash. Raises OSError."""
        self._write(_JOURNAL, msgspec.json.encode(journal))

    def journal(self) -> Optional[Journal]:
        """How far a change came; None where there was none that can be read."""
        try:
            return msgspec.json.decode((self.place / _JOURNAL).read_bytes(), type=Journal)
        except (OSError, msgspec.DecodeError):
            return None

    def keep(self, entries: Entries, after: bool = False) -> None:
        """Write what was, or is after the change. Raises OSError."""
        self._write(_AFTER if after else _ENTRIES, msgspec.msgpack.encode(entries))

    def entries(self, after: bool = False) -> Entries:
        """What was, or was after the change. Raises SnapshotError."""
        try:
            content = (self.place / (_AFTER if after else _ENTRIES)).read_bytes()
            return msgspec.msgpack.decode(content, type=Entries)
        except (OSError, msgspec.DecodeError) as error:
            raise SnapshotError(f"the snapshot in {self.place} cannot be read: {error}") from None

    def forget(self) -> None:
        """Remove what the folder holds. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            for path in sorted(self.place.iterdir(), key=lambda path: path.name != _JOURNAL):
                if path.name == _LOCK:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def remove(self) -> None:
        """Remove the folder, as far as that can be done."""
        with contextlib.suppress(OSError):
            self.forget()
            shutil.rmtree(self.place)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Within, no other envdoctor changes the environment. Raises SnapshotError."""
        try:
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_ours(self.place):
                raise SnapshotError(f"others can write to {self.place}")
            handle = os.open(self.place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SnapshotError(
                f"{self.place} cannot be made, where the snapshot is kept: {error.strerror}"
            ) from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise SnapshotError("another envdoctor is changing this environment") from None
            yield
        finally:
            os.close(handle)

    def running(self) -> Optional[int]:
        """The number of a process that was left behind by a step; None if there is none."""
        work = os.fspath(self.work)
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid():
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{entry}/cwd") == work:
                        return int(entry)
        return None

    def _write(self, name: str, content: bytes) -> None:
        temporary = self.place / f".{name}"
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self.place / name)
        handle = os.open(self.place, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def places(prefix: str) -> List[Path]:
    """Where the undo folder of a prefix may lie."""
    name = hashlib.sha256(os.fsencode(prefix)).hexdigest()[:16]
    found = []
    folder = cache.folder()
    if folder is not None:
        found.append(Path(folder) / "repairs" / name)
    path = Path(prefix)
    found.append(path.parent / f".{path.name}.envdoctor-{name[:8]}")
    return found


def existing(prefix: str) -> Optional[Undo]:
    """The undo folder of a prefix that holds a change; None if none does."""
    for place in places(prefix):
        if _is_ours(place):
            undo = Undo(place)
            journal = undo.journal()
            if journal is not None and journal.prefix == prefix:
                return undo
    return None


def chosen(prefix: str) -> Tuple[Undo, bool]:
    """Where to keep a snapshot, and whether that is on the file system of the environment."""
    device = os.stat(prefix).st_dev
    candidates = places(prefix)
    for place in candidates:
        folder = place
        while not folder.exists():
            folder = folder.parent
        if os.stat(folder).st_dev == device and os.access(folder, os.W_OK):
            return Undo(place), True
    return Undo(candidates[0]), False


def _is_ours(place: Path) -> bool:
    """Whether it is a folder that nobody else can write to."""
    try:
        status = place.lstat()
    except OSError:
        return False
    return (
        place.is_dir()
        and not place.is_symlink()
        and (status.st_uid == os.geteuid() and not status.st_mode & 0o022)
    )
