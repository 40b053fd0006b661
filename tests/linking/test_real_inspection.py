"""Real torches, against readelf and the loader's own trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from truth import loaded_by, of_inspection, of_readelf, vdso

from envdoctor.elf.image import ElfError
from envdoctor.elf.library import open_library
from envdoctor.facts import target
from envdoctor.facts.target import Choice
from envdoctor.linking.inspection import inspect


@pytest.mark.real
@pytest.mark.parametrize("wanted", ["torch==2.13.0", "torch==2.4.1 numpy<2"])
def test_torch(tmp_path: Path, wanted: str) -> None:
    """All libraries of a real torch, against readelf and the loader's own trace.

    PyPI's 2.4.1 is compiled for CUDA and brings NVIDIA's wheels.
    """
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=300)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--only-binary", ":all:", *wanted.split()],
        check=True, timeout=1500,
    )  # fmt: skip
    observed = target.observe(Choice(str(python), "--python"), dict).value
    assert observed is not None
    assert observed.torch is not None
    folder = Path(observed.torch.path)
    checked = 0
    for path in sorted([*folder.glob("lib/*.so*"), *folder.glob("*.so")]):
        try:
            open_library(str(path)).close()
        except ElfError:
            continue
        one = inspect(str(path), observed)
        assert of_inspection(one) == of_readelf(path)
        code, said, files = loaded_by(str(python), path, "import torch")
        assert (one.outcome == "loads") == (code == 0), said
        if code == 0:
            loaded = {os.path.realpath(needed.path) for needed in one.loaded}
            assert loaded <= files | vdso(one)
        checked += 1
    assert checked >= 5
