"""Machines for tests: a folder of files and recorded outputs of commands."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import List, Mapping, Optional, Union

import pytest

from envdoctor.facts.child import Completed
from envdoctor.facts.host import Host

GLIBC = "glibc 2.35"
NO_COMMAND = Completed(None, b"", b"", "no such command")


def lay_out(root: Path, files: Mapping[str, Union[str, bytes, Path]]) -> None:
    """Write files under root: text, bytes, a link (a Path, absolute within root), or a folder."""
    for name, content in files.items():
        place = root / name.lstrip("/")
        if name.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            target = root / str(content).lstrip("/")
            place.symlink_to(os.path.relpath(target, place.parent))
        elif isinstance(content, bytes):
            place.write_bytes(content)
        else:
            place.write_text(content)
        if "/bin/" in name and not place.is_symlink():
            place.chmod(0o755)


def real_host(root: Path, environ: Optional[Mapping[str, str]] = None, **options: str) -> Host:
    """A machine under root whose commands are really started."""
    options = {"architecture": "x86_64", "libc": GLIBC, **options}
    return Host(root=str(root), environ=dict(environ or {}), **options)


def recorded_host(
    root: Path,
    commands: Optional[Mapping[str, Union[str, Completed]]] = None,
    environ: Optional[Mapping[str, str]] = None,
    **options: str,
) -> Host:
    """A machine under root whose commands print what is recorded for the command line.

    A command line is given without the root; what is not recorded does not exist. `host.started`
    is the list of those that were started.
    """
    started: List[str] = []

    def execute(argv, timeout, max_bytes, env=None, stdin=None):
        line = " ".join(argv).replace(str(root), "")
        if "driver_probe.py" in line:  # of the child, what it is asked
            line = "driver_probe.py " + line.rpartition("driver_probe.py ")[2].partition(" ")[0]
        started.append(line)
        done = (commands or {}).get(line, NO_COMMAND)
        return done if isinstance(done, Completed) else Completed(0, done.encode(), b"", "")

    host = real_host(root, environ, **options)
    host.execute = execute
    host.started = started
    return host


def compile_library(place: Path, source: str) -> None:
    """Compile C into a shared object."""
    if shutil.which("gcc") is None:
        pytest.fail("these tests need gcc")
    place.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(place), "-"],
        input=source.encode(),
        check=True,
    )
