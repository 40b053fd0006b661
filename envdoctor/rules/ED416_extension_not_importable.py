"""The compiled part of a package cannot be imported, by the package's own report."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
    label,
    name_of,
    python_says,
)
from envdoctor.rules.rule import Context, Fault

#: Modules with the compiled part of a package.
_MODULES = {"detectron2": "detectron2._C"}


def examine(context: Context) -> Iterator[Fault]:
    """Report what importing it said, and what that means."""
    for distribution in imported(context.target).values():
        said = distribution.import_error
        if not said:
            continue
        module = _MODULES.get(name_of(distribution), name_of(distribution))
        modules = dict.fromkeys(("torch", module))
        yield Fault(
            component=label(distribution),
            # whoever ran the command may have meant another Python
            severity="warning" if name_of(distribution) == "torch" else None,
            words="torch" if name_of(distribution) == "torch" else _kind(said),
            fields={"distribution": label(distribution), "module": module, "said": said},
            evidence=(Evidence(f"import {module}", said, distribution.path),),
            fixes=fix(),
            verify=(python_says(context.target, f"import {', '.join(modules)}"),),
        )


def _kind(said: str) -> str:
    if "undefined symbol" in said:
        return "symbol"
    if "(you have " in said:
        return "other"
    if "cannot open shared object file" in said:
        return "library"
    return ""
