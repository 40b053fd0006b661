"""Whether matrices that users add hold together with those that ship: their errors, with places.

What ships is held to the same by the tests.
"""

from __future__ import annotations

import re
from typing import Container, Dict, Iterator, Mapping, Sequence, Tuple

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.knowledge.schema import BuildEntry, PackageFile, one_of
from envdoctor.model.build import Build
from envdoctor.model.finding import PHASES, SEVERITIES
from envdoctor.model.relation import BASES, Relation
from envdoctor.model.text import fields, nearest
from envdoctor.model.versions import satisfies, try_parse
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
    for row, problem in gpus_without_architecture(knowledge):
        place = knowledge.rows_added.get(row, "")
        raise DocumentError(f"{place}: {problem}" if place else problem)
    known = {page.name: page for page in pages().values()}
    _examine_findings(knowledge, known)
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


def examine_packages(knowledge: Knowledge, files: Sequence[PackageFile]) -> None:
    """Raise DocumentError for the first thing of files that cannot stand in matrices.

    `knowledge` has them already.
    """
    relations = Relations(knowledge)
    known = {page.name: page for page in pages().values()}
    for file in files:
        _examine_package(file.package, file.builds, knowledge)
        own = {entry.id for entry in file.relations}
        for relation in knowledge.relations:
            if relation.id in own:
                _examine_relation(relation, knowledge, known)
        try:
            bounds = relations.of(file.package)
        except ExpressionError as error:
            raise DocumentError(str(error)) from None
        for bound in bounds:
            if bound.relation.id in own:
                _examine_words(bound, knowledge)


def gpus_without_architecture(knowledge: Knowledge) -> Iterator[Tuple[str, str]]:
    """GPUs, "gpu[x1]", of which no table says what they run, and that in words."""
    gpus, architectures = (knowledge.tables.get(name) for name in ("gpu", "architecture"))
    if gpus is None or architectures is None:
        return
    for key, row in gpus.rows.items():
        capability = row.get("cc")
        if capability is None:
            yield f"gpu[{key}]", f"gpu[{key}]: cc is missing"
        elif capability not in architectures.rows:
            problem = f"cc {capability} has no row in the table architecture"
            yield f"gpu[{key}]", f"gpu[{key}]: {problem}"


def _examine_findings(knowledge: Knowledge, known: Dict[str, Page]) -> None:
    """See that `findings` of packages speak of relations and of pages that there are."""
    shared = [relation.id for relation in knowledge.relations if relation.owner is None]
    for name, package in knowledge.packages.items():
        for relation, finding in package.file.findings.items():
            if relation not in shared:
                near = nearest(relation, shared)
                raise DocumentError(
                    f"{name}: findings: no relation of a platform is called {relation!r}{near}"
                )
            if finding not in known:
                near = nearest(finding, known)
                raise DocumentError(f"{name}: findings: no page is called {finding!r}{near}")


def _is_theirs(relation: Relation, knowledge: Knowledge) -> bool:
    return any(relation.where.startswith(folder) for folder in knowledge.added)


def _examine_packages(knowledge: Knowledge) -> None:
    for name, package in knowledge.packages.items():
        theirs = [
            entry
            for entry in package.file.builds
            if any(package.place(entry.id).startswith(folder) for folder in knowledge.added)
        ]
        _examine_package(name, theirs, knowledge)


def _examine_package(name: str, theirs: Sequence[BuildEntry], knowledge: Knowledge) -> None:
    """See that entries of builds, and what their package requires, can be taken."""
    package = knowledge.packages[name]
    unknown = [one for one in package.requires if one not in knowledge.packages]
    if unknown:
        raise DocumentError(f"{name}: requires: the matrices have no package {unknown[0]!r}")
    if not theirs:
        return
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
        _examine_versions(entry, package)
        where = f"{package.place(entry.id)}: {entry.id}"
        _one_of(where, "basis", entry.basis, BASES)


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


def _examine_versions(entry: BuildEntry, package: Package) -> None:
    """See that an entry is about releases of its package."""
    where = f"{package.place(entry.id)}: {entry.id}: "
    between = f"releases are known from {package.releases[0]} to {package.newest}"
    if isinstance(entry.versions, str) and not entry.each:
        if not any(satisfies(version, entry.versions) for version in package.releases):
            raise DocumentError(f"{where}versions: {entry.versions!r} is none; {between}")
        return
    for text in entry.each or entry.versions or ():
        if try_parse(text) not in package.releases:
            what = "each" if entry.each else "versions"
            raise DocumentError(f"{where}{what}: {text!r} is none of releases; {between}")


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
        _one_of(where, what, value, allowed)
    if relation.finding not in known:
        near = nearest(relation.finding, known)
        raise DocumentError(f"{where}: finding: no page is called {relation.finding!r}{near}")
    if not relation.words.get("en", {}).get("summary"):
        raise DocumentError(f"{where}: words: en: summary: is missing")
    for texts in relation.words.values():
        other = next((part for part in texts if part not in _PARTS), None)
        if other is not None:
            raise DocumentError(f"{where}: words: {other!r} is none of {', '.join(_PARTS)}")
    _examine_languages(relation, where)
    for text in (relation.condition, relation.needs):
        if text:
            try:
                compile_expression(text, knowledge, relation.owner)
            except ExpressionError as error:
                raise DocumentError(f"{where}: {error}") from None


def _one_of(where: str, what: str, value: str, allowed: Sequence[str]) -> None:
    try:
        one_of(what, value, allowed)
    except ValueError as error:
        raise DocumentError(f"{where}: {error}") from None


def _examine_languages(relation: Relation, where: str) -> None:
    """See that words in Chinese, if there are any, say the same as those in English."""
    for language, texts in relation.words.items():
        if language not in ("en", "zh"):
            raise DocumentError(f"{where}: words: {language!r} is none of en, zh")
        for part, template in texts.items():
            english = relation.words["en"].get(part)
            if english is None:
                raise DocumentError(f"{where}: words: {language}: {part}: en has none")
            differing = sorted(set(fields(template)) ^ set(fields(english)))
            if differing:
                raise DocumentError(
                    f"{where}: words: {language}: {part}: {{{differing[0]}}} stands in one "
                    "language only"
                )


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
