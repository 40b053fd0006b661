"""What `envdoctor check` says of environments whose verdict is known.

Each case is a stack that people install, a GPU, a driver, and everything of level error or warning
that is to be said. "Quiet" cases are the other side: they differ by little and are healthy.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple, Tuple

import pytest
from environments import HERE, Checked, Installed, Made, Stack, check_environment


class Wanted(NamedTuple):
    """A finding: its name, whose fault it is, when it is met, and what its words must hold."""

    name: str
    component: str
    phase: str
    says: Tuple[str, ...] = ()
    severity: str = "error"


class Case(NamedTuple):
    title: str
    stack: Stack
    wanted: Tuple[Wanted, ...] = ()
    python: str = "3.10"
    gpu: str = "a100"
    driver: str = "535.129.03"
    unanswered: Tuple[str, ...] = ()  # texts among the questions that could not be answered


# --- stacks as their authors state them ---------------------------------------------------------

# docs/install.md of MapTR, in its order, on Python 3.8: mmdetection3d is vendored and installed in
# place, the rest is what pip then takes. av2 wants numpy>=1.21.5, the vendored tree numpy<1.20.0:
# authors train with it. Shapely 1.8.5.post1 beside nuscenes-devkit's Shapely<=1.8.5 is told as
# little as any other post-release.
MAPTR: Stack = {
    "torch": "1.9.1+cu111",
    "torchvision": "0.10.1+cu111",
    "torchaudio": "0.9.1",
    "mmcv-full": "1.4.0",
    "mmdet": "2.14.0",
    "mmsegmentation": "0.14.1",
    "timm": "1.0.11",
    "mmdet3d": Installed(
        "0.17.2",
        develop=[
            "lyft_dataset_sdk",
            "networkx<2.3,>=2.2",
            "numba==0.48.0",
            "numpy<1.20.0",
            "nuscenes-devkit",
            "plyfile",
            "scikit-image",
            "tensorboard",
            "trimesh<2.35.40,>=2.35.39",
        ],
    ),
    "lyft_dataset_sdk": "0.0.8",
    "networkx": "2.2",
    "numba": "0.48.0",
    "llvmlite": "0.31.0",
    "numpy": "1.23.5",
    "nuscenes-devkit": "1.1.10",
    "plyfile": "1.0.3",
    "scikit-image": "0.19.3",
    "tensorboard": "2.14.0",
    "trimesh": "2.35.39",
    "shapely": "1.8.5.post1",
    "av2": "0.2.1",
    "matplotlib": "3.5.2",
    "opencv-python": "4.8.1.78",
    "pandas": "1.5.3",
    "pillow": "9.5.0",
    "pycocotools": "2.0.7",
    "pyquaternion": "0.9.9",
    "scikit-learn": "1.3.0",
    "scipy": "1.10.1",
}
MAPTR_WARNINGS = (
    Wanted("dependency-conflict", "numpy 1.23.5", "import", ("numpy<1.20.0",), "warning"),
)

# requirement.txt and docs/quick_start.md of SparseDrive, on Python 3.8.
SPARSEDRIVE: Stack = {
    "torch": "1.13.0+cu116",
    "torchvision": "0.14.0+cu116",
    "torchaudio": "0.13.0+cu116",
    "numpy": "1.23.5",
    "mmcv-full": "1.7.1",
    "mmdet": "2.28.2",
    "urllib3": "1.26.16",
    "pyquaternion": "0.9.9",
    "nuscenes-devkit": "1.1.10",
    "yapf": "0.33.0",
    "tensorboard": "2.14.0",
    "motmetrics": "1.1.3",
    "pandas": "1.1.5",
    "flash-attn": "2.3.2",
    "opencv-python": "4.8.1.78",
    "prettytable": "3.7.0",
    "scikit-learn": "1.3.0",
    "einops": "0.7.0",
    "matplotlib": "3.5.2",
    "scipy": "1.10.1",
    "shapely": "1.8.5",
}

STATED = [
    Case(
        "mmcv-full 1.4.0 beside torch 2.4.1",
        {"torch": "2.4.1+cu121", "mmcv-full": "1.4.0"},
        (Wanted("torch-abi-mismatch", "mmcv-full 1.4.0", "import", ("torch 2.4.1", "1.10")),),
        python="3.8",
    ),
    Case(
        "torch 2.2.2 with numpy 2",
        {"torch": "2.2.2", "numpy": "2.0.2"},
        (Wanted("numpy2-abi", "torch 2.2.2+cu121", "run", ("numpy 2.0.2",)),),
    ),
    Case(
        "torchvision 0.21.0 beside torch 2.4.1",
        {"torch": "2.4.1", "torchvision": "0.21.0"},
        (Wanted("torch-torchvision-mismatch", "torchvision 0.21.0", "import", ("0.19.1",)),),
    ),
    Case(
        "transformers 4.57.3 beside torch 2.0.1",
        {"torch": "2.0.1", "transformers": "4.57.3"},
        (
            Wanted(
                "transformers-torch-skew", "transformers 4.57.3", "run", ("torch 2.0.1", "2.2.0")
            ),
        ),
    ),
    Case(
        "transformers 5.24.0 beside torch 2.0.1",
        {"torch": "2.0.1", "transformers": "5.24.0"},
        (Wanted("transformers-torch-skew", "transformers 5.24.0", "run", ("2.6",)),),
        python="3.11",
    ),
    Case("torch 2.7.0 for CUDA 12.6, quiet", {"torch": "2.7.0+cu126"}),
    Case(
        "CUDA 12.1 on driver 470",
        {"torch": "2.4.1+cu121"},
        (
            Wanted(
                "driver-too-old",
                "torch 2.4.1+cu121",
                "run",
                ("470.57.02", "525.60.13", "cu118"),
            ),
        ),
        driver="470.57.02",
    ),
    Case(
        "torch 2.4.1 on an RTX 5090",
        {"torch": "2.4.1+cu121"},
        (Wanted("gpu-arch-not-in-torch", "torch 2.4.1+cu121", "run", ("sm_120", "2.7.0")),),
        gpu="rtx5090",
        driver="575.57.08",
    ),
    Case(
        "mmdet 2.28.2 with mmcv-full 1.3.0",
        {"torch": "1.8.0+cu111", "mmcv-full": "1.3.0", "mmdet": "2.28.2"},
        (Wanted("openmmlab-version-assert", "mmdet 2.28.2", "import", ("1.3.17", "1.3.0")),),
        python="3.8",
    ),
    Case(
        "MapTR as stated, quiet but for its pins",
        MAPTR,
        MAPTR_WARNINGS,
        python="3.8",
        gpu="rtx3090",
        driver="470.199.02",
    ),
    Case(
        "SparseDrive as stated, quiet",
        SPARSEDRIVE,
        python="3.8",
        gpu="rtx3090",
        driver="470.199.02",
    ),
    Case(
        "torch 1.9.1 for CUDA 11.1 on an RTX 4090, quiet",
        {"torch": "1.9.1+cu111"},
        python="3.8",
        gpu="rtx4090",
    ),
    Case(
        "torch 1.9.1 for CUDA 11.1 on an H100",
        {"torch": "1.9.1+cu111"},
        (Wanted("gpu-arch-not-in-torch", "torch 1.9.1+cu111", "run", ("sm_90", "2.0.0")),),
        python="3.8",
        gpu="h100",
    ),
]


def flash_attn(version: str, tag: str, cpython: str = "cp310") -> Installed:
    """A wheel of the project's releases: its file name says what its metadata does not."""
    wheel = f"flash_attn-{version}%2B{tag}-{cpython}-{cpython}-linux_x86_64.whl"
    base = "https://github.com/Dao-AILab/flash-attention/releases/download"
    return Installed(version, url=f"{base}/v{version}/{wheel}")


