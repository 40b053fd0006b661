"""Folders that .gitmodules names are missing or empty."""

from __future__ import annotations

import shlex
from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.rules.lookup import fix, listed
from envdoctor.rules.project import name_of_project
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report the submodules of each project that were not fetched."""
    for project in context.facts.projects:
        if project.submodules:
            yield Fault(
                component=name_of_project(project),
                fields={
                    "project": name_of_project(project),
                    "names": listed(project.submodules),
                },
                evidence=tuple(
                    Evidence(folder, place, project.root)
                    for folder, place in list(project.submodules.items())[:4]
                ),
                fixes=fix(
                    shlex.join(
                        ["git", "-C", project.root, "submodule", "update", "--init", "--recursive"]
                    )
                ),
            )
