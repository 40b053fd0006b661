"""What readelf prints of a file, and what the loader really does with it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, Set, Tuple

from envdoctor.model.inspection import Inspection


def readelf(path: Path, *options: str) -> str:
    command = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(
        command, check=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout.decode("utf-8", "replace")  # fmt: skip


def of_readelf(path: Path) -> Dict[str, Any]:
    dynamic, versions, symbols = (readelf(path, o) for o in ("-d", "-V", "--dyn-syms"))
    told: Dict[str, Any] = {"needed": tuple(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))}
    for key in ("SONAME", "RPATH", "RUNPATH"):
        found = re.search(rf"\({key}\).*\[(.*)\]", dynamic)
        told[key.lower()] = found[1] if found else ("" if key == "SONAME" else None)
    needs: Dict[str, Set[str]] = {}
    file = ""
    for line in versions.partition("Version needs section")[2].splitlines():
        of = re.search(r"File: (\S+)", line)
        file = of[1] if of else file
        name = re.search(r"Name: (\S+)", line)
        if name:
            needs.setdefault(file, set()).add(name[1])
    told["versions"] = needs
    undefined = re.findall(
        r"^\s*\d+: .*? (GLOBAL|WEAK)\s+DEFAULT.*? UND +\S", symbols, re.MULTILINE
    )
    told["undefined"] = (undefined.count("GLOBAL"), undefined.count("WEAK"))
    found = re.search(r"Build ID: (\w+)", readelf(path, "-n"))
    told["build_id"] = found[1] if found else ""
    return told


def of_inspection(one: Inspection) -> Dict[str, Any]:
    return {
        "needed": one.needed,
        "soname": one.soname,
        "rpath": one.rpath,
        "runpath": one.runpath,
        "versions": {of.library: {*of.versions, *of.weak} for of in one.versions},
        "undefined": (one.undefined, one.weak),
        "build_id": one.build_id,
    }


def loaded_by(python: str, path: Path, before: str = "") -> Tuple[int, str, Set[str]]:
    """What the loader itself does: the status, what it says, and the files that it initializes."""
    statement = f"{before}\nimport ctypes, os; ctypes.CDLL({str(path)!r}, os.RTLD_NOW)"
    done = subprocess.run(
        [python, "-c", statement], timeout=120, check=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env={**os.environ, "LD_DEBUG": "files"},
    )  # fmt: skip
    text = done.stderr.decode("utf-8", "replace")
    files = re.findall(r"calling init: (\S+)", text)
    said = [line for line in text.splitlines() if line.startswith("OSError")]
    return done.returncode, "".join(said), {os.path.realpath(file) for file in files}


def vdso(one: Inspection) -> Set[str]:
    """The loader itself is never initialized."""
    return {os.path.realpath(n.path) for n in one.loaded if "ld-linux" in n.name}
