"""A wheel is installed whose tags ask for a newer glibc than the system has."""

from __future__ import annotations

from typing import Dict, Iterator, List

from packaging.version import Version

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
    important_first,
    label,
    listed,
    name_of,
    observed,
    wheel_file,
)
from envdoctor.rules.rule import Context, Fault
from envdoctor.rules.tags import glibc_of, interpreter_of, serves, tags_of


def examine(context: Context) -> Iterator[Fault]:
    """Report wheels that fit but for glibc, those that need the same one together."""
    target, glibc = context.target, context.facts.machine.glibc
    interpreter = interpreter_of(context.facts, target)
    here = try_parse(glibc.value or "")
    if interpreter is None or here is None:
        return
    groups: Dict[Version, List[Distribution]] = {}
    for distribution in imported(target).values():
        package = context.knowledge.packages.get(name_of(distribution))
        if package is not None and "glibc" in package.variant:
            continue  # a relation knows what its binaries need, whatever their tags say
        fitting = [tag for tag in tags_of(distribution) if serves(tag, interpreter)]
        needs = [glibc_of(tag) for tag in fitting]
        stated = [need for need in needs if need is not None]
        if needs and len(stated) == len(needs) and min(stated) > here:
            groups.setdefault(min(stated), []).append(distribution)
    for need, found in groups.items():
        first, *others = important_first(found, context.knowledge)
        yield Fault(
            component=label(first),
            words="several" if others else "",
            fields={
                "distribution": label(first),
                "need": str(need),
                "glibc": glibc.value or "",
                "others": listed(label(d) for d in others),
            },
            evidence=(
                observed("glibc", glibc),
                *(Evidence(label(d), d.tags[0], wheel_file(d)) for d in found),
            ),
            fixes=fix(),
        )
