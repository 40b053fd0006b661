"""Text for people, made from templates and from values that strangers wrote."""

from __future__ import annotations

import re
import unicodedata
from typing import Callable, Iterable, List, Match, Optional

from envdoctor.model.secrets import without_secrets as without_secrets

#: A field of a template.
FIELD = re.compile(r"\{([^{}]*)\}")
_LIMIT = 300
#: From here on characters are Chinese, or full-width marks.
_FIRST_WIDE = "\u2e80"
_MOST_DIGITS = 18
_OTHER_DIGITS = re.compile(r"(?![0-9])\d")


def clean(text: str, limit: int = _LIMIT) -> str:
    """`text` safe to print: one line, no control characters, no more than `limit` characters.

    Metadata, paths and logs are written by strangers; a terminal obeys control characters.
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    printable = " ".join(printable.split())
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def printable(text: str, limit: int = _LIMIT) -> str:
    """As `clean`, but for its spaces: the indentation of what stands in a log says something."""
    one_line = "".join(c if c.isprintable() else " " for c in text[: limit + 1].expandtabs(4))
    one_line = one_line.rstrip()
    return one_line if len(one_line) <= limit else one_line[: limit - 1] + "…"


def plain_digits(text: str) -> str:
    """A text with the digits of other scripts, and those of full width, as 0 to 9.

    Patterns take them for digits, versions do not.
    """
    return text if text.isascii() else _OTHER_DIGITS.sub(_plain_digit, text)


def _plain_digit(found: Match[str]) -> str:
    return str(unicodedata.decimal(found.group()))


def number(text: str) -> Optional[int]:
    """The whole number that up to 18 ASCII digits say; None for any other text.

    `str.isdigit` takes "\u00b2" too, which int() refuses, as it does 5,000 digits.
    """
    is_plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_plain else None


def nearest(text: str, known: Iterable[str]) -> str:
    """What to add of the known name that is most like a text, "; nearest: NAME"; or nothing."""
    import difflib  # few answers need it

    near = difflib.get_close_matches(text, list(known), n=1, cutoff=0.6)
    return f"; nearest: {near[0]}" if near else ""


def misspelt(text: str, known: Iterable[str]) -> str:
    """The known name from which a text differs by one letter, or by the order; "" if none."""
    return next((name for name in known if text != name and _is_slip(text, name)), "")


def _is_slip(text: str, name: str) -> bool:
    if len(text) == len(name):
        differing = sum(one != other for one, other in zip(text, name))
        return differing == 1 or sorted(text) == sorted(name)
    shorter, longer = sorted((text, name), key=len)
    left_out = (longer[:n] + longer[n + 1 :] for n in range(len(longer)))
    return len(longer) == len(shorter) + 1 and shorter in left_out


def fields(template: str) -> List[str]:
    """The names of a template's fields, in order."""
    return FIELD.findall(template)


def render(template: str, field: Callable[[str], str]) -> str:
    """`template` with each `{name}` replaced by `field(name)`, cleaned.

    Nothing else of the template is interpreted, and what a field yields is never read again.
    """
    return fill(template, lambda name: clean(field(name)))


def fill(template: str, field: Callable[[str], str]) -> str:
    """`template` with each `{name}` replaced by `field(name)`, as it is.

    Chinese templates have a space between their characters and a field, which is mostly a name: it
    is left out where Chinese fills the field.
    """
    first, *rest = FIELD.split(template)
    told = first
    for name, piece in zip(rest[::2], rest[1::2]):
        told = _joined(_joined(told, field(name)), piece)
    return told


def _joined(before: str, after: str) -> str:
    """Both texts, less the one space at the seam if Chinese stands on both sides of it."""
    if before[-1:] == " " and _is_wide(before[-2:-1]) and _is_wide(after[:1]):
        return before[:-1] + after
    if after[:1] == " " and _is_wide(before[-1:]) and _is_wide(after[1:2]):
        return before + after[1:]
    return before + after


def _is_wide(character: str) -> bool:
    return character >= _FIRST_WIDE
