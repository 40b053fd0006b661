"""Environments in which the number of a release, or which release it is, is not known."""

from __future__ import annotations

from typing import Any, List

import pytest
from rule_cases import facts_of

from envdoctor.knowledge.load import load
from envdoctor.model.finding import Report
from envdoctor.rules.check import check

KNOWLEDGE = load()


CARD = [{"name": "NVIDIA A100-SXM4-80GB", "compute_capability": "8.0"}]


def report(*installed: Any, gpus: Any = CARD, **target: Any) -> Report:
    fields = {"version": "3.10.13", "installed": list(installed), **target}
    accelerator = {
        "vendor": "nvidia",
        "gpus": gpus,
        "driver": "570.86.10",
        "serves": "12.8",
    }
    machine = {"glibc": "2.35"}
    facts = facts_of({"target": fields, "accelerator": accelerator, "machine": machine})
    return check(facts, KNOWLEDGE)


def told(found: Report) -> List[str]:
    return [f"{f.severity} {f.name} {f.component}" for f in found.findings if f.severity != "info"]


def unclear(found: Report) -> List[str]:
    return [s.reason for s in found.skipped if s.code == "untested"]


def torch(version: str, cuda: str, **files: Any) -> Any:
    return {"version": version, "cuda": cuda, "abi": 0, **files}


def double(name: str, one: str, other: str, held: str = "") -> List[Any]:
    return [
        {"name": name, "version": v, **({"has_files": v == held} if held else {})}
        for v in (one, other)
    ]


# --- several versions in one folder


OLD_TORCH = {"torch": torch("2.2.2+cu121", "12.1")}
TWICE = "/env/lib/python3.10/site-packages holds metadata of"


@pytest.mark.parametrize("order", [("1.26.4", "2.0.2"), ("2.0.2", "1.26.4")])
def test_numpy_of_which_the_files_are_there(order):
    found = report("torch 2.2.2+cu121", *double("numpy", *order, held="1.26.4"), **OLD_TORCH)
    assert told(found) == ["warning duplicate-distribution numpy 1.26.4"]
    found = report("torch 2.2.2+cu121", *double("numpy", *order, held="2.0.2"), **OLD_TORCH)
    assert told(found) == [
        "error numpy2-abi torch 2.2.2+cu121",
        "warning duplicate-distribution numpy 2.0.2",
    ]
    found = report("torch 2.2.2+cu121", *double("numpy", *order), **OLD_TORCH)
    assert told(found) == [f"warning duplicate-distribution numpy {order[0]}"]
    assert unclear(found) == [
        f"numpy: {TWICE} {', '.join(order)}; which one its files are of is not known"
    ]


def test_transformers_of_which_the_files_are_there():
    beside = ["tokenizers 0.22.1", "huggingface-hub 0.36.0"]
    for held, finds in [
        ("4.57.1", []),
        ("4.30.0", ["error transformers-dependency-range transformers 4.30.0"]),
        ("", []),
    ]:
        found = report(*double("transformers", "4.30.0", "4.57.1", held), *beside)
        assert [one for one in told(found) if "duplicate" not in one] == finds


def test_requirements_of_one_that_is_not_known_count_where_both_have_them():
    pair = double("aaa", "1.0", "2.0")
    pair[0].update(requires=["bbb", "ccc<2"], requires_python=">=3.12")
    pair[1].update(requires=["ccc<2"])
    assert told(report(*pair, "ccc 2.0")) == ["warning dependency-conflict ccc 2.0"]


# --- builds of a day or a commit


def nightly(name: str, version: str, pin: str) -> Any:
    return {"name": name, "version": version, "requires": [f"torch=={pin}"]}


NIGHTLY = [
    "torch 2.8.0.dev20250324+cu128",
    nightly("torchvision", "0.22.0.dev20250325+cu128", "2.8.0.dev20250324"),
    nightly("torchaudio", "2.6.0.dev20250325+cu128", "2.8.0.dev20250324"),
    "numpy 2.1.0",
]


def test_nightlies_are_judged_by_what_they_pin():
    files = {"torch": torch("2.8.0.dev20250324+cu128", "12.8")}
    found = report(*NIGHTLY, **files)
    assert told(found) == []
    reason = "torch 2.8.0.dev20250324+cu128 is not compared by its number"
    assert f"torchvision 0.22.0.dev20250325+cu128: {reason}" in [s.reason for s in found.skipped]
    files = {"torch": torch("2.8.0.dev20250330+cu128", "12.8")}
    found = report("torch 2.8.0.dev20250330+cu128", *NIGHTLY[1:], **files)
    assert told(found) == ["warning dependency-conflict torch 2.8.0.dev20250330+cu128"]
    assert [fix.commands for f in found.findings for fix in f.fixes] == [()]


