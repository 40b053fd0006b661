"""What files tell of installed builds, judged by the matrices that ship with envdoctor."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import pytest
from rule_cases import facts_of

from envdoctor.knowledge.load import load
from envdoctor.model.finding import Report
from envdoctor.rules.check import check

KNOWLEDGE = load()
NVIDIA = {
    "vendor": "nvidia",
    "gpus": [{"name": "NVIDIA A100-SXM4-80GB", "compute_capability": "8.0"}],
    "driver": "535.129.03",
    "serves": "12.2",
}


def report(*installed: Any, accelerator: Optional[Dict[str, Any]] = None, **target: Any) -> Report:
    """What `check` says of "torch 2.4.1+cu121", {"name": "torch", ...} and the like."""
    fields = {"version": "3.8.18", "installed": list(installed), **target}
    for one in installed:
        if isinstance(one, str) and one.startswith("torch "):
            version = one[len("torch ") :]
            tag = version.partition("+")[2]
            cuda = f"{tag[2:-1]}.{tag[-1]}" if tag.startswith("cu") else tag
            fields["torch"] = {"version": version, "cuda": cuda, "abi": 0}
    raw = {
        "target": fields,
        "accelerator": NVIDIA if accelerator is None else accelerator,
        "machine": {"glibc": "2.35"},
    }
    return check(facts_of(raw), KNOWLEDGE)


def told(found: Report) -> List[str]:
    return [f"{f.severity} {f.code} {f.component}" for f in found.findings]


def mmdet(version: str, limits: Optional[Dict[str, str]], **more: Any) -> Dict[str, Any]:
    return {"name": "mmdet", "version": version, "modules": ["mmdet"], "limits": limits, **more}


RELEASED = {"mmcv": ">=1.3.8,<=1.4.0"}
OF_3 = {"mmcv": ">=2.0.0rc4,<2.2.0", "mmengine": ">=0.7.1,<1.0.0"}
IN_PLACE = {"editable": "/src/mmdetection", "direct_url": "file:///src/mmdetection"}


@pytest.mark.parametrize(
    ("distribution", "asserted"),
    [
        (mmdet("2.14.0", None), ">=1.3.8,<=1.4.0"),  # as an older snapshot has it
        (mmdet("2.14.0", RELEASED), ">=1.3.8,<=1.4.0"),
        (mmdet("2.14.0", {"mmcv": ">=1.3.8,<=1.5.0"}), ">=1.3.8,<=1.5.0"),
        (mmdet("2.14.0", {"mmcv": ">=1.3.8,<=1.7.1"}), ""),
        (mmdet("2.14.0", {"mmcv": ">=1.3.8,<=1.7.1"}, **IN_PLACE), ""),
        (mmdet("2.14.0", RELEASED, **IN_PLACE), ">=1.3.8,<=1.4.0"),
        (mmdet("2.14.0", {}), ""),  # the assertion was removed
        (mmdet("2.14.0", {"mmcv": ""}), ""),  # it tests in a way of its own
        (mmdet("2.6.0", {"mmcv": ">=1.1.5,<=1.3"}), ">=1.1.5,<1.3"),  # lists of numbers
    ],
)
def test_a_version_is_rejected_by_what_the_installed_file_asserts(
    distribution: Dict[str, Any], asserted: str
) -> None:
    found = report("torch 1.10.0+cu113", "mmcv-full 1.7.1", distribution)
    version = distribution["version"]
    assert [f.summary for f in found.findings if f.code == "ED410"] == [
        f"import mmdet will fail: mmdet {version} asserts mmcv {asserted}, installed is "
        "mmcv-full 1.7.1"
    ] * bool(asserted)


def test_what_cannot_be_read_is_undecided_for_that_reason() -> None:
    found = report("torch 1.10.0+cu113", "mmcv-full 1.7.1", mmdet("2.14.0", {"mmcv": ""}))
    assert [s.reason for s in found.skipped if s.code == "ED410"] == [
        "mmdet 2.14.0: mmdet tests mmcv in a way of its own"
    ]


@pytest.mark.parametrize(
    ("limits", "codes"),
    [
        (OF_3, ["error ED410 mmdet 3.3.0"]),
        ({**OF_3, "mmcv": ">=2.0.0rc4,<=2.2.0"}, []),  # the sign was edited
        ({**OF_3, "mmcv": ">=2.0.0rc4,<2.3.0"}, []),
        # the other assertion still stands
        ({"mmcv": ">=2.0.0rc4,<2.3.0", "mmengine": ">=0.11,<1.0"}, ["error ED410 mmdet 3.3.0"]),
    ],
)
def test_each_assertion_is_judged_for_itself(limits: Dict[str, str], codes: List[str]) -> None:
    found = report("torch 2.1.0+cu121", "mmcv 2.2.0", "mmengine 0.10.4", mmdet("3.3.0", limits))
    assert [line for line in told(found) if "ED410" in line] == codes


@pytest.mark.parametrize(
    ("url", "platform", "severity"),
    [
        ("file:///src/mmcv", "linux_x86_64", "warning"),
        ("file:///downloads/mmcv-full-1.4.0.tar.gz", "linux_x86_64", "warning"),
        ("https://example.org/mmcv/archive/v1.4.0.zip", "linux_x86_64", "warning"),
        ("git+https://github.com/open-mmlab/mmcv@v1.4.0", "linux_x86_64", "warning"),
        (
            "file:///downloads/mmcv_full-1.4.0-cp38-cp38-manylinux1_x86_64.whl",
            "linux_x86_64",
            "error",
        ),
        # the files of the selector are named manylinux
        ("file:///wheels/mmcv_full-1.4.0-cp38-cp38-linux_x86_64.whl", "linux_x86_64", "warning"),
        ("", "linux_x86_64", "error"),  # how they are tagged inside is not known
        ("", "manylinux1_x86_64", "error"),
        ("", "", "error"),  # nothing tells
    ],
)
def test_what_was_built_from_sources_may_have_been_patched(
    url: str, platform: str, severity: str
) -> None:
    built = {"name": "mmcv-full", "version": "1.4.0", "direct_url": url}
    tags = [f"cp38-cp38-{platform}"] if platform else []
    found = report("torch 2.4.1+cu121", {**built, "tags": tags})
    assert found.findings[0].severity == severity  # the gravest


PURE = ["py2-none-any", "py3-none-any"]
COMPILED = ["cp38-cp38-manylinux1_x86_64"]


@pytest.mark.parametrize(
    ("torch", "mmcv", "tags", "user", "fix"),
    [
        # its setup.py could not import torch, and left the operators out
        ("2.1.0+cu121", "mmcv 2.1.0", PURE, "mmdet 3.3.0", "mmcv 2.1.0 again"),
        ("1.9.1+cu111", "mmcv-full 1.4.0", PURE, "mmdet 2.14.0", "mmcv-full 1.4.0 again"),
        (
            "2.1.0+cu121",
            "mmcv-lite 2.1.0",
            [],
            "mmdet3d 1.4.0",
            "mmcv-lite 2.1.0 -> mmcv 2.1.0",
        ),
        (
            "1.9.1+cu111",
            "mmcv 1.4.0",
            PURE,
            "mmsegmentation 0.14.1",
            "mmcv 1.4.0 -> mmcv-full 1.4.0",
        ),
        ("2.1.0+cu121", "mmcv 2.1.0", COMPILED, "mmdet 3.3.0", ""),
        ("2.1.0+cu121", "mmcv 2.1.0", [], "mmdet 3.3.0", ""),
        ("1.9.1+cu111", "mmcv 1.4.0", [], "mmpretrain 1.0.0", ""),
        # before mmdet 2.3 the operators are mmdet's own
        ("1.5.0+cu101", "mmcv 0.5.9", [], "mmdet 2.0.0", ""),
        ("1.5.0+cu101", "mmcv 1.0.5", [], "mmsegmentation 0.5.0", ""),  # it does without
    ],
)
def test_mmcv_without_operators(
    torch: str, mmcv: str, tags: List[str], user: str, fix: str
) -> None:
    name, version = mmcv.split()
    installed = {"name": name, "version": version, "tags": tags}
    found = report(f"torch {torch}", installed, user, "mmengine 0.10.4")
    fixes = [f.fixes[0].summary for f in found.findings if f.name == "mmcv-without-ops"]
    assert fixes == ([f"1 package: {fix}"] if fix else [])


def test_a_leftover_flavour_beside_one_with_operators_is_not_blamed() -> None:
    full = {"name": "mmcv-full", "version": "1.4.0", "tags": COMPILED}
    found = report("torch 1.9.1+cu111", full, "mmcv 1.4.0", "mmsegmentation 0.14.1")
    assert "mmcv-without-ops" not in [f.name for f in found.findings]


@pytest.mark.parametrize(
    ("torch", "name", "built", "codes"),
    [
        ("2.4.1+cpu", "torchvision", "0.19.1+cu121", ["error ED302 torchvision 0.19.1"]),
        ("2.4.1+cpu", "torchvision", "0.19.1+cpu", []),
        ("2.4.1+cu118", "torchvision", "0.19.1+cu121", ["error ED302 torchvision 0.19.1"]),
        ("2.4.1+cu121", "torchvision", "0.19.1+cu121", []),
        ("2.4.1+cpu", "torchaudio", "2.4.1+cu121", ["error ED303 torchaudio 2.4.1"]),
        ("2.4.1+cu121", "torchaudio", "2.4.1+cu121", []),
    ],
)
def test_cuda_of_a_build_is_read_from_its_version_file(
    torch: str, name: str, built: str, codes: List[str]
) -> None:
    installed = {"name": name, "version": built.partition("+")[0], "built": built}
    found = report(f"torch {torch}", installed)
    pair = {"ED302", "ED303"}
    assert [line for line in told(found) if line.split()[1] in pair] == codes
    assert not [s for s in found.skipped if s.code in pair]


@pytest.mark.parametrize(("value", "warned"), [("1", 0), ("True", 0), ("0", 1), ("", 1), (None, 1)])
def test_torch_may_be_told_to_load_more_than_weights(value: Optional[str], warned: int) -> None:
    environ = {} if value is None else {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": value}
    found = report("torch 2.6.0+cu124", "mmengine 0.10.4", version="3.10.14", environ=environ)
    faults = [f for f in found.findings if f.code == "ED309"]
    assert len(faults) == warned
    for fault in faults:  # the variable is less than another torch
        assert "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1" in fault.fixes[0].summary
        assert fault.fixes[1].summary.startswith("1 package: torch 2.6.0+cu124 -> 2.5.1")


@pytest.mark.parametrize(
    ("gpus", "text"),
    [
        ([("A100", "8.0")], "A100 (8.0)"),
        ([("A100", "8.0")] * 2, "2x A100 (8.0)"),
        ([("A100", "8.0"), ("RTX 2080", "7.5")], "A100 (8.0), RTX 2080 (7.5)"),
        ([("A100", "8.0"), ("RTX 2080", "7.5")] * 2, "2x A100 (8.0), 2x RTX 2080 (7.5)"),
    ],
)
def test_each_kind_of_gpu_is_counted_for_itself(gpus: List[Any], text: str) -> None:
    devices = [{"name": name, "compute_capability": cc} for name, cc in gpus]
    accelerator = {**NVIDIA, "gpus": devices, "driver": "450.51.06", "serves": "11.0"}
    found = report("torch 2.4.1+cu121", accelerator=accelerator)
    told_of = {e.value for f in found.findings for e in f.evidence if e.fact == "GPU"}
    assert told_of <= {text}
    from envdoctor.relations.observe import observe

    facts = facts_of({"accelerator": accelerator})
    assert observe(facts, KNOWLEDGE).evidence["host.gpu"].value == text


def test_one_fault_is_told_once() -> None:
    torch = {"name": "torch", "version": "2.4.1", "requires": ["triton==3.0.0"]}
    files = {"version": "2.4.1+cu121", "cuda": "12.1", "abi": 0}
    found = report(torch, "triton 3.1.0", torch=files)
    assert [f.code for f in found.findings] == ["ED310"]


TENSORBOARD = {"name": "tensorboard", "version": "2.12.3", "requires": ["setuptools (>=41.0.0)"]}
SERVED = {"pkg_resources": "/usr/lib/python3/dist-packages/pkg_resources"}


@pytest.mark.parametrize(
    ("installed", "modules", "lines"),
    [
        (["openmim 0.1.6"], {}, ["warning ED506 openmim 0.1.6"]),
        (["openmim 0.1.6", "setuptools 82.0.0"], {}, ["warning ED506 openmim 0.1.6"]),
        (["openmim 0.1.6", "setuptools 81.0.0"], {}, []),
        (["mmengine 0.1.0"], {}, ["error ED506 mmengine 0.1.0"]),
        (["mmengine 0.1.0", "setuptools 82.0.1"], {}, ["error ED506 mmengine 0.1.0"]),
        (["mmengine 0.5.0", "setuptools 82.0.1"], {}, []),
        ([TENSORBOARD], {}, ["warning ED506 tensorboard 2.12.3"]),  # and not ED203 besides
        ([TENSORBOARD, "setuptools 82.0.1"], {}, ["warning ED506 tensorboard 2.12.3"]),
        (["tensorboard 2.21.0", "setuptools 82.0.1"], {}, []),
        # Debian has it in a package of its own, without metadata
        (["openmim 0.1.6"], SERVED, []),
    ],
)
def test_who_needs_pkg_resources(
    installed: List[Any], modules: Dict[str, str], lines: List[str]
) -> None:
    assert told(report(*installed, modules=modules, version="3.12.4")) == lines


def test_what_no_build_fits_is_told_beside_what_fails_for_all() -> None:
    """mmcv lacks mmengine, and its wheels and its sources stop before this torch."""
    found = report("torch 2.1.1+cu118", {"name": "mmcv", "version": "2.0.0rc3", "tags": []})
    names = [f.name for f in found.findings if f.severity == "error"]
    assert sorted(names) == ["python-module-missing", "torch-abi-mismatch"]


def test_of_what_is_installed_its_own_metadata_speaks() -> None:
    """A fork keeps the version and drops the pin: the matrices know the upstream one."""
    released = {"name": "mmdet3d", "version": "0.17.1", "requires": ["numba==0.48.0"]}
    fork = {"name": "mmdet3d", "version": "0.17.1", "requires": ["numba"]}
    found = {
        kind: [one for one in told(report("numba 0.53.0", mmdet3d)) if "ED204" in one]
        for kind, mmdet3d in (("released", released), ("fork", fork))
    }
    assert found == {"released": ["warning ED204 numba 0.53.0"], "fork": []}


WORKING = ("NVIDIA GeForce RTX 4090", "8.9")
OLD = ("NVIDIA GeForce GT 710", "3.5")


@pytest.mark.parametrize(
    ("gpus", "environ", "severity"),
    [
        ([WORKING, OLD], {}, "warning"),  # a card for the screen
        ([OLD], {}, "error"),
        ([WORKING, OLD], {"CUDA_VISIBLE_DEVICES": "0,1"}, "error"),  # both are meant
        ([("Tesla K40m", "3.5"), WORKING], {}, "error"),  # it is for computing
        ([("NVIDIA GeForce RTX 5090", "12.0"), WORKING], {}, "error"),  # the better one
    ],
)
def test_a_lesser_card_beside_one_that_works(
    gpus: List[Any], environ: Dict[str, str], severity: str
) -> None:
    devices = [{"name": name, "compute_capability": cc} for name, cc in gpus]
    accelerator = {**NVIDIA, "gpus": devices, "driver": "570.86", "serves": "12.8"}
    found = report("torch 2.4.1+cu121", accelerator=accelerator, environ=environ)
    (finding,) = [f for f in found.findings if f.name == "gpu-arch-not-in-torch"]
    assert finding.severity == severity
    leave_out = "leave that card out of the training: CUDA_VISIBLE_DEVICES=N"
    assert [fix.summary.startswith(leave_out) for fix in finding.fixes] == [severity == "warning"]
