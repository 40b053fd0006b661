"""What the matrices of the extension packages say of stacks whose fate is known."""

from __future__ import annotations

from typing import Dict, Iterator, List, Set, Tuple

import pytest

from envdoctor.knowledge.load import load
from envdoctor.model.build import ABSENT, Build, Specifier, Unknown, Value
from envdoctor.model.finding import SEVERITIES
from envdoctor.model.versions import architecture, cuda_tag, parse, satisfies
from envdoctor.relations.components import DOTTED
from envdoctor.relations.expression import compile_expression
from envdoctor.relations.judge import Judgement, Relations, judge
from envdoctor.relations.observe import candidates, set_modules
from envdoctor.relations.plan import requirement_arguments
from envdoctor.relations.tell import Teller

KNOWLEDGE = load()
RELATIONS = Relations(KNOWLEDGE)

EXTENSIONS = (
    "accelerate",
    "av2",
    "bitsandbytes",
    "cumm-cu118",
    "cumm-cu120",
    "deepspeed",
    "detectron2",
    "llvmlite",
    "mmcv-full",
    "mmcv",
    "mmcv-lite",
    "mmengine",
    "mmdet",
    "mmsegmentation",
    "mmdet3d",
    "networkx",
    "numba",
    "onedl-mmcv",
    "onedl-mmengine",
    "onnx",
    "openmim",
    "flash-attn",
    "transformers",
    "tokenizers",
    "huggingface-hub",
    "h5py",
    "jax",
    "jax-cuda12-plugin",
    "jaxlib",
    "lap",
    "lapx",
    "matplotlib",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
    "opencv-python",
    "opencv-python-headless",
    "nuscenes-devkit",
    "pandas",
    "peft",
    "pyarrow",
    "pycocotools",
    "scikit-image",
    "scikit-learn",
    "scipy",
    "shapely",
    "protobuf",
    "spconv",
    "spconv-cu111",
    "spconv-cu118",
    "pyg-lib",
    "torch-cluster",
    "torch-scatter",
    "torch-sparse",
    "torch-spline-conv",
    "torchtext",
    "timm",
    "tensorboard",
    "tensorboardx",
    "tensorflow",
    "tensorflow-gpu",
    "paddle3d",
    "paddlepaddle",
    "paddlepaddle-gpu",
    "wandb",
    "xformers",
    "xtcocotools",
)


#: Ranges of Python, and ranges whose attribute is not called after the package.
OF_PYTHON = ("requires_python", "supports")
CALLED = {
    "llvmlite-least": "llvmlite",
    "mmseg": "mmsegmentation",
    "cumm-api": "cumm",
    "pin": "torch",
    "numpy-asked": "numpy",
}


def parts(stack: str) -> Dict[str, str]:
    """{name: version} of "torch 1.9.1+cu111, mmcv-full 1.4.0"."""
    return dict(part.rsplit(" ", 1) for part in stack.split(", "))


def torch(text: str, abi: str) -> Build:
    """A torch as its wheel name shows it, "1.9.1+cu111"."""
    cuda = KNOWLEDGE.packages["torch"].typed("cuda", text.partition("+")[2])
    return Build("torch", parse(text), {"cuda": cuda, "abi": int(abi)}, label=text)


def domains(text: str) -> Dict[str, Tuple[Value, ...]]:
    """What is known of a stack; "gpu" is a compute capability, "abi" torch's C++ ABI."""
    stack = parts(text)
    found: Dict[str, Tuple[Value, ...]] = dict.fromkeys(KNOWLEDGE.packages, (ABSENT,))
    found.update({component: (Unknown(component),) for component in DOTTED})
    found["host.variables"] = ((),)
    found["host.architecture"] = (stack.get("architecture", "x86_64"),)
    found["host.patched"] = ((),)
    python = stack.get("python", "3.8")
    tag = "cp" + python.replace(".", "")
    found["python"] = (Build("python", parse(python), {"tag": tag}, label=python),)
    if "gpu" in stack:
        gpu = Build("host.gpu", None, {"cc": parse(stack["gpu"])}, label="a GPU")
        found["host.gpu"] = ((gpu,),)
    for name, version in stack.items():
        if name == "torch":
            found[name] = (torch(version, stack.get("abi", "0")),)
        elif name in KNOWLEDGE.packages:
            package = KNOWLEDGE.packages[name]
            observed = local(name, version)
            if "architecture" in package.variant and "architecture" in stack:
                observed["architecture"] = stack["architecture"]
            found[name] = candidates(package, version, observed, "here")
    set_modules(found, KNOWLEDGE)
    return found


def local(name: str, text: str) -> Dict[str, Value]:
    """The attributes that the local part of a version shows."""
    package = KNOWLEDGE.packages[name]
    match = package.local.match(text.partition("+")[2]) if package.local else None
    groups = match.groupdict() if match else {}
    return {k: package.typed(k, v) for k, v in groups.items() if v is not None}


def judged(stack: str, name: str) -> Judgement:
    return judge(RELATIONS, name, domains(stack), "nvidia")


