"""Steps of pip, uv, conda and others: which distribution, which phase."""

from __future__ import annotations

from typing import Iterable

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader


class Installers(Reader):
    """Steps of pip, uv, conda and others: which distribution, which phase."""

    triggers = ()

    def feed(self, line: Line) -> Iterable[Event]:  # noqa: ARG002
        """Nothing yet."""
        return ()