GPUS = [
    Case(
        "torch 1.13.1 of PyPI on an H100",
        {"torch": "1.13.1"},
        (Wanted("gpu-arch-not-in-torch", "torch 1.13.1+cu117", "run", ("sm_90", "2.0.0")),),
        gpu="h100",
    ),
    Case("torch 2.0.1 for CUDA 11.8 on an H100, quiet", {"torch": "2.0.1+cu118"}, gpu="h100"),
    Case(
        "one of two kinds of GPU is not served",
        {"torch": "1.13.1"},
        (Wanted("gpu-arch-not-in-torch", "torch 1.13.1+cu117", "run", ("sm_90",)),),
        gpu="a100,h100",
    ),
    Case("both kinds of GPU are served, quiet", {"torch": "2.0.1+cu118"}, gpu="a100,h100"),
    Case(
        "CUDA 11.8 still has Kepler, quiet",
        {"torch": "2.0.1+cu118"},
        gpu="k80",
        driver="470.199.02",
    ),
    Case(
        "CUDA 12 has no Kepler, nor has its driver",
        {"torch": "2.4.1"},
        (
            Wanted(
                "gpu-arch-not-in-torch",
                "torch 2.4.1+cu121",
                "run",
                ("sm_37", "1.2.0 to 2.7.1+cu118", "torch==2.4.1+cu118"),
            ),
            Wanted("driver-too-old", "torch 2.4.1+cu121", "run", ("525.60.13",)),
        ),
        gpu="k80",
        driver="470.199.02",
    ),
    Case(
        "torch 2.11.0 of PyPI on a V100",
        {"torch": "2.11.0"},
        (Wanted("gpu-arch-not-in-torch", "torch 2.11.0+cu130", "run", ("sm_70", "cu126")),),
        gpu="v100",
        driver="580.95.05",
    ),
    Case(
        "torch 2.11.0 for CUDA 12.6 on a V100, quiet",
        {"torch": "2.11.0+cu126"},
        gpu="v100",
        driver="580.95.05",
    ),
    Case(
        "code of sm_70 runs on Turing, quiet",
        {"torch": "1.12.1"},
        python="3.8",
        gpu="rtx2080ti",
    ),
    Case(
        "torch 2.7.1 of PyPI on an RTX 5090: another build of the release has it",
        {"torch": "2.7.1"},
        (Wanted("gpu-arch-not-in-torch", "torch 2.7.1+cu126", "run", ("sm_120", "cu128")),),
        gpu="rtx5090",
        driver="575.57.08",
    ),
    Case(
        "torch 2.7.1 for CUDA 12.8 on an RTX 5090, quiet",
        {"torch": "2.7.1+cu128"},
        gpu="rtx5090",
        driver="575.57.08",
    ),
    Case("code of sm_86 runs on Ada, quiet", {"torch": "1.13.1"}, gpu="l40s"),
]

