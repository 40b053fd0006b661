"""Which modules an import of a package carries out in any case, by its sources. Nothing is run."""

from __future__ import annotations

import os
from typing import Dict, List, Optional, Sequence, Set

from envdoctor.facts.probe import absolute, read_text, sure_imports

_MAX_FILES = 300
_MAX_BYTES = 1 << 20
_MAX_DEPTH = 12


def reaches(path: Sequence[str], module: str, looked: Optional[Dict[str, None]] = None) -> bool:
    """Whether `import x` loads the extension module `x.y.z` for certain.

    Followed are imports that stand at the outermost level of a source: what stands in `try`, `if`
    or a function may not happen, or may be caught. A module that is on top itself is reached. The
    sources that were read are added to `looked`.
    """
    top = module.partition(".")[0]
    if top == module:
        return True
    for entry in path:
        if os.path.isfile(f"{entry}/{top}/__init__.py"):  # noqa: PTH113
            return module in _closure(entry, top, {} if looked is None else looked)
    return False


def _closure(entry: str, top: str, looked: Dict[str, None]) -> Set[str]:
    """The modules of a package that importing it imports, by dotted name."""
    reached: Set[str] = {top}
    waiting: List[str] = [top]
    files = 0
    while waiting and files < _MAX_FILES:
        name = waiting.pop()
        stem = f"{entry}/{name.replace('.', '/')}"
        is_package = os.path.isfile(f"{stem}/__init__.py")  # noqa: PTH113
        path = f"{stem}/__init__.py" if is_package else f"{stem}.py"
        looked[path] = None
        source = read_text(path, [], _MAX_BYTES)
        files += 1
        package = name if is_package else name.rpartition(".")[0]
        for target in sure_imports(source) if source else ():
            full = absolute(target, package)
            parts = full.split(".")[:_MAX_DEPTH]
            if parts[0] != top:
                continue
            for length in range(1, len(parts) + 1):
                part = ".".join(parts[:length])
                if part not in reached:
                    reached.add(part)
                    waiting.append(part)
    return reached
