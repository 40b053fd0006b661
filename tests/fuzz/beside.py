"""Makes modules of the other tests importable: their inputs are what is mutated."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.extend(
    str(TESTS / name) for name in ("", "elf", "facts", "facts/requirements", "pasted", "commands")
)
