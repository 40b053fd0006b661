"""A plan of repair as changes of lines in requirement files: nothing is installed yet."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Sequence, Tuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build
from envdoctor.model.facts import Asked, AskedLine
from envdoctor.model.finding import Fix
from envdoctor.model.language import count, say
from envdoctor.model.text import clean
from envdoctor.model.versions import parse, satisfies, try_specifier
from envdoctor.relations.asked import is_on, segments
from envdoctor.relations.plan import Change, Plan, requirement_arguments
from envdoctor.rules.index_lines import (
    Place,
    lasting,
    page_line,
    place_of,
    requirement_line,
)

_POETRY = re.compile(r"(?P<name>[\w.-]+) = '(?P<wanted>[^']*)'")
_CONDA = re.compile(r"(?P<name>(?:[\w./-]+::)?[\w.-]+)\s*(?P<wanted>.*)")


def lines_fix(language: str, plan: Plan, asked: Asked, knowledge: Knowledge) -> Fix:
    """The fix that carries out a plan: each line to change, what it says and what it is to say."""
    said: List[str] = []
    replaced: Dict[str, None] = {}
    missing: Dict[Tuple[Place, str], List[str]] = {}
    for change in plan:
        place = place_of(asked, _origin(change, asked))
        said += _edit(language, change, asked, place, knowledge)
        option = lasting((requirement_arguments(change.after) or "").partition(" ")[2])
        if not option or any(is_on(change.after, segments(url)) for url in asked.indexes):
            continue
        before = _page_of(change.before, asked)
        new = option if place.manager in ("pip", "conda") else option.partition(" ")[2]
        # pip would find the same release on both
        if before and before.endswith(".html") == new.endswith(".html"):
            replaced.setdefault(say(language, "{old} -> {new}", old=before, new=new))
        else:
            missing.setdefault((place, option), []).append(change.after.component)
    said += replaced
    said += [page_line(language, place, option, n) for (place, option), n in missing.items()]
    told = count(language, len(said), "{number} line: ", "{number} lines: ")
    return Fix(clean(told + say(language, "; ").join(said), 1000))


def _page_of(before: Optional[Build], asked: Asked) -> str:
    """The page among those of the files from which a build was to come, "" if none."""
    if before is None:
        return ""
    return next((url for url in asked.indexes if is_on(before, segments(url))), "")


def _origin(change: Change, asked: Asked) -> str:
    """The line that asks for what a change replaces, "" if none does."""
    name = change.before.component if change.before is not None else ""
    return next((line.origin for line in asked.lines if line.name == name), "")


def _edit(
    language: str, change: Change, asked: Asked, place: Place, knowledge: Knowledge
) -> List[str]:
    """What the line of a package is to say; nothing where it says that already."""
    wanted = (requirement_arguments(change.after) or "").partition(" ")[0]
    name = change.before.component if change.before is not None else ""
    lines = [line for line in asked.lines if line.name == name]
    if not lines:
        return [requirement_line(language, place, wanted)]
    line = next((one for one in lines if one.specifier.startswith("==")), lines[0])
    if line.locked:
        bound = bounded("", change.after, knowledge) or wanted
        again = say(language, " (lock again with {requirement})", requirement=bound)
        return [f"{line.origin}: {line.text} -> {change.after.version}{again}"]
    new = wanted if change.removed else changed(line, change.after, wanted, lines, knowledge)
    return [f"{line.origin}: {line.text} -> {new}"] if new != line.text else []


def changed(
    line: AskedLine, after: Build, wanted: str, lines: Sequence[AskedLine], knowledge: Knowledge
) -> str:
    """What a line is to say so that a build is taken: a bound if one does, else that release."""
    every = ",".join(one.specifier for one in lines if one.specifier)
    bound = ""
    if "+" not in wanted:
        bound = bounded(every, after, knowledge)[len(after.component) :]
    exact = wanted[len(after.component) :]
    if line.installer == "conda":
        match = _CONDA.fullmatch(line.text)
        if match and bound and (not match["wanted"] or match["wanted"][0] in "<>!"):
            return line.text + ("," if match["wanted"] else "") + bound
        return f"{match['name'] if match else line.name}{exact}"
    poetry = _POETRY.fullmatch(line.text)
    if poetry:
        kept = poetry["wanted"] if bound and poetry["wanted"] != "*" else ""
        return f'{poetry["name"]} = "{",".join(t for t in (kept, bound or exact) if t)}"'
    try:
        stated = Requirement(line.text)
    except (InvalidRequirement, ValueError):
        return wanted
    stated.url = None
    if bound:
        stated.specifier &= SpecifierSet(bound)
    else:
        stated.specifier = SpecifierSet(exact)
    return str(stated)


def bounded(specifier: str, after: Build, knowledge: Knowledge) -> str:
    """The requirement with the shortest upper bound under which a release is the newest allowed.

    Empty if the specifier does not allow it, or if it is the newest as it is.
    """
    version = after.version
    if version is None or try_specifier(specifier) is None or not satisfies(version, specifier):
        return ""
    newer = [
        one
        for one in knowledge.packages[after.component].releases
        if one > version and satisfies(one, specifier)
    ]
    limit = _limit(version, newer[0]) if newer else None
    return f"{after.component}<{limit}" if limit is not None else ""


def _limit(below: Version, above: Version) -> Optional[Version]:
    """The shortest version that is above one and not above the other."""
    for length in range(1, len(above.release) + 1):
        limit = parse(".".join(str(n) for n in above.release[:length]))
        if below < limit <= above:
            return limit
    return None
