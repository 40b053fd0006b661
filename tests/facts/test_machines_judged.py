"""From the files of a machine to findings: what is read of it is what the rules judge."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Mapping, Tuple, Union

import pytest
from recorded_host import lay_out, recorded_host

from envdoctor.facts.accelerator import observe_accelerator
from envdoctor.facts.machine import observe_machine
from envdoctor.knowledge.load import load
from envdoctor.model.facts import Accelerator, Distribution, Facts, Gpu, Target, TorchFiles, seen
from envdoctor.model.finding import Finding
from envdoctor.rules.check import check

Files = Mapping[str, Union[str, bytes, Path]]

ELF = b"\x7fELF\x02"
SITE = "/env/lib/python3.10/site-packages"
MATRICES = load()
OF_MACHINES = {f"ED{number}" for number in (*range(116, 123), *range(124, 128))}
A100 = Accelerator(
    vendor=seen("nvidia", "device node /dev/nvidia0"),
    gpus=seen((Gpu("NVIDIA A100-SXM4-80GB", "8.0"),) * 2, "NVML"),
)
TORCH = (
    "nvidia-cuda-runtime-cu12 (==12.4.127)",
    "nvidia-cudnn-cu12 (==9.1.0.70)",
    "nvidia-nccl-cu12 (==2.21.5)",
    "triton (==3.1.0)",
)
#: A machine on which nothing is amiss.
WELL: Files = {
    "/etc/os-release": "ID=ubuntu\nVERSION_ID=22.04\n",
    "/.dockerenv": "",
    "/proc/self/mounts": "shm /dev/shm tmpfs rw,nosuid,size=16777216k 0 0\n",
    "/proc/self/limits": "Max open files            1048576    1048576    files\n",
    "/proc/net/dev": "    lo: 1 1\n  eth0: 1 1\n",
    "/usr/lib/x86_64-linux-gnu/libGL.so.1": ELF,
    "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0": ELF,
    "/usr/lib/x86_64-linux-gnu/libgthread-2.0.so.0": ELF,
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1": ELF,
    "/usr/lib/x86_64-linux-gnu/libcuda.so": ELF,
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6": ELF + b" GLIBCXX_3.4.30\0",
}


def wheel(name: str, version: str, tag: str, requires: Tuple[str, ...] = ()) -> Distribution:
    place = f"{SITE}/{name}-{version}.dist-info"
    return Distribution(name, version, place, SITE, "pip", (tag,), requires=requires)


INSTALLED = (
    wheel("torch", "2.5.1", "cp310-cp310-manylinux1_x86_64", TORCH),
    wheel("opencv-python", "4.8.1.78", "cp37-abi3-manylinux_2_17_x86_64"),
    wheel("triton", "3.1.0", "cp310-cp310-manylinux_2_17_x86_64"),
)


def found(
    root: Path,
    files: Files,
    gone: Tuple[str, ...] = (),
    accelerator: Union[Accelerator, None] = A100,
    **environ: str,
) -> List[Finding]:
    """What is found of a machine that has files more and files less than WELL."""
    laid: Dict[str, Union[str, bytes, Path]] = {**WELL, **files}
    lay_out(root, {name: content for name, content in laid.items() if name not in gone})
    host = recorded_host(root, environ=environ)
    target = Target(
        python="/env/bin/python",
        version="3.10.12",
        soabi="cpython-310-x86_64-linux-gnu",
        prefix="/env",
        base_prefix="/usr",
        path=("/usr/lib/python3.10", SITE),
        environ=environ,
        distributions=INSTALLED,
        torch=TorchFiles(f"{SITE}/torch", seen("2.5.1+cu124", "v"), seen("12.4", "v")),
    )
    facts = Facts(
        machine=observe_machine(host, target),
        accelerator=accelerator or observe_accelerator(host),
        target=seen(target, "VIRTUAL_ENV"),
    )
    told = check(facts, MATRICES)
    assert [s for s in told.skipped if "failed" in s.reason] == []
    return [finding for finding in told.findings if finding.code in OF_MACHINES]


def names(findings: List[Finding]) -> List[str]:
    return [f"{finding.severity} {finding.name}" for finding in findings]


def test_a_machine_on_which_nothing_is_amiss(tmp_path: Path) -> None:
    assert found(tmp_path, {}) == []


def toolkit(version: str) -> Files:
    """CUDA as NVIDIA's packages lay it out."""
    folder = f"/usr/local/cuda-{version[:4]}/lib64"
    files: Dict[str, Union[str, bytes, Path]] = {f"{folder}/stubs/libcuda.so": ELF}
    for name in ("libcudart", "libnvJitLink", "libcublas", "libcusparse"):
        files[f"{folder}/{name}.so.{version}"] = ELF
        files[f"{folder}/{name}.so.12"] = Path(f"{folder}/{name}.so.{version}")
    return files