def broken(stack: str) -> Set[str]:
    """The ids of the relations that break the stack."""
    return {
        breach.bound.relation.id
        for name in parts(stack)
        if name in EXTENSIONS
        for violation in judged(stack, name).violations
        for breach in violation.breaches
    }


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        # stacks as their authors state them
        (
            "torch 1.9.1+cu111, mmcv-full 1.4.0, mmdet 2.14.0, mmsegmentation 0.14.1, "
            "mmdet3d 0.17.2",
            "",
        ),
        (
            "torch 1.13.0+cu116, mmcv-full 1.7.1, mmdet 2.28.2, flash-attn 2.3.2, "
            "numpy 1.23.5, gpu 8.6",
            "",
        ),
        (
            "torch 2.0.0+cu118, mmcv 2.0.1, mmengine 0.8.4, mmdet 3.0.0, "
            "mmsegmentation 1.0.0, mmdet3d 1.1.1",
            "",
        ),
        # mmcv-full: neither a wheel nor compiling sources
        (
            "torch 2.4.1+cu121, mmcv-full 1.4.0",
            "mmcv-full/cxx14 mmcv-full/thc mmcv-full/wheel-torch",
        ),
        (
            "torch 2.6.0+cu124, mmcv-full 1.4.0",
            "mmcv-full/cxx14 mmcv-full/dispatch mmcv-full/thc mmcv-full/wheel-torch",
        ),
        (
            "torch 2.6.0+cu124, mmcv-full 1.4.4",
            "mmcv-full/cxx14 mmcv-full/thc mmcv-full/wheel-torch",
        ),
        ("torch 1.11.0+cu113, mmcv-full 1.4.5", "mmcv-full/thc mmcv-full/wheel-torch"),
        ("torch 1.11.0+cu113, mmcv-full 1.4.6", "mmcv-full/ddp-sync-params"),
        ("torch 1.11.0+cu113, mmcv-full 1.4.8", ""),
        ("torch 1.12.1+cu116, mmcv-full 1.5.3", "mmcv-full/ddp-forward"),
        ("torch 2.0.1+cu118, mmcv-full 1.7.1", ""),
        ("torch 2.1.0+cu118, mmcv-full 1.7.1", "mmcv-full/cxx14 mmcv-full/wheel-torch"),
        ("torch 2.1.0+cu118, mmcv-full 1.7.2", "mmcv-full/scatter"),
        ("torch 2.4.1+cu121, mmcv-full 1.4.7", "mmcv-full/cxx14 mmcv-full/wheel-torch"),
        ("torch 2.14.1+cu130, mmcv-full 1.7.2", "mmcv-full/cxx17 mmcv-full/wheel-torch"),
        ("torch 2.14.1+cu130, mmcv 2.2.0, mmengine 0.11.0rc3", "mmcv/cxx17 mmcv/wheel-torch"),
        ("torch 2.13.0+cu130, mmcv 2.2.0, mmengine 0.11.0rc3", ""),
        ("torch 2.1.2+cu121, mmcv 2.0.1, mmengine 0.8.4", "mmcv/cxx14 mmcv/wheel-torch"),
        # mmcv without operators, and other names of mmcv
        ("torch 1.13.1+cu117, mmcv 1.7.1", ""),
        ("torch 1.13.1+cu117, mmcv 1.7.1, mmdet 2.28.2", "mmdet/ops"),
        ("torch 1.13.1+cu117, mmcv 1.7.1, mmcv-full 1.7.1, mmdet 2.28.2", ""),
        ("torch 2.1.0+cu121, mmcv-lite 2.1.0, mmengine 0.10.7, mmdet 3.3.0", "mmdet/ops"),
        ("torch 2.1.0+cu121, mmcv 2.1.0", "mmcv/needs-mmengine"),
        ("torch 1.13.1+cu117, mmdet 2.28.2", "mmdet/needs-mmcv"),
        # what mmdet, mmsegmentation and mmdet3d assert
        ("mmcv-full 1.3.0, mmdet 2.28.2", "mmdet/mmcv"),
        ("mmcv-full 1.3.17, mmdet 2.28.2", ""),
        ("mmcv-full 1.2.7, mmdet 2.10.0", ""),
        ("mmcv-full 1.3.0, mmdet 2.10.0", "mmdet/mmcv"),
        ("mmcv 2.1.0, mmengine 0.10.7, mmdet 3.1.0", "mmdet/mmcv"),
        ("mmcv 2.1.0, mmengine 0.10.7, mmdet 3.3.0", ""),
        ("mmcv 2.1.0, mmengine 0.7.0, mmdet 3.3.0", "mmdet/mmengine"),
        ("mmcv 2.0.0rc3, mmengine 0.6.0, mmdet 3.0.0rc6", "mmdet/mmcv"),
        ("mmcv 2.0.0rc4, mmengine 0.6.0, mmdet 3.0.0rc6", ""),
        ("mmcv-full 1.7.0, mmsegmentation 0.29.0", "mmsegmentation/mmcv"),
        ("mmcv-full 1.7.0, mmsegmentation 0.29.1", ""),
        (
            "mmcv-full 1.4.0, mmdet 2.13.0, mmsegmentation 0.14.0, mmdet3d 0.17.2",
            "mmdet3d/mmdet mmdet3d/mmseg",
        ),
        (
            "mmcv-full 1.4.2, mmdet 2.19.0, mmsegmentation 0.20.0, mmdet3d 0.17.2",
            "mmdet3d/mmcv-later",
        ),
        ("mmcv-full 1.3.7, mmdet 2.19.0, mmdet3d 0.17.2", "mmdet/mmcv mmdet3d/mmcv"),
        ("torch 2.0.1+cu118, mmdet3d 0.17.2", "mmdet3d/thc"),
        ("torch 2.1.0+cu118, mmdet3d 0.17.2", "mmdet3d/cxx14 mmdet3d/thc"),
        ("torch 2.14.1+cu126, mmdet3d 0.17.2", "mmdet3d/cxx17 mmdet3d/thc"),
        ("numba 0.49.1, mmdet3d 0.17.2", "mmdet3d/numba"),
        ("av2 0.2.1, numpy 1.23.5, python 3.8", ""),
        ("av2 0.3.1, numpy 1.23.5, python 3.8", "av2/python-3.8"),
        ("av2 0.3.1, numpy 1.23.5, python 3.9", ""),
        ("numba 0.53.1, mmdet3d 0.17.2", "mmdet3d/numba mmdet3d/numba-errors"),
        ("numba 0.53.0, mmdet3d 1.0.0rc0", ""),
        ("numpy 1.23.5, mmdet3d 1.0.0rc6", ""),
        ("numpy 1.24.4, mmdet3d 1.0.0rc6", "mmdet3d/numpy-aliases"),
        ("mmcv-full 1.4.2, mmdet 2.19.0, mmsegmentation 0.20.0, mmdet3d 0.17.3", ""),
        ("mmcv 2.2.0, mmengine 0.10.7, mmdet 3.3.0, mmdet3d 1.4.0", "mmdet/mmcv mmdet3d/mmcv"),
        ("torch 2.1.0+cu121, mmcv 2.1.0, mmengine 0.2.0, setuptools 65.0.0", "mmcv/mmengine"),
        ("torch 2.0.1+cu118, mmcv 2.0.0, mmengine 0.2.0, setuptools 65.0.0", ""),
        ("mmcv-lite 2.2.0, mmengine 0.2.0, setuptools 65.0.0", "mmcv-lite/mmengine"),
        # the fork of mmcv and mmengine
        (
            "torch 2.8.0+cu129, abi 1, onedl-mmcv 2.3.0, onedl-mmengine 0.10.8, mmdet 3.3.0, "
            "python 3.12",
            "mmdet/mmcv",
        ),
        ("torch 2.8.0+cu129, abi 1, onedl-mmcv 2.3.0, python 3.12", "onedl-mmcv/needs-mmengine"),
        (
            "torch 2.1.0+cu121, mmcv 2.1.0, onedl-mmengine 0.10.12, mmdet 3.3.0, python 3.10",
            "",
        ),
        ("mmcv-lite 2.2.0, onedl-mmengine 0.10.12, python 3.10", ""),
        # what mmdet3d asks pip for
        (
            "torch 1.9.1+cu111, mmcv-full 1.4.0, mmdet 2.14.0, mmsegmentation 0.14.1, "
            "mmdet3d 0.17.2, networkx 2.8.8",
            "mmdet3d/networkx",
        ),
        (
            "torch 2.0.0+cu118, mmcv 2.0.1, mmengine 0.8.4, mmdet 3.0.0, mmdet3d 1.1.1, "
            "networkx 2.8.8",
            "",
        ),
        ("networkx 2.2, numpy 1.23.5", ""),
        ("networkx 2.2, numpy 1.23.5, python 3.9", "networkx/gcd"),
        ("networkx 2.4, numpy 1.23.5, python 3.9", ""),
        ("networkx 2.4, numpy 1.24.4", "networkx/numpy-int"),
        ("networkx 2.5, numpy 1.26.4, python 3.10", ""),
        # torchtext, which ends with torch 2.3
        ("torch 2.3.1+cu121, torchtext 0.18.0, python 3.10", ""),
        ("torch 2.4.0+cu121, torchtext 0.18.0, python 3.10", "torchtext/schema"),
        ("torch 2.2.2+cu121, torchtext 0.17.1, python 3.10", "torchtext/pair"),
        ("torch 2.2.2+cu121, torchtext 0.17.2, python 3.10", ""),
        # mmengine and openmim
        ("torch 2.6.0+cu124, mmengine 0.10.7", "mmengine/weights-only"),
        ("torch 2.5.1+cu124, mmengine 0.10.7", ""),
        ("torch 2.6.0+cu124, mmengine 0.11.0rc2", ""),
        ("torch 2.5.1+cu124, mmengine 0.10.5", ""),
        ("torch 2.5.1+cu124, mmengine 0.10.5, transformers 4.46.3", "mmengine/adafactor"),
        ("openmim 0.3.9, setuptools 81.0.0", ""),
        ("openmim 0.3.9, setuptools 82.0.0", "openmim/pkg-resources"),
        ("openmim 0.3.9", "openmim/needs-setuptools"),
        # flash-attn: the GPU, and wheels that say what they are for
        ("torch 2.0.1+cu118, flash-attn 2.3.2, gpu 7.5", "flash-attn/gpu"),
        ("torch 2.0.1+cu118, flash-attn 1.0.9, gpu 7.5", ""),
        ("torch 2.0.1+cu118, flash-attn 1.0.9, gpu 7.0", "flash-attn/gpu-1"),
        ("torch 2.0.1+cu118, flash-attn 2.2.4, gpu 9.0", "flash-attn/gpu"),
        ("torch 2.0.1+cu118, flash-attn 2.2.5, gpu 9.0", ""),
        ("torch 2.4.1+cu124, flash-attn 2.7.2.post1, gpu 12.0, python 3.10", "flash-attn/gpu"),
        ("torch 2.7.1+cu128, abi 1, flash-attn 2.8.3, gpu 12.0, python 3.10", ""),
        (
            "torch 2.0.1+cu118, flash-attn 2.0.9, transformers 4.38.2, gpu 8.0",
            "flash-attn/transformers",
        ),
        ("torch 2.0.1+cu118, flash-attn 2.1.0, transformers 4.38.2, gpu 8.0", ""),
        ("torch 2.0.1+cu118, flash-attn 2.0.9, transformers 4.35.2, gpu 8.0", ""),
        # of what was compiled on aarch64 nobody knows the architectures
        (
            "torch 2.9.1+cu130, abi 1, flash-attn 2.8.2, gpu 11.0, python 3.12, "
            "architecture aarch64",
            "",
        ),
        (
            "torch 2.8.0+cu128, abi 1, flash-attn 2.8.2, gpu 11.0, python 3.12",
            "flash-attn/gpu",
        ),
        ("torch 2.4.1+cu124, flash-attn 2.5.8, gpu 7.2, architecture aarch64", "flash-attn/gpu"),
        # before the oldest release that is known: undecided
        ("torch 1.5.0+cu101, mmcv 0.6.2, mmdet 2.1.0", ""),
        # up to which mmcv they work they do not say; 2.0 removed what they import
        ("torch 1.9.1+cu111, mmcv-full 1.4.0, mmsegmentation 0.5.0", ""),
        (
            "torch 2.1.0+cu121, mmcv 2.1.0, mmengine 0.10.7, mmsegmentation 0.5.0",
            "mmsegmentation/mmcv-1",
        ),
        ("torch 1.5.0+cu101, mmcv-full 1.2.0, mmdet 2.3.0, mmdet3d 0.6.0", "mmdet/mmcv"),
        (
            "torch 2.1.0+cu121, mmcv 2.1.0, mmengine 0.10.7, mmdet 3.3.0, mmdet3d 0.6.0",
            "mmdet3d/cxx14 mmdet3d/mmcv-1 mmdet3d/mmdet-2 mmdet3d/thc",
        ),
        # operators
        ("torch 1.9.1+cu111, mmcv 1.4.0, mmsegmentation 0.14.1", "mmsegmentation/ops"),
        (
            "torch 1.9.1+cu111, mmcv 1.4.0, mmdet 2.14.0, mmdet3d 0.17.2",
            "mmdet/ops mmdet3d/ops",
        ),
        # transformers
        ("torch 2.0.1+cu118, transformers 4.57.3, python 3.10", "transformers/torch"),
        ("torch 2.0.1+cu118, transformers 5.24.0, python 3.11", "transformers/torch"),
        ("torch 2.0.1+cu118, transformers 4.51.3, python 3.10", ""),
        ("torch 2.1.2+cu121, transformers 4.55.4, python 3.10", "transformers/pickled-weights"),
        (
            "torch 2.1.2+cu121, transformers 4.57.6, python 3.10",
            "transformers/pickled-weights transformers/pytree",
        ),
        ("torch 2.6.0+cu124, transformers 4.57.6, python 3.10", ""),
        ("transformers 4.57.6, safetensors 0.4.2, python 3.10", "transformers/safetensors"),
        ("transformers 4.57.6, safetensors 0.4.3, python 3.10", ""),
        (
            "torch 2.6.0+cu124, transformers 4.45.0, accelerate 0.25.0, python 3.10",
            "transformers/accelerate",
        ),
        ("torch 2.6.0+cu124, transformers 4.44.2, accelerate 0.25.0, python 3.10", ""),
        ("torch 2.2.2+cu121, transformers 4.57.6, python 3.10", "transformers/pickled-weights"),
        ("torch 2.4.1+cu121, transformers 5.14.1, python 3.10", "transformers/pickled-weights"),
        ("torch 2.4.1+cu121, transformers 5.15.0, python 3.10", "transformers/torch"),
        ("transformers 4.57.6, tokenizers 0.21.4, python 3.10", "transformers/tokenizers"),
        ("transformers 4.57.6, tokenizers 0.22.1, python 3.10", ""),
        (
            "transformers 4.57.6, huggingface-hub 1.33.0, python 3.10",
            "transformers/huggingface-hub",
        ),
        ("transformers 4.30.1, huggingface-hub 0.10.1", ""),
        ("transformers 4.42.4, numpy 2.0.2, python 3.10", "transformers/numpy"),
        ("transformers 4.43.0, numpy 2.0.2, python 3.10", ""),
        ("opencv-python 4.9.0.80, numpy 2.2.6, python 3.11", "numpy/abi"),
        ("opencv-contrib-python-headless 4.10.0.82, numpy 2.2.6, python 3.11", "numpy/abi"),
        ("opencv-python-headless 4.10.0.84, numpy 2.2.6, python 3.11", ""),
        ("opencv-python 4.9.0.80, numpy 1.26.4, python 3.11", ""),
        ("opencv-python 4.12.0.88, numpy 1.26.4, python 3.11", "numpy/asked"),
        ("opencv-python 4.12.0.88, numpy 2.3.0, python 3.11", "numpy/asked"),
        ("opencv-python 4.13.0.92, numpy 2.3.0, python 3.11", ""),
        ("opencv-python 4.13.0.92, numpy 1.24.4, python 3.8", ""),
        ("opencv-python 4.11.0.86, numpy 1.26.4, python 3.11", ""),
        ("pandas 2.2.1, numpy 2.2.6, python 3.11", "numpy/abi metadata/numpy"),
        ("pandas 2.2.2, numpy 1.20.0, python 3.9", "metadata/numpy"),
        ("pandas 2.2.2, numpy 1.26.4, python 3.11", ""),
        ("pycocotools 2.0.7, numpy 2.2.6, python 3.11", "numpy/abi"),
        ("pycocotools 2.0.6, numpy 2.2.6, python 3.11", ""),  # no wheel: compiled for what is there
        ("shapely 1.8.5.post1, numpy 2.2.6, python 3.11", ""),
        ("shapely 2.0.3, numpy 2.2.6, python 3.11", "numpy/abi"),
        # compiled with the headers of a newer NumPy; the same release's wheels for 3.9 were not
        ("lapx 0.5.5, numpy 1.22.4, python 3.8", "numpy/headers"),
        ("lapx 0.5.5, numpy 1.23.5, python 3.8", ""),
        ("lapx 0.5.5, numpy 1.19.5, python 3.9", ""),
        ("lapx 0.5.5, numpy 1.19.5, python 3.7", "numpy/headers-3.7"),
        ("lapx 0.5.5, numpy 1.20.3, python 3.7", ""),
        ("lapx 0.9.2, numpy 1.22.4, python 3.8", ""),  # not tried
        ("lapx 0.5.9, numpy 2.0.2, python 3.9", "numpy/abi"),
        ("lapx 0.5.9.post1, numpy 2.0.2, python 3.9", ""),
        ("lap 0.4.0, numpy 1.17.5, python 3.8", ""),  # compiled for what is here
        ("transformers 5.0.0, python 3.9", "python/requires"),
        # numba: what is enforced, not what is documented
        ("numba 0.57.1, numpy 1.19.5", "numba/numpy"),
        ("numba 0.57.1, numpy 1.24.4", ""),
        ("numba 0.57.1, numpy 1.25.0, python 3.9", "numba/numpy"),
        ("numba 0.59.1, numpy 2.0.2, python 3.9", "numba/numpy"),
        ("numba 0.60.0, numpy 2.0.2, python 3.9", ""),
        ("numba 0.48.0, numpy 1.23.5", ""),
        ("numba 0.53.1, numpy 1.24.4", "numba/numpy-1.24"),
        ("numba 0.54.1, numpy 1.21.6", "numba/numpy"),
        ("numba 0.55.2, llvmlite 0.37.0, numpy 1.21.6", "numba/llvmlite"),
        ("numba 0.55.2, llvmlite 0.39.1, numpy 1.21.6", "numba/llvmlite-range"),
        ("numba 0.55.2, llvmlite 0.38.1, numpy 1.21.6", ""),
        ("numba 0.48.0, llvmlite 0.41.1, numpy 1.21.6", "numba/llvmlite-range"),
        ("numba 0.58.1, python 3.12", "numba/python-guard"),
        ("numba 0.60.0, python 3.8", "python/requires"),
        ("numba 0.60.0, python 3.12", ""),
        ("numba 0.69.0, numpy 3.0.0, python 3.12", ""),  # newer than the data
        # what metadata asks for, where nothing more is known
        ("torch 1.9.1+cu111, accelerate 0.21.0, numpy 1.23.5", "metadata/torch"),
        ("torch 1.9.1+cu111, accelerate 0.20.3, numpy 1.23.5", ""),
        ("torch 2.4.1+cu121, accelerate 0.33.0, numpy 2.0.2, python 3.10", "metadata/numpy"),
        ("torch 2.4.1+cu121, accelerate 0.34.0, numpy 2.0.2, python 3.10", ""),
        ("torch 1.12.1+cu116, peft 0.10.0, transformers 4.36.2", "metadata/torch"),
        (
            "torch 1.13.1+cu117, peft 0.14.0, transformers 4.46.3, huggingface-hub 0.24.0, "
            "python 3.9",
            "metadata/huggingface-hub",
        ),
        ("nuscenes-devkit 1.1.11, numpy 1.19.5, matplotlib 3.5.3, shapely 1.8.5", "metadata/numpy"),
        ("nuscenes-devkit 1.1.10, numpy 1.19.5, matplotlib 3.5.2, shapely 1.8.5", ""),
        (
            "nuscenes-devkit 1.1.10, numpy 1.19.5, matplotlib 3.5.2, shapely 2.0.1",
            "metadata/shapely",
        ),
        ("nuscenes-devkit 1.1.9, numpy 1.23.5, shapely 2.0.1", ""),
        ("nuscenes-devkit 1.2.0, numpy 2.0.2, python 3.10", "metadata/numpy"),
        ("av2 0.2.1, numpy 1.21.2", "metadata/numpy"),
        ("torch 1.6.0+cu101, timm 0.9.12", "metadata/torch"),
        ("torch 1.6.0+cu101, timm 0.9.16", ""),
        # deepspeed: what it imports, and what it asks for
        ("torch 2.0.1+cu118, deepspeed 0.8.1", "deepspeed/torch-six"),
        ("torch 2.0.1+cu118, deepspeed 0.8.2", ""),
        ("torch 1.13.1+cu117, deepspeed 0.8.1", ""),
        ("torch 2.0.1+cu118, deepspeed 0.9.3, pydantic 2.4.0", "metadata/pydantic"),
        ("torch 2.0.1+cu118, deepspeed 0.14.4, pydantic 2.4.0", ""),
        ("torch 2.1.2+cu121, deepspeed 0.16.9, pydantic 1.10.13", "metadata/pydantic"),
        ("torch 1.13.1+cu117, deepspeed 0.19.8", "metadata/torch"),
        # bitsandbytes: a library for torch's CUDA, and code for the GPU in it
        ("torch 2.4.1+cu124, bitsandbytes 0.43.3, gpu 8.0, python 3.10", ""),
        (
            "torch 2.7.1+cu128, abi 1, bitsandbytes 0.43.3, gpu 8.0, python 3.10",
            "bitsandbytes/library",
        ),
        ("torch 2.7.1+cu128, abi 1, bitsandbytes 0.43.3, python 3.10", ""),  # no GPU is known of
        (
            "torch 2.9.1+cu130, abi 1, bitsandbytes 0.47.0, gpu 8.0, python 3.10",
            "bitsandbytes/library",
        ),
        ("torch 2.9.1+cu130, abi 1, bitsandbytes 0.48.0, gpu 8.0, python 3.10", ""),
        ("torch 2.8.0+cu129, abi 1, bitsandbytes 0.50.2, gpu 8.0, python 3.10", ""),
        ("torch 2.4.1+cu118, bitsandbytes 0.50.2, gpu 6.0, python 3.10", ""),
        (
            "torch 2.4.1+cu121, bitsandbytes 0.45.5, gpu 12.0, python 3.10",
            "bitsandbytes/library bitsandbytes/gpu",
        ),
        ("torch 2.4.1+cu124, bitsandbytes 0.41.1, gpu 8.0, python 3.10", ""),  # any wheel
        # tensorflow for processors, detectron2 with Pillow
        ("tensorflow 2.0.0, protobuf 3.19.6, gpu 7.5, python 3.7", "tensorflow/cpu-only"),
        ("tensorflow 1.15.0, protobuf 3.19.6, gpu 7.5, python 3.7", ""),
        ("tensorflow 1.15.5, protobuf 3.19.6, gpu 7.5, python 3.7", "tensorflow/cpu-only"),
        ("tensorflow 2.1.0, protobuf 3.19.6, gpu 7.5, python 3.7", ""),
        ("tensorflow 2.10.1, numpy 2.0.2, protobuf 3.19.6, python 3.10", "numpy/abi"),
        (
            "tensorflow 2.17.1, numpy 2.0.2, protobuf 4.25.8, python 3.10",
            "numpy/abi tensorflow/numpy",
        ),
        ("tensorflow 2.18.1, numpy 2.0.2, protobuf 5.29.5, python 3.10", ""),
        ("tensorflow 2.6.5, numpy 1.23.5, protobuf 3.19.6, python 3.9", "tensorflow/numpy"),
        (
            "tensorflow 2.6.5, numpy 1.24.4, protobuf 3.19.6, python 3.9",
            "tensorflow/numpy tensorflow/numpy-aliases",
        ),
        ("tensorflow 2.7.4, numpy 1.24.4, protobuf 3.19.6, python 3.9", ""),
        ("tensorflow 1.13.1, numpy 1.16.6, protobuf 3.19.6, python 3.9", "python/wheel-tag"),
        ("tensorflow-gpu 2.4.1, numpy 1.23.5, protobuf 3.19.6", "metadata/numpy"),
        ("tensorflow-gpu 2.4.1, numpy 1.19.5, protobuf 4.21.12", "protobuf/old-code"),
        ("torch 1.10.1+cu113, detectron2 0.6+cu113, pillow 9.5.0", ""),
        ("torch 1.10.1+cu113, detectron2 0.6+cu113, pillow 10.0.0", "detectron2/pillow"),
        ("torch 1.11.0+cu113, detectron2 0.6+cu113, pillow 9.5.0", "detectron2/wheel-torch"),
        ("torch 1.11.0+cu113, detectron2 0.6, pillow 10.0.0", ""),  # the main branch, perhaps
        ("torch 1.11.0+cu113, detectron2 0.5, pillow 10.0.0", "detectron2/pillow"),
        # timm: a name that torch 1.9 removed
        ("torch 1.8.1+cu111, timm 0.3.2", ""),
        ("torch 1.9.1+cu111, timm 0.3.4", "timm/container-abcs"),
        ("torch 2.0.1+cu118, timm 0.4.5", ""),
        # jax: jaxlib is checked at import, and a plugin must be of jaxlib's own release
        ("jax 0.4.30, jaxlib 0.4.28, python 3.10", ""),
        ("jax 0.4.30, jaxlib 0.4.26, python 3.10", "jax/jaxlib"),
        ("jax 0.6.1, jaxlib 0.6.2, python 3.10", "jax/jaxlib"),
        ("jax 0.4.25, jaxlib 0.4.20, python 3.9", ""),
        ("jax 0.4.25, jaxlib 0.4.19, python 3.9", "jax/jaxlib-0.4"),
        ("jax 0.4.25, jaxlib 0.4.26, python 3.9", "jax/jaxlib-0.4"),
        ("jax 0.7.2, jaxlib 0.7.2, numpy 1.26.4, python 3.11", "metadata/numpy"),
        ("jaxlib 0.6.2, jax-cuda12-plugin 0.6.2, python 3.10", ""),
        ("jaxlib 0.6.2, jax-cuda12-plugin 0.6.1, python 3.10", "jax-cuda12-plugin/jaxlib"),
        ("jaxlib 0.5.1, jax-cuda12-plugin 0.5.0, python 3.10", ""),  # does not look
        # generated code, and protobuf
        ("tensorboard 2.8.0, protobuf 4.21.12, setuptools 65.0.0", "protobuf/old-code"),
        ("tensorboard 2.8.0, protobuf 3.20.3, setuptools 65.0.0", ""),
        ("tensorboard 2.14.1, protobuf 7.34.0, setuptools 65.0.0, python 3.10", ""),
        ("tensorboard 2.21.0, protobuf 5.29.5, python 3.10", "protobuf/new-code"),
        ("onnx 1.12.0, protobuf 4.25.8", "protobuf/old-code"),
        ("onnx 1.16.2, protobuf 3.19.6", "protobuf/new-code"),
        ("tensorflow 2.6.0, protobuf 4.21.12", "protobuf/old-code"),
        ("tensorboardx 2.6, protobuf 4.21.12", "protobuf/old-code"),
        ("wandb 0.12.21, protobuf 4.21.12", "protobuf/old-code"),
        ("wandb 0.16.0, protobuf 4.25.8", ""),
        # spconv with cumm; which torch is there does not matter
        ("torch 2.1.0+cu121, spconv-cu118 2.3.6, cumm-cu118 0.4.11", ""),
        ("spconv-cu111 2.1.25, cumm-cu118 0.3.7", "spconv/cumm-api"),
        ("spconv-cu118 2.3.6, cumm-cu118 0.3.7", "spconv/cumm-api"),
        ("spconv-cu118 2.3.6, cumm-cu118 0.6.3", "spconv/cumm-range"),
        ("spconv-cu118 2.3.6, cumm-cu120 0.4.11", "spconv/cumm-toolkit"),
        ("spconv-cu118 2.3.6, cumm-cu118 0.4.11, cumm-cu120 0.4.11", ""),
        ("torch 2.1.0+cu121, spconv 2.3.6, cumm 0.4.11, gpu 8.6", "spconv/cpu-only"),
        ("torch 2.1.0+cpu, spconv 2.3.6, cumm 0.4.11, gpu 8.6", ""),
        ("torch 1.9.1+cu111, spconv 1.2.1, gpu 8.6", ""),  # made from source, of another kind
        # PyG's, by the local part of their version
        ("torch 2.0.1+cu118, torch-scatter 2.1.2+pt20cu118, gpu 8.6", ""),
        ("torch 2.0.1+cu117, torch-scatter 2.1.2+pt20cu118, gpu 8.6", ""),
        ("torch 2.1.0+cu118, torch-scatter 2.1.2+pt20cu118", "pyg/torch"),
        ("torch 2.10.0+cu128, torch-scatter 2.1.2+pt210cu128, python 3.10", ""),
        ("torch 1.13.1+cu117, torch-sparse 0.6.16+pt113cu117", ""),
        ("torch 1.12.1+cu116, torch-sparse 0.6.16+pt113cu117", "pyg/torch"),
        ("torch 2.0.1+cu118, torch-cluster 1.6.1+pt20cu121", "pyg/cuda"),
        ("torch 2.0.1+cpu, torch-spline-conv 1.2.2+pt20cu118", "pyg/cuda"),
        ("torch 2.0.1+cu118, torch-scatter 2.1.1+pt20cpu, gpu 8.6", "pyg/cpu-only"),
        ("torch 2.0.1+cpu, torch-scatter 2.1.1+pt20cpu, gpu 8.6", ""),
        ("torch 1.9.1+cu102, torch-scatter 2.0.9+cu111, gpu 7.5", "pyg/cuda-gpu"),
        ("torch 1.9.1+cu102, torch-scatter 2.0.9+cu111", ""),  # no GPU is known of
        ("torch 1.10.1+cu113, torch-sparse 0.6.12+cu111, gpu 7.5", ""),
        ("torch 1.7.1+cu110, torch-sparse 0.6.4+cu101", "pyg/cuda-exact"),
        ("torch 1.7.1+cu110, torch-sparse 0.6.4+cpu", "pyg/cuda-exact"),
        ("torch 2.1.0+cu118, torch-scatter 2.1.2, gpu 8.6", ""),  # compiled here, perhaps
        ("torch 2.1.0+cu118, torch-scatter 2.1.2+rocm5.4", ""),
        ("torch 2.1.0+cu118, torch-scatter 9.0+pt20cu118", ""),  # newer than the data
        ("torch 2.0.1+cu118, pyg-lib 0.4.0+pt20cu118", ""),
        ("torch 2.1.0+cu118, pyg-lib 0.4.0+pt20cu118", "pyg-lib/torch"),
        ("torch 2.1.0+cu118, pyg-lib 0.4.0", ""),
        # xformers: for one torch, of which it only warns
        ("torch 2.4.1+cu121, xformers 0.0.28", ""),
        ("torch 2.4.0+cu121, xformers 0.0.28", "xformers/pin"),
        ("torch 2.5.1+cu121, xformers 0.0.28", "xformers/torch"),
        ("torch 1.13.1+cu117, xformers 0.0.20", "xformers/torch"),
        ("torch 2.4.1+cu118, xformers 0.0.28", "xformers/cuda"),
        ("torch 2.4.1+cpu, xformers 0.0.28", "xformers/cuda"),
        ("torch 2.4.1+cu118, xformers 0.0.28+cu118", ""),
        ("torch 2.5.1+cu118, xformers 0.0.28+cu118", "xformers/torch"),
        ("torch 2.14.1+cu126, xformers 0.0.35, python 3.10", ""),
        ("torch 2.9.1+cu128, xformers 0.0.35, python 3.10", "xformers/pin"),
        ("torch 2.14.1+cu126, xformers 0.0.36, python 3.10", ""),  # newer than the data
        ("torch 2.0.1+cu118, xformers 0.0.13", ""),  # older than the data
        ("paddlepaddle-gpu 2.4.2, gpu 7.5", ""),
        ("paddlepaddle-gpu 2.4.2, gpu 8.6", "cuda/code"),
        ("paddlepaddle-gpu 2.4.2.post117, gpu 8.6", ""),
        ("paddlepaddle-gpu 2.6.2, gpu 8.9", ""),
        ("paddlepaddle-gpu 2.6.2, gpu 9.0", "cuda/code"),
        ("paddlepaddle-gpu 2.6.2.post117, gpu 9.0", "cuda/code"),
        ("paddlepaddle-gpu 2.6.2.post120, gpu 9.0", ""),
        ("paddlepaddle-gpu 2.3.2.post101, gpu 8.6", "cuda/code"),
        ("paddlepaddle-gpu 3.1.0, gpu 9.0, python 3.10", ""),  # that for CUDA 12
        ("paddlepaddle-gpu 3.0.0, gpu 12.0, python 3.10", "paddlepaddle-gpu/gpu"),
        ("paddlepaddle-gpu 3.2.0, gpu 12.0, python 3.10", ""),  # who knows what that for 12.9 has
        ("paddlepaddle-gpu 3.1.0, python 3.8", "python/wheel-tag"),
        ("paddlepaddle-gpu 3.9.0, gpu 9.0", ""),  # newer than what is known
        ("paddlepaddle-gpu 2.2.2, paddle3d 1.0, numba 0.56.4, numpy 1.21.6", "paddle3d/paddle"),
        ("paddlepaddle-gpu 2.4.2, paddle3d 1.0, numba 0.53.1, numpy 1.21.6", "metadata/numba"),
        ("paddlepaddle-gpu 2.4.2, protobuf 4.21.12, gpu 7.5", "protobuf/old-code"),
        ("paddlepaddle-gpu 2.5.2, protobuf 4.21.12, gpu 8.0", ""),
        ("paddlepaddle-gpu 2.5.2, protobuf 3.19.6, gpu 8.0", "protobuf/new-code"),
    ],
)
def test_what_breaks_a_stack(stack: str, expected: str) -> None:
    assert broken(stack) == set(expected.split())


