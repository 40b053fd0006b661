"""A container's /dev/shm has the size that engines give where nobody asks for one."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault

# What docker, podman and Kubernetes give.
_DEFAULT_MIB = 64
_FRAMEWORKS = ("torch", "paddlepaddle-gpu")


def examine(context: Context) -> Iterator[Fault]:
    """Report it where something trains on a GPU that is here."""
    machine, gpus = context.facts.machine, context.facts.accelerator.gpus
    container, size = machine.container.value, machine.shm_mib
    if container in (None, "none") or size.value is None or size.value > _DEFAULT_MIB:
        return
    if not gpus.value or not any(name in imported(context.target) for name in _FRAMEWORKS):
        return
    kubernetes = container == "kubernetes"
    yield Fault(
        component="/dev/shm",  # noqa: S108 - a name
        words="pod" if kubernetes else "",
        fields={"size": str(size.value), "container": container},
        evidence=(
            Evidence("/dev/shm", f"{size.value} MiB", size.origin),  # noqa: S108 - likewise
            Evidence("container", container, machine.container.origin),
        ),
        fixes=fix() if kubernetes else fix("docker run --shm-size=16g ..."),
        verify=("df -h /dev/shm",),
    )
