"""Sources use names and modules that this Python does not have."""

from __future__ import annotations

from typing import Iterator, Union

from envdoctor.rules.project import faults
from envdoctor.rules.rule import Context, Fault, Undecided


def examine(context: Context) -> Iterator[Union[Fault, Undecided]]:
    """Report those that no test of versions and no `try` guards."""
    yield from faults(context, "python-name-removed")
