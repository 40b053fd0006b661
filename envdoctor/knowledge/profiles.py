"""Profiles: the stacks that training repositories state, `images/NAME/profile.yaml`.

docs/profiles.md describes the form to people.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

import msgspec

from envdoctor.knowledge.cache import cached
from envdoctor.knowledge.document import Document, DocumentError, decoded
from envdoctor.knowledge.files import Loaded
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.patches import patches
from envdoctor.knowledge.schema import Entry, PackageFile
from envdoctor.model.names import canonical
from envdoctor.model.text import clean, nearest
from envdoctor.model.versions import specifier

# Imported where it is used: it imports this package's readers of everything else.
if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge

_HERE = Path(__file__).resolve().parent
_PYTHON = "python"
_FILE = "profile.yaml"
#: What follows the name in a requirement.
_AFTER_NAME = re.compile(r"[^\w.-].*", re.DOTALL)
_MAX_BYTES = 1 << 20
_MAX_PINS = 200
_MAX_LINES = 400
_MAX_PACKAGES = 40
_MAX_LINE = 300


class Repository(Entry, frozen=True):
    """Where the training code is, and the commit whose statements the profile quotes."""

    name: str
    commit: str


class Pin(Entry, frozen=True):
    """One component as the authors state it."""

    source: str  # path:line in the repository
    version: str = ""  # a specifier; empty where it is needed and none is stated
    variant: Dict[str, str] = {}  # {attribute: value}, e.g. {cuda: "11.1"}
    tree: str = ""  # the folder of the training code that holds its sources
    note: str = ""


class Line(Entry, frozen=True):
    """A requirement of which the matrices know nothing: the ordinary installer's."""

    line: str  # "pyquaternion==0.9.9"
    source: str
    note: str = ""


class Contradiction(Entry, frozen=True):
    """Statements that cannot hold together, and what the profile takes in their place."""

    sides: List[str]  # each with its source
    take: str = ""  # a requirement that stands for the pin of its name; empty: nothing
    reason: str = ""
    waives: List[
        str
    ] = []  # relations of the matrices that say what the side says that is not taken

    @property
    def taken(self) -> Tuple[str, str]:
        """What `take` is of, and its specifier; empty texts for none."""
        name, _, versions = _AFTER_NAME.sub(" \\g<0>", self.take, count=1).partition(" ")
        return canonical(name), versions.strip()


class Tree(Entry, frozen=True):
    """Sources that are compiled where they lie, and the authors' command for it."""

    package: str
    folder: str
    command: str
    source: str
    environment: Dict[str, str] = {}  # what must be set where no GPU is seen
    patches: List[str] = []  # without which it is not compiled in an image, whatever the stack
    note: str = ""


class ProfileFile(Entry, frozen=True):
    """What stands in a profile.yaml."""

    profile: str
    title: str
    checked: str
    stack: Dict[str, Pin]
    repository: Optional[Repository] = None
    requirements: List[Line] = []
    overrides: List[Contradiction] = []
    trees: List[Tree] = []
    # in the form of matrices: what its trees alone hold, and relations of others to its code
    packages: List[PackageFile] = []
    note: str = ""


class Profile(ProfileFile, frozen=True):
    """A profile, and where it stands."""

    where: str = ""  # the file's name for messages
    theirs: bool = False  # a file that somebody named, not one that ships
    places: Dict[str, str] = {}  # "file:line" of its parts: "stack.torch", ids of packages

    def place(self, part: str) -> str:
        """Where a part stands: "file:line"."""
        return self.places.get(part, self.where)

    @property
    def pins(self) -> Dict[str, Pin]:
        """The stack that is asked for: of contradictions what is taken instead."""
        found = dict(self.stack)
        for override in self.overrides:
            name, versions = override.taken
            if name in found:
                kept = found[name]
                found[name] = msgspec.structs.replace(kept, version=versions, note=override.reason)
        return found

    @property
    def held(self) -> Tuple[Loaded[PackageFile], ...]:
        """The packages that it adds to the matrices."""
        return tuple(Loaded(self.where, file, self.places) for file in self.packages)


