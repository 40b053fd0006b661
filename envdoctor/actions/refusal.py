"""Why an environment is not to be changed: asked before anything of it is."""

# ruff: noqa: PTH112, PTH116, PTH117, PTH118, PTH119, PTH120, PTH123
# Paths are bytes, for names of files need be no text; pathlib has no such.

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import Iterator, List, Sequence, Set, Tuple

from envdoctor.actions.snapshot import LINK, Entries
from envdoctor.actions.undo import Undo
from envdoctor.facts.probe import import_names
from envdoctor.model.facts import Distribution, Target
from envdoctor.model.names import canonical
from envdoctor.model.text import clean

_SYSTEM = ("/", "/usr")
#: Folders of an environment that installers write to; what else lies there is not theirs.
_OF_AN_ENVIRONMENT = ("bin", "etc", "include", "lib", "lib64", "man", "pyvenv.cfg", "share")
_OF_AN_INTERPRETER = ("bin", "conda-meta", "etc", "include", "man", "share")
_SITES = ("site-packages", "dist-packages")
_MOST_RECORD = 64 << 20


class RefusedError(Exception):
    """The environment is not to be changed; the message is one sentence for the user."""


def prefix_of(target: Target) -> str:
    """The folder of the environment, links resolved. Raises RefusedError."""
    if not target.prefix or not os.path.isabs(target.prefix):
        raise RefusedError("it is not known where the environment lies")
    prefix = os.path.realpath(target.prefix)
    if prefix != clean(prefix, len(prefix) + 1) or target.python != clean(target.python, 100_000):
        raise RefusedError("the path of the environment holds characters that no command can show")
    return prefix


def roots_of(target: Target, prefix: str) -> Tuple[str, ...]:
    """What of the environment is kept, as paths below its prefix. Raises RefusedError."""
    sites = list(_sites(target))
    inside = [site for site in sites if _is_in(os.path.realpath(site), prefix)]
    outside = [site for site in sites if site not in inside]
    if outside:
        there = os.path.realpath(outside[0])
        raise RefusedError(f"{outside[0]} is {there}, which lies outside of the environment")
    if not inside:
        raise RefusedError("the environment has no site-packages of its own")
    is_own = target.prefix != target.base_prefix and Path(prefix, "pyvenv.cfg").exists()
    if is_own:
        return _OF_AN_ENVIRONMENT
    folders = [os.path.relpath(os.path.realpath(site), prefix) for site in inside]
    return tuple(dict.fromkeys((*_OF_AN_INTERPRETER, *folders)))


def refuse(target: Target, prefix: str, steps: Sequence[Sequence[str]]) -> None:
    """Raise RefusedError where the environment must not or cannot be changed by `steps`."""
    if target.managed:
        raise RefusedError(
            f"{target.managed} says that this Python belongs to the system's packages (PEP 668): "
            "make an environment of your own"
        )
    if prefix in _SYSTEM:
        raise RefusedError(f"{prefix} belongs to the system: make an environment of your own")
    status = os.stat(prefix)
    if status.st_uid != os.geteuid():
        raise RefusedError(f"{prefix} belongs to {_name(status.st_uid)}, not to you")
    if os.statvfs(prefix).f_flag & os.ST_RDONLY:
        raise RefusedError(f"{prefix} is on a file system that is read-only")
    for folder in (prefix, *_sites(target)):
        if os.path.isdir(folder) and not os.access(folder, os.W_OK):
            raise RefusedError(f"{folder} cannot be written to")
    for step in steps:
        if step[0] == "rm":
            for path in step[2:]:
                if not _is_in(os.path.realpath(os.path.dirname(path)), prefix):
                    raise RefusedError(f"{path} lies outside of the environment")
    _refuse_installer(target, steps)
    for distribution in _named(target, steps):
        foreign = next(_outside(distribution, prefix), "")
        if foreign:
            raise RefusedError(
                f"{distribution.path}/RECORD lists a file outside of the environment: {foreign}"
            )


def refuse_links(
    entries: Entries, prefix: str, target: Target, steps: Sequence[Sequence[str]]
) -> None:
    """Raise RefusedError where a package that changes is a link out of the environment.

    Of the others installers keep off, and what is behind the link is not kept.
    """
    modules = {module for named in _named(target, steps) for module in named.modules}
    modules |= {one for name in _names(steps) for one in import_names(name)}
    folders = {os.fsencode(os.path.relpath(os.path.realpath(s), prefix)) for s in _sites(target)}
    for path, entry in entries.items():
        folder, name = os.path.split(path)
        if entry.kind == LINK and folder in folders and os.fsdecode(name) in modules:
            full = os.path.join(os.fsencode(prefix), path)
            there = os.fsdecode(os.path.realpath(full))
            if os.path.isdir(full) and not _is_in(there, prefix):
                raise RefusedError(f"{os.fsdecode(full)} is a link to {there}: outside")


def refuse_space(undo: Undo, needed: int) -> None:
    """Raise RefusedError where there is no room for a snapshot."""
    free = os.statvfs(undo.place)
    have = free.f_bavail * free.f_frsize
    if have < needed:
        raise RefusedError(
            f"a snapshot takes up to {needed >> 20} MiB in {undo.place}, and {have >> 20} MiB are "
            "free there"
        )


def _sites(target: Target) -> Iterator[str]:
    """The folders of the environment's own distributions."""
    for entry in dict.fromkeys(target.path):
        own = entry.startswith(target.prefix.rstrip("/") + "/")
        if own and entry.rstrip("/").rpartition("/")[2] in _SITES:
            yield entry


def _refuse_installer(target: Target, steps: Sequence[Sequence[str]]) -> None:
    if any(step[0] == "uv" for step in steps):
        if shutil.which("uv") is None:
            raise RefusedError("the environment has no pip, and uv, which made it, is not on PATH")
    elif any(step[0] != "rm" for step in steps):
        names = {canonical(distribution.name) for distribution in target.distributions}
        if "pip" not in names:
            raise RefusedError(
                "the environment has no pip: python -m ensurepip, run in it, gives it one"
            )


def _named(target: Target, steps: Sequence[Sequence[str]]) -> List[Distribution]:
    """The distributions that steps name."""
    names = _names(steps)
    return [d for d in target.distributions if canonical(d.name) in names]


def _names(steps: Sequence[Sequence[str]]) -> Set[str]:
    """Whatever steps may name: paths and options are no names of distributions."""
    return {canonical(_name_in(word)) for step in steps for word in step}


def _name_in(requirement: str) -> str:
    for mark in "=<>!~;[ ":
        requirement = requirement.partition(mark)[0]
    return requirement


def _outside(distribution: Distribution, prefix: str) -> Iterator[str]:
    """Files outside of the environment that a distribution claims."""
    try:
        with open(
            os.path.join(distribution.path, "RECORD"), encoding="utf-8", errors="replace"
        ) as f:
            lines = f.read(_MOST_RECORD).splitlines()
    except (OSError, ValueError):
        return
    folders = {}
    for line in lines:
        path = line.rsplit(",", 2)[0].strip('"')
        folder = os.path.dirname(os.path.join(distribution.search_entry, path))
        if folder not in folders:
            folders[folder] = _is_in(os.path.realpath(folder), prefix)
        if not folders[folder]:
            yield os.path.normpath(os.path.join(folder, os.path.basename(path)))


def _is_in(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix.rstrip("/") + "/")


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