def test_the_last_torch_of_an_mmcv_is_named() -> None:
    stack = "torch 2.4.1+cu121, mmcv-full 1.4.0"
    (violation,) = judged(stack, "mmcv-full").violations
    teller = Teller(violation, RELATIONS, domains(stack), "nvidia")
    wheels, sources, standard = violation.breaches
    assert "torch 2.4.1+cu121" in teller.part(wheels, "summary")
    assert "1.10.2" in teller.part(wheels, "summary")
    assert teller.part(wheels, "why") == "its wheels were compiled for torch 1.5 to 1.10"
    assert "THC/THC.h" in teller.part(sources, "why")
    assert "C++17" in teller.part(standard, "why")


@pytest.mark.parametrize(
    ("stack", "name", "relation", "error"),
    [
        (
            "torch 1.11.0+cu113, mmcv-full 1.4.5",
            "mmcv-full",
            "mmcv-full/thc",
            "THC/THC.h: No such file or directory",
        ),
        (
            "torch 2.1.0+cu118, mmcv-full 1.7.1",
            "mmcv-full",
            "mmcv-full/cxx14",
            "#error C++17 or later compatible compiler is required",
        ),
        (
            "torch 2.14.1+cu126, mmcv-full 1.7.2",
            "mmcv-full",
            "mmcv-full/cxx17",
            "#error C++20 or later compatible compiler is required",
        ),
        (
            "torch 2.1.0+cu121, mmcv 2.0.1, mmengine 0.10.7",
            "mmcv",
            "mmcv/cxx14",
            "#error C++17 or later compatible compiler is required",
        ),
        (
            "torch 2.15.0+cu130, mmcv 2.2.0, mmengine 0.10.7",
            "mmcv",
            "mmcv/cxx17",
            "#error C++20 or later compatible compiler is required",
        ),
        (
            "torch 1.11.0+cu113, mmcv-full 1.4.8, mmdet 2.25.0, mmdet3d 0.18.1",
            "mmdet3d",
            "mmdet3d/thc",
            "THC/THC.h: No such file or directory",
        ),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_error_of_a_build_is_told(
    stack: str, name: str, relation: str, error: str, language: str
) -> None:
    told = [
        Teller(violation, RELATIONS, domains(stack), "nvidia").part(breach, "why", language)
        for violation in judged(stack, name).violations
        for breach in violation.breaches
        if breach.bound.relation.id == relation
    ]
    assert [error in why for why in told] == [True]


@pytest.mark.parametrize(
    ("name", "stack", "expected"),
    [
        ("mmcv-full", "torch 1.9.1+cu111, mmcv-full 1.4.0", "cu111"),
        ("mmcv-full", "torch 1.10.1+cu113, mmcv-full 1.4.0", "cu111 cu113"),
        ("mmcv-full", "torch 1.8.1+cu102, mmcv-full 1.4.0", "cu102"),
        ("mmcv-full", "torch 1.13.1+cpu, mmcv-full 1.7.1", "cpu"),
        ("mmcv-full", "torch 1.9.1+cu111, abi 1, mmcv-full 1.4.0", ""),
        ("mmcv", "torch 2.1.2+cu121, mmcv 2.1.0, mmengine 0.10.7", "cu121"),
        ("flash-attn", "torch 1.13.0+cu116, flash-attn 2.3.2", "cu116 cu117 cu118"),
        ("flash-attn", "torch 2.6.0+cu124, flash-attn 2.7.4.post1, python 3.10", "cu12"),
        ("flash-attn", "torch 2.9.1+cu130, abi 1, flash-attn 2.8.3, python 3.12", "cu13"),
    ],
)
def test_which_wheels_fit(name: str, stack: str, expected: str) -> None:
    fitting = {
        build.attributes["cuda"]
        for build in judged(stack, name).survivors
        if build.attributes.get("origin") == "wheel"
    }
    tags = {value if isinstance(value, str) else cuda_tag(value) for value in fitting}  # type: ignore[arg-type]
    assert tags == set(expected.split())


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "flash-attn",
            "2.3.2+cu118torch2.1cxx11abiFALSE",
            {"cuda": "11.8", "torch": "2.1", "abi": 0},
        ),
        ("flash-attn", "2.8.3+cu12torch2.8cxx11abiTRUE", {"cuda": "12", "torch": "2.8", "abi": 1}),
        ("flash-attn", "2.8.3+cu124torch2.5", {"cuda": "12.4", "torch": "2.5"}),
        ("mmcv-full", "1.3.1+torch1.6.0+cu101", {"cuda": "10.1", "torch": "1.6"}),
        ("mmcv-full", "1.7.1+vendor1", {}),
        (
            "torch-scatter",
            "2.1.2+pt113cu117",
            {"tag": "pt113cu117", "torch": "1.13", "cuda": "11.7"},
        ),
        ("torch-scatter", "2.1.2+pt210cpu", {"tag": "pt210cpu", "torch": "2.10", "cuda": "cpu"}),
        ("torch-sparse", "0.6.12+cu102", {"tag": "cu102", "cuda": "10.2"}),
        ("torch-sparse", "0.6.17+pt20rocm5.4", {}),
    ],
)
def test_what_a_local_version_shows(name: str, text: str, expected: Dict[str, object]) -> None:
    shown = {k: v if isinstance(v, int) else str(v) for k, v in local(name, text).items()}
    assert shown == expected


