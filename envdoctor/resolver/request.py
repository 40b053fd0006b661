"""What is asked of the resolver: pins with where they stand, and what may be chosen freely."""

from __future__ import annotations

from typing import FrozenSet, Mapping, NamedTuple, Tuple

from envdoctor.model.resolution import CRITERIA, VENV, Override

#: Who asks for a pin. What a profile states may be relaxed, what users say may not.
PROFILE, FILE, USER = "profile", "file", "user"


class Pin(NamedTuple):
    """What is wanted of one component: "torch ==1.9.1 (cuda 11.1)"."""

    component: str  # canonical name of a package of the matrices, or "python"
    specifier: str = ""
    variant: Mapping[str, str] = {}  # {attribute: value}, e.g. {"cuda": "11.1"}
    source: str = ""  # "docs/install.md:15", "requirements.txt:3", "command line"
    by: str = USER
    tree: str = ""  # the folder of the training code that holds its sources

    @property
    def soft(self) -> bool:
        """Whether it may be relaxed."""
        return self.by == PROFILE

    def __str__(self) -> str:
        variant = ", ".join(f"{name} {value}" for name, value in self.variant.items())
        said = f"{self.component} {self.specifier}".rstrip()
        return f"{said} ({variant})" if variant else said


class Request(NamedTuple):
    """Everything that is asked for. Without pins of a component any build of it will do."""

    title: str  # "MapTR"; of requirements, the requirements
    pins: Tuple[Pin, ...]
    target: str = VENV
    rest: Tuple[str, ...] = ()  # requirement lines of which the matrices know nothing
    overrides: Tuple[Override, ...] = ()
    keep: FrozenSet[str] = frozenset()  # components whose pins must stay
    no_source: bool = False  # nothing may be compiled
    prefer: Tuple[str, ...] = CRITERIA  # in the order in which they weigh
    profile: str = ""


class Learned(NamedTuple):
    """Versions that an installer refused together, or that do not fit the rest of the tree."""

    forbidden: Mapping[str, str]  # {component: specifier}, all of them together
    words: str
    source: str