class _Shipped(msgspec.Struct, frozen=True):
    profiles: List[Profile] = []


def profiles(folder: Optional[Path] = None) -> List[Profile]:
    """Every profile that ships, sorted by name. Raises DocumentError."""
    found = sorted((folder or data_folder("images")).glob(f"*/{_FILE}"))
    sources = [(f"images/{path.parent.name}/{_FILE}", path.read_bytes()) for path in found]
    code = [_HERE / name for name in ("document.py", "schema.py", "overlay.py", "profiles.py")]
    return cached("profiles", sources, code, _Shipped, _decode_all).profiles


def load_profile(name: str, folder: Optional[Path] = None) -> Profile:
    """The profile of a name that ships, or of a file: what has a slash or ends with .yaml.

    Raises DocumentError, naming the file and, if known, the line.
    """
    if "/" in name or name.endswith((".yaml", ".yml")):
        read = _decode(clean(name), decoded(clean(name), _content(name)))
        return msgspec.structs.replace(read, theirs=True)
    shipped = {profile.profile: profile for profile in profiles(folder)}
    wanted = name.strip().lower()
    found = shipped.get(wanted) or next(
        (one for one in shipped.values() if one.title.lower() == wanted), None
    )
    if found is None:
        known = ", ".join(shipped)
        raise DocumentError(
            f"no profile is called {clean(name)!r}{nearest(wanted, shipped)}; there are {known}, "
            "and files of your own (NAME.yaml)"
        )
    return found


def expect_known(profile: Profile, knowledge: Knowledge) -> None:
    """Raise DocumentError for the first thing that the matrices and what is added do not have."""
    for name, pin in profile.stack.items():
        where = f"{profile.place(f'stack.{name}')}: stack.{name}"
        package = knowledge.packages.get(name)
        if package is None and name != _PYTHON:
            near = nearest(name, [*knowledge.packages, _PYTHON])
            raise DocumentError(
                f"{where}: the matrices have no such package{near}; under requirements: a line "
                "asks the installer for it"
            )
        if package is None:
            if pin.variant:
                raise DocumentError(f"{where}.variant: {name} has none")
            continue
        try:
            for attribute, value in pin.variant.items():
                package.typed(attribute, value)
        except ValueError as error:
            raise DocumentError(f"{where}.variant: {error}") from None
    for number, tree in enumerate(profile.trees):
        known = patches() if tree.patches else {}
        for one in tree.patches:
            if one not in known:
                where = f"{profile.place(f'trees[{number}]')}: trees[{number}].patches"
                near = nearest(one, known)
                raise DocumentError(f"{where}: no patch is called {clean(one)!r}{near}")
    ids = [relation.id for relation in knowledge.relations]
    for number, override in enumerate(profile.overrides):
        for one in override.waives:
            if one not in ids:
                where = f"{profile.place(f'overrides[{number}]')}: overrides[{number}].waives"
                near = nearest(one, ids)
                raise DocumentError(f"{where}: no relation is called {clean(one)!r}{near}")


def _content(path: str) -> bytes:
    told = clean(path)
    try:
        # without blocking: what lies there may be a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            content = stream.read(_MAX_BYTES + 1) if regular else b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(f"{told}: {reason.lower()}") from None
    if not regular:
        raise DocumentError(f"{told}: is no file")
    if len(content) > _MAX_BYTES:
        raise DocumentError(f"{told}: larger than {_MAX_BYTES} bytes")
    return content


def _decode_all(texts: Dict[str, str]) -> _Shipped:
    found = []
    for name, text in texts.items():
        profile = _decode(name, text)
        if name.split("/")[-2] != profile.profile:
            raise DocumentError(f"{name}: the profile is called {profile.profile!r} inside")
        found.append(profile)
    return _Shipped(found)


