"""Loads the matrices: files -> typed packages, tables, relations, builds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Collection, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from envdoctor.knowledge import files as matrix_files
from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.package import Package
from envdoctor.knowledge.schema import (
    BuildEntry,
    PackageFile,
    PlatformFile,
    RelationEntry,
    TableEntry,
    typed,
)
from envdoctor.model.build import Value
from envdoctor.model.finding import Citation
from envdoctor.model.relation import ENFORCERS, Relation

# Imported where it is used: few have any.
if TYPE_CHECKING:
    from envdoctor.knowledge.files import Loaded
    from envdoctor.knowledge.overlay import Added


class Table:
    """Rows of typed columns, looked up by a normalised key."""

    def __init__(self, name: str, entry: TableEntry, place: str) -> None:
        """Type the rows. Raises DocumentError."""
        self.name = name
        self.columns = dict(entry.columns)
        self.key_type = entry.key or "version"
        self.rows: Dict[Value, Dict[str, Value]] = {}
        self.texts: Dict[Value, Dict[str, str]] = {}  # scalar cells as they are written
        for text, raw in entry.rows.items():
            try:
                key = typed(self.key_type, text)
                row = {}
                for column, cell in raw.items():
                    if column not in self.columns:
                        raise ValueError(f"no column {column!r}")
                    if cell is not None:
                        row[column] = typed(self.columns[column], cell)
            except ValueError as error:
                raise DocumentError(f"{place}: {name}[{text}]: {error}") from None
            self.rows[key] = row
            self.texts[key] = {c: cell for c, cell in raw.items() if isinstance(cell, str)}


class Knowledge:
    """All the matrices."""

    def __init__(
        self,
        packages: Mapping[str, Package],
        tables: Mapping[str, Table],
        relations: Sequence[Relation],
        citations: Mapping[str, Citation],
        date: str,
        added: Sequence[str] = (),
    ) -> None:
        """Index what was loaded; see `load`. `added` are folders of users."""
        self.packages = dict(packages)
        self.tables = dict(tables)
        self.relations = tuple(relations)
        self.citations = dict(citations)
        self.date = date
        self.added = tuple(added)
        self.rows_added: Dict[str, str] = {}  # where users' rows stand, "gpu[x1]"
        self.providers: Dict[str, Tuple[str, ...]] = {}
        for package in packages.values():
            for module in package.modules:
                self.providers[module] = (*self.providers.get(module, ()), package.name)


def load(folder: Optional[Path] = None, added: Optional[Added] = None) -> Knowledge:
    """The matrices of `folder` (default: the ones that ship with envdoctor) and what is `added`.

    Raises DocumentError, naming file and line.
    """
    files = matrix_files.read(folder or data_folder("matrices"))
    date = _newest(files)
    if added is not None:
        from envdoctor.knowledge.overlay import overlaid

        files = overlaid(files, added)
    shelf = _Shelf()
    for loaded in files.packages:
        shelf.put(loaded)
    tables: Dict[str, Table] = {}
    for platform in files.platforms:
        for name, table in platform.content.tables.items():
            if name in tables:
                raise DocumentError(f"{platform.name}: the table {name} stands twice")
            tables[name] = Table(name, table, platform.name)
            shelf.citations[f"table/{name}"] = Citation(
                id=f"table/{name}",
                source=_sources(table.source or platform.content.source, platform.content.sources),
                checked=table.checked or platform.content.checked,
                basis=table.basis or platform.content.basis,
            )
        shelf.relate(platform.content, platform.places, None, platform.content.accelerator)
    knowledge = Knowledge(
        shelf.packages,
        tables,
        shelf.relations,
        shelf.citations,
        date,
        added.folders if added else (),
    )
    for platform in files.platforms:
        rows = {name: place for name, place in platform.places.items() if name.endswith("]")}
        knowledge.rows_added.update(rows)
    return knowledge


def extended(
    knowledge: Knowledge, files: Sequence[Loaded[PackageFile]], without: Collection[str] = ()
) -> Knowledge:
    """The matrices and packages beside them, as those that only one source tree holds.

    Of a package that is known already a file may have relations alone. `without` are ids of
    relations that are left out. Everything that is there already is shared, not made again.
    Raises DocumentError.
    """
    shelf = _Shelf(knowledge)
    for loaded in files:
        shelf.put(loaded)
    found = Knowledge(
        {**knowledge.packages, **shelf.packages},
        knowledge.tables,
        [r for r in (*knowledge.relations, *shelf.relations) if r.id not in without],
        {**knowledge.citations, **shelf.citations},
        knowledge.date,
        knowledge.added,
    )
    found.rows_added = knowledge.rows_added
    return found


class _Shelf:
    """What has been read of files so far, beside what is known already."""

    def __init__(self, known: Optional[Knowledge] = None) -> None:
        self.packages: Dict[str, Package] = {}
        self.relations: List[Relation] = []
        self.citations: Dict[str, Citation] = {}
        self._known = known
        self._stands: Dict[str, str] = {}

    def put(self, loaded: Loaded[PackageFile]) -> None:
        """Add a package with its builds and relations. Raises DocumentError."""
        file = loaded.content
        if file.package in self.packages:
            raise DocumentError(f"{loaded.name}: the package {file.package} has two files")
        if self._known is not None and file.package in self._known.packages:
            if file.builds or file.releases:
                place = loaded.places.get(file.package, loaded.name)
                problem = (
                    f"the matrices have {file.package} already: only relations are added to it"
                )
                raise DocumentError(f"{place}: {problem}")
            self.relate(file, loaded.places, file.package, "")
            return
        self.packages[file.package] = Package(loaded.name, file, loaded.places)
        for entry in file.builds:
            self._cite(entry, file, loaded.places)
        self.relate(file, loaded.places, file.package, "")

    def relate(
        self,
        file: Union[PackageFile, PlatformFile],
        places: Mapping[str, str],
        owner: Optional[str],
        accelerator: str,
    ) -> None:
        """Add the relations of a file. Raises DocumentError."""
        for entry in file.relations:
            citation = self._cite(entry, file, places)
            if entry.enforced not in ENFORCERS:
                raise DocumentError(f"{places[entry.id]}: {entry.enforced!r} enforces nothing")
            self.relations.append(
                Relation(
                    id=entry.id,
                    owner=owner,
                    condition=entry.condition,
                    needs=entry.needs,
                    phase=entry.phase,
                    finding=entry.finding,
                    severity=entry.severity,
                    words=entry.words,
                    source=citation.source,
                    checked=citation.checked,
                    basis=citation.basis,
                    accelerator=accelerator,
                    waiver=entry.waiver.get("patch", ""),
                    probe=entry.probe,
                    where=places[entry.id],
                    enforced=entry.enforced,
                )
            )

    def _cite(
        self,
        entry: Union[BuildEntry, RelationEntry],
        file: Union[PackageFile, PlatformFile],
        places: Mapping[str, str],
    ) -> Citation:
        if entry.id in self.citations:
            raise DocumentError(
                f"{places[entry.id]}: the id {entry.id} stands twice; the other stands in "
                f"{self._stands[entry.id]}"
            )
        if self._known is not None and entry.id in self._known.citations:
            raise DocumentError(f"{places[entry.id]}: the id {entry.id} is one of the matrices'")
        self._stands[entry.id] = places[entry.id]
        citation = Citation(
            id=entry.id,
            source=_sources(entry.source or file.source, file.sources),
            checked=entry.checked or file.checked,
            basis=entry.basis or file.basis,
        )
        self.citations[entry.id] = citation
        return citation


def _newest(files: matrix_files.Files) -> str:
    """The day on which something of the files was last looked at."""
    dates = [loaded.content.checked for loaded in files.packages]
    dates += [loaded.content.checked for loaded in files.platforms]
    for file in (loaded.content for loaded in files.packages):
        dates.extend(part.checked for part in (file.pypi, *file.pages.values()) if part)
    return max(dates, default="")


def _sources(names: Union[str, List[str]], known: Mapping[str, str]) -> str:
    """Names of sources written out; a text that is no name stands for itself."""
    listed = [names] if isinstance(names, str) else names
    return "; ".join(known.get(name, name) for name in listed)
