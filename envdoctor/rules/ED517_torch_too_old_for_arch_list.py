"""CUDA sources are to be compiled for what torch's extension builder does not know."""

from __future__ import annotations

import re
from typing import Iterator, List, Optional, Set, Tuple

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import parse, series
from envdoctor.rules.builds import compiling, evidence, for_cuda, is_certain, names
from envdoctor.rules.lookup import fix, listed
from envdoctor.rules.rule import Context, Fault

_LIST = "TORCH_CUDA_ARCH_LIST"
#: From here on it compiles for the newest architecture that torch has code for instead.
_CLAMPS = parse("1.8")


def examine(context: Context) -> Iterator[Fault]:
    """Report what no torch that may be installed takes; nvcc is not asked then."""
    due = [one for one in for_cuda(context) if one in compiling(context, "cuda")]
    found = _of_torch(context)
    if not due or found is None:
        return
    torch, rows = found
    stated = context.target.environ.get(_LIST, "")
    if stated:
        wanted, origin = stated, "environment variable"
        unknown = [one for one in _entries(stated) if not any(one in row for row in rows)]
    else:
        if torch.version is None or torch.version >= _CLAMPS:
            return
        wanted, origin = "", context.facts.accelerator.gpus.origin
        unknown = [cc for cc in _capabilities(context) if not any(cc in row for row in rows)]
    if not unknown:
        return
    yield Fault(
        component=str(torch),
        severity="error" if is_certain(due) else "warning",
        words="" if stated else "gpu",
        fields={"builds": names(due), "torch": str(torch), "unknown": listed(unknown)},
        evidence=(
            Evidence(_LIST if stated else "GPU", wanted or ", ".join(unknown), origin),
            Evidence("torch", torch.label, torch.origin),
            *evidence(due),
        ),
        fixes=fix(),
    )


def _of_torch(context: Context) -> Optional[Tuple[Build, List[Set[str]]]]:
    """The newest torch that it may be, and what the builders of all of them know."""
    table = context.knowledge.tables.get("builder")
    builds = [b for b in context.observed.domains.get("torch", ()) if isinstance(b, Build)]
    if table is None or not builds:
        return None
    rows = []
    for number in {series(b.version) if b.version is not None else None for b in builds}:
        row = table.rows.get(number) if isinstance(number, Version) else None
        if row is None:
            return None
        known: Set[str] = set()
        for column in ("arches", "names"):
            value = row.get(column)
            known.update(value if isinstance(value, tuple) else ())
        rows.append(known)
    return max(builds, key=lambda b: b.version or parse("0")), rows


def _entries(stated: str) -> List[str]:
    """The entries of a list, each without its +PTX."""
    words = [word for word in re.split(r"[;\s]+", stated) if word]
    return [word[: -len("+PTX")] if word.endswith("+PTX") else word for word in words]


def _capabilities(context: Context) -> List[str]:
    gpus = context.facts.accelerator.gpus.value or ()
    return list(dict.fromkeys(g.compute_capability for g in gpus if g.compute_capability))
