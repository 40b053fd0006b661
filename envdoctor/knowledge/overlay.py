"""Matrices that users add to those that ship with envdoctor, or that replace parts of them.

A folder of theirs has the same form: packages/*.yaml and platform/*.yaml. What stands in it is as
it would be in the files that ship: a known id, row or attribute is replaced, the rest is added.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import zlib
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple, Type, TypeVar, Union

import msgspec

from envdoctor.knowledge.document import Document, DocumentError, decoded
from envdoctor.knowledge.files import Files, Loaded, places
from envdoctor.knowledge.schema import (
    TYPES,
    BuildEntry,
    PackageFile,
    PlatformFile,
    RelationEntry,
    TableEntry,
    typed,
)
from envdoctor.model.names import canonical
from envdoctor.model.text import misspelt, nearest
from envdoctor.model.versions import try_parse

T = TypeVar("T", PackageFile, PlatformFile)
_File = Union[PackageFile, PlatformFile]
_Listed = TypeVar("_Listed", BuildEntry, RelationEntry)

_KINDS = ("packages", "platform")
_MAX_FILES = 400
_MAX_BYTES = 2 << 20
_MAX_TOTAL = 16 << 20
_MAX_FOLDERS = 16
#: A pattern is matched against every version that is seen.
_MAX_PATTERN = 300
#: What makes a pattern take time without end; versions need none.
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_REPEATED = re.compile(r"(?<!\\)[*+]")
_MAX_REPEATED = 4
_MAX_RELEASES = 2000
_PATTERN = "pattern"  # a column of tables that is matched against lines of sources
#: Builds that one entry may describe for one release by its `product`.
_MAX_PRODUCT = 1_000
_DAY = re.compile(r"\d{4}-\d\d-\d\d")

replace = msgspec.structs.replace


class Added(NamedTuple):
    """Folders of users, as they were read: nothing of them is decoded yet."""

    folders: Tuple[str, ...] = ()
    sources: Tuple[Tuple[str, str, bytes], ...] = ()  # kind, path as it is told, content

    @property
    def state(self) -> bytes:
        """What tells them from others; empty for none."""
        parts = [os.fsencode(folder) for folder in self.folders]
        for kind, name, content in self.sources:
            told = f"{kind} {len(content)} {zlib.crc32(content)} {zlib.adler32(content)} {name}"
            parts.append(os.fsencode(told))
        return b"\n".join(parts)


def read(folders: Sequence[str]) -> Added:
    """The files of users' folders, in order. Raises DocumentError."""
    if len(folders) > _MAX_FOLDERS:
        raise DocumentError(f"{len(folders)} folders of matrices are more than {_MAX_FOLDERS}")
    found: List[Tuple[str, str, bytes]] = []
    left = _MAX_TOTAL
    for folder in dict.fromkeys(folders):
        listed = list(_files(folder))
        if len(found) + len(listed) > _MAX_FILES:
            raise DocumentError(f"{folder}: more than {_MAX_FILES} files")
        for kind, path in listed:
            content = _content(path)
            left -= len(content)
            if left < 0:
                raise DocumentError(
                    f"{path}: all matrices that are added exceed {_MAX_TOTAL} bytes"
                )
            found.append((kind, path, content))
    return Added(tuple(dict.fromkeys(folders)), tuple(found))


def _files(folder: str) -> List[Tuple[str, str]]:
    found = []
    try:
        there = set(os.listdir(folder))  # noqa: PTH208 - of what may be no Unicode
        if not there.intersection(_KINDS):
            raise DocumentError(f"{folder}: holds neither packages/ nor platform/")
        for kind in _KINDS:
            if kind not in there:
                continue
            for name in sorted(os.listdir(os.path.join(folder, kind))):  # noqa: PTH118, PTH208
                if name.endswith(".yml"):
                    path = os.path.join(folder, kind, name)  # noqa: PTH118
                    raise DocumentError(f"{path}: matrix files end with .yaml")
                if name.endswith(".yaml"):
                    found.append((kind, os.path.join(folder, kind, name)))  # noqa: PTH118
    except OSError as error:
        raise DocumentError(f"{folder}: {(error.strerror or str(error)).lower()}") from None
    if not found:
        raise DocumentError(f"{folder}: no matrices there")
    return found


