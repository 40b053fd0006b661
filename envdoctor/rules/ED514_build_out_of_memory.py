"""A build that starts more compilers at once than fit into memory."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.sources import is_of_this_machine
from envdoctor.rules.builds import compiling, evidence, names
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report builds whose jobs, one a processor or as many as MAX_JOBS says, need more than is."""
    machine = context.facts.machine
    memory, cpus = machine.memory_mib, machine.cpus
    if memory.value is None or cpus.value is None:
        return
    if not is_of_this_machine(context.facts, memory):
        return
    stated = context.target.environ.get("MAX_JOBS", "")
    jobs = int(stated) if stated.isascii() and stated.isdigit() else cpus.value
    for one in compiling(context, "cuda"):
        each = one.needs("job_memory")
        if not isinstance(each, int) or jobs * each <= memory.value:
            continue
        few = str(max(1, memory.value // each))
        yield Fault(
            component=str(one.build),
            fields={
                "build": names([one]),
                "jobs": str(jobs),
                "need": _gib(jobs * each),
                "memory": _gib(memory.value),
                "few": few,
            },
            evidence=(
                Evidence("memory", f"{_gib(memory.value)} GiB", memory.origin),
                Evidence("MAX_JOBS", stated, "environment variable")
                if stated
                else Evidence("processors", str(cpus.value), cpus.origin),
                *evidence([one]),
            ),
            fixes=fix(f"export MAX_JOBS={few}"),
        )


def _gib(mib: int) -> str:
    return str(round(mib / 1024))
