"""Which GPU runs which code: of one image, of a package whose files were read, of a whole check."""

from __future__ import annotations

from typing import List, Optional, Tuple

import msgspec
import pytest

from envdoctor.knowledge.load import load
from envdoctor.model.build import Build, Unknown
from envdoctor.model.facts import (
    Accelerator,
    CodeGroup,
    Distribution,
    Facts,
    Gpu,
    GpuCode,
    Target,
    TorchFiles,
    seen,
)
from envdoctor.model.versions import Architecture, architecture, parse, sm
from envdoctor.relations.assume import assume
from envdoctor.relations.gpu_code import is_compiled, is_executed, read_code
from envdoctor.relations.predicates import executes, is_read, jit, native
from envdoctor.relations.values import Truth
from envdoctor.rules.check import check

YES, NO, UNKNOWN = True, False, None


def plain(truth: Truth) -> Optional[bool]:
    return None if isinstance(truth, Unknown) else truth


@pytest.mark.parametrize(
    ("code", "device", "runs", "compiles"),
    [
        # the same major, minor not above the device's; PTX for all that come later
        ("8.0", "8.0", YES, YES),
        ("8.0", "8.6", YES, YES),
        ("8.0", "8.9", YES, YES),
        ("8.6", "8.0", NO, NO),
        ("8.0", "9.0", NO, YES),
        ("7.0", "7.5", YES, YES),
        ("9.0", "8.9", NO, NO),
        ("9.0", "12.0", NO, YES),
        ("12.0", "12.1", YES, YES),
        ("12.1", "12.0", NO, NO),
        # for one device alone
        ("9.0a", "9.0", YES, YES),
        ("9.0a", "10.0", NO, NO),
        ("10.0a", "10.0", YES, YES),
        ("10.0a", "10.3", NO, NO),
        ("10.3a", "10.3", YES, YES),
        ("12.0a", "12.1", NO, NO),
        # for its family, as NVIDIA's table has it
        ("10.0f", "10.0", YES, YES),
        ("10.0f", "10.3", YES, YES),
        ("10.3f", "10.0", NO, NO),
        ("10.3f", "10.3", YES, YES),
        ("10.0f", "11.0", NO, NO),
        ("10.0f", "12.0", NO, NO),
        ("11.0f", "11.0", YES, YES),
        ("12.0f", "12.1", YES, YES),
        ("12.1f", "12.0", NO, NO),
        # whether Rubin is of that family, the table does not say
        ("10.0f", "10.7", UNKNOWN, UNKNOWN),
        ("10.0", "10.7", YES, YES),
        # Thor, by the name that CUDA 12 has for it
        ("10.1", "11.0", UNKNOWN, YES),
        ("10.1a", "11.0", UNKNOWN, UNKNOWN),
    ],
)
def test_one_image(code: str, device: str, runs: Optional[bool], compiles: Optional[bool]) -> None:
    assert plain(is_executed(architecture(code), parse(device))) is runs
    assert plain(is_compiled(architecture(code), parse(device))) is compiles


def test_architectures() -> None:
    codes = [architecture(text) for text in ("9.0", "9.0a", "10.0f", "10.0", "8.6")]
    assert [str(code) for code in sorted(codes)] == ["8.6", "9.0", "9.0a", "10.0", "10.0f"]
    assert [sm(code) for code in codes] == ["sm_90", "sm_90a", "sm_100f", "sm_100", "sm_86"]
    assert architecture("9.0") == parse("9.0") != architecture("9.0a")
    assert (architecture("12.1f").major, architecture("12.1f").minor) == (12, 1)
    for text in ("", "9", "9.0b", "90", "9.0+a", "sm_90", "0.9", "9.10", "100.0"):
        with pytest.raises(ValueError, match="not an architecture"):
            Architecture(text)


def code(*groups: Tuple[int, str, str], linkable: str = "") -> GpuCode:
    """What was read: fat binaries by their number, SASS and PTX."""
    listed = tuple(
        CodeGroup(tuple(sass.split()), tuple(ptx.split()), count) for count, sass, ptx in groups
    )
    every = [" ".join(group[kind] for group in groups if True).split() for kind in (1, 2)]  # type: ignore[misc]
    sass, ptx = (tuple(sorted(set(texts))) for texts in every)
    return GpuCode(sass, ptx, groups=listed, linkable=tuple(linkable.split()))