def _content(path: str) -> bytes:
    try:
        # without blocking: what lies there may be a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise DocumentError(f"{path}: is no file")
            content = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if len(content) > _MAX_BYTES:
        raise DocumentError(f"{path}: larger than {_MAX_BYTES} bytes")
    return content


def overlaid(files: Files, added: Added) -> Files:
    """The files that ship, with what users added put over them. Raises DocumentError."""
    packages = {loaded.content.package: loaded for loaded in files.packages}
    platforms = list(files.platforms)
    for kind, name, content in added.sources:
        document = Document(name, decoded(name, content))
        if kind == "packages":
            over = checked_package(document)
            base = packages.get(over.content.package)
            merged = over if base is None else _package(base, over, document)
            _groups(over.content.local, merged.content, document)
            packages[over.content.package] = merged
        else:
            loaded = _checked(document, PlatformFile)
            _named(loaded.content, platforms, document)
            platforms = _platforms(platforms, loaded, document)
    return Files(list(packages.values()), platforms)


# --- one file of theirs ---------------------------------------------------------------------------


def _checked(document: Document, kind: Type[T]) -> Loaded[T]:
    """A file whose entries each say where they are known from, with that written out."""
    file = document.decode(kind)
    _day(file.checked, document.place("checked"))

    def stated(entry: _Listed, part: str, index: int) -> _Listed:
        place = document.place(part, index)
        return _with_source(entry, file, f"{place}: {part}[{index}]: {entry.id}")

    changes: Dict[str, Any] = {
        "relations": [stated(e, "relations", n) for n, e in enumerate(file.relations)]
    }
    if isinstance(file, PackageFile):
        changes["builds"] = [stated(e, "builds", n) for n, e in enumerate(file.builds)]
    else:
        changes["tables"] = {
            name: _with_source(table, file, f"{document.place('tables', name)}: tables.{name}")
            for name, table in file.tables.items()
        }
    seen: Dict[str, str] = {}
    for part in ("builds", "relations"):
        for index, entry in enumerate(changes.get(part, ())):
            place = document.place(part, index)
            if entry.id in seen:
                raise DocumentError(
                    f"{place}: the id {entry.id} stands twice; the other stands in {seen[entry.id]}"
                )
            seen[entry.id] = place
    rows = {
        f"{name}[{row}]": document.place("tables", name, "rows", row)
        for name, table in changes.get("tables", {}).items()
        for row in table.rows
    }
    return Loaded(document.name, replace(file, **changes), {**places(document), **rows})


_Sourced = TypeVar("_Sourced", BuildEntry, RelationEntry, TableEntry)


def _with_source(entry: _Sourced, file: _File, where: str) -> _Sourced:
    named = entry.source or file.source
    listed = [named] if isinstance(named, str) else list(named)
    told = [file.sources.get(name, name) for name in listed if name]
    if not told:
        raise DocumentError(f"{where}: names no source, and neither does its file")
    checked = entry.checked or file.checked
    _day(checked, where)
    return replace(entry, source=told, checked=checked, basis=entry.basis or file.basis)


def _day(text: str, where: str) -> None:
    if not _DAY.fullmatch(text):
        raise DocumentError(f"{where}: checked is a day like 2026-11-30, not {text!r}")


def _pattern(text: str, where: str) -> None:
    """See that a text is a pattern, and one that does not take time without end."""
    if len(text) > _MAX_PATTERN:
        raise DocumentError(f"{where}: the pattern is too long")
    if _REPEATED_GROUP.search(text):
        raise DocumentError(f"{where}: a group is repeated")
    if len(_REPEATED.findall(text)) > _MAX_REPEATED:
        raise DocumentError(f"{where}: repeats more than {_MAX_REPEATED} parts without end")
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise DocumentError(f"{where}: is no pattern: {error}") from None


