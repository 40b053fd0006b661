"""Source patches: releases made to fit what they were not written for, `images/patches/*.yaml`.

docs/patches.md describes the form to people.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List, Optional, Union

from envdoctor.knowledge.cache import cached
from envdoctor.knowledge.document import Document, DocumentError
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.schema import Entry, one_of
from envdoctor.model.relation import BASES
from envdoctor.model.text import clean, number

_HERE = Path(__file__).resolve().parent
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_LANGUAGES = {"en", "zh"}
_MAX_BYTES = 1 << 16
_MAX_EDITS = 40
_MAX_GLOBS = 40
_MAX_TEXT = 4000
_MAX_LEAST = 10_000


class EditEntry(Entry, frozen=True):
    """One change: what is looked for in which files, and what stands there afterwards."""

    files: List[str]  # globs, relative to the root of the source
    find: str  # a regular expression; ^ and $ are of lines
    put: str  # \1 is the first group of `find`
    least: str = "1"  # in how many places it must stand, over all files; 0: in some releases
    done: str = ""  # what stands there where the edit was made before

    @property
    def places(self) -> int:
        """The fewest places."""
        return int(self.least)


class Patch(Entry, frozen=True):
    """What mends the use of one interface that is gone, in every release that uses it."""

    patch: str
    of: str  # a package, whose source's root it is for, or a profile: its repository's
    checked: str
    source: Union[str, List[str]]  # where the old interface and the new one were read
    basis: str  # measured where the patched source was compiled or run
    why: Dict[str, str]  # by language
    edits: List[EditEntry]
    note: str = ""


def patches(folder: Optional[Path] = None) -> Dict[str, Patch]:
    """Every patch by its name, sorted. Raises DocumentError."""
    found = sorted(((folder or data_folder("images")) / "patches").glob("*.yaml"))
    sources = [(f"images/patches/{path.name}", path.read_bytes()) for path in found]
    code = [_HERE / name for name in ("document.py", "schema.py", "patches.py")]
    return cached("patches", sources, code, Dict[str, Patch], _decode_all)


def _decode_all(texts: Dict[str, str]) -> Dict[str, Patch]:
    found = {}
    for name, text in texts.items():
        if len(text.encode()) > _MAX_BYTES:
            raise DocumentError(f"{name}: larger than {_MAX_BYTES} bytes")
        document = Document(name, text)
        patch = document.decode(Patch)
        _examine(patch, document)
        if name != f"images/patches/{patch.patch}.yaml":
            raise DocumentError(f"{document.place('patch')}: its file is called {patch.patch}.yaml")
        found[patch.patch] = patch
    return found


def _examine(patch: Patch, document: Document) -> None:
    if not _NAME.fullmatch(patch.patch):
        raise DocumentError(
            f"{document.place('patch')}: patch: {clean(patch.patch)!r}: a name is words in "
            "lower case, with - between them"
        )
    try:
        one_of("a basis", patch.basis, BASES)
    except ValueError as error:
        raise DocumentError(f"{document.place('basis')}: basis: {error}") from None
    for key in ("of", "checked", "source"):
        if not getattr(patch, key):
            raise DocumentError(f"{document.place(key)}: {key}: says nothing")
    if set(patch.why) != _LANGUAGES or not all(patch.why.values()):
        raise DocumentError(f"{document.place('why')}: why: stands in en and zh")
    if not 0 < len(patch.edits) <= _MAX_EDITS:
        raise DocumentError(f"{document.place('edits')}: edits: 1 to {_MAX_EDITS} are wanted")
    for index, edit in enumerate(patch.edits):
        _examine_edit(edit, f"{document.place('edits', index)}: edits[{index}]")
    if not any(edit.places for edit in patch.edits):
        raise DocumentError(f"{document.place('edits')}: edits: no edit must find a place")


def _examine_edit(edit: EditEntry, where: str) -> None:
    if not 0 < len(edit.files) <= _MAX_GLOBS:
        raise DocumentError(f"{where}.files: 1 to {_MAX_GLOBS} are wanted")
    for glob in edit.files:
        _glob(glob, f"{where}.files")
    least = number(edit.least)
    if least is None or not 0 <= least <= _MAX_LEAST:
        raise DocumentError(f"{where}.least: a number from 0 to {_MAX_LEAST} is wanted")
    find = _pattern(edit.find, f"{where}.find")
    if find.search("") is not None:
        raise DocumentError(f"{where}.find: finds nothing at all, everywhere")
    if len(edit.put) > _MAX_TEXT:
        raise DocumentError(f"{where}.put: longer than {_MAX_TEXT} characters")
    try:
        find.sub(edit.put, "")
    except (re.error, IndexError) as error:
        raise DocumentError(f"{where}.put: {error}") from None
    if edit.done:
        _pattern(edit.done, f"{where}.done")


def _glob(glob: str, where: str) -> None:
    parts = glob.split("/")
    if (
        "\\" in glob
        or not all(parts)
        or {".", ".."} & set(parts)
        or any("**" in part and part != "**" for part in parts)
        or parts[-1] == "**"
    ):
        raise DocumentError(f"{where}: {clean(glob)!r} is no glob of files below the root")


def _pattern(pattern: str, where: str) -> re.Pattern[str]:
    if len(pattern) > _MAX_TEXT:
        raise DocumentError(f"{where}: longer than {_MAX_TEXT} characters")
    try:
        return re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise DocumentError(f"{where}: {clean(pattern)!r}: {error}") from None


__all__ = ["EditEntry", "Patch", "patches"]
