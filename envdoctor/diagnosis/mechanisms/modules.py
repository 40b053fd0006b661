"""Modules and names that Python does not find."""

from __future__ import annotations

import re
from typing import Iterator

from envdoctor.diagnosis.event import Event
from envdoctor.knowledge.load import Knowledge

_MODULE = re.compile(r"No module named '?\"?([\w.]{1,200})")
_NAME = re.compile(r"cannot import name '?\"?(\w{1,200})'? from '?\"?([\w.]{1,200})")
_KINDS = ("exception", "line", "warning")


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """`missing-module` and `missing-name` of messages."""
    if event.kind not in _KINDS:
        return
    told = event.fields.get("message") or event.text
    for match in _MODULE.finditer(told):
        top = match.group(1).partition(".")[0]
        providers = knowledge.providers.get(top, ())
        yield event.derived(
            "missing-module", name=match.group(1), provider=providers[0] if providers else ""
        )
    for match in _NAME.finditer(told):
        yield event.derived("missing-name", name=match.group(1), owner=match.group(2))
