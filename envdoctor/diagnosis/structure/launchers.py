"""torchrun and other launchers: ranks, exit codes, signals; shells."""

from __future__ import annotations

from typing import Iterable

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader


class Launchers(Reader):
    """torchrun and other launchers: ranks, exit codes, signals; shells."""

    triggers = ()

    def feed(self, line: Line) -> Iterable[Event]:  # noqa: ARG002
        """Nothing yet."""
        return ()
