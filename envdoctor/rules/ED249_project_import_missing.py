"""Scripts of a project import modules that nothing here provides."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import fix, listed, sees_all
from envdoctor.rules.project import name_of_project
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report the modules, if the whole search path was seen."""
    target = context.target
    if not sees_all(target):
        return
    # what is installed in place may be served by a finder, and lie in no entry of the path
    served = {module for d in imported(target).values() for module in d.modules}
    served.update(module.split(".")[0] for module in (*target.modules, *target.standard))
    for project in context.facts.projects:
        missing = {m: place for m, place in project.unresolved.items() if m not in served}
        if project.sought and missing:
            yield Fault(
                component=name_of_project(project),
                fields={"project": name_of_project(project), "names": listed(missing)},
                evidence=tuple(
                    Evidence(f"import {module}", place, project.root)
                    for module, place in list(missing.items())[:4]
                ),
                fixes=fix(),
            )
