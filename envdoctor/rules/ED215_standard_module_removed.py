"""A distribution imports what the standard library of this Python no longer has."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import fix, is_needed, label, listed, pip, python_says, sees_all
from envdoctor.rules.rule import Context, Fault

#: Of these, relations of their own say it.
_TOLD = frozenset(["pip", "setuptools"])


def examine(context: Context) -> Iterator[Fault]:
    """Report each distribution whose import fails for want of such a module."""
    target = context.target
    if not sees_all(target):
        return
    installed = imported(target)
    for name, distribution in installed.items():
        if not distribution.removed or distribution.shadowed_by or name in _TOLD:
            continue
        first = next(iter(distribution.removed.values()))
        module = first.partition("/")[0].partition(".")[0]
        only_distutils = list(distribution.removed) == ["distutils"]
        lent = only_distutils and "setuptools" not in installed
        yield Fault(
            component=label(distribution),
            severity="error" if is_needed(distribution, context) else None,
            words="lent" if lent else "",
            fields={
                "distribution": label(distribution),
                "module": module,
                "removed": listed(distribution.removed),
                "python": target.version,
                "file": first,
            },
            evidence=tuple(
                Evidence(
                    label(distribution), f"import {gone}", f"{distribution.search_entry}/{file}"
                )
                for gone, file in distribution.removed.items()
            ),
            fixes=fix(pip(target, "install", "setuptools") if lent else ""),
            verify=(python_says(target, f"import {module}"),) if module.isidentifier() else (),
        )
