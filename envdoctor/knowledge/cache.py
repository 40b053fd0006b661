"""Reads the matrix files, and keeps what was read in the user's cache folder.

Parsing YAML would take most of a check's time. The cache is keyed by the content of the files and
by the code that decodes them; one that is corrupt, foreign or cannot be written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Dict, Generic, List, Optional, Tuple, Type, TypeVar

import msgspec

from envdoctor import __version__
from envdoctor.knowledge.document import Document, DocumentError
from envdoctor.knowledge.schema import PackageFile, PlatformFile

T = TypeVar("T")

_KINDS = (("packages", PackageFile), ("platform", PlatformFile))
_CODE = ("document.py", "schema.py", "cache.py")


class Loaded(msgspec.Struct, Generic[T], frozen=True):
    """A decoded file: its name for messages, and "file:line" of its entries by id."""

    name: str
    content: T
    places: Dict[str, str]


class Files(msgspec.Struct, frozen=True):
    """All matrix files of a folder."""

    packages: List[Loaded[PackageFile]] = []
    platforms: List[Loaded[PlatformFile]] = []


def read(folder: Path) -> Files:
    """The matrix files of `folder`, sorted by name. Raises DocumentError."""
    texts: List[Tuple[str, str, str]] = []
    digest = hashlib.sha256(__version__.encode())
    for name in _CODE:
        digest.update((Path(__file__).parent / name).read_bytes())
    for kind, _ in _KINDS:
        for path in sorted((folder / kind).glob("*.yaml")):
            content = path.read_bytes()
            digest.update(b"%s/%s %d " % (kind.encode(), path.name.encode(), len(content)))
            digest.update(content)
            texts.append((kind, f"{kind}/{path.name}", content.decode("utf-8", "strict")))
    if not texts:
        raise DocumentError(f"{folder}: no matrices there")
    kept = _cached(digest.hexdigest())
    if kept is not None:
        return kept
    files = Files(
        packages=[_decode(name, text, PackageFile) for k, name, text in texts if k == "packages"],
        platforms=[_decode(name, text, PlatformFile) for k, name, text in texts if k == "platform"],
    )
    _keep(digest.hexdigest(), files)
    return files


def _decode(name: str, text: str, kind: Type[T]) -> Loaded[T]:
    document = Document(name, text)
    content = document.decode(kind)
    places = {}
    for part in ("builds", "relations"):
        for index, entry in enumerate(document.data.get(part) or ()):
            places[entry["id"]] = document.place(part, index)
    return Loaded(name, content, places)


def _path(key: str) -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "envdoctor" / f"matrices-{key[:32]}.msgpack"


def _cached(key: str) -> Optional[Files]:
    with contextlib.suppress(OSError, msgspec.DecodeError, RuntimeError):
        return msgspec.msgpack.decode(_path(key).read_bytes(), type=Files)
    return None


def _keep(key: str, files: Files) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob("matrices-*.msgpack"):
            old.unlink()
        handle, temporary = tempfile.mkstemp(dir=str(path.parent))
        with os.fdopen(handle, "wb") as stream:
            stream.write(msgspec.msgpack.encode(files))
        os.replace(temporary, path)  # noqa: PTH105 - atomic, and on one file system
