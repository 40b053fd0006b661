"""A package at the root of a project comes before an installed one of another version."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.facts import Distribution, Project
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported, inside
from envdoctor.rules.lookup import evidence, fix, label, name_of
from envdoctor.rules.project import name_of_project
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report what is imported in place of an installed package when Python starts there."""
    for project in context.facts.projects:
        for package, version in project.packages.items():
            for distribution in imported(context.target).values():
                if not _brings(context, distribution, package) or _is_of(distribution, project):
                    continue
                own, installed = try_parse(version), try_parse(distribution.version)
                if own is None or installed is None or own == installed:
                    continue
                yield Fault(
                    component=label(distribution),
                    fields={
                        "project": name_of_project(project),
                        "package": package,
                        "version": version,
                        "installed": label(distribution),
                    },
                    evidence=(
                        Evidence(f"{package} of the tree", version, f"{project.root}/{package}"),
                        evidence(distribution),
                    ),
                    fixes=fix(),
                )


def _brings(context: Context, distribution: Distribution, package: str) -> bool:
    known = context.knowledge.packages.get(name_of(distribution))
    return package in distribution.modules or (known is not None and package in known.modules)


def _is_of(distribution: Distribution, project: Project) -> bool:
    """Whether it is a tree installed in place, or lies in this one."""
    return bool(distribution.editable) or inside(distribution.search_entry, project.root)