DRIVERS = [
    Case(
        "a driver at the floor of its family, quiet",
        {"torch": "2.4.1"},
        driver="525.60.13",
    ),
    Case(
        "a driver just below the floor",
        {"torch": "2.4.1"},
        (Wanted("driver-too-old", "torch 2.4.1+cu121", "run", ("525.60.13",)),),
        driver="520.61.05",
    ),
    Case("CUDA 12.8 on a driver of 12.2, quiet", {"torch": "2.9.1"}),
    Case(
        "CUDA 13 on a driver of 12.2",
        {"torch": "2.11.0"},
        (Wanted("driver-too-old", "torch 2.11.0+cu130", "run", ("580.65.06", "cu12")),),
    ),
    Case(
        "CUDA 11.8 on a driver of 11.0, quiet",
        {"torch": "2.1.2+cu118"},
        driver="450.80.02",
    ),
    Case(
        "CUDA 10.2 has no families",
        {"torch": "1.8.1"},
        (Wanted("driver-too-old", "torch 1.8.1+cu102", "run", ("440.33",)),),
        python="3.8",
        gpu="v100",
        driver="418.87.00",
    ),
    Case(
        "the CPU build needs no driver",
        {"torch": "2.4.1+cpu"},
        (Wanted("cpu-only-torch", "torch 2.4.1+cpu", "run", ("none found",), "warning"),),
        driver="390.157",
    ),
]

