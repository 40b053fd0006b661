"""Causes in words: summary, reason, proving lines, ways out."""

from __future__ import annotations

import re
import shlex
from typing import Optional, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.ranking import Ranked
from envdoctor.knowledge.failures import Cure
from envdoctor.model.diagnosis import Cause, ProvingLine
from envdoctor.model.finding import Fix
from envdoctor.model.relation import words_in
from envdoctor.model.text import fields as names_in
from envdoctor.model.text import render
from envdoctor.rules.page import pages

#: What may come from a log into a command: names, versions, paths without anything special.
_PLAIN = re.compile(r"[\w][\w.+/-]{0,120}")
_MOST_PROOFS = 5


def told(one: Ranked, log: str, language: str) -> Cause:
    """A cause, in a language."""
    failure, sign, event = one.match
    words = {**words_in(language, failure.words), **words_in(language, sign.words)}
    code = next((page.code for page in pages().values() if page.name == failure.cause), "")
    proofs = {m.event.line: m.event for m in (one.match, *one.others)}
    return Cause(
        id=failure.cause,
        confidence=round(one.confidence, 2),
        summary=render(words.get("summary", ""), event.field),
        code=code,
        why=render(words.get("why", ""), event.field),
        evidence=tuple(
            ProvingLine(e.line, e.text, log, e.source) for e in list(proofs.values())[:_MOST_PROOFS]
        ),
        source=event.source,
        component=event.field("distribution"),
        fixes=tuple(
            Fix(render(cure.words.get(language) or cure.words["en"], event.field), commands)
            for cure, commands in ((cure, _commands(cure, event)) for cure in failure.fixes)
            if commands is not None
        ),
        verify=tuple(failure.verify),
    )


def _commands(cure: Cure, event: Event) -> Optional[Tuple[str, ...]]:
    """The commands of a way out; None if it is for another event, or a field is not plain."""
    if not all(re.search(pattern, event.field(name)) for name, pattern in cure.where.items()):
        return None
    found = []
    for command in cure.commands:
        values = {name: event.field(name) for name in names_in(command)}
        if not all(_PLAIN.fullmatch(value) for value in values.values()):
            return None
        found.append(render(command, lambda name: shlex.quote(values[name])))  # noqa: B023
    return tuple(found)
