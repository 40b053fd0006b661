"""What sources need that requirement files make due, by the real matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Optional, Tuple

import msgspec
import pytest

from envdoctor.facts.requirements import read
from envdoctor.knowledge.load import load
from envdoctor.model.facts import (
    Accelerator,
    Compiler,
    Distribution,
    Facts,
    Gpu,
    Machine,
    Observed,
    Target,
    Toolkit,
    Tools,
    nothing,
    seen,
)
from envdoctor.model.finding import Report
from envdoctor.rules.check import check

MATRICES = load()
A100 = Gpu("NVIDIA A100-SXM4-80GB", compute_capability="8.0")
HERE = Path("r.txt")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compiler(version: str) -> Observed[Compiler]:
    return seen(Compiler(path="/usr/bin/g++", family="gcc", version=version), "g++ on PATH")


def toolkit(version: str) -> Observed[Toolkit]:
    return seen(Toolkit(path="/usr/local/cuda", version=version, origin="nvcc"), "nvcc on PATH")


def of(
    text: str,
    python: Optional[str],
    tools: Optional[Tools] = None,
    environ: Optional[Dict[str, str]] = None,
    gpus: Tuple[Gpu, ...] = (A100,),
) -> Report:
    HERE.write_text(text)
    target = read([str(HERE)], python, "x86_64")
    facts = Facts(
        machine=Machine(
            architecture=seen("x86_64", "uname"),
            glibc=seen("2.31", "libc"),
            memory_mib=seen(65536, "/proc/meminfo"),
            cpus=seen(32, "sched_getaffinity"),
        ),
        accelerator=Accelerator(
            vendor=seen("nvidia", "/dev/nvidia0"),
            gpus=seen(gpus, "NVML"),
            driver=seen("580.65.06", "NVML"),
            serves=seen("13.0", "libcuda"),
        ),
        tools=tools or Tools(),
        target=seen(msgspec.structs.replace(target, environ=environ or {}), "files"),
    )
    return check(facts, MATRICES)


def told(report: Report) -> List[Tuple[str, str, str]]:
    return [(f.severity, f.name, f.component) for f in report.findings if f.severity != "info"]


# --- what today's pip, setuptools and Cython refuse -----------------------------------------------


@pytest.mark.parametrize(
    ("text", "python", "expected"),
    [
        ("PyYAML==5.4.1\n", "3.11", ("cython3-breaks-pyyaml", "pyyaml 5.4.1")),
        ("PyYAML==6.0\n", "3.12", ("cython3-breaks-pyyaml", "pyyaml 6.0")),
        ("demjson\n", "3.8", ("use-2to3-removed", "demjson 2.2.4")),
        ("feedparser<6\n", "3.10", ("use-2to3-removed", "feedparser 5.2.1")),
        ("gym==0.21.0\n", "3.9", ("pip241-invalid-metadata", "gym 0.21.0")),
        (
            "pytorch-lightning==1.6.0\n",
            "3.9",
            ("pip241-invalid-metadata", "pytorch-lightning 1.6.0"),
        ),
        ("omegaconf==2.0.6\n", "3.8", ("pip241-invalid-metadata", "omegaconf 2.0.6")),
        ("celery==5.0.5\n", "3.8", ("pip241-invalid-metadata", "celery 5.0.5")),
        ("chumpy\n", "3.10", ("build-dep-missing", "chumpy 0.70")),
        ("cython-bbox\n", "3.10", ("build-dep-missing", "cython-bbox 0.1.5")),
        ("torch-scatter\n", "3.10", ("build-isolation-hides-torch", "torch-scatter 2.1.2")),
        ("mmcv==2.1.0\n", "3.8", None),
        # without operators there is nothing to compile, and a setup.py all the same
        ("mmcv==1.7.1\n", "3.10", ("pkg-resources-removed", "mmcv 1.7.1")),
        ("mmcv==1.7.1\n", "3.8", None),
        ("mmdet3d==1.0.0rc6\n", "3.10", ("build-isolation-hides-torch", "mmdet3d 1.0.0rc6")),
    ],
)
def test_what_today_s_tools_refuse_is_a_warning(
    text: str, python: str, expected: Optional[Tuple[str, str]]
) -> None:
    found = told(of(text, python))
    assert found == ([("warning", *expected)] if expected else [])


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("PyYAML==5.4.1\n", "3.9"),  # there is a wheel
        ("PyYAML==5.3.1\n", "3.11"),  # its sources do without Cython
        ("PyYAML\n", "3.13"),
        ("feedparser\n", "3.10"),
        ("pytorch-lightning==1.6.0\n", "3.7"),  # the last pip for it is 24.0
        ("pytorch-lightning>=1.6\n", "3.9"),  # pip passes over those that it cannot read
        ("pytorch-lightning==1.8.4\n", "3.9"),
        ("lap\n", "3.10"),
        ("torch==2.0.1\n", "3.10"),  # what its builder imports matters to no one here
        (
            "-f https://data.pyg.org/whl/torch-2.0.0+cu118.html\ntorch==2.0.1\ntorch-scatter\n",
            "3.10",
        ),
        ("mmcv-lite==2.1.0\n", "3.10"),
    ],
)
def test_where_nothing_is_built_nothing_is_said(text: str, python: str) -> None:
    tools = Tools(toolkit=nothing("there is none"), compiler=nothing("there is none"))
    assert told(of(text, python, tools)) == []


# --- what a build would use -----------------------------------------------------------------------

FLASH = "torch==2.4.1\nflash-attn==2.6.3\n"
DETECTRON = "torch==2.4.1\ngit+https://github.com/facebookresearch/detectron2.git\n"
MMCV = "torch==2.0.1\nmmcv-full==1.7.2\n"


def build(report: Report) -> List[Tuple[str, str, str]]:
    """Findings about the build, without pip's isolation and what setup.py imports."""
    passed = ("build-isolation-hides-torch", "pkg-resources-removed", "build-dep-missing")
    return [one for one in told(report) if one[1] not in passed]