@pytest.mark.parametrize(
    ("stack", "mismatch"),
    [
        ("torch 2.1.2+cu121", ""),
        ("torch 2.2.0+cu121", "flash-attn/wheel-torch"),
        ("torch 2.1.0+cu118", "flash-attn/wheel-cuda"),
        ("torch 2.1.0+cu121, abi 1", "flash-attn/wheel-abi"),
    ],
)
def test_a_wheel_for_another_torch_breaks_by_one_reason(stack: str, mismatch: str) -> None:
    version = "2.3.6+cu122torch2.1cxx11abiFALSE"
    observed = {**local("flash-attn", version), "origin": "wheel"}
    found = domains(stack)
    found["flash-attn"] = candidates(KNOWLEDGE.packages["flash-attn"], version, observed, "here")
    violations = judge(RELATIONS, "flash-attn", found, "nvidia").violations
    reasons = {breach.bound.relation.id for v in violations for breach in v.breaches}
    assert reasons == set(mismatch.split())


@pytest.mark.parametrize(
    ("stack", "variables", "expected"),
    [
        ("torch 2.9.1+cu130, abi 1, flash-attn 2.8.3", "", "flash-attn/cuda-13"),
        ("torch 2.9.1+cu130, abi 1, flash-attn 2.8.3.post1", "", ""),
        ("torch 2.10.0+cu130, abi 1, flash-attn 2.8.3", "", ""),  # no wheel for CUDA 12
        ("torch 2.9.1+cu130, abi 1, flash-attn 2.8.3", "FLASH_ATTENTION_FORCE_BUILD=TRUE", ""),
        (
            "torch 2.8.0+cu128, abi 1, flash-attn 2.8.3",
            "FLASH_ATTENTION_SKIP_CUDA_BUILD=TRUE",
            "flash-attn/skip-cuda-build",
        ),
        ("torch 2.2.2+cu121, flash-attn 2.8.3", "", ""),
    ],
)
def test_what_is_said_of_sources_of_flash_attn(stack: str, variables: str, expected: str) -> None:
    found = domains(f"{stack}, python 3.10")
    found["host.variables"] = (tuple(filter(None, [variables])),)
    found["flash-attn"] = tuple(
        b
        for b in found["flash-attn"]
        if b.attributes.get("origin") == "source"  # type: ignore[union-attr]
    )
    breaches = judge(RELATIONS, "flash-attn", found, "nvidia").breaches
    assert {breach.bound.relation.id for breach in breaches} == set(expected.split())


