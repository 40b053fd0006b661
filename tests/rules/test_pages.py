"""Laws of the pages: each is whole, and relations and pages name each other."""

from __future__ import annotations

import inspect
import re
from typing import Set, get_type_hints

import pytest

from envdoctor.knowledge.load import load
from envdoctor.model.facts import Facts, Observed
from envdoctor.model.finding import PHASES, SEVERITIES
from envdoctor.model.text import fields
from envdoctor.rules.page import Page, pages

PAGES = list(pages().values())
RULES = [page for page in PAGES if page.module]
ALONE = [page for page in PAGES if not page.module]
HEADINGS = ["Symptom", "Why", "Fix", "Check yourself", "Sources"]


def named(page: Page) -> str:
    return page.code


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_front_matter(page: Page) -> None:
    assert page.severity in SEVERITIES
    assert page.phase in PHASES
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", page.name)
    assert 10 < len(page.title) <= 80
    assert not page.title.endswith(".")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_body_has_the_fixed_headings_with_text_under_each(page: Page) -> None:
    parts = re.split(r"^## (.*)$\n", page.body, flags=re.MULTILINE)
    assert parts[0].strip() == ""
    assert parts[1::2] == HEADINGS
    assert all(part.strip() for part in parts[2::2])
    assert all(line.startswith(("- ", "  ")) for line in parts[-1].strip().splitlines())
    assert "`" in parts[8]  # a command to look with


def test_names_are_unique() -> None:
    assert len({page.name for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", RULES, ids=named)
def test_a_rule_has_words_and_the_facts_it_needs_exist(page: Page) -> None:
    for words in page.words.values():
        assert {"summary", "why", "fix"} <= set(words)
        for name, template in words.items():
            assert name.partition("_")[0] in ("summary", "why", "fix")
            assert not template.endswith((".", " "))
            assert all(re.fullmatch(r"[a-z]+", field) for field in fields(template))
    for name in page.facts:
        kind = Facts
        for part in name.split("."):
            kind = get_type_hints(kind)[part]
            observed = getattr(kind, "__origin__", None) is Observed
            kind = kind.__args__[0] if observed else kind


@pytest.mark.parametrize("page", RULES, ids=named)
def test_every_language_says_the_same_things(page: Page) -> None:
    english = {name: set(fields(text)) for name, text in page.words["en"].items()}
    for words in page.words.values():
        assert {name: set(fields(text)) for name, text in words.items()} == english


@pytest.mark.parametrize("page", RULES, ids=named)
def test_a_rule_reads_facts_and_nothing_of_this_machine(page: Page) -> None:
    module = __import__(f"envdoctor.rules.{page.module}", fromlist=["examine"])
    assert list(inspect.signature(module.examine).parameters) == ["context"]
    source = inspect.getsource(module)
    assert not re.search(
        r"^\s*(?:import|from) (?:os|sys|subprocess|platform|glob)\b", source, re.MULTILINE
    )
    assert "open(" not in source


@pytest.mark.parametrize("page", ALONE, ids=named)
def test_a_page_without_a_rule_leaves_words_to_relations(page: Page) -> None:
    assert page.words == {}
    assert page.facts == []


def told_by_relations() -> Set[str]:
    knowledge = load()
    own = {name for p in knowledge.packages.values() for name in p.file.findings.values()}
    return {relation.finding for relation in knowledge.relations} | own


def test_every_finding_of_a_relation_has_its_page() -> None:
    assert told_by_relations() - {page.name for page in PAGES} == set()


def test_every_page_without_a_rule_is_a_finding_of_a_relation() -> None:
    assert {page.name for page in ALONE} - told_by_relations() == set()
