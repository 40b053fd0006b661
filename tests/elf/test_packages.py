"""The GPU code of an environment's distributions: which of their files count."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Dict, Tuple

sys.path.append(str(Path(__file__).parent))

import pytest
from gpu_files import PTX, SASS, container, elf, image

from envdoctor.linking import gpu_code
from envdoctor.linking.gpu_code import gpu_code_of, with_gpu_code
from envdoctor.model.facts import (
    CodeGroup,
    Distribution,
    GpuCode,
    Linking,
    Target,
    seen,
    unseen,
)

AMPERE = container(image(SASS, 80))
HOPPER = container(image(SASS, 90), image(PTX, 90, isa=(8, 0)))


def target(folder: Path, packages: Dict[str, Dict[str, bytes]]) -> Target:
    """An environment with these files of these distributions."""
    distributions = []
    for name, files in packages.items():
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
        distributions.append(Distribution(name, "1.0", str(info), str(folder), modules=(name,)))
    return Target(
        "/env/bin/python", "3.10.13", path=(str(folder),), distributions=tuple(distributions)
    )


def told(code: GpuCode) -> Tuple[str, ...]:
    return tuple(
        f"{group.containers} x {' '.join(group.sass)} | {' '.join(group.ptx)}".rstrip(" |")
        for group in code.groups
    )


def test_what_counts(tmp_path: Path) -> None:
    def library(*parts: bytes) -> bytes:
        return elf({".nv_fatbin": b"".join(parts)})

    found = gpu_code_of(
        target(
            tmp_path,
            {
                "torch": {
                    "torch/lib/libtorch_cuda.so": library(AMPERE, AMPERE),
                    "torch/lib/libtorch_cuda_linalg.so": library(HOPPER),
                    "torch/lib/libcublas.so.10": library(HOPPER),
                    "torch/_C.cpython-310-x86_64-linux-gnu.so": library(HOPPER),
                },
                "mmcv": {
                    "mmcv/_ext.cpython-310-x86_64-linux-gnu.so": library(AMPERE, HOPPER),
                    "mmcv/lib/more.so": library(AMPERE),
                    "mmcv/lib/libcudnn-1a2b3c4d.so.8": library(HOPPER),
                },
                "nvidia-cublas-cu12": {"nvidia/cublas/lib/libcublasLt.so.12": library(HOPPER)},
                "numpy": {"numpy/core/_core.abi3.so": elf({".text": b"code"})},
                "cut": {"cut/whole.so": library(AMPERE), "cut/_C.so": library(AMPERE)[:300]},
                "damaged": {"damaged/_C.so": elf({".nv_fatbin": AMPERE + b"none" * 8})},
            },
        )
    )
    assert {name: told(code) for name, code in found.items()} == {
        "torch": ("2 x 8.0",),
        "mmcv": ("2 x 8.0", "1 x 9.0 | 9.0"),
        "cut": ("1 x 8.0",),
    }
    assert found["mmcv"].sass == ("8.0", "9.0")
    assert found["mmcv"].ptx == ("9.0",)
    assert found["mmcv"].ptx_version == "8.0"
    assert found["mmcv"].origin == str(tmp_path / "mmcv/_ext.cpython-310-x86_64-linux-gnu.so")


def test_what_cannot_be_read_makes_it_unknown(tmp_path: Path) -> None:
    file = elf({".nv_fatbin": AMPERE})
    here = target(tmp_path, {"mmcv": {"mmcv/_ext.so": file, "mmcv/_gone.so": file}})
    assert gpu_code_of(here)["mmcv"].groups == (CodeGroup(("8.0",), (), 2),)
    (tmp_path / "mmcv/_gone.so").unlink()
    assert gpu_code_of(here) == {}


def test_a_fault_of_our_own_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = target(tmp_path, {"mmcv": {"mmcv/_ext.so": elf({".nv_fatbin": AMPERE})}})
    simulated = seen(Linking(files=1), "/env/bin/python")
    found = with_gpu_code(simulated, here)
    assert found.value == Linking(files=1, gpu_code=gpu_code_of(here))
    assert with_gpu_code(unseen("no loader"), here) == unseen("no loader")

    def fail(path: str) -> None:
        raise RuntimeError("no idea")

    monkeypatch.setattr(gpu_code, "read_gpu_images", fail)
    told = "the probe itself failed: RuntimeError: no idea"
    assert with_gpu_code(simulated, here).value == Linking(files=1, undecided=(told,))