@pytest.mark.parametrize(
    ("stack", "toolkit", "variables", "expected"),
    [
        ("torch 2.1.2+cu121, deepspeed 0.14.4, python 3.10", "12.4", "", ""),
        ("torch 2.1.2+cu121, deepspeed 0.14.2, python 3.10", "12.4", "", "deepspeed/toolkit"),
        ("torch 2.1.2+cu121, deepspeed 0.14.2, python 3.10", "12.4", "DS_SKIP_CUDA_CHECK=1", ""),
        ("torch 1.13.1+cu117, deepspeed 0.9.2", "11.8", "DS_SKIP_CUDA_CHECK=1", ""),
        ("torch 2.0.1+cu118, deepspeed 0.9.2", "12.1", "DS_SKIP_CUDA_CHECK=1", "deepspeed/toolkit"),
        ("torch 2.9.1+cu130, deepspeed 0.18.9, python 3.10", "13.0", "", ""),
        ("torch 2.9.1+cu130, deepspeed 0.18.9, python 3.10", "13.1", "", "deepspeed/toolkit"),
        ("torch 2.0.1+cpu, deepspeed 0.18.9, python 3.10", "13.1", "", ""),
        ("torch 1.9.1+cu111, apex 0.1", "11.1", "", ""),
        ("torch 1.9.1+cu111, apex 0.1", "11.3", "", "apex/toolkit"),
        ("torch 1.13.1+cu117, minkowskiengine 0.5.4", "11.7", "", ""),
        ("torch 2.1.2+cu121, minkowskiengine 0.5.4", "12.1", "", "minkowskiengine/cuda-12"),
        (
            "torch 2.2.2+cu118, minkowskiengine 0.5.4, python 3.12",
            "11.8",
            "",
            "minkowskiengine/numpy-distutils",
        ),
        ("torch 1.7.1+cu110, detectron2 0.6", "11.0", "", "detectron2/source-torch"),
        ("torch 1.8.1+cu111, detectron2 0.6", "11.1", "", ""),
    ],
)
def test_what_a_build_from_source_meets(
    stack: str, toolkit: str, variables: str, expected: str
) -> None:
    found = domains(stack)
    found["build.toolkit"] = (parse(toolkit),)
    found["host.variables"] = (tuple(filter(None, [variables])),)
    (name,) = (n for n in parts(stack) if n not in ("torch", "python"))
    found[name] = tuple(
        b
        for b in found[name]
        if b.attributes.get("origin") == "source"  # type: ignore[union-attr]
    )
    breaches = judge(RELATIONS, name, found, "nvidia").breaches
    own = {b.bound.relation.id for b in breaches if b.bound.relation.owner == name}
    assert own == set(expected.split())


