"""Applies source patches: python apply_patches.py PATCHES.json ROOT.

Copied into images and run by the interpreter that is there: the standard library of Python 3.6
and nothing else. `envdoctor/containers/patches.py` writes PATCHES.json.

Files below ROOT are changed and no others: links are not followed, neither to files nor to
folders. Encoding, line ends and mode stay. Either every edit finds what it must, or no file is
written. A second run finds all of it done.
"""

import contextlib
import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Pattern, Tuple

MAX_PATCHES = 1 << 20
MAX_FILE = 4 << 20
MAX_READ = 256 << 20
MAX_ENTRIES = 200000
MAX_DEPTH = 60
# What version control and builds keep is no source.
LEFT_OUT = (".git", ".hg", ".svn", "__pycache__")

#: What a document may raise that is not as `envdoctor/containers/patches.py` writes it.
_UNREADABLE = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
    re.error,
)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PatchError(Exception):
    """What keeps a patch from being applied, in one line."""


class Edit(NamedTuple):
    """One change of a patch."""

    patch: str
    number: int  # in its patch, from 1
    files: List[Pattern[str]]
    find: Pattern[str]
    put: str
    least: int  # places
    done: Optional[Pattern[str]]  # what stands where it is done


class Source:
    """A file as it was read, and its text as it is to be."""

    def __init__(self, content: bytes, seen: os.stat_result) -> None:
        text = content.decode("utf-8", "surrogateescape")
        # Lines of Windows are matched as any; where both kinds stand they are left as they are.
        self.is_dos = "\r\n" in text and text.count("\n") == text.count("\r\n")
        self.text = text.replace("\r\n", "\n") if self.is_dos else text
        self.before = self.text
        self.seen = seen

    def content(self) -> bytes:
        """The bytes of the text, with the line ends that were there."""
        text = self.text.replace("\n", "\r\n") if self.is_dos else self.text
        return text.encode("utf-8", "surrogateescape")


class Tree:
    """The regular files below a folder; every step down to one refuses links."""

    def __init__(self, root: str) -> None:
        try:
            self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise PatchError(f"{_shown(root)}: {_reason(error)}") from None
        self.paths = sorted(self._listed())
        self.sources: Dict[str, Optional[Source]] = {}
        self.refused: Dict[str, str] = {}
        self._left = MAX_READ

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._root)

    def source(self, path: str) -> Optional[Source]:
        """The file of a path, read once; None where it is gone or is no text, see `refused`."""
        if path not in self.sources:
            self.sources[path] = self._read(path)
        return self.sources[path]

    def write(self, path: str, source: Source) -> None:
        """Put a file's new text in its place at once. Raises PatchError."""
        folder, name = os.path.split(path)
        draft = f".{name[:50]}.{os.getpid()}"
        try:
            with self._folder(folder) as here:
                now = os.stat(name, dir_fd=here, follow_symlinks=False)
                if _mark(now) != _mark(source.seen):
                    raise PatchError(f"{_shown(path)}: has changed meanwhile")
                descriptor = os.open(draft, _WRITE, 0o600, dir_fd=here)
                try:
                    with os.fdopen(descriptor, "wb") as stream:
                        stream.write(source.content())
                        stream.flush()
                        if (now.st_uid, now.st_gid) != (os.geteuid(), os.getegid()):
                            with contextlib.suppress(OSError):  # who is not root keeps his own
                                os.fchown(stream.fileno(), now.st_uid, now.st_gid)
                        os.fchmod(stream.fileno(), stat.S_IMODE(now.st_mode))
                    os.replace(draft, name, src_dir_fd=here, dst_dir_fd=here)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.unlink(draft, dir_fd=here)
                    raise
        except OSError as error:
            raise PatchError(f"{_shown(path)}: {_reason(error)}") from None

    def _listed(self) -> Iterator[str]:
        left = MAX_ENTRIES
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with self._folder(folder) as here:
                    for name in os.listdir(here):  # noqa: PTH208 - of a descriptor
                        left -= 1
                        if left < 0:
                            raise PatchError(f"more than {MAX_ENTRIES} files")
                        path = f"{folder}/{name}" if folder else name
                        with contextlib.suppress(OSError):  # gone since
                            mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
                            if stat.S_ISREG(mode):
                                yield path
                            is_source = name not in LEFT_OUT and path.count("/") < MAX_DEPTH
                            if stat.S_ISDIR(mode) and is_source:
                                folders.append(path)
            except OSError:
                continue  # gone since, became a link, or is not ours to read

    @contextlib.contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        """A descriptor of a folder; raises OSError where a part of its path is a link."""
        here = os.dup(self._root)
        try:
            for name in path.split("/") if path else ():
                below = os.open(name, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)

    def _read(self, path: str) -> Optional[Source]:
        folder, name = os.path.split(path)
        try:
            with self._folder(folder) as here:
                descriptor = os.open(name, _READ, dir_fd=here)
                with os.fdopen(descriptor, "rb") as stream:
                    seen = os.fstat(stream.fileno())
                    if not stat.S_ISREG(seen.st_mode):
                        return None
                    content = stream.read(MAX_FILE + 1)
        except OSError as error:
            self.refused[path] = _reason(error)
            return None
        if len(content) > MAX_FILE:
            self.refused[path] = f"larger than {MAX_FILE} bytes"
            return None
        if b"\0" in content:
            self.refused[path] = "no text"
            return None
        self._left -= len(content)
        if self._left < 0:
            raise PatchError(f"the files of these patches are larger than {MAX_READ} bytes")
        return Source(content, seen)


