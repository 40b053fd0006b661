"""Causes of failures that have no page among the rules, for people and for programs."""

from __future__ import annotations

from typing import Iterable, Iterator, List, Sequence

import msgspec
from rich.text import Text

from envdoctor import __version__
from envdoctor.knowledge.failures import FAMILIES, Failure, kinds
from envdoctor.model.finding import SCHEMA_VERSION, Fix
from envdoctor.model.language import CHINESE, say
from envdoctor.model.relation import words_in
from envdoctor.model.text import fill
from envdoctor.report.json import encode
from envdoctor.report.lines import printed, wrapped
from envdoctor.report.sources import Matrices, MatricesAnswer
from envdoctor.report.view import View
from envdoctor.rules.page import pages


class SignTold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way in which logs show it."""

    id: str
    on: List[str]  # kinds of what is recognised in logs
    confidence: float


class CauseAnswer(MatricesAnswer, frozen=True, forbid_unknown_fields=True):
    """What `explain --format json` prints of a cause. What a log fills in stands as <name>."""

    cause: str
    family: str
    title: str
    summary: str
    why: str
    fixes: List[Fix]
    verify: List[str]
    signs: List[SignTold]
    sources: List[str]


class CauseListed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `diagnose --list-causes --format json`."""

    cause: str
    code: str  # of the page of that name, "" if there is none
    family: str
    title: str


class CausesAnswer(MatricesAnswer, frozen=True, forbid_unknown_fields=True):
    """What `diagnose --list-causes --format json` prints."""

    causes: List[CauseListed]


def listing_json(known: Iterable[Failure], matrices: Matrices, language: str) -> str:
    """All causes in short as JSON, ended by a newline. Its schema is schemas/list-causes.json."""
    added = list(matrices.added)
    listed = list(_listing(known, language))
    answer = CausesAnswer(
        SCHEMA_VERSION, "diagnose", __version__, matrices.date, added, language, listed
    )
    return encode(msgspec.to_builtins(answer))


def listing_text(known: Iterable[Failure], view: View, language: str) -> str:
    """All causes in short, by family, one after the other; ended by a newline."""

    def lines() -> Iterator[Text]:
        for one in _listing(known, language):
            yield Text.assemble((f"{one.code} {one.cause}".strip(), "bold"), f" ({one.family})")
            yield from wrapped(Text(one.title), view.width, " " * 6, " " * 6)

    return printed(lines(), view)


def _listing(known: Iterable[Failure], language: str) -> Iterator[CauseListed]:
    named = {page.name: page for page in pages().values()}
    for failure in sorted(known, key=lambda one: (FAMILIES.index(one.family), one.cause)):
        page = named.get(failure.cause)
        title = (failure.title_zh if language == CHINESE else "") or failure.title
        if page is not None:
            title = page.title_in(language)
        yield CauseListed(failure.cause, page.code if page else "", failure.family, title)


def as_json(failure: Failure, matrices: Matrices, language: str) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/explain-cause.json."""
    return encode(msgspec.to_builtins(_answer(failure, matrices, language)))


def as_text(failure: Failure, matrices: Matrices, view: View, language: str) -> str:
    """The meaning, the reason, the ways out and the signs; ended by a newline."""
    answer = _answer(failure, matrices, language)
    return printed(_lines(answer, view, language), view)


def _answer(failure: Failure, matrices: Matrices, language: str) -> CauseAnswer:
    words = words_in(language, failure.words)
    title = (failure.title_zh if language == CHINESE else "") or failure.title
    return CauseAnswer(
        SCHEMA_VERSION,
        "explain",
        __version__,
        matrices.date,
        list(matrices.added),
        language,
        failure.cause,
        failure.family,
        title or _open(words.get("summary", "")),
        _open(words.get("summary", "")),
        _open(words.get("why", "")),
        [
            Fix(
                _open(cure.words.get(language) or cure.words["en"]),
                tuple(map(_open, cure.commands)),
            )
            for cure in failure.fixes
        ],
        list(map(_open, failure.verify)),
        [SignTold(sign.id, list(kinds(sign)), sign.sureness) for sign in failure.signs],
        list(failure.sources),
    )


def _open(template: str) -> str:
    """A template as it is told before a log fills it."""
    return fill(template, lambda name: f"<{name}>")


def _lines(answer: CauseAnswer, view: View, language: str) -> Iterator[Text]:
    yield Text.assemble((answer.cause, "bold"), f"  ({answer.family})")
    yield from _prose(answer.title, view)
    if answer.summary != answer.title:
        yield from _section(say(language, "Meaning"), [answer.summary], view)
    yield from _section(say(language, "Why"), [answer.why] if answer.why else [], view)
    if answer.fixes:
        yield from _section(say(language, "Ways out"), [], view, is_due=True)
    for fix in answer.fixes:
        yield from _item(fix.summary, view)
        for command in fix.commands:
            yield Text.assemble("    ", (command, "cyan"))
    yield from _commands(say(language, "Make sure"), answer.verify)
    signs = [
        say(
            language,
            "{sign}, in {kinds}: {confidence}",
            sign=sign.id,
            kinds=", ".join(sign.on),
            confidence=f"{sign.confidence:.2f}",
        )
        for sign in answer.signs
    ]
    yield from _listed(say(language, "Signs in logs, and how sure each is"), signs, view)
    yield from _listed(say(language, "Sources"), answer.sources, view)


def _prose(text: str, view: View) -> List[Text]:
    return wrapped(Text(text), view.width, "  ", "  ")


def _item(text: str, view: View) -> List[Text]:
    return wrapped(Text(text), view.width, "  - ", "    ")


def _section(
    heading: str, paragraphs: Sequence[str], view: View, is_due: bool = False
) -> Iterator[Text]:
    if paragraphs or is_due:
        yield Text()
        yield Text(heading, "bold")
    for paragraph in paragraphs:
        yield from _prose(paragraph, view)


def _listed(heading: str, items: Sequence[str], view: View) -> Iterator[Text]:
    if items:
        yield Text()
        yield Text(heading, "bold")
    for item in items:
        yield from _item(item, view)


def _commands(heading: str, commands: Sequence[str]) -> Iterator[Text]:
    if commands:
        yield Text()
        yield Text(heading, "bold")
    for command in commands:
        yield Text.assemble("  ", (command, "cyan"))
