"""Resolutions as they may come from the resolver, fixed, for tests of what is shown."""

from __future__ import annotations

from typing import Dict, Tuple

import msgspec

from envdoctor.model.finding import Citation
from envdoctor.model.resolution import (
    CRITERIA,
    HOST,
    IMAGE,
    IMPOSSIBLE,
    MISSING,
    RELAXED,
    SOLVED,
    THERE,
    UNASKED,
    UNKNOWN,
    VENV,
    Bound,
    Core,
    Criterion,
    Member,
    Moved,
    Override,
    Reason,
    Rejection,
    Relaxed,
    Resolution,
    Verified,
    Way,
)

WHEELS = "https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html"
TORCH = "https://download.pytorch.org/whl/cu118"


def costs(*values: int, pins: Tuple[int, ...] = (0, 0, 0, 0)) -> Tuple[Criterion, ...]:
    """The criteria in their order; `values` are those that are numbers."""
    numbers = iter(values)
    return tuple(
        Criterion(name, pins if name == "pin_distance" else next(numbers)) for name in CRITERIA
    )


PINNED = (
    Member("image", "nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04", origin="image"),
    Member("python", "3.8", origin="image", pinned=True),
    Member(
        "torch",
        "1.9.1+cu111",
        {"cuda": "11.1", "origin": "wheel"},
        url="https://download.pytorch.org/whl/torch_stable.html",
        requirement="torch==1.9.1+cu111",
        pinned=True,
    ),
    Member("mmcv-full", "1.4.0", url=WHEELS, requirement="mmcv-full==1.4.0", pinned=True),
    Member("mmdet", "2.14.0", requirement="mmdet==2.14.0", pinned=True),
    Member("mmdet3d", "0.17.2", origin="source", tree="mmdetection3d", pinned=True),
)
GPU = Reason("host.gpu", "fact", "GPU h100 (sm_90)", "--gpu")
TORCH_PIN = Reason("pin/torch", "pin", "torch ==1.9.1 (cuda 11.1)", "docs/install.md:15")
CODE = Reason(
    "torch/code", "relation", "torch 1.9.1+cu111 has code up to sm_86 and no PTX", "torch's wheels"
)
MMCV_PIN = Reason("pin/mmcv-full", "pin", "mmcv-full ==1.4.0", "docs/install.md:26")
MMCV = Reason(
    "mmcv-full/thc",
    "relation",
    "mmcv-full 1.4.0 has wheels for torch 1.3 to 1.10, and its sources stop at THC/THC.h",
    "mmcv's wheel pages",
)
CITED = (
    Citation("torch/code", "the fat binaries in torch's wheels", "2026-11-30", "measured"),
    Citation("mmcv-full/thc", "mmcv's setup.py and wheel pages", "2026-11-30", "measured"),
)
CORES = (
    Core(
        (GPU, TORCH_PIN, CODE),
        folded=(
            Rejection("torch", "torch/code", 3, "no code for sm_90"),
            Rejection("torch", "torch/pin", 1, "not what is pinned"),
        ),
    ),
    Core((GPU, MMCV_PIN, MMCV), folded=(Rejection("mmcv-full", "mmcv-full/thc", 62, "too old"),)),
)
WAYS = (
    Way("gpu", "an A100, L40S or RTX 4090 runs the authors' stack unchanged", ("host.gpu",)),
    Way(
        "versions",
        "torch 2.0.0+cu118 with mmcv-full 1.7.2",
        ("pin/torch", "pin/mmcv-full"),
        (Member("torch", "2.0.0+cu118"), Member("mmcv-full", "1.7.2")),
    ),
)

