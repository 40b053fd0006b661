"""A build script of a project sets a C++ standard that is too old for this torch."""

from __future__ import annotations

from typing import Iterator, Union

from envdoctor.rules.project import faults
from envdoctor.rules.rule import Context, Fault, Undecided


def examine(context: Context) -> Iterator[Union[Fault, Undecided]]:
    """Report the flags, where no test of versions chooses them."""
    yield from faults(context, "torch-too-new-for-extension-source", "warning")
