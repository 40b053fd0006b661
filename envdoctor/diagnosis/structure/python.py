"""Tracebacks, exceptions and warnings of Python: of interpreters, pytest, IPython, loggers."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, NamedTuple, Optional

from envdoctor.diagnosis.event import LONGEST, Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.quoting import is_quoted
from envdoctor.diagnosis.structure.reader import Reader

_FRAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r'\s{0,99}File "(?P<file>[^"]{1,1000})", line \d{1,9}(?:, in (?P<function>.{1,200}))?',
        r"\s{0,99}(?:File )?(?P<file>[^\s:()]{1,400}\.py)(?::\d{1,9})?,? in (?P<function>[\w"
        r"<>.]{1,100})",
        r"\s{0,9}(?P<file>[^\s:()]{1,400}\.pyx?):\d{1,9}: in (?P<function>.{1,100})",
        r"\s{0,9}<ipython-input-[\w-]{1,40}> in (?P<function>[\w<>]{1,100})",
    )
)
#: The last line of a traceback: a name of exceptions, with modules before it.
_RAISED = re.compile(
    r"\s{0,99}(?:E {1,9})?(?:[A-Za-z_]\w{0,60}\.){0,8}"
    r"(?P<name>[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Exit|Failed|Conflict|NotFound|Unavailable)"
    r"|Exception|StopIteration)(?::\s?(?P<message>.{0,4000})|)$"
)
#: What any name may end a traceback with, where its frames stand before it.
_AFTER_FRAMES = re.compile(
    r"\s{0,99}(?:[A-Za-z_]\w{0,60}\.){0,8}(?P<name>[A-Z]\w{1,80}): (?P<message>.{0,4000})$"
)
#: An exception behind what a logger, a progress bar or a program puts before it.
_INSIDE = re.compile(
    r"(?:^|[\s:'\"(\]])(?P<name>[A-Z]\w{0,40}(?:Error|Exception))(?:: |\(['\"])(?P<message>."
    r"{1,4000})"
)
_WARNED = re.compile(
    r"(?:^|\s)(?:(?P<file>[^\s:]{1,400}\.py):\d{1,9}: )?(?P<name>[A-Z]\w{0,60}Warning): ?"
    r"(?P<message>.{0,4000})"
)
_HEAD = "Traceback (most recent call last)"
_SITE = re.compile(r"(?:site|dist)-packages[\\/]{1,2}(\w{1,80})")
_CARETS = re.compile(r"[\s~^]{1,400}$")
_CHAINED = (
    ("cause", "the direct cause of the following exception"),
    ("context", "another exception occurred"),
)
_IGNORED = re.compile(
    r"^\s{0,20}Exception ignored |Exception in thread Thread-\S{1,40} \(most recent"
)
#: Lines that a message goes on with: those of one exception, and as long as nothing else begins.
_MOST_LINES, _MOST_FRAMES = 15, 2_000
_ENDS = re.compile(
    r"\[end of output\]|^\s{0,20}(?:note|hint|ERROR|error|WARNING): |^\s{0,99}File \"|^\$ |^>>> "
    r"|^During handling|^The above exception|^[=_-]{5,}|^\S{0,80}\$ "
)


class _Frame(NamedTuple):
    file: str
    function: str
    code: str


class Python(Reader):
    """Recognises tracebacks, lines that end one whose frames are missing, and warnings."""

    triggers = ("traceback", "error", "exception", "warning:", "exit", "interrupt", "failed:")

    def __init__(self) -> None:
        self._frames: List[_Frame] = []
        self._first = 0
        self._chained = ""
        self._ignored = False
        self._open: Optional[Event] = None  # an exception whose message may go on
        self._said: List[str] = []

    def feed(self, line: Line) -> Iterator[Event]:
        """An exception, when its message has ended; a warning at once."""
        text = line.text
        if self._open is not None:
            if self._goes_on(line):
                self._said.append(text.strip())
                return
            yield from self.end()
        if line.gap or _HEAD in text:
            self._frames, self._first = [], line.number
            self._ignored = self._ignored and not line.gap
        if _IGNORED.search(text):
            self._ignored = True
            return
        for kind, words in _CHAINED:
            if words in text:
                self._chained = kind
                return
        if self._frame(text):
            return
        raised = _RAISED.match(text) or (_AFTER_FRAMES.match(text) if self._frames else None)
        if raised is not None:
            self._open = self._event(line, raised.group("name"), raised.group("message") or "")
            return
        warned = _WARNED.search(text)
        if warned is not None:
            fields = {
                "category": warned.group("name"),
                "message": warned.group("message")[:LONGEST],
                "file": warned.group("file") or "",
                "module": _module(warned.group("file") or ""),
            }
            yield Event("warning", line.number, text, fields, fatal=False)
            return
        inside = _INSIDE.search(text)
        if (
            inside is not None
            and not self._frames
            and not is_quoted(text, inside.start("name"), inside.end("name"))
        ):
            fields = {"exception": inside.group("name"), "message": inside.group("message")}
            yield Event("exception", line.number, text, fields)

    def end(self) -> Iterator[Event]:
        """The exception whose message was open."""
        if self._open is not None:
            yield self._closed(self._open)
            self._open, self._said = None, []

    def _goes_on(self, line: Line) -> bool:
        text = line.text
        if line.gap or len(self._said) >= _MOST_LINES or _HEAD in text or _ENDS.search(text):
            return False
        return not (_RAISED.match(text) or _WARNED.search(text))

    def _closed(self, event: Event) -> Event:
        said = "\n".join(part for part in self._said if part)
        if not said:
            return event
        fields = dict(event.fields)
        fields["detail"] = f"{fields['message']}\n{said}"[:LONGEST]
        if not fields["message"].strip():
            fields["message"] = said[:LONGEST]
        return event._replace(fields=fields)

    def _frame(self, text: str) -> bool:
        """Whether a line is part of the frames of a traceback."""
        for pattern in _FRAMES:
            found = pattern.match(text)
            if found is not None:
                if len(self._frames) < _MOST_FRAMES:
                    parts = found.groupdict()
                    self._frames.append(
                        _Frame(parts.get("file") or "", parts["function"] or "", "")
                    )
                return True
        if self._frames and text.startswith("  ") and not _RAISED.match(text):
            if not self._frames[-1].code and not _CARETS.match(text):
                self._frames[-1] = self._frames[-1]._replace(code=text.strip()[:300])
            return True
        return False

    def _event(self, line: Line, name: str, message: str) -> Event:
        fields: Dict[str, str] = {"exception": name, "message": message[:LONGEST]}
        if self._chained:
            fields["chained"] = self._chained
        if self._frames:
            deepest = self._frames[-1]
            modules = [
                module for frame in self._frames for module in [_module(frame.file)] if module
            ]
            fields.update(
                file=deepest.file,
                function=deepest.function,
                code=deepest.code,
                module=_module(deepest.file),
                importer=modules[0] if modules else "",
                script=self._frames[0].file,
                frames=str(len(self._frames)),
            )
        is_fatal = not self._ignored and not name.endswith("Warning")
        event = Event(
            "exception", line.number, line.text, fields, fatal=is_fatal, first=self._first
        )
        self._frames, self._first, self._chained, self._ignored = [], 0, "", False
        return event


def _module(file: str) -> str:
    found = _SITE.search(file)
    return found.group(1) if found else ""
