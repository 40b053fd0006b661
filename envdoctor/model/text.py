"""Text for people, made from templates and from values that strangers wrote."""

from __future__ import annotations

import re
from typing import Callable, List

#: A field of a template.
FIELD = re.compile(r"\{([^{}]*)\}")
_LIMIT = 300


def clean(text: str, limit: int = _LIMIT) -> str:
    """`text` safe to print: one line, no control characters, no more than `limit` characters.

    Metadata, paths and logs are written by strangers; a terminal obeys control characters.
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    printable = " ".join(printable.split())
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def fields(template: str) -> List[str]:
    """The names of a template's fields, in order."""
    return FIELD.findall(template)


def render(template: str, field: Callable[[str], str]) -> str:
    """`template` with each `{name}` replaced by `field(name)`, cleaned.

    Nothing else of the template is interpreted, and what a field yields is never read again.
    """
    return fill(template, lambda name: clean(field(name)))


def fill(template: str, field: Callable[[str], str]) -> str:
    """`template` with each `{name}` replaced by `field(name)`, as it is."""
    return FIELD.sub(lambda match: field(match.group(1)), template)
