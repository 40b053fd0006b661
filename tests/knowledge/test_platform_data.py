"""Laws of the data of CUDA, GPUs, hosts, Python and the torch family, and verdicts on machines."""

from __future__ import annotations

import re
from typing import Dict, FrozenSet, List, Tuple

import pytest
from packaging.version import Version

from envdoctor.knowledge.load import load
from envdoctor.model.build import ABSENT, Build, Specifier
from envdoctor.model.facts import (
    Accelerator,
    Distribution,
    Facts,
    Gpu,
    Machine,
    Target,
    TorchFiles,
    seen,
    unseen,
)
from envdoctor.model.versions import cuda_tag, parse, satisfies, series
from envdoctor.relations.assume import assume
from envdoctor.relations.devices import lookup, tokens
from envdoctor.relations.judge import Relations, judge
from envdoctor.relations.observe import observe
from envdoctor.relations.predicates import native
from envdoctor.rules.page import pages

KNOWLEDGE = load()
RELATIONS = Relations(KNOWLEDGE)
TORCH = KNOWLEDGE.packages["torch"]
TABLES = KNOWLEDGE.tables
CUDA = TABLES["cuda"].rows
ARCHITECTURES = TABLES["architecture"].rows
GPUS = TABLES["gpu"].rows


def label(build: Build) -> str:
    """The version with its CUDA tag, "2.7.0+cu128"."""
    cuda = build.attributes["cuda"]
    return f"{build.version}+{cuda_tag(cuda) if isinstance(cuda, Version) else cuda}"


def version(value: object) -> Version:
    assert isinstance(value, Version)
    return value


# Toolkits, drivers, architectures


def test_newer_toolkits_need_newer_drivers() -> None:
    rows = [row for _, row in sorted(CUDA.items(), key=lambda item: version(item[0]))]
    drivers = [version(row["driver"]) for row in rows]
    assert all(old < new for old, new in zip(drivers, drivers[1:]))


def test_a_branch_serves_the_toolkit_that_came_with_it() -> None:
    branches = TABLES["branch"].rows
    for toolkit, row in CUDA.items():
        driver = version(row["driver"])
        known = branches[parse(str(driver.major))]
        assert known["serves"] == toolkit
        assert version(known["lowest"]) <= driver
    for branch, row in branches.items():
        assert version(row["lowest"]).major == version(branch).major


def test_a_family_begins_with_the_branch_of_its_first_toolkit() -> None:
    for family, row in TABLES["family"].rows.items():
        first = CUDA[parse(f"{family}.0")]
        assert version(row["floor"]).major == version(first["driver"]).major
    majors = {version(toolkit).major for toolkit in CUDA if version(toolkit).major > 10}
    assert majors == {version(family).major for family in TABLES["family"].rows}


def test_toolkits_and_architectures_tell_of_the_same_nvcc() -> None:
    for key, row in CUDA.items():
        if "arch_min" not in row:
            continue
        toolkit = version(key)
        begun, ended = {parse("0")}, {parse("0")}
        for cc, architecture in ARCHITECTURES.items():
            if version(architecture["first_cuda"]) <= toolkit:
                begun.add(version(cc))
            if version(architecture.get("last_cuda", toolkit)) < toolkit:
                ended.add(version(cc))
        assert row["arch_max"] == max(begun), toolkit
        assert max(ended) < version(row["arch_min"]) <= min(begun - ended), toolkit


def test_an_update_is_of_a_toolkit_and_its_driver_of_that_branch() -> None:
    rows = sorted(TABLES["update"].rows.items(), key=lambda item: version(item[0]))
    drivers = [version(row["driver"]) for _, row in rows]
    assert drivers == sorted(drivers)
    for key, row in rows:
        toolkit = CUDA[series(version(key))]
        driver = version(row["driver"])
        assert driver.major == version(toolkit["driver"]).major
        assert driver >= version(toolkit["driver"]) or key == parse("11.0.1")  # a candidate


@pytest.mark.parametrize(
    ("release", "driver"),
    [
        ("10.1.105", "418.39"),
        ("11.0.3", "450.51.06"),
        ("11.1.1", "455.32"),
        ("11.4.4", "470.82.01"),
        ("11.8.0", "520.61.05"),
        ("12.2.2", "535.104.05"),
        ("12.8.1", "570.124.06"),
        ("13.2.2", "595.71.05"),
    ],
)
def test_the_driver_of_an_update(release: str, driver: str) -> None:
    assert TABLES["update"].texts[parse(release)]["driver"] == driver


def test_there_is_no_toolkit_12_7() -> None:
    assert parse("12.7") not in CUDA
    assert parse("12.7") in {row["serves"] for row in TABLES["branch"].rows.values()}


def test_a_compatibility_package_is_for_older_branches() -> None:
    branches = TABLES["branch"].rows
    for cuda, row in TABLES["forward"].rows.items():
        own = version(CUDA[cuda]["driver"]).major
        under, not_under = row["under"], row["not_under"]
        assert isinstance(under, tuple)
        assert isinstance(not_under, tuple)
        assert under
        assert not set(under) & set(not_under)
        assert all(b in branches and version(b).major < own for b in (*under, *not_under)), cuda


