"""What programs read: one JSON object. Its schema is schemas/check.json."""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

import msgspec

from envdoctor.model.finding import Report

#: What terminals obey and JSON lets stand: delete, C1 controls, marks of direction, line ends.
_OBEYED = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
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
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
