"""The resolver and the ordinary installer in turns, until they agree on one tree.

The resolver chooses the stack; the installer chooses what stands around it. What it refuses goes
back as a forbidden combination, and what it chose of packages that the matrices know is judged by
their relations: where it breaks one, those packages are chosen by the resolver from then on.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, NamedTuple, Sequence, Set, Tuple

import msgspec
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.actions.index import Platform
from envdoctor.actions.installer import (
    PYTHON,
    Conflict,
    Failed,
    Outcome,
    Question,
    is_package,
)
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Unknown, Value
from envdoctor.model.resolution import RELAXED, SOLVED, UNKNOWN, Artefact, Member, Resolution
from envdoctor.model.versions import series, try_parse
from envdoctor.relations.asked import every_interpreter
from envdoctor.relations.judge import Domain, Relations, judge
from envdoctor.relations.observe import candidates, set_modules
from envdoctor.resolver.request import USER, Learned, Pin, Request

#: How often the installer is asked, each time about another stack.
ROUNDS = 5

Solve = Callable[[Request, Sequence[Learned]], Resolution]
Ask = Callable[[Question], Outcome]


class Broken(NamedTuple):
    """A relation that the installer's choice breaks, and what it chose of those it names."""

    relation: str
    packages: Tuple[str, ...]


def resolve_tree(
    solve: Solve,
    request: Request,
    ask: Ask,
    relations: Relations,
    platform: Platform,
    rounds: int = ROUNDS,
) -> Resolution:
    """A stack with the tree around it.

    `solve` is the resolver, `ask` the installer; `platform` says of the machine what the stack does
    not. Without a stack the resolver's answer stands. Where the two do not agree within `rounds`,
    the status is `unknown`. Where the installer cannot be asked the stack stands alone: `tree` is
    empty and `reason` says why.
    """
    learned: List[Learned] = []
    said = ""
    for _ in range(max(1, rounds)):
        resolution = solve(request, learned)
        taught = tuple(one.words for one in learned)
        if resolution.status not in (SOLVED, RELAXED):
            return msgspec.structs.replace(resolution, learned=taught)
        here = platform_of(resolution, platform)
        outcome = ask(
            Question(
                platform=here,
                members=resolution.stack,
                rest=resolution.rest or request.rest,
                constraints=resolution.constraints,
                overrides=resolution.overrides or request.overrides,
            )
        )
        if isinstance(outcome, Failed):
            return msgspec.structs.replace(resolution, learned=taught, reason=outcome.reason)
        if isinstance(outcome, Conflict):
            lessons = lessons_of(outcome)
            said = lessons[0].words
            if any(one.forbidden == lessons[0].forbidden for one in learned):
                return _undecided(resolution, learned, said)
            learned += lessons
            continue
        broken = judged(resolution.stack, outcome.artefacts, relations, here)
        if not broken:
            return msgspec.structs.replace(
                resolution,
                learned=taught,
                tree=outcome.artefacts,
                left=outcome.left,
            )
        said = "; ".join(
            f"what {outcome.installer} chose of {', '.join(b.packages)} breaks {b.relation}"
            for b in broken
        )
        wanted = {pin.component for pin in request.pins}
        new = sorted({name for one in broken for name in one.packages} - wanted)
        if not new:
            return _undecided(resolution, learned, said)
        source = f"chosen by {outcome.installer}"
        pins = tuple(Pin(name, source=source, by=USER) for name in new)
        request = request._replace(pins=(*request.pins, *pins))
    return _undecided(resolution, learned, said)


def _undecided(resolution: Resolution, learned: Sequence[Learned], said: str) -> Resolution:
    return msgspec.structs.replace(
        resolution,
        status=UNKNOWN,
        optimal=False,
        learned=tuple(one.words for one in learned),
        reason=f"no tree was found that goes with a stack: {said}",
    )


def lessons_of(conflict: Conflict) -> List[Learned]:
    """A conflict as forbidden combinations: itself, and what is refused as well."""
    words = f"with {_told(conflict.forbidden)} the rest cannot be installed: {conflict.text}"
    found = [Learned(dict(conflict.forbidden), words, conflict.installer)]
    for wider in conflict.wider:
        words = f"with {_told(wider)} the rest cannot be installed either"
        found.append(Learned(dict(wider), words, conflict.installer))
    return found