PAIRS = [
    Case(
        "torchvision 0.19.1 beside torch 2.4.1, quiet", {"torch": "2.4.1", "torchvision": "0.19.1"}
    ),
    Case(
        "torchvision for CUDA 11.8 beside torch for 12.1",
        {"torch": "2.4.1+cu121", "torchvision": "0.19.1+cu118"},
        (
            Wanted(
                "torch-torchvision-mismatch",
                "torchvision 0.19.1+cu118",
                "import",
                ("11.8", "12.1"),
            ),
        ),
    ),
    Case(
        "torchvision for CUDA 12.4 beside torch for 12.1, quiet: the major is what counts",
        {"torch": "2.4.1+cu121", "torchvision": "0.19.1+cu124"},
    ),
    Case("numpy 1.26 with torch 2.2.2, quiet", {"torch": "2.2.2", "numpy": "1.26.4"}),
    Case("numpy 2 with torch 2.3.1, quiet", {"torch": "2.3.1", "numpy": "2.0.2"}),
    Case(
        "pandas and opencv of the time of numpy 1 with numpy 2",
        {
            "numpy": "2.2.6",
            "pandas": "2.2.1",
            "opencv-python": "4.9.0.80",
            "pycocotools": "2.0.7",
            "torch": "2.4.1",
        },
        (
            Wanted(
                "numpy2-abi",
                "pandas 2.2.1",
                "import",
                ("import pandas will fail", "numpy 2.2.6", "2.2.2 to 3"),
            ),
            Wanted("numpy2-abi", "opencv-python 4.9.0.80", "import", ("import cv2", "4.10.0.84")),
            Wanted("numpy2-abi", "pycocotools 2.0.7", "import", ("2.0.8 to 2.0.11",)),
        ),
    ),
    Case(
        "numpy 2 with torch 1.13.1",
        {"torch": "1.13.1", "numpy": "2.0.2"},
        (Wanted("numpy2-abi", "torch 1.13.1+cu117", "run", ("numpy 2.0.2",)),),
    ),
    Case(
        "torch newer than the data, quiet and said to be untested",
        {"torch": "2.99.0+cu140"},
        driver="580.95.05",
        unanswered=("torch 2.99.0+cu140 is newer",),
    ),
]

