"""Versions that programs refuse: what they ask for, and what they found."""

from __future__ import annotations

import re
from typing import Iterator, Sequence

from envdoctor.diagnosis.event import Event
from envdoctor.knowledge.load import Knowledge

_VERSIONS = r"[<>=!~][\w.,<>=!~ *]{0,120}"
_PATTERNS: Sequence[re.Pattern[str]] = tuple(
    re.compile(pattern)
    for pattern in (
        # what setuptools and importlib.metadata find, checks like transformers'
        r"\b(?P<component>[A-Za-z][\w.-]{1,60})(?P<required>" + _VERSIONS + r") is required"
        r"[\w ,]{0,80} but found [\w.-]{1,60}==(?P<found>[\w.+]{1,40})",
        r"\b(?P<component>[A-Za-z]\w{1,40}) (?P<required>[<>]=? ?[\d.]{1,16}) is required bu"
        r"t found "
        r"(?P<found>[\w.+]{1,40})",
        r"requires (?:at least )?(?P<component>[A-Za-z][\w-]{1,40}) (?:version )?"
        r"(?P<required>" + _VERSIONS + r"),? but (?:you have|found|got) (?P<found>[\w.+-]{1,60})",
    )
)


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:  # noqa: ARG001
    """`version-range` of messages of exceptions and lines."""
    if event.kind not in ("exception", "line", "warning"):
        return
    told = event.field("message") or event.text
    for pattern in _PATTERNS:
        found = pattern.search(told)
        if found is not None:
            fields = {name: value for name, value in found.groupdict().items() if value}
            yield event.derived("version-range", **fields)
            return