@pytest.mark.parametrize(
    ("name", "version", "wanted", "arguments"),
    [
        (
            "mmcv-full",
            "1.4.0",
            {"torch": "1.9", "cuda": "11.1"},
            "mmcv-full==1.4.0 --only-binary mmcv-full --no-cache-dir"
            " -f https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html",
        ),
        (
            "mmcv",
            "2.1.0",
            {"torch": "2.1", "cuda": "cpu"},
            "mmcv==2.1.0 --only-binary mmcv --no-cache-dir"
            " -f https://download.openmmlab.com/mmcv/dist/cpu/torch2.1.0/index.html",
        ),
        (
            "flash-attn",
            "2.3.2",
            {"torch": "1.13", "cuda": "11.6"},
            "flash-attn==2.3.2 --no-build-isolation --no-cache-dir",
        ),
    ],
)
def test_commands(name: str, version: str, wanted: Dict[str, str], arguments: str) -> None:
    found = {
        requirement_arguments(build)
        for build in KNOWLEDGE.packages[name].builds(parse(version))
        if all(str(build.attributes.get(k)) == v for k, v in wanted.items())
    }
    assert found == {arguments}


def test_a_wheel_for_a_nightly_torch_has_no_command() -> None:
    for build in KNOWLEDGE.packages["flash-attn"].builds():
        if build.attributes.get("nightly") is True:
            assert requirement_arguments(build) is None
            assert KNOWLEDGE.citations[build.entry].basis == "inferred"


