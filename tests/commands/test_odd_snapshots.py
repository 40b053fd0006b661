"""Snapshots that obey the schema and hold nonsense: an answer or one clear line, never a fault."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envdoctor.facts.snapshot import dump
from envdoctor.model.facts import (
    Accelerator,
    Command,
    Compiler,
    CondaPackage,
    Distribution,
    Facts,
    Gpu,
    Machine,
    Target,
    Toolkit,
    Tools,
    TorchFiles,
    seen,
)

SITE = "/home/ann/envs/maptr/lib/python3.8/site-packages"


def distribution(name: str, version: str, *requires: str) -> Distribution:
    return Distribution(
        name=name,
        version=version,
        path=f"{SITE}/{name}-{version}.dist-info",
        search_entry=SITE,
        installer="pip",
        tags=("cp38-cp38-manylinux1_x86_64",),
        direct_url="https://download.example.org/x.whl",
        editable="/home/ann/src",
        requires_python=">=3.7",
        requires=requires,
        modules=(name,),
        files=9,
        missing=(f"{name}/__init__.py",),
        missing_count=1,
        shadowed_by="/home/ann/.local",
        problem="a line that is no header",
    )


# As a machine fills it in.
WHOLE = Facts(
    envdoctor_version="0.1.0",
    taken="2026-11-30T10:18:19Z",
    machine=Machine(
        os=seen("ubuntu:20.04", "/etc/os-release"),
        kernel=seen("5.15.0", "uname"),
        architecture=seen("x86_64", "uname"),
        glibc=seen("2.31", "confstr"),
        libstdcxx=seen("3.4.28", "/usr/lib/libstdc++.so.6"),
        container=seen("docker", "/.dockerenv"),
        wsl=seen(False, "kernel"),
        jetson=seen("35.4.1", "/etc/nv_tegra_release"),
        memory_mib=seen(1024, "/proc/meminfo"),
        cpus=seen(8, "affinity"),
    ),
    accelerator=Accelerator(
        vendor=seen("nvidia", "device node /dev/nvidia0"),
        gpus=seen((Gpu("NVIDIA A100-SXM4-80GB", "8.0", 9728, "1g.10gb"),), "NVML"),
        driver=seen("450.80.02", "NVML"),
        kernel_module=seen("450.80.02", "/proc/driver/nvidia/version"),
        serves=seen("11.0", "libcuda"),
        compat=seen("/usr/local/cuda/compat/libcuda.so.1", "LD_LIBRARY_PATH"),
    ),
    tools=Tools(
        toolkits=(Toolkit("/usr/local/cuda", "11.1.105", "CUDA_HOME"),),
        toolkit=seen(Toolkit("/usr/local/cuda", "11.1.105", "CUDA_HOME"), "CUDA_HOME"),
        compiler=seen(Compiler("/usr/bin/c++", "gcc", "9.4.0"), "c++ on PATH"),
        nvcc_compiler=seen(Compiler("/usr/bin/gcc", "gcc", "9.4.0"), "gcc on PATH"),
        ninja=seen("/usr/bin/ninja", "ninja on PATH"),
        python_headers=seen("/usr/include/python3.8", "sysconfig"),
        cudnn=seen("8.0.5", "/usr/include/cudnn_version.h"),
    ),
    target=seen(
        Target(
            python="/home/ann/envs/maptr/bin/python",
            version="3.8.18",
            soabi="cpython-38-x86_64-linux-gnu",
            prefix="/home/ann/envs/maptr",
            base_prefix="/usr",
            path=(SITE,),
            user_site="/home/ann/.local/lib/python3.8/site-packages",
            environ={"PYTHONPATH": "/home/ann/src", "NCCL_P2P_DISABLE": "1"},
            distributions=(
                distribution("torch", "1.9.1+cu111", "numpy>=1.17; python_version<'3.9'"),
                distribution("torchvision", "0.10.1+cu111", "torch==1.9.1"),
                distribution("mmcv-full", "1.4.0", "addict"),
                distribution("numpy", "1.21.0"),
                distribution("nvidia-cublas-cu11", "11.10.3.66"),
            ),
            conda=(CondaPackage("pytorch", "1.9.1", "py3.8_cuda11.1_cudnn8.0.5_0", "pytorch"),),
            commands=(Command("torchrun", "/home/ann/envs/maptr/bin/torchrun", "/usr/bin/python"),),
            torch=TorchFiles(
                path=f"{SITE}/torch",
                version=seen("1.9.1+cu111", f"{SITE}/torch/version.py"),
                cuda=seen("11.1", f"{SITE}/torch/version.py"),
                hip=seen("5.2", f"{SITE}/torch/version.py"),
                abi=seen(0, f"{SITE}/torch/_C.so"),
                vendor={"xpu": "20250004"},
            ),
            problems=("x.pth cannot be read",),
        ),
        "VIRTUAL_ENV",
    ),
)
WORDS = """
    x 3 3. .3 3.8.x 3.8.18+ 9.9.9.9.9.9 1!2.0 3.8.18rc1 ٣.٨ 1e5 -1 -3.8 0 00 +cu111 1+cu111 1.9.1+cu
    sm_90a sm_ 8.x 90.0.1 cp38 cp38-cp38 a-b-c-d-e py3-none-any cp39-abi3-musllinux_1_1_x86_64
    cpython-3 cpython- pypy310-pp73 nvidia none amd aarch64 clang / // . .. ~ @ torch torch>=1.0
    torch>= torch==x torch[ torch;x >=3.8,<x !=3.* >=1.0.* ${HOME} {name} {} %s $(reboot) `x` '
"""
LINES = ("", " ", "3 .8", "\n", "3.8.18\n", "\x1b[2J", "\x00", "a" * 3000, "9" * 5000, "1." * 2000)
ODD = st.sampled_from([*WORDS.split(), *LINES]) | st.text(max_size=8)


def leaves(told: Any, place: Tuple[Any, ...] = ()) -> Iterator[Tuple[Any, ...]]:
    """Where texts stand."""
    if isinstance(told, str):
        yield place
    keys = told if isinstance(told, dict) else range(len(told)) if isinstance(told, list) else ()
    for key in keys:
        yield from leaves(told[key], (*place, key))


def complete(told: Any, kind: Any) -> Any:
    """`told`, of a type as msgspec describes it, with something in every field and list."""
    if isinstance(kind, msgspec.inspect.UnionType):
        kind = next(t for t in kind.types if not isinstance(t, msgspec.inspect.NoneType))
    if isinstance(kind, msgspec.inspect.StructType):
        given = told or {}
        return {f.name: complete(given.get(f.name), f.type) for f in kind.fields}
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return [complete(item, kind.item_type) for item in told or [None]]
    if told is not None:
        return told
    if isinstance(kind, msgspec.inspect.DictType):
        return {"x": complete(None, kind.value_type)}
    return {
        msgspec.inspect.StrType: "x",
        msgspec.inspect.IntType: 1,
        msgspec.inspect.BoolType: False,
    }[type(kind)]


TOLD: Dict[str, Any] = complete(json.loads(dump(WHOLE)), msgspec.inspect.type_info(Facts))
PLACES: List[Tuple[Any, ...]] = list(leaves(TOLD))


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(st.sampled_from(PLACES), ODD, min_size=1, max_size=3))
def test_nonsense_in_a_snapshot_is_no_fault(
    envdoctor: Callable[..., Any], tmp_path: Path, changes: Dict[Tuple[Any, ...], str]
) -> None:
    told = copy.deepcopy(TOLD)
    for place, text in changes.items():
        at = told
        for key in place[:-1]:
            at = at[key]
        at[place[-1]] = text
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(told))
    for command in (["check", "--format", "json"], ["check"], [], ["facts", "--redact"]):
        ended = envdoctor(*command, "--facts", str(path))
        if ended.code == 3:
            assert ended.err.startswith(f"envdoctor: {path}: ")
            assert ended.err.count("\n") == 1
        else:
            assert ended.err == ""
            assert ended.code in (0, 1)
        assert "itself failed" not in ended.out
