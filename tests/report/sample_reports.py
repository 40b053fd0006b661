"""Reports and facts as they come from users' machines, fixed, for tests of what is shown."""

from __future__ import annotations

from typing import Dict, Tuple

from envdoctor.model.facts import (
    Accelerator,
    Compiler,
    Facts,
    Gpu,
    Machine,
    Observed,
    Target,
    Toolkit,
    Tools,
    TorchFiles,
    seen,
    unseen,
)
from envdoctor.model.finding import Citation, Evidence, Finding, Fix, Report, Skipped

SITE = "/home/ann/envs/maptr/lib/python3.8/site-packages"

ABI = Finding(
    code="ED412",
    name="torch-abi-mismatch",
    severity="error",
    phase="import",
    component="mmcv-full 1.4.0",
    summary="import mmcv.ops will fail: it was compiled for another torch",
    why="mmcv-full 1.4.0 has wheels for torch 1.3 to 1.10 only, and its sources include THC/THC.h, "
    "which torch removed in 1.11",
    evidence=(
        Evidence("mmcv-full", "1.4.0", f"{SITE}/mmcv_full-1.4.0.dist-info"),
        Evidence("torch", "2.4.1+cu121", f"{SITE}/torch/version.py"),
    ),
    relation=Citation("mmcv-full/thc", "mmcv's setup.py and wheel pages", "2026-11-30", "measured"),
    fixes=(
        Fix(
            "2 packages: 2.4.1+cu121 -> 1.9.1+cu111; 0.19.1 -> 0.10.1+cu111",
            (
                "/home/ann/envs/maptr/bin/python -m pip install torch==1.9.1+cu111 "
                "torchvision==0.10.1+cu111 -f https://download.pytorch.org/whl/torch_stable.html",
            ),
        ),
        Fix("mmcv-full 1.7.2, which compiles with this torch"),
    ),
    verify=("/home/ann/envs/maptr/bin/python -c 'import mmcv.ops'",),
)
NUMPY = Finding(
    code="ED310",
    name="numpy-2-abi",
    severity="warning",
    phase="run",
    component="numpy 2.0.2",
    summary="torch.from_numpy will fail",
    evidence=(Evidence("numpy", "2.0.2", f"{SITE}/numpy-2.0.2.dist-info"),),
)
WORKERS = Finding(
    code="ED801",
    name="p2p-disabled",
    severity="info",
    phase="run",
    component="NCCL_P2P_DISABLE",
    summary="NCCL_P2P_DISABLE=1 is set: GPUs exchange data through the host's memory",
    evidence=(Evidence("NCCL_P2P_DISABLE", "1", "variable of the environment"),),
)
REQUIRES = Finding(
    code="ED210",
    name="requirement-violated",
    severity="warning",
    phase="install",
    component="mmdet 2.14.0",
    summary="mmdet 2.14.0 asks for pycocotools>=2.0.4 by its metadata; 2.0.2 is installed",
)


def report(*findings: Finding, ruled_out: Tuple[str, ...] = (), skipped: int = 0) -> Report:
    return Report(
        command="check",
        envdoctor_version="0.1.0",
        matrices_date="2026-11-30",
        findings=findings,
        ruled_out=ruled_out,
        skipped=tuple(
            Skipped(f"ED60{number}", "the GPU is unknown: no driver on this machine")
            for number in range(skipped)
        ),
        facts_digest="0" * 64,
    )


def environment(torch: str = "2.4.1+cu121", cuda: str = "12.1") -> Observed[Target]:
    files = TorchFiles(
        path=f"{SITE}/torch",
        version=seen(torch, f"{SITE}/torch/version.py"),
        cuda=seen(cuda, f"{SITE}/torch/version.py"),
    )
    target = Target(
        python="/home/ann/envs/maptr/bin/python",
        version="3.8.18",
        prefix="/home/ann/envs/maptr",
        torch=files if torch else None,
    )
    return seen(target, "VIRTUAL_ENV")


