"""Stacks from a question to an environment that works: resolved, locked, installed, imported.

What is installed is what the lock says and nothing else. Where a bound is asserted, metadata alone
would take what the binaries, or a command, cannot work with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence, Tuple

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.actions.installer import find_tool
from envdoctor.actions.settings import for_uv, of_pip

sys.path.insert(0, str(Path(__file__).parent.parent / "acceptance"))

from environments import ROOT, find_interpreter

pytestmark = pytest.mark.real

_LISTED = (
    "import json; from importlib.metadata import distributions; "
    "print(json.dumps({d.metadata['Name']: d.version for d in distributions()}))"
)


class Case(NamedTuple):
    python: str
    form: str
    wanted: Tuple[str, ...]
    works: str  # what is run in the environment
    bounds: Dict[str, str]  # what is installed must be within


CASES = {
    "numba-0.56": Case(
        "3.8",
        "requirements",
        ("numba==0.56.4", "numpy", "scipy", "pandas", "scikit-learn"),
        "import numba, numpy, scipy.spatial, pandas, sklearn.cluster; "
        "assert numba.njit(lambda x: x.sum())(numpy.ones(3)) == 3",
        {"numpy": "<1.24"},
    ),
    "nuscenes": Case(
        "3.8",
        "script",
        ("nuscenes-devkit==1.1.11", "matplotlib"),
        "import matplotlib; matplotlib.use('Agg'); import nuscenes.nuscenes, pyquaternion",
        {"matplotlib": "<3.6", "numpy": "<2"},
    ),
    "tensorboard-opencv": Case(
        "3.9",
        "pylock",
        (
            *("tensorboard==2.9.1", "protobuf", "pillow", "opencv-python-headless==4.5.5.64"),
            # Its command imports six, which nothing that it requires brings any more.
            *("numpy", "six>=1.9"),
        ),
        "import cv2, numpy, PIL.Image, tensorboard.main, tensorboard.summary.v2; "
        "assert cv2.blur(numpy.ones((4, 4)), (2, 2)).sum() == 16",
        {"numpy": "<2", "protobuf": "<3.20", "setuptools": "<82"},
    ),
    "onnx-1.12": Case(
        "3.9",
        "requirements",
        ("onnx==1.12.0", "protobuf", "scikit-image"),
        "import onnx.helper, skimage.measure; onnx.helper.make_node('Relu', ['x'], ['y'])",
        {"protobuf": "<=3.20.1"},
    ),
    "transformers": Case(
        "3.10",
        "script",
        ("transformers==4.40.2", "tokenizers", "huggingface-hub", "safetensors", "numpy"),
        "import transformers, tokenizers, safetensors.numpy; transformers.BertConfig()",
        {"tokenizers": "<0.20", "huggingface-hub": "<1"},
    ),
    "paddle": Case(
        "3.10",
        "pylock",
        ("paddlepaddle==2.6.2", "numpy", "protobuf"),
        "import paddle; assert float(paddle.to_tensor([1.0, 2.0]).sum()) == 3",
        {},
    ),
    "numpy-2": Case(
        "3.12",
        "requirements",
        ("numba", "numpy>=2", "shapely", "pyarrow"),
        "import numba, numpy, pyarrow, shapely; assert shapely.Point(0, 0).buffer(1).area > 3; "
        "assert numba.njit(lambda x: x.sum())(numpy.ones(3)) == 3",
        {"numpy": ">=2"},
    ),
}
_FILES = {
    "requirements": "requirements.txt",
    "pylock": "pylock.toml",
    "script": "install.sh",
}


def run(command: Sequence[str], env: Dict[str, str], code: int = 0) -> str:
    """What a command prints; it must end with that code."""
    done = subprocess.run(
        command, cwd=str(ROOT), env=env, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-4000:]
    return done.stdout


def install(case: Case, lock: Path, base: str, folder: Path, env: Dict[str, str]) -> None:
    """Make the environment from the lock alone."""
    if case.form == "script":
        found = {**env, "PATH": os.pathsep.join([str(Path(base).parent), env["PATH"]])}
        run(["sh", str(lock), str(folder)], found)
        return
    run([base, "-I", "-m", "venv", str(folder)], env)
    python = str(folder / "bin" / "python")
    if case.form == "pylock":
        tool = find_tool(["uv"])
        assert tool is not None, "install uv for these"
        run([*tool.argv, "pip", "install", "--python", python, "-r", str(lock)], env)
    else:
        run([python, "-m", "pip", "install", "--no-deps", "-r", str(lock)], env)


@pytest.mark.parametrize("name", CASES)
def test_what_is_locked_works(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    base = find_interpreter(case.python)
    assert base is not None, f"needs a CPython {case.python}"
    env = for_uv(of_pip(), os.environ)
    doctor: List[str] = [sys.executable, "-m", "envdoctor"]
    lock, folder = tmp_path / _FILES[case.form], tmp_path / "env"
    resolve = [*doctor, "resolve", *case.wanted, "--target", "venv", "--python", base]
    run([*resolve, "--assume", f"python={case.python}", "--lock", case.form, "-o", str(lock)], env)

    install(case, lock, base, folder, env)
    python = str(folder / "bin" / "python")
    run([python, "-I", "-c", case.works], env)
    listed = json.loads(run([python, "-I", "-c", _LISTED], env))
    installed = {canonicalize_name(package): version for package, version in listed.items()}
    for package, allowed in case.bounds.items():
        assert installed[package] in SpecifierSet(allowed)

    told = run([*doctor, "check", "--python", python, "--format", "json"], env)
    findings = json.loads(told)["findings"]
    assert [one for one in findings if one["severity"] != "info"] == []