OPENMMLAB = [
    Case(
        "mmcv-full 1.7.1 and mmdet 2.28.2 on torch 1.13.0, quiet",
        {"torch": "1.13.0+cu117", "mmcv-full": "1.7.1", "mmdet": "2.28.2"},
        python="3.8",
    ),
    Case(
        "mmdet 2.14.0 takes mmcv-full 1.4.0, its upper bound, quiet",
        {"torch": "1.9.1+cu111", "mmcv-full": "1.4.0", "mmdet": "2.14.0"},
        python="3.8",
    ),
    Case(
        "mmdet 3.1.0 refuses mmcv 2.1.0, its upper bound",
        {"torch": "2.1.0+cu121", "mmcv": "2.1.0", "mmengine": "0.10.4", "mmdet": "3.1.0"},
        (
            Wanted(
                "openmmlab-version-assert",
                "mmdet 3.1.0",
                "import",
                ("2.1.0", "1 package: mmdet 3.1.0 -> 3.2.0"),
            ),
        ),
    ),
    Case(
        "mmdet 3.3.0 takes mmcv 2.1.0, quiet",
        {"torch": "2.1.0+cu121", "mmcv": "2.1.0", "mmengine": "0.10.4", "mmdet": "3.3.0"},
    ),
    Case(
        "mmdet 3.3.0 and mmdet3d 1.4.0 refuse mmcv 2.2.0",
        {
            "torch": "2.4.1+cu121",
            "mmcv": "2.2.0",
            "mmengine": "0.10.4",
            "mmdet": "3.3.0",
            "mmdet3d": "1.4.0",
        },
        (
            Wanted("openmmlab-version-assert", "mmdet 3.3.0", "import", ("2.2.0",)),
            Wanted("openmmlab-version-assert", "mmdet3d 1.4.0", "import", ("2.2.0",)),
        ),
    ),
    Case(
        "mmsegmentation 0.28.0 refuses mmcv-full 1.7.0",
        {"torch": "1.13.0+cu117", "mmcv-full": "1.7.0", "mmsegmentation": "0.28.0"},
        (Wanted("openmmlab-version-assert", "mmsegmentation 0.28.0", "import", ("1.7.0",)),),
        python="3.8",
    ),
    Case(
        "mmsegmentation 0.30.0 takes it, quiet",
        {"torch": "1.13.0+cu117", "mmcv-full": "1.7.0", "mmsegmentation": "0.30.0"},
        python="3.8",
    ),
    Case(
        "mmdet without mmcv",
        {"torch": "2.1.0+cu121", "mmengine": "0.10.4", "mmdet": "3.3.0"},
        (Wanted("python-module-missing", "mmdet 3.3.0", "import", ("mmcv", "mmcv==2.1.0")),),
    ),
    Case(
        "mmdet before 2.3 has operators of its own, quiet",
        {"torch": "1.5.0+cu101", "mmcv": "0.5.9", "mmdet": "2.0.0"},
        python="3.8",
        gpu="v100",
        driver="470.199.02",
    ),
    Case(
        "all that need operators, and one mmcv that has none",
        {
            "torch": "1.9.1+cu111",
            "mmcv": "1.4.0",
            "mmdet": "2.14.0",
            "mmsegmentation": "0.14.1",
        },
        (
            Wanted("mmcv-without-ops", "mmdet 2.14.0", "import", ("mmcv-full==1.4.0",)),
            Wanted("mmcv-without-ops", "mmsegmentation 0.14.1", "import", ("mmcv-full==1.4.0",)),
        ),
        python="3.8",
    ),
    Case(
        "mmdet 2.28.2 with mmcv 1.7.1, which has no operators",
        {"torch": "1.13.0+cu117", "mmcv": "1.7.1", "mmdet": "2.28.2"},
        (
            Wanted(
                "mmcv-without-ops",
                "mmdet 2.28.2",
                "import",
                ("mmcv 1.7.1", "compiled operators", "mmcv-full==1.7.", "torch1.13.0"),
            ),
        ),
        python="3.8",
    ),
    Case(
        "mmcv 2.1.0 on torch 2.1.0, quiet",
        {"torch": "2.1.0+cu121", "mmcv": "2.1.0", "mmengine": "0.10.4"},
    ),
    Case(
        "mmcv 2.1.0 on torch 2.5.1: no wheel, but it may have been compiled here",
        {"torch": "2.5.1+cu121", "mmcv": "2.1.0", "mmengine": "0.10.4"},
        unanswered=("mmcv 2.1.0",),
    ),
    Case(
        "mmcv-full 1.7.1 on torch 1.10.1 for CUDA 11.3, quiet",
        {"torch": "1.10.1+cu113", "mmcv-full": "1.7.1"},
        python="3.8",
    ),
]

EXTENSIONS = [
    Case(
        "a flash-attn wheel for torch 2.1 in torch 2.4.1",
        {"torch": "2.4.1", "flash-attn": flash_attn("2.5.8", "cu122torch2.1cxx11abiFALSE")},
        (Wanted("torch-abi-mismatch", "flash-attn 2.5.8", "import", ("2.1", "torch 2.4.1")),),
    ),
    Case(
        "a flash-attn wheel for this torch, quiet",
        {"torch": "2.1.2", "flash-attn": flash_attn("2.5.8", "cu122torch2.1cxx11abiFALSE")},
    ),
    Case(
        "a flash-attn wheel of the other C++ ABI",
        {"torch": "2.4.1", "flash-attn": flash_attn("2.6.3", "cu123torch2.4cxx11abiTRUE")},
        (Wanted("cxx11-abi-mismatch", "flash-attn 2.6.3", "import", ("torch 2.4.1",)),),
    ),
    Case(
        "flash-attn on a V100",
        {"torch": "2.3.1", "flash-attn": "2.5.8"},
        (Wanted("gpu-arch-not-in-extension", "flash-attn 2.5.8", "run", ("sm_70",)),),
        gpu="v100",
    ),
    Case(
        "flash-attn on an RTX 3090, quiet",
        {"torch": "2.3.1", "flash-attn": "2.5.8"},
        gpu="rtx3090",
    ),
]

