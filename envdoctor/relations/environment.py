"""What an import reaches in an environment, and whether that is the environment's own."""

from __future__ import annotations

from typing import Dict, List, Tuple

import msgspec

from envdoctor.model.facts import Distribution, Target
from envdoctor.model.names import canonical
from envdoctor.model.versions import try_parse

_DOUBLED = "holds metadata of"
#: Where an environment has its packages.
_LIBRARIES = ("lib", "lib64", "local/lib")
#: What was asked last: a check asks it of one target some thirty times.
_latest: List[Tuple[Target, Dict[str, Distribution]]] = []


def imported(target: Target) -> Dict[str, Distribution]:
    """The distribution of each canonical name that is first on the search path.

    What pip set aside under a name with ~ when it was broken off is none: nothing imports it. Where
    a folder holds metadata of several versions, it is the one whose files are there; where that
    cannot be told, it has no version and only what all of them state (`is_doubled`).
    """
    if not (_latest and _latest[0][0] is target):
        _latest[:] = [(target, _first_on_path(target))]
    return dict(_latest[0][1])


def _first_on_path(target: Target) -> Dict[str, Distribution]:
    order: Dict[str, int] = {}
    for entry in target.path:
        order.setdefault(entry, len(order))
    found: Dict[str, List[Distribution]] = {}
    for distribution in target.distributions:
        if distribution.name.startswith("~"):
            continue
        name = canonical(distribution.name)
        held = found.get(name)
        rank = order.get(distribution.search_entry, len(order))
        if held is None or rank < order.get(held[0].search_entry, len(order)):
            found[name] = [distribution]
        elif distribution.search_entry and distribution.search_entry == held[0].search_entry:
            held.append(distribution)
    return {name: one_of(held) for name, held in found.items()}


def one_of(doubled: List[Distribution]) -> Distribution:
    """What is known to be there of a project of which one folder holds all this metadata."""
    first = doubled[0]
    if len({try_parse(one.version) or one.version for one in doubled}) == 1:
        return first
    if any(one.has_files for one in doubled):
        return next(one for one in doubled if one.has_files)
    versions = ", ".join(dict.fromkeys(one.version for one in doubled))
    every = doubled[1:]
    problem = f"{first.search_entry} {_DOUBLED} {versions}; which one its files are of is not known"
    return msgspec.structs.replace(
        first,
        version="",
        tags=tuple(t for t in first.tags if all(t in one.tags for one in every)),
        direct_url="",
        requires_python="",
        requires=tuple(r for r in first.requires if all(r in one.requires for one in every)),
        limits=None,
        checks={},
        built="",
        problem=problem,
    )


def is_doubled(distribution: Distribution) -> bool:
    """Whether it cannot be told which of several versions is there."""
    return not distribution.version and f" {_DOUBLED} " in distribution.problem


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it; nothing lies in an unnamed one."""
    return bool(folder) and (path + "/").startswith(folder.rstrip("/") + "/")


def outside(target: Target, distribution: Distribution) -> str:
    """The place of a distribution that is not the environment's own, "" if it is.

    The environment's pip leaves alone what is there, and what it installs comes later on the path.
    Of what is installed in place, its project folder is the place on purpose.
    """
    return "" if distribution.editable else place_outside(target, distribution.search_entry)


def place_outside(target: Target, entry: str) -> str:
    """What an entry of the search path is that does not belong to the environment, "" if it does.

    What the user site adds, pip finds and replaces; what it puts before an environment's own, not.
    """
    if not entry or not target.path or not target.prefix:
        return ""
    is_named = on_pythonpath(target, entry)
    homes = [target.prefix] if is_named else [target.prefix, target.base_prefix]
    own = [f"{home.rstrip('/')}/{part}" for home in homes for part in _LIBRARIES if home]
    if any(inside(entry, folder) for folder in own):
        return ""
    if is_named:
        return f"PYTHONPATH entry {entry}"
    if inside(entry, target.user_site):
        is_alone = target.prefix == target.base_prefix and not target.conda
        shadows = any(inside(d.shadowed_by, target.user_site) for d in target.distributions)
        return f"user site {entry}" if shadows and not is_alone else ""
    return f"folder {entry}"


def on_pythonpath(target: Target, entry: str) -> bool:
    """Whether PYTHONPATH names an entry of the search path."""
    return any(is_same_folder(entry, one) for one in pythonpath(target))


def pythonpath(target: Target) -> List[str]:
    """The folders that PYTHONPATH names."""
    return [one for one in target.environ.get("PYTHONPATH", "").split(":") if one]


def is_same_folder(entry: str, other: str) -> bool:
    """Whether two spellings name one folder, as far as text tells."""
    return entry.rstrip("/") == other.rstrip("/")
