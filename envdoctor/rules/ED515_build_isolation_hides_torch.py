"""Sources whose setup.py needs torch, which pip builds in an environment without it."""

from __future__ import annotations

from typing import Iterator

from envdoctor.rules.builds import evidence, in_two_steps, is_isolated, names
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report builds that stop without torch, and those that leave something out."""
    isolated = is_isolated(context)
    if isolated is None:
        return
    severity = "warning" if isolated else "info"
    for one in context.sources:
        left_out = one.needs("without_torch")
        stops = "torch" in one.lists("imports")
        if not stops and not isinstance(left_out, str):
            continue
        yield Fault(
            component=str(one.build),
            severity=severity,
            words="" if stops else "less",
            fields={"build": names([one])},
            evidence=evidence([one]),
            fixes=fix(*in_two_steps(context, one)),
        )
