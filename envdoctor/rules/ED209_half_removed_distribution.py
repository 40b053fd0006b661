"""Files that a distribution's RECORD lists are not on disk, or not whole."""

from __future__ import annotations

from typing import Iterator, List

from envdoctor.model.facts import Distribution, Target
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    again,
    fix,
    label,
    listed,
    name_of,
    python_says,
)
from envdoctor.rules.rule import Context, Fault

_LISTED = 4
# A training imports neither, and images are slimmed by removing them.
_INSTALLERS = frozenset(["pip", "wheel"])


def examine(context: Context) -> Iterator[Fault]:
    """Report distributions that lack modules or libraries of theirs, or have them cut short."""
    target = context.target
    for name, distribution in imported(target).items():
        lost = [m for m in distribution.unimportable if m.isidentifier() and m.isascii()]
        damaged = distribution.missing or distribution.cut or lost
        if not damaged or distribution.editable or _twin(distribution, target):
            continue
        if distribution.installer == "conda" and not lost:
            continue  # its packagers take files out on purpose, and change those that they leave
        absent = [file for file in distribution.missing if file in distribution.needed]
        words = "gone" if lost else "needed" if absent else ""
        if not words and distribution.cut:
            words = "cut"
        grave = (lost or distribution.needed) and name not in _INSTALLERS
        yield Fault(
            component=label(distribution),
            severity="error" if grave else None,
            words=words,
            fields={
                "distribution": label(distribution),
                "modules": listed(lost),
                "files": _files(distribution),
                "cut": listed(distribution.cut),
                "folder": distribution.search_entry,
            },
            evidence=(
                Evidence(
                    label(distribution), _evidence(distribution), f"{distribution.path}/RECORD"
                ),
            ),
            fixes=fix(again(context, distribution)),
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
    if distribution.cut:
        texts.append(f"shorter than listed: {listed(distribution.cut)}")
    if distribution.unimportable:
        texts.append(f"nothing serves {listed(distribution.unimportable)}")
    if distribution.looked_for:
        texts.append(f"{distribution.looked_for} of its {distribution.files} files were looked for")
    return "; ".join(texts)