SOLVED_AS_PINNED = Resolution(
    "resolve",
    "0.1.0",
    "2026-11-30",
    SOLVED,
    True,
    profile="maptr",
    asked=("MapTR",),
    target=IMAGE,
    machine=("GPU a100", "driver 535.129.03"),
    stack=PINNED,
    criteria=costs(0, 0, 0, 1, 0, 12),
    rest=("nuscenes-devkit==1.1.9", "einops"),
    constraints=(Bound("numpy", "<1.24", ("torch/numpy",)),),
)
RELAXED_ON_H100 = Resolution(
    "resolve",
    "0.1.0",
    "2026-11-30",
    RELAXED,
    True,
    profile="maptr",
    asked=("MapTR",),
    target=IMAGE,
    machine=("GPU h100", "driver 535.129.03"),
    stack=(
        Member("image", "nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04", origin="image"),
        Member("python", "3.8", origin="image", pinned=True),
        Member("torch", "2.0.0+cu118", {"cuda": "11.8"}, url=TORCH, pinned=True),
        Member("mmcv-full", "1.7.2", origin="source", pinned=True, patches=("mmcv-thc",)),
        Member("mmdet3d", "0.17.2", origin="source", tree="mmdetection3d", pinned=True),
    ),
    relaxed=(
        Relaxed("torch ==1.9.1 (cuda 11.1)", "2.0.0+cu118", ("torch/code",)),
        Relaxed("mmcv-full ==1.4.0", "1.7.2", ("mmcv-full/thc",)),
    ),
    patches=("mmcv-thc", "mmdet3d-thc", "mmdet3d-atomics", "mmdet3d-eigen"),
    criteria=costs(2, 4, 0, 2, 6, 3, pins=(0, 4, 3, 2)),
    cores=CORES,
    idle=("driver", "glibc", "compiler"),
    ways=WAYS,
    assumptions=("glibc is 2.17 or newer",),
    overrides=(
        Override(
            (
                "mmdet3d asks for numba ==0.48 (setup.py:12)",
                "it runs with numba 0.53 (README:4)",
            ),
            "numba 0.53",
            "0.48 has no wheel for Python 3.8",
        ),
    ),
    citations=CITED,
)
NONE = Resolution(
    "resolve",
    "0.1.0",
    "2026-11-30",
    IMPOSSIBLE,
    asked=("torch==1.9.1", "mmcv-full==1.4.0"),
    target=VENV,
    machine=("GPU h100",),
    cores=CORES,
    more_cores=True,
    idle=("glibc",),
    ways=WAYS,
    citations=CITED,
    notes=("r.txt:3: left out: not known whether python_version < '3.9'",),
)
ONE_REASON = Resolution(
    "resolve",
    "0.1.0",
    "2026-11-30",
    IMPOSSIBLE,
    asked=("torch==1.9", "torch==2.0"),
    target=VENV,
    cores=(
        Core(
            (
                Reason("pin/1", "pin", "torch ==1.9", "command line"),
                Reason("pin/2", "pin", "torch ==2.0", "r.txt:2"),
            )
        ),
    ),
)
ON_THIS_HOST = Resolution(
    "resolve",
    "0.1.0",
    "2026-11-30",
    SOLVED,
    asked=("torch==2.2.2", "numpy"),
    target=HOST,
    machine=("GPU A100", "driver 535.129.03"),
    stack=(
        Member("python", "3.10.12", origin="host"),
        Member("torch", "2.2.2+cu121", url="https://download.pytorch.org/whl/cu121", pinned=True),
        Member("numpy", "1.26.4", pinned=True),
    ),
    changes=(
        Moved("numpy", "2.1.0", "1.26.4", "torch 2.2.2 was compiled with NumPy 1"),
        Moved("torch", "", "2.2.2+cu121"),
        Moved("xformers", "0.0.20", "", "it needs torch 2.0.1"),
    ),
    criteria=costs(0, 0, 3, 0, 0, 20),
)
NOT_KNOWN = Resolution(
    "resolve",
    "0.1.0",
    "2026-11-30",
    UNKNOWN,
    target=VENV,
    reason="no release of torch that is known fits ==9.0; known are 1.6.0 to 2.9.1",
    matrices_added=("/home/ann/matrices",),
)

VERIFIED = msgspec.structs.replace(
    ON_THIS_HOST,
    optimal=True,
    verified=(
        Verified("torch", "2.2.2+cu121", UNASKED, "download.pytorch.org does not answer"),
        Verified("numpy", "1.26.4", THERE, url="https://example.org/numpy-1.26.4.whl"),
        Verified("einops", "0.9", MISSING, "the index has no such release", nearest=("0.8.1",)),
    ),
    learned=("with numpy==2.0 the rest cannot be installed: scipy needs numpy<2",),
    reason="there is no uv, and no pip of 22.2 or newer: install uv",
    notes=(),
)

RESOLUTIONS: Dict[str, Resolution] = {
    "pinned": SOLVED_AS_PINNED,
    "relaxed": RELAXED_ON_H100,
    "none": NONE,
    "one_reason": ONE_REASON,
    "host": ON_THIS_HOST,
    "verified": VERIFIED,
    "unknown": NOT_KNOWN,
}
