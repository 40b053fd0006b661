"""Environments with torch for CUDA, and with what was compiled for it: predicted is what happens.

The packages come from the index that pip is configured for. No GPU is needed: a torch for CUDA is
imported without one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import List, Optional

import pytest
from case import Bench, Case, Lab, case_of, works
from compare import judge
from environments import find_interpreter
from layers import built, compiled, layer, overwrite, source, torch_options
from odd import pip, site
from parts import library
from wheels import Wheel

pytestmark = pytest.mark.real

CASES: List[Case] = []
case = case_of(CASES)

COMMON = (
    "numpy==2.2.6 filelock==3.19.1 fsspec==2025.9.0 jinja2==3.1.6 markupsafe==3.0.2 mpmath==1.3.0"
    " networkx==3.4.2 typing-extensions==4.15.0 pillow==11.3.0 setuptools==80.9.0"
)
CUDA_12_4 = (
    "nvidia-cublas-cu12==12.4.5.8 nvidia-cuda-cupti-cu12==12.4.127"
    " nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127"
    " nvidia-cudnn-cu12==9.1.0.70 nvidia-cufft-cu12==11.2.1.3 nvidia-curand-cu12==10.3.5.147"
    " nvidia-cusolver-cu12==11.6.1.9 nvidia-cusparse-cu12==12.3.1.170"
    " nvidia-cusparselt-cu12==0.6.2 nvidia-nccl-cu12==2.21.5 nvidia-nvjitlink-cu12==12.4.127"
    " nvidia-nvtx-cu12==12.4.127"
)
TORCH_2_13 = (COMMON, "torch==2.13.0+cpu sympy==1.14.0")
TORCH_2_5 = (COMMON, "sympy==1.13.1", CUDA_12_4, "torch==2.5.1 triton==3.1.0")
TORCH_2_6 = (COMMON, "sympy==1.13.1", CUDA_12_4, "torch==2.6.0 triton==3.2.0")
TORCH_1_12 = (
    "numpy==1.26.4 typing-extensions==4.15.0 pillow==11.3.0 requests==2.32.4 certifi==2025.8.3"
    " charset-normalizer==3.4.3 idna==3.10 urllib3==2.2.3",
    "torch==1.12.1",
)


def lab(prefix: Path, folder: Optional[Path] = None, **environ: str) -> Lab:
    path = f"{prefix / 'bin'}{os.pathsep}{os.defpath}"
    return Lab(str(prefix / "bin" / "python"), {"PATH": path, **environ}, folder)


def install(env: Path, *wheels: str) -> Path:
    pip(env, "install", "--no-index", "--no-deps", *wheels)
    return env


def extension(
    bench: Bench,
    env: Path,
    built_for: Path,
    *options: str,
    abi: str = "",
    text: str = "operators.cpp",
) -> Path:
    """Install an extension into an environment that was compiled in another one."""
    settings = (*torch_options(built_for, "_lab_ops", abi), *options)
    data = compiled(source(text), *settings).read_bytes()
    series = site(env).parent.name.replace("python", "cp").replace(".", "")
    files = {
        "lab_ops/__init__.py": "import torch\nfrom ._lab_ops import *\n",
        f"lab_ops/_lab_ops.cpython-{series[2:]}-x86_64-linux-gnu.so": data,
    }
    wheel = Wheel("lab-ops", "1.0", files, f"{series}-{series}-linux_x86_64")
    return install(env, *bench.wheels(wheel))


def target(bench: Bench, requirement: str) -> Path:
    """The folder of libraries of one of NVIDIA's wheels, unpacked beside the environment."""
    folder = bench.folder / "beside"
    pip(None, "install", "--no-deps", "--no-cache-dir", "--target", str(folder), requirement)
    (libraries,) = folder.glob("nvidia/*/lib")
    return libraries


USED = "import torch, lab_ops; assert lab_ops.scaled(torch.ones(2), 2.0).sum() == 4"

# --- an extension of one's own --------------------------------------------------------------------