TRANSFORMERS = [
    Case(
        "transformers 4.46.3 beside torch 2.0.1, quiet",
        {"torch": "2.0.1", "transformers": "4.46.3", "tokenizers": "0.20.3"},
    ),
    Case(
        "tokenizers below the range that transformers checks",
        {"torch": "2.7.0", "transformers": "4.57.3", "tokenizers": "0.20.3"},
        (
            Wanted(
                "transformers-dependency-range",
                "transformers 4.57.3",
                "import",
                ("tokenizers 0.20.3", "0.22"),
            ),
        ),
    ),
    Case(
        "huggingface-hub above it",
        {"torch": "2.7.0", "transformers": "4.57.3", "huggingface-hub": "1.1.0"},
        (
            Wanted(
                "transformers-dependency-range",
                "transformers 4.57.3",
                "import",
                ("1.1.0", "1.0", "huggingface-hub==0."),
            ),
        ),
    ),
    Case(
        "both in range, quiet",
        {
            "torch": "2.7.0",
            "transformers": "4.57.3",
            "tokenizers": "0.22.1",
            "huggingface-hub": "0.36.0",
        },
    ),
]

CASES = STATED + GPUS + DRIVERS + PAIRS + OPENMMLAB + EXTENSIONS + TRANSFORMERS


def machine(case: Case) -> Tuple[str, ...]:
    return ("--gpu", case.gpu, "--driver", case.driver, "--glibc", "2.35")


def judge(checked: Checked, case: Case) -> None:
    found = checked.findings("error", "warning")
    told = sorted((f["severity"], f["name"], f["component"], f["phase"]) for f in found)
    assert told == sorted((w.severity, w.name, w.component, w.phase) for w in case.wanted)
    for wanted in case.wanted:
        (finding,) = (
            f for f in found if (f["name"], f["component"]) == (wanted.name, wanted.component)
        )
        words = [finding["summary"], finding["why"]]
        for fix in finding["fixes"]:
            words += [fix["summary"], *fix["commands"]]
        text = "\n".join(words)
        assert [part for part in wanted.says if part not in text] == [], text
    assert checked.code == int(any(w.severity == "error" for w in case.wanted))
    reasons = "\n".join(s["reason"] for s in checked.report["skipped"])
    assert [part for part in case.unanswered if part not in reasons] == [], reasons


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_verdict(case: Case, made: Made) -> None:
    environment = made(case.stack, case.python)
    judge(check_environment(environment, *machine(case)), case)


@pytest.mark.parametrize(
    "case", [c for c in STATED if c.python == "3.8"], ids=lambda case: case.title
)
def test_an_assumed_python_changes_no_verdict(case: Case, made: Made) -> None:
    """The same packages in an environment of the Python that runs the tests."""
    environment = made(case.stack, case.python, found=False)
    judge(check_environment(environment, *machine(case)), case)


def test_commands_of_others_are_nothing_to_an_environment_that_is_not_active(
    made: Made, tmp_path: Path
) -> None:
    case = next(c for c in STATED if c.title.startswith("torch 2.7.0"))
    script = tmp_path / "pip"
    script.write_text(f"#!{sys.executable}\n")
    script.chmod(0o755)
    environment = made(case.stack, case.python)
    environ = {"PATH": f"{tmp_path}{os.pathsep}{os.defpath}"}
    judge(check_environment(environment, *machine(case), environ=environ), case)


def test_ordinary_distributions_are_nothing_to_speak_of(made: Made) -> None:
    """183 distributions that pip chose together, torch among them."""
    stack = json.loads((HERE / "ordinary.json").read_text())
    assert len(stack) > 150
    case = Case("ordinary", stack, python="3.11")
    checked = check_environment(made(stack, case.python), *machine(case))
    judge(checked, case)
    assert checked.report["findings"] == []
