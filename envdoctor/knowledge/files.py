"""Reads the matrix files of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Generic, List, Type, TypeVar

import msgspec

from envdoctor.knowledge.cache import cached
from envdoctor.knowledge.document import Document, DocumentError
from envdoctor.knowledge.schema import PackageFile, PlatformFile

T = TypeVar("T")

_HERE = Path(__file__).resolve().parent


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
    sources = [
        (f"{kind}/{path.name}", path.read_bytes())
        for kind in ("packages", "platform")
        for path in sorted((folder / kind).glob("*.yaml"))
    ]
    if not sources:
        raise DocumentError(f"{folder}: no matrices there")
    code = [_HERE / name for name in ("document.py", "schema.py", "files.py")]
    return cached("matrices", sources, code, Files, _decode_all)


def _decode_all(texts: Dict[str, str]) -> Files:
    return Files(
        packages=[_decode(n, t, PackageFile) for n, t in texts.items() if n.startswith("pac")],
        platforms=[_decode(n, t, PlatformFile) for n, t in texts.items() if n.startswith("pla")],
    )


def _decode(name: str, text: str, kind: Type[T]) -> Loaded[T]:
    document = Document(name, text)
    return Loaded(name, document.decode(kind), places(document))


def places(document: Document) -> Dict[str, str]:
    """Where each entry of a decoded document stands, by its id."""
    return {
        entry["id"]: document.place(part, index)
        for part in ("builds", "relations")
        for index, entry in enumerate(document.data.get(part) or ())
    }
