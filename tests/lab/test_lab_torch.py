"""Environments with a torch for the processor alone: predicted is what happens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import List, Optional

import pytest
from case import Bench, Case, Lab, case_of, works
from compare import judge
from environments import find_interpreter
from layers import compiled, replace, source
from odd import pip, site
from parts import library, older_libstdcxx
from wheels import Wheel

CASES: List[Case] = []
case = case_of(CASES)

TORCH = (
    "numpy==2.2.6 filelock==3.19.1 fsspec==2025.9.0 jinja2==3.1.6 markupsafe==3.0.2 mpmath==1.3.0"
    " networkx==3.4.2 typing-extensions==4.15.0 setuptools==80.9.0 sympy==1.14.0 torch==2.13.0+cpu"
)
LINKED = ("-lc10", "-ltorch", "-ltorch_cpu", "-ltorch_python")
SUFFIX = ".cpython-311-x86_64-linux-gnu.so"


def lab(prefix: Path, folder: Optional[Path] = None, **environ: str) -> Lab:
    path = f"{prefix / 'bin'}{os.pathsep}{os.defpath}"
    return Lab(str(prefix / "bin" / "python"), {"PATH": path, **environ}, folder)


def part(env: Path, name: str, calls: str, *options: str) -> bytes:
    """A module that calls what a source has, linked to the torch of an environment."""
    linked = [f"-L{site(env) / 'torch' / 'lib'}", "-Wl,--no-as-needed", *LINKED]
    text = source(f"{calls}.cpp") + source("module.cpp")
    options = ("-std=c++17", f"-DMODULE={name}", f"-DCALLS={calls}", *options, *linked)
    return compiled(text, *options).read_bytes()


def with_part(bench: Bench, name: str, calls: str, *options: str) -> Path:
    env = bench.of(TORCH)
    files = {
        f"{name}/__init__.py": f"import torch\nfrom . import _{name}\n",
        f"{name}/_{name}{SUFFIX}": part(env, f"_{name}", calls, *options),
    }
    wheel = Wheel(name, "1.0", files, "cp311-cp311-linux_x86_64")
    pip(env, "install", "--no-index", "--no-deps", *bench.wheels(wheel))
    return env


# --- an extension of one's own --------------------------------------------------------------------


@case(
    "an extension that was compiled for this torch",
    works("import nms", "import torch"),
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(with_part(bench, "nms", "checked", "-D_GLIBCXX_USE_CXX11_ABI=1"))


@case(
    "an extension of the other C++ ABI",
    {
        "import nms": "ImportError: undefined symbol: _ZN3c106detail23torchInternalAssertFail",
        **works("import torch"),
    },
    {"_nms": "other-abi"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(with_part(bench, "nms", "checked", "-D_GLIBCXX_USE_CXX11_ABI=0"))


@case(
    "an extension of torch 2.5",
    {
        "import nms": "ImportError: undefined symbol: _ZN2at4_ops15div_Tensor_mode4call",
        **works("import torch"),
    },
    {"_nms": "other-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(with_part(bench, "nms", "earlier"))


@case(
    "an extension of a torch for CUDA",
    {
        "import nms": "ImportError: libc10_cuda.so: cannot open shared object file",
        **works("import torch"),
    },
    {"_nms": "other-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    libraries = library("libc10_cuda.so", "f"), library("libtorch_cuda.so", "g")
    return lab(with_part(bench, "nms", "checked", "-Wl,--no-as-needed", *map(str, libraries)))


@case(
    "a source tree with modules of another Python and of another torch",
    {
        "import torch, boxes": "ImportError: undefined symbol: _ZN2at4_ops15div_Tensor_mode4call",
        "import torch, ops": "ImportError: cannot import name '_nms' from",
    },
    {"_iou": "other-torch", "_nms": "other-python"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(TORCH)
    bench.put("tree/boxes/__init__.py", b"import torch\nfrom boxes import _iou\n")
    bench.put(f"tree/boxes/_iou{SUFFIX}", part(env, "_iou", "earlier"))
    bench.put("tree/ops/__init__.py", b"from ops import _nms\n")
    bench.put("tree/ops/_nms.cpython-310-x86_64-linux-gnu.so", part(env, "_nms", "checked"))
    here = bench.folder / "tree"
    return lab(env, PYTHONPATH=str(here))._replace(arguments=("--project", str(here)))


# --- torch itself ---------------------------------------------------------------------------------


@case(
    "a libstdc++ that is too old for torch is ahead on LD_LIBRARY_PATH",
    {"import torch": "ImportError: libstdc++.so.6: version ... not found (required by"},
    {"torch": "old-libstdcxx"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    bench.put("matlab/lib/libstdc++.so.6", older_libstdcxx())
    return lab(bench.of(TORCH), LD_LIBRARY_PATH=str(bench.folder / "matlab" / "lib"))


@case(
    "the libraries of another torch on LD_LIBRARY_PATH",
    {"import torch": "ImportError: torch/lib/lib ... undefined symbol: _Z"},
    {"libtorch/lib/lib": "older-copy-ahead"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    bench.put("libtorch/lib/libc10.so", library("libc10.so", "f").read_bytes())
    bench.put("libtorch/lib/libtorch_cpu.so", library("libtorch_cpu.so", "f").read_bytes())
    return lab(bench.of(TORCH), LD_LIBRARY_PATH=str(bench.folder / "libtorch" / "lib"))


@case(
    "libc10 of another torch lies where torch's own was",
    {"import torch": "ImportError: libtorch_cpu.so: undefined symbol: "},
    {"torch": "mixed-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(TORCH)
    replace(site(env) / "torch/lib/libc10.so", library("libc10.so", "f").read_bytes())
    return lab(env)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_what_is_predicted_happens(case: Case) -> None:
    python = find_interpreter(case.python)
    if python is None:
        pytest.skip(f"no Python {case.python} is installed")
    assert judge(case, python).differences == []