@pytest.mark.parametrize(
    ("text", "tools", "expected"),
    [
        (
            FLASH,
            Tools(toolkit=nothing("none")),
            [("error", "cuda-toolkit-not-found", "CUDA toolkit")],
        ),
        # its setup.py fetches the wheel for this torch: nothing is compiled
        (FLASH, Tools(toolkit=toolkit("11.8"), nvcc_compiler=compiler("13.2.0")), []),
        (FLASH, Tools(toolkit=toolkit("12.4"), compiler=nothing("none")), []),
        (DETECTRON, Tools(toolkit=toolkit("12.4"), nvcc_compiler=compiler("13.2.0")), []),
        (
            DETECTRON,
            Tools(toolkit=toolkit("11.8")),
            [("warning", "cuda-torch-version-mismatch", "detectron2")],
        ),
        (
            DETECTRON,
            Tools(toolkit=toolkit("12.1"), nvcc_compiler=compiler("13.2.0")),
            [("warning", "gcc-too-new-for-nvcc", "detectron2")],
        ),
        (
            DETECTRON,
            Tools(toolkit=nothing("none")),
            [("warning", "cuda-toolkit-not-found", "CUDA toolkit")],
        ),
        (
            DETECTRON,
            Tools(toolkit=toolkit("12.1"), compiler=nothing("none")),
            [("error", "compiler-missing", "C++ compiler")],
        ),
        (
            MMCV,
            Tools(toolkit=toolkit("12.1"), compiler=nothing("none")),
            # a page with wheels may be named to pip
            [
                ("warning", "cuda-torch-version-mismatch", "mmcv-full 1.7.2"),
                ("warning", "compiler-missing", "C++ compiler"),
            ],
        ),
    ],
)
def test_what_the_build_would_find(
    text: str, tools: Tools, expected: List[Tuple[str, str, str]]
) -> None:
    assert sorted(build(of(text, "3.10", tools))) == sorted(expected)


