"""The build of a package that fits an environment and needs no compiler."""

from __future__ import annotations

from typing import Optional

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Facts
from envdoctor.model.names import canonical
from envdoctor.model.resolution import HOST, RELAXED, SOLVED, Member


def nearest(package: str, facts: Facts, knowledge: Knowledge) -> Optional[Member]:
    """The best build of a package with everything else left as it is; None without a wheel of one.

    It is asked of the resolver: what it proposes holds under every relation that `check` knows.
    """
    from envdoctor.relations.judge import Relations
    from envdoctor.resolver.request import Pin, Request
    from envdoctor.resolver.resolve import resolve

    target = facts.target.value
    if target is None or not target.version:
        return None
    request = Request(package, (Pin(package),), HOST, no_source=True)
    found = resolve(request, facts, Relations(knowledge))
    if found.status not in (SOLVED, RELAXED):
        return None
    installed = {canonical(one.name) for one in target.distributions}
    for member in found.stack:
        known = knowledge.packages.get(member.component)
        # a framework that nobody named was chosen freely: nothing is known of what is here
        if known is not None and known.is_framework and member.component not in installed:
            return None
    return next((one for one in found.stack if one.component == package and one.arguments), None)
