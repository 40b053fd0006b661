"""What a line only quotes: words about a failure, in a sentence that is about something else."""

from __future__ import annotations

import re

#: A quotation that follows a word. What follows these words is what happened.
_QUOTES = re.compile(
    r"(?<!File)(?<=\w) [\"\u201c](?P<quoted>[^\"\u201c\u201d]{4,1000})[\"\u201d]"
    r"|(?P<name>\b\w{1,40}) = \"(?P<value>[^\"]{4,1000})\"$"
)
_TELLS = re.compile(
    r"(?i)\b(?:with|errors?|exception|failed|failure|messages?|msg|reason|got|raised|because"
    r"|caught|says?:|due to|fatal"
    r"|what\(\)|stderr|output|returned|threw|crashed|warning|\w{1,60}Error):?$"
)


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a part of a text stands in a quotation of it, whole."""
    if '"' not in text and "\u201c" not in text:
        return False
    for found in _QUOTES.finditer(text):
        group = "quoted" if found["quoted"] is not None else "value"
        if found.start(group) <= start and end <= found.end(group):
            return group == "value" or _TELLS.search(text[: found.start()][-80:]) is None
    return False
