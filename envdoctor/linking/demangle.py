"""Names of C++ functions as people write them, of mangled ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Dict, List, Sequence

from envdoctor.facts import child

_CHILD = Path(__file__).with_name("demangle_child.py")
_SECONDS = 5.0
_MAX_BYTES = 1 << 20
_LONGEST = 2000
_MOST = 400


def demangled(names: Sequence[str]) -> Dict[str, str]:
    """Each name demangled; those that cannot be are left as they are.

    libstdc++'s own function does it, in a child with a time limit: it is native code, and the names
    are strangers'.
    """
    mangled = [n for n in dict.fromkeys(names) if n.startswith("_Z") and len(n) <= _LONGEST][:_MOST]
    found = {name: name for name in names}
    if not mangled:
        return found
    asked = "\n".join(name for name in mangled if name.isascii() and "\n" not in name)
    done = child.run(
        [sys.executable, "-I", "-S", str(_CHILD)], _SECONDS, _MAX_BYTES, stdin=asked.encode("ascii")
    )
    answers: List[str] = done.stdout.decode("utf-8", "replace").split("\n")
    found.update({name: text for name, text in zip(asked.split("\n"), answers) if text})
    return found
