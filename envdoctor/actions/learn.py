"""The resolver and the ordinary installer in turns, until they agree on one tree.

The resolver chooses the stack; the installer chooses what stands around it. What it refuses goes
back as a forbidden combination. It may also say what it would take of the members that nobody asked
for in a version: the resolver takes that where no relation stands against it, at once where no
other stack can be better, else before the rounds are over. What the installer
chose of packages that the matrices know is judged by their relations: where it breaks one, those
packages are chosen by the resolver from then on.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.actions.index import Platform
from envdoctor.actions.installer import (
    PYTHON,
    Conflict,
    Failed,
    Outcome,
    Question,
    Tree,
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
# In so many of the last rounds what it would take is taken even if another stack may be better.
_LAST = 1
# How often it is asked what it would take, each time of more members.
_MOST_FREED = 3

Solve = Callable[[Request, Sequence[Learned]], Resolution]
Ask = Callable[[Question], Outcome]


class Broken(NamedTuple):
    """A relation that the installer's choice breaks, and what it chose of those it names."""

    relation: str
    packages: Tuple[str, ...]
    severity: str = "error"  # or warning


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
    asked: Optional[Tuple[str, ...]] = None  # what follows is asked by nobody
    taken: Tuple[Pin, ...] = ()  # by the installer
    warned: Optional[Resolution] = None  # a tree that breaks no more than warnings
    for left in reversed(range(max(1, rounds))):
        resolution = solve(request, learned)
        if taken:
            with_taken = solve(request._replace(pins=(*request.pins, *taken)), learned)
            fits = with_taken.status in (SOLVED, RELAXED)
            if fits and (left <= _LAST or _costs_the_same(with_taken, resolution)):
                resolution = _judged_by(resolution, with_taken)
        asked = resolution.asked if asked is None else asked
        resolution = msgspec.structs.replace(resolution, asked=asked)
        taught = tuple(one.words for one in learned)
        if resolution.status not in (SOLVED, RELAXED):
            return warned or msgspec.structs.replace(resolution, learned=taught)
        here = platform_of(resolution, platform)
        question = Question(
            platform=here,
            members=resolution.stack,
            rest=resolution.rest or request.rest,
            constraints=resolution.constraints,
            overrides=resolution.overrides or request.overrides,
        )
        outcome = ask(question)
        if isinstance(outcome, Failed):
            return msgspec.structs.replace(resolution, learned=taught, reason=outcome.reason)
        if isinstance(outcome, Conflict):
            lessons = lessons_of(outcome)
            said = lessons[0].words
            if any(one.forbidden == lessons[0].forbidden for one in learned):
                return warned or _undecided(resolution, learned, said)
            learned += lessons
            if left:
                taken = _taken(question, outcome, ask) or taken
            continue
        broken = judged(resolution.stack, outcome.artefacts, relations, here)
        errors = tuple(one for one in broken if one.severity == "error")
        wanted = {pin.component for pin in request.pins}
        new = sorted({name for one in broken for name in one.packages} - wanted)
        if not errors:
            whole = msgspec.structs.replace(
                resolution,
                learned=taught,
                tree=outcome.artefacts,
                left=outcome.left,
            )
            if not new:
                return whole
            warned = warned or whole
        said = "; ".join(
            f"what {outcome.installer} chose of {', '.join(b.packages)} breaks {b.relation}"
            for b in errors or broken
        )
        if not new:
            return warned or _undecided(resolution, learned, said)
        source = f"chosen by {outcome.installer}"
        pins = tuple(Pin(name, source=source, by=USER) for name in new)
        request = request._replace(pins=(*request.pins, *pins))
    return warned or _undecided(resolution, learned, said)


def _undecided(resolution: Resolution, learned: Sequence[Learned], said: str) -> Resolution:
    return msgspec.structs.replace(
        resolution,
        status=UNKNOWN,
        optimal=False,
        learned=tuple(one.words for one in learned),
        reason=f"no tree was found that goes with a stack: {said}",
    )


def _judged_by(best: Resolution, found: Resolution) -> Resolution:
    """What was found with more pins; proved only where nothing without them costs less."""
    proved = found.optimal and best.optimal and _costs_the_same(found, best)
    return msgspec.structs.replace(found, optimal=proved)


def _costs_the_same(one: Resolution, other: Resolution) -> bool:
    return (one.status, one.criteria) == (other.status, other.criteria)


def _taken(question: Question, conflict: Conflict, ask: Ask) -> Tuple[Pin, ...]:
    """What the installer takes of the members of a conflict that nobody asked for in a version.

    Empty where there are none, and where it takes nothing of them.
    """
    free: Dict[str, Member] = {}
    for _ in range(_MOST_FREED):
        concerned = {canonicalize_name(name) for name in conflict.packages}
        new: Dict[str, Member] = {
            canonicalize_name(member.component): member
            for member in question.members
            if _is_free(member) and canonicalize_name(member.component) in concerned - set(free)
        }
        if not new:
            return ()
        free.update(new)
        outcome = ask(
            question._replace(
                members=tuple(m for m in question.members if m not in free.values()),
                rest=(*question.rest, *(_named(member) for member in free.values())),
            )
        )
        if isinstance(outcome, Conflict):
            conflict = outcome
            continue
        if not isinstance(outcome, Tree):
            return ()
        versions = {artefact.package: artefact.version for artefact in outcome.artefacts}
        source = f"chosen by {outcome.installer}"
        return tuple(
            Pin(member.component, f"=={versions[name]}", source=source, by=USER)
            for name, member in free.items()
            if name in versions
        )
    return ()


def _is_free(member: Member) -> bool:
    """Whether an installer may choose the release: nobody names one, and the index has it."""
    own = bool(member.url or member.tree or member.patches) or "+" in member.version
    return is_package(member) and member.origin == "index" and not member.pinned and not own


def _named(member: Member) -> str:
    """A member's requirement without a version, extras and all."""
    try:
        asked = Requirement(member.requirement)
    except InvalidRequirement:
        return member.component
    extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
    return f"{asked.name}{extras}"


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
    """The relations that the installer's choice breaks beside the stack, warnings as well."""
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
                relation = breach.bound.relation
                if concerned and relation.severity != "info":
                    found.append(Broken(relation.id, concerned, relation.severity))
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
