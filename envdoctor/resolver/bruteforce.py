"""Every stack there is, by trying every build: small, slow, exact.

It settles what the relations mean for a solver, and is what a quick one is measured against.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterator, List, Mapping, NamedTuple, Sequence, Set, Tuple

from packaging.version import Version

from envdoctor.model.build import ABSENT, Build, Unknown
from envdoctor.model.versions import satisfies
from envdoctor.relations.components import PYTHON
from envdoctor.relations.judge import Bound, Domain, Domains, Relations, judge
from envdoctor.relations.observe import set_modules


class Wish(NamedTuple):
    """What is wanted of a component: a specifier for its version, values for attributes.

    `without` are values that attributes must not have: {"cuda": "cpu"} for one that uses a GPU.
    """

    versions: str = ""
    variant: Mapping[str, str] = {}
    without: Mapping[str, str] = {}


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
    search = _Search(relations, accelerator, patches)
    options = {}
    for name in names:
        builds = _options(relations, name, wanted.get(name, Wish()))
        options[name] = search.possible(name, builds, domains)
    search.providers = frozenset(names)
    order = sorted(names, key=lambda name: (name != PYTHON, len(options[name]), name))
    yield from search.extend([(name, options[name]) for name in order], domains, {})


class _Search:
    def __init__(self, relations: Relations, accelerator: str, patches: bool) -> None:
        self.relations = relations
        self.accelerator = accelerator
        self.patches = patches
        self.providers: FrozenSet[str] = frozenset()

    def extend(
        self,
        order: Sequence[Tuple[str, Tuple[Build, ...]]],
        domains: Dict[str, Domain],
        chosen: Dict[str, Build],
    ) -> Iterator[Stack]:
        """Every way to choose the rest, `order`, beside what is chosen."""
        if not order:
            # without patches nothing that is broken was let through
            names = chosen if self.patches else ()
            waived = [bound for name in names for bound in self._broken(name, domains)]
            yield Stack(dict(chosen), tuple(waived))
            return
        (name, options), rest = order[0], order[1:]
        for build in self.possible(name, options, domains):
            tried = {**domains, name: (build,)}
            with_build = {**chosen, name: build}
            components = {name}
            if name in self.relations.knowledge.packages:
                components |= self._decide_modules(name, tried, with_build)
            if all(
                self._bearable(bound)
                for other in chosen
                if self._speaks_of(other, components)
                for bound in self._broken(other, tried)
            ):
                yield from self.extend(rest, tried, with_build)

    def possible(self, name: str, builds: Tuple[Build, ...], domains: Domains) -> Tuple[Build, ...]:
        """The builds that none of their own relations rejects; judged at once, in groups."""
        if name == PYTHON or not builds:
            return builds
        judgement = judge(self.relations, name, {**domains, name: builds}, self.accelerator)
        rejected = {
            id(build)
            for breach in judgement.breaches
            if breach.bound.relation.severity == "error" and not self._bearable(breach.bound)
            for build in breach.builds
        }
        return tuple(build for build in builds if id(build) not in rejected)

    def _decide_modules(
        self, name: str, domains: Dict[str, Domain], chosen: Mapping[str, Build]
    ) -> Set[str]:
        """Say who provides an import name once all that could are chosen."""
        knowledge = self.relations.knowledge
        decided: Dict[str, Domain] = dict(domains)
        set_modules(decided, knowledge)
        changed = set()
        for module in knowledge.packages[name].modules:
            providers = [n for n in knowledge.providers[module] if n in self.providers]
            if all(n in chosen for n in providers):
                domains[f"module.{module}"] = decided[f"module.{module}"]
                changed.add(f"module.{module}")
        return changed

    def _speaks_of(self, name: str, components: Set[str]) -> bool:
        return name != PYTHON and any(
            components & set(bound.reads) for bound in self.relations.of(name)
        )

    def _bearable(self, bound: Bound) -> bool:
        return self.patches and bool(bound.relation.waiver)

    def _broken(self, name: str, domains: Domains) -> List[Bound]:
        if name == PYTHON:
            return []
        judgement = judge(self.relations, name, domains, self.accelerator)
        return [
            breach.bound
            for violation in judgement.violations
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
    without = {k: package.typed(k, v) for k, v in wish.without.items()} if package else {}
    return tuple(
        b
        for b in builds
        if b.version is not None
        and satisfies(b.version, wish.versions)
        and all(b.attributes.get(k) == v for k, v in variant.items())
        and not any(b.attributes.get(k) == v for k, v in without.items())
    )


def _pythons(relations: Relations) -> Tuple[Build, ...]:
    rows = relations.knowledge.tables["python"].rows
    return tuple(
        Build(PYTHON, series, {"tag": row["tag"]})
        for series, row in rows.items()
        if isinstance(series, Version)
    )
