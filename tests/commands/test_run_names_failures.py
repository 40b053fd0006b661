"""`envdoctor run` names failures that really happen while it watches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Tuple

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


class Failing(NamedTuple):
    """A command that fails on every machine. `{python}` is the interpreter, {quiet} no index."""

    cause: str  # "" if it is nobody's but the user's
    script: str  # of a POSIX shell
    files: Tuple[Tuple[str, str], ...] = ()
    code: int = 1


_SETUP_TORCH = 'import torch\nfrom setuptools import setup\nsetup(name="ops", version="1.0")\n'
_TRAIN = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("config")
parser.add_argument("--local_rank", type=int)
parser.parse_args()
"""
#: A backend that needs nothing, so that the build is isolated without an index.
_BACKEND = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
_IN_TREE = (
    ("ops/backend.py", "def get_requires_for_build_wheel(settings=None):\n    import torch\n"),
)
_QUIET = "--no-index --disable-pip-version-check"
_OF_ATEN = "_ZNK2at6Tensor8data_ptrIfEEPT_v"

FAILING = {
    "a wheel page is not named": Failing(
        "wheel-page-not-given", "{python} -m pip install {quiet} torch==1.9.1+cu111"
    ),
    "no build for this Python": Failing(
        "python-version-unsupported", "{python} -m pip install {quiet} open3d==0.9.0.0"
    ),
    "a wheel of another Python": Failing(
        "python-version-unsupported",
        "{python} -m pip install {quiet} ./mmcv_full-1.4.0-cp36-cp36m-manylinux1_x86_64.whl",
        (("mmcv_full-1.4.0-cp36-cp36m-manylinux1_x86_64.whl", ""),),
    ),
    "torch is not in the build": Failing(
        "build-isolation-hides-torch",
        "{python} -m pip install {quiet} ./ops",
        (("ops/setup.py", _SETUP_TORCH), ("ops/pyproject.toml", _BACKEND), *_IN_TREE),
    ),
    "torch is not installed": Failing(
        "torch-not-installed", "{python} setup.py bdist_wheel", (("setup.py", _SETUP_TORCH),)
    ),
    "a module is not installed": Failing(
        "python-module-missing", '{python} -c "import nuscenes.nuscenes"'
    ),
    "Python's headers": Failing(
        "python-headers-missing", "gcc -c ops.c", (("ops.c", "#include <Python.h>\n"),)
    ),
    "THC's headers": Failing(
        "thc-headers-removed", "gcc -c ops.c", (("ops.c", "#include <THC/THC.h>\n"),)
    ),
    "no compiler": Failing("compiler-missing", "PATH=/nowhere; g++ -c ops.cpp", (), 127),
    "no nvcc": Failing("cuda-toolkit-not-found", "PATH=/nowhere; nvcc --version", (), 127),
    "a library of another CUDA": Failing(
        "cuda-runtime-major-mismatch",
        "gcc -shared -fPIC -Wl,-soname,libcudart.so.10.1 -o part.so part.c"
        " && gcc -o main main.c part.so && ./main",
        (
            ("part.c", "int part(void) { return 0; }\n"),
            ("main.c", "int part(void);\nint main(void) { return part(); }\n"),
        ),
        127,
    ),
    "a symbol of another torch": Failing(
        "torch-abi-mismatch",
        'gcc -shared -fPIC -o ops.so ops.c && {python} -c "'
        "import ctypes; ctypes.CDLL('./ops.so', ctypes.RTLD_GLOBAL | 2)\"",
        (("ops.c", "void %s(void);\nvoid run(void) { %s(); }\n" % ((_OF_ATEN,) * 2)),),
    ),
    "the launcher's spelling": Failing(
        "local-rank-flag-renamed",
        "{python} train.py --local-rank=0 config.py",
        (("train.py", _TRAIN),),
        2,
    ),
    "files": Failing(
        "open-files-limit",
        "ulimit -n 40; {python} -c \"held = [open('/dev/null') for _ in range(50)]\"",
    ),
    "memory": Failing(
        "host-memory-exhausted",
        "ulimit -v 1000000; {python} ballast.py",
        (("ballast.py", "held = []\nwhile True:\n    held.append(bytearray(64 << 20))\n"),),
    ),
    "an index that is not there": Failing("", "{python} -m pip install {quiet} mmcv-full==1.4.0"),
    "a key of the user's configuration": Failing("", "{python} -c \"dict(a=1)['b']\""),
    "a test that fails": Failing("", "{python} -c \"assert 1 == 2, 'loss'\""),
    "a file of the user's": Failing("", "{python} -c \"open('data/nuscenes_infos_train.pkl')\""),
}


@pytest.mark.parametrize("name", FAILING)
def test_it_is_named(name: str, tmp_path: Path) -> None:
    failing = FAILING[name]
    for path, content in failing.files:
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
    script = failing.script.replace("{python}", sys.executable).replace("{quiet}", _QUIET)
    argv = [sys.executable, "-m", "envdoctor", "run", "--no-facts", "--format", "json", "--"]
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    env = {**ours, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(
        [*argv, "sh", "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == failing.code, done
    lines = done.stderr.decode().splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("{"))
    causes = json.loads("\n".join(lines[start:]))["causes"]
    assert [cause["id"] for cause in causes[:1]] == [failing.cause][: bool(failing.cause)], done
