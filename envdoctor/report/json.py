"""What programs read: one JSON object. Its schema is schemas/check.json."""

from __future__ import annotations

import json
from typing import Any, Mapping

import msgspec

from envdoctor.model.finding import Report

#: The order in which a reader wants them.
_KEYS = (
    "schema_version",
    "command",
    "envdoctor_version",
    "matrices_date",
    "matrices_added",
    "language",
    "target",
    "machine",
    "assumed",
    "configuration",
    "findings",
    "ignored",
    "baseline",
    "ruled_out",
    "skipped",
    "facts_digest",
)


def render(report: Report) -> str:
    """The report as JSON, ended by a newline."""
    data = msgspec.to_builtins(report)
    return encode({key: data[key] for key in _KEYS})


def encode(data: Mapping[str, Any]) -> str:
    """Plain data as JSON for a file or a terminal, ended by a newline.

    The standard library's encoder: it keeps names that are no valid Unicode, which msgspec refuses.
    """
    text = json.dumps(data, ensure_ascii=False, indent=2)
    # What a terminal obeys and JSON lets stand: C1 controls, marks of direction, ends of lines.
    odd = {c for c in set(text) if not (c.isprintable() or c == "\n" or "\ud800" <= c <= "\udfff")}
    escapes = {c: f"\\u{ord(c):04x}" if c < "\x80" else json.dumps(c)[1:-1] for c in odd}
    return text.translate({ord(c): escape for c, escape in escapes.items()}) + "\n"
