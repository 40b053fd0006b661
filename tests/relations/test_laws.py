"""Laws that every matrix file obeys, whatever it says. The format: docs/matrices.md."""

from __future__ import annotations

import datetime as dt
import re
from typing import Iterator, Set, Tuple

import pytest
from indexes.block import written

from envdoctor.knowledge.load import load
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.package import Package
from envdoctor.knowledge.published import SDIST
from envdoctor.model.finding import PHASES, SEVERITIES
from envdoctor.model.relation import BASES, Relation
from envdoctor.model.text import fields
from envdoctor.relations.expression import compile_value
from envdoctor.relations.judge import Relations
from envdoctor.relations.plan import requirement_arguments
from envdoctor.relations.tell import FAILING, SEARCHES
from envdoctor.rules.added import gpus_without_architecture, misfit_of_install

KNOWLEDGE = load()
RELATIONS = Relations(KNOWLEDGE)


def owned() -> Iterator[Tuple[str, Relation]]:
    """Every relation with each package whose builds it can be about."""
    for name in KNOWLEDGE.packages:
        for bound in RELATIONS.of(name):
            yield name, bound.relation


@pytest.mark.parametrize("relation", KNOWLEDGE.relations, ids=lambda r: str(r.id))
def test_a_relation_is_whole(relation: Relation) -> None:
    where = f"matrices/{relation.where}: {relation.id}"
    assert relation.phase in PHASES, f"{where}: phase: is one of {', '.join(PHASES)}"
    assert relation.severity in SEVERITIES, f"{where}: severity: is one of {', '.join(SEVERITIES)}"
    assert relation.words.get("en", {}).get("summary"), f"{where}: words: en: summary: is missing"
    assert any(relation is r for _, r in owned()), f"{where}: no package has what it reads of self"


@pytest.mark.parametrize(
    ("owner", "relation"), list(owned()), ids=[f"{n}-{r.id}" for n, r in owned()]
)
def test_words_can_be_filled(owner: str, relation: Relation) -> None:
    where = f"matrices/{relation.where}: {relation.id}"
    for texts in relation.words.values():
        assert set(texts) <= {"summary", "why", "fix"}, f"{where}: words: summary, why, fix"
        for template in texts.values():
            for field in fields(template):
                name = next((field[len(s) :] for s in SEARCHES if field.startswith(s)), None)
                if name is not None:
                    known = name == "self" or name.replace("_", "-") in KNOWLEDGE.packages
                    assert known, f"{where}: {{{field}}}: no package is called {name}"
                    continue
                inner = re.sub(r"^sm\((.*)\)$", r"\1", field)
                if inner != FAILING:
                    compile_value(inner, KNOWLEDGE, owner)


def unusable(package: Package) -> Set[str]:
    """Releases that no installer takes on Linux: withdrawn, or without files for it."""
    pypi = package.pypi
    if pypi is None:
        return set()
    kinds = [*pypi.files.wheels, SDIST]
    return {*pypi.files.yanked} | {
        str(v) for v in pypi.releases if not any(list(pypi.wheels(v, kind)) for kind in kinds)
    }


@pytest.mark.parametrize("name", sorted(n for n, p in KNOWLEDGE.packages.items() if p.pypi))
def test_the_generated_part_is_as_it_was_written(name: str) -> None:
    path = data_folder("matrices") / "packages" / f"{name}.yaml"
    text = path.read_text(encoding="utf-8")
    file = KNOWLEDGE.packages[name].file
    assert text == written(text, file.pypi, file.pages), f"{path.name}: run scripts/refresh {name}"


@pytest.mark.parametrize("name", sorted(KNOWLEDGE.packages))
def test_a_package_is_whole(name: str) -> None:
    package = KNOWLEDGE.packages[name]
    where = f"matrices/packages/{name}.yaml"
    assert name == re.sub(r"[-_.]+", "-", name).lower(), (
        f"{where}: package: is not canonical (PEP 503)"
    )
    listed_there = package.file.pypi.releases if package.file.pypi is not None else []
    texts = [*package.file.releases, *listed_there]
    twice = {text for text in texts if texts.count(text) > 1}
    assert len(set(package.releases)) == len(texts), f"{where}: releases: stand twice: {twice}"
    assert (package.file.pypi is None) == (not package.file.index.since), (
        f"{where}: index: from: scripts/refresh has not been run, or what it wrote is left over"
    )
    unknown = [required for required in package.requires if required not in KNOWLEDGE.packages]
    assert unknown == [], f"{where}: requires: names packages that have no file"
    known = {str(v) for v in package.releases}
    for entry in package.file.builds:
        listed = entry.versions if isinstance(entry.versions, list) else list(entry.each)
        missing = set(listed) - {*known, *texts}
        assert missing == set(), f"{where}: {entry.id}: describes what releases: does not list"
    builds = [*package.builds(), *(b for v in package.releases for b in package.conda_builds(v))]
    idle = {entry.id for entry in package.file.builds} - {build.entry for build in builds}
    assert idle == set(), f"{where}: these entries of builds: describe no release of releases:"
    dark = {str(v) for v in package.releases if package.file.builds and not package.builds(v)}
    dark -= unusable(package)
    assert dark == set(), f"{where}: no entry of builds: describes these releases"
    for build in builds:
        template = build.attributes.get("install")
        if isinstance(template, str):
            misfit = misfit_of_install(template, package.variant, build.attributes)
            assert misfit == "", f"{where}: {build.entry}: install: {misfit}"
        arguments = requirement_arguments(build)
        assert arguments is None or re.fullmatch(r"[\w.+=:/ -]+", arguments), arguments
    kinds = {
        (str(b.version), *sorted((k, repr(v)) for k, v in b.attributes.items() if k != "install"))
        for b in builds
    }
    assert len(kinds) == len(builds), f"{where}: two entries of builds: describe one build alike"


def test_every_entry_says_where_it_is_known_from() -> None:
    for citation in KNOWLEDGE.citations.values():
        assert citation.source, f"{citation.id}: neither it nor its file has a source:"
        assert citation.basis in BASES, f"{citation.id}: basis: is one of {', '.join(BASES)}"
        checked = re.fullmatch(r"\d{4}-\d\d-\d\d", citation.checked)
        assert checked, f"{citation.id}: checked: is a day like 2026-11-30"
        assert dt.date.fromisoformat(citation.checked)


def test_findings_of_platform_relations_are_overridden_by_their_ids() -> None:
    ids = {relation.id for relation in KNOWLEDGE.relations if relation.owner is None}
    for package in KNOWLEDGE.packages.values():
        assert set(package.file.findings) <= ids


def test_each_gpu_has_an_architecture() -> None:
    assert list(gpus_without_architecture(KNOWLEDGE)) == []
