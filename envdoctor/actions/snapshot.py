"""A snapshot of the files of an environment, out of which each is put back byte for byte.

Small files are copied. Large ones get a second name (a hard link), or share their blocks where the
file system can do that: installers write new files in the place of old ones, and not into them.
What a file was is kept with it: its digest, mode, owner and time. Nothing is followed out of the
environment, and what is put back is compared with what was there.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH118, PTH120, PTH123, PTH208, PTH211
# Paths are bytes, for names of files need be no text; pathlib has no such.

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import msgspec

#: Smaller files are copied, for scripts may write into them.
_LARGE = 1 << 20
_CHUNK = 1 << 20
_MOST = 2_000_000  # files and folders
_DEEPEST = 200
_FOLDER = 1000  # copies in one folder
_FICLONE = 0x40049409  # ioctl of Linux: share the blocks of another file
_SPARE = 64 << 20  # bytes that are to be left free

_PREFIX = b""
FILE, FOLDER, LINK = "f", "d", "l"

#: Is told how many of how many files are done.
Progress = Callable[[int, int], None]


class SnapshotError(Exception):
    """No snapshot can be taken, or put back; the message is one sentence for the user."""


class Entry(msgspec.Struct, array_like=True):
    """What a path of the environment is."""

    kind: str
    mode: int
    uid: int
    gid: int
    size: int
    mtime: int
    inode: int
    ctime: int
    digest: bytes = b""
    target: bytes = b""  # of a link
    copy: int = -1  # the number of its copy; -1 where there is none


#: By path below the prefix.
Entries = Dict[bytes, Entry]


class Differences(NamedTuple):
    """How an environment differs from a snapshot, as paths."""

    new: Tuple[bytes, ...]
    gone: Tuple[bytes, ...]
    changed: Tuple[bytes, ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.changed)


def listed(prefix: bytes, roots: Sequence[bytes]) -> Entries:
    """All that lies at and below `roots` of a prefix, without digests. Raises SnapshotError."""
    found: Entries = {}
    status = os.lstat(prefix)
    device = status.st_dev
    own = _entry(prefix, status)
    if own is not None:
        found[_PREFIX] = own  # for its time: what else lies there is not looked at
    waiting: List[Tuple[bytes, int]] = [(root, 0) for root in roots]
    while waiting:
        path, depth = waiting.pop()
        full = os.path.join(prefix, path)
        try:
            status = os.lstat(full)
        except FileNotFoundError:
            continue
        if status.st_dev != device:
            raise SnapshotError(f"{_shown(full)} is on another file system than the environment")
        entry = _entry(full, status)
        if entry is None:
            continue
        found[path] = entry
        if len(found) > _MOST or depth > _DEEPEST:
            raise SnapshotError(f"{_shown(prefix)} holds too many files or folders to be kept")
        if entry.kind == FOLDER:
            waiting += [(os.path.join(path, name), depth + 1) for name in os.listdir(full)]
    return found


def space_needed(entries: Entries, is_near: bool) -> int:
    """Bytes that a snapshot takes at most; `is_near`: on the file system of the environment."""
    small = [e.size for e in entries.values() if e.kind == FILE and not (is_near and _is_large(e))]
    return sum(-(-size // 4096) * 4096 for size in small) + _SPARE


def take(prefix: bytes, roots: Sequence[bytes], store: Path, progress: Progress) -> Entries:
    """Keep all that lies at `roots` in the folder `store`. Raises SnapshotError."""
    entries = listed(prefix, roots)
    files = [path for path, entry in entries.items() if entry.kind == FILE]
    keeper = _Keeper(store)
    for number, path in enumerate(files):
        if not number % _FOLDER:
            store.joinpath(str(number // _FOLDER)).mkdir(mode=0o700)
        progress(number, len(files))
        full = os.path.join(prefix, path)
        try:
            entries[path] = keeper.keep(full, entries[path], number)
        except OSError as error:
            told = error.strerror or str(error)
            raise SnapshotError(f"{_shown(full)} cannot be kept: {told}") from None
    progress(len(files), len(files))
    return entries


def compare(prefix: bytes, roots: Sequence[bytes], entries: Entries) -> Differences:
    """How the environment differs from a snapshot; of folders the mode alone counts.

    Files are read where only the time of their last change differs, which each new name gives them.
    """
    now = listed(prefix, roots)
    both = sorted(entries.keys() & now.keys())
    return Differences(
        new=tuple(sorted(now.keys() - entries.keys())),
        gone=tuple(sorted(entries.keys() - now.keys())),
        changed=tuple(path for path in both if _is_changed(prefix, path, entries[path], now[path])),
    )


def put_back(prefix: bytes, roots: Sequence[bytes], entries: Entries, store: Path) -> List[str]:
    """Make the environment what it was; return what could not be made that, as sentences.

    It may be called again where it was broken off. What it needs lies in `store`.
    """
    problems: List[str] = []
    restorer = _Restorer(prefix, entries, store)
    difference = compare(prefix, roots, entries)
    order = sorted(difference.new, key=lambda path: path.count(b"/"), reverse=True)
    for path in order:
        _tried(problems, restorer.remove, path)
    for path in sorted((*difference.gone, *difference.changed), key=lambda path: path.count(b"/")):
        _tried(problems, restorer.restore, path)
    folders = [path for path, entry in entries.items() if entry.kind == FOLDER]
    for path in sorted(folders, key=lambda path: path.count(b"/"), reverse=True):
        _tried(problems, restorer.settle, path)
    problems += verify(prefix, roots, entries)
    return list(dict.fromkeys(problems))


def verify(prefix: bytes, roots: Sequence[bytes], entries: Entries) -> List[str]:
    """What is not as a snapshot says: names, contents, modes, owners, times, links."""
    now = listed(prefix, roots)
    problems = [f"{_shown(path)} is new" for path in sorted(now.keys() - entries.keys())]
    for path, entry in entries.items():
        found = now.get(path)
        if found is None:
            problems.append(f"{_shown(path)} is gone")
        elif not _is_alike(entry, found):
            problems.append(f"{_shown(path)} has another kind, size, mode, owner or time")
        elif entry.kind == FILE and not _is_untouched(entry, found):
            with contextlib.suppress(OSError):
                if _digest(os.path.join(prefix, path)) == entry.digest:
                    continue
            problems.append(f"{_shown(path)} has another content")
    return problems


def drop_untouched(prefix: bytes, roots: Sequence[bytes], entries: Entries, store: Path) -> None:
    """Remove the copies of what did not change: nobody will need them."""
    difference = compare(prefix, roots, entries)
    needed = {*difference.gone, *difference.changed}
    for path, entry in entries.items():
        if entry.copy >= 0 and path not in needed:
            with contextlib.suppress(OSError):
                _place(store, entry.copy).unlink()
            entry.copy = -1


def _is_large(entry: Entry) -> bool:
    return entry.size >= _LARGE


def _entry(full: bytes, status: os.stat_result) -> Optional[Entry]:
    mode = status.st_mode
    target = b""
    if stat.S_ISREG(mode):
        kind = FILE
    elif stat.S_ISDIR(mode):
        kind = FOLDER
    elif stat.S_ISLNK(mode):
        kind, target = LINK, os.readlink(full)
    else:
        return None  # pipes, sockets and devices belong to no distribution
    return Entry(
        kind=kind,
        mode=stat.S_IMODE(mode),
        uid=status.st_uid,
        gid=status.st_gid,
        size=status.st_size if kind == FILE else 0,
        mtime=status.st_mtime_ns,
        inode=status.st_ino,
        ctime=status.st_ctime_ns,
        target=target,
    )


def _is_alike(entry: Entry, now: Entry) -> bool:
    """Whether two are the same but for what files hold."""
    mine = (entry.kind, entry.mode, entry.uid, entry.gid, entry.size, entry.mtime, entry.target)
    return mine == (now.kind, now.mode, now.uid, now.gid, now.size, now.mtime, now.target)


def _is_untouched(entry: Entry, now: Entry) -> bool:
    """Whether nothing was done to it: no program can set the time of a file's last change."""
    if entry.kind == FOLDER:
        return (entry.kind, entry.mode) == (now.kind, now.mode)
    same = (entry.inode, entry.ctime) == (now.inode, now.ctime)
    return same and _is_alike(entry, now)