def test_nightly_that_the_driver_does_not_serve_stays():
    files = {"torch": torch("2.8.0.dev20250324+cu128", "12.8")}
    target = {"version": "3.10.13", "installed": NIGHTLY, **files}
    old = {"vendor": "nvidia", "gpus": [{"name": "NVIDIA A100", "compute_capability": "8.0"}]}
    old.update(driver="450.80.02", serves="11.0")
    found = check(facts_of({"target": target, "accelerator": old}), KNOWLEDGE)
    (finding,) = (f for f in found.findings if f.severity == "error")
    assert (finding.name, finding.fixes[0].commands) == ("driver-too-old", ())
    assert "a development build, and stays" in finding.fixes[0].summary


@pytest.mark.parametrize(
    ("torchvision", "torch_version", "finds"),
    [
        ("0.14.0", "1.14.0.dev20221110", True),  # it pins 1.13.0
        ("0.14.0", "1.13.0.dev20220901+cu117", False),
        ("0.13.1", "1.13.0.dev20220901+cu117", True),
    ],
)
def test_release_beside_a_nightly_of_another_release(torchvision, torch_version, finds):
    files = {"torch": torch(torch_version, "11.7")}
    found = report(f"torch {torch_version}", f"torchvision {torchvision}", **files)
    assert ("torch-torchvision-mismatch" in str(told(found))) is finds


@pytest.mark.parametrize(
    ("version", "hub", "finds"),
    [
        ("4.57.6", "1.3.0", True),
        ("5.0.0.dev0", "1.3.0", False),  # 4.57.6 and 5.0.0rc0 ask for others
        ("5.0.0.dev0+gabcdef123", "0.36.0", False),
        ("5.0.0b1", "0.36.0", False),
        ("5.0.0rc1", "0.36.0", True),  # a release of its own
        ("4.50.0.dev0", "0.25.0", False),
        ("4.50.0a0+git1234567", "0.25.0", True),  # 4.49.0 and 4.50.0 ask for the same
        ("4.51.0a0+git1234567", "0.29.0", False),  # 4.50.3 and 4.51.0 do not
        ("6.0.0.dev0", "0.1.0", False),
    ],
)
def test_transformers_between_two_releases(version, hub, finds):
    found = report(f"transformers {version}", f"huggingface-hub {hub}", "numpy 2.1.0")
    assert ([f.name for f in found.findings if f.severity == "error"] != []) is finds


# --- modules without metadata


def test_source_tree_of_mmcv():
    installed = ["mmdet 3.3.0", "mmengine 0.10.4", "torch 2.1.2+cu121"]
    files = {"torch": torch("2.1.2+cu121", "12.1")}
    assert "error python-module-missing mmdet 3.3.0" in told(report(*installed, **files))
    found = report(*installed, **files, modules={"mmcv": "/src/mmcv"})
    assert [one for one in told(found) if "torch" not in one] == []
    assert unclear(found) == ["/src/mmcv has no metadata that tells its version"]
    # as it comes before one that is installed
    assert "openmmlab-version-assert" in str(told(report("mmcv 2.2.0", *installed, **files)))
    found = report("mmcv 2.2.0", *installed, **files, modules={"mmcv": "/src/mmcv"})
    assert [one for one in told(found) if "torch" not in one] == []


def test_project_that_the_matrices_do_not_know_brings_a_module_of_theirs():
    fork = {"name": "mmcv-fork", "version": "9.9", "modules": ["mmcv"]}
    found = report("torch 2.1.0+cu121", "mmdet 3.3.0", "mmengine 0.10.4", fork)
    assert told(found) == []
    assert unclear(found) == ["mmcv is here by mmcv-fork 9.9, whose versions are not known"]


def test_pkg_resources_that_is_not_of_setuptools():
    modules = {"pkg_resources": "/usr/lib/python3/dist-packages/pkg_resources"}
    new = {"name": "setuptools", "version": "82.0.0", "modules": ["setuptools"]}
    assert told(report("openmim 0.3.9", new)) == ["warning pkg-resources-removed openmim 0.3.9"]
    assert told(report("openmim 0.3.9", new, modules=modules)) == []
    assert told(report("openmim 0.3.9", modules=modules)) == []


# --- what was mended by hand; what is known to be nothing


@pytest.mark.parametrize(("distutils", "finds"), [(True, 1), (False, 0), (None, 1)])
def test_tensorboard_of_torch_that_was_mended(distutils, finds):
    files = torch("1.9.1+cu111", "11.1")
    if distutils is not None:
        files["distutils"] = distutils
    found = report(
        *("torch 1.9.1+cu111", "setuptools 68.0.0", "tensorboard 2.14.0"),
        torch=files,
        version="3.8.18",
    )
    assert [f.name for f in found.findings].count("distutils-version-missing") == finds


def test_reason_where_there_is_no_gpu():
    found = report("torch 2.4.1+cpu", torch=torch("2.4.1+cpu", "cpu"), gpus=[])
    reasons = {s.code: s.reason for s in found.skipped}
    assert reasons["ED301"] == reasons["ED417"] == "there is no GPU here"
