"""One folder holds metadata of two versions of a project, or what a broken-off pip left."""

from __future__ import annotations

import shlex
from typing import Dict, Iterator, List, Tuple

import msgspec

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence, Fix
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    again,
    cut_off,
    evidence,
    fix,
    folder_of,
    import_names,
    is_leftover,
    label,
    listed,
    name_of,
    of_the_system,
)
from envdoctor.rules.requirements import applies, environment, parse
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report each project that is twice in a folder, and the leftovers of each folder together."""
    target = context.target
    leftovers: Dict[str, List[Distribution]] = {}
    projects: Dict[Tuple[str, str], List[Distribution]] = {}
    for distribution in target.distributions:
        entry = distribution.search_entry
        if is_leftover(distribution):
            leftovers.setdefault(entry, []).append(distribution)
        elif not of_the_system(distribution):
            projects.setdefault((entry, name_of(distribution)), []).append(distribution)
    for (_, name), found in projects.items():
        if len({d.version for d in found}) > 1:
            yield _twice(context, name, found)
    lost = dict(_lost(context)) if leftovers else {}
    for entry, found in leftovers.items():
        names = [name for name, one in lost.items() if one in found]
        yield _leftover(context, entry, found, {name: lost[name] for name in names})
    for entry in dict.fromkeys(folder_of(path) for path in target.leftovers):
        if entry not in leftovers:  # what it was of is gone, as it was to be
            yield _leftover(context, entry, [], {})


def _lost(context: Context) -> Iterator[Tuple[str, Distribution]]:
    """Projects of which nothing but a leftover is there, though they are required, with it."""
    target = context.target
    installed = imported(target)
    modules = {*target.modules, *(m for d in installed.values() for m in d.modules)}
    names = {name for name, _, _ in _wishes(context)}
    for name in sorted(names.difference(installed)):
        left = cut_off(target, name)
        if left is not None and modules.isdisjoint(import_names(name)):
            yield name, left


def _wishes(context: Context) -> Iterator[Tuple[str, str, Distribution]]:
    """What installed distributions require, in which version, and which they are."""
    known = environment(context.facts, context.target)
    for wanter in imported(context.target).values():
        for requirement in map(parse, wanter.requires):
            if requirement is not None and applies(requirement, known):
                yield requirement.name, requirement.specifier, wanter


def _leftover(
    context: Context, entry: str, found: List[Distribution], lost: Dict[str, Distribution]
) -> Fault:
    """What pip left in a folder; it is the cause where that is all that is left of a project."""
    wishes = [(n, s, w) for n, s, w in _wishes(context) if n in lost] if lost else []
    wanters = list(dict.fromkeys(label(wanter) for _, _, wanter in wishes))
    folders = [p for p in context.target.leftovers if folder_of(p) == entry]
    named = [d.path for d in found if _is_within(d) and d.path not in folders]
    commands = []
    for name, left in lost.items():
        commands.append(again(context, msgspec.structs.replace(left, name=name)))
    complete = all(commands)
    commands += [f"rm -r {shlex.quote(path)}" for path in (*named, *folders)]
    others = [p.rpartition("/")[2] for p in folders if p not in [d.path for d in found]]
    texts = [*(label(d) for d in found), *others]
    return Fault(
        component=listed(lost) if lost else listed(texts),
        severity="error" if lost else None,
        words="lost" if lost else "leftover",
        fields={
            "leftovers": listed(texts),
            "folder": entry,
            "lost": listed(lost),
            "wanters": listed(wanters),
        },
        evidence=(
            *(evidence(d) for d in found),
            *(Evidence(text, "a folder", f"{entry}/{text}") for text in others),
            *(Evidence(label(w), f"requires {name}{s}", w.path) for name, s, w in wishes),
        ),
        fixes=(Fix("", tuple(filter(None, commands)), complete=complete),),
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
    mixed = [f"{file} ({d.version})" for d in found for file in d.mixed[-1:]]
    commands = []
    # Which version is meant only its user knows; what has no files can go.
    if not mixed and not any(d.installer == "conda" for d in found):
        commands = [f"rm -r {shlex.quote(d.path)}" for d in others if _is_metadata(d)]
    return Fault(
        component=label(held[0] if held else found[0]),
        words="mixed" if mixed else "files" if held else "",
        # Of what the matrices know, other tools and findings depend on which of the two is read.
        severity="warning" if mixed or name in context.knowledge.packages else None,
        fields={
            "name": name,
            "versions": listed(d.version for d in found),
            "held": listed(dict.fromkeys(d.version for d in held)),
            "others": listed(dict.fromkeys(d.version for d in others)),
            "mixed": listed(mixed),
            "folder": entry,
        },
        evidence=tuple(evidence(d) for d in found),
        fixes=fix(*commands),
    )
