"""conda took a CPU build of torch although CUDA was asked for; the machine's GPUs are not known."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
)
from envdoctor.rules.rule import Context, Fault

#: Packages of conda that people ask for to get a CUDA build.
_ASKED = ("pytorch-cuda", "cudatoolkit")
#: What else asks for cudatoolkit.
_OTHERS = ("tensorflow", "tensorflow-gpu", "jax", "jaxlib", "cupy", "numba", "paddlepaddle-gpu")


def examine(context: Context) -> Iterator[Fault]:
    """Report it where no GPU is known of: where there is one, a rule of its own says so."""
    target = context.target
    torch = target.torch
    if torch is None or torch.cuda.value != "cpu" or context.facts.accelerator.gpus.known:
        return
    conda = {package.name: package for package in target.conda}
    asked = next((conda[name] for name in _ASKED if name in conda), None)
    held = imported(target).get("torch")
    if asked is None or held is None or held.installer != "conda":
        return
    if any(name in conda or name in imported(target) for name in _OTHERS):
        return
    name = f"torch {torch.version.value or held.version}"
    yield Fault(
        component=name,
        fields={"torch": name, "asked": f"{asked.name} {asked.version}"},
        evidence=(
            Evidence("torch.version.cuda", "None", torch.cuda.origin),
            Evidence(asked.name, f"{asked.version} {asked.build}".rstrip(), "conda"),
        ),
        fixes=fix("conda search 'pytorch[channel=pytorch]'"),
        verify=("conda list pytorch",),
    )
