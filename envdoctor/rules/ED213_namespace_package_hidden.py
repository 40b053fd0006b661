"""An __init__.py somewhere on the path hides what other folders have in a namespace package."""

from __future__ import annotations

from typing import Dict, Iterator, List

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.rules.lookup import (
    evidence,
    fix,
    important_first,
    is_needed,
    label,
    listed,
    python_says,
    sees_all,
)
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report each package that hides modules, with the distributions that have them."""
    target = context.target
    if not sees_all(target):
        return
    hidden: Dict[str, List[Distribution]] = {}
    for distribution in target.distributions:
        if distribution.hidden:
            hidden.setdefault(distribution.hidden_by, []).append(distribution)
    for place, found in hidden.items():
        first = important_first(found, context.knowledge)[0]
        module = first.hidden[0]
        yield Fault(
            component=label(first),
            severity="error" if any(is_needed(d, context) for d in found) else None,
            fields={
                "modules": listed(name for d in found for name in d.hidden),
                "distributions": listed(label(d) for d in found),
                "package": module.partition(".")[0],
                "place": place,
            },
            evidence=(
                *(evidence(d) for d in found),
                Evidence(f"import {module.partition('.')[0]}", place, "the search path"),
            ),
            fixes=fix(),
            verify=(python_says(target, f"import {module}"),),
        )