# Images


def tags() -> List[str]:
    return [
        f"{release}-{row['cudnn']}-devel-ubuntu{system}"
        for release, row in TABLES["base_image"].rows.items()
        for system in (row["ubuntu"] if isinstance(row["ubuntu"], tuple) else ())
    ]


def test_images_are_of_toolkits_that_there_are() -> None:
    words = [("11.0", "cudnn8"), ("12.3", "cudnn9"), ("12.4", "cudnn")]
    for release, row in TABLES["base_image"].rows.items():
        assert series(version(release)) in CUDA
        assert len(version(release).release) == 3
        named = [word for first, word in words if release >= parse(first)]
        assert row["cudnn"] == named[-1]
        for system in row["ubuntu"] if isinstance(row["ubuntu"], tuple) else ():
            assert f"ubuntu:{system}" in TABLES["distribution"].rows


def is_gone(tag: str) -> bool:
    return any(re.fullmatch(str(pattern), tag) for pattern in TABLES["gone_image"].rows)


@pytest.mark.parametrize(
    ("tag", "gone"),
    [
        ("10.2-cudnn7-devel-ubuntu18.04", True),
        ("9.0-base", True),
        ("11.0-base-ubuntu20.04", True),
        ("11.1.1-cudnn8-devel-centos7", True),
        ("11.2.1-cudnn8-devel-ubuntu20.04", True),
        ("11.4.0-devel-ubuntu20.04", True),
        ("latest", True),
        ("11.1.1-cudnn8-devel-ubuntu20.04", False),
        ("11.8.0-cudnn8-devel-ubuntu22.04", False),
        ("12.1.1-cudnn8-devel-ubuntu18.04", False),  # there never was one
    ],
)
def test_images_that_were_taken_away(tag: str, gone: bool) -> None:
    assert is_gone(tag) is gone


def test_an_image_that_is_there_was_not_taken_away() -> None:
    assert tags()
    assert [tag for tag in tags() if is_gone(tag)] == []


def test_the_apt_key_that_was_exchanged() -> None:
    (row,) = TABLES["apt_key"].rows.values()
    fixes = TABLES["apt_key_fix"].rows
    lists = row["lists"]
    assert isinstance(lists, tuple)
    commands = fixes["drop"]["commands"]
    assert isinstance(commands, tuple)
    assert commands[0] == f"rm -f {' '.join(map(str, lists))}"


# GPUs


@pytest.mark.parametrize("gpu", sorted(map(str, GPUS)))
def test_every_name_of_a_gpu_leads_to_it_alone(gpu: str) -> None:
    row = GPUS[gpu]
    assert row["cc"] in ARCHITECTURES
    assert row["family"] in ("datacenter", "workstation", "consumer", "jetson")
    names = row["names"]
    assert isinstance(names, tuple)
    texts = (gpu, str(row["product"]), *map(str, names))
    for text in texts:
        for name in (text, text.upper(), text.lower(), text.replace(" ", "-"), f"NVIDIA {text}"):
            device = lookup(name, KNOWLEDGE)
            assert device is not None, name
            assert device.id == gpu, name
    for form in ("NVIDIA {}-SXM4-80GB", "Tesla {}-PCIE-16GB", "GRID {}-8Q", "NVIDIA {} Laptop GPU"):
        device = lookup(form.format(names[0]), KNOWLEDGE)
        assert device is not None, form
        assert device.id == gpu, form


def test_a_card_is_driven_by_its_architectures_branches() -> None:
    branches = TABLES["branch"].rows
    for cc, row in ARCHITECTURES.items():
        first, last = row.get("driver"), row.get("last_driver")
        assert last is None or last in branches, cc
        assert last is None or "last_cuda" in row, cc
        if first in branches:  # it is there with the CUDA that has code for it, or before
            assert version(branches[first]["serves"]) >= version(row["first_cuda"]), cc
    for gpu, row in GPUS.items():
        own = ARCHITECTURES[row["cc"]].get("driver")
        assert "driver" not in row or (own is not None and row["driver"] > own), gpu
        assert row.get("host", "aarch64") == "aarch64"


def test_no_two_gpus_share_a_name() -> None:
    owners: Dict[Tuple[str, ...], str] = {}
    for gpu, row in GPUS.items():
        names = row["names"]
        assert isinstance(names, tuple)
        for words in {tokens(str(name)) for name in names}:
            assert words not in owners, (owners.get(words), gpu)
            owners[words] = str(gpu)