def ranges() -> Iterator[Tuple[str, str, str]]:
    """Every range that a release of a package states of another package."""
    for name in EXTENSIONS:
        seen = set()
        for build in KNOWLEDGE.packages[name].builds():
            for attribute, value in build.attributes.items():
                module = attribute.replace("_", "-")
                if isinstance(value, Specifier) and attribute not in OF_PYTHON:
                    seen.add((name, CALLED.get(module, module), str(value)))
        yield from sorted(seen)


@pytest.mark.parametrize(("name", "other", "text"), list(ranges()))
def test_a_range_lets_some_release_pass(name: str, other: str, text: str) -> None:
    providers = KNOWLEDGE.providers.get(other, ()) or (other,)
    releases = [v for one in providers for v in KNOWLEDGE.packages[one].releases]
    assert any(satisfies(version, text) for version in releases), f"{name}: {other} {text}"


@pytest.mark.parametrize("name", EXTENSIONS)
def test_every_relation_compiles(name: str) -> None:
    for relation in KNOWLEDGE.relations:
        if relation.owner == name:
            for text in filter(None, (relation.needs, relation.condition)):
                compile_expression(text, KNOWLEDGE, name)
            assert relation.severity in SEVERITIES


def torches(code: str) -> List[Build]:
    """The wheels of torch for x86_64 with compiled code of an architecture, the oldest first."""
    return [
        build
        for build in KNOWLEDGE.packages["torch"].builds()
        if build.attributes.get("architecture") == "x86_64"
        and architecture(code) in build.attributes.get("sass", ())  # type: ignore[operator]
    ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("3.7", "2.7.1 cu118"),  # Kepler
        ("5.0", "2.14.1 cu126"),  # Maxwell
        ("6.0", "2.14.1 cu126"),  # Pascal
        ("7.0", "2.14.1 cu126"),  # Volta
        ("7.5", "2.15.0"),
        ("9.0", "2.15.0"),
        ("12.0", "2.15.0"),
    ],
)
def test_the_last_torch_for_a_gpu(code: str, expected: str) -> None:
    last = torches(code)[-1]
    assert f"{last.version} {cuda_tag(last.attributes['cuda'])}".startswith(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("release", "has", "lacks"),
    [
        ("1.6.0", "3.7 7.5", "8.0"),
        ("1.7.1", "7.5", "8.0 8.6"),
        ("1.8.0", "7.0", "7.5 8.0"),  # Turing runs the code of Volta
        ("1.12.1", "7.0", "7.5 8.0 8.6 9.0"),
        ("1.13.1", "7.5 8.6", "9.0"),
        ("2.0.1", "3.7 8.6", "9.0"),
        ("2.1.0", "5.0 9.0", "3.7"),
        ("2.7.1", "5.0 9.0", "10.0 12.0"),
        ("2.8.0", "7.0 12.0", "5.0 6.0"),
        ("2.11.0", "7.5 12.0", "5.0 6.0 7.0"),
    ],
)
def test_what_a_plain_pip_install_of_torch_gives(release: str, has: str, lacks: str) -> None:
    (plain,) = (
        build
        for build in KNOWLEDGE.packages["torch"].builds(parse(release))
        if build.attributes.get("install") == "{name}=={version}"
        and build.attributes.get("architecture") == "x86_64"
    )
    code = plain.attributes["sass"]
    assert isinstance(code, tuple)
    assert {architecture(one) for one in has.split()} <= set(code)
    assert not {architecture(one) for one in lacks.split()} & set(code)
    assert plain.attributes["ptx"] == ()