def _told(forbidden: Mapping[str, str]) -> str:
    parts = [f"{name}{spec}" for name, spec in forbidden.items() if name != PYTHON]
    python = forbidden.get(PYTHON, "").lstrip("=")
    python = python[: -len(".*")] if python.endswith(".*") else python
    return ", ".join([*parts, *([f"Python {python}"] if python else [])])


def platform_of(resolution: Resolution, otherwise: Platform) -> Platform:
    """What wheels must fit: the stack's Python and C library, of an image too; else as given."""
    python, glibc = otherwise.python, otherwise.glibc
    for member in resolution.stack:
        if member.component == PYTHON:
            python = member.version
        elif member.component == "host.glibc":
            glibc = member.version
        elif member.component == "image" and isinstance(member.variant.get("glibc"), str):
            glibc = str(member.variant["glibc"])
    return otherwise._replace(python=python, glibc=glibc)


# --- judging --------------------------------------------------------------------------------


def judged(
    stack: Sequence[Member],
    artefacts: Sequence[Artefact],
    relations: Relations,
    platform: Platform,
) -> Tuple[Broken, ...]:
    """The relations that the installer's choice breaks beside the stack."""
    knowledge = relations.knowledge
    members: Dict[str, Member] = {canonicalize_name(m.component): m for m in stack if is_package(m)}
    domains: Dict[str, Domain] = dict.fromkeys(knowledge.packages, (ABSENT,))
    chosen: Set[str] = set()
    for name, member in members.items():
        if name in knowledge.packages:
            domains[name] = _of_member(member, knowledge)
    for artefact in artefacts:
        if artefact.package in knowledge.packages and artefact.package not in members:
            chosen.add(artefact.package)
            domains[artefact.package] = _of_artefact(artefact, knowledge, platform)
    domains[PYTHON] = _interpreter(platform, knowledge)
    set_modules(domains, knowledge)
    found = []
    for name in sorted({*members, *chosen} & set(knowledge.packages)):
        for violation in judge(relations, name, domains, "nvidia").violations:
            for breach in violation.breaches:
                named = {name, *breach.bound.components}
                for module in [c for c in named if c.startswith("module.")]:
                    named.update(knowledge.providers.get(module[len("module.") :], ()))
                concerned = tuple(sorted(named & chosen))
                if concerned and breach.bound.relation.severity == "error":
                    found.append(Broken(breach.bound.relation.id, concerned))
    return tuple(dict.fromkeys(found))


def _of_member(member: Member, knowledge: Knowledge) -> Domain:
    package = knowledge.packages[canonicalize_name(member.component)]
    observed: Dict[str, Value] = {}
    for attribute, raw in member.variant.items():
        if attribute in package.variant and isinstance(raw, (str, list)):
            try:
                observed[attribute] = package.typed(
                    attribute, raw if isinstance(raw, str) else list(raw)
                )
            except ValueError:  # of a state of matrices that is another than these
                continue
    if "origin" in package.variant and "origin" not in observed:
        observed["origin"] = "source" if member.origin == "source" else "wheel"
    return candidates(package, member.version, observed, "")


def _of_artefact(artefact: Artefact, knowledge: Knowledge, platform: Platform) -> Domain:
    package = knowledge.packages[artefact.package]
    observed: Dict[str, Value] = {}
    if "origin" in package.variant:
        observed["origin"] = "source" if artefact.sdist else "wheel"
    if "architecture" in package.variant:
        observed["architecture"] = platform.architecture
    return candidates(package, artefact.version, observed, "")


def _interpreter(platform: Platform, knowledge: Knowledge) -> Domain:
    version = try_parse(platform.python)
    wanted = series(version) if isinstance(version, Version) else None
    found = tuple(one for one in every_interpreter(knowledge) if one.version == wanted)
    return found or (Unknown(f"the matrices do not know Python {platform.python}"),)
