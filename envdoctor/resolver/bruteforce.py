"""Every stack there is, by trying every build: small, slow, exact.

It settles what the relations mean for a solver, and is what a quick one is measured against.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

from packaging.version import Version

from envdoctor.model.build import ABSENT, Build, Unknown
from envdoctor.model.versions import satisfies
from envdoctor.relations.components import PYTHON
from envdoctor.relations.judge import Bound, Domain, Domains, Relations, judge
from envdoctor.relations.observe import set_modules


class Wish(NamedTuple):
    """What is wanted of a component: a specifier for its version, values for attributes."""

    versions: str = ""
    variant: Mapping[str, str] = {}


class Stack(NamedTuple):
    """A full assignment of the wanted components; `waived` relations are mended by patches."""

    builds: Mapping[str, Build]
    waived: Tuple[Bound, ...]


def stacks(
    relations: Relations,
    host: Domains,
    wanted: Mapping[str, Wish],
    accelerator: str,
    patches: bool = False,
) -> Iterator[Stack]:
    """Every stack in which the `wanted` components are as wished and nothing is broken.

    `host` holds the domains of the machine's and the build's components. What a wanted package
    requires is wanted too. With `patches`, a relation whose waiver names one may be broken.
    """
    names = _closure(relations, wanted)
    domains: Dict[str, Domain] = dict.fromkeys(relations.knowledge.packages, (ABSENT,))
    domains.update(host)
    for name in names:
        domains[name] = (Unknown(f"{name} is not chosen yet"),)
    for module, providers in relations.knowledge.providers.items():
        undecided = any(name in names for name in providers)
        domains[f"module.{module}"] = (Unknown("not chosen yet"),) if undecided else (ABSENT,)
    options = {}
    for name in names:
        builds = _options(relations, name, wanted.get(name, Wish()))
        options[name] = _possible(relations, name, builds, domains, accelerator, patches)
    order = sorted(names, key=lambda name: (name != PYTHON, len(options[name]), name))
    search = _Search(relations, accelerator, patches, options)
    yield from search.extend(order, domains, {})


class _Search:
    def __init__(
        self,
        relations: Relations,
        accelerator: str,
        patches: bool,
        options: Mapping[str, Sequence[Build]],
    ) -> None:
        self.relations = relations
        self.accelerator = accelerator
        self.patches = patches
        self.options = options

    def extend(
        self, order: Sequence[str], domains: Dict[str, Domain], chosen: Dict[str, Build]
    ) -> Iterator[Stack]:
        if not order:
            broken = self._broken(chosen, domains)
            yield Stack(dict(chosen), tuple(broken))
            return
        name, rest = order[0], order[1:]
        for build in self.options[name]:
            tried = {**domains, name: (build,)}
            with_build = {**chosen, name: build}
            if name in self.relations.knowledge.packages:
                self._decide_modules(name, tried, with_build)
            if all(self._bearable(bound) for bound in self._broken(with_build, tried)):
                yield from self.extend(rest, tried, with_build)

    def _decide_modules(
        self, name: str, domains: Dict[str, Domain], chosen: Mapping[str, Build]
    ) -> None:
        """Say who provides an import name once all that could are chosen."""
        knowledge = self.relations.knowledge
        decided: Dict[str, Domain] = dict(domains)
        set_modules(decided, knowledge)
        for module in knowledge.packages[name].modules:
            providers = [n for n in knowledge.providers[module] if n in self.options]
            if all(n in chosen for n in providers):
                domains[f"module.{module}"] = decided[f"module.{module}"]

    def _bearable(self, bound: Bound) -> bool:
        return self.patches and bool(bound.relation.waiver)

    def _broken(self, chosen: Mapping[str, Build], domains: Domains) -> List[Bound]:
        return [
            breach.bound
            for name in chosen
            if name in self.relations.knowledge.packages
            for violation in judge(self.relations, name, domains, self.accelerator).violations
            for breach in violation.breaches
            if breach.bound.relation.severity == "error"
        ]


def _closure(relations: Relations, wanted: Mapping[str, Wish]) -> List[str]:
    names = list(wanted)
    for name in names:
        package = relations.knowledge.packages.get(name)
        if package is None and name != PYTHON:
            raise LookupError(f"the matrices do not know {name}")
        names += [n for n in (package.requires if package else ()) if n not in names]
    return names if PYTHON in names else [*names, PYTHON]


def _options(relations: Relations, name: str, wish: Wish) -> Tuple[Build, ...]:
    package = relations.knowledge.packages.get(name)
    builds = package.builds() if package else _pythons(relations)
    variant = {k: package.typed(k, v) for k, v in wish.variant.items()} if package else {}
    return tuple(
        b
        for b in builds
        if b.version is not None
        and satisfies(b.version, wish.versions)
        and all(b.attributes.get(k) == v for k, v in variant.items())
    )


def _possible(
    relations: Relations,
    name: str,
    builds: Tuple[Build, ...],
    domains: Domains,
    accelerator: str,
    patches: bool,
) -> Tuple[Build, ...]:
    """The builds that the machine alone does not rule out."""
    if name == PYTHON or not builds:
        return builds
    judgement = judge(relations, name, {**domains, name: builds}, accelerator)
    rejected = {
        id(build)
        for breach in judgement.breaches
        if breach.bound.relation.severity == "error"
        and not (patches and breach.bound.relation.waiver)
        for build in breach.builds
    }
    return tuple(build for build in builds if id(build) not in rejected)


def _pythons(relations: Relations) -> Tuple[Build, ...]:
    rows = relations.knowledge.tables["python"].rows
    return tuple(
        Build(PYTHON, series, {"tag": row["tag"]})
        for series, row in rows.items()
        if isinstance(series, Version)
    )
