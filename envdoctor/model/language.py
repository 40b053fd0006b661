"""The languages that people are answered in, and the texts of the code in them.

A text is written in English where it is needed, and in Chinese in `chinese.py`. Code that knows the
language takes the text from `say`. Code that does not (facts and relations give reasons, errors say
what is wrong) writes English, which `translate` turns into the language where it is told.
"""

from __future__ import annotations

import functools
import re
from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from envdoctor.model.text import FIELD, fields, fill

ENGLISH = "en"
CHINESE = "zh"
LANGUAGES = (ENGLISH, CHINESE)

#: What chooses the language where no option does.
VARIABLE = "ENVDOCTOR_LANG"
_LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
_CHARACTERS = ("LC_ALL", "LC_CTYPE", "LANG")
# How deep a reason may stand in a reason.
_DEEPEST = 12
_LONGEST = 10_000
#: Fields that are numbers, and how many characters of a template say enough.
_NUMBERS = ("number", "line", "seconds", "size")
_NUMBER = re.compile(r"[0-9.]+")
_TELLING = 10


def preferred(environ: Mapping[str, str]) -> str:
    """The language that a user's variables ask for.

    A locale that cannot write Chinese asks for English.
    """
    own = environ.get(VARIABLE, "")
    if own:
        return _language(own)
    if any(not _writes_any(_first(environ, names)) for names in (_LOCALES, _CHARACTERS)):
        return ENGLISH
    return _language(_first(environ, _LOCALES))


def is_known(value: str) -> bool:
    """Whether a value of the variable names a language that there is, or a locale without one."""
    return _named(value) in (ENGLISH, CHINESE, "c", "posix")


def _first(environ: Mapping[str, str], names: Tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _language(locale: str) -> str:
    """Of "zh", "zh_CN.UTF-8", "zh-TW": Chinese; of anything else English."""
    return CHINESE if _named(locale) == CHINESE else ENGLISH


def _named(locale: str) -> str:
    name = locale.partition(".")[0].partition("@")[0].replace("-", "_").lower()
    return name.partition("_")[0]


def _writes_any(locale: str) -> bool:
    name, _, characters = locale.partition("@")[0].partition(".")
    if not characters:
        return name not in ("C", "POSIX")
    return characters.replace("-", "").lower() == "utf8"


def say(language: str, template: str, **values: object) -> str:
    """A text of the code with its fields filled as they are."""
    if language == CHINESE:
        from envdoctor.model.chinese import SAID

        template = SAID.get(template, template)
    return fill(template, lambda name: str(values[name])) if values else template


def count(language: str, number: int, one: str, many: str) -> str:
    """A text about `{number}` things, of which some languages have two forms."""
    return say(language, one if number == 1 else many, number=number)


def translate(language: str, text: str) -> str:
    """A finished English text in a language: whole, or the clauses of it that are known.

    What fills the fields of a template that matches is translated likewise. A text that is not
    known stays as it is.
    """
    if language == ENGLISH or len(text) > _LONGEST:
        return text
    return _chinese(text, 0)


class _Template(NamedTuple):
    pieces: Tuple[str, ...]  # the text before, between and after the fields
    names: Tuple[str, ...]
    chinese: str

    def believes(self, values: Sequence[str]) -> bool:
        """Whether a text with these values is surely its own.

        "nvcc is not on PATH" is none of "{command} on PATH": of a template that begins with a field
        and says little, each value is one word.
        """
        numbers = [value for n, value in zip(self.names, values) if n in _NUMBERS]
        if not all(_NUMBER.fullmatch(value) for value in numbers):
            return False
        words = "".join(self.pieces)
        telling = len(words.replace(" ", "")) >= _TELLING or "): " in words
        return bool(self.pieces[0] or numbers or telling) or not any(" " in v for v in values)


@functools.lru_cache(maxsize=None)
def _templates() -> List[_Template]:
    """Those with fields, the most telling first."""
    from envdoctor.model.chinese import WRITTEN

    found = [
        _Template(tuple(FIELD.sub("\0", text).split("\0")), tuple(fields(text)), chinese)
        for text, chinese in WRITTEN.items()
        if "{" in text
    ]
    return sorted(found, key=lambda one: -sum(map(len, one.pieces)))


@functools.lru_cache(maxsize=4096)
def _chinese(text: str, depth: int) -> str:
    from envdoctor.model.chinese import WRITTEN

    known = WRITTEN.get(text)
    if known is not None or depth > _DEEPEST:
        return known or text
    for template in _templates():
        values = _match(template.pieces, text)
        if values is not None and template.believes(values):
            told = {n: _chinese(value, depth + 1) for n, value in zip(template.names, values)}
            return fill(template.chinese, told.__getitem__)
    for mark in sorted(("; ", ": "), key=(text + "; : ").find):  # the first that stands there
        first, found, rest = text.partition(mark)
        clauses = (_chinese(first, depth + 1), _chinese(rest, depth + 1))
        if found and clauses != (first, rest):
            return say(CHINESE, mark).join(clauses)
    return text


def _match(pieces: Tuple[str, ...], text: str) -> Optional[List[str]]:
    """What stands between the pieces of a text, none of it empty; None if they are not its own.

    Each piece is looked for from the left, which finds a way if there is one: in linear time, for
    what fills a text may be a stranger's.
    """
    first, *between, last = pieces
    if not (text.startswith(first) and text.endswith(last)):
        return None
    position, end = len(first), len(text) - len(last)
    values = []
    for piece in between:
        place = text.find(piece, position + 1, end)
        if place < 0:
            return None
        values.append(text[position:place])
        position = place + len(piece)
    if position >= end:
        return None
    return [*values, text[position:end]]