def test_the_toolkit_of_a_cluster_that_is_older_than_torch(tmp_path: Path) -> None:
    path = "/usr/local/cuda-12.1/lib64:/opt/slurm/lib"
    (one,) = found(tmp_path, toolkit("12.1.105"), LD_LIBRARY_PATH=path)
    assert (one.severity, one.name) == ("error", "ld-library-path-shadows-cuda")
    assert one.evidence[0].value == "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12 (12.1.105)"
    assert one.fixes[0].commands == ("export LD_LIBRARY_PATH=/opt/slurm/lib",)


@pytest.mark.parametrize("version", ["12.4.127", "12.6.85"])
def test_one_that_is_as_new_does_no_harm(tmp_path: Path, version: str) -> None:
    path = f"/usr/local/cuda-{version[:4]}/lib64"
    assert found(tmp_path, toolkit(version), LD_LIBRARY_PATH=path) == []


def test_an_old_nccl_is_preloaded(tmp_path: Path) -> None:
    place = "/opt/nccl/lib/libnccl.so.2.18.5"
    told = found(tmp_path, {place: ELF}, LD_PRELOAD=place)
    assert names(told) == ["error nccl-library-conflict"]


def test_a_cudnn_of_another_environment_on_the_path(tmp_path: Path) -> None:
    site = "/other/lib/python3.10/site-packages"
    files: Files = {
        f"{site}/nvidia/cudnn/lib/libcudnn.so.9": ELF,
        f"{site}/nvidia/cudnn/lib/libcudnn_graph.so.9": ELF,
        f"{site}/nvidia_cudnn_cu12-9.0.0.312.dist-info/METADATA": "",
    }
    told = found(tmp_path, files, LD_LIBRARY_PATH=f"{site}/nvidia/cudnn/lib")
    assert names(told) == ["error ld-library-path-shadows-cuda"]


def test_a_slim_image_with_what_engines_give(tmp_path: Path) -> None:
    files = {
        "/proc/self/mounts": "shm /dev/shm tmpfs rw,size=65536k 0 0\n",
        "/proc/self/limits": "Max open files            256    256    files\n",
    }
    gone = ("/usr/lib/x86_64-linux-gnu/libGL.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so")
    told = found(tmp_path, files, gone, NCCL_SOCKET_IFNAME="bond0")
    assert sorted(names(told)) == [
        "error opencv-system-libs-missing",
        "warning libcuda-not-linkable",
        "warning nccl-wrong-interface",
        "warning open-files-limit",
        "warning shm-too-small",
    ]


def test_a_card_without_a_driver(tmp_path: Path) -> None:
    folder = "/sys/bus/pci/devices/0000:01:00.0"
    files = {f"{folder}/class": "0x030000\n", f"{folder}/vendor": "0x10de\n"}
    gone = tuple(name for name in WELL if "libcuda" in name)
    told = found(tmp_path, files, gone, accelerator=None)
    assert names(told) == ["warning no-nvidia-driver"]
