"""The NVIDIA driver is installed, but does not answer."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.rules.driver import has_kernel_driver, has_libraries
from envdoctor.rules.lookup import fix, observed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report a driver with kernel side and libraries of which nobody could ask for a GPU."""
    accelerator = context.facts.accelerator
    told = accelerator.refused.get("broken")
    if told is not None and accelerator.vendor.value == "nvidia":
        yield Fault(
            component="driver",
            words="told",
            fields={"said": told.value or ""},
            evidence=(Evidence("NVIDIA driver", told.value or "", told.origin),),
            fixes=fix(),
            verify=("nvidia-smi",),
        )
        return
    known = accelerator.gpus.value or ()
    if (
        accelerator.vendor.value != "nvidia"
        or accelerator.vendor.assumed
        or accelerator.gpus.assumed
        or accelerator.serves.known
        or accelerator.served.known
        or accelerator.serves.assumed
        or accelerator.gpus.value == ()
        or any(gpu.compute_capability for gpu in known)  # the driver told that
    ):
        return
    if not (has_kernel_driver(accelerator) and has_libraries(accelerator)):
        return
    module, driver = accelerator.kernel_module, accelerator.driver
    if module.known and module.value != driver.value:
        return  # a fault of its own: driver-library-version-mismatch
    yield Fault(
        component=f"driver {driver.value}",
        fields={"driver": driver.value or "", "answers": accelerator.serves.unknown},
        evidence=(
            observed("NVIDIA driver", driver),
            Evidence("vendor", "nvidia", accelerator.vendor.origin),
            Evidence("answers", "none", accelerator.serves.unknown),
        ),
        fixes=fix(),
        verify=("nvidia-smi",),
    )