def checked_package(document: Document) -> Loaded[PackageFile]:
    """A package's file that somebody wrote, with sources written out. Raises DocumentError."""
    loaded = _checked(document, PackageFile)
    file = loaded.content
    if file.package != canonical(file.package):
        raise DocumentError(
            f"{document.place('package')}: package: {file.package!r} is {canonical(file.package)}"
        )
    for index, release in enumerate(file.releases):
        if try_parse(release) is None:
            place = document.place("releases", index)
            raise DocumentError(f"{place}: releases[{index}]: {release!r} is not a version")
    for name, kind in file.variant.items():
        if kind not in TYPES:
            place = document.place("variant", name)
            raise DocumentError(
                f"{place}: variant.{name}: {kind!r} is no type ({', '.join(TYPES)})"
            )
    if len(file.releases) > _MAX_RELEASES:
        raise DocumentError(f"{document.place('releases')}: releases: more than {_MAX_RELEASES}")
    _pattern(file.local, f"{document.place('local')}: local")
    for index, entry in enumerate(file.builds):
        size = 1
        for values in entry.product.values():
            size *= max(len(values), 1)
        if size > _MAX_PRODUCT:
            place = document.place("builds", index, "product")
            raise DocumentError(f"{place}: builds[{index}].product: describes {size} builds a cell")
    return loaded


def _groups(local: str, file: PackageFile, document: Document) -> None:
    """See that the groups of a pattern of theirs are attributes of the package."""
    for group in re.compile(local).groupindex:
        if group not in file.variant:
            raise DocumentError(
                f"{document.place('local')}: local: the group {group!r} is no attribute under "
                f"variant{nearest(group, file.variant)}"
            )


def _named(
    file: PlatformFile, platforms: Sequence[Loaded[PlatformFile]], document: Document
) -> None:
    """See that names of theirs are no misspelt names of those that ship."""
    known = [base.content.platform for base in platforms]
    near = misspelt(file.platform, known)
    if file.platform not in known and near:
        place = document.place("platform")
        raise DocumentError(
            f"{place}: platform: no platform is called {file.platform!r}; nearest: {near}"
        )
    tables = [name for base in platforms for name in base.content.tables]
    read = " ".join(f"{one.condition} {one.needs}" for one in file.relations)
    for name in file.tables:
        near = misspelt(name, tables)
        if name not in tables and near and not re.search(rf"\b{re.escape(name)}\[", read):
            place = document.place("tables", name)
            raise DocumentError(f"{place}: tables.{name}: no table {name!r}; nearest: {near}")


# --- put over what ships --------------------------------------------------------------------------


def _package(
    base: Loaded[PackageFile], over: Loaded[PackageFile], document: Document
) -> Loaded[PackageFile]:
    """A package of which both know something."""
    old, new = base.content, over.content
    for name, kind in new.variant.items():
        if old.variant.get(name, kind) != kind:
            place = document.place("variant", name)
            raise DocumentError(
                f"{place}: variant.{name}: is {old.variant[name]} in {base.name}, not {kind}"
            )
    by_release = {
        name: {**new.by_release.get(name, {}), **_less(values, new.by_release.get(name, {}))}
        for name, values in {**new.by_release, **old.by_release}.items()
    }
    merged = replace(
        old,
        releases=_union(old.releases, new.releases),
        modules=_union(old.modules, new.modules) if old.modules or new.modules else [],
        requires=_union(old.requires, new.requires),
        sources={**new.sources, **old.sources},
        variant={**old.variant, **new.variant},
        by_release=by_release,
        local=new.local or old.local,
        findings={**old.findings, **new.findings},
        builds=_replaced(old.builds, new.builds),
        relations=_replaced(old.relations, new.relations),
        pypi=new.pypi or old.pypi,
        pages={**old.pages, **new.pages},
    )
    return Loaded(base.name, merged, {**base.places, **over.places})


