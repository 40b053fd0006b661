"""Fewer files may be open than a training with data loaders opens."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault

# Which every Linux gives unless somebody lowers or raises it. Below it, somebody lowered it.
_DEFAULT = 1024
# From so many GPUs in one machine on the default is worth a word.
_MANY = 4


def examine(context: Context) -> Iterator[Fault]:
    """Report a lowered limit, and as information the default one on a machine with many GPUs."""
    limit, gpus = context.facts.machine.open_files, context.facts.accelerator.gpus
    if limit.value is None or "torch" not in imported(context.target):
        return
    many = not gpus.assumed and len(gpus.value or ()) >= _MANY
    if limit.value > _DEFAULT or (limit.value == _DEFAULT and not many) or not gpus.value:
        return
    yield Fault(
        component="ulimit -n",
        severity="warning" if limit.value < _DEFAULT else "info",
        fields={"limit": str(limit.value)},
        evidence=(Evidence("Max open files", str(limit.value), limit.origin),),
        fixes=fix("ulimit -n 65535"),
        verify=("ulimit -n",),
    )