@pytest.mark.parametrize(
    ("found", "device", "runs", "compiles"),
    [
        (code((9, "8.0 9.0", "")), "9.0", YES, NO),
        (code((9, "8.0 9.0", "9.0")), "12.0", NO, YES),
        (code((9, "8.0", "")), "9.0", NO, NO),
        # nearly all of it, and a kernel for one GPU that is chosen when it is there
        (code((9, "8.0", ""), (1, "9.0a", "")), "8.6", YES, NO),
        (code((9, "8.0", ""), (1, "9.0a", "")), "9.0", UNKNOWN, NO),
        (code((9, "8.0", ""), (1, "9.0a", "")), "10.0", NO, NO),
        # each kernel for one GPU
        (code((4, "8.0", ""), (4, "9.0", ""), (4, "10.0", "")), "9.0", UNKNOWN, NO),
        (code((4, "8.0", ""), (4, "9.0", ""), (4, "10.0", "")), "12.0", NO, NO),
        # PTX of a library that is linked in
        (code((90, "8.0", ""), (2, "8.0", "8.0")), "9.0", NO, UNKNOWN),
        # PTX that would have to be linked first
        (code((1, "8.0", ""), linkable="9.0"), "9.0", NO, UNKNOWN),
        (code((1, "8.0", ""), linkable="9.0"), "8.0", YES, NO),
    ],
)
def test_a_package(
    found: GpuCode, device: str, runs: Optional[bool], compiles: Optional[bool]
) -> None:
    read = read_code(found)
    build = Build("mmcv", None, {"sass": read.sass(), "ptx": read.ptx(), "code": read})
    gpu = Build("host.gpu", None, {"cc": parse(device)})
    assert plain(native(build, gpu)) is runs
    assert plain(jit(build, gpu)) is compiles
    assert is_read(build) is True
    one = {runs, compiles}
    assert plain(executes(build, gpu)) is (YES if YES in one else UNKNOWN if UNKNOWN in one else NO)


def test_what_was_not_read() -> None:
    build, gpu = Build("mmcv", None, {}), Build("host.gpu", None, {"cc": parse("9.0")})
    assert is_read(build) is False
    assert plain(executes(build, gpu)) is UNKNOWN


def test_code_of_some_and_ptx_of_others() -> None:
    read = read_code(code((5, "8.0", ""), (5, "7.0", "7.0")))
    assert read.runs_on(parse("8.0")) is True
    assert [str(target) for target in read] == ["7.0", "8.0"]
    assert read == read_code(code((5, "8.0", ""), (5, "7.0", "7.0")))
    assert read != read_code(code((5, "8.0", ""), (6, "7.0", "7.0")))
    assert read.sass() != read.ptx()


def environment(
    name: str, version: str, found: GpuCode, torch: str = "2.1.0", cuda: str = "12.1"
) -> Facts:
    """torch of PyPI and an extension that was compiled here."""

    def installed(name: str, version: str) -> Distribution:
        path = f"/env/lib/{name}-{version}.dist-info"
        return Distribution(name, version, path, "/env/lib", installer="pip", modules=(name,))

    target = Target(
        python="/env/bin/python",
        version="3.10.13",
        prefix="/env",
        base_prefix="/usr",
        path=("/env/lib",),
        distributions=(installed("torch", torch), installed(name, version)),
        torch=TorchFiles("/env/lib/torch", version=seen(torch, "t"), cuda=seen(cuda, "t")),
        gpu_code={name: msgspec.structs.replace(found, origin=f"/env/lib/{name}/_ext.so")},
    )
    return Facts(target=seen(target, "tests"))


