"""Sources of a project call torch.load as this torch understands it otherwise."""

from __future__ import annotations

from typing import Iterator, Union

from envdoctor.rules.project import faults
from envdoctor.rules.rule import Context, Fault, Undecided


def examine(context: Context) -> Iterator[Union[Fault, Undecided]]:
    """Report the calls that leave weights_only to its default."""
    yield from faults(context, "torch26-weights-only-default", "info")