def _less(values: Mapping[str, str], known: Mapping[str, str]) -> Dict[str, str]:
    return {name: value for name, value in values.items() if name not in known}


def _union(one: Sequence[str], other: Sequence[str]) -> List[str]:
    return list(dict.fromkeys([*one, *other]))


def _replaced(old: Sequence[_Listed], new: Sequence[_Listed]) -> List[_Listed]:
    """Entries of which those with a known id stand in the place of the old ones."""
    left: Dict[str, _Listed] = {}
    for entry in new:
        left[entry.id] = entry
    found: List[_Listed] = [left.pop(entry.id, entry) for entry in old]
    return found + list(left.values())


def _platforms(
    platforms: Sequence[Loaded[PlatformFile]], over: Loaded[PlatformFile], document: Document
) -> List[Loaded[PlatformFile]]:
    """The platform files, with tables and relations that they have in the place of their own."""
    tables = dict(over.content.tables)
    for name, added_table in tables.items():
        for row, cells in added_table.rows.items():
            path = ("tables", name, "rows", row)
            if isinstance(cells.get(_PATTERN), str):
                stands = f"{document.place(*path)}: {'.'.join(path)}.{_PATTERN}"
                _pattern(str(cells[_PATTERN]), stands)
    relations = {entry.id: entry for entry in over.content.relations}
    found = []
    for base in platforms:
        own: Dict[str, TableEntry] = {}
        for name, table in base.content.tables.items():
            added = tables.pop(name, None)
            own[name] = table
            if added is not None:
                old = _with_source(table, base.content, base.name)
                own[name] = _table(name, old, added, base.name, document)
        kept = [relations.pop(entry.id, entry) for entry in base.content.relations]
        changed = replace(base.content, tables=own, relations=kept)
        where = {one: over.places[one] for one in over.places if one in base.places}
        found.append(Loaded(base.name, changed, {**base.places, **where}))
    rest = replace(over.content, tables=tables, relations=list(relations.values()))
    return [*found, Loaded(over.name, rest, over.places)]


def _table(
    name: str, old: TableEntry, new: TableEntry, base: str, document: Document
) -> TableEntry:
    """A table of which both have rows: cells of a known key are replaced."""
    place = document.place("tables", name)
    if new.key and new.key != (old.key or "version"):
        raise DocumentError(
            f"{place}: tables.{name}.key: is {old.key or 'version'} in {base}, not {new.key}"
        )
    for column, kind in new.columns.items():
        if old.columns.get(column, kind) != kind:
            raise DocumentError(
                f"{document.place('tables', name, 'columns', column)}: tables.{name}.columns."
                f"{column}: is {old.columns[column]} in {base}, not {kind}"
            )
    columns = {**old.columns, **new.columns}
    key = old.key or "version"
    _type_rows(name, replace(new, key=key), columns, document)
    rows = dict(old.rows)
    known: Dict[object, str] = {}
    for text in rows:
        with contextlib.suppress(ValueError):  # told when the table is loaded
            known[typed(key, text)] = text
    for text, cells in new.rows.items():
        written = known.get(typed(key, text), text)
        rows[written] = {**rows.get(written, {}), **cells}
    sources = [*_list(old.source), *(s for s in _list(new.source) if s not in _list(old.source))]
    return replace(old, columns=columns, rows=rows, source=sources)


def _type_rows(name: str, new: TableEntry, columns: Mapping[str, str], document: Document) -> None:
    """See that what they wrote is of the types of the table, where it can be told the line."""
    for text, cells in new.rows.items():
        where = f"{document.place('tables', name, 'rows', text)}: tables.{name}.rows.{text}"
        try:
            typed(new.key, text)
            for column, cell in cells.items():
                if column not in columns:
                    raise ValueError(f"no column {column!r}{nearest(column, columns)}")
                if cell is not None:
                    typed(columns[column], cell)
        except ValueError as error:
            raise DocumentError(f"{where}: {error}") from None


def _list(source: Union[str, List[str]]) -> List[str]:
    return [source] if isinstance(source, str) else source
