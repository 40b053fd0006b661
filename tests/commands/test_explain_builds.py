"""`explain` of builds, packages and platform rows, as it is called, on the real matrices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List

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


def test_each_gpu_that_is_named_is_told(envdoctor: Callable[..., Any]) -> None:
    cells = answer(envdoctor, "gpu=h100,a100")["row"]["cells"]
    assert [f"{cell['table']}[{cell['key']}]" for cell in cells] == [
        "gpu[h100]",
        "architecture[9.0]",
        "gpu[a100]",
        "architecture[8.0]",
    ]


def test_of_a_release_of_which_only_some_builds_run_these_are_told(
    envdoctor: Callable[..., Any],
) -> None:
    """torch 2.0 for CUDA 11.7 has no code for sm_90. Of 2.11.0 for 12.9 none is known: not told."""
    row = answer(envdoctor, "gpu=h100")["row"]
    (torch,) = (one for one in row["beside"] if one["package"] == "torch")
    assert torch["prebuilt"][0][0] == "2.0.0"
    assert torch["partly"] == [{"first": "2.0.0", "last": "2.0.1", "cudas": ["11.8"]}]
    said = " ".join(envdoctor("explain", "gpu=h100").out.split())
    assert ", of 2.0.0 to 2.0.1 only those for CUDA 11.8" in said


def test_what_is_to_be_built_from_source_is_not_said_to_be_the_package_of_the_line(
    envdoctor: Callable[..., Any],
) -> None:
    """Beside torch 1.2 it is mmcv-full that is built: torch has wheels."""
    said = envdoctor("explain", "mmcv-full==1.4.0", "torch==2.0.1").out
    assert "torch           1.5.0 to 1.10.2; with a build from source: 1.2.0 to 1.4.0" in said
    assert "; from source" not in said


def test_a_wheel_of_which_no_page_was_seen_has_no_command_and_that_is_said(
    envdoctor: Callable[..., Any],
) -> None:
    ended = envdoctor("explain", "mmcv==2.2.0", "torch==1.9.1+cu111")
    assert "pip install torch==1.9.1+cu111" in ended.out
    assert "No command is known for mmcv 2.2.0: its wheel was not seen on a page." in ended.out
    ended = envdoctor("explain", "mmcv-full==1.4.0", "torch==1.9.1+cu111")
    assert "No command is known" not in ended.out


def test_the_verdict_counts_the_warnings_that_are_told(envdoctor: Callable[..., Any]) -> None:
    asked = ("torchtext==0.15.2", "torch==2.1.0")
    told = answer(envdoctor, *asked)["packages"]
    assert told["answer"] == "prebuilt"
    assert [one["severity"] for one in told["warnings"]].count("warning") == 1
    assert "fit: wheels exist for it, with 1 warning" in envdoctor("explain", *asked).out


def test_what_pip_refuses_beside_it_is_not_listed_as_fitting(
    envdoctor: Callable[..., Any],
) -> None:
    """torchtext 0.15.2 asks for torch 2.0.1 exactly: pip does not install it beside torch 2.1.0."""
    beside = answer(envdoctor, "torch==2.0.1")["packages"]["beside"]
    (torchtext,) = (one for one in beside if one["package"] == "torchtext")
    assert ["0.15.2", "0.15.2"] in torchtext["prebuilt"]
    beside = answer(envdoctor, "torch==2.1.0")["packages"]["beside"]
    (torchtext,) = (one for one in beside if one["package"] == "torchtext")
    assert ["0.16.0", "0.16.0"] in torchtext["prebuilt"]
    assert not any(first <= "0.15.2" <= last for first, last in torchtext["prebuilt"])


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
        (["torch", "ED412"], "findings are explained one at a time: explain ED412"),
        (["ED101", "ED102"], "findings are explained one at a time: explain ED101"),
        (["torch=2.0.1"], "'torch=2.0.1': did you mean torch==2.0.1?"),
        (["pytorch==1.9"], "the matrices have no package 'pytorch'; nearest: torch, "),
        (["pytorch"], "nearest: torch or "),
        (["a100"], "no package is called 'a100'; of a GPU: explain gpu=a100"),
        (["sm_90"], "of a GPU: explain gpu=sm_90"),
        (["np.nothing"], "no finding and no package is called 'np.nothing'"),
        (["gpu=h100", "torch"], "gpu=h100 is asked about alone; beside builds, assume it"),
        (["gpu=h1000"], "the matrices have no gpu 'h1000'; nearest: h100"),
        (["gpu=h100,nothing"], "the matrices have no gpu 'nothing'"),
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


@pytest.mark.parametrize(
    ("name", "key", "gone", "instead"),
    [
        ("np.bool", "numpy.bool", "1.24", "bool"),
        ("torch._six.inf", "torch._six", "2.0", "math (inf)"),
        ("THC/THC.h", "THC/THC.h", "1.11", "ATen/cuda/CUDAContext.h"),
    ],
)
def test_of_an_interface_that_went_it_is_told_since_when(
    envdoctor: Callable[..., Any], name: str, key: str, gone: str, instead: str
) -> None:
    (cell,) = answer(envdoctor, name)["row"]["cells"]
    assert (cell["key"], cell["values"]["gone"]) == (key, gone)
    said = envdoctor("explain", name).out
    assert f"  gone since      {gone}\n  " in said
    assert instead in said
    assert f"  移除于          {gone}\n" in envdoctor("explain", name, "--lang", "zh").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "x" * 100_000],
        ["explain", "torch==" + "1" * 5_000],
        ["explain", "torch", "--format", "x" * 100_000],
        ["explain", "--" + "x" * 100_000],
        ["x" * 100_000],
    ],
)
def test_long_arguments_are_cut_in_errors(
    envdoctor: Callable[..., Any], arguments: List[str]
) -> None:
    ended = envdoctor(*arguments)
    assert ended.code == 2
    assert len(ended.err) < 1_000


def test_the_error_of_a_configuration_is_told_before_what_it_was_to_add(
    envdoctor: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.envdoctor]\nmatrices = [1]\n")
    monkeypatch.chdir(tmp_path)
    ended = envdoctor("explain", "acme-ops")
    assert ended.code == 2
    assert "pyproject.toml" in ended.err
    assert "no package is called" not in ended.err
    assert envdoctor("explain", "ED412").code == 0


def test_in_chinese_no_english_sentence_is_left(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("explain", "mmcv-full==1.4.0", "torch==2.0.1", "--lang", "zh")
    assert ended.out.startswith("mmcv-full 1.4.0 和 torch 2.0.1 不能一起用")
    assert "而 torch 1.11 已将其移除" in ended.out
