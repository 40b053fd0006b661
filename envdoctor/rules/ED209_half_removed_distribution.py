"""Files that a distribution's RECORD lists are not on disk."""

from __future__ import annotations

import re
from typing import Iterator, List

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import local_part
from envdoctor.rules.lookup import fix, imported, label, listed, moves_torch, pip
from envdoctor.rules.rule import Context, Fault

_CODE = re.compile(r"\.(?:py|so(?:\.[0-9.]+)?)$")
# Images are slimmed by removing these.
_SPARE = re.compile(r"(?:^|/)(?:tests?|testing|docs?|examples?|benchmarks?)/|\.dist-info/")


def examine(context: Context) -> Iterator[Fault]:
    """Report distributions that lack modules or libraries of theirs."""
    for name, distribution in imported(context.target).items():
        gone = [p for p in distribution.missing if _CODE.search(p) and not _SPARE.search(p)]
        if not gone or distribution.editable:
            continue
        modules = _modules_gone(distribution)
        if distribution.installer == "conda" and not modules:
            continue  # its packagers take files out on purpose
        commands = []
        if not moves_torch(name, context.knowledge) and not local_part(distribution.version):
            requirement = f"{distribution.name}=={distribution.version}"
            options = ["--force-reinstall", "--no-deps", requirement]
            commands.append(pip(context.target, "install", *options))
        yield Fault(
            component=label(distribution),
            severity="error" if modules else None,
            words="gone" if modules else "",
            fields={
                "distribution": label(distribution),
                "modules": listed(modules),
                "files": listed(gone),
                "folder": distribution.search_entry,
            },
            evidence=(
                Evidence(
                    label(distribution), f"without {listed(gone)}", f"{distribution.path}/RECORD"
                ),
            ),
            fixes=fix(*commands),
        )


def _modules_gone(distribution: Distribution) -> List[str]:
    """Top-level packages whose own __init__ is missing; a copy elsewhere may serve them."""
    if distribution.shadowed_by:
        return []
    return [m for m in distribution.modules if f"{m}/__init__.py" in distribution.missing]
