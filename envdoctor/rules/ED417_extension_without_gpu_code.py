"""An extension was compiled for the processor alone, beside a torch that uses the GPU."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
    label,
)
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report it where there is a GPU and torch is a build for CUDA."""
    target = context.target
    cuda = target.torch.cuda.value if target.torch is not None else None
    if cuda in (None, "cpu") or not context.facts.accelerator.gpus.value:
        return
    installed = imported(target)
    for name, code in target.gpu_code.items():
        if code.cuda == "cpu" and name in installed:
            extension = label(installed[name])
            yield Fault(
                component=extension,
                fields={"extension": extension, "cuda": cuda or ""},
                evidence=(
                    Evidence(f"CUDA of {extension}", "none", code.origin),
                    Evidence("CUDA of torch", cuda or "", _origin(context)),
                ),
                fixes=fix(),
            )


def _origin(context: Context) -> str:
    torch = context.target.torch
    return torch.cuda.origin if torch is not None else ""