def _is_changed(prefix: bytes, path: bytes, entry: Entry, now: Entry) -> bool:
    if _is_untouched(entry, now):
        return False
    if entry.kind != FILE or entry.inode != now.inode or not _is_alike(entry, now):
        return True
    if not entry.digest:
        return False
    try:
        return _digest(os.path.join(prefix, path)) != entry.digest
    except OSError:
        return True


def _digest(full: bytes) -> bytes:
    digest = hashlib.sha256()
    with open(os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            digest.update(chunk)
    return digest.digest()


def _place(store: Path, number: int) -> Path:
    return store / str(number // _FOLDER) / str(number)


class _Keeper:
    """Keeps files in a folder."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.can_clone = True

    def keep(self, full: bytes, entry: Entry, number: int) -> Entry:
        """The entry of a file that was kept, with its digest. Raises OSError, SnapshotError."""
        copy = _place(self.store, number)
        if _is_large(entry) and not self._cloned(full, copy):
            with contextlib.suppress(OSError):
                os.link(full, copy, follow_symlinks=False)
        digest = _digest(full) if copy.exists() else self._copied(full, copy)
        found = os.lstat(full)
        now = _entry(full, found)
        if now is None or not _is_alike(entry, now):
            raise SnapshotError(f"{_shown(full)} was changed meanwhile by another process")
        if found.st_ino != copy.stat().st_ino:
            _dress(os.fsencode(copy), entry, full)
        now.digest, now.copy = digest, number
        return now

    def _cloned(self, full: bytes, copy: Path) -> bool:
        """Whether the copy shares the blocks of the file."""
        if not self.can_clone:
            return False
        try:
            with open(full, "rb") as source, copy.open("xb") as made:
                fcntl.ioctl(made.fileno(), _FICLONE, source.fileno())
        except OSError:
            self.can_clone = False
            with contextlib.suppress(OSError):
                copy.unlink()
            return False
        return True

    def _copied(self, full: bytes, copy: Path) -> bytes:
        digest = hashlib.sha256()
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(full, flags), "rb") as source, copy.open("xb") as made:
            for chunk in iter(lambda: source.read(_CHUNK), b""):
                digest.update(chunk)
                made.write(chunk)
        return digest.digest()


def _dress(full: bytes, entry: Entry, like: Optional[bytes] = None) -> None:
    """Give a file the mode, owner and time of an entry, and the attributes of another file."""
    if like is not None:
        with contextlib.suppress(OSError):
            for name in os.listxattr(like, follow_symlinks=False):
                value = os.getxattr(like, name, follow_symlinks=False)
                os.setxattr(full, name, value, follow_symlinks=False)
    status = os.lstat(full)
    if (status.st_uid, status.st_gid) != (entry.uid, entry.gid):
        with contextlib.suppress(OSError):
            os.chown(full, entry.uid, entry.gid, follow_symlinks=False)
    if entry.kind != LINK and stat.S_IMODE(os.lstat(full).st_mode) != entry.mode:
        os.chmod(full, entry.mode)
    if os.lstat(full).st_mtime_ns != entry.mtime:
        os.utime(full, ns=(status.st_atime_ns, entry.mtime), follow_symlinks=False)


class _Restorer:
    """Puts back single paths."""

    def __init__(self, prefix: bytes, entries: Entries, store: Path) -> None:
        self.prefix = prefix
        self.entries = entries
        self.store = store
        self.opened: Set[bytes] = set()

    def remove(self, path: bytes) -> None:
        """Remove what was not there; what lies in it went before."""
        full = os.path.join(self.prefix, path)
        with self._writable(path), contextlib.suppress(FileNotFoundError):
            self._gone(full)

    def restore(self, path: bytes) -> None:
        """Put back what was there; the folder that holds it was put back before."""
        entry = self.entries[path]
        full = os.path.join(self.prefix, path)
        with self._writable(path):
            if entry.kind == FOLDER:
                self._folder(full)
            elif entry.kind == LINK:
                if not _is_link_to(full, entry.target):
                    self._gone(full)
                    os.symlink(entry.target, full)
                _dress(full, entry)
            else:
                self._file(full, entry)

    def settle(self, path: bytes) -> None:
        """Give a folder its mode and time, now that nothing in it moves any more."""
        full = os.path.join(self.prefix, path)
        if stat.S_ISDIR(os.lstat(full).st_mode):
            _dress(full, self.entries[path])

    def _file(self, full: bytes, entry: Entry) -> None:
        copy = os.fsencode(_place(self.store, entry.copy))
        is_kept = entry.copy >= 0 and os.path.lexists(copy)
        if not is_kept:
            # put back before, or only its mode or time was changed
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(os.lstat(full).st_mode):
                    _dress(full, entry)
            return
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(full).st_mode):
                self._gone(full)
        try:
            os.rename(copy, full)  # takes no space where the disk is full
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            temporary = full + b".envdoctor"
            shutil.copyfile(copy, temporary, follow_symlinks=False)
            _dress(temporary, entry, copy)
            os.rename(temporary, full)
        _dress(full, entry)

    def _folder(self, full: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISDIR(os.lstat(full).st_mode):
                return
            self._gone(full)
        os.mkdir(full, 0o700)

    def _gone(self, full: bytes) -> None:
        try:
            status = os.lstat(full)
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(full)
            return
        try:
            os.rmdir(full)
        except OSError:  # a folder in the place of a file
            shutil.rmtree(full)

    @contextlib.contextmanager
    def _writable(self, path: bytes) -> Iterator[None]:
        """Within, the folder that holds a path can be written to; its mode is set in the end."""
        folder = os.path.dirname(os.path.join(self.prefix, path))
        if folder not in self.opened:
            self.opened.add(folder)
            with contextlib.suppress(OSError):
                mode = os.lstat(folder).st_mode
                if stat.S_ISDIR(mode) and mode & 0o300 != 0o300:
                    os.chmod(folder, stat.S_IMODE(mode) | 0o700)
        yield


def _is_link_to(full: bytes, target: bytes) -> bool:
    try:
        return os.readlink(full) == target
    except OSError:
        return False


def _tried(problems: List[str], act: Callable[[bytes], None], path: bytes) -> None:
    try:
        act(path)
    except OSError as error:
        problems.append(f"{_shown(path)} cannot be put back: {error.strerror or error}")


def _shown(path: bytes) -> str:
    return os.fsdecode(path)
