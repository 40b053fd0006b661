"""Keeps what was decoded from text files in the user's cache folder.

Parsing YAML would take most of a check's time. An entry is keyed by the content of the files and
by the code that decodes them; one that is corrupt, foreign or cannot be written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Callable, Dict, Optional, Sequence, Tuple, Type, TypeVar

import msgspec

from envdoctor import __version__

T = TypeVar("T")

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
    `make` raises, and UnicodeDecodeError for a source that is not UTF-8.
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
    made = make({source: content.decode("utf-8") for source, content in sources})
    _write(entry, name, msgspec.msgpack.encode(made))
    return made


def _path(name: str, key: str) -> Optional[Path]:
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    with contextlib.suppress(RuntimeError):  # no home folder
        return Path(root).expanduser() / "envdoctor" / f"{name}-{key[:32]}.msgpack"
    return None


def _read(entry: Optional[Path], kind: Type[T]) -> Optional[T]:
    with contextlib.suppress(OSError, msgspec.DecodeError):
        if entry is not None:
            return msgspec.msgpack.decode(entry.read_bytes(), type=kind)
    return None


def _write(entry: Optional[Path], name: str, content: bytes) -> None:
    with contextlib.suppress(OSError):
        if entry is None:
            return
        entry.parent.mkdir(parents=True, exist_ok=True)
        for old in entry.parent.glob(f"{name}-*.msgpack"):
            old.unlink()
        handle, temporary = tempfile.mkstemp(dir=str(entry.parent))
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, entry)  # noqa: PTH105 - atomic, and on one file system