def errors(facts: Facts, gpu: str, driver: str = "580.65.06") -> List[str]:
    knowledge = load()
    report = check(assume(facts, [f"gpu={gpu}", f"driver={driver}"], knowledge), knowledge)
    wanted = ("gpu-arch-not-in-extension", "gpu-arch-not-in-torch", "driver-too-old")
    return [f"{f.name}: {f.summary}" for f in report.findings if f.name in wanted]


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("mmcv-full", "1.7.2"),
        ("mmcv", "2.1.0"),
        ("torch-scatter", "2.1.2"),
        ("torchvision", "0.16.0"),
    ],
)
def test_an_extension_that_was_compiled_for_another_gpu(name: str, version: str) -> None:
    own = environment(name, version, code((40, "8.0 8.6", "")))
    told = errors(own, "h100")
    assert len(told) == 1
    assert told[0].startswith("gpu-arch-not-in-extension: " + name)
    assert "no code for sm_90 (H100)" in told[0]
    assert errors(own, "a100") == []
    assert errors(own, "rtx-4090") == []
    with_ptx = environment(name, version, code((40, "8.0", "8.0")))
    assert errors(with_ptx, "h100") == []
    some = environment(name, version, code((40, "8.0", ""), (2, "9.0a", "")))
    assert errors(some, "h100") == []  # nobody knows whether it needs the others there


def test_an_older_card_beside_those_that_train() -> None:
    cards = (Gpu("NVIDIA H100 80GB HBM3", "9.0"), Gpu("NVIDIA GeForce GTX 1080", "6.1"))
    accelerator = Accelerator(
        vendor=seen("nvidia", "NVML"), gpus=seen(cards, "NVML"), driver=seen("580.65.06", "NVML")
    )
    own = environment("torch-scatter", "2.1.2", code((40, "9.0", "")))
    report = check(msgspec.structs.replace(own, accelerator=accelerator), load())
    told = [f for f in report.findings if f.code == "ED112"]
    assert [f.severity for f in told] == ["warning"]
    assert "GTX 1080" in told[0].summary
    assert [(one.fact, one.value, one.origin) for one in told[0].evidence][-1] == (
        "GPU code of torch-scatter",
        "9.0",
        "/env/lib/torch-scatter/_ext.so",
    )


def test_ptx_needs_a_driver_of_its_version() -> None:
    ptx = msgspec.structs.replace(code((40, "8.0", "8.0")), ptx_version="8.4")
    own = environment("torch-scatter", "2.1.2", ptx)
    assert errors(own, "h100", "550.54.14") == []
    told = errors(own, "h100", "535.129.03")
    assert len(told) == 1
    assert told[0].startswith("driver-too-old: driver 535.129.03 is too old for torch-scatter")
    assert errors(own, "a100", "535.129.03") == []  # it has compiled code there
    newer = environment("torch-scatter", "2.1.2", msgspec.structs.replace(ptx, ptx_version="99.0"))
    assert errors(newer, "h100", "535.129.03") == []  # a version that nobody knows


def test_magma_has_a_list_of_its_own() -> None:
    knowledge = load()

    def told(torch: str, cuda: str, gpu: str) -> List[str]:
        own = environment("numpy", "2.2.6", GpuCode(), torch, cuda)
        given = assume(own, [f"gpu={gpu}", "driver=590.44.01"], knowledge)
        machine = msgspec.structs.replace(given.machine, architecture=seen("x86_64", "tests"))
        report = check(msgspec.structs.replace(given, machine=machine), knowledge)
        assert not any(f.severity == "error" for f in report.findings if f.code == "ED111")
        return [f"{f.severity}: {f.summary}" for f in report.findings if f.code == "ED313"]

    assert told("2.11.0", "13.0", "t4") == [
        "info: torch 2.11.0 runs on T4, its MAGMA does not: it has no code for sm_75"
    ]
    assert told("2.11.0", "13.0", "a100") == []
    assert told("2.9.1", "12.8", "t4") == []


def test_a_torch_of_the_index_is_what_the_matrices_say_of_it() -> None:
    # cuDNN and NCCL, which are linked in, have PTX that newer GPUs could compile; torch has none
    read = code((435, "3.7 5.0 6.0 7.0", ""), (300, "3.5 5.0 6.0 7.0 7.5", "3.7"))
    assert len(errors(environment("torch", "1.10.2", read, "1.10.2", "10.2"), "a100")) == 1
    # compiled here: its files say it
    own = code((400, "6.1", ""))
    assert errors(environment("torch", "2.1.0", own), "gtx-1080-ti") == []
    assert len(errors(environment("torch", "2.1.0", own), "a100")) == 1