A100 = Gpu("NVIDIA A100-SXM4-80GB", "8.0", 81920)
ACCELERATOR = Accelerator(
    vendor=seen("nvidia", "device node /dev/nvidia0"),
    gpus=seen((A100,) * 8, "NVML"),
    driver=seen("535.129.03", "NVML"),
    serves=seen("12.2", "libcuda"),
)
TOOLS = Tools(
    toolkit=seen(Toolkit("/usr/local/cuda", "12.1.105", "CUDA_HOME"), "CUDA_HOME"),
    compiler=seen(Compiler("/usr/bin/c++", "gcc", "11.4.0"), "c++ on PATH"),
    ninja=seen("/usr/bin/ninja", "ninja on PATH"),
    python_headers=seen("/usr/include/python3.8", "sysconfig"),
)
BARE = Tools(
    toolkit=unseen("nvcc is not on PATH"),
    compiler=unseen("c++ is not on PATH"),
    ninja=unseen("ninja is not on PATH"),
    python_headers=unseen("no Python.h"),
)
TRAINING = Facts(accelerator=ACCELERATOR, tools=TOOLS, target=environment())
NO_DRIVER = unseen("there is no driver of an accelerator")
LOGIN_NODE = Facts(
    accelerator=Accelerator(
        vendor=seen("none", "no device node, driver or SDK of a known accelerator"),
        gpus=seen((), "no device node, driver or SDK of a known accelerator"),
        driver=NO_DRIVER,
        serves=NO_DRIVER,
    ),
    tools=BARE,
    target=environment("1.9.1+cu111", "11.1"),
)
NOTHING = Facts(
    accelerator=LOGIN_NODE.accelerator,
    tools=BARE,
    target=unseen("neither VIRTUAL_ENV nor CONDA_PREFIX is set, and python3 is not on PATH"),
)
MIG = Facts(
    accelerator=Accelerator(
        vendor=ACCELERATOR.vendor,
        gpus=seen((Gpu("NVIDIA A100-SXM4-80GB", "8.0", 9728, "1g.10gb"),) * 2, "NVML"),
        driver=seen("470.57.02", "NVML"),
        serves=seen("11.4", "libcuda"),
    ),
    tools=TOOLS,
    target=environment("1.9.1+cu111", "11.1"),
)
OLD_DRIVER = Facts(
    accelerator=Accelerator(
        vendor=ACCELERATOR.vendor,
        gpus=seen((Gpu("Tesla V100-SXM2-16GB", "7.0"), Gpu("Tesla T4", "7.5")), "nvidia-smi"),
        driver=seen("440.33.01", "nvidia-smi"),
        serves=seen("10.2", "nvidia-smi"),
    ),
    tools=TOOLS,
    target=environment(""),
)
HYGON = Facts(
    accelerator=Accelerator(
        vendor=seen("hygon", "device node /dev/mkfd"),
        gpus=unseen("the devices of hygon are not read"),
        driver=seen("5.16.29", "/sys/module/hycu/version"),
        serves=unseen("the accelerator is of hygon, not of NVIDIA"),
    ),
    tools=BARE,
    target=environment("1.13.1+das1.0", "cpu"),
)
BROKEN_DRIVER = Facts(
    accelerator=Accelerator(
        vendor=ACCELERATOR.vendor,
        gpus=unseen("NVML: Driver/library version mismatch"),
        driver=unseen("NVML: Driver/library version mismatch"),
        serves=unseen("libcuda took longer than 5 s"),
    ),
    tools=TOOLS,
    target=environment(),
)
ASSUMED = Facts(
    machine=Machine(
        os=Observed(value="ubuntu:20.04", origin="assumed", assumed=True),
        glibc=Observed(value="2.31", origin="assumed", assumed=True),
    ),
    accelerator=Accelerator(
        vendor=Observed(value="nvidia", origin="assumed", assumed=True),
        gpus=Observed(value=(Gpu("H100", "9.0"),), origin="assumed", assumed=True),
        driver=Observed(value="535.54.03", origin="assumed", assumed=True),
        serves=Observed(value="12.2", origin="assumed", assumed=True),
    ),
    tools=TOOLS,
    target=environment(),
)
MACHINES: Dict[str, Facts] = {
    "training": TRAINING,
    "login_node": LOGIN_NODE,
    "nothing": NOTHING,
    "mig": MIG,
    "old_driver": OLD_DRIVER,
    "hygon": HYGON,
    "broken_driver": BROKEN_DRIVER,
    "assumed": ASSUMED,
}
