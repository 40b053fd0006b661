"""CUDA sources are to be compiled, and no CUDA toolkit is here."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.sources import is_absent
from envdoctor.rules.builds import evidence, for_cuda, is_certain, names, of_first_use
from envdoctor.rules.lookup import evidence as installed
from envdoctor.rules.lookup import fix, label, listed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report builds that stop without nvcc, and those that then leave out the GPU code."""
    toolkit = context.facts.tools.toolkit
    due = for_cuda(context)
    if not is_absent(context.facts, toolkit):
        return
    first = of_first_use(context)
    if first:
        yield Fault(
            component="CUDA toolkit",
            severity="warning",
            words="first",
            fields={"names": listed(map(label, first)), "reason": toolkit.unknown},
            evidence=(
                Evidence("CUDA toolkit", "not found", toolkit.unknown),
                *map(installed, first),
            ),
            fixes=fix(),
        )
    forced = context.target.environ.get("FORCE_CUDA") == "1"
    for words in ("", "less"):
        found = [
            one for one in due if (one.needs("toolkit") == "found" and not forced) == bool(words)
        ]
        if found:
            yield Fault(
                component="CUDA toolkit",
                severity="error" if is_certain(found) and not words else "warning",
                words=words,
                fields={"builds": names(found), "reason": toolkit.unknown},
                evidence=(Evidence("CUDA toolkit", "not found", toolkit.unknown), *evidence(found)),
                fixes=fix(),
                verify=("nvcc --version",),
            )
