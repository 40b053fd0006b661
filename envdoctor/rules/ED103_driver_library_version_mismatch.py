"""The loaded kernel module and the driver's libraries are of different versions."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.rules.driver import has_libraries
from envdoctor.rules.lookup import fix, observed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report two versions of one driver."""
    facts = context.facts
    accelerator = facts.accelerator
    driver, module = accelerator.driver, accelerator.kernel_module
    told = accelerator.refused.get("mismatch")
    both = driver.known and module.known
    if told is not None and not both and accelerator.vendor.value == "nvidia":
        yield Fault(
            component="driver",
            words="told",
            fields={"said": told.value or ""},
            evidence=(Evidence("NVIDIA driver", told.value or "", told.origin),),
            fixes=fix(),
            verify=("nvidia-smi", "cat /proc/driver/nvidia/version"),
        )
        return
    if accelerator.vendor.value != "nvidia" or not both or not has_libraries(accelerator):
        return
    if driver.assumed != module.assumed or driver.value == module.value:
        return
    # Windows' driver serves WSL, and a Jetson's module has the number of its L4T release.
    if facts.machine.wsl.value or facts.machine.jetson.known:
        return
    container = facts.machine.container.value
    yield Fault(
        component=f"driver {driver.value}",
        words="container" if container not in (None, "none") else "",
        fields={
            "driver": driver.value or "",
            "module": module.value or "",
            "container": container or "",
        },
        evidence=(
            observed("NVIDIA libraries", driver),
            observed("NVIDIA kernel module", module),
        ),
        fixes=fix(),
        verify=("nvidia-smi", "cat /proc/driver/nvidia/version"),
    )
