"""Whether matrices that users add hold together with those that ship: their errors, with places.

What ships is held to the same by the tests.
"""

from __future__ import annotations

import re
from typing import Container, Dict, Iterator, Mapping

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import Knowledge, Package
from envdoctor.model.build import Build
from envdoctor.model.finding import PHASES, SEVERITIES
from envdoctor.model.relation import BASES, Relation
from envdoctor.model.text import fields, nearest
from envdoctor.relations.expression import ExpressionError, compile_expression, compile_value
from envdoctor.relations.judge import Bound, Relations
from envdoctor.relations.plan import OWN_FIELDS, requirement_arguments
from envdoctor.relations.tell import FAILING, SEARCHES
from envdoctor.rules.page import Page, pages

#: What may stand after `pip install`: it is printed as a command, and people type it.
_ARGUMENTS = re.compile(r"[\w.+=:/ ~-]+")
_PARTS = ("summary", "why", "fix")
_MAX_BUILDS = 200_000


def examine(knowledge: Knowledge) -> None:
    """Raise DocumentError for the first thing that cannot stand in matrices."""
    relations = Relations(knowledge)
    _examine_packages(knowledge)
    known = {page.name: page for page in pages().values()}
    for relation in knowledge.relations:
        if _is_theirs(relation, knowledge):
            _examine_relation(relation, knowledge, known)
    for name in knowledge.packages:
        try:
            bounds = relations.of(name)
        except ExpressionError as error:
            raise DocumentError(str(error)) from None
        for bound in bounds:
            if _is_theirs(bound.relation, knowledge):
                _examine_words(bound, knowledge)


def _is_theirs(relation: Relation, knowledge: Knowledge) -> bool:
    return any(relation.where.startswith(folder) for folder in knowledge.added)


def _examine_packages(knowledge: Knowledge) -> None:
    for name, package in knowledge.packages.items():
        theirs = [
            entry
            for entry in package.file.builds
            if any(package.place(entry.id).startswith(folder) for folder in knowledge.added)
        ]
        unknown = [one for one in package.requires if one not in knowledge.packages]
        if unknown:
            raise DocumentError(f"{name}: requires: the matrices have no package {unknown[0]!r}")
        if not theirs:
            continue
        ids = {entry.id for entry in theirs}
        number = 0
        for version in package.releases:
            builds = package.builds(version)
            number += len(builds)
            if number > _MAX_BUILDS:
                raise DocumentError(f"{name}: more than {_MAX_BUILDS} builds")
            for build in builds:
                misfit = _misfit_of_install(build, package) if build.entry in ids else ""
                if misfit:
                    place = package.place(build.entry)
                    raise DocumentError(f"{place}: {build.entry}: install: {misfit}")
        for entry in theirs:
            if entry.basis not in BASES:
                place = package.place(entry.id)
                raise DocumentError(f"{place}: {entry.id}: basis is one of {', '.join(BASES)}")


def _misfit_of_install(build: Build, package: Package) -> str:
    template = build.attributes.get("install")
    if not isinstance(template, str):
        return ""
    misfit = misfit_of_install(template, package.variant, build.attributes)
    if misfit:
        return misfit
    arguments = requirement_arguments(build)
    if arguments is not None and not _ARGUMENTS.fullmatch(arguments):
        return f"{arguments!r} is nothing that follows pip install"
    return ""


def misfit_of_install(template: str, attributes: Mapping[str, str], stated: Container[str]) -> str:
    """What of a template of `install` cannot be filled, "" if all can.

    `attributes` are those that the package declares, with their types; `stated` those that a build
    of it has.
    """
    known = [*OWN_FIELDS, *attributes]
    for field in fields(template):
        name, dot, form = field.partition(".")
        if name not in known:
            return f"{{{field}}}: there is no attribute {name!r}{nearest(name, known)}"
        if dot and (form != "tag" or attributes.get(name) != "cuda"):
            tags = [f"{one}.tag" for one, kind in attributes.items() if kind == "cuda"]
            return f"{{{field}}}: there is no such form{nearest(field, [name, *tags])}"
        if name not in OWN_FIELDS and name not in stated:
            return f"{{{field}}}: these builds state no {name}"
    return ""


def _examine_relation(relation: Relation, knowledge: Knowledge, known: Dict[str, Page]) -> None:
    where = f"{relation.where}: {relation.id}"
    for what, value, allowed in (
        ("phase", relation.phase, PHASES),
        ("severity", relation.severity, SEVERITIES),
        ("basis", relation.basis, BASES),
    ):
        if value not in allowed:
            raise DocumentError(f"{where}: {what} is one of {', '.join(allowed)}, not {value!r}")
    if relation.finding not in known:
        raise DocumentError(f"{where}: finding: no page is called {relation.finding!r}")
    if not relation.words.get("en", {}).get("summary"):
        raise DocumentError(f"{where}: words: en: summary: is missing")
    for texts in relation.words.values():
        other = next((part for part in texts if part not in _PARTS), None)
        if other is not None:
            raise DocumentError(f"{where}: words: {other!r} is none of {', '.join(_PARTS)}")
    for text in (relation.condition, relation.needs):
        if text:
            try:
                compile_expression(text, knowledge, relation.owner)
            except ExpressionError as error:
                raise DocumentError(f"{where}: {error}") from None


def _examine_words(bound: Bound, knowledge: Knowledge) -> None:
    where = f"{bound.relation.where}: {bound.relation.id}: words"
    for field in _fields(bound.relation):
        name = next((field[len(s) :] for s in SEARCHES if field.startswith(s)), None)
        if name is not None:
            if name != "self" and name.replace("_", "-") not in knowledge.packages:
                raise DocumentError(f"{where}: {{{field}}}: no package is called {name}")
            continue
        inner = re.sub(r"^sm\((.*)\)$", r"\1", field)
        try:
            if inner != FAILING:
                compile_value(inner, knowledge, bound.owner)
        except ExpressionError as error:
            raise DocumentError(f"{where}: {error}") from None


def _fields(relation: Relation) -> Iterator[str]:
    for texts in relation.words.values():
        for template in texts.values():
            yield from fields(template)
    yield from fields(relation.probe)
