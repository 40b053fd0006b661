"""A relation between builds, as a matrix file states it."""

from __future__ import annotations

from typing import Dict, Optional

from envdoctor.model.facts import Record

#: How far a statement can be trusted, best first.
BASES = ("measured", "vendor", "maintainer", "documented", "inferred")

#: What keeps to a relation when it installs packages; "" where nothing does.
ENFORCERS = ("", "pip")

#: {language: {part: template}}
Words = Dict[str, Dict[str, str]]


def words_in(language: str, words: Words) -> Dict[str, str]:
    """The templates by part; those that a language lacks are English."""
    return {**words.get("en", {}), **words.get(language, {})}


class Relation(Record, frozen=True, omit_defaults=False):
    """What must hold between builds. `condition` and `needs` are expressions of the language.

    `owner` is the package whose builds are `self`; None means any package whose builds have the
    attributes of `self` that the expressions use. `where` is "file:line" of the entry.
    """

    id: str
    owner: Optional[str]
    condition: str
    needs: str
    phase: str
    finding: str
    severity: str
    words: Words
    source: str
    checked: str
    basis: str
    accelerator: str = ""  # vendor whose machines alone it speaks of
    waiver: str = ""  # source patch that mends a breach
    probe: str = ""  # statement that fails where the relation is broken
    where: str = ""
    enforced: str = ""  # "pip": metadata asks for the same, so that pip keeps to it
