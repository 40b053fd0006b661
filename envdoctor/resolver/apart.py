"""Whether a separate environment is safer than a change of this one, and how to make it."""

from __future__ import annotations

import re
import shlex
from typing import Dict, Iterator, List, Sequence, Set, Tuple

from envdoctor.model.facts import Facts, Target
from envdoctor.model.language import count, say, translate
from envdoctor.model.names import canonical
from envdoctor.model.text import clean
from envdoctor.model.what_if import Break, Moved, Separate
from envdoctor.relations.environment import imported
from envdoctor.relations.repair import Repairs
from envdoctor.resolver.supposed import Asked, Supposed
from envdoctor.rules.lookup import label
from envdoctor.rules.requirements import parse

#: More packages that have to move than this is another stack.
_MANY = 3
_LISTED = 4
_OF_A_FOLDER = re.compile(r"[^a-z0-9.]+")
_LONGEST = 60  # letters of the name of a file


def separate(
    facts: Facts,
    asked: Sequence[Asked],
    supposed: Supposed,
    breaks: Sequence[Break],
    moves: Sequence[Moved],
    before: Repairs,
    language: str,
) -> Separate:
    """The reasons for an environment of its own, and its commands."""
    target = facts.target.value
    if target is None or all(one.removed for one in asked):
        return Separate()  # another environment does not make this one lose a package
    reasons = list(_reasons(target, facts, asked, supposed, breaks, moves, before, language))
    commands = _commands(asked, supposed) if reasons else ()
    return Separate(bool(reasons), tuple(clean(one, 1000) for one in reasons), commands)


def _reasons(
    target: Target,
    facts: Facts,
    asked: Sequence[Asked],
    supposed: Supposed,
    breaks: Sequence[Break],
    moves: Sequence[Moved],
    before: Repairs,
    language: str,
) -> Iterator[str]:
    if target.managed:
        told = "{file} keeps pip out of this Python: it is the system's"
        yield say(language, told, file=clean(target.managed))
    changed = [one.name for one in asked]
    lost = [one for one in breaks if one.severity == "error" and not one.mended]
    held = kept(changed, breaks, moves, before)
    for name, why in held.items():
        held_now, place = str(before.installed[name]), before.observation.served.get(name)
        if place:
            told = "{package} comes from {place}: what is installed here stands behind it"
            yield say(language, told, package=held_now, place=translate(language, clean(place)))
            continue
        told = "{package} is {build}: what replaces it cannot bring it back"
        yield say(language, told, package=held_now, build=translate(language, why))
    unfit = [name for name, fits in supposed.fits_here.items() if not fits]
    for name in unfit:
        told = "{package} is not to be had for Python {version} and this system"
        version = clean(target.version)
        package = f"{name} {supposed.labels[name]}"
        yield say(language, told, package=package, version=version)
    if lost and not unfit:
        names = _listed([one.component for one in lost], language)
        yield say(language, "nothing known mends {names}", names=names)
    others = {m.component for m in moves} - set(changed)
    if len(others) > _MANY:
        one = "{number} other package has to move"
        yield count(language, len(others), one, "{number} other packages have to move")
    touched = {*changed, *others}
    projects = _projects(target, touched, before)
    if projects and (breaks or moves):
        names = _listed(projects, language)
        told = "installed in place, others' work may rest on it: {names}"
        yield say(language, told, names=names)
    if (breaks or moves or held) and _is_shared(target):
        number = len(imported(target))
        inside = facts.machine.container.value not in (None, "none")
        told = "this Python, with {number} distributions, is the system's own or everybody's"
        if target.conda:
            told = "this is conda's base environment, with {number} distributions"
        elif inside:
            told = "this Python, with {number} distributions, is the image's own"
        yield say(language, told, number=number)


def kept(
    changed: Sequence[str], breaks: Sequence[Break], moves: Sequence[Moved], before: Repairs
) -> Dict[str, str]:
    """What is concerned and cannot be had a second time, with what it is: a vendor's build."""
    lost = [one for one in breaks if one.severity == "error" and not one.mended]
    names = [*changed, *(move.component for move in moves), *(_name(one) for one in lost)]
    there = [name for name in dict.fromkeys(names) if name in before.installed]
    return {name: before.stays(name) for name in there if before.stays(name)}


def _name(one: Break) -> str:
    return canonical(one.component.partition(" ")[0])


def _listed(names: Sequence[str], language: str) -> str:
    unique = list(dict.fromkeys(names))
    told = unique[:_LISTED]
    if len(unique) > _LISTED:
        told.append(say(language, "{number} more", number=len(unique) - _LISTED))
    return say(language, ", ").join(clean(one) for one in told)


def _projects(target: Target, touched: Set[str], before: Repairs) -> List[str]:
    """What is installed in place and needs something that moves, or is linked to it."""
    linking = target.linking.value
    found = []
    for name, distribution in imported(target).items():
        if not distribution.editable or name in touched:
            continue
        wanted = {r.name for r in map(parse, distribution.requires) if r is not None}
        if name in before.knowledge.packages:
            wanted.update(before.knowledge.packages[name].requires)
        links = linking.links.get(name, ()) if linking is not None else ()
        if touched & {*wanted, *(link.to for link in links)}:
            found.append(label(distribution))
    return found


def _is_shared(target: Target) -> bool:
    """Whether it is no environment of its own: the system's Python, an image's, conda's base."""
    if not target.prefix or target.prefix != target.base_prefix:
        return False
    return "/envs/" not in target.prefix + "/" if target.conda else True


def _commands(asked: Sequence[Asked], supposed: Supposed) -> Tuple[str, ...]:
    """A script that makes an environment with what is wanted in it, and the call of it."""
    coming = [one for one in asked if one.wanted is not None]
    if not coming:
        return ()
    called = "-".join(f"{one.name}-{supposed.labels[one.name]}" for one in coming)
    name = _OF_A_FOLDER.sub("-", called.lower())[:_LONGEST].strip("-.")
    wanted = [str(one.wanted) for one in coming]
    resolve = ["envdoctor", "resolve", *wanted, "--target", "venv", "--lock", "script"]
    return (
        shlex.join([*resolve, "-o", f"{name}.sh"]),
        shlex.join(["sh", f"{name}.sh", f".venv-{name}"]),
    )
