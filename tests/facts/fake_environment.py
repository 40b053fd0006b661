"""Environments for tests: real virtual environments whose packages are written by hand."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Union

import msgspec
import pytest

from envdoctor.facts import child, probe
from envdoctor.knowledge.load import load
from envdoctor.model.facts import Target

PROBE = Path(probe.__file__).read_bytes()
PROVIDERS = msgspec.json.encode(load().providers).decode()


@functools.lru_cache(maxsize=None)
def interpreters() -> list:
    """Return the CPythons 3.6 to 3.14 of this machine as parameters; this one is among them."""
    names = [f"python3.{minor}" for minor in range(6, 15)]
    on_path = [shutil.which(name) for name in names]
    candidates = [sys.executable, *(path for path in on_path if path and "shims" not in path)]
    root = os.environ.get("PYENV_ROOT", "~/.pyenv")
    for name in names:
        candidates += sorted(map(str, Path(root).expanduser().glob(f"versions/*/bin/{name}")))
    code = "import sys; print(sys.version.split()[0], sys.executable)"
    found: Dict[str, str] = {}
    for candidate in candidates:
        done = child.run([candidate, "-I", "-S", "-c", code], 10, 5000)
        if not done.failure:
            version, path = done.stdout.decode().split(maxsplit=1)
            found.setdefault(version, path.strip())
    return [pytest.param(python, id=version) for version, python in sorted(found.items())]


_temporary = tempfile.TemporaryDirectory()


@functools.lru_cache(maxsize=None)
def _bare_environment(python: str) -> str:
    """Return a virtual environment that nothing has changed, to be copied: making one is slow."""
    folder = tempfile.mkdtemp(dir=_temporary.name)
    command = [python, "-m", "venv", "--without-pip", folder]
    subprocess.run(command, check=True, timeout=60)
    return folder


class Environment:
    """A virtual environment in a folder, made by `python`, without pip."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        shutil.copytree(_bare_environment(python), folder, symlinks=True)
        self.folder = folder
        self.python = str(folder / "bin" / "python")
        (self.site,) = folder.glob("lib/python3*/site-packages")

    def write(self, files: Dict[str, Union[str, bytes]], root: Optional[Path] = None) -> None:
        """Write files by their paths relative to site-packages, or to `root`."""
        for name, content in files.items():
            path = (root or self.site) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def add(
        self,
        name: str,
        version: str,
        files: Optional[Dict[str, Union[str, bytes]]] = None,
        requires: Sequence[str] = (),
    ) -> Path:
        """Install a distribution as pip does; return its dist-info folder."""
        files = files or {}
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {one}\n" for one in requires)
        record = "".join(f"{path},sha256=x,{len(content)}\n" for path, content in files.items())
        record += f"{info}/METADATA,,\n{info}/RECORD,,\n"
        self.write(
            {
                **files,
                f"{info}/METADATA": metadata + "\nA description\n",
                f"{info}/RECORD": record,
                f"{info}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
                f"{info}/INSTALLER": "pip\n",
            }
        )
        return self.site / info

    def probe(self, environ: Optional[Dict[str, str]] = None, cwd: Optional[Path] = None) -> Target:
        """What the probe says of the environment."""
        return probe_of(self.python, {} if environ is None else environ, cwd)


def probe_of(python: str, environ: Dict[str, str], cwd: Optional[Path] = None) -> Target:
    """What the probe says when `python` runs it with these variables alone."""
    done = subprocess.run(
        [python, "-I", "-S", "-B", "-", PROVIDERS], input=PROBE, env=environ, cwd=cwd, timeout=60,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return msgspec.json.decode(done.stdout, type=Target)


def real_path(python: str, environ: Dict[str, str], cwd: Optional[Path] = None) -> List[str]:
    """sys.path of a script, without the script's own folder."""
    done = subprocess.run(
        [python, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"], env=environ, cwd=cwd,
        stdout=subprocess.PIPE, check=True, timeout=60,
    )  # fmt: skip
    return json.loads(done.stdout.decode())
