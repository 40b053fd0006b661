"""A wheel needs libraries of the system that are not there."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.language import say
from envdoctor.rules.lookup import evidence, fix, label, python_says
from envdoctor.rules.rule import Context, Fault
from envdoctor.rules.system_libraries import evidence_of, install, is_opencv, lacks


def examine(context: Context) -> Iterator[Fault]:
    """Report it of what is no OpenCV."""
    for lack in lacks(context):
        distribution = lack.distribution
        if is_opencv(distribution):
            continue
        yield Fault(
            component=label(distribution),
            fields={
                "distribution": label(distribution),
                "module": lack.module,
                "libraries": say(context.language, ", ").join(lack.libraries),
            },
            evidence=(evidence(distribution), *evidence_of(context, lack.libraries)),
            fixes=fix(*install(context, lack.libraries)),
            verify=(python_says(context.target, f"import {lack.module}"),),
        )