def apply(patches: str, root: str) -> List[str]:
    """Apply the patches of a document to the files below a folder.

    Returns a line for each edit. Raises PatchError, and then no file has been changed, unless
    writing itself failed on the way: what was written then is found done by the next run.
    """
    edits = _edits(patches)
    tree = Tree(root)
    try:
        lines = [_edit(edit, tree) for edit in edits]
        for path, source in sorted(tree.sources.items()):
            if source is not None and source.text != source.before:
                tree.write(path, source)
        return lines
    finally:
        tree.close()


def _edit(edit: Edit, tree: Tree) -> str:
    places = files = done = 0
    refused = []
    for path in tree.paths:
        if not any(pattern.match(path) for pattern in edit.files):
            continue
        source = tree.source(path)
        if source is None:
            if path in tree.refused:
                refused.append(f"{_shown(path)}: {tree.refused[path]}")
            continue
        if edit.done is not None:
            done += sum(1 for _ in edit.done.finditer(source.text))
        source.text, number = edit.find.subn(edit.put, source.text)
        places += number
        files += number > 0
        if number and edit.find.search(source.text):
            raise PatchError(f"{_name(edit)} finds what it has put itself")
    if places + done < edit.least:
        told = f"{_name(edit)}: {places + done} of at least {edit.least} places found"
        if refused:
            told += "; left out: " + "; ".join(refused[:3])
        raise PatchError(told)
    if places:
        return f"{_name(edit)}: {_count(places, 'place')} in {_count(files, 'file')}"
    return f"{_name(edit)}: {'done already' if done else 'nothing to change here'}"


def _edits(text: str) -> List[Edit]:
    if len(text) > MAX_PATCHES:
        raise PatchError(f"the patches are larger than {MAX_PATCHES} characters")
    try:
        return [
            _decoded(patch["patch"], number, edit)
            for patch in json.loads(text)["patches"]
            for number, edit in enumerate(patch["edits"], 1)
        ]
    except _UNREADABLE as error:
        raise PatchError(f"the patches cannot be read: {error}") from None


def _decoded(patch: str, number: int, edit: Dict[str, Any]) -> Edit:
    find = re.compile(edit["find"], re.MULTILINE)
    find.sub(edit["put"], "")  # says now what is wrong with it
    done = edit.get("done")
    return Edit(
        patch,
        number,
        [glob(one) for one in edit["files"]],
        find,
        edit["put"],
        int(edit["least"]),
        re.compile(done, re.MULTILINE) if done else None,
    )


def glob(pattern: str) -> Pattern[str]:
    """What paths a glob means: `*` and `?` stand for parts of one name, `**/` for any folders.

    A name that begins with a dot is named. Raises ValueError for what may lead out of the tree.
    """
    parts = pattern.split("/")
    if "\\" in pattern or not all(parts) or {".", ".."} & set(parts) or "**" in parts[-1]:
        raise ValueError(f"{pattern!r} is no glob of files below the root")
    found = []
    for part in parts:
        if part == "**":
            found.append(r"(?:[^/.][^/]*/)*")
            continue
        if "**" in part:
            raise ValueError(f"{pattern!r}: ** stands alone between slashes")
        name = re.escape(part).replace(r"\*", "*").replace(r"\?", "?")
        name = name.replace("*", "[^/]*").replace("?", "[^/]")
        found.append(("(?![.])" if part[0] in "*?" else "") + name + "/")
    return re.compile("".join(found)[: -len("/")] + r"\Z", re.DOTALL)


def _name(edit: Edit) -> str:
    return f"{edit.patch}, edit {edit.number}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _mark(found: os.stat_result) -> Tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _shown(path: str) -> str:
    """A path, safe to print."""
    return path.encode("ascii", "backslashreplace").decode("ascii").replace("\n", "\\n")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def main(arguments: List[str]) -> int:
    """Run as a script. Returns 0, 1 where a patch does not fit, 2 for wrong arguments."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python apply_patches.py PATCHES.json ROOT\n")
        return 2
    try:
        with Path(arguments[0]).open(encoding="utf-8") as stream:
            text = stream.read(MAX_PATCHES + 1)
        for line in apply(text, arguments[1]):
            sys.stdout.write(_shown(line) + "\n")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{_shown(arguments[0])}: {error}\n")
        return 1
    except PatchError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
