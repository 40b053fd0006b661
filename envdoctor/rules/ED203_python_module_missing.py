"""A requirement that applies here is not installed."""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, List, Optional, Set, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Distribution, Target
from envdoctor.model.finding import Evidence
from envdoctor.model.names import canonical
from envdoctor.relations.environment import imported, outside
from envdoctor.relations.judge import Relations, judge
from envdoctor.rules.lookup import (
    cut_off,
    fix,
    import_names,
    is_tree,
    label,
    listed,
    moves_torch,
    of_the_system,
    pip,
    sees_all,
)
from envdoctor.rules.requirements import Environment, applies, environment, narrowest, parse
from envdoctor.rules.rule import Context, Fault

# Projects whose module has long been in the standard library.
_STANDARD = {
    "argparse",
    "asyncio",
    "configparser",
    "contextvars",
    "dataclasses",
    "enum34",
    "futures",
    "ordereddict",
    "pathlib",
    "typing",
    "uuid",
    "wsgiref",
}


def examine(context: Context) -> Iterator[Fault]:
    """Report what is missing: by itself if several distributions want it, else with its wanter."""
    target = context.target
    if not sees_all(target):
        return
    installed = imported(target)
    known = environment(context.facts, target)
    served = _Served(target, installed, context.knowledge)
    wanted: Dict[str, Dict[str, str]] = {}  # {missing: {who wants it: specifier}}
    for name, distribution in installed.items():
        # conda and the system's packagers rename, split and leave out: their own tools guard them.
        if distribution.installer != "conda" and not of_the_system(distribution):
            lacking = [
                (missing, specifier)
                for missing, specifier in _missing(distribution, installed, known)
                if missing not in served and cut_off(target, missing) is None
            ]
            told = _told(name, context) if lacking else set()
            for missing, specifier in lacking:
                if missing not in told:
                    wanted.setdefault(missing, {})[name] = specifier
    alone: Dict[str, List[str]] = {}
    for missing, wanters in wanted.items():
        if len(wanters) > 1:
            yield _shared(context, missing, wanters, installed)
        else:
            alone.setdefault(next(iter(wanters)), []).append(missing)
    for wanter, names in alone.items():
        yield _lacking(context, installed[wanter], {n: wanted[n][wanter] for n in names})


def _missing(
    distribution: Distribution, installed: Dict[str, Distribution], known: Environment
) -> Iterator[Tuple[str, str]]:
    for text in distribution.requires:
        requirement = parse(text)
        if requirement is None or requirement.name in installed:
            continue
        if applies(requirement, known):
            yield requirement.name, requirement.specifier


def _told(wanter: str, context: Context) -> Set[str]:
    """What a relation of the wanter misses itself: its finding says what fails without it."""
    if wanter not in context.knowledge.packages:
        return set()
    observed = context.observed
    relations = Relations(context.knowledge)
    violations = judge(relations, wanter, observed.domains, observed.accelerator).violations
    asked = {c for v in violations for breach in v.breaches for c in breach.bound.asked}
    return {
        name for c in asked for name in context.knowledge.providers.get(c[len("module.") :], (c,))
    }


class _Served:
    """Projects that are not installed, but whose module is there all the same.

    Another project brings it, or it lies on the path without metadata. Whether it is that module,
    its name alone does not say: of what may serve nothing is said.
    """

    def __init__(
        self, target: Target, installed: Dict[str, Distribution], knowledge: Knowledge
    ) -> None:
        self.knowledge = knowledge
        modules = {*target.modules, *(m for d in installed.values() for m in d.modules)}
        modules.update(m for n in installed for m in self._known_modules(n))
        self.modules = {module.lower() for module in modules}
        # conda has packages without Python metadata (opencv), under names of its own (py-opencv)
        self.conda = {_core(canonical(package.name)) for package in target.conda}

    def _known_modules(self, name: str) -> List[str]:
        package = self.knowledge.packages.get(name)
        return list(package.modules) if package is not None else []

    def __contains__(self, name: str) -> bool:
        modules = [*self._known_modules(name), *import_names(name)]
        names = {name, *(p for m in modules for p in self.knowledge.providers.get(m, ()))}
        return (
            name in _STANDARD
            or any(module.lower() in self.modules for module in modules)
            or any(_core(one) in self.conda for one in names)
        )


def _core(name: str) -> str:
    for affix in ("py-", "python-"):
        if name.startswith(affix):
            return name[len(affix) :]
    return name[: -len("-python")] if name.endswith("-python") else name


def _shared(
    context: Context, missing: str, wanters: Dict[str, str], installed: Dict[str, Distribution]
) -> Fault:
    specifiers = narrowest(wanters.values())
    return Fault(
        component=missing,
        words="shared",
        fields={
            "missing": missing,
            "wanters": listed(label(installed[name]) for name in wanters),
        },
        evidence=tuple(
            Evidence(label(installed[name]), f"requires {missing}{s}", installed[name].path)
            for name, s in wanters.items()
        ),
        fixes=fix(*_install(context, {missing: specifiers}, map(installed.get, wanters))),
    )


def _lacking(context: Context, wanter: Distribution, missing: Dict[str, str]) -> Fault:
    return Fault(
        component=label(wanter),
        about=tuple(missing),
        fields={"distribution": label(wanter), "missing": listed(missing)},
        evidence=tuple(
            Evidence(label(wanter), f"requires {name}{specifier}", wanter.path)
            for name, specifier in missing.items()
        ),
        fixes=fix(*_install(context, missing, [wanter])),
    )


def _install(
    context: Context, missing: Dict[str, str], wanters: Iterable[Optional[Distribution]]
) -> List[str]:
    """The command that adds them, unless that could exchange torch.

    For what another environment has nothing is added to this one; for a source tree it is.
    """
    target = context.target
    if all(one is None or (outside(target, one) and not is_tree(one)) for one in wanters):
        return []
    if any(moves_torch(name, context.knowledge) for name in missing):
        return []
    return [pip(target, "install", *(name + wanted for name, wanted in missing.items()))]
