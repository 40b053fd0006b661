"""Several builds of spconv, or of the cumm that it is made with, lie over each other."""

from __future__ import annotations

from typing import Dict, Iterator, List

from envdoctor.model.facts import Distribution
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import evidence, fix, label, listed, name_of, on_an_index, pip
from envdoctor.rules.rule import Context, Fault

_MODULES = ("spconv", "cumm")


def examine(context: Context) -> Iterator[Fault]:
    """Report them once, whichever of the two is there twice."""
    installed = imported(context.target)
    providers = context.knowledge.providers
    owners = {
        module: [installed[n] for n in sorted(providers.get(module, ())) if n in installed]
        for module in _MODULES
    }
    # In several folders one hides the other, which mixes no files.
    mixed = [
        one
        for each in owners.values()
        if len(each) > 1 and len({o.search_entry for o in each}) == 1
        for one in each
    ]
    if mixed:
        yield Fault(
            component=label(mixed[0]),
            severity="warning",
            fields={"builds": listed(label(one) for one in mixed)},
            evidence=tuple(evidence(one) for one in mixed),
            fixes=fix(*_commands(context, owners)),
        )


def _commands(context: Context, owners: Dict[str, List[Distribution]]) -> Iterator[str]:
    every = [one for module in _MODULES for one in owners[module]]
    if any(one.installer == "conda" for one in every):
        return
    yield pip(context.target, "uninstall", "-y", *(name_of(one) for one in every))
    wanted = owners["spconv"]
    if len(wanted) == 1 and on_an_index(wanted[0]):  # of two, nobody knows which is meant
        yield pip(context.target, "install", f"{wanted[0].name}=={wanted[0].version}")
