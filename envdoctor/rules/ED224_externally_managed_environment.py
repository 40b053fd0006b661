"""Changes by pip, in an interpreter that refuses them."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report it where the report itself proposes to install something here."""
    target = context.target
    installs = [one for one in context.commands if {"pip", "install"} <= set(one.split())]
    if not installs or not target.managed:
        return
    yield Fault(
        component=f"Python {target.version}",
        fields={"python": target.python},
        evidence=(Evidence("EXTERNALLY-MANAGED", target.managed, target.managed),),
        fixes=fix(),
    )
