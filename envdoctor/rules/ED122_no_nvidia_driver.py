"""NVIDIA's cards are on the PCI bus, torch is built for CUDA, and no driver is there."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report cards that nobody serves; a machine without cards is told as no-gpu-here."""
    accelerator, torch = context.facts.accelerator, context.target.torch
    cards, vendor = accelerator.pci, accelerator.vendor
    if not cards.value or vendor.value != "none" or vendor.assumed or accelerator.gpus.value:
        return
    if torch is None or torch.cuda.value in (None, "cpu"):
        return
    container = context.facts.machine.container.value
    inside = container not in (None, "none")
    yield Fault(
        component="machine",
        words="container" if inside else "",
        fields={
            "cards": str(cards.value),
            "cuda": torch.cuda.value or "",
            "container": container or "",
        },
        evidence=(
            Evidence("GPUs", str(cards.value), cards.origin),
            Evidence("NVIDIA driver", "none", vendor.origin),
        ),
        fixes=fix("docker run --gpus all ...") if inside else fix(),
        verify=("lspci -d 10de:", "nvidia-smi"),
    )
