"""What indexes list of a package's releases, as scripts/refresh wrote it into its file."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.schema import ByRelease, Listing, PyPIFiles, Raw, T
from envdoctor.model.versions import parse, satisfies

Attributes = Dict[str, Raw]

#: What `pypi:` of an entry may be: an architecture, or one of these.
ANY, SDIST = "any", "sdist"
KINDS = ("x86_64", "aarch64", ANY, SDIST)

#: Attributes that PyPI states of each package's releases, and their types.
STATED = {"requires_python": "specifier"}


def attribute_of(package: str) -> str:
    """The attribute of a requirement: huggingface_hub of huggingface-hub."""
    return package.replace("-", "_")


class Published:
    """The files of one package on PyPI."""

    def __init__(self, files: PyPIFiles) -> None:
        """Raises ValueError for releases that are no versions."""
        self.files = files
        self.releases: Tuple[Version, ...] = tuple(parse(text) for text in files.releases)
        self._known = frozenset(self.releases)
        self._yanked = frozenset(parse(text) for text in files.yanked)

    def stated(self, version: Version) -> Attributes:
        """What the metadata of a release says, as attributes."""
        if version not in self._known:
            return {}
        found: Attributes = {}
        python = _first(self.files.requires_python, version)
        if python is not None:
            found["requires_python"] = python
        for package, asked in self.files.requires.items():
            found[attribute_of(package)] = _first(asked, version) or ""
        return found

    def offered(self, version: Version) -> bool:
        """Whether an installer takes it when it is not asked for by number."""
        return version not in self._yanked

    def wheels(self, version: Version, kind: str) -> Iterator[Attributes]:
        """The files of a release for an architecture ("any": for all of them; "sdist").

        Each is told by its Python tags and the oldest glibc that its platform tag allows.
        """
        if version not in self._known:
            return
        if kind == SDIST:
            if any(satisfies(version, text) for text in self.files.sdist):
                yield {}
            return
        for glibc, tags in (_first(self.files.wheels.get(kind, {}), version) or {}).items():
            yield {"python": list(tags), **({"manylinux": glibc} if glibc else {})}


def cells(
    listing: Listing, axes: Sequence[str], version: Version
) -> Optional[List[Dict[str, Raw]]]:
    """The wheels that a project's pages list of a release, or None where they list none.

    Raises ValueError where the listing is not nested by `axes`.
    """
    for text, below in listing.wheels.items():
        if parse(text) == version:
            return list(_walk(below, axes))
    return None


def _walk(node: Any, axes: Sequence[str]) -> Iterator[Dict[str, Raw]]:
    if not axes:
        if not isinstance(node, list):
            raise ValueError(f"a list of Python tags is wanted, not {node!r}")
        yield {"python": node}
        return
    if not isinstance(node, dict):
        raise ValueError(f"a mapping by {axes[0]} is wanted, not {node!r}")
    for value, below in node.items():
        for cell in _walk(below, axes[1:]):
            yield {axes[0]: value, **cell}


def _first(values: ByRelease[T], version: Version) -> Optional[T]:
    return next((value for text, value in values.items() if satisfies(version, text)), None)