@pytest.mark.parametrize(
    ("printed", "gpu"),
    [
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA A100-PCIE-40GB", "a100"),
        ("NVIDIA A100 80GB PCIe", "a100"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100"),
        ("GRID A100-10C", "a100"),
        ("A100-SXM4-80GB", "a100"),
        ("NVIDIA A100X", "a100"),
        ("NVIDIA A800-SXM4-80GB", "a800"),
        ("NVIDIA A800 40GB Active", "a800"),
        ("NVIDIA A30", "a30"),
        ("NVIDIA A40-48Q", "a40"),
        ("NVIDIA A10", "a10"),
        ("NVIDIA A10G", "a10g"),
        ("NVIDIA A16-2B", "a16"),
        ("NVIDIA A2", "a2"),
        ("NVIDIA L20", "l20"),
        ("NVIDIA L2", "l2"),
        ("NVIDIA L40", "l40"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 PCIe", "h100"),
        ("NVIDIA H100 NVL", "h100"),
        ("NVIDIA H800 PCIe", "h800"),
        ("NVIDIA H20", "h20"),
        ("NVIDIA H20-3e", "h20"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA B300 SXM6 AC", "b300"),
        ("NVIDIA GB300", "gb300"),
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA Thor", "thor"),
        ("Tesla K80", "k80"),
        ("Tesla K40m", "k40"),
        ("Tesla M40 24GB", "m40"),
        ("Tesla M60", "m60"),
        ("Tesla P100-PCIE-16GB", "p100"),
        ("Tesla P40", "p40"),
        ("Tesla P4", "p4"),
        ("Tesla V100S-PCIE-32GB", "v100s"),
        ("Tesla V100-DGXS-32GB", "v100"),
        ("Xavier", "xavier"),
        ("Orin (nvgpu)", "orin"),
        ("NVIDIA Tegra X1 (nvgpu)/integrated", "jetson-nano"),
        ("NVIDIA GeForce GTX 1650 with Max-Q Design", "gtx-1650"),
        ("NVIDIA GeForce GTX 1660 SUPER", "gtx-1660"),
        ("NVIDIA GeForce RTX 2070 Super with Max-Q Design", "rtx-2070"),
        ("NVIDIA GeForce RTX 3050Ti Laptop GPU", "rtx-3050"),
        ("NVIDIA GeForce RTX 3090 Ti", "rtx-3090-ti"),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "rtx-4070-ti"),
        ("NVIDIA GeForce RTX 5090 D v2", "rtx-5090-d"),
        ("NVIDIA GeForce RTX 5090 Laptop GPU", "rtx-5090"),
        ("NVIDIA GeForce RTX 2050", "rtx-2050"),
        ("NVIDIA T400 4GB", "t400"),
        ("NVIDIA T1000 8GB", "quadro-t1000"),
        ("Quadro RTX 4000 with Max-Q Design", "quadro-rtx-4000"),
        ("NVIDIA RTX A2000 12GB", "rtx-a2000"),
        ("NVIDIA RTX A1000 6GB Laptop GPU", "rtx-a1000"),
        ("NVIDIA RTX 4000 SFF Ada Generation", "rtx-4000-ada"),
        ("NVIDIA RTX 2000E Ada Generation", "rtx-2000-ada"),
        ("NVIDIA RTX 3000 Ada Generation Laptop GPU", "rtx-3000-ada"),
        ("NVIDIA RTX PRO 5000 72GB Blackwell", "rtx-pro-5000"),
        ("NVIDIA RTX PRO 6000D Blackwell Workstation Edition", "rtx-pro-6000d"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA H200 NVL", "h200"),
        ("NVIDIA GB200", "gb200"),
        ("Tesla V100-SXM2-32GB", "v100"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 3070 Laptop GPU", "rtx-3070"),
        ("NVIDIA GeForce RTX 3080 Ti", "rtx-3080-ti"),
        ("NVIDIA GeForce RTX 4080 SUPER", "rtx-4080"),
        ("NVIDIA GeForce RTX 4090 D", "rtx-4090-d"),
        ("NVIDIA GeForce GTX TITAN X", "gtx-titan-x"),
        ("NVIDIA TITAN X (Pascal)", "titan-x"),
        ("Quadro RTX 6000", "quadro-rtx-6000"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"),
        ("NVIDIA RTX A6000", "rtx-a6000"),
        ("NVIDIA Tegra X2", "jetson-tx2"),
        ("Orin", "orin"),
        ("rtx5090", "rtx-5090"),
        ("4090", "rtx-4090"),
        ("2080ti", "rtx-2080-ti"),
        ("RTX4070TiSUPER", "rtx-4070-ti"),
        ("rtx6000ada", "rtx-6000-ada"),
        ("5090Dv2", "rtx-5090-d"),
    ],
)
def test_gpus_are_found_by_what_devices_print_and_people_type(printed: str, gpu: str) -> None:
    device = lookup(printed, KNOWLEDGE)
    assert device is not None
    assert device.id == gpu


@pytest.mark.parametrize(
    "name", ["NVIDIA A1000X", "Quadro", "NVIDIA CMP 170HX", "NVIDIA DGX Display", "Iris Xe", "400"]
)
def test_a_gpu_that_is_not_known_is_none_of_those_that_are(name: str) -> None:
    assert lookup(name, KNOWLEDGE) is None


# Hosts and Python


def test_newer_compilers_bring_newer_symbols() -> None:
    rows = [r for _, r in sorted(TABLES["gcc_symbols"].rows.items(), key=lambda i: version(i[0]))]
    for column in ("glibcxx", "cxxabi"):
        values = [version(row[column]) for row in rows]
        assert values == sorted(values)
    known = {row["glibcxx"] for row in rows}
    assert {row["glibcxx"] for row in TABLES["distribution"].rows.values()} <= known


def test_a_distribution_is_told_whole() -> None:
    for system, row in TABLES["distribution"].rows.items():
        assert {"glibc", "gcc", "python", "glibcxx", "eol"} <= set(row), system
        assert re.fullmatch(r"20\d\d(-\d\d)?", str(row["eol"])), system
        assert str(row.get("lts", "9")) > str(row["eol"]), system


@pytest.mark.parametrize(
    ("system", "glibc", "gcc", "python", "glibcxx"),
    [
        ("ubuntu:18.04", "2.27", "7.5", "3.6.9", "3.4.25"),
        ("ubuntu:20.04", "2.31", "9.4", "3.8.10", "3.4.28"),
        ("ubuntu:22.04", "2.35", "11.4", "3.10.12", "3.4.30"),
        ("debian:12", "2.36", "12.2", "3.11.2", "3.4.30"),
        ("centos:7", "2.17", "4.8.5", "3.6.8", "3.4.19"),
        ("rocky:8", "2.28", "8.5", "3.6.8", "3.4.25"),
    ],
)
def test_what_a_distribution_comes_with(
    system: str, glibc: str, gcc: str, python: str, glibcxx: str
) -> None:
    row = TABLES["distribution"].rows[system]
    found = [str(row[column]) for column in ("glibc", "gcc", "python", "glibcxx")]
    assert found == [glibc, gcc, python, glibcxx]


def test_breakpoints_are_told_in_both_languages_and_have_an_order() -> None:
    names = {page.name for page in pages().values()}
    for key, row in TABLES["breakpoint"].rows.items():
        assert {"package", "since", "en", "zh", "fix"} <= set(row), key
        assert row.get("finding") is None or row["finding"] in names, key
        assert "until" not in row or version(row["until"]) > version(row["since"]), key


@pytest.mark.parametrize("name", ["numpy", "torch", "torchaudio", "torchvision", "triton"])
def test_wheels_are_for_known_pythons(name: str) -> None:
    known = {str(row["tag"]) for row in TABLES["python"].rows.values()} | {"py3"}
    for build in KNOWLEDGE.packages[name].builds():
        tags = build.attributes.get("python", ())
        assert isinstance(tags, tuple)
        assert {str(tag).partition("-")[0].rstrip("t") for tag in tags} <= known, build


# torch


def test_a_torch_build_is_known_by_what_can_be_observed_of_it() -> None:
    identities = [
        (b.version, *(str(b.attributes[name]) for name in ("architecture", "cuda", "abi")))
        for b in TORCH.builds()
    ]
    assert len(set(identities)) == len(identities)


def test_pypi_has_one_torch_build_a_release_and_architecture() -> None:
    served = [
        (str(b.version), str(b.attributes["architecture"]))
        for b in TORCH.builds()
        if b.attributes.get("install") == "{name}=={version}"
    ]
    assert len(set(served)) == len(served)
    assert {v for v, a in served if a == "x86_64"} == {str(v) for v in TORCH.releases} - {"1.8.2"}


def test_the_code_of_torch_is_what_its_toolkit_can_make() -> None:
    for build in TORCH.builds():
        cuda = build.attributes["cuda"]
        if cuda == "cpu":
            continue
        row = CUDA[cuda]
        sass, ptx = build.attributes.get("sass", ()), build.attributes.get("ptx", ())
        assert isinstance(sass, tuple)
        assert isinstance(ptx, tuple)
        assert list(sass) == sorted(sass)
        if "arch_min" in row:
            assert all(row["arch_min"] <= code <= row["arch_max"] for code in (*sass, *ptx)), build


def torch_build(text: str, architecture: str = "x86_64") -> Build:
    (found,) = [
        b
        for b in TORCH.builds()
        if label(b) == text and b.attributes["architecture"] == architecture
    ]
    return found


@pytest.mark.parametrize(
    ("text", "sass"),
    [
        ("1.3.1+cu100", "3.5 5.0 6.0 6.1 7.0 7.5"),
        ("1.3.0+cu101", "3.5 5.0 6.0 6.1 7.0 7.5"),
        ("1.3.1+cu101", "3.7 5.0 6.0 6.1 7.0 7.5"),
        ("1.5.0+cu92", "3.7 5.0 6.0 6.1 7.0"),
        ("1.6.0+cu102", "3.7 5.0 6.0 7.0 7.5"),
        ("1.8.0+cu102", "3.7 5.0 6.0 7.0"),
        ("1.9.1+cu111", "3.7 5.0 6.0 7.0 7.5 8.0 8.6"),
        ("2.0.1+cu117", "3.7 5.0 6.0 7.0 7.5 8.0 8.6"),
        ("2.4.1+cu121", "5.0 6.0 7.0 7.5 8.0 8.6 9.0"),
        ("2.8.0+cu128", "7.0 7.5 8.0 8.6 9.0 10.0 12.0"),
        ("2.11.0+cu130", "7.5 8.0 8.6 9.0 10.0 12.0"),
    ],
)
def test_sass_of_torch(text: str, sass: str) -> None:
    codes = torch_build(text).attributes["sass"]
    assert isinstance(codes, tuple)
    assert " ".join(map(str, codes)) == sass


@pytest.mark.parametrize(
    ("gpu", "architecture", "first", "last"),
    [
        ("k80", "x86_64", "1.2.0+cu92", "2.7.1+cu118"),
        ("v100", "x86_64", "1.2.0+cu92", "2.14.1+cu126"),
        ("a100", "x86_64", "1.7.0+cu110", "2.15.0+cu132"),
        ("rtx-4090", "x86_64", "1.7.0+cu110", "2.15.0+cu132"),
        ("h100", "x86_64", "2.0.0+cu118", "2.15.0+cu132"),
        ("b200", "x86_64", "2.7.0+cu128", "2.15.0+cu132"),
        ("rtx-5090", "x86_64", "2.7.0+cu128", "2.15.0+cu132"),
        ("thor", "aarch64", "2.11.0+cu130", "2.15.0+cu132"),
    ],
)
def test_first_and_last_torch_with_code_for_a_gpu(
    gpu: str, architecture: str, first: str, last: str
) -> None:
    device = Build("host.gpu", None, {"cc": GPUS[gpu]["cc"]})
    labels = [
        label(b)
        for b in sorted(TORCH.builds(), key=lambda b: (version(b.version), str(b.attributes)))
        if b.attributes["architecture"] == architecture and native(b, device) is True
    ]
    assert labels[0].partition("+")[0] == first.partition("+")[0]
    assert labels[-1].partition("+")[0] == last.partition("+")[0]
    assert {first, last} <= set(labels)


# What belongs to torch


def specifier(build: Build, attribute: str) -> Specifier:
    value = build.attributes[attribute]
    assert isinstance(value, Specifier)
    return value


def pinned(build: Build) -> List[Version]:
    """The torch releases that pip would take beside a build."""
    return [v for v in TORCH.releases if satisfies(v, specifier(build, "torch"))]


@pytest.mark.parametrize("name", ["torchaudio", "torchvision"])
def test_pairs_name_known_torch_releases(name: str) -> None:
    for build in KNOWLEDGE.packages[name].builds():
        assert pinned(build), build
    paired = {v for b in KNOWLEDGE.packages[name].builds() for v in pinned(b)}
    assert paired == {v for v in TORCH.releases if v >= min(paired)}


@pytest.mark.parametrize("name", ["torchaudio", "torchvision"])
def test_extensions_work_with_the_torch_that_they_ask_for(name: str) -> None:
    for build in KNOWLEDGE.packages[name].builds():
        works = specifier(build, "works")
        if (name, str(build.version)) == ("torchaudio", "2.11.1"):
            assert not all(satisfies(v, works) for v in pinned(build))  # it asks for too little
        else:
            assert all(satisfies(v, works) for v in pinned(build)), build
        assert {series(v) for v in pinned(build) if satisfies(v, works)}


@pytest.mark.parametrize("name", ["torchaudio", "torchvision"])
def test_extensions_exist_for_the_cuda_of_their_torch(name: str) -> None:
    for build in KNOWLEDGE.packages[name].builds():
        if "cuda" in build.attributes:
            twins = {
                (t.attributes["architecture"], t.attributes["cuda"])
                for v in pinned(build)
                for t in TORCH.builds(v)
            }
            assert (build.attributes["architecture"], build.attributes["cuda"]) in twins, build


# What the relations make of machines


def facts(
    torch: str,
    gpu: str = "a100",
    driver: str = "535.129.03",
    serves: str = "12.2",
    wsl: bool = False,
    jetson: str = "",
    architecture: str = "x86_64",
    glibc: str = "2.35",
    python: str = "3.8.18",
    **installed: str,
) -> Facts:
    """A machine with one GPU and torch, "1.9.1+cu111", installed from a wheel."""
    row = GPUS[gpu]
    tag = torch.partition("+")[2]
    cuda = "cpu" if tag == "cpu" else f"{tag[2:-1]}.{tag[-1]}"
    return Facts(
        machine=Machine(
            os=seen("ubuntu:22.04", "os-release"),
            architecture=seen(architecture, "uname"),
            glibc=seen(glibc, "libc"),
            wsl=seen(wsl, "kernel"),
            jetson=seen(jetson, "nv_tegra_release") if jetson else unseen("not a Jetson"),
        ),
        accelerator=Accelerator(
            vendor=seen("nvidia", "nvml"),
            gpus=seen((Gpu(str(row["product"]), str(row["cc"])),), "nvml"),
            driver=seen(driver, "nvml"),
            serves=seen(serves, "libcuda"),
        ),
        target=seen(
            Target(
                python="/env/bin/python",
                version=python,
                path=("/env",),
                distributions=tuple(
                    Distribution(name, text, f"/env/{name}.dist-info", "/env", installer="pip")
                    for name, text in {"torch": torch, **installed}.items()
                ),
                torch=TorchFiles("/env/torch", seen(torch, "version.py"), seen(cuda, "version.py")),
            ),
            "--python",
        ),
    )


def broken(snapshot: Facts, name: str = "torch") -> FrozenSet[str]:
    """The relations of a package that are broken for certain."""
    observation = observe(snapshot, KNOWLEDGE)
    judgement = judge(RELATIONS, name, observation.domains, observation.accelerator)
    return frozenset(b.bound.relation.id for v in judgement.violations for b in v.breaches)


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        pytest.param(facts("2.4.1+cu121"), (), id="fits"),
        pytest.param(facts("2.4.1+cu124"), (), id="newer minor than the driver serves"),
        pytest.param(
            facts("2.4.1+cu121", driver="470.57.02", serves="11.4"), ("cuda/minor",), id="family"
        ),
        pytest.param(
            facts("2.4.1+cu121", driver="470.57.02", serves="12.2"), (), id="compat libcuda"
        ),
        pytest.param(
            facts("1.9.1+cu111", driver="450.51.05", serves="11.0"),
            ("cuda/minor",),
            id="of the family, before its floor",
        ),
        pytest.param(facts("1.9.1+cu111", driver="450.80.02", serves="11.0"), (), id="floor"),
        pytest.param(
            facts("1.7.1+cu110", driver="450.51.05", serves="11.0"), (), id="serves it itself"
        ),
        pytest.param(
            facts("1.9.1+cu111", driver="451.48", serves="11.0", wsl=True), (), id="wsl serves 11"
        ),
        pytest.param(
            facts("2.4.1+cu121", driver="531.14", serves="12.1", wsl=True), (), id="wsl serves it"
        ),
        pytest.param(
            facts("2.4.1+cu121", driver="526.47", serves="11.8", wsl=True),
            ("cuda/minor",),
            id="wsl, the number of the driver is that of Windows",
        ),
        pytest.param(
            facts("2.4.1+cu121", gpu="orin", driver="35.4.1", serves="11.4", jetson="35.4.1"),
            (),
            id="jetson",
        ),
        pytest.param(
            facts("1.9.1+cu102", gpu="v100", driver="418.87.01", serves="10.1"),
            ("cuda/exact",),
            id="10.2 has no minor compatibility",
        ),
        pytest.param(
            facts("1.9.1+cu102", gpu="v100", driver="440.33.01", serves="10.2"), (), id="exact"
        ),
        pytest.param(
            facts("2.9.0+cu130", gpu="thor", driver="580.65.06", serves="13.0", python="3.12.3"),
            ("cuda/code",),
            id="no code for 11.0, and PTX of 12.0 is newer",
        ),
        pytest.param(facts("2.4.1+cu121", gpu="rtx-5090"), ("cuda/code",), id="blackwell"),
        pytest.param(facts("1.9.1+cu111", gpu="rtx-4090"), (), id="8.6 code on 8.9"),
        pytest.param(facts("1.9.1+cu111", gpu="h100"), ("cuda/code",), id="8.x code on 9.0"),
        pytest.param(facts("2.4.1+cpu", gpu="rtx-5090"), (), id="processor alone"),
        pytest.param(
            facts("2.7.0+cu126", glibc="2.27", python="3.10.13"), ("host/glibc",), id="glibc"
        ),
        pytest.param(facts("2.4.1+cu121", glibc="2.17"), (), id="centos 7 still serves 2.4"),
        pytest.param(facts("2.4.1+cu121", python="3.13.0"), ("python/wheel-tag",), id="python"),
        pytest.param(facts("2.2.2+cu121", numpy="2.0.2"), ("torch/numpy-1",), id="numpy 2"),
        pytest.param(facts("2.3.1+cu121", numpy="2.0.2"), (), id="numpy 2 from torch 2.3"),
        pytest.param(
            facts("1.10.2+cu113", setuptools="59.6.0", tensorboard="2.9.1"),
            ("torch/tensorboard",),
            id="distutils.version",
        ),
        pytest.param(facts("1.10.2+cu113", setuptools="59.6.0"), (), id="no tensorboard"),
        pytest.param(
            facts("1.8.1+cu111", setuptools="65.5.0", tensorboard="2.9.1"), (), id="torch 1.8"
        ),
    ],
)
def test_torch_on_machines(snapshot: Facts, expected: Tuple[str, ...]) -> None:
    assert broken(snapshot) == set(expected)


@pytest.mark.parametrize(
    ("torch", "assumed", "expected"),
    [
        # new enough for CUDA 12, and older than the card
        ("2.7.0+cu128", ("gpu=rtx5090", "driver=535.183.01"), ("gpus/driver",)),
        ("2.7.0+cu128", ("gpu=rtx5090", "driver=570"), ()),
        ("2.7.0+cu128", ("gpu=a100,rtx5090", "driver=550"), ("gpus/driver",)),
        ("2.0.1+cu118", ("gpu=h100", "driver=515"), ("gpus/driver",)),
        ("2.0.1+cu118", ("gpu=h100", "driver=520"), ()),
        ("1.13.1+cu117", ("gpu=rtx4090", "driver=515"), ("gpus/driver",)),
        # too new for the card
        ("1.13.1+cu117", ("gpu=k80", "driver=535"), ("gpus/last-driver",)),
        ("1.13.1+cu117", ("gpu=k80", "driver=470"), ()),
        ("2.7.1+cu126", ("gpu=v100", "driver=590"), ("gpus/last-driver",)),
        ("2.7.1+cu126", ("gpu=gtx1080", "driver=580"), ()),
        # one of the two is this machine's
        ("2.7.0+cu128", ("gpu=rtx5090",), ()),
        ("1.13.1+cu117", ("gpu=k80",), ()),
        ("1.13.1+cu117", ("driver=590",), ()),
    ],
)
def test_a_driver_for_the_gpus(
    torch: str, assumed: Tuple[str, ...], expected: Tuple[str, ...]
) -> None:
    snapshot = assume(facts(torch, gpu="a100", python="3.10.13"), assumed, KNOWLEDGE)
    assert broken(snapshot) == set(expected)


@pytest.mark.parametrize(
    ("torch", "torchvision", "expected"),
    [
        ("2.4.1+cu121", "0.19.1", ()),
        ("2.4.1+cu121", "0.19.0", ("torchvision/pair",)),
        ("2.4.1+cu121", "0.20.1", ("torchvision/torch",)),
        ("2.5.1+cu124", "0.19.1", ("torchvision/operators",)),
        ("2.4.1+cu121", "0.21.0", ("torchvision/torch",)),
        ("2.3.1+cu121", "0.17.2", ("torchvision/torch",)),
        ("2.2.2+cu121", "0.16.2", ("torchvision/operators",)),
        ("2.4.1+cu118", "0.19.1+cu121", ("torchvision/cuda",)),
        ("2.4.1+cu124", "0.19.1+cu121", ()),
        ("1.9.1+cu111", "0.10.1+cu102", ("torchvision/cuda",)),
        ("1.9.1+cu111", "0.10.1+cu111", ()),
        ("2.4.1+cpu", "0.19.1+cu121", ("torchvision/cuda",)),
        ("2.4.1+cu121", "0.19.1+cpu", ("torchvision/cpu",)),
        ("2.4.1+cu121", "0.19.0a0+48b1edf", ()),
    ],
)
def test_torchvision_beside_torch(torch: str, torchvision: str, expected: Tuple[str, ...]) -> None:
    python = "3.10.13" if satisfies(parse(torch), ">=2") else "3.8.18"
    snapshot = facts(torch, python=python, torchvision=torchvision)
    assert broken(snapshot, "torchvision") == set(expected)


@pytest.mark.parametrize(
    ("torchvision", "pillow", "expected"),
    [
        ("0.4.2", "6.2.2", ()),
        ("0.4.2", "7.0.0", ("torchvision/pillow",)),
        ("0.4.2", "7.1.2", ()),
        ("0.4.2", "8.4.0", ()),
        ("0.4.2", "9.0.0", ("torchvision/pillow",)),
        ("0.5.0", "9.0.0", ()),
    ],
)
def test_torchvision_beside_pillow(
    torchvision: str, pillow: str, expected: Tuple[str, ...]
) -> None:
    torch = "1.3.1+cu101" if torchvision == "0.4.2" else "1.4.0+cu101"
    snapshot = facts(torch, gpu="v100", python="3.7.16", torchvision=torchvision, pillow=pillow)
    assert broken(snapshot, "torchvision") == set(expected)


@pytest.mark.parametrize(
    ("lightning", "setuptools", "expected"),
    [
        ("2.3.3", "80.10.2", ()),
        ("2.3.3", "82.0.1", ("pytorch-lightning/pkg-resources",)),
        ("2.3.3", "", ("pytorch-lightning/needs-setuptools",)),
        ("1.6.5", "82.0.1", ("pytorch-lightning/pkg-resources",)),
        ("2.4.0", "82.0.1", ()),
        ("2.4.0", "", ()),
    ],
)
def test_lightning_and_pkg_resources(
    lightning: str, setuptools: str, expected: Tuple[str, ...]
) -> None:
    other = {"setuptools": setuptools} if setuptools else {}
    snapshot = facts("2.4.1+cu121", python="3.10.13", **{"pytorch-lightning": lightning, **other})
    found = broken(snapshot, "pytorch-lightning")
    assert {i for i in found if i.startswith("pytorch-lightning/")} == set(expected)


@pytest.mark.parametrize(
    ("torch", "torchaudio", "expected"),
    [
        ("2.4.1+cu121", "2.4.1", ()),
        ("2.4.1+cu121", "2.4.0", ("torchaudio/pair",)),
        ("2.4.1+cu121", "2.3.1", ("torchaudio/torch",)),
        ("2.4.1+cu124", "2.4.1+cu121", ("torchaudio/cuda",)),
        ("1.9.1+cu111", "0.9.1", ()),
        ("2.12.1+cu130", "2.11.1", ("torchaudio/torch",)),
        ("2.13.0+cu130", "2.11.1", ()),
    ],
)
def test_torchaudio_beside_torch(torch: str, torchaudio: str, expected: Tuple[str, ...]) -> None:
    python = "3.12.3" if satisfies(parse(torch), ">=2.9") else "3.8.18"
    snapshot = facts(torch, driver="610.43.02", serves="13.3", python=python, torchaudio=torchaudio)
    assert broken(snapshot, "torchaudio") == set(expected)


def broken_build(
    torch: str, gpu: str, toolkit: str, gcc: str, setuptools: str = "65.5.0"
) -> FrozenSet[str]:
    """The relations that compiling an extension for torch on a machine breaks for certain."""
    source = next(
        build
        for package in KNOWLEDGE.packages.values()
        for build in package.builds()
        if build.attributes.get("compiles") == "cuda"
    )
    domains = {
        **observe(facts(torch, gpu=gpu), KNOWLEDGE).domains,
        source.component: (source,),
        "build.toolkit": (parse(toolkit),),
        "build.gcc": (parse(gcc),),
        "build.clang": (ABSENT,),
        "build.setuptools": (parse(setuptools),),
    }
    judgement = judge(RELATIONS, source.component, domains, "nvidia")
    ids = {b.bound.relation.id for v in judgement.violations for b in v.breaches}
    return frozenset(i for i in ids if i.startswith("cuda/build"))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (("1.9.1+cu111", "a100", "11.1.105", "9.4.0"), ()),
        (("1.9.1+cu111", "a100", "11.3.109", "9.4.0"), ()),  # another minor
        (("1.9.1+cu111", "rtx-4090", "11.3", "9.4.0"), ()),  # torch asks for 8.6 at most
        (("2.0.1+cu118", "rtx-4090", "11.3", "9.4.0"), ("cuda/build-new-gpu",)),
        (("2.4.1+cu121", "a100", "11.8", "11.4.0"), ("cuda/build-major",)),
        (("2.4.1+cu121", "a100", "12.1", "13.2.0"), ("cuda/build-gcc",)),
        (("2.4.1+cu124", "a100", "12.4", "13.2.0"), ()),
        (("2.4.1+cu121", "a100", "12.1", "8.4.0"), ("cuda/build-old-gcc",)),
        (("2.4.1+cu121", "a100", "12.1", "9.4.0"), ()),
        (("2.2.1+cu121", "a100", "12.1", "8.4.0"), ()),  # its headers ask for gcc 5
        (("2.2.2+cu121", "a100", "12.1", "8.4.0"), ("cuda/build-old-gcc",)),
        (("2.12.1+cu130", "a100", "13.0", "8.5.0"), ()),  # the check is gone
        (("2.14.1+cu130", "a100", "13.0", "10.2.1"), ("cuda/build-old-gcc-20",)),
        (("2.14.1+cu130", "a100", "13.0", "11.4.0"), ()),
        (("2.9.0+cu130", "v100", "13.0", "13.3.0"), ("cuda/build-old-gpu",)),
        (("1.12.1+cu113", "a100", "11.4.48", "11.1.0"), ("cuda/build-gcc-11.4.0",)),
        (("1.12.1+cu113", "a100", "11.4.48", "10.2.1"), ()),
        (("1.12.1+cu113", "a100", "11.4.120", "11.1.0"), ()),
        (("1.12.1+cu113", "a100", "11.5.119", "11.4.0"), ("cuda/build-gcc-functional",)),
        (("1.12.1+cu113", "a100", "11.5.119", "12.3.0"), ("cuda/build-gcc",)),
        (("1.12.1+cu116", "a100", "11.6.124", "11.4.0"), ()),
        (("1.12.1+cu113", "a100", "11.3.109", "10.3.0"), ("cuda/build-gcc-chrono",)),
        (("1.12.1+cu113", "a100", "11.3.109", "10.5.0"), ()),
        (("1.10.2+cu113", "a100", "11.1", "9.4.0", "47.1.0"), ("cuda/build-minor",)),
        (("1.10.2+cu113", "a100", "11.3", "9.4.0", "47.1.0"), ()),
    ],
)
def test_source_builds(case: Tuple[str, ...], expected: Tuple[str, ...]) -> None:
    assert broken_build(*case) == set(expected)
