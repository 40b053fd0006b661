"""Laws that every matrix file obeys, whatever it says."""

from __future__ import annotations

import datetime as dt
import re
from typing import Iterator, Tuple

import pytest

from envdoctor.knowledge.load import load
from envdoctor.model.finding import PHASES, SEVERITIES
from envdoctor.model.relation import BASES, Relation
from envdoctor.model.text import fields
from envdoctor.relations.expression import compile_value
from envdoctor.relations.judge import Relations
from envdoctor.relations.repair import requirement_arguments
from envdoctor.relations.tell import FAILING, SEARCHES

KNOWLEDGE = load()
RELATIONS = Relations(KNOWLEDGE)


def owned() -> Iterator[Tuple[str, Relation]]:
    """Every relation with each package whose builds it can be about."""
    for name in KNOWLEDGE.packages:
        for bound in RELATIONS.of(name):
            yield name, bound.relation


@pytest.mark.parametrize("relation", KNOWLEDGE.relations, ids=lambda r: str(r.id))
def test_a_relation_is_whole(relation: Relation) -> None:
    assert relation.phase in PHASES
    assert relation.severity in SEVERITIES
    assert relation.words["en"]["summary"]
    assert any(relation is r for _, r in owned()), "no package has what it reads of self"


@pytest.mark.parametrize(
    ("owner", "relation"), list(owned()), ids=[f"{n}-{r.id}" for n, r in owned()]
)
def test_words_can_be_filled(owner: str, relation: Relation) -> None:
    for texts in relation.words.values():
        assert set(texts) <= {"summary", "why"}
        for template in texts.values():
            for field in fields(template):
                name = next((field[len(s) :] for s in SEARCHES if field.startswith(s)), None)
                if name is not None:
                    assert name == "self" or name.replace("_", "-") in KNOWLEDGE.packages
                    continue
                inner = re.sub(r"^sm\((.*)\)$", r"\1", field)
                if inner != FAILING:
                    compile_value(inner, KNOWLEDGE, owner)


@pytest.mark.parametrize("name", sorted(KNOWLEDGE.packages))
def test_a_package_is_whole(name: str) -> None:
    package = KNOWLEDGE.packages[name]
    assert name == re.sub(r"[-_.]+", "-", name).lower()
    assert len(set(package.releases)) == len(package.file.releases), "a release stands twice"
    assert all(required in KNOWLEDGE.packages for required in package.requires)
    known = {str(v) for v in package.releases}
    for entry in package.file.builds:
        listed = entry.versions if isinstance(entry.versions, list) else list(entry.each)
        assert set(listed) <= {*known, *package.file.releases}, entry.id
    builds = package.builds()
    used = {build.entry for build in builds}
    assert used == {entry.id for entry in package.file.builds}, "an entry describes no release"
    for build in builds:
        arguments = requirement_arguments(build)
        assert arguments is None or re.fullmatch(r"[\w.+=:/ -]+", arguments), arguments
    kinds = {
        (str(b.version), *sorted((k, repr(v)) for k, v in b.attributes.items() if k != "install"))
        for b in builds
    }
    assert len(kinds) == len(builds), "a build stands twice"


def test_every_entry_says_where_it_is_known_from() -> None:
    for citation in KNOWLEDGE.citations.values():
        assert citation.source, citation.id
        assert citation.basis in BASES, citation.id
        assert dt.date.fromisoformat(citation.checked), citation.id


def test_findings_of_platform_relations_are_overridden_by_their_ids() -> None:
    ids = {relation.id for relation in KNOWLEDGE.relations if relation.owner is None}
    for package in KNOWLEDGE.packages.values():
        assert set(package.file.findings) <= ids
