"""What went well in the end: tests that pass, documents and programs that are finished.

A run of tests that passes has got over whatever it printed. So has one whose tests fail by plain
assertions on values: it ran in an environment that works.
"""

from __future__ import annotations

import re
from typing import Iterator

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.prompts import command_of
from envdoctor.diagnosis.structure.reader import Reader
from envdoctor.model.names import canonical

#: Of a run of tests that failed by nothing but values: good for what it printed, no good end.
TESTS, VALUES = "tests", "values"
_COUNTED = re.compile(
    r"^(?:=+ )?(?P<counts>\d{1,7} \w{1,12}(?:, \d{1,7} [a-z ]{1,14})*)"
    r"(?: in (?:\d[\d.]{0,12}s?|\d{1,3}:\d\d)(?: ?(?:seconds|\([\d:]{1,12}\)))?)?(?: =+)?$"
)
_IN_COUNTS = re.compile(
    r"\d{1,7} (passed|failed|errors?|xfailed|xpassed|skipped|deselected|warnings?|rerun)\b"
)
#: How runs of tests, and of other things, say that all is well.
_WELL = re.compile(
    r"^100% tests passed"
    r"|^Tests: {1,12}(?:\d{1,7} (?:skipped|todo), )*\d{1,7} passed, \d{1,7} total"
    r"|^# pass {1,6}\d{1,7}$"
    r"|^ok {1,8}\S{1,200} {1,8}(?:\d[\d.]{0,12}s|\(cached\))"
    r"|^test result: ok\."
    r"|^build succeeded(?:, \d{1,7} warnings?)?\.$|^Build succeeded\.$"
)
_RAN, _OK = re.compile(r"^Ran \d{1,7} tests? in "), re.compile(r"^OK(?: \(.{1,80}\))?$")
#: How programs say that they came to their end.
_FINISHED = re.compile(
    r"(?i)\btraining (?:is |was |has )?(?:finished|complete(?:d|\b)|done)\b"
    r"|\b(?:done|finished) training\b"
    r"|'train_runtime': \d|^(?:\W{0,4})best trial: ?\d|\ball tests passed\b"
    r"|^Finished processing dependencies for |: ok=\d{1,6} .{0,80}\bfailed=0\b"
)
#: What apt and conda have installed.
_SET_UP = re.compile(
    r"Setting up (?P<name>[a-z0-9][a-z0-9.+-]{1,80})(?::\w{1,10})? \(\S{1,80}\) \.\.\."
)
_CONDA = re.compile(r"(?:conda|mamba|micromamba) install (?P<asked>.{1,400})")
_DONE = re.compile(r"Executing transaction: .{0,80}\bdone$")
_ASKED = re.compile(r"(?<![\w./:=-])(?P<name>[a-zA-Z][\w.-]{0,80})(?=[\s<>=!]|$)")
_BEGINS = re.compile(r"={3,80} test session starts ={3,80}$|completed with exit code [1-9]")
_FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (?P<test>\S{1,400})(?: - (?P<why>.{0,400}))?$")
_ERROR_OF = re.compile(r"^_{3,} ERROR |^ERROR collecting ")
_AT = re.compile(r"^(?P<file>[\w./\\-]{1,300}\.py):\d{1,7}: (?P<name>\w{1,80})$")
#: Values that differ: an environment that works gave one.
_VALUES = re.compile(
    r"^(?:AssertionError: )?assert\b|^AssertionError: (?:Regex|assert|expected)"
    r"|^(?:Failed: )?DID NOT RAISE|^Failed: "
)
#: Values that tell how something else ended.
_OF_OTHERS = re.compile(
    r"(?i)return_?code|exit_?code|status|== 0\b|!= 0\b|is_available|== ['\"](?:cuda|gpu)"
    r"|device_count|stderr|_version|not found"
)


class Outcomes(Reader):
    """Recognises ends that are good, each with where its run began."""

    triggers = (
        " passed in ",
        " passed, ",
        "tests passed",
        "test session starts",
        "build succeeded",
        "setting up ",
        "executing transaction",
        "training finished",
        "training complete",
        "training done",
        "done training",
        "finished training",
        "'train_runtime'",
        "best trial",
    )

    def __init__(self) -> None:
        self._first = 1  # line at which the run began
        self._last = 0  # line that was seen last
        self._was_run = False  # the count of unittest was seen
        self._has_failed, self._is_broken = False, False  # by values; by what may be more
        self._said = ""  # what was last said of values that differ
        self._command = ""
        self._is_script = True  # one that goes on; else people type what has no bearing on the rest

    def feed(self, line: Line) -> Iterator[Event]:
        """A good end, at its line."""
        text = line.text
        command = command_of(text)
        if command is not None or _BEGINS.search(text):
            yield from self.end()
            self._begin(line.number)
            self._command = command or self._command
            self._is_script = command is None or text.startswith(("+", "Run ", "["))
        self._last = line.number
        yield from self._installed(text)
        what = self._outcome(text)
        if what:
            yield self._success(text, what)
            self._begin(line.number)

    def end(self) -> Iterator[Event]:
        """A run whose tests failed by values, if it told no counts."""
        if self._has_failed and not self._is_broken:
            yield self._success("", VALUES)

    def _installed(self, text: str) -> Iterator[Event]:
        """What apt, or conda at a prompt, has installed."""
        set_up = _SET_UP.match(text)
        asked = _CONDA.search(self._command) if _DONE.match(text) else None
        if set_up is not None:
            yield self._of("apt", set_up["name"], text)
        elif asked is not None:
            for name in _ASKED.findall(asked["asked"]):
                yield self._of("conda", canonical(name), text)

    def _of(self, tool: str, name: str, text: str) -> Event:
        fields = {"what": "installed", "tool": tool, "distribution": name}
        return Event("success", self._last, text, fields, fatal=False)

    def _begin(self, number: int) -> None:
        self._first, self._said = number, ""
        self._was_run = self._has_failed = self._is_broken = False

    def _success(self, text: str, what: str) -> Event:
        return Event(
            "success",
            self._last,
            text,
            {"what": what, "script": "yes" if self._is_script else ""},
            fatal=False,
            first=self._first,
        )

    def _outcome(self, text: str) -> str:
        """What went well with a line; "" if nothing is at its end."""
        if _WELL.match(text) or (self._was_run and _OK.match(text)):
            return TESTS
        if _FINISHED.search(text[:2000]):
            return "program"
        self._was_run = _RAN.match(text) is not None or (self._was_run and not text)
        if _VALUES.match(text.strip()):
            self._said = text.strip()
        self._failing(text)
        counted = _COUNTED.match(text)
        counts = set(_IN_COUNTS.findall(counted["counts"])) if counted else set()
        if counts & {"failed", "error", "errors"}:
            return VALUES if self._has_failed and not self._is_broken else ""
        return TESTS if "passed" in counts else ""

    def _failing(self, text: str) -> None:
        """Notes a test that failed, and by what."""
        failed, at = _FAILED_TEST.match(text), _AT.match(text)
        if failed is not None:
            told = failed["why"] or self._said
        elif at is not None:
            is_own = "-packages" not in at["file"] and at["name"] in ("AssertionError", "Failed")
            told = self._said if is_own else ""
        else:
            self._is_broken = self._is_broken or _ERROR_OF.match(text) is not None
            return
        self._has_failed = True
        if text.startswith("ERROR") or not _VALUES.match(told) or _OF_OTHERS.search(told):
            self._is_broken = True
