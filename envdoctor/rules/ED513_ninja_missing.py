"""Something compiles when it is first used, for which torch insists on ninja, and there is none."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.sources import is_absent
from envdoctor.rules.builds import just_in_time
from envdoctor.rules.lookup import evidence, fix, label, listed, pip
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report projects that are compiled at their first use; a build without ninja is only slow."""
    ninja = context.facts.tools.ninja
    found = just_in_time(context)
    if not found or not is_absent(context.facts, ninja):
        return
    yield Fault(
        component="ninja",
        fields={"names": listed(map(label, found))},
        evidence=(Evidence("ninja", "not found", ninja.unknown), *map(evidence, found)),
        fixes=fix(pip(context.target, "install", "ninja")),
        verify=("ninja --version",),
    )
