"""Another copy of an installed package comes earlier on the search path and is imported."""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Distribution, Target
from envdoctor.rules.lookup import (
    evidence,
    fix,
    important_first,
    inside,
    is_leftover,
    label,
    listed,
    name_of,
    of_the_system,
    python_says,
)
from envdoctor.rules.rule import Context, Fault

# A training imports neither.
_INSTALLERS = frozenset(["pip", "wheel"])


def examine(context: Context) -> Iterator[Fault]:
    """Report the entries of the path that serve other versions than the environment has."""
    target = context.target
    at = {(d.search_entry, name_of(d)): d for d in target.distributions if not is_leftover(d)}
    served: Dict[str, List[Tuple[Distribution, Optional[Distribution]]]] = {}
    for distribution in target.distributions:
        entry = distribution.shadowed_by
        if not entry or _is_meant(distribution, target):
            continue
        other = at.get((entry, name_of(distribution)))
        if other is None or other.version != distribution.version:
            served.setdefault(entry, []).append((distribution, other))
    for entry, pairs in served.items():
        versions = [(d, other) for d, other in pairs if other is not None]
        trees = [d for d, other in pairs if other is None]
        if versions:
            yield _other_versions(target, entry, versions, context.knowledge)
        if trees:
            yield _trees(target, entry, trees)


def _is_meant(distribution: Distribution, target: Target) -> bool:
    """Whether it is there to be shadowed: the system's below a user's, a base's below a venv's."""
    if name_of(distribution) in _INSTALLERS or of_the_system(distribution):
        return True
    inherited = not inside(distribution.search_entry, target.prefix) and not distribution.editable
    return inherited and inside(distribution.shadowed_by, target.prefix)


def _other_versions(
    target: Target,
    entry: str,
    pairs: List[Tuple[Distribution, Distribution]],
    knowledge: Knowledge,
) -> Fault:
    other_of = {id(d): other for d, other in pairs}
    first, *more = important_first([d for d, _ in pairs], knowledge)
    return Fault(
        component=label(first),
        words=_kind(target, entry),
        fields={
            "imported": label(other_of[id(first)]),
            "installed": label(first),
            "entry": entry,
            "folder": first.search_entry,
            "others": listed(label(other_of[id(d)]) for d in more) or "-",
        },
        evidence=tuple(e for d, other in pairs for e in (evidence(other), evidence(d))),
        fixes=fix(*_commands(target, entry)),
        verify=(_where(target, other_of[id(first)]),),
    )


def _trees(target: Target, entry: str, found: List[Distribution]) -> Fault:
    # Without metadata it cannot be told whether it is the same project, vendored on purpose.
    return Fault(
        component=label(found[0]),
        severity="info",
        words="tree",
        fields={"entry": entry, "installed": listed(label(d) for d in found)},
        evidence=tuple(evidence(d) for d in found),
        fixes=fix(),
        verify=(_where(target, found[0]),),
    )


def _kind(target: Target, entry: str) -> str:
    if inside(entry, target.user_site):
        return "user"
    return "pythonpath" if entry in target.environ.get("PYTHONPATH", "").split(":") else ""


def _commands(target: Target, entry: str) -> List[str]:
    kinds = {"user": ["export PYTHONNOUSERSITE=1"], "pythonpath": ["unset PYTHONPATH"]}
    return kinds.get(_kind(target, entry), [])


def _where(target: Target, distribution: Distribution) -> str:
    modules = (*distribution.modules, name_of(distribution).replace("-", "_"))
    named = [m for m in modules if m.isidentifier() and m.isascii()]
    own = [m for m in named if m.lower() == name_of(distribution).replace("-", "_")]
    module = (own or named or ["sys"])[0]
    return python_says(target, f"import {module}; print({module}.__file__)")
