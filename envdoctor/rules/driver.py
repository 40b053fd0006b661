"""What the rules on NVIDIA's driver ask of the facts."""

from __future__ import annotations

from envdoctor.model.facts import Accelerator


def has_libraries(accelerator: Accelerator) -> bool:
    """Whether the driver's user-space libraries are here.

    Without them the driver's version is that of the kernel module alone, which every container on
    the machine sees.
    """
    driver, module = accelerator.driver, accelerator.kernel_module
    return driver.known and not (module.known and driver.origin.startswith(module.origin))


def has_kernel_driver(accelerator: Accelerator) -> bool:
    """Whether the kernel's side of the driver left a sign: the module, or device nodes."""
    return accelerator.kernel_module.known or accelerator.vendor.origin.startswith("device node")
