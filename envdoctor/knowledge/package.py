"""One package of the matrices, and the builds that its entries describe."""

from __future__ import annotations

import functools
import re
from typing import Any, Dict, Iterator, List, Mapping, Match, Optional, Pattern, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.published import KINDS, SDIST, STATED, Published, attribute_of, cells
from envdoctor.knowledge.schema import (
    CLOSED,
    BuildEntry,
    PackageFile,
    Raw,
    Scalar,
    one_of,
    typed,
)
from envdoctor.model.build import Build, Value
from envdoctor.model.text import FIELD, nearest
from envdoctor.model.versions import cuda_tag, parse, satisfies


class Package:
    """One package of the matrices: its releases, what its versions hide, its builds."""

    def __init__(self, name: str, file: PackageFile, place: Dict[str, str]) -> None:
        """Index `file`, called `name` in errors; `place` maps an entry's id to "file:line".

        Raises DocumentError.
        """
        self.name = file.package
        self.file = file
        self.modules: Tuple[str, ...] = tuple(file.modules) or (file.package.replace("-", "_"),)
        self.requires: Tuple[str, ...] = tuple(file.requires)
        if file.framework not in ("true", "false"):
            raise DocumentError(f"{name}: framework: {file.framework!r} is neither true nor false")
        self.is_framework = file.framework == "true"
        self.variant: Dict[str, str] = dict(file.variant)
        try:
            self.local: Optional[Pattern[str]] = re.compile(file.local) if file.local else None
            self.pypi = None if file.pypi is None else Published(file.pypi)
            listed = () if self.pypi is None else self.pypi.releases
            self.releases: Tuple[Version, ...] = tuple(
                sorted({*listed, *(parse(v) for v in file.releases)})
            )
        except (ValueError, re.error, RecursionError, OverflowError) as error:
            raise DocumentError(f"{name}: {error}") from None
        # None are known of a new file until scripts/refresh has read them.
        if not self.releases and not file.index.since:
            raise DocumentError(f"{name}: releases: there are none")
        if self.pypi is not None:
            asked = (attribute_of(package) for package in self.pypi.files.requires)
            self.variant = {**STATED, **dict.fromkeys(asked, "specifier"), **self.variant}
        self._place = place
        # of entries that list releases, {release: its own attributes}
        self._listed: Dict[str, Dict[Version, Mapping[str, Raw]]] = {}
        # by page and release, see _owners
        self._owned: Dict[Tuple[str, Version], Dict[Tuple[Value, ...], str]] = {}

    def place(self, entry: str) -> str:
        """Where an entry of builds stands: "file:line"."""
        return self._place.get(entry, self.name)

    @property
    def newest(self) -> Version:
        """The newest release that the matrices know."""
        return self.releases[-1]

    @functools.lru_cache(maxsize=None)  # noqa: B019 - a package lives as long as the process
    def builds(self, version: Optional[Version] = None) -> Tuple[Build, ...]:
        """Every build that pip can install, or those of one release."""
        if version is not None:
            every = (e for e in self.file.builds if not _is_conda(e))
            return tuple(b for e in every for b in self._expand(e, version))
        return tuple(b for v in self.releases for b in self.builds(v))

    def conda_builds(self, version: Version) -> Tuple[Build, ...]:
        """The builds of a release that conda can install, as far as they are known."""
        every = (e for e in self.file.builds if _is_conda(e))
        return tuple(b for e in every for b in self._expand(e, version))

    def typed(self, attribute: str, raw: Raw) -> Value:
        """The value of a raw attribute. Raises ValueError."""
        if attribute not in self.variant:
            near = nearest(attribute, self.variant)
            raise ValueError(
                f"{self.name} declares no attribute {attribute!r} under variant:{near}"
            )
        if attribute in CLOSED and isinstance(raw, str):
            one_of(attribute, raw, CLOSED[attribute])
        try:
            return typed(self.variant[attribute], raw)
        except ValueError as error:
            raise ValueError(f"{attribute}: {error}") from None

    def _expand(self, entry: BuildEntry, version: Version) -> Iterator[Build]:
        try:
            own = self._own(entry, version)
            if own is None:
                return
            stated = {**self._of_release(version), **entry.set, **own}
            patterns = {k: v for k, v in entry.set.items() if isinstance(v, str) and "{" in v}
            for files in self._files(entry, version):
                shared = {k: self.typed(k, v) for k, v in {**stated, **files}.items()}
                for cell in self._listed_cells(entry, version, stated):
                    template = cell.pop("install", entry.install)
                    attributes = dict(shared)
                    for key, raw in cell.items():
                        attributes[key] = self.typed(key, raw)
                    for key, text in patterns.items():
                        attributes[key] = self._filled(text, attributes)
                    if isinstance(template, str) and template and self._offered(version):
                        attributes["install"] = template
                    yield Build(self.name, version, attributes, entry=entry.id)
        except (ValueError, TypeError, AttributeError) as error:
            raise DocumentError(f"{self._place[entry.id]}: {entry.id}: {error}") from None

    def _filled(self, text: str, attributes: Mapping[str, Value]) -> str:
        """A text of `set` that is made of a build's other attributes. Raises ValueError."""

        def fill(match: Match[str]) -> str:
            name, _, form = match[1].partition(".")
            value = attributes.get(name)
            if value is None or form not in ("", "tag"):
                raise ValueError(f"{text!r}: {match[0]} cannot be filled")
            if not form or not isinstance(value, Version):
                return str(value)
            is_cuda = self.variant.get(name) == "cuda"
            return cuda_tag(value) if is_cuda else "".join(map(str, value.release))

        return FIELD.sub(fill, text)

    def _offered(self, version: Version) -> bool:
        return self.pypi is None or self.pypi.offered(version)

    def _files(self, entry: BuildEntry, version: Version) -> Iterator[Dict[str, Raw]]:
        """What PyPI lists of the release, one for each kind of file that the entry is of."""
        if not entry.pypi:
            return iter([{}])
        if entry.pypi not in KINDS:
            raise ValueError(f"pypi: {entry.pypi!r} is none of {', '.join(KINDS)}")
        if self.pypi is None:
            raise ValueError("pypi: scripts/refresh has not read its files")
        found = list(self.pypi.wheels(version, entry.pypi))
        if "manylinux" in self.variant or not found or entry.pypi == SDIST:
            return iter(found)
        tags: List[Scalar] = [tag for files in found for tag in files["python"] or ()]
        return iter([{"python": tags}])

    def _listed_cells(
        self, entry: BuildEntry, version: Version, stated: Mapping[str, Raw]
    ) -> Iterator[Dict[str, Raw]]:
        """The cells of an entry; where pages list wheels of the release, those that they list.

        `stated` are the attributes that all of them share. A cell with an `install` of its own lies
        elsewhere and stays.
        """
        written = self._written_cells(entry)
        if not entry.page:
            return iter(written)
        axes = self._page_axes(entry.page)
        listing = self.file.pages.get(entry.page)
        seen = None if listing is None else cells(listing, axes, version)
        if seen is None:
            return iter(written)
        known: Dict[Tuple[Value, ...], List[Dict[str, Raw]]] = {}
        for cell in written:
            if _has({**stated, **cell}, axes):
                known.setdefault(self._place_of({**stated, **cell}, axes), []).append(cell)
        owners = self._owners(entry.page, axes, version)
        found = [cell for cell in written if "install" in cell]
        for cell in seen:
            place = self._place_of(cell, axes)
            if owners.get(place, owners.get(())) != entry.id:
                continue
            found += [
                {**described, **self._proven(cell)}
                for described in known.get(place, [{}])
                if "install" not in described
            ]
        return iter(found)

    def _written_cells(self, entry: BuildEntry) -> List[Dict[str, Raw]]:
        """The cells that stand in an entry, each with every combination of its product."""
        combinations = list(_product(entry.product))
        return [{**c, **p} for c in self._cells(entry.axes, entry.cells) for p in combinations]

    def _page_axes(self, page: str) -> List[str]:
        if page not in self.file.index.pages:
            raise ValueError(f"page: index.pages has no {page!r}")
        return self.file.index.pages[page].axes

    def _place_of(self, cell: Mapping[str, Raw], axes: Sequence[str]) -> Tuple[Value, ...]:
        return tuple(self.typed(axis, cell[axis]) for axis in axes)

    def _proven(self, cell: Mapping[str, Raw]) -> Dict[str, Raw]:
        """A cell that was seen on a page: all its wheels are there."""
        return {**cell, **({"proven": cell["python"]} if "proven" in self.variant else {})}

    def _owners(
        self, page: str, axes: Sequence[str], version: Version
    ) -> Dict[Tuple[Value, ...], str]:
        """{values of the axes: the entry that describes this wheel}; under () the page's last.

        Entries without a page count, too: what PyPI serves, projects' pages mostly list as well.
        """
        if (page, version) in self._owned:
            return self._owned[page, version]
        owners: Dict[Tuple[Value, ...], str] = {}
        for entry in self.file.builds:
            own = self._own(entry, version)
            if own is None or entry.set.get("origin") == "source":
                continue
            if entry.page == page:
                owners[()] = entry.id
            stated = {**self._of_release(version), **entry.set, **own}
            if stated.get("architecture", _LISTED) != _LISTED:
                continue
            for written in self._written_cells(entry):
                cell = {**stated, **written}
                if _has(cell, axes):
                    owners[self._place_of(cell, axes)] = entry.id
        self._owned[page, version] = owners
        return owners

    def _of_release(self, version: Version) -> Dict[str, Raw]:
        """The attributes that a release fixes, whatever the build."""
        found = {} if self.pypi is None else self.pypi.stated(version)
        for attribute, values in self.file.by_release.items():
            for releases, value in values.items():
                if satisfies(version, releases):
                    found[attribute] = value
                    break
        return found

    def _own(self, entry: BuildEntry, version: Version) -> Optional[Mapping[str, Raw]]:
        """The release's own attributes, or None where the entry does not speak of it."""
        if isinstance(entry.versions, str) and not entry.each:
            return {} if satisfies(version, entry.versions) else None
        if entry.id not in self._listed:
            if not entry.each and entry.versions is None:
                if entry.pypi:
                    return {}
                raise ValueError("neither versions nor each")
            listed = entry.each or {release: {} for release in entry.versions or ()}
            self._listed[entry.id] = {parse(text): own for text, own in listed.items()}
        return self._listed[entry.id].get(version)

    def _cells(self, axes: Sequence[str], cells: Any) -> Iterator[Dict[str, Raw]]:
        if not axes:
            if cells is not None:
                raise ValueError("cells: axes is missing, which says what their keys are")
            yield {}
            return
        if cells is None:
            raise ValueError(f"axes: {', '.join(axes)}: cells is missing, which gives them values")
        yield from self._nested(axes, cells)

    def _nested(self, axes: Sequence[str], cells: Any) -> Iterator[Dict[str, Raw]]:
        axis, rest = axes[0], axes[1:]
        if isinstance(cells, list) and not rest:
            for value in cells:
                yield {axis: value}
        elif isinstance(cells, dict):
            for value, below in cells.items():
                if not rest and not isinstance(below, (dict, type(None))):
                    raise ValueError(
                        f"cells: {axis} {value}: attributes are wanted, not {below!r}; "
                        f"axes names {axis} last"
                    )
                inner = self._nested(rest, below) if rest else iter([dict(below or {})])
                for cell in inner:
                    yield {axis: value, **cell}
        else:
            wanted = f"values of {axis}" if rest else f"values of {axis}, or a list of them"
            said = "nothing" if cells is None else repr(cells)
            raise ValueError(f"cells: keys that are {wanted} are wanted, not {said}")


#: The architecture whose wheels are read from projects' own pages.
_LISTED = "x86_64"


def _has(cell: Mapping[str, Raw], axes: Sequence[str]) -> bool:
    return all(axis in cell for axis in axes)


def _product(axes: Mapping[str, List[str]]) -> Iterator[Dict[str, Raw]]:
    combinations: List[Dict[str, Raw]] = [{}]
    for name, values in axes.items():
        combinations = [{**c, name: value} for c in combinations for value in values]
    return iter(combinations)


def _is_conda(entry: BuildEntry) -> bool:
    return entry.set.get("origin") == "conda"
