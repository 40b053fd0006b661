"""What goes into an image for a stack, and why: by the stack, its profile and the matrices."""

from __future__ import annotations

import re
from typing import Container, Dict, Iterable, List, NamedTuple, Optional, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.profiles import Profile
from envdoctor.model.names import canonical
from envdoctor.model.resolution import Member, Resolution
from envdoctor.model.versions import parse, satisfies, series, try_parse
from envdoctor.resolver.lock.steps import BUILD, Installation
from envdoctor.resolver.lock.written import told

_IMAGE = "image"
#: Of NVIDIA's images those that may be older than the exchange of its key, by their CUDA.
_BEFORE_KEY = "<11.7"
#: The oldest Python that the doctor runs on.
_DOCTOR = parse("3.8")
#: What compiles, where an image brings none.
_COMPILER = ("g++", "make")
_REPOSITORY = re.compile(r"\w[\w.-]{0,99}/\w[\w.-]{0,99}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_IMAGE_NAME = re.compile(r"[a-z0-9][\w.:/@-]{0,250}", re.ASCII)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}", re.ASCII)


class PlanError(ValueError):
    """An image cannot be made of a stack; the message says why."""


class System(NamedTuple):
    """The distribution that an image is made of."""

    base: str  # "nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04"
    name: str  # "ubuntu:20.04", as the matrices call it
    pythons: Tuple[str, ...]  # the series that its own archive has, its own first
    stale_lists: Tuple[str, ...]  # of repositories whose key may be an old one
    has_compiler: bool

    @property
    def doctor(self) -> str:
        """The series of a Python of its archive that the doctor runs on. Raises PlanError."""
        for text in self.pythons:
            if parse(text) >= _DOCTOR:
                return text
        raise PlanError(f"{self.name} has no Python that envdoctor runs on")


def system_of(resolution: Resolution, knowledge: Knowledge, base: str = "") -> System:
    """The system below a stack, `base` in place of its image.

    Raises PlanError where it is not known what system an image is.
    """
    if base and not _IMAGE_NAME.fullmatch(base):
        raise PlanError(f"--base-image: {told(base)} is no name of an image")
    member = _image(resolution)
    name = str(member.variant.get("os") or "")
    row = knowledge.tables["distribution"].rows.get(name)
    if row is None:
        raise PlanError(f"it is not known what system {member.version} is")
    pythons = [
        version
        for version in (row["python"], *_several(row.get("pythons")))
        if isinstance(version, Version)
    ]
    return System(
        base=base or member.version,
        name=name,
        pythons=tuple(str(series(one)) for one in pythons),
        stale_lists=_stale_lists(member, knowledge),
        has_compiler=bool(member.variant.get("toolkit")),
    )


def libraries(resolution: Resolution, knowledge: Knowledge) -> Dict[str, Tuple[str, ...]]:
    """Packages of the system that the stack loads, each with the distributions that do."""
    versions = {canonical(one.package): one.version for one in resolution.tree}
    versions.update({member.component: member.version for member in resolution.stack})
    packages = knowledge.tables["system_package"].rows
    wanted: Dict[str, List[str]] = {}
    for row in knowledge.tables["system_needs"].rows.values():
        for package in _several(row["packages"]):
            version = try_parse(versions.get(str(package), ""))
            if version is None or not satisfies(version, str(row["releases"])):
                continue
            for library in map(str, _several(row["libraries"])):
                if library in packages:
                    wanted.setdefault(str(packages[library]["apt"]), []).append(str(package))
    return {name: tuple(dict.fromkeys(by)) for name, by in sorted(wanted.items())}


def expect_code(plan: Installation, has_code: bool) -> None:
    """Raise PlanError where parts of the training code are compiled, and it is nowhere."""
    if not has_code and any(package.tree for package in plan.packages):
        raise PlanError("the stack compiles parts of the training code: name its folder, --source")


def expect_patches(names: Iterable[str], known: Container[str]) -> None:
    """Raise PlanError for a patch that is not there."""
    for name in names:
        if name not in known:
            raise PlanError(f"no patch is called {told(name)}")


def expect_inside(plan: Installation) -> None:
    """Raise PlanError for a tree that does not lie in the training code."""
    for package in plan.packages:
        parts = package.tree.split("/")
        if package.tree.startswith("/") or ".." in parts:
            raise PlanError(f"{told(package.tree)} of {package.name} is no folder of the code")


def compilers(plan: Installation, system: System) -> Tuple[str, ...]:
    """What must be installed so that the steps that compile can."""
    compiles = any(step.kind == BUILD and step.packages for step in plan.steps)
    return _COMPILER if compiles and not system.has_compiler else ()


def name_of(profile: Optional[Profile]) -> str:
    """What the folder of the training code is called. Raises PlanError for what no folder is."""
    if profile is None:
        return "stack"
    if not _NAME.fullmatch(profile.profile):
        raise PlanError(f"{profile.place('profile')}: profile: {told(profile.profile)} is no name")
    return profile.profile


def repository(profile: Optional[Profile]) -> Tuple[str, str]:
    """The name and the commit of the training code; empty texts where it is not known.

    Raises PlanError for what cannot be fetched safely.
    """
    if profile is None or profile.repository is None:
        return "", ""
    name, commit = profile.repository.name, profile.repository.commit
    if not _REPOSITORY.fullmatch(name) or not _COMMIT.fullmatch(commit):
        raise PlanError(f"{profile.place('repository')}: repository: no name or commit of GitHub's")
    return name, commit


def _image(resolution: Resolution) -> Member:
    for member in resolution.stack:
        if member.component == _IMAGE:
            return member
    raise PlanError("the stack has no image: it was sought for another target")


def _stale_lists(member: Member, knowledge: Knowledge) -> Tuple[str, ...]:
    toolkit = try_parse(str(member.variant.get("toolkit", "")))
    if toolkit is None or not satisfies(toolkit, _BEFORE_KEY):
        return ()
    return tuple(map(str, _several(knowledge.tables["apt_key"].rows["nvidia"]["lists"])))


def _several(cell: object) -> Tuple[object, ...]:
    return cell if isinstance(cell, tuple) else ()


__all__ = [
    "PlanError",
    "System",
    "compilers",
    "expect_code",
    "expect_inside",
    "expect_patches",
    "libraries",
    "name_of",
    "repository",
    "system_of",
]
