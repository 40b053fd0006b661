"""One folder holds metadata of two versions of a project, or what a broken-off pip left."""

from __future__ import annotations

import shlex
from typing import Dict, Iterator, List, Tuple

from packaging.version import Version

from envdoctor.model.facts import Distribution
from envdoctor.model.versions import local_part, try_parse
from envdoctor.rules.lookup import (
    evidence,
    fix,
    is_leftover,
    label,
    listed,
    moves_torch,
    name_of,
    of_the_system,
    pip,
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
    for (entry, name), found in projects.items():
        if len({d.version for d in found}) > 1:
            yield _twice(context, entry, name, found)
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


def _twice(context: Context, entry: str, name: str, found: List[Distribution]) -> Fault:
    commands = []
    if not any(d.installer == "conda" for d in found):
        commands = [pip(context.target, "uninstall", "-y", name)] * len(found)
        newest = max(found, key=lambda d: try_parse(d.version) or Version("0")).version
        if not moves_torch(name, context.knowledge) and not local_part(newest):
            commands.append(pip(context.target, "install", "--no-deps", f"{name}=={newest}"))
    return Fault(
        component=label(found[0]),
        # Of what the matrices know, the other findings depend on which of the two is there.
        severity="warning" if name in context.knowledge.packages else None,
        fields={
            "name": name,
            "versions": listed(d.version for d in found),
            "folder": entry,
        },
        evidence=tuple(evidence(d) for d in found),
        fixes=fix(*commands),
    )
