"""An installed version lies outside of what another installed distribution asks for."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, NamedTuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import is_development
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Relations, judge
from envdoctor.rules.lookup import (
    evidence,
    fix,
    label,
    listed,
    moves_torch,
    of_the_system,
    on_an_index,
    pip,
)
from envdoctor.rules.requirements import agree, applies, environment, meets, narrowest, parse
from envdoctor.rules.rule import Context, Fault

#: Phases whose relations are not told of what is installed.
_NOT_TOLD = ("build", "install")


class _Wish(NamedTuple):
    wanter: Distribution
    specifier: str
    met: bool


def examine(context: Context) -> Iterator[Fault]:
    """Report each distribution that others want in another version."""
    installed = imported(context.target)
    known = environment(context.facts, context.target)
    wishes: Dict[str, List[_Wish]] = {}
    for name, wanter in installed.items():
        if of_the_system(wanter):
            continue
        for text in wanter.requires:
            requirement = parse(text)
            if requirement is None or not requirement.specifier:
                continue
            held = installed.get(requirement.name)
            if held is None:
                continue
            met = not _is_broken(held.version, requirement.specifier)
            if not met and _is_judged_elsewhere(name, wanter, requirement.name, held, context):
                continue
            if applies(requirement, known):
                wish = _Wish(wanter, requirement.specifier, met)
                wishes.setdefault(requirement.name, []).append(wish)
    for name, wished in wishes.items():
        if not all(wish.met for wish in wished):
            yield _conflict(context, name, installed[name], wished)


def _is_broken(version: str, wanted: str) -> bool:
    """Whether a version is none of those wanted. A development build breaks exact pins alone."""
    exact = bool(re.fullmatch(r"\s*===?\s*[^\s,*]+\s*", wanted))
    return meets(version, wanted) is False and (exact or not is_development(version))


def _is_judged_elsewhere(
    name: str, wanter: Distribution, wanted: str, held: Distribution, context: Context
) -> bool:
    """Whether others say more of the pair: a relation, nvidia-wheels-mismatch, or conda itself."""
    if name == "torch" and wanted.startswith("nvidia-"):
        return True
    if wanter.installer == held.installer == "conda":
        return True
    if meets(held.version, wanter.checks.get(wanted, "")) is False:
        return True  # transformers-dependency-range: it is looked up at import
    if is_development(wanter.version) or is_development(held.version):
        return False  # relations do not compare it
    return _has_relation(name, wanted, wanter, context.knowledge) or _is_told(name, wanted, context)


def _is_told(name: str, wanted: str, context: Context) -> bool:
    """Whether a relation of all packages, as that of compiled code to NumPy, is broken by both."""
    if name not in context.knowledge.packages:
        return False
    observed = context.observed
    relations = Relations(context.knowledge)
    violations = judge(relations, name, observed.domains, observed.accelerator).violations
    return any(
        wanted in breach.bound.components and breach.bound.relation.phase not in _NOT_TOLD
        for violation in violations
        for breach in violation.breaches
    )


def _has_relation(name: str, wanted: str, wanter: Distribution, knowledge: Knowledge) -> bool:
    """Whether a relation between both judges what is installed, of releases that it knows."""
    if _shares_relation(name, wanted, knowledge):
        return _is_known(name, wanter, knowledge)
    for owner, other in ((name, wanted), (wanted, name)):
        word = re.compile(rf"\b{re.escape(other.replace('-', '_'))}\b")
        for relation in knowledge.relations:
            if relation.owner != owner or relation.phase in _NOT_TOLD:
                continue
            if word.search(relation.needs):
                return _is_known(name, wanter, knowledge)
    return False


def _shares_relation(name: str, wanted: str, knowledge: Knowledge) -> bool:
    """Whether a relation of several packages asks for a range of a module that `wanted` brings."""
    package = knowledge.packages.get(name)
    for module, providers in knowledge.providers.items():
        if package is None or wanted not in providers or name in providers:
            continue
        limit = re.compile(rf"\bmodule\.{re.escape(module)} in self\.(\w+)")
        for relation in knowledge.relations:
            match = limit.search(relation.needs) if relation.owner is None else None
            if match and match.group(1) in package.variant:
                return True
    return False


def _is_known(name: str, wanter: Distribution, knowledge: Knowledge) -> bool:
    known = knowledge.packages.get(name)
    newest = f"<={known.newest}" if known is not None else ""
    return meets(wanter.version, newest) is not False


def _conflict(context: Context, name: str, held: Distribution, wished: List[_Wish]) -> Fault:
    broken = [wish for wish in wished if not wish.met]
    specifiers = list(dict.fromkeys(wish.specifier for wish in wished))
    together = agree(specifiers)
    commands = []
    if together and on_an_index(held) and not moves_torch(name, context.knowledge):
        commands.append(pip(context.target, "install", name + narrowest(specifiers)))
    return Fault(
        component=label(held),
        words="" if together else "contradiction",
        fields={
            "distribution": label(held),
            "wishes": listed(f"{label(w.wanter)} ({name}{w.specifier})" for w in broken),
            "others": listed(f"{label(w.wanter)} ({name}{w.specifier})" for w in wished if w.met),
        },
        evidence=(
            evidence(held),
            *(
                Evidence(label(w.wanter), f"requires {name}{w.specifier}", w.wanter.path)
                for w in broken
            ),
        ),
        fixes=fix(*commands),
    )
