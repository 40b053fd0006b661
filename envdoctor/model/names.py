"""Names of projects. packaging has the same, in a module whose imports cost a check 5 ms."""

from __future__ import annotations

import functools
import re

_SIGNS = re.compile(r"[-_.]+")


@functools.lru_cache(maxsize=None)
def canonical(name: str) -> str:
    """A project's name as PEP 503 normalises it: "foo-bar" of "Foo_.Bar"."""
    return _SIGNS.sub("-", name).lower()
