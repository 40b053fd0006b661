"""The libstdc++ that the environment loads is older than wheels may ask for by their tags."""

from __future__ import annotations

from typing import Iterator, List, Optional, Tuple

from packaging.version import Version

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import fix, important_first, label, listed, observed, wheel_file
from envdoctor.rules.rule import Context, Fault
from envdoctor.rules.tags import glibc_of, interpreter_of, serves, tags_of


def examine(context: Context) -> Iterator[Fault]:
    """Report it as information: a tag says what a wheel may need at most, not what it needs."""
    machine, target = context.facts.machine, context.target
    own = machine.own_libstdcxx
    here, system = try_parse(own.value or ""), try_parse(machine.libstdcxx.value or "")
    interpreter = interpreter_of(context.facts, target)
    if here is None or system is None or here >= system or interpreter is None:
        return  # no older than the system's: then the system is as it is, and pip knew its glibc
    found: List[Tuple[Distribution, Version]] = []
    for distribution in imported(target).values():
        fitting = [tag for tag in tags_of(distribution) if serves(tag, interpreter)]
        needs = [_at_most(context, glibc_of(tag)) for tag in fitting]
        stated = [need for need in needs if need is not None]
        if needs and len(stated) == len(needs) and min(stated) > here:
            found.append((distribution, min(stated)))
    if not found:
        return
    needs_of = {label(distribution): need for distribution, need in found}
    every = important_first([distribution for distribution, _ in found], context.knowledge)
    yield Fault(
        component=f"libstdc++ {own.value}",
        fields={
            "own": own.value or "",
            "system": machine.libstdcxx.value or "",
            "packages": listed(label(d) for d in every),
            "need": str(max(needs_of.values())),
        },
        evidence=(
            observed("libstdc++", own),
            observed("libstdc++", machine.libstdcxx),
            *(Evidence(label(d), d.tags[0], wheel_file(d)) for d in every),
        ),
        fixes=fix(),
    )


def _at_most(context: Context, glibc: Optional[Version]) -> Optional[Version]:
    """The newest symbols of libstdc++ that a tag of this glibc allows; None if not known."""
    table = context.knowledge.tables.get("manylinux")
    rows = table.rows if table is not None else {}
    known = [key for key in rows if isinstance(key, Version) and glibc and key <= glibc]
    allowed = rows[max(known)].get("glibcxx") if known else None
    return allowed if isinstance(allowed, Version) else None
