"""C++ and CUDA sources of a project use THC, which this torch does not have."""

from __future__ import annotations

from typing import Iterator, Union

from envdoctor.rules.project import faults
from envdoctor.rules.rule import Context, Fault, Undecided


def examine(context: Context) -> Iterator[Union[Fault, Undecided]]:
    """Report the uses that are compiled for every torch, of which some may be built already."""
    yield from faults(context, "thc-headers-removed", "warning")