def _decode(name: str, text: str) -> Profile:
    from envdoctor.knowledge.overlay import checked_package  # what comes from the cache needs none

    document = Document(name, text)
    file = document.decode(ProfileFile)
    _examine(file, document)
    stands = {f"stack.{one}": document.place("stack", one) for one in file.stack}
    for part in ("requirements", "overrides", "trees", "packages"):
        for index in range(len(getattr(file, part))):
            stands[f"{part}[{index}]"] = document.place(part, index)
    packages = []
    for index in range(len(file.packages)):
        loaded = checked_package(document.at("packages", index))
        packages.append(loaded.content)
        stands.update(loaded.places)
        stands[loaded.content.package] = document.place("packages", index)
    fields = {field: getattr(file, field) for field in file.__struct_fields__}
    return Profile(**{**fields, "packages": packages}, where=name, places=stands)


def _examine(file: ProfileFile, document: Document) -> None:
    """See that names, ranges and sources are there and readable. Raises DocumentError."""
    for part, most in (
        ("stack", _MAX_PINS),
        ("requirements", _MAX_LINES),
        ("overrides", _MAX_LINES),
        ("trees", _MAX_PINS),
        ("packages", _MAX_PACKAGES),
    ):
        number = len(getattr(file, part))
        if number > most:
            raise DocumentError(f"{document.place(part)}: {part}: {number} are more than {most}")
    if not file.stack:
        raise DocumentError(f"{document.place('stack')}: stack: names no component")
    for name, pin in file.stack.items():
        where = f"{document.place('stack', name)}: stack.{clean(name)}"
        if name != canonical(name):
            raise DocumentError(f"{where}: the name is written {canonical(clean(name))}")
        _range(pin.version, f"{where}.version")
        _said(pin.source, f"{where}.source")
    for index, entry in enumerate(file.requirements):
        where = f"{document.place('requirements', index)}: requirements[{index}]"
        _requirement(entry.line, f"{where}.line")
        _said(entry.source, f"{where}.source")
    for index, override in enumerate(file.overrides):
        where = f"{document.place('overrides', index)}: overrides[{index}]"
        if len(override.sides) < 2:
            raise DocumentError(f"{where}.sides: a contradiction has two sides")
        if override.waives and not override.take:
            raise DocumentError(f"{where}.waives: nothing is taken instead")
        if override.take:
            taken = _requirement(override.take, f"{where}.take", plain=True)
            if taken not in file.stack:
                raise DocumentError(
                    f"{where}.take: stack has no {taken!r}{nearest(taken, file.stack)}"
                )
            _said(override.reason, f"{where}.reason")
    held = [one.package for one in file.packages]
    for index, tree in enumerate(file.trees):
        where = f"{document.place('trees', index)}: trees[{index}]"
        if tree.package not in file.stack:
            near = nearest(tree.package, file.stack)
            raise DocumentError(f"{where}.package: stack has no {clean(tree.package)!r}{near}")
        if file.stack[tree.package].tree != tree.folder:
            raise DocumentError(
                f"{where}.folder: stack.{tree.package}.tree names another: "
                f"{clean(file.stack[tree.package].tree)!r}"
            )
    for index, name in enumerate(held):
        if name in held[:index]:
            place = document.place("packages", index)
            raise DocumentError(f"{place}: packages[{index}]: {clean(name)!r} stands twice")


def _range(text: str, where: str) -> None:
    try:
        specifier(text)
    except ValueError as error:
        raise DocumentError(f"{where}: {error}") from None


def _said(text: str, where: str) -> None:
    if not text.strip():
        raise DocumentError(f"{where}: says nothing")


def _requirement(line: str, where: str, plain: bool = False) -> str:
    """The canonical name in a requirement line, `plain` if no more than a range may follow it.

    Raises DocumentError.
    """
    from packaging.requirements import InvalidRequirement, Requirement  # needed for few answers

    if len(line) > _MAX_LINE:
        raise DocumentError(f"{where}: longer than {_MAX_LINE} characters")
    try:
        found = Requirement(line)
    except InvalidRequirement:
        raise DocumentError(f"{where}: {clean(line)!r} is no requirement") from None
    if plain and (found.extras or found.marker or found.url):
        raise DocumentError(f"{where}: {clean(line)!r} is more than a name and a range")
    return canonical(found.name)
