"""Sources whose setup.py imports what they do not declare, so that pip's build has it not."""

from __future__ import annotations

from typing import Iterator

from envdoctor.rules.builds import evidence, in_two_steps, is_isolated, names
from envdoctor.rules.lookup import fix, listed
from envdoctor.rules.rule import Context, Fault

#: What every build environment had until setuptools 82; relations speak of that.
_OF_SETUPTOOLS = "pkg_resources"


def examine(context: Context) -> Iterator[Fault]:
    """Report builds that need something else than torch: of those that need torch ED515 speaks."""
    isolated = is_isolated(context)
    if isolated is None:
        return
    for one in context.sources:
        missing = [name for name in one.lists("imports") if name != _OF_SETUPTOOLS]
        if not missing or "torch" in missing:
            continue
        yield Fault(
            component=str(one.build),
            severity="warning" if isolated else "info",
            fields={"build": names([one]), "missing": listed(missing)},
            evidence=evidence([one]),
            fixes=fix(*in_two_steps(context, one)),
        )
