"""Lines of the kernel's log: processes that it killed."""

from __future__ import annotations

from typing import Iterable

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader


class Kernel(Reader):
    """Lines of the kernel's log: processes that it killed."""

    triggers = ()

    def feed(self, line: Line) -> Iterable[Event]:  # noqa: ARG002
        """Nothing yet."""
        return ()
