"""Profiles: the stacks that training repositories state, `images/NAME/profile.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Optional

from envdoctor.knowledge.document import Document, DocumentError, decoded
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.schema import Entry


class Repository(Entry, frozen=True):
    """Where the training code is, and the commit whose statements the profile quotes."""

    name: str
    commit: str


class Pin(Entry, frozen=True):
    """One component as the authors state it."""

    version: str  # a specifier
    source: str  # path:line in the repository
    variant: Dict[str, str] = {}  # {attribute: value}, e.g. {cuda: "11.1"}


class Profile(Entry, frozen=True):
    """What a training repository states of its environment."""

    profile: str
    title: str
    checked: str
    repository: Repository
    stack: Dict[str, Pin]
    note: str = ""


def profiles(folder: Optional[Path] = None) -> List[Profile]:
    """Every profile, sorted by name. Raises DocumentError."""
    found = []
    for path in sorted((folder or data_folder("images")).glob("*/profile.yaml")):
        name = f"images/{path.parent.name}/{path.name}"
        profile = Document(name, decoded(name, path.read_bytes())).decode(Profile)
        if profile.profile != path.parent.name:
            raise DocumentError(f"{name}: the profile is called {profile.profile!r} inside")
        found.append(profile)
    return found
