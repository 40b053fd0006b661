"""No accelerator is visible to processes of this environment."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.rules.driver import has_kernel_driver, has_libraries
from envdoctor.rules.lookup import fix, observed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report that there is no GPU: none at all, one that is hidden, or one without libraries."""
    accelerator = context.facts.accelerator
    gpus = accelerator.gpus
    target = context.facts.target.value
    visible = target.environ.get("CUDA_VISIBLE_DEVICES") if target is not None else None
    nvidia = accelerator.vendor.value == "nvidia" and not gpus.assumed
    if (
        nvidia
        and not accelerator.serves.known
        and not accelerator.served.known
        and has_kernel_driver(accelerator)
        and not has_libraries(accelerator)
    ):
        module = observed("NVIDIA kernel module", accelerator.kernel_module)
        yield Fault(
            component="machine",
            words="container",
            evidence=(module, Evidence("libraries", "none", accelerator.serves.unknown)),
            fixes=fix("docker run --gpus all ..."),
        )
    elif gpus.value == () and nvidia and visible is not None:
        value = visible or '""'
        yield Fault(
            component="machine",
            words="hidden",
            fields={"value": value},
            evidence=(Evidence("CUDA_VISIBLE_DEVICES", value, "environment"),),
            fixes=fix("unset CUDA_VISIBLE_DEVICES"),
        )
    elif gpus.value == ():
        yield Fault(
            component="machine",
            evidence=(Evidence("GPUs", "none", gpus.origin),),
            fixes=fix(
                "srun --gres=gpu:1 envdoctor facts -o facts.json",
                "envdoctor check --facts facts.json",
                "envdoctor check --assume gpu=a100",
            ),
        )
