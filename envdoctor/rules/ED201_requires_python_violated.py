"""A distribution states that it does not support this version of Python."""

from __future__ import annotations

from typing import Dict, Iterator, List

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
    important_first,
    label,
    listed,
    of_the_system,
)
from envdoctor.rules.requirements import meets
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report each such distribution, those of one folder together."""
    target = context.target
    places: Dict[str, List[Distribution]] = {}
    for distribution in imported(target).values():
        wanted = distribution.requires_python
        if wanted and not of_the_system(distribution) and _violated(target.version, wanted):
            places.setdefault(distribution.search_entry, []).append(distribution)
    for place, found in places.items():
        first, *others = important_first(found, context.knowledge)
        yield Fault(
            component=label(first),
            words="several" if others else "",
            fields={
                "distribution": label(first),
                "wanted": first.requires_python,
                "python": target.version,
                "others": listed(label(d) for d in others),
                "folder": place,
            },
            evidence=(
                Evidence("Python", target.version, target.python),
                *(Evidence(label(d), f"Python {d.requires_python}", d.path) for d in found),
            ),
            fixes=fix(),
        )


def _violated(python: str, wanted: str) -> bool:
    try:
        return meets(python, wanted) is False
    except ValueError:  # old metadata holds what is no specifier
        return False
