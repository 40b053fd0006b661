"""The packages of an environment are those of another Python than the one that it starts."""

from __future__ import annotations

from typing import Iterator

from envdoctor.facts.probe import INSTALLERS
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import inside
from envdoctor.rules.lookup import fix, listed, name_of, python_says
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report an environment that holds packages, none of them for its Python."""
    target = context.target
    own = [
        d
        for d in target.distributions
        if inside(d.search_entry, target.prefix) and name_of(d) not in INSTALLERS
    ]
    if own or not target.other_libraries:
        return
    series = ".".join(target.version.split(".")[:2])
    yield Fault(
        component=f"Python {target.version}",
        fields={
            "python": target.python,
            "series": series,
            "others": listed(
                f"{folder} ({count})" for folder, count in target.other_libraries.items()
            ),
            "prefix": target.prefix,
        },
        evidence=(
            Evidence("Python", target.version, target.python),
            *(
                Evidence("distributions", str(count), f"{target.prefix}/lib/{folder}")
                for folder, count in target.other_libraries.items()
            ),
        ),
        fixes=fix(),
        verify=(python_says(target, "import sys; print(sys.version, sys.path)"),),
    )
