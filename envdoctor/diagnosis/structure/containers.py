"""Messages of docker, its builder, its runtime, and apt in images."""

from __future__ import annotations

from typing import Iterable

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader


class Containers(Reader):
    """Messages of docker, its builder, its runtime, and apt in images."""

    triggers = ()

    def feed(self, line: Line) -> Iterable[Event]:  # noqa: ARG002
        """Nothing yet."""
        return ()
