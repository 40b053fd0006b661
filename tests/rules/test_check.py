"""What `check` makes of relations and rules, on the small matrices."""

from __future__ import annotations

from typing import List

import msgspec
import pytest

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import (
    Accelerator,
    Distribution,
    Facts,
    Gpu,
    Target,
    TorchFiles,
    seen,
    unseen,
)
from envdoctor.rules.check import check

SITE = "/env/lib/python3.8/site-packages"


def facts(*installed: str, gpu: str = "8.0", driver: str = "470.57.02") -> Facts:
    """Facts of "torch 2.4.1+cu121" and the like on a machine with one GPU."""
    distributions = []
    torch = None
    for text in installed:
        name, version = text.split()
        if name == "torch":
            torch = TorchFiles(
                path=f"{SITE}/torch",
                version=seen(version, f"{SITE}/torch/version.py"),
                cuda=seen({"cu121": "12.1", "cu111": "11.1"}[version[-5:]], "version.py"),
            )
        distributions.append(
            Distribution(
                name=name,
                version=version,
                path=f"{SITE}/{name}-{version}.dist-info",
                search_entry=SITE,
            )
        )
    return Facts(
        accelerator=Accelerator(
            vendor=seen("nvidia", "/dev/nvidia0"),
            gpus=seen((Gpu("Some GPU", gpu),), "NVML"),
            driver=seen(driver, "NVML"),
            serves=seen({"470.57.02": "11.4", "535.54.03": "12.2"}[driver], "libcuda"),
        ),
        target=seen(
            Target(
                python="/env/bin/python",
                version="3.8.18",
                path=(SITE,),
                distributions=tuple(distributions),
                torch=torch,
            ),
            "VIRTUAL_ENV",
        ),
    )


def told(examined: Facts, knowledge: Knowledge) -> List[str]:
    return [f"{f.severity} {f.name} {f.component}" for f in check(examined, knowledge).findings]


def test_a_finding_carries_what_it_rests_on(small_matrices: Knowledge) -> None:
    (finding,) = check(facts("torch 2.4.1+cu121", "mmcv-full 1.4.0"), small_matrices).findings[:1]
    assert (finding.code, finding.phase, finding.component) == (
        "ED412",
        "import",
        "mmcv-full 1.4.0",
    )
    assert finding.why == "its wheels are for torch 1.9 and 1.10; its sources stop at THC/THC.h"
    assert [(e.fact, e.value, e.origin) for e in finding.evidence] == [
        ("mmcv-full", "1.4.0", f"{SITE}/mmcv-full-1.4.0.dist-info"),
        ("torch", "2.4.1+cu121", f"{SITE}/torch/version.py"),
    ]
    assert finding.relation is not None
    assert finding.relation.id == "mmcv-full/wheel-torch"
    assert finding.relation.source == "invented"
    # one change for both that are broken
    assert [fix.summary for fix in finding.fixes] == [
        "mended by the change of ED110 torch 2.4.1+cu121: 2 packages: torch 2.4.1+cu121 -> "
        "1.10.0+cu111; mmcv-full 1.4.0 again for torch 1.10.0+cu111"
    ]
    assert finding.fixes[0].commands == (
        "/env/bin/python -m pip install torch==1.10.0+cu111 -f page",
        "/env/bin/python -m pip install mmcv-full==1.4.0 "
        "--force-reinstall --no-deps -f cu111/torch1.10.0",
    )


def test_a_consequence_is_not_told_again(small_matrices: Knowledge) -> None:
    """The driver is too old for torch, and so for every build of mmcv-full beside it."""
    assert told(facts("torch 2.4.1+cu121", "mmcv-full 1.7.1"), small_matrices) == [
        "error driver-too-old torch 2.4.1+cu121"
    ]
    # what is broken for a reason of its own is told as well
    assert told(facts("torch 2.4.1+cu121", "mmcv-full 1.4.0"), small_matrices) == [
        "error torch-abi-mismatch mmcv-full 1.4.0",
        "error driver-too-old torch 2.4.1+cu121",
        "warning mmcv-torch-skew mmcv-full 1.4.0",
    ]


def test_sources_that_are_installed_may_have_been_patched(small_matrices: Knowledge) -> None:
    """That released sources do not compile is an error only beside other reasons."""
    examined = facts("torch 2.4.1+cu121", "mmcv-full 1.4.0", driver="535.54.03")
    target = examined.target.value
    assert target is not None
    torch, mmcv = target.distributions
    in_place = msgspec.structs.replace(mmcv, editable="/src/mmcv")
    target = msgspec.structs.replace(target, distributions=(torch, in_place))
    examined = msgspec.structs.replace(examined, target=seen(target, "VIRTUAL_ENV"))
    assert told(examined, small_matrices) == [
        "warning thc-headers-removed mmcv-full 1.4.0",
        "warning mmcv-torch-skew mmcv-full 1.4.0",
    ]


def test_what_holds_is_ruled_out_and_what_is_unknown_is_skipped(small_matrices: Knowledge) -> None:
    report = check(facts("torch 1.9.1+cu111", "torchvision 0.10.1"), small_matrices)
    assert report.findings == ()
    assert "driver-too-old" in report.ruled_out
    assert "torch-torchvision-mismatch" in report.ruled_out
    blind = facts("torch 1.9.1+cu111")
    blind = msgspec.structs.replace(blind, accelerator=Accelerator(driver=unseen("no driver")))
    report = check(blind, small_matrices)
    assert report.findings == ()
    assert "driver-too-old" not in report.ruled_out
    assert any(s.code == "ED110" for s in report.skipped)


def test_newer_than_the_matrices_is_untested(small_matrices: Knowledge) -> None:
    report = check(facts("torch 2.99.0+cu121", driver="535.54.03"), small_matrices)
    assert report.findings == ()
    assert [s.reason for s in report.skipped if s.code == "untested"] == [
        "torch 2.99.0+cu121 is newer than the matrices know (2.7.0): untested"
    ]
    assert "driver-too-old" not in report.ruled_out
    assert "gpu-arch-not-in-torch" not in report.ruled_out


def test_a_crashed_rule_takes_no_other_along(
    small_matrices: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    from envdoctor.rules import ED204_dependency_conflict as rule

    def examine(_: object) -> None:
        raise ZeroDivisionError("by \x1b[31mzero")

    monkeypatch.setattr(rule, "examine", examine)
    report = check(facts("torch 2.4.1+cu121", "torchvision 0.22.0"), small_matrices)
    assert "torch-torchvision-mismatch" in [f.name for f in report.findings]
    assert [s.reason for s in report.skipped if s.code == "ED204"] == [
        "the rule itself failed: ZeroDivisionError: by [31mzero"
    ]


def test_a_hostile_version_reaches_no_command(small_matrices: Knowledge) -> None:
    """What is printed to be run comes from the matrices; the interpreter's path is quoted."""
    examined = facts("torch 2.4.1+cu121", "torchvision 0.22.0", driver="535.54.03")
    target = examined.target.value
    assert target is not None
    hostile = msgspec.structs.replace(
        target,
        python="/tmp/a b; reboot/bin/python",
        distributions=(
            *target.distributions,
            Distribution(name="mmdet", version="1; rm -rf ~", path="$(reboot)", search_entry=SITE),
        ),
    )
    examined = msgspec.structs.replace(examined, target=seen(hostile, "--python"))
    (finding,) = [f for f in check(examined, small_matrices).findings if f.severity == "error"]
    assert finding.fixes[0].commands == (
        "'/tmp/a b; reboot/bin/python' -m pip install torchvision==0.19.1",
    )
