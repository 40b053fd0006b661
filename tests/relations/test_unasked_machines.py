"""Facts of machines that nobody asked: a GPU known by its name, a driver by what it serves."""

from __future__ import annotations

from typing import Dict, List, Optional

import msgspec
import pytest

from envdoctor.knowledge.load import load
from envdoctor.model.build import Unknown
from envdoctor.model.facts import (
    Accelerator,
    Distribution,
    Facts,
    Gpu,
    GpuCode,
    Observed,
    Target,
    TorchFiles,
    seen,
)
from envdoctor.relations.observe import observe
from envdoctor.rules.check import check


def facts(
    torch: str,
    gpu: Optional[str] = None,
    serves: str = "",
    code: Optional[Dict[str, GpuCode]] = None,
    driver: str = "",
    python: str = "3.8.10",
) -> Facts:
    def said(text: str) -> Observed[str]:
        return seen(text, "line 1") if text else Observed()

    return Facts(
        accelerator=Accelerator(
            vendor=seen("nvidia", "line 1"),
            gpus=seen((Gpu(gpu),), "line 2") if gpu else Observed(),
            driver=said(driver),
            serves=said(serves),
        ),
        target=seen(
            Target(
                python="",
                version=python,
                distributions=(Distribution("torch", torch, "line 3", ""),),
                torch=TorchFiles("", version=seen(torch, "line 3")),
                gpu_code=code or {},
            ),
            "as reported",
        ),
    )


def errors(given: Facts) -> List[str]:
    return [f"{f.name}: {f.summary}" for f in check(given, load()).findings]


@pytest.mark.parametrize(
    "name", ["NVIDIA GeForce RTX 3090", "GeForce RTX 3080 Ti", "A100-SXM4-40GB"]
)
def test_a_gpu_is_known_by_its_name(name: str) -> None:
    (error,) = errors(facts("1.9.0+cu102", name))
    assert error.startswith("gpu-arch-not-in-torch: torch 1.9.0+cu102 has no code for sm_8")
    assert errors(facts("1.9.0+cu111", name)) == []


def test_a_gpu_of_an_unknown_name_is_undecided() -> None:
    assert errors(facts("1.9.0+cu102", "NVIDIA GeForce ...")) == []


def test_what_a_device_says_of_itself_comes_before_its_name() -> None:
    given = facts("1.9.0+cu102")
    odd = Accelerator(seen("nvidia", ""), seen((Gpu("RTX 3090", "7.5"),), "line 2"))
    assert errors(Facts(accelerator=odd, target=given.target)) == []


def test_code_that_was_read_replaces_that_of_the_release() -> None:
    own = {"torch": GpuCode(("6.1",), ())}
    assert errors(facts("1.7.1+cu110", "Tesla V100")) == []
    (error,) = errors(facts("1.7.1+cu110", "Tesla V100", code=own))
    assert error == (
        "gpu-arch-not-in-torch: torch 1.7.1+cu110 has no code for sm_70 (Tesla V100): "
        "kernels will not start"
    )
    with_ptx = {"torch": GpuCode(("6.1",), ("6.1",))}
    assert errors(facts("1.7.1+cu110", "Tesla V100", code=with_ptx)) == [
        "gpu-arch-not-in-torch: torch 1.7.1+cu110 calls this GPU incompatible: "
        "its only code for it is PTX"
    ]
    assert errors(facts("1.7.1+cu110", "GTX 1080 Ti", code=with_ptx)) == []
    unknown_ptx = {"torch": GpuCode(("6.1",), None)}
    assert errors(facts("1.7.1+cu110", "Tesla V100", code=unknown_ptx)) == []


def test_what_libcuda_serves_decides_where_the_number_of_the_driver_is_unknown() -> None:
    (error,) = errors(facts("2.1.0+cu121", serves="11.4"))
    assert error == ("driver-too-old: driver 470 (CUDA 11.4) is too old for torch 2.1.0+cu121")
    assert errors(facts("2.1.0+cu118", serves="11.4")) == []
    assert errors(facts("2.1.0+cu121", serves="12.0")) == []
    assert errors(facts("2.1.0+cu121", serves="99.9")) == []


def test_a_python_of_unknown_version() -> None:
    observed = observe(facts("2.1.0+cu121", python=""), load())
    assert isinstance(observed.domains["python"][0], Unknown)
    assert "python" not in observed.evidence


def test_the_code_of_an_extension_and_the_cuda_that_made_it() -> None:
    given = facts("1.4.0", "Tesla V100")
    target = given.target.value
    assert target is not None
    detectron2 = Distribution("detectron2", "0.1.3", "line 5", "")

    def with_code(code: GpuCode) -> Facts:
        one = msgspec.structs.replace(
            target,
            distributions=(*target.distributions, detectron2),
            gpu_code={"detectron2": code},
        )
        return msgspec.structs.replace(given, target=seen(one, "as reported"))

    assert errors(with_code(GpuCode(("3.7",), (), "10.0"))) == [
        "gpu-arch-not-in-extension: detectron2 0.1.3 has no code for sm_70 (Tesla V100): "
        "kernels will not start"
    ]
    assert errors(with_code(GpuCode(("3.7", "7.0"), (), "10.0"))) == []
    assert errors(with_code(GpuCode(("3.7",), None, "10.0"))) == []
    assert errors(with_code(GpuCode(("3.7",), ()))) == []


@pytest.mark.parametrize(("name", "version"), [("detectron2", "0.4"), ("mmcv-full", "1.2.7")])
def test_an_extension_that_was_compiled_with_another_cuda(name: str, version: str) -> None:
    given = facts("1.7.1+cu110", "Tesla V100")
    target = given.target.value
    assert target is not None

    def found(cuda: str) -> List[str]:
        one = msgspec.structs.replace(
            target,
            distributions=(*target.distributions, Distribution(name, version, "line 5", "")),
            gpu_code={name: GpuCode(cuda=cuda)},
        )
        return errors(msgspec.structs.replace(given, target=seen(one, "as reported")))

    assert found("10.1") == [
        f"cuda-runtime-major-mismatch: {name} {version} was compiled with CUDA 10.1, "
        "torch 1.7.1+cu110 with 11.0"
    ]
    assert found("11.0") == found("11.1") == found("") == []


@pytest.mark.parametrize(
    ("driver", "served", "wsl", "known"),
    [
        ("535.129.03", "11.1", False, "12.2"),  # the branch's is more than the build that works
        ("470.82.01", "12.1", False, "12.1"),  # by a libcuda of the container's own
        ("", "11.1", False, "11.1"),
        ("535.129.03", "11.1", True, None),  # Windows' numbers tell no branch
        ("535.129.03", "", False, "12.2"),
    ],
)
def test_a_build_that_works_is_served(
    driver: str, served: str, wsl: bool, known: Optional[str]
) -> None:
    given = facts("1.9.1+cu111", driver=driver)
    accelerator = msgspec.structs.replace(
        given.accelerator, served=seen(served, "line 4") if served else Observed()
    )
    machine = msgspec.structs.replace(given.machine, wsl=seen(wsl, "line 5"))
    given = msgspec.structs.replace(given, accelerator=accelerator, machine=machine)
    (serves,) = observe(given, load()).domains["host.serves"]
    assert isinstance(serves, Unknown) if known is None else str(serves) == known
