"""Lines that show a text, and tell of nothing that happens.

Sources and documents that are printed or searched, differences between texts, scripts that CI
prints before it runs them, tests that pass and are named after failures.
"""

from __future__ import annotations

import re
from typing import Dict, Optional

from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.prompts import command_of

#: Commands that print texts, and those that only pass them on.
_PRINT = re.compile(
    r"(?:sudo |command |time )?(?:(?:e|f|z)?grep|rg|ag|ack|cat|bat|less|more|head|tail"
    r"|nl|diff|strings|man|tldr"
    r"|sed -n|git(?: -C \S{1,200})?(?: --no-pager)? (?:log|diff|show|grep"
    r"|blame|shortlog|format-patch))\b"
)
_PASS_ON = re.compile(
    r"(?:(?:e|f)?grep|rg|head|tail|sort|uniq|wc|less|more|cut|sed|tr|cat|column|true|echo done)\b"
)
#: Those of any file: only of documents and sources it is known what they hold.
_OF_ANY = ("cat", "bat", "less", "more", "head", "tail", "nl", "sed")
_PARTS = re.compile(r"\|\|?|&&|;")
#: Names of what programs wrote while they ran: that is what happened.
_WRITTEN = re.compile(
    r"(?i)\blogs?\b|log(?:s|file)?(?:$|[\s./_-])|\.(?:log|out|err|output|stdout|stderr|trace)\b|nohup|slurm|stdout"
    r"|stderr|output|error|trace|dump|result|report|/var/|/proc/|/sys/|dmesg|syslog|messages|/tmp/|-f\b|--follow"
)
_PATTERN = re.compile(r"(['\"]).{0,300}?\1")
_REDIRECTED = re.compile(r"`|\$\(|<\(|<<| > ?\S")
_DOCUMENT = re.compile(
    r"(?i)\b(?:readme|changelog|changes|history|news|faq|license|install|contributing|todo|notes|requirements|constraints|makefile"
    r"|dockerfile)\b|\.(?:md|rst|adoc|html?|tex|ipynb|py|pyi|pyx|c|cc|cpp|cxx|cu|cuh|h|hpp|js|ts|sh|bash"
    r"|toml|cfg|ini|ya?ml|json|in|cmake|diff|patch|po)\b"
)
#: What grep puts before a line of a file; compilers and Python put one space behind the colon.
_HIT = re.compile(
    r"[\w@./+-]{1,200}\.(?:md|rst|adoc|html?|tex|ipynb|txt)(?::\d{1,6}:|-\d{1,6}-)(?! \S)"
    r"|[\w@./+-]{1,200}\.(?:py|pyi|pyx|c|cc|cpp|cxx|cu|cuh|h|hpp|js|ts|sh|bash|toml|cfg|ya?ml)"
    r"(?::\d{1,6}:|-\d{1,6}-) {2,}\S"
)
#: One line of a script, of a list of changes, of tests that passed or were left out.
_ALONE = re.compile(
    r"(?:^|\|\||&&|;|\bthen|\belse|\bdo|\{)\s{0,20}(?:echo|printf)(?: -\w{1,3})? [\"']"
    r"|^\s{0,8}[-*#] {0,2}(?i:fix(?:es|ed)?|adds?|added|chang(?:es|ed)"
    r"|remov(?:es|ed)|improv(?:es|ed))\b"
    r"|^(?:SKIPPED|XFAIL|XPASS)\b(?: \[\d{1,6}\])? "
    r"|^\s{0,12}(?:[\u2713\u2714\u221a] |ok \d{1,6} - |--- PASS: )"
    r"|\b(?:PASSED|SKIPPED|XFAIL|XPASS)\b[^:]{0,80}(?:\[ {0,3}\d{1,3}%\])?$"
    r"|\.{2} {1,6}Passed {1,8}\d"
    r"|^-{2,10}> {1,6}\d{1,6} "
)
_EXPECTS = re.compile(r"Expected:$")  # of doctest: what was got stands below
_IN_NOTEBOOK = re.compile(r"^\w{1,80} {2,80}Traceback \(most recent call last\)$")
_NUMBERED = re.compile(r" {1,8}\d{1,6}(?: |$)|-{1,9}> {0,8}\d{1,6}(?: |$)")
_OF_NOTEBOOK = re.compile(r"[ ~/<-]|[A-Z]:\\|(?:File|Cell|Input|Untitled)\b")
_LISTED = re.compile(r"^ {1,5}\d{1,5} \|")
_LISTS = re.compile(r"^\S{0,200}(?:Docker|Container)file\S{0,60}:\d{1,6}$")
_LIST_ENDS = re.compile(r"ERROR|Error")
_COMPARES = re.compile(r"diff --git a/\S{1,300} b/")
_OF_DIFFERENCE = re.compile(
    r"[-+ @\\]|$|diff |index |(?:new|deleted|old) (?:file )?mode|similarity "
)
_ENDS_ECHO = re.compile(r"(?:shell|env|with): ?|$")
_LONGEST_SHOWN = 400
#: A check that says itself what is wrong ends the script that it is in.
_STOPS = re.compile(r"\b(?:exit|return|false|die|abort)\b")
_SHORTEST_ECHO = 12
_TRACEBACK = "Traceback (most recent call last)"


