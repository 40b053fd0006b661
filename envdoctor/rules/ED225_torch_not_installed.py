"""Packages that are nothing without torch, in an environment that has none."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.build import ABSENT
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import evidence, fix, label, listed, sees_all
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report what cannot be imported, where it is known that no torch is on the search path."""
    target = context.target
    if context.observed.domains.get("torch") != (ABSENT,) or not sees_all(target):
        return
    if "torch" in target.modules or any(one.name.startswith("pytorch") for one in target.conda):
        return
    found = [
        one
        for name, one in imported(target).items()
        if "torch" in getattr(context.knowledge.packages.get(name), "requires", ())
    ]
    if found:
        yield Fault(
            component="torch",
            fields={"names": listed(map(label, found)), "python": target.python},
            evidence=(Evidence("torch", "not found", target.python), *map(evidence, found[:4])),
            fixes=fix(),
            verify=(),
        )
