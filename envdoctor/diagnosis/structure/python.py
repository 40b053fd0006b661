"""Tracebacks and exceptions of Python."""

from __future__ import annotations

import re
from typing import Iterator, List, Optional, Tuple

from envdoctor.diagnosis.event import LONGEST, Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

_FRAME = re.compile(r'\s*File "([^"]{1,1000})", line (\d{1,9})(?:, in (.{1,200}))?')
_RAISED = re.compile(
    r"\s*(?:E\s+)?((?:[A-Za-z_]\w*\.){0,8}([A-Z]\w{0,80}(?:Error|Exception|Interrupt|Exit|Warning|Failed)|Exception))(?::\s?(.*)|)$"
)
_SITE = re.compile(r"(?:site|dist)-packages[\\/]+(\w+)")
_MOST_FRAMES = 2000


class Python(Reader):
    """Recognises tracebacks, and lines that end one whose frames are missing."""

    triggers = ("traceback", "error:", "exception:", "error")

    def __init__(self) -> None:
        self._frames: List[Tuple[str, str, str]] = []
        self._first = 0

    def feed(self, line: Line) -> Iterator[Event]:
        """An exception, when its line comes."""
        if line.gap or "Traceback (most recent call last)" in line.text:
            self._frames, self._first = [], line.number
        frame = _FRAME.match(line.text)
        if frame and len(self._frames) < _MOST_FRAMES:
            self._frames.append((frame.group(1), frame.group(3) or "", ""))
            return
        raised = _RAISED.match(line.text)
        if raised:
            yield self._event(line, raised.group(2), raised.group(3) or "")
            self._frames, self._first = [], 0

    def _event(self, line: Line, name: str, message: str) -> Event:
        fields = {"exception": name, "message": message[:LONGEST]}
        deepest: Optional[Tuple[str, str, str]] = self._frames[-1] if self._frames else None
        if deepest is not None:
            site = _SITE.search(deepest[0])
            fields.update(
                file=deepest[0],
                function=deepest[1],
                module=site.group(1) if site else "",
                script=self._frames[0][0],
            )
        return Event("exception", line.number, line.text, fields, first=self._first)