@case(
    "torch 2.5 for CUDA with its torchvision and an extension of one's own",
    works(
        USED, "import torchvision, torch; torchvision.ops.nms(torch.ones(1, 4), torch.ones(1), .5)"
    ),
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(*TORCH_2_5, "torchvision==0.20.1")
    return lab(extension(bench, env, layer(bench.python, TORCH_2_5)))


@case("an extension of torch 2.5 with torch 2.6", works(USED), python="3.11")
def _(bench: Bench) -> Lab:
    return lab(extension(bench, bench.of(*TORCH_2_6), layer(bench.python, TORCH_2_5)))


@case("an extension of torch 2.6 with torch 2.5", works(USED), python="3.11")
def _(bench: Bench) -> Lab:
    return lab(extension(bench, bench.of(*TORCH_2_5), layer(bench.python, TORCH_2_6)))


DIVIDES = """
#include <torch/extension.h>
at::Tensor divided(const at::Tensor& input, double by) { return at::div(input, by, "floor"); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def("divided", &divided); }
"""


def dividing(bench: Bench, env: Path, built_for: Path) -> Path:
    """Install a module that calls a function which took another kind of text until torch 2.5."""
    data = compiled(DIVIDES, *torch_options(built_for, "lab_div")).read_bytes()
    files = {"lab_div.cpython-311-x86_64-linux-gnu.so": data}
    return install(env, *bench.wheels(Wheel("lab-div", "1.0", files, "cp311-cp311-linux_x86_64")))


@case(
    "the same, but it calls a function that changed: of 2.5 with 2.6",
    {"import torch, lab_div": "ImportError: undefined symbol: _ZN2at4_ops15div_Scalar_mode4call"},
    {"lab_div": "other-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(dividing(bench, bench.of(*TORCH_2_6), layer(bench.python, TORCH_2_5)))


@case(
    "and of 2.6 with 2.5",
    {"import torch, lab_div": "ImportError: undefined symbol: _ZN2at4_ops15div_Scalar_mode4call"},
    {"lab_div": "other-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(dividing(bench, bench.of(*TORCH_2_5), layer(bench.python, TORCH_2_6)))


@case(
    "an extension of torch 2.5 with torch 2.13 for the processor",
    {USED: "ImportError: undefined symbol: _ZN3c106detail23torchInternalAssertFail"},
    {"_lab_ops": "other-torch or other-abi"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(extension(bench, bench.of(*TORCH_2_13), layer(bench.python, TORCH_2_5)))


@case(
    "an extension of torch 2.13 with torch 2.5",
    {USED: "ImportError: undefined symbol: "},
    {"_lab_ops": "other-torch or other-abi"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(extension(bench, bench.of(*TORCH_2_5), layer(bench.python, TORCH_2_13)))


@case(
    "an extension of torch 2.5, compiled for the other C++ ABI",
    {"import lab_ops": "ImportError: undefined symbol: ... cxx11"},
    {"_lab_ops": "other-abi"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(*TORCH_2_5)
    own = layer(bench.python, TORCH_2_5)
    return lab(extension(bench, env, own, abi="1", text="tensor.cpp"))


@case(
    "an extension of torch 2.5 for CUDA 11",
    {"import lab_ops": "ImportError: libcudart.so.11.0: cannot open shared object file"},
    {"_lab_ops": "other-cuda"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    runtime = library("libcudart.so.11.0", "cudaMalloc", version="libcudart.so.11.0")
    options = ("-Wl,--no-as-needed", str(runtime))
    env = bench.of(*TORCH_2_5)
    return lab(extension(bench, env, layer(bench.python, TORCH_2_5), *options, text="tensor.cpp"))


# --- torch-scatter --------------------------------------------------------------------------------

SCATTER = "import torch, torch_scatter; torch_scatter.scatter(torch.ones(2), torch.tensor([0, 0]))"


@case("torch-scatter that torch 2.5 compiled, with torch 2.5", works(SCATTER), python="3.11")
def _(bench: Bench) -> Lab:
    wheel = built(layer(bench.python, TORCH_2_5), "torch-scatter==2.1.2")
    return lab(install(bench.of(*TORCH_2_5), str(wheel)))


@case(
    "torch-scatter that torch 2.5 compiled, with torch 2.6",
    {SCATTER: "OSError: _scatter_cpu.so: undefined symbol: _ZN2at4_ops16div__Tensor_mode4call"},
    {"_scatter_cpu": "other-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    wheel = built(layer(bench.python, TORCH_2_5), "torch-scatter==2.1.2")
    return lab(install(bench.of(*TORCH_2_6), str(wheel)))


@case(
    "torch-scatter that torch 2.5 compiled, with torch 2.13",
    {SCATTER: "OSError: _version_cpu.so: undefined symbol: _ZN5torch3jit"},
    {"torch_scatter": "other-torch or other-abi"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    wheel = built(layer(bench.python, TORCH_2_5), "torch-scatter==2.1.2")
    return lab(install(bench.of(*TORCH_2_13), str(wheel)))


# --- torchvision ----------------------------------------------------------------------------------


@case(
    "torchvision 0.21 with torch 2.5",
    {"import torchvision": "RuntimeError: operator torchvision::nms does not exist"},
    {"torchvision": "other-torchvision"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(bench.of(*TORCH_2_5, "torchvision==0.21.0"))


@case(
    "torchvision 0.28 for CUDA with torch 2.13 for the processor",
    {"import torchvision": "RuntimeError: operator torchvision::nms does not exist"},
    {"torchvision": "other-torchvision"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(bench.of(*TORCH_2_13, "torchvision==0.28.0"))


NMS = "import torchvision, torch; torchvision.ops.nms(torch.ones(1, 4), torch.ones(1), 0.5)"


@case(
    "torchvision 0.14 with torch 1.12: only a warning, and no operators",
    {**works("import torchvision"), NMS: "RuntimeError: Couldn't load custom C++ ops"},
    {"torchvision": "other-torchvision"},
    python="3.10",
)
def _(bench: Bench) -> Lab:
    return lab(bench.of(*TORCH_1_12, "torchvision==0.14.1"))


@case("torch 1.12 with its torchvision", works("import torchvision", NMS), python="3.10")
def _(bench: Bench) -> Lab:
    return lab(bench.of(*TORCH_1_12, "torchvision==0.13.1"))


# --- CUDA's libraries -----------------------------------------------------------------------------


@case(
    "nvJitLink 12.1 ahead of that of torch 2.5",
    {"import torch": "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4"},
    {"beside/nvidia/nvjitlink": "older-copy-ahead"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    folder = target(bench, "nvidia-nvjitlink-cu12==12.1.105")
    return lab(bench.of(*TORCH_2_5), LD_LIBRARY_PATH=str(folder))


@case("the same with torch 2.6: its RPATH leads to its own", works("import torch"), python="3.11")
def _(bench: Bench) -> Lab:
    folder = target(bench, "nvidia-nvjitlink-cu12==12.1.105")
    return lab(bench.of(*TORCH_2_6), LD_LIBRARY_PATH=str(folder))


@case("a newer nvJitLink ahead of that of torch 2.5", works("import torch"), python="3.11")
def _(bench: Bench) -> Lab:
    folder = target(bench, "nvidia-nvjitlink-cu12==12.8.61")
    return lab(bench.of(*TORCH_2_5), LD_LIBRARY_PATH=str(folder))


@case(
    "an older NCCL on LD_LIBRARY_PATH: torch's RPATH is before it",
    works("import torch"),
    python="3.11",
)
def _(bench: Bench) -> Lab:
    folder = target(bench, "nvidia-nccl-cu12==2.18.1")
    return lab(bench.of(*TORCH_2_5), LD_LIBRARY_PATH=str(folder))


@case(
    "the same NCCL, by LD_PRELOAD",
    {"import torch": "ImportError: undefined symbol: ncclComm"},
    {"beside/nvidia/nccl": "older-copy-ahead"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    folder = target(bench, "nvidia-nccl-cu12==2.18.1")
    return lab(bench.of(*TORCH_2_5), LD_PRELOAD=str(folder / "libnccl.so.2"))


@case(
    "an older NCCL was installed over that of torch 2.5",
    {"import torch": "ImportError: undefined symbol: ncclComm"},
    {"nvidia-nccl-cu12": "other-wheels"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(bench.of(*TORCH_2_5, "nvidia-nccl-cu12==2.18.1"))


@case("the libraries of the same CUDA on LD_LIBRARY_PATH", works("import torch"), python="3.11")
def _(bench: Bench) -> Lab:
    env = bench.of(*TORCH_2_5)
    module = bench.folder / "cuda-12.4" / "lib64"
    module.mkdir(parents=True)
    for name in ("cuda_runtime", "cublas", "cusparse", "nvjitlink"):
        for path in (site(env) / "nvidia" / name / "lib").glob("lib*.so*"):
            os.link(path, module / path.name)
    return lab(env, LD_LIBRARY_PATH=str(module))


@case(
    "torch 2.5 without NVIDIA's wheels",
    {"import torch": "ValueError: libcublas.so.*[0-9] not found in the system path"},
    {"nvidia-cuda-runtime-cu12": "missing-wheels"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(bench.of(COMMON, "sympy==1.13.1", "torch==2.5.1 triton==3.1.0"))


@case(
    "torch 2.5 without one of NVIDIA's wheels",
    {"import torch": "ImportError: libcufft.so.11: cannot open shared object file"},
    {"nvidia-cufft-cu12": "missing-wheels"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(*TORCH_2_5)
    pip(env, "uninstall", "-y", "nvidia-cufft-cu12")
    return lab(env)


# --- several torches ------------------------------------------------------------------------------


@case(
    "torch 2.6 was unpacked over torch 2.5, its libraries alone",
    {"import torch": "ImportError: undefined symbol: "},
    {"torch": "mixed-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(*TORCH_2_5)
    newer = site(layer(bench.python, TORCH_2_6)) / "torch" / "lib"
    for name in ("libtorch_cpu.so", "libc10.so"):
        path = site(env) / "torch" / "lib" / name
        path.unlink()
        os.link(newer / name, path)
    return lab(env)


@case(
    "an upgrade from torch 2.5 to 2.6 was broken off: one library is the old one",
    {"import torch": "ImportError: undefined symbol: "},
    {"torch": "mixed-torch"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(*TORCH_2_6)
    older = site(layer(bench.python, TORCH_2_5)) / "torch" / "lib"
    path = site(env) / "torch" / "lib" / "libtorch_cpu.so"
    path.unlink()
    os.link(older / path.name, path)
    return lab(env)


@case(
    "the user site has a torch for the processor, the extension is of the environment's",
    {
        USED: "ImportError: ",
        **works("import torch"),
    },
    {"_lab_ops": "other-torch or other-abi", "torch 2.5.1": "user-site"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    prefix = bench.standalone()
    packages = site(prefix)
    overwrite(site(layer(bench.python, TORCH_2_5)), packages)
    user = bench.folder / "home" / ".local" / "lib" / packages.parent.name / "site-packages"
    user.mkdir(parents=True)
    newer = site(layer(bench.python, TORCH_2_13))
    for name in ("*torch*", "*sympy*"):
        for path in newer.glob(name):
            if path.is_dir():
                shutil.copytree(path, user / path.name, copy_function=os.link)
            else:
                os.link(path, user / path.name)
    return lab(extension(bench, prefix, layer(bench.python, TORCH_2_5)))


@case(
    "a source tree has modules of another torch and of another Python",
    {
        "import torch, ops": "ImportError: undefined symbol: _ZN3c106detail23torchInternalAssert",
    },
    {"_ops": "other-torch or other-abi"},
    python="3.11",
)
def _(bench: Bench) -> Lab:
    env = bench.of(*TORCH_2_13)
    options = torch_options(layer(bench.python, TORCH_2_5), "_ops")
    data = compiled(source("operators.cpp"), *options).read_bytes()
    bench.put("tree/ops/__init__.py", b"import torch\nfrom ops._ops import scaled\n")
    bench.put("tree/ops/_ops.cpython-311-x86_64-linux-gnu.so", data)
    bench.put("tree/ops/_ops.cpython-38-x86_64-linux-gnu.so", data)
    here = bench.folder / "tree"
    return lab(env, here)._replace(arguments=("--project", str(here)))


# --- healthy --------------------------------------------------------------------------------------

SCIENCE = (
    "numpy==2.2.6 scipy==1.15.3 pandas==2.3.2 pytz==2025.2 tzdata==2025.2"
    " python-dateutil==2.9.0.post0 six==1.17.0 opencv-python-headless==4.11.0.86"
    " pillow==11.3.0 matplotlib==3.10.6"
    " contourpy==1.3.2 cycler==0.12.1 fonttools==4.59.2 kiwisolver==1.4.9 packaging==25.0"
    " pyparsing==3.2.3 scikit-learn==1.7.1 joblib==1.5.2 threadpoolctl==3.6.0 shapely==2.1.1"
    " numba==0.61.2 llvmlite==0.44.0 pyyaml==6.0.2 h5py==3.14.0 pycocotools==2.0.10 lxml==6.0.1"
)


@case(
    "the usual packages of science, with their vendored libraries",
    works(
        "import numpy, scipy.sparse.linalg, pandas, cv2, PIL.Image, matplotlib.pyplot",
        "import sklearn.cluster, shapely, numba, h5py, pycocotools.mask, lxml.etree",
    ),
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(bench.of(SCIENCE))


PARTS = (
    "affine==3.0.1 attrs==26.1.0 av==18.1.0 bitsandbytes==0.50.2 ccimport==0.4.4"
    " certifi==2026.10.19.post1 charset-normalizer==3.5.3 click==8.5.1 click-plugins==1.1.1.2"
    " cligj==0.7.2 contourpy==1.3.3 cuda-pathfinder==1.9.1 cumm-cu120==0.4.11 cupy-cuda12x==14.2.0"
    " cycler==0.12.1 decord==0.6.0 faiss-cpu==1.15.1 fire==0.7.1 flatbuffers==25.12.19"
    " fonttools==4.68.0 idna==3.20 importlib-metadata==10.2.0 kiwisolver==1.5.1 lark==1.3.1"
    " lazy-importer==0.1.0 matplotlib==3.11.2 mpi4py==4.1.2 ninja==1.13.2 onnxruntime-gpu==1.31.1"
    " packaging==26.4 pccm==0.4.16 portalocker==4.4.2 protobuf==7.36.2 pyarrow==26.0.1"
    " pybind11==3.1.0 pyparsing==3.3.3 python-dateutil==2.9.0.post0 rasterio==1.4.4"
    " requests==2.34.2 six==1.17.0 spconv-cu120==2.3.6 termcolor==3.3.0 torchaudio==2.5.1"
    " urllib3==2.8.0 vtk==9.7.2 xformers==0.0.28.post3 zipp==4.1.2"
)


@case(
    "packages of which parts cannot load here, and nobody imports those",
    works(
        "import torchaudio, xformers.ops, onnxruntime, cupy, spconv.pytorch, bitsandbytes",
        "import decord, av, pyarrow, mpi4py, faiss, vtk, rasterio",
    ),
    python="3.11",
)
def _(bench: Bench) -> Lab:
    return lab(bench.of(*TORCH_2_5, PARTS))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_what_is_predicted_happens(case: Case) -> None:
    python = find_interpreter(case.python)
    if python is None:
        pytest.skip(f"no Python {case.python} is installed")
    assert judge(case, python).differences == []
