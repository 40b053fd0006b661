"""Steps of a training that goes on."""

from __future__ import annotations

import re
from typing import Iterator

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

#: What goes on without something: whether it does without harm, the end tells.
_WITHOUT = re.compile(
    r"(?i)\b(?:falling|fall(?:s|en)?) back (?:to|on)\b"
    r"|\b(?:running|continuing|device is|using device:?)"
    r" (?:on |with )?(?:the )?cpu\b|^\W{0,4}device ?[:=] ?cpu\b"
)
_STEP = re.compile(
    r"(?i)\b(?:epoch|step|iter|iteration|global_step)\b[\s:=#(\[]{0,4}\d"
    r"|\b\d{1,9}/\d{1,9} \[[^\]]{0,80}\][^\n]{0,80}\bloss\b"
)


class Progress(Reader):
    """Recognises them, the first of each run of such lines.

    It waits for no words of its own: a training has far too many such lines, and only those matter
    that stand near a failure.
    """

    def __init__(self) -> None:
        self._is_going = False

    def feed(self, line: Line) -> Iterator[Event]:
        """`progress`, where something else was told before."""
        if _WITHOUT.search(line.text[:300]):
            yield Event("progress", line.number, line.text, {"without": "yes"}, fatal=False)
            return
        goes = _STEP.search(line.text[:300]) is not None
        if goes and not self._is_going:
            yield Event("progress", line.number, line.text, {}, fatal=False)
        self._is_going = goes
