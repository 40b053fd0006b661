"""The languages that people are answered in, and the texts of the code in them.

A text is written in English where it is needed, and in Chinese in `chinese.py`. Code that knows the
language takes the text from `say`. Code that does not (facts and relations give reasons, errors say
what is wrong) writes English, which `translate` turns into the language where it is told.
"""

from __future__ import annotations

import functools
from typing import List, Mapping, NamedTuple, Optional, Tuple

from envdoctor.model.text import FIELD, fields, fill

ENGLISH = "en"
CHINESE = "zh"
LANGUAGES = (ENGLISH, CHINESE)

#: What chooses the language where no option does.
VARIABLE = "ENVDOCTOR_LANG"
_LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
_CHARACTERS = ("LC_ALL", "LC_CTYPE", "LANG")
_UTF_8 = ("", "utf8")
# How deep a reason may stand in a reason.
_DEEPEST = 12
_LONGEST = 10_000


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


def _first(environ: Mapping[str, str], names: Tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _language(locale: str) -> str:
    """Of "zh", "zh_CN.UTF-8", "zh-TW": Chinese; of anything else English."""
    name = locale.partition(".")[0].partition("@")[0].replace("-", "_").lower()
    return CHINESE if name.partition("_")[0] == CHINESE else ENGLISH


def _writes_any(locale: str) -> bool:
    name, _, characters = locale.partition("@")[0].partition(".")
    return name not in ("C", "POSIX") and characters.replace("-", "").lower() in _UTF_8


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
        if values is not None:
            named = dict(zip(template.names, values))
            return fill(template.chinese, lambda name: _chinese(named[name], depth + 1))
    for mark, chinese_mark in (("; ", "；"), (": ", "：")):
        first, found, rest = text.partition(mark)
        told = (_chinese(first, depth + 1), _chinese(rest, depth + 1))
        if found and told != (first, rest):
            return chinese_mark.join(told)
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
