"""Which installed files are linked to what a change takes away."""

from __future__ import annotations

import re
from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.facts import Distribution, Link, Target
from envdoctor.model.language import say, translate
from envdoctor.model.text import clean
from envdoctor.model.versions import series, try_parse
from envdoctor.model.what_if import FileNeed
from envdoctor.relations.environment import imported
from envdoctor.relations.repair import linked
from envdoctor.rules.lookup import label

_RUNTIME = re.compile(r"libcudart\.so\.(\d+)(\.\d+)?$")
_NUMBERED = re.compile(r"\.so\.(\d+)")
_REFUSES = 2  # the first NumPy that refuses modules compiled for an older one
_NOT_READ = "binaries were not read"
#: CUDA's libraries for which the number of the SONAME is that of the wheel's release.
_OF_NVIDIA = "nvidia-"


class Change(NamedTuple):
    """A distribution that goes, or in whose place another build comes."""

    name: str  # canonical
    before: Optional[Build]  # None of what the matrices do not know
    after: Optional[Build]
    old: str  # versions as people write them
    new: str  # "" where it goes


class Linked(NamedTuple):
    """What a change does to the files of one distribution."""

    name: str  # canonical, "" of files that are of none
    of: str  # the distribution that changes
    files: Tuple[FileNeed, ...]
    more: int  # files beside those
    sure: bool  # whether they do not load for certain
    why: str


def linked_files(
    target: Target, changes: Mapping[str, Change], language: str
) -> Tuple[List[Linked], List[str]]:
    """What becomes of files that are linked to what changes; also what cannot be told of them."""
    found: List[Linked] = []
    open_: List[str] = []
    linking = target.linking.value
    there = imported(target)
    for name, links in (linking.links if linking is not None else {}).items():
        if name in changes:
            continue
        for link in links:
            change = changes.get(link.to)
            if change is None:
                continue
            runtime = linking.builds[name].cuda if linking and name in linking.builds else ""
            why, sure = _fate(link, change, runtime, language)
            package = _called(there.get(name), name)
            if why and sure is None:
                told = say(language, "{builds}: {reason}", builds=package or "?", reason=why)
                open_.append(clean(told, 1000))
            elif why:
                needs = tuple(clean(one) for one in link.libraries)
                files = tuple(FileNeed(clean(f), package, needs, why, link.to) for f in link.files)
                more = max(link.count - len(files), 0)
                found.append(Linked(name, link.to, files, more, bool(sure), why))
    return found, open_


def files_for_numpy_1(
    target: Target, change: Optional[Change], language: str
) -> Tuple[List[Linked], List[str]]:
    """The modules that NumPy 2 refuses, where it comes in the place of NumPy 1."""
    old = try_parse(change.old) if change is not None else None
    new = try_parse(change.new) if change is not None else None
    if change is None or old is None or new is None or not old.major < _REFUSES <= new.major:
        return [], []
    linking = target.linking.value
    if linking is None or linking.numpy_1 is None:
        reason = translate(language, target.linking.unknown) or say(language, _NOT_READ)
        told = "which other files were compiled for NumPy 1 is not known: {reason}"
        return [], [clean(say(language, told, reason=reason), 1000)]
    there = imported(target)
    why = say(
        language, "compiled for NumPy 1, and {new} refuses that", new=f"{change.name} {change.new}"
    )
    needs = ("numpy.core._multiarray_umath",)
    found = []
    for name, paths in linking.numpy_1.items():
        package = _called(there.get(name), name)
        files = tuple(FileNeed(clean(f), package, needs, why, "numpy") for f in paths)
        found.append(Linked(name, "numpy", files, 0, True, why))
    return found, []


def _called(distribution: Optional[Distribution], name: str) -> str:
    return clean(label(distribution)) if distribution is not None else clean(name)


def _fate(link: Link, change: Change, runtime: str, language: str) -> Tuple[str, Optional[bool]]:
    """Why files with this link no longer load, "" if they do; None where it is not known."""
    old = f"{change.name} {change.old}"
    if not change.new:
        return say(language, "{package} has them, and would be gone", package=old), True
    new = f"{change.name} {change.new}"
    if change.name == "torch":
        return _of_torch(link, change, runtime, language)
    if change.old == change.new:
        return "", True
    before, after = try_parse(change.old), try_parse(change.new)
    numbers = {m[1] for m in map(_NUMBERED.search, link.libraries) if m}
    if before is None or after is None:
        return "", True
    if change.name.startswith(_OF_NVIDIA) and numbers == {str(before.major)}:
        if before.major == after.major:
            return "", True  # the number of the interface is the release's
        why = say(
            language,
            "{old} serves them under this number, {new} under another",
            old=old,
            new=new,
        )
        return why, True
    why = say(language, "whether {new} has {names} is not known", new=new, names=_names(link))
    return why, None


def _of_torch(
    link: Link, change: Change, runtime: str, language: str
) -> Tuple[str, Optional[bool]]:
    before, after = change.before, change.after
    old, new = f"torch {change.old}", f"torch {change.new}"
    if before is None or after is None or None in (before.version, after.version):
        if change.old == change.new:
            return "", True
        return say(language, "compiled for {old}, another one is here then", old=old), None
    named = [f"libcudart.so.{runtime}"] if runtime else []
    gone = _runtime_gone([*link.libraries, *named], after)
    if gone:
        return say(language, "{new} has no {library}", new=new, library=gone), True
    if not link.cxx:
        return "", True
    was, will = linked(before), linked(after)
    if _series(before) != _series(after):
        why = "compiled for {old}: the C++ interface of {new} is another one"
        return say(language, why, old=old, new=new), True
    if was[2] != will[2] and None not in (was[2], will[2]):
        why = "compiled for the C++ ABI of {old}, and {new} has the other one"
        return say(language, why, old=old, new=new), True
    return "", True


def _series(build: Build) -> Optional[Version]:
    return series(build.version) if build.version is not None else None


def _runtime_gone(libraries: Sequence[str], after: Build) -> str:
    """The CUDA runtime that files need and that the new torch does not bring."""
    cuda = after.attributes.get("cuda")
    for name in libraries:
        match = _RUNTIME.match(name)
        if match and isinstance(cuda, Version) and cuda.major != int(match[1]):
            return clean(name)
        if match and cuda == "cpu":
            return clean(name)
    return ""


def _names(link: Link) -> str:
    return ", ".join(clean(name) for name in link.libraries[:3])
