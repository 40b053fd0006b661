"""Something else is imported in place of modules of the standard library."""

from __future__ import annotations

from typing import Dict, Iterator, List

from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import inside
from envdoctor.rules.lookup import (
    fix,
    folder_of,
    listed,
    python_says,
)
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report the folders that come before the standard library and have modules of its names."""
    target = context.target
    folders: Dict[str, List[str]] = {}
    for module, place in target.standard.items():
        folders.setdefault(folder_of(place), []).append(module)
    for folder, modules in folders.items():
        from envdoctor.facts.probe import VITAL  # a large file, of use only where there is a fault

        vital = [module for module in modules if module in VITAL]
        # What is not on the path is so for scripts of that folder alone.
        on_path = any(inside(folder, entry) for entry in target.path)
        first = (vital or modules)[0]
        yield Fault(
            component=first,
            severity=("error" if vital else "warning") if on_path else "info",
            words="" if on_path else "here",
            fields={
                "module": first,
                "modules": listed(modules),
                "folder": folder,
                "place": target.standard[first],
            },
            evidence=tuple(
                Evidence(f"import {module}", target.standard[module], "the search path")
                for module in modules
            ),
            fixes=fix(),
            verify=(python_says(target, f"import {first}; print({first}.__file__)"),),
        )
