"""Files that a distribution's RECORD lists are not on disk."""

from __future__ import annotations

from typing import Iterator, List

from envdoctor.model.facts import Distribution, Target
from envdoctor.model.finding import Evidence
from envdoctor.rules.lookup import (
    fix,
    imported,
    label,
    listed,
    moves_torch,
    name_of,
    on_an_index,
    pip,
    python_says,
)
from envdoctor.rules.rule import Context, Fault

_LISTED = 4
# A training imports neither, and images are slimmed by removing them.
_INSTALLERS = frozenset(["pip", "wheel"])


def examine(context: Context) -> Iterator[Fault]:
    """Report distributions that lack modules or libraries of theirs."""
    target = context.target
    for name, distribution in imported(target).items():
        lost = [m for m in distribution.unimportable if m.isidentifier() and m.isascii()]
        if (
            not (distribution.missing or lost)
            or distribution.editable
            or _twin(distribution, target)
        ):
            continue
        if distribution.installer == "conda" and not lost:
            continue  # its packagers take files out on purpose
        commands = []
        if not moves_torch(name, context.knowledge) and on_an_index(distribution):
            requirement = f"{distribution.name}=={distribution.version}"
            options = ["--force-reinstall", "--no-deps", requirement]
            commands.append(pip(target, "install", *options))
        yield Fault(
            component=label(distribution),
            severity="error" if lost and name not in _INSTALLERS else None,
            words="gone" if lost else "",
            fields={
                "distribution": label(distribution),
                "modules": listed(lost),
                "files": _files(distribution),
                "folder": distribution.search_entry,
            },
            evidence=(
                Evidence(
                    label(distribution), _evidence(distribution), f"{distribution.path}/RECORD"
                ),
            ),
            fixes=fix(*commands),
            verify=tuple(python_says(target, f"import {module}") for module in lost[:1]),
        )


def _twin(distribution: Distribution, target: Target) -> bool:
    """Whether its folder holds metadata of another version too: duplicate-distribution tells it."""
    return any(
        other.version != distribution.version
        and other.search_entry == distribution.search_entry
        and name_of(other) == name_of(distribution)
        for other in target.distributions
    )


def _files(distribution: Distribution) -> str:
    """The first files, and how many more are gone: of a sample, how many at least."""
    shown = distribution.missing[:_LISTED]
    more = distribution.missing_count - len(shown)
    least = " or more" if distribution.looked_for else ""
    return ", ".join(shown) + (f" (+{more}{least})" if more > 0 else "")


def _evidence(distribution: Distribution) -> str:
    texts: List[str] = []
    if distribution.missing:
        texts.append(f"without {_files(distribution)}")
    if distribution.unimportable:
        texts.append(f"nothing serves {listed(distribution.unimportable)}")
    if distribution.looked_for:
        texts.append(f"{distribution.looked_for} of its {distribution.files} files were looked for")
    return "; ".join(texts)
