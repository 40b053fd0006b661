"""A script declares --local_rank only, and the launcher of this torch passes --local-rank."""

from __future__ import annotations

from typing import Iterator, Union

from envdoctor.rules.project import fault, lacking
from envdoctor.rules.rule import Context, Fault, Undecided


def examine(context: Context) -> Iterator[Union[Fault, Undecided]]:
    """Report the scripts that the project starts that way; if there is none, the others."""
    for one in lacking(context, "local-rank-flag-renamed"):
        if isinstance(one, Undecided):
            yield one
            continue
        project, build, uses = one
        started = [(use, removed) for use, removed in uses if use.by]
        if started:
            yield fault(context, project, build, started)
        else:
            yield fault(context, project, build, uses, "info", "manual")
