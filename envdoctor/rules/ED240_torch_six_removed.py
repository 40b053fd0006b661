"""Sources import torch._six, which this torch does not have."""

from __future__ import annotations

from typing import Iterator, Union

from envdoctor.rules.project import faults
from envdoctor.rules.rule import Context, Fault, Undecided


def examine(context: Context) -> Iterator[Union[Fault, Undecided]]:
    """Report the imports that no test of versions and no `try` guards."""
    yield from faults(context, "torch-six-removed")
