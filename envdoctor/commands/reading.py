"""Tells a waiting person what is known before binaries are read, and how far that is."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Optional

from envdoctor.commands.invocation import current
from envdoctor.commands.output import say
from envdoctor.commands.session import Matrices, Waiting
from envdoctor.model.facts import Facts
from envdoctor.model.language import say as said

if TYPE_CHECKING:
    from envdoctor.linking.examine import Progress

_FIRST = 1.0  # seconds until anything is told of progress
_EACH = 1.0


class _Told:
    """Writes on stderr, after a second, how many files were read."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _FIRST

    def advance(self, done: int, of: int) -> None:
        """Say so, if the last word is some time ago."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EACH
            template = "envdoctor: binaries: {done} of {number}"
            say(said(current().language, template, done=done, number=of))


def waiting(with_verdict: bool) -> Optional[Waiting]:
    """What is called before binaries are read for the first time; None if nobody waits.

    `with_verdict`: it is to say what is found without them.
    """
    if not sys.stderr.isatty():
        return None

    def before(facts: Facts, matrices: Matrices) -> Progress:
        if with_verdict:
            from envdoctor.report.words import verdict
            from envdoctor.rules.check import check

            language = current().language
            found = verdict(check(facts, matrices(), language), facts)
            template = "envdoctor: {verdict} without the binaries; reading these now"
            say(said(language, template, verdict=found))
        return _Told()

    return before
