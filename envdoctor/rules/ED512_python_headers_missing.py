"""Something is to be compiled, and the headers of the interpreter are not here."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.sources import is_absent
from envdoctor.rules.builds import compiling, evidence, is_certain, names, of_first_use
from envdoctor.rules.lookup import evidence as installed
from envdoctor.rules.lookup import fix, label, listed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report builds that compile for an interpreter without Python.h."""
    headers = context.facts.tools.python_headers
    due = compiling(context, "cuda", "c++", "c")
    if not is_absent(context.facts, headers):
        return
    first = of_first_use(context)
    if first:
        yield Fault(
            component="Python.h",
            severity="warning",
            words="first",
            fields={"names": listed(map(label, first)), "reason": headers.unknown},
            evidence=(
                Evidence("Python.h", "not found", headers.unknown),
                *map(installed, first),
            ),
            fixes=fix(),
        )
    if not due:
        return
    series = ".".join(context.target.version.split(".")[:2])
    yield Fault(
        component=f"Python {context.target.version}",
        severity="error" if is_certain(due) else "warning",
        fields={"builds": names(due), "series": series, "reason": headers.unknown},
        evidence=(Evidence("Python.h", "not found", headers.unknown), *evidence(due)),
        fixes=fix(),
    )
