"""Builds and the values that relations compute with."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Union

from packaging.version import Version


class Unknown:
    """A value that was not observed; every comparison with it is undecided."""

    __slots__ = ("reason",)

    def __init__(self, reason: str = "") -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Unknown({self.reason!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown)

    def __hash__(self) -> int:
        return hash(Unknown)


class Absent:
    """A component that is known not to be there; a relation about it does not apply."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Absent)

    def __hash__(self) -> int:
        return hash(Absent)


class Specifier(str):
    """A set of versions in PEP 440's notation."""

    __slots__ = ()


ABSENT = Absent()
UNKNOWN = Unknown()

Value = Union[Version, Specifier, str, int, bool, Tuple[Any, ...], Unknown, Absent, "Build"]


class Build:
    """A build of a component: its version, and in `attributes` what the version hides.

    `label` is the version as people know it (with its local part), `entry` the matrix entry it
    stands in (empty for one that is only observed), `origin` where it was observed.
    """

    __slots__ = ("attributes", "component", "entry", "label", "origin", "version")

    def __init__(
        self,
        component: str,
        version: Optional[Version],
        attributes: Mapping[str, Value],
        label: str = "",
        entry: str = "",
        origin: str = "",
    ) -> None:
        self.component = component
        self.version = version
        self.attributes: Dict[str, Value] = dict(attributes)
        self.label = label or ("" if version is None else str(version))
        self.entry = entry
        self.origin = origin

    def __repr__(self) -> str:
        return f"Build({self.component} {self.label} {self.attributes})"

    def __str__(self) -> str:
        return f"{self.component} {self.label}".rstrip()

    def with_attributes(self, attributes: Mapping[str, Value], **changes: str) -> Build:
        """A copy in which these attributes (and label, entry, origin if given) are replaced."""
        return Build(
            self.component,
            self.version,
            {**self.attributes, **attributes},
            label=changes.get("label", self.label),
            entry=changes.get("entry", self.entry),
            origin=changes.get("origin", self.origin),
        )
