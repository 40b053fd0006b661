"""Something is to be compiled, and there is no C++ compiler."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.sources import is_absent
from envdoctor.rules.builds import compiling, evidence, is_certain, names, of_first_use
from envdoctor.rules.lookup import evidence as installed
from envdoctor.rules.lookup import fix, label, listed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report builds that compile, where neither CXX nor PATH names a compiler."""
    compiler = context.facts.tools.compiler
    due = compiling(context, "cuda", "c++", "c")
    if not is_absent(context.facts, compiler):
        return
    first = of_first_use(context)
    if first:
        yield Fault(
            component="C++ compiler",
            severity="warning",
            words="first",
            fields={"names": listed(map(label, first)), "reason": compiler.unknown},
            evidence=(
                Evidence("C++ compiler", "not found", compiler.unknown),
                *map(installed, first),
            ),
            fixes=fix(),
        )
    if not due:
        return
    yield Fault(
        component="C++ compiler",
        severity="error" if is_certain(due) else "warning",
        fields={"builds": names(due), "reason": compiler.unknown},
        evidence=(Evidence("C++ compiler", "not found", compiler.unknown), *evidence(due)),
        fixes=fix(),
        verify=("c++ --version",),
    )
