"""One folder holds metadata of two versions of a project, or what a broken-off pip left."""

from __future__ import annotations

import shlex
from typing import Dict, Iterator, List, Tuple

from envdoctor.model.facts import Distribution
from envdoctor.rules.lookup import (
    evidence,
    fix,
    is_leftover,
    label,
    listed,
    name_of,
    of_the_system,
)
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report each project that is twice in a folder, and the leftovers of each folder together."""
    leftovers: Dict[str, List[Distribution]] = {}
    projects: Dict[Tuple[str, str], List[Distribution]] = {}
    for distribution in context.target.distributions:
        entry = distribution.search_entry
        if is_leftover(distribution):
            leftovers.setdefault(entry, []).append(distribution)
        elif not of_the_system(distribution):
            projects.setdefault((entry, name_of(distribution)), []).append(distribution)
    for (_, name), found in projects.items():
        if len({d.version for d in found}) > 1:
            yield _twice(context, name, found)
    for entry, found in leftovers.items():
        yield Fault(
            component=listed(label(d) for d in found),
            words="leftover",
            fields={"leftovers": listed(label(d) for d in found), "folder": entry},
            evidence=tuple(evidence(d) for d in found),
            fixes=fix(*(f"rm -r {shlex.quote(d.path)}" for d in found if _is_within(d))),
        )


def _is_within(leftover: Distribution) -> bool:
    """Whether it is what it says: a folder that pip renamed, in the folder it was found in."""
    folder, _, name = leftover.path.rpartition("/")
    return folder == leftover.search_entry and name.startswith("~")


def _is_metadata(distribution: Distribution) -> bool:
    """Whether its path is a metadata folder, or file, in the folder it was found in."""
    folder, _, name = distribution.path.rpartition("/")
    return folder == distribution.search_entry and name.endswith((".dist-info", ".egg-info"))


def _twice(context: Context, name: str, found: List[Distribution]) -> Fault:
    entry = found[0].search_entry
    held = [d for d in found if d.has_files]
    others = [d for d in found if d.has_files is False]
    commands = []
    # Which version is meant only its user knows; what has no files can go.
    if not any(d.installer == "conda" for d in found):
        commands = [f"rm -r {shlex.quote(d.path)}" for d in others if _is_metadata(d)]
    return Fault(
        component=label(held[0] if held else found[0]),
        words="files" if held else "",
        # Of what the matrices know, other tools and findings depend on which of the two is read.
        severity="warning" if name in context.knowledge.packages else None,
        fields={
            "name": name,
            "versions": listed(d.version for d in found),
            "held": listed(dict.fromkeys(d.version for d in held)),
            "others": listed(dict.fromkeys(d.version for d in others)),
            "folder": entry,
        },
        evidence=tuple(evidence(d) for d in found),
        fixes=fix(*commands),
    )
