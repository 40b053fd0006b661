"""What transformers looks up when it is imported is there in another version."""

from __future__ import annotations

from typing import Dict, Iterator, List

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import is_development, try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    evidence,
    fix,
    import_names,
    label,
    moves_torch,
    name_of,
    on_an_index,
    pip,
    python_says,
)
from envdoctor.rules.requirements import agree, meets, narrowest, parse
from envdoctor.rules.rule import Context, Fault

#: What it passes over where their metadata is not there.
_OPTIONAL = frozenset(["tokenizers", "accelerate"])


def examine(context: Context) -> Iterator[Fault]:
    """Report each version that its own table excludes, but for those that relations judge."""
    installed = imported(context.target)
    for name, checker in installed.items():
        judged = _judged(name, checker, context)
        for project, wanted in checker.checks.items():
            held = installed.get(project)
            if held is None:
                yield from _without_metadata(context, checker, project, wanted, installed)
            elif project not in judged and meets(held.version, wanted) is False:
                yield _out_of_range(context, checker, held, wanted, installed)


def _judged(name: str, checker: Distribution, context: Context) -> List[str]:
    """What the matrices have of the release: relations judge that, and find the way out."""
    package = context.knowledge.packages.get(name)
    version = try_parse(checker.version)
    if package is None or version is None or is_development(checker.version):
        return []
    return [a.replace("_", "-") for b in package.builds(version) for a in b.attributes]


def _out_of_range(
    context: Context,
    checker: Distribution,
    held: Distribution,
    wanted: str,
    installed: Dict[str, Distribution],
) -> Fault:
    name = name_of(held)
    commands = []
    if on_an_index(held):
        commands.append(_install(context, name, wanted, installed))
    return Fault(
        component=label(held),
        fields={
            "checker": label(checker),
            "distribution": label(held),
            "wanted": f"{name}{wanted}",
        },
        evidence=(
            evidence(held),
            Evidence(label(checker), f"looks for {name}{wanted}", _table(checker)),
        ),
        fixes=fix(*commands),
        verify=(python_says(context.target, f"import {_module(checker)}"),),
    )


def _without_metadata(
    context: Context,
    checker: Distribution,
    project: str,
    wanted: str,
    installed: Dict[str, Distribution],
) -> Iterator[Fault]:
    """What is there as a module, but of which no metadata tells the version."""
    modules = context.target.modules
    there = next((m for m in import_names(project) if m in modules), "")
    if not there or project in _OPTIONAL:
        return
    yield Fault(
        component=project,
        words="unlisted",
        fields={
            "checker": label(checker),
            "wanted": f"{project}{wanted}",
            "place": modules[there],
        },
        evidence=(
            Evidence(project, "no metadata", modules[there]),
            Evidence(label(checker), f"looks for {project}{wanted}", _table(checker)),
        ),
        fixes=fix(_install(context, project, wanted, installed)),
        verify=(python_says(context.target, f"import {_module(checker)}"),),
    )


def _install(context: Context, name: str, wanted: str, installed: Dict[str, Distribution]) -> str:
    """The command for a version that fits here, and what others require if one does for all."""
    if moves_torch(name, context.knowledge):
        return ""
    parsed = [parse(text) for one in installed.values() for text in one.requires]
    wishes = [wanted, *(r.specifier for r in parsed if r is not None and r.name == name)]
    stated = [text for text in dict.fromkeys(wishes) if text]
    specifier = narrowest(stated) if agree(stated) else wanted
    return pip(context.target, "install", name + specifier.replace(" ", ""))


def _module(checker: Distribution) -> str:
    return name_of(checker).replace("-", "_")


def _table(checker: Distribution) -> str:
    return f"{checker.search_entry}/{_module(checker)}/dependency_versions_table.py"
