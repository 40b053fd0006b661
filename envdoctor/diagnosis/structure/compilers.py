"""Messages of compilers, linkers, cmake, ninja and setuptools' builds."""

from __future__ import annotations

from typing import Iterable

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader


class Compilers(Reader):
    """Messages of compilers, linkers, cmake, ninja and setuptools' builds."""

    triggers = ()

    def feed(self, line: Line) -> Iterable[Event]:  # noqa: ARG002
        """Nothing yet."""
        return ()
