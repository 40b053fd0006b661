"""What the user types to call envdoctor, for the commands that it prints."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import TYPE_CHECKING, Mapping, Optional

from envdoctor.model.text import clean

# Imported where it is used: `--help` is not to wait for it.
if TYPE_CHECKING:
    from envdoctor.model.finding import Fix, Report

#: Set by what starts envdoctor under another name, as scripts/envdoctor does.
VARIABLE = "ENVDOCTOR_PROG"
_USUAL = "envdoctor"
_CALL = re.compile(
    r"(?<![\w./-])envdoctor(?= (?:check|diagnose|explain|facts|repair|resolve|run|what-if)\b)"
)


def program(environ: Mapping[str, str] = os.environ, started: Optional[str] = None) -> str:
    """The word, quoted for a shell, that calls envdoctor as it was called.

    It is `envdoctor` where PATH has it, else the path that was typed. `started` is the path of the
    script that started this process.
    """
    called = clean(environ.get(VARIABLE, ""), 4_000)
    if not called:
        started = sys.argv[0] if started is None else started
        if os.path.basename(started) != _USUAL:  # noqa: PTH119 - no path is needed of it
            return _USUAL
        import shutil

        found = shutil.which(_USUAL, path=environ.get("PATH", os.defpath))
        if found is not None and os.path.realpath(found) == os.path.realpath(started):
            return _USUAL
        called = clean(started, 4_000)
    return shlex.quote(called)


def as_called(text: str) -> str:
    """A text in which the commands of envdoctor are those that can be typed here."""
    word = program()
    return text if word == _USUAL else _CALL.sub(lambda _: word, text)


def fixes_as_called(report: Report) -> Report:
    """A report whose commands can be typed here; for people, since programs compare them."""
    import msgspec

    def called(fix: Fix) -> Fix:
        commands = tuple(as_called(command) for command in fix.commands)
        return msgspec.structs.replace(fix, commands=commands)

    findings = [
        msgspec.structs.replace(
            finding,
            fixes=tuple(map(called, finding.fixes)),
            verify=tuple(map(as_called, finding.verify)),
        )
        for finding in report.findings
    ]
    return msgspec.structs.replace(report, findings=tuple(findings))