class Shown:
    """Tells which lines show a text. One for all sources of a log."""

    def __init__(self) -> None:
        self._sources: Dict[str, _State] = {}

    def is_shown(self, line: Line) -> bool:
        """Whether the next line of the log is such a line."""
        if len(self._sources) > 512:
            self._sources.clear()
        return self._sources.setdefault(line.source, _State()).is_shown(line)


class _State:
    """What a source printed last."""

    def __init__(self) -> None:
        self._mode = ""  # output, difference, echo, listing, expected, notebook
        self._count = 0  # lines in that mode
        self._fenced = False  # a document shows code
        self._is_traced = False  # shell's own trace of commands was seen
        self._command = ""
        self._removed = False  # the line before begins the head of a difference

    def is_shown(self, line: Line) -> bool:
        text = line.text
        if line.gap:
            self._enter("")
            self._removed = False
        begins = self._removed and text.startswith("+++ ")
        self._removed = text.startswith("--- ")
        if begins or _COMPARES.match(text):
            self._enter("difference")
            return True
        if self._mode == "difference" and self._is_of_difference(text):
            return True
        command = command_of(text)
        if command is not None:
            self._begin(text, command)
            return False
        if self._mode == "notebook" and (not text or _OF_NOTEBOOK.match(text)):
            return bool(_NUMBERED.match(text))
        if self._mode and self._is_in(text):
            self._count += 1
            return self._count <= _LONGEST_SHOWN
        self._enter("")
        if _IN_NOTEBOOK.match(text):
            self._enter("notebook")
            return False
        if _LISTS.match(text) or _EXPECTS.match(text):
            self._enter("listing" if _LISTS.match(text) else "expected")
            return False
        return bool(_ALONE.search(text[:2000]) or _HIT.match(text)) or self._is_echoed(text)

    def _enter(self, mode: str) -> None:
        self._mode, self._count, self._fenced = mode, 0, False

    def _begin(self, text: str, command: str) -> None:
        self._is_traced = self._is_traced or text.startswith("+")
        self._command = command
        self._enter("output" if prints(command) else "script" if text.startswith("Run ") else "")

    def _is_of_difference(self, text: str) -> bool:
        is_command = self._is_traced and text.startswith(("+ ", "++ "))
        return not is_command and _OF_DIFFERENCE.match(text) is not None

    def _is_in(self, text: str) -> bool:
        if self._mode == "output":
            # of a document only what it sets apart is a traceback
            self._fenced ^= text.lstrip().startswith("```")
            return self._fenced or not text.startswith(_TRACEBACK)
        if self._mode == "script":
            # CI prints a script, which its title began with, before it runs it
            if not text or text not in self._command:
                return False
            self._mode = "echo"
            return True
        if self._mode == "echo":
            return not _ENDS_ECHO.match(text)
        if self._mode == "expected":
            return text.startswith("    ")
        if self._mode == "listing":
            return bool(_LISTED.match(text)) or not _LIST_ENDS.match(text)
        return False

    def _is_echoed(self, text: str) -> bool:
        """Whether a line is what the command before it says itself, and goes on."""
        said = text.strip()
        return (
            len(said) >= _SHORTEST_ECHO
            and "echo" in self._command
            and said.replace("'", "") in self._command.replace("'", "").replace("\\", "")
            and not _STOPS.search(self._command)
        )


def prints(command: str) -> Optional[bool]:
    """Whether a command only prints texts that people wrote."""
    bare = _PATTERN.sub("", command)
    if _REDIRECTED.search(bare):
        return False
    first, *others = (part.strip() for part in _PARTS.split(bare))
    printer = _PRINT.match(first)
    if printer is None or _WRITTEN.search(first, printer.end()):
        return False
    if first.startswith(_OF_ANY) and not _DOCUMENT.search(first):
        return False
    return all(_PASS_ON.match(part) or _PRINT.match(part) for part in others if part)
