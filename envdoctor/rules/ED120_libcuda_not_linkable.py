"""Triton links what it compiles with -lcuda, and no libcuda.so is there for the linker."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.model.versions import parse, try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import evidence, fix, label
from envdoctor.rules.rule import Context, Fault

# The last release that was read; each from 2.0.0 on calls gcc with -lcuda.
_LAST_READ = parse("3.3.1")


def examine(context: Context) -> Iterator[Fault]:
    """Report a driver whose library is there for programs, but not by the name for linkers."""
    facts = context.facts
    triton = imported(context.target).get("triton")
    version = try_parse(triton.version) if triton is not None else None
    gpus = facts.accelerator.gpus
    if triton is None or version is None or version > _LAST_READ:
        return
    if not gpus.value or gpus.assumed or facts.accelerator.vendor.value != "nvidia":
        return
    environ = context.target.environ
    if environ.get("LIBRARY_PATH") or facts.machine.jetson.known:
        return  # the linker looks there first
    found = {library.soname: library for library in facts.machine.libraries.value or ()}
    driver, plain = found.get("libcuda.so.1"), found.get("libcuda.so")
    if driver is None or not driver.path or plain is None or plain.path:
        return
    yield Fault(
        component=label(triton),
        fields={"triton": label(triton), "path": driver.path},
        evidence=(
            evidence(triton),
            Evidence("libcuda.so.1", driver.path, driver.origin),
            Evidence("libcuda.so", "none", facts.machine.libraries.origin),
        ),
        fixes=fix(),
        verify=("gcc -shared -o /dev/null -xc /dev/null -lcuda",),
    )
