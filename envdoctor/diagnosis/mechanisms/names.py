"""Names that modules no longer have: looked up in the tables of what went."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.knowledge.load import Knowledge
from envdoctor.relations.removed import described

_ATTRIBUTE = re.compile(
    r"module ['\"]?(?P<owner>[\w.]{1,120})['\"]? has no attribute ['\"]?(?P<name>\w{1,120})"
)
_KINDS = ("exception", "warning")


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """`missing-attribute` of messages, and `removed` of names that the matrices know."""
    if event.kind in ("missing-name", "missing-module"):
        yield from _removed(event, knowledge)
    if event.kind not in _KINDS:
        return
    told = event.field("message")
    for match in _ATTRIBUTE.finditer(told):
        missing = event.derived("missing-attribute", **match.groupdict())
        yield missing
        yield from _removed(missing, knowledge)


def _removed(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    for name in _names(event):
        for told in described(knowledge, name)[:1]:
            row = told.row
            if not row.get("gone"):
                continue
            yield event.derived(
                "removed",
                name=told.name,
                owner=str(row.get("of") or ""),
                gone=str(row.get("gone") or ""),
                instead=str(row.get("instead") or ""),
                cause=str(row.get("finding") or ""),
            )
            return


def _names(event: Event) -> Tuple[str, ...]:
    owner, name = event.field("owner"), event.field("name")
    return (f"{owner}.{name}",) if owner else (name,)
