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
    "language",
    "target",
    "machine",
    "assumed",
    "findings",
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
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
