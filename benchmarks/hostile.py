"""CPU time of reading reports that mislead careless patterns, by their length.

What reads a text once takes ten times as long for ten times the text; what begins anew at each
character takes a hundred times as long.
"""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

from envdoctor.facts.pasted import ReportError, parse

TEXTS = Path(__file__).resolve().parent.parent / "tests" / "pasted"

SHORT, LONG = 40_000, 400_000
TURNS = 3


def seconds(text: str) -> float:
    """The least CPU time of a few turns."""
    took = []
    for _ in range(TURNS):
        started = time.process_time()
        with contextlib.suppress(ReportError):
            parse(text)
        took.append(time.process_time() - started)
    return min(took)


def main() -> None:
    """Print the times and how they grow."""
    sys.path.insert(0, str(TEXTS))
    from hostile import MAKERS

    print(f"{'':20} {SHORT:>9,} {LONG:>9,} characters")
    for name, make in MAKERS.items():
        short, long = seconds(make(SHORT)), seconds(make(LONG))
        print(f"{name:20} {short:8.3f}s {long:8.3f}s   {long / max(short, 1e-4):5.1f} times")


if __name__ == "__main__":
    main()
