"""C++ and CUDA sources use what the headers of this torch do not have."""

from __future__ import annotations

from typing import Iterator, Union

from envdoctor.rules.project import faults
from envdoctor.rules.rule import Context, Fault, Undecided


def examine(context: Context) -> Iterator[Union[Fault, Undecided]]:
    """Report the uses that are compiled for every torch."""
    yield from faults(context, "torch-cpp-api-removed")
