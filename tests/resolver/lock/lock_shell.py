"""Runs a script with tools that do nothing, and says with what they were called."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import List

_LOG = (
    'for word in "${0##*/}" "$@"; do printf "%s\\0" "$word"; done >>"$LOG"\nprintf "\\n" >>"$LOG"\n'
)
_LAST = "for last; do :; done\n"
#: Tools of the system without which no script can be read.
_REAL = ("awk", "cat", "cp", "env", "mkdir", "mktemp", "rm", "touch")
_STUBS = {
    # `python -c` unpacks sources into its last argument.
    "python": f'{_LOG}[ "$1" = -c ] || exit 0\n{_LAST}mkdir -p "$last/sources"\n',
    "envdoctor": _LOG,
    "patch": _LOG,
    "nvcc": "echo release 11.8, V11.8.0\n",
    "sed": "echo 11\n",
    "getconf": "echo 2\n",
    "uv": f'{_LOG}{_LAST}mkdir -p "$last/bin"\ncp "$STUB" "$last/bin/python"\n',
}


def called(script: str, folder: Path, *arguments: str, **environ: str) -> List[List[str]]:
    """Run a script in `folder`; the calls of its tools, each with its arguments.

    Paths in its temporary folder and in `folder` are told from there on.
    """
    tools = folder / "tools"
    if not tools.exists():
        tools.mkdir()
        for name in _REAL:
            (tools / name).symlink_to(shutil.which(name, path="/usr/bin:/bin") or name)
        for name, body in _STUBS.items():
            (tools / name).write_text("#!/bin/sh\n" + body, encoding="utf-8")
            (tools / name).chmod(0o755)
    log = folder / "log"
    log.write_bytes(b"")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / "install.sh").write_text(script, encoding="utf-8")
    shutil.rmtree(folder / "env", ignore_errors=True)
    subprocess.run(
        ["/bin/sh", "install.sh", *arguments],
        cwd=str(folder),
        env={
            "PATH": str(tools),
            "LOG": str(log),
            "STUB": str(tools / "python"),
            "TMPDIR": str(work),
            **environ,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert list(work.iterdir()) == [], "the script leaves its temporary folder behind"
    calls = log.read_bytes().decode().split("\0\n")[:-1]
    return [[_short(word, folder) for word in call.split("\0")] for call in calls]


def _short(word: str, folder: Path) -> str:
    """A path in the temporary folder as "WORK/...", in the folder of the test as "HERE/..."."""
    work = f"{folder}/work/"
    if word.startswith(work):
        return "/".join(["WORK", *word[len(work) :].split("/")[1:]])
    return word.replace(str(folder), "HERE")
