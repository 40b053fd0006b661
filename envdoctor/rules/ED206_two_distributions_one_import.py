"""Two installed distributions own the same import name, so their files overwrite each other."""

from __future__ import annotations

from typing import Iterator, List, Optional

from envdoctor.model.facts import Distribution
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    evidence,
    fix,
    label,
    listed,
    moves_torch,
    name_of,
    on_an_index,
    pip,
)
from envdoctor.rules.rule import Context, Fault

#: Import names of which several flavours at one version work beside each other: their common
#: files are the same (opencv: measured, and some projects ask for two).
_INTERCHANGEABLE = frozenset(["cv2"])
#: Import names that a rule of their own speaks of: spconv-cumm-mismatch.
_JUDGED_ELSEWHERE = frozenset(["spconv", "cumm"])


def examine(context: Context) -> Iterator[Fault]:
    """Report import names that several distributions of one folder bring."""
    installed = imported(context.target)
    for module, providers in context.knowledge.providers.items():
        if module in _JUDGED_ELSEWHERE:
            continue
        owners = [installed[name] for name in sorted(providers) if name in installed]
        folders = {owner.search_entry for owner in owners}
        if len(owners) > 1 and len(folders) == 1:  # in several, one shadows the other
            yield _shared(context, module, owners)


def _shared(context: Context, module: str, owners: List[Distribution]) -> Fault:
    same = len({_release(owner.version) for owner in owners}) == 1
    harmless = same and module in _INTERCHANGEABLE
    names = [name_of(owner) for owner in owners]
    commands = []
    if not harmless and not any(owner.installer == "conda" for owner in owners):
        commands.append(pip(context.target, "uninstall", "-y", *names))
        kept = owners[0]
        if not moves_torch(name_of(kept), context.knowledge) and on_an_index(kept):
            commands.append(pip(context.target, "install", f"{kept.name}=={kept.version}"))
    return Fault(
        component=label(owners[0]),
        severity="info" if harmless else "warning",
        words="same" if harmless else "",
        fields={
            "module": module,
            "first": label(owners[0]),
            "others": listed(label(owner) for owner in owners[1:]),
        },
        evidence=tuple(evidence(owner) for owner in owners),
        fixes=fix(*commands),
    )


def _release(version: str) -> Optional[str]:
    """The first three numbers: a fourth counts the builds of one release."""
    parsed = try_parse(version)
    return None if parsed is None else ".".join(map(str, parsed.release[:3]))