def test_without_a_gpu_mmcv_compiles_no_cuda() -> None:
    tools = Tools(toolkit=toolkit("12.1"))
    assert build(of(MMCV, "3.10", tools, gpus=())) == []
    forced = {"FORCE_CUDA": "1"}
    found = build(of(MMCV, "3.10", tools, forced, gpus=()))
    assert found == [("warning", "cuda-torch-version-mismatch", "mmcv-full 1.7.2")]


def test_flash_attn_of_a_time_before_it_counted_memory() -> None:
    # it has no wheel for that torch
    text = "torch==2.4.1\nflash-attn==2.3.2\n"
    tools = Tools(toolkit=toolkit("12.1"))
    assert build(of(text, "3.11", tools)) == [
        ("warning", "build-out-of-memory", "flash-attn 2.3.2")
    ]
    assert build(of(text, "3.11", tools, {"MAX_JOBS": "4"})) == []


def test_an_architecture_that_the_builder_does_not_know() -> None:
    text = "torch==1.13.1\ngit+https://github.com/facebookresearch/detectron2.git\n"
    tools = Tools(toolkit=toolkit("11.7"), nvcc_compiler=compiler("9.4.0"))
    listed = {"TORCH_CUDA_ARCH_LIST": "8.0 8.6 8.9+PTX"}
    assert build(of(text, "3.10", tools, listed)) == [
        ("error", "torch-too-old-for-arch-list", "torch 1.13.1")
    ]
    assert build(of(text, "3.10", tools, {"TORCH_CUDA_ARCH_LIST": "8.0;8.6+PTX"})) == []


# --- pip and setuptools that are installed --------------------------------------------------------


def installed(python: str, *distributions: str) -> List[Tuple[str, str, str]]:
    site = f"/env/lib/python{python}/site-packages"
    found = tuple(
        Distribution(
            name=text.split()[0],
            version=text.split()[1],
            path=f"{site}/{text.replace(' ', '-')}.dist-info",
            search_entry=site,
            installer="pip",
        )
        for text in distributions
    )
    target = Target(
        python="/env/bin/python",
        version=f"{python}.1",
        soabi=f"cpython-{python.replace('.', '')}-x86_64-linux-gnu",
        prefix="/env",
        base_prefix="/usr",
        path=(site,),
        distributions=found,
    )
    facts = Facts(target=seen(target, "VIRTUAL_ENV"))
    return [(f.severity, f.name, f.component) for f in check(facts, MATRICES).findings]


@pytest.mark.parametrize(
    ("python", "distributions", "expected"),
    [
        ("3.12", ["pip 22.3.1"], [("warning", "py312-impimporter", "pip 22.3.1")]),
        ("3.12", ["pip 22.0.4"], [("warning", "py312-distutils-removed", "pip 22.0.4")]),
        ("3.13", ["setuptools 65.5.1"], [("error", "py312-impimporter", "setuptools 65.5.1")]),
        (
            "3.12",
            ["setuptools 59.8.0"],
            [("error", "py312-distutils-removed", "setuptools 59.8.0")],
        ),
        ("3.12", ["pip 23.1.2", "setuptools 66.1.1"], []),
        ("3.11", ["pip 22.3.1", "setuptools 59.8.0"], []),
        (
            "3.11",
            ["setuptools 75.3.4", "packaging 21.3"],
            [("info", "setuptools-packaging-skew", "setuptools 75.3.4")],
        ),
        ("3.11", ["setuptools 75.3.4", "packaging 22.0"], []),
        ("3.11", ["setuptools 70.3.0", "packaging 21.3"], []),
        ("3.11", ["setuptools 84.2.1"], []),
    ],
)
def test_pip_and_setuptools(
    python: str, distributions: List[str], expected: List[Tuple[str, str, str]]
) -> None:
    assert installed(python, *distributions) == expected
