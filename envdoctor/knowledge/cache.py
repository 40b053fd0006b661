"""Keeps what was decoded from text files in the user's cache folder.

Parsing YAML would take most of a check's time. An entry is keyed by the content of the files and
by the code that decodes them; one that was altered or cannot be read or written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path
from typing import Callable, Dict, Optional, Sequence, Tuple, Type, TypeVar

import msgspec

from envdoctor import __version__
from envdoctor.knowledge.document import decoded

T = TypeVar("T")

# An entry is the SHA-256 of its content, then the content: some hundred KB of it.
_DIGEST = hashlib.sha256().digest_size
_MAX_BYTES = 16 << 20

#: A file's name for messages, and its content.
Source = Tuple[str, bytes]


def cached(
    name: str,
    sources: Sequence[Source],
    code: Sequence[Path],
    kind: Type[T],
    make: Callable[[Dict[str, str]], T],
) -> T:
    """What `make` makes of the texts of `sources`, from the cache if it is there.

    `code` are the modules that decode them, `kind` what msgspec decodes the entry as. Raises what
    `make` raises, and DocumentError for a source that is not UTF-8.
    """
    digest = hashlib.sha256(__version__.encode())
    for path in code:
        digest.update(path.read_bytes())
    for source, content in sources:
        digest.update(b"%s %d " % (source.encode(), len(content)))
        digest.update(content)
    entry = _path(name, digest.hexdigest())
    kept = _read(entry, kind)
    if kept is not None:
        return kept
    made = make({source: decoded(source, content) for source, content in sources})
    _write(entry, name, msgspec.msgpack.encode(made))
    return made


def _path(name: str, key: str) -> Optional[Path]:
    # A relative folder is invalid (XDG Base Directory Specification): it would be a project's.
    # An empty HOME makes "~/.cache" a folder of the machine's root.
    home = "~/.cache" if os.environ.get("HOME", "~") else ""
    for root in (os.environ.get("XDG_CACHE_HOME", ""), home):
        with contextlib.suppress(RuntimeError):  # no home folder
            folder = Path(root).expanduser()
            if folder.is_absolute():
                return folder / "envdoctor" / f"{name}-{key[:32]}.msgpack"
    return None


def _read(entry: Optional[Path], kind: Type[T]) -> Optional[T]:
    """The entry decoded; None unless it is what was written."""
    if entry is None:
        return None
    with contextlib.suppress(OSError, msgspec.DecodeError):
        # Without blocking: what lies there may be a pipe.
        descriptor = os.open(entry, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            digest, content = stream.read(_DIGEST), stream.read(_MAX_BYTES)
        if digest == hashlib.sha256(content).digest():
            return msgspec.msgpack.decode(content, type=kind)
    return None


def _write(entry: Optional[Path], name: str, content: bytes) -> None:
    if entry is None:
        return
    import tempfile

    with contextlib.suppress(OSError):
        entry.parent.mkdir(parents=True, exist_ok=True)
        for old in entry.parent.glob(f"{name}-*.msgpack"):
            old.unlink()
        handle, temporary = tempfile.mkstemp(dir=str(entry.parent))
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(hashlib.sha256(content).digest())
                stream.write(content)
            os.replace(temporary, entry)  # noqa: PTH105 - atomic, and on one file system
        except BaseException:
            os.unlink(temporary)  # noqa: PTH108
            raise
