"""What a lock says of itself in its first lines: what it is, and for which machine."""

from __future__ import annotations

from typing import List, Sequence

from envdoctor.model.language import say, translate
from envdoctor.model.resolution import IMAGE, Resolution
from envdoctor.relations.components import words
from envdoctor.resolver.lock.steps import Installation
from envdoctor.resolver.lock.written import told

#: What pip takes as the encoding of a requirements file, where a locale would say another one.
_UTF_8 = "# -*- coding: utf-8 -*-"


def heading(resolution: Resolution, plan: Installation) -> List[str]:
    """Lines for people, in the language of the resolution, not yet marked as comments."""
    language = resolution.language
    lines = [
        say(
            language,
            "Locked by envdoctor {version}, matrices of {date}",
            version=resolution.envdoctor_version,
            date=resolution.matrices_date,
        )
    ]
    asked = told_list(language, resolution.asked)
    if asked:
        lines.append(say(language, "Asked for: {what}", what=asked))
    machine = [*resolution.machine, *([f"Python {plan.python}"] if plan.python else [])]
    if machine:
        lines.append(say(language, "For: {machine}", machine=told_list(language, machine)))
    given = [
        say(language, "image {name}", name=member.version)
        if member.component == IMAGE
        else f"{translate(language, words(member.component))} {member.version}"
        for member in plan.given
        if not member.component.startswith("host.")  # the machine's, which the line above names
    ]
    if given:
        names = told_list(language, given)
        lines.append(say(language, "Not installed here, and needed: {names}", names=names))
    lines += [
        say(language, "Not as asked: {pin}, but {version}", pin=told(one.pin), version=told(one.to))
        for one in resolution.relaxed
    ]
    lines += [say(language, "Holds if: {what}", what=told(one)) for one in resolution.assumptions]
    return lines


def told_list(language: str, items: Sequence[str]) -> str:
    """Items with commas between them, safe for a comment."""
    return say(language, ", ").join(told(item) for item in items)


def commented(lines: Sequence[str]) -> List[str]:
    """Lines as comments of shells, requirement files and TOML."""
    return [f"# {told(line)}".rstrip() for line in lines]


def encoded(lines: Sequence[str]) -> str:
    """Lines as a file, which says its encoding where pip might read another one."""
    text = "\n".join(lines) + "\n"
    return text if text.isascii() else f"{_UTF_8}\n{text}"


__all__ = ["commented", "encoded", "heading", "told_list"]
