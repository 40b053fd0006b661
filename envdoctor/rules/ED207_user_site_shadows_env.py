"""Another copy of an installed package comes earlier on the search path and is imported."""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Set, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Distribution, Target
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import inside, is_doubled, one_of
from envdoctor.rules.lookup import (
    evidence,
    fix,
    important_first,
    is_leftover,
    kind_of,
    label,
    listed,
    name_of,
    of_the_system,
    off_the_path,
    python_says,
)
from envdoctor.rules.requirements import parse
from envdoctor.rules.rule import Context, Fault

# A training imports neither.
_INSTALLERS = frozenset(["pip", "wheel"])
#: {kind of entry: the words for one package, those for several}
_WORDS = {
    "": ("", "several"),
    "user": ("user", "user_several"),
    "pythonpath": ("pythonpath", "pythonpath_several"),
}


def examine(context: Context) -> Iterator[Fault]:
    """Report the entries of the path that serve other versions than the environment has."""
    target = context.target
    grouped: Dict[Tuple[str, str], List[Distribution]] = {}
    for one in target.distributions:
        if not is_leftover(one):
            grouped.setdefault((one.search_entry, name_of(one)), []).append(one)
    at = {key: one_of(found) for key, found in grouped.items()}
    served: Dict[str, List[Tuple[Distribution, Optional[Distribution]]]] = {}
    for distribution in at.values():
        entry = distribution.shadowed_by
        if not entry or is_doubled(distribution) or _is_meant(distribution, target):
            continue
        other = at.get((entry, name_of(distribution)))
        if other is not None and is_doubled(other):
            continue
        if other is None or other.version != distribution.version:
            served.setdefault(entry, []).append((distribution, other))
    wanted = {r.name for d in target.distributions for r in map(parse, d.requires) if r}
    for entry, pairs in served.items():
        versions = [(d, other) for d, other in pairs if other is not None]
        trees = [d for d, other in pairs if other is None]
        strays = {id(d): _severity(d, wanted, context.knowledge) for d in trees}
        if versions:
            yield _other_versions(target, entry, versions, context.knowledge)
        for distribution in trees:
            severity = strays[id(distribution)]
            if severity:
                yield _stray(target, distribution, severity)
        trees = [d for d in trees if not strays[id(d)]]
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
        words=_WORDS[kind_of(target, entry)][bool(more)],
        fields={
            "imported": label(other_of[id(first)]),
            "installed": label(first),
            "entry": entry,
            "folder": first.search_entry,
            "others": listed(label(other_of[id(d)]) for d in more),
        },
        evidence=tuple(e for d, other in pairs for e in (evidence(other), evidence(d))),
        fixes=fix(*off_the_path(target, entry)),
        verify=(_where(target, other_of[id(first)]),),
    )


def _severity(distribution: Distribution, wanted: Set[str], knowledge: Knowledge) -> str:
    """How grave it is that something else than a copy is imported in its place; "" if it may be so.

    Projects have packages of their own under names of others (datasets, evaluate): of those that
    nothing here needs nothing is said.
    """
    name = name_of(distribution)
    is_file = distribution.stray.endswith((".py", ".pyc", ".so"))
    if not distribution.stray:
        return ""
    if name in knowledge.packages:
        return "error"
    return "warning" if is_file and name in wanted else ""


def _stray(target: Target, distribution: Distribution, severity: str) -> Fault:
    module = distribution.stray.rpartition("/")[2].partition(".")[0]
    return Fault(
        component=label(distribution),
        severity=severity,
        words="stray",
        fields={
            "stray": distribution.stray,
            "installed": label(distribution),
            "module": module,
            "folder": distribution.search_entry,
        },
        evidence=(
            evidence(distribution),
            Evidence(f"import {module}", distribution.stray, "the search path"),
        ),
        fixes=fix(),
        verify=(_where(target, distribution),),
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


def _module(distribution: Distribution) -> str:
    """The import name that stands for a distribution."""
    modules = (*distribution.modules, name_of(distribution).replace("-", "_"))
    named = [m for m in modules if m.isidentifier() and m.isascii()]
    own = [m for m in named if m.lower() == name_of(distribution).replace("-", "_")]
    public = [m for m in named if not m.startswith("_")]
    return (own or public or ["sys"])[0]


def _where(target: Target, distribution: Distribution) -> str:
    module = _module(distribution)
    return python_says(target, f"import {module}; print({module}.__file__)")
