"""Carries out statements in an environment and says what came of each."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from case import WORKS, Lab

_TRY = """
import json, sys
try:
    exec(sys.argv.pop(), {"__name__": "__main__"})
except BaseException as error:
    said = str(error)
    if error.__cause__ is not None:
        said += " <- " + str(error.__cause__)
    print("\\n" + json.dumps([type(error).__name__, said]))
    sys.exit(9)
"""


def tried(lab: Lab, statement: str, home: Path) -> str:
    """WORKS, "ImportError: what it said", or how the process ended; in a process of its own.

    What the error was raised from follows after an arrow.
    """
    done = subprocess.run(
        [lab.python, "-c", _TRY, statement],
        cwd=lab.folder or home,
        env={"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", **lab.environ},
        capture_output=True,
        timeout=300,
        check=False,
    )
    if done.returncode == 0:
        return WORKS
    if done.returncode == 9:
        kind, text = json.loads(done.stdout.splitlines()[-1])
        return f"{kind}: {text}"
    said = done.stderr.decode(errors="replace").strip()[-2000:]
    return f"exit status {done.returncode}: {said}"


def agrees(outcome: str, recorded: str) -> bool:
    """Whether an outcome is as recorded: its class, and the parts of its text in that order."""
    if WORKS in (outcome, recorded):
        return outcome == recorded
    kind, _, text = recorded.partition(": ")
    if not outcome.startswith(f"{kind}: "):
        return False
    at = len(kind)
    for part in text.split(" ... "):
        at = outcome.find(part, at)
        if at < 0:
            return False
    return True
