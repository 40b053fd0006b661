"""What a project's sources use and the builds that are here no longer have, as faults of a page."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Dict, Iterator, List, Optional, Set, Tuple, Union

from packaging.version import Version

from envdoctor.model.facts import InterfaceUse, Project
from envdoctor.model.finding import Evidence
from envdoctor.model.interface import OPTION
from envdoctor.model.language import count, say
from envdoctor.model.versions import try_parse
from envdoctor.relations.components import PYTHON
from envdoctor.relations.components import words as called_by_scope
from envdoctor.relations.environment import imported
from envdoctor.relations.removed import Removed, RemovedInterfaces
from envdoctor.relations.removed import Undecided as NotDecided
from envdoctor.relations.sources import with_tools
from envdoctor.rules.lookup import listed
from envdoctor.rules.rule import Context, Fault, Undecided

Use = Tuple[InterfaceUse, Removed]
#: Interfaces that are told each with its places.
_TOLD = 4
_BY, _BY_NOTHING = "{name} by {instead}", "{name} by nothing (delete the line)"


def called(component: str) -> str:
    """What to call a component before a version: "Python", "mmcv", "CUDA toolkit"."""
    return "Python" if component == PYTHON else called_by_scope(component)


def name_of_project(project: Project) -> str:
    """What to call a project: the name of its folder."""
    return PurePosixPath(project.root).name or project.root


def lacking(
    context: Context, finding: str
) -> Iterator[Union[Tuple[Project, str, List[Use]], Undecided]]:
    """Of each project, the uses that this finding tells of, by the build that lacks them.

    What is not decided, since a version is not known, is told as that.
    """
    # Of a CUDA toolkit, the one that would compile the project here.
    observed = with_tools(context.observed, context.facts)
    removed = RemovedInterfaces(context.knowledge, observed)
    brought = _brought(context)
    for project in context.facts.projects:
        found: Dict[str, List[Use]] = {}
        open_ones: Dict[str, List[str]] = {}
        for use in project.uses:
            if removed.finding(use.interface) != finding:
                continue
            verdict = removed.judge(use.interface)
            if isinstance(verdict, Removed):
                served = verdict.text("served")
                if verdict.text("of") == PYTHON:  # what brings it back: legacy-cgi, zombie-imp
                    served = verdict.name.split(".")[0]
                if served in brought:
                    continue
                found.setdefault(verdict.build, []).append((use, verdict))
            elif isinstance(verdict, NotDecided):
                open_ones.setdefault(verdict.reason, []).append(use.interface)
        for build, uses in found.items():
            yield project, build, uses
        for reason, names in open_ones.items():
            yield Undecided(f"{listed(dict.fromkeys(names))}: {reason}")


def _brought(context: Context) -> Set[str]:
    """Top-level modules that what is installed brings, as far as its metadata tells."""
    target = context.facts.target.value
    if target is None:
        return set()
    return {*target.modules, *(m for d in imported(target).values() for m in d.modules)}


def faults(
    context: Context, finding: str, severity: Optional[str] = None, suffix: str = ""
) -> Iterator[Union[Fault, Undecided]]:
    """One fault for each project and build: what is used, where, and what to write instead."""
    for one in lacking(context, finding):
        yield one if isinstance(one, Undecided) else fault(context, *one, severity, suffix)


def fault(
    context: Context,
    project: Project,
    build: str,
    uses: List[Use],
    severity: Optional[str] = None,
    suffix: str = "",
) -> Fault:
    """What of a project fails with a build."""
    lines = sum(use.count for use, _ in uses)
    instead = {use.interface: removed.text("instead") for use, removed in uses}
    return Fault(
        component=name_of_project(project),
        severity=severity,
        words=suffix,
        fields={
            "project": name_of_project(project),
            "build": build,
            "names": listed(instead),
            "lines": count(context.language, lines, "{number} line", "{number} lines"),
            "instead": listed(
                say(context.language, _BY if other else _BY_NOTHING, name=name, instead=other)
                for name, other in instead.items()
            ),
            "by": next((use.by for use, _ in uses if use.by), ""),
            "standard": _standard(context, uses),
            "since": listed(_since(uses)),
        },
        evidence=tuple(_evidence(context, project, uses)),
    )


def _evidence(context: Context, project: Project, uses: List[Use]) -> Iterator[Evidence]:
    for use, _ in uses[:_TOLD]:
        more = use.count - len(use.places)
        yield Evidence(
            use.interface, ", ".join(use.places) + (f" (+{more})" if more else ""), project.root
        )
    for by in dict.fromkeys(use.by for use, _ in uses if use.by):
        yield Evidence("torch.distributed.launch", by, project.root)
    first = uses[0][1]
    component = first.text("of")
    observed = with_tools(context.observed, context.facts)
    module = component.partition("module.")[2]
    for name in context.knowledge.providers.get(module, ()) if module else (component,):
        if name in observed.evidence:
            yield observed.evidence[name]
    told: Dict[Tuple[str, str], List[str]] = {}
    for _, removed in uses:
        if removed.text("since"):
            since = say(
                context.language,
                "new in {component} {version}",
                component=called(component),
                version=removed.text("since"),
            )
            told.setdefault((since, removed.citation.source), []).append(removed.name)
        if removed.text("gone"):
            changed = removed.text("without") or removed.text("kind") == OPTION
            since = say(
                context.language,
                "changed in {component} {version}"
                if changed
                else "gone since {component} {version}",
                component=called(component),
                version=removed.text("gone"),
            )
            told.setdefault((since, removed.citation.source), []).append(removed.name)
    for (since, source), names in told.items():
        cited = say(context.language, "source: {source}", source=source)
        yield Evidence(listed(dict.fromkeys(names)), since, cited)


def _since(uses: List[Use]) -> List[str]:
    """The oldest releases that have all that is used: "Python 3.10"."""
    least: Dict[str, Version] = {}
    for _, removed in uses:
        since = try_parse(removed.text("since"))
        if since is not None:
            component = called(removed.text("of"))
            least[component] = max(since, least.get(component, since))
    return [f"{component} {version}" for component, version in least.items()]


def _standard(context: Context, uses: List[Use]) -> str:
    """The C++ standard that the headers of the build need, where that is what fails."""
    component = uses[0][1].text("of")
    found = {
        getattr(build, "attributes", {}).get("cxx")
        for build in context.observed.domains.get(component, ())
    }
    known = sorted(str(one) for one in found if one is not None)
    return f"C++{known[0]}" if known else "C++"
