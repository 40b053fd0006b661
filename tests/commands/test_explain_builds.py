"""`explain` of builds, packages and platform rows, as it is called, on the real matrices."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict

import pytest

from envdoctor.commands.options import ASSUME_VARIABLE


def answer(envdoctor: Callable[..., Any], *arguments: str) -> Dict[str, Any]:
    ended = envdoctor("explain", *arguments, "--format", "json")
    assert (ended.code, ended.err) == (0, "")
    data: Dict[str, Any] = json.loads(ended.out)
    return data


def test_two_builds_that_do_not_fit(envdoctor: Callable[..., Any]) -> None:
    asked = ("mmcv-full==1.4.0", "torch==2.0.1", "--assume", "python=3.8")
    data = answer(envdoctor, *asked)
    assert data["assumed"] == ["python=3.8"]
    found = data["packages"]
    assert found["answer"] == "no"
    assert [told["relation"]["id"] for told in found["because"]] == [
        "mmcv-full/wheel-torch",
        "mmcv-full/thc",
    ]
    assert all(told["relation"]["source"] for told in found["because"])
    ended = envdoctor("explain", *asked)
    assert ended.out.startswith("mmcv-full 1.4.0 and torch 2.0.1 do not fit")
    assert "its sources include THC/THC.h, which torch 1.11 removed" in ended.out
    assert "What fits instead, the rest unchanged" in ended.out


def test_two_builds_that_fit_are_installed_in_order(envdoctor: Callable[..., Any]) -> None:
    found = answer(envdoctor, "mmcv-full==1.4.0", "torch==1.9.1+cu111")["packages"]
    assert found["answer"] == "prebuilt"
    assert [text.split()[0] for text in found["install"]] == [
        "torch==1.9.1+cu111",
        "mmcv-full==1.4.0",
    ]


def test_a_build_with_everything_that_is_known(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("explain", "torch==1.9.1+cu111")
    for text in ("GPU code", "A100", "not on", "450.80.02 or newer", "[torch/1.9,", "torchvision"):
        assert text in ended.out
    assert "H100" in ended.out.partition("not on")[2].partition("driver")[0]


def test_what_is_assumed_is_asked(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(envdoctor, "torch==1.9.1+cu111")["packages"]["answer"] == "prebuilt"
    refused = answer(envdoctor, "torch==1.9.1+cu111", "--gpu", "h100")["packages"]
    assert (refused["answer"], refused["because"][0]["relation"]["id"]) == ("no", "cuda/code")
    monkeypatch.setenv(ASSUME_VARIABLE, "gpu=h100")
    assert answer(envdoctor, "torch==1.9.1+cu111")["packages"]["answer"] == "no"


def test_a_package(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("explain", "MMCV_full")
    assert ended.out.startswith("mmcv-full ")
    assert "mmdet/mmcv" in ended.out
    assert "pip install" not in ended.out


@pytest.mark.parametrize(
    ("row", "table", "said"),
    [
        ("gpu=h100", "gpu[h100]", "Hopper"),
        ("gpu=sm_90", "architecture[9.0]", "Hopper"),
        ("driver=535.129.03", "branch[535]", "12.2"),
        ("cuda=11.1", "cuda[11.1]", "455.23"),
        ("python=3.8", "python[3.8]", "cp38"),
        ("os=ubuntu:20.04", "distribution[ubuntu:20.04]", "2.31"),
    ],
)
def test_a_row_of_the_platform(
    envdoctor: Callable[..., Any], row: str, table: str, said: str
) -> None:
    ended = envdoctor("explain", row)
    assert ended.code == 0
    assert table in ended.out
    assert said in ended.out
    data = answer(envdoctor, row)["row"]
    assert f"{data['cells'][-1]['table']}[{data['cells'][-1]['key']}]" in ended.out


def test_a_release_newer_than_the_matrices_is_untested(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("explain", "torch==99.0")
    assert ended.out.startswith("torch 99.0: untested")
    assert "torch 99.0 is newer than the matrices know" in ended.out
    assert "matrices of 20" in ended.out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["mmcvfull"], "no finding and no package is called 'mmcvfull'; nearest: mmcv-full"),
        (["torhc==1.9.1"], "the matrices have no package 'torhc'; nearest: torch"),
        (["torch==1.9.7"], "torch has no release 1.9.7; nearest: 1.9.0, 1.9.1, 1.10.0, 1.10.1"),
        (["torch", "torch==1.9.1"], "torch is named twice"),
        (["torch", "ED412"], "the matrices have no package 'ED412'"),
        (["gpu=h100", "torch"], "gpu=h100 is asked about alone; beside builds, assume it"),
        (["gpu=h1000"], "the matrices have no gpu 'h1000'; nearest: h100"),
        (["cuda=99"], "the matrices have no cuda '99'"),
        (["gpu="], "the matrices have no gpu ''"),
        (["torch==1.9.1", "--gpu", "h1000"], "neither a known GPU nor an architecture"),
        (["torch", *["numpy"] * 12], "12 are as much as can be asked about together"),
        (["torch==" + "1" * 400], "a package is expected"),
        (["\x1b]0;x\x07=="], "a package is expected"),
        (["torch==1.9.1[x]"], "is no version"),
    ],
)
def test_wrong_usage(envdoctor: Callable[..., Any], arguments: Any, problem: str) -> None:
    ended = envdoctor("explain", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert problem in ended.err
    assert "\x1b" not in ended.err


def test_in_chinese_no_english_sentence_is_left(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("explain", "mmcv-full==1.4.0", "torch==2.0.1", "--lang", "zh")
    assert ended.out.startswith("mmcv-full 1.4.0 和 torch 2.0.1 不能一起用")
    assert "而 torch 1.11 已将其移除" in ended.out
