"""What is known of conda's builds of torch, and that pip never gets one."""

from __future__ import annotations

from pathlib import Path
from typing import List, Set, Tuple

import pytest

from envdoctor.facts.requirements import read
from envdoctor.knowledge.load import load
from envdoctor.model.build import Build
from envdoctor.model.facts import (
    Accelerator,
    CondaPackage,
    Distribution,
    Facts,
    Gpu,
    Machine,
    Target,
    seen,
)
from envdoctor.relations.observe import observe
from envdoctor.rules.check import check

MATRICES = load()
SITE = "/env/lib/python3.9/site-packages"
CUDA_11_1 = "py3.9_cuda11.1_cudnn8.0.5_0"


def entries(installer: str, build: str, channel: str) -> List[str]:
    torch = Distribution(
        name="torch",
        version="1.9.1",
        path=f"{SITE}/torch-1.9.1.dist-info",
        search_entry=SITE,
        installer=installer,
    )
    held = (CondaPackage("pytorch", "1.9.1", build, channel),) if build or channel else ()
    target = Target(
        python="/env/bin/python",
        version="3.9.18",
        path=(SITE,),
        distributions=(torch,),
        conda=held,
    )
    domain = observe(Facts(target=seen(target, "test")), MATRICES).domains["torch"]
    return sorted({build.entry for build in domain if isinstance(build, Build)})


@pytest.mark.parametrize(
    ("build", "channel"),
    [
        (CUDA_11_1, "pytorch"),
        (CUDA_11_1, ""),  # a list that was pasted
        (CUDA_11_1, "anaconda/cloud/pytorch"),  # a mirror
    ],
)
def test_a_build_of_the_channel_pytorch_is_known(build: str, channel: str) -> None:
    assert "torch/conda-11.1" in entries("conda", build, channel)


@pytest.mark.parametrize(
    ("build", "channel"),
    [
        ("cuda112py39h3ad47f5_0", "conda-forge"),
        ("cuda102py39h9fca3ac_0", ""),  # whose build it is, is not known
        ("", ""),
    ],
)
def test_of_other_channels_nothing_is_known(build: str, channel: str) -> None:
    assert entries("conda", build, channel) == [""]


def test_what_pip_installed_is_no_build_of_conda() -> None:
    assert all(not entry.startswith("torch/conda") for entry in entries("pip", "", ""))


def test_no_build_that_is_looked_for_is_one_of_conda() -> None:
    origins = {b.attributes.get("origin") for p in MATRICES.packages.values() for b in p.builds()}
    assert "conda" not in origins


def found(lines: str, gpu: Tuple[str, str], folder: Path) -> Set[Tuple[str, str]]:
    file = folder / "environment.yml"
    file.write_text(f"channels: [pytorch, conda-forge]\ndependencies:\n- python=3.9\n{lines}")
    facts = Facts(
        machine=Machine(architecture=seen("x86_64", "uname"), glibc=seen("2.31", "libc")),
        accelerator=Accelerator(
            vendor=seen("nvidia", "/dev/nvidia0"),
            gpus=seen((Gpu(gpu[0], compute_capability=gpu[1]),), "NVML"),
            driver=seen("580.65.06", "NVML"),
            serves=seen("13.0", "libcuda"),
        ),
        target=seen(read([str(file)], None, "x86_64"), "files"),
    )
    findings = check(facts, MATRICES).findings
    return {(f.severity, f.name) for f in findings if f.severity != "info"}


RTX_5090 = ("NVIDIA GeForce RTX 5090", "12.0")
T4 = ("Tesla T4", "7.5")


@pytest.mark.parametrize(
    ("lines", "gpu", "expected"),
    [
        # no PTX from CUDA 12 on
        (
            "- pytorch=2.5.1=py3.9_cuda12.4_cudnn9.1.0_0\n",
            RTX_5090,
            {("error", "gpu-arch-not-in-torch")},
        ),
        # the PTX of 3.7 that the older ones have is compiled for any GPU
        (f"- pytorch=1.9.1={CUDA_11_1}\n", RTX_5090, {("warning", "gpu-arch-not-in-torch")}),
        # pip's wheels for CUDA 10.2 have no code of its own for this one, conda's have
        ("- pytorch=1.9.1=py3.9_cuda10.2_cudnn7.6.5_0\n", T4, set()),
        # which of its builds conda takes is not said: one is for the processor
        ("- pytorch=2.5.1\n", RTX_5090, set()),
        ("- conda-forge::pytorch=2.5.1\n", RTX_5090, set()),
    ],
)
def test_a_file_that_asks_conda_for_torch(
    lines: str, gpu: Tuple[str, str], expected: Set[Tuple[str, str]], tmp_path: Path
) -> None:
    assert found(lines, gpu, tmp_path) == expected
