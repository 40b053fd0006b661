"""A reported torchvision that is most likely PyPI's, for another CUDA than torch's."""

from __future__ import annotations

from typing import Iterator

from envdoctor.rules.published import presumed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report it, where it depends on who built it."""
    fault = presumed(context, "torchvision")
    if fault is not None:
        yield fault
