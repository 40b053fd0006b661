"""torch is a CPU build although there is a GPU."""

from __future__ import annotations

from typing import Iterator, Optional

from packaging.version import Version

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.relations.plan import Goal
from envdoctor.rules.lookup import (
    python_says,
)
from envdoctor.rules.rule import Context, Fault

#: Back-ends that use a CPU build of torch and bring the device themselves.
_PLUGINS = (
    "torch-npu",
    "torch-musa",
    "torch-mlu",
    "torch-gcu",
    "torch-xla",
    "torch-directml",
    "habana-torch-plugin",
    "intel-extension-for-pytorch",
)
#: Frameworks that train on the GPU; torch beside them may be there for a CPU's work.
_FRAMEWORKS = (
    "paddlepaddle-gpu",
    "tensorflow",
    "tf-nightly",
    "jax-cuda",
    "jax-rocm",
    "mindspore",
    "oneflow",
    "mxnet-cu",
    "cupy-cuda",
)


def examine(context: Context) -> Iterator[Fault]:
    """Report it, as information where another framework trains on the GPU."""
    accelerator, torch = context.facts.accelerator, context.target.torch
    gpus = accelerator.gpus
    if torch is None or torch.cuda.value != "cpu" or torch.hip.known or not gpus.value:
        return
    if accelerator.vendor.value not in ("nvidia", "amd"):
        return  # the others' torch is a CPU build with a plugin, or says so in its own way
    installed = imported(context.target)
    if any(plugin in installed for plugin in _PLUGINS):
        return
    other = next((n for n in installed if n.startswith(_FRAMEWORKS)), "")
    version = torch.version.value or ""
    jetson = context.facts.machine.jetson.known
    names = list(dict.fromkeys(gpu.name for gpu in gpus.value))
    words = "amd" if accelerator.vendor.value == "amd" else ""
    if context.observed.origins.get("torch") == "conda":
        words = "conda"
    elif not words and not _driver_is_known(context):
        words = "driver"
    yield Fault(
        component=f"torch {version}".rstrip(),
        severity="info" if other else None,
        words="other" if other else "jetson" if jetson else words,
        fields={"torch": f"torch {version}".rstrip(), "gpu": ", ".join(names), "other": other},
        evidence=(
            Evidence("torch.version.cuda", "None", torch.cuda.origin),
            Evidence("GPU", ", ".join(names), gpus.origin),
        ),
        goal=None if other or jetson or words else _goal(context),
        verify=(python_says(context.target, "import torch; print(torch.version.cuda)"),),
    )


def _driver_is_known(context: Context) -> bool:
    """Not so for a GPU that is assumed alone."""
    domains = context.observed.domains
    return any(isinstance(domains[c][0], Version) for c in ("host.serves", "host.driver"))


def _goal(context: Context) -> Optional[Goal]:
    """The CUDA build that driver and GPUs are known to serve, with what goes along."""
    return Goal("torch", no_cpu=True) if "torch" in context.observed.origins else None
