"""Environments that look odd and are healthy: snapshots of which nothing is to be said.

Each edit and each assumption below makes one of them sick, or different and still healthy, so that
their silence is shown to be a verdict.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple, Sequence, Tuple

import pytest
from environments import HERE, check

import envdoctor
from envdoctor.facts import snapshot
from envdoctor.model.finding import Report
from envdoctor.rules.page import pages

#: What may be told of it: information is no finding that a user has to act on.
TOLD: Dict[str, Sequence[str]] = {
    "bare-wheel": (),
    "conda": (),
    "conda-forge": (),
    "container-compute-only": (),
    "h200": ["entry-point-of-another-python"],  # observed; another pip comes first on its PATH
    "jetson": (),
    "login-node": ["no-gpu-here"],
    "mig": (),
    "ngc": (),
    "paddle-beside-torch": ["cpu-only-torch", "two-distributions-one-import"],
    "ppu": (),
    "rocm": (),
    "slurm-module": (),
    "vendored-maptr": (),
    "wsl": (),
}
FIXTURES = sorted(TOLD)


def path_of(name: str) -> Path:
    return HERE / "fixtures" / f"{name}.json"


def names(report: Report, *severities: str) -> Sequence[str]:
    return sorted({f.name for f in report.findings if f.severity in severities})


@pytest.mark.parametrize("name", FIXTURES)
def test_nothing_is_wrong_with(name: str) -> None:
    checked = check("--facts", str(path_of(name)))
    assert checked.findings("error", "warning") == []
    assert sorted(f["name"] for f in checked.findings("info")) == sorted(TOLD[name])
    assert checked.code == 0


@pytest.mark.parametrize("name", FIXTURES)
def test_nothing_is_both_ruled_out_and_skipped(name: str) -> None:
    """Where one relation holds and another of the same finding is undecided, it is undecided."""
    report = envdoctor.check(facts=path_of(name))
    skipped = {skipped.code for skipped in report.skipped}
    assert {page.name for page in pages().values() if page.code in skipped}.isdisjoint(
        report.ruled_out
    )


def test_every_fixture_is_listed() -> None:
    assert sorted(p.stem for p in (HERE / "fixtures").glob("*.json")) == FIXTURES


@pytest.mark.parametrize("name", FIXTURES)
def test_a_fixture_is_what_the_facts_command_writes(name: str) -> None:
    data = path_of(name).read_bytes()
    assert snapshot.dump(snapshot.load(str(path_of(name)))) == data
    assert len(data) <= 200_000


# --- what would be wrong --------------------------------------------------------------------------


class Assumed(NamedTuple):
    fixture: str
    settings: Tuple[str, ...]
    wanted: Tuple[str, ...] = ()


ASSUMED = [
    Assumed("bare-wheel", ("driver=470.57.02",), ("driver-too-old",)),
    Assumed("bare-wheel", ("driver=525.60.13",)),
    Assumed("bare-wheel", ("gpu=rtx5090",), ("gpu-arch-not-in-torch",)),
    # its setuptools is of before 60
    Assumed(
        "bare-wheel",
        ("python=3.12",),
        ("wheel-for-another-interpreter", "py312-distutils-removed"),
    ),
    # what builds of the channel pytorch have code for, is known: this one from 3.7 on
    Assumed("conda", ("gpu=sm_37",)),
    Assumed("conda", ("gpu=sm_35",), ("gpu-arch-not-in-torch",)),
    Assumed("conda", ("driver=418.40.04",), ("driver-too-old",)),
    Assumed("conda-forge", ("driver=470.57.02",), ("driver-too-old",)),
    Assumed("container-compute-only", ("driver=470.57.02",), ("driver-too-old",)),
    # which GPUs a vendor's torch serves, its files alone could tell; flash-attn 2.4.2 has code for
    # Ampere and Hopper, whoever compiled it
    Assumed("ngc", ("gpu=rtx5090",), ("gpu-arch-not-in-extension",)),
    Assumed("ngc", ("gpu=a100",)),
    Assumed("jetson", ("gpu=a100",)),
    Assumed("h200", ("gpu=v100",), ("gpu-arch-not-in-torch",)),
    Assumed("h200", ("driver=535.129.03",), ("driver-too-old",)),
    Assumed("h200", ("gpu=rtx5090",)),
    Assumed("login-node", ("gpu=v100",)),
    Assumed("login-node", ("gpu=rtx5090",), ("gpu-arch-not-in-torch",)),
    Assumed("login-node", ("gpu=a100", "driver=520.61.05"), ("driver-too-old",)),
    Assumed("mig", ("gpu=h100",)),
    Assumed("slurm-module", ("driver=450.80.02",)),
    Assumed("slurm-module", ("gpu=h100",)),
    # NVIDIA's drivers say nothing of other vendors' cards
    Assumed("ppu", ("driver=470.57.02",)),
    Assumed("rocm", ("driver=470.57.02",)),
    Assumed("vendored-maptr", ("gpu=rtx4090",)),
    Assumed("vendored-maptr", ("gpu=h100",), ("gpu-arch-not-in-torch",)),
]


@pytest.mark.parametrize("case", ASSUMED, ids=lambda c: " ".join([c.fixture, *c.settings]))
def test_assumed(case: Assumed) -> None:
    report = envdoctor.check(facts=path_of(case.fixture), assume=case.settings)
    assert names(report, "error", "warning") == sorted(case.wanted)


Edit = Callable[[Dict[str, Any]], None]


def with_version(name: str, version: str) -> Edit:
    def edit(target: Dict[str, Any]) -> None:
        found = next(d for d in target["distributions"] if d["name"] == name)
        found["path"] = found["path"].replace(found["version"], version)
        found["version"] = version

    return edit


def torch_and_numpy_2(target: Dict[str, Any]) -> None:
    kept = [d for d in target["distributions"] if d["name"] in ("torch", "numpy")]
    target["distributions"] = [{**d, "requires": []} for d in kept]
    with_version("numpy", "2.0.2")(target)


def with_conda(name: str, version: str) -> Edit:
    def edit(target: Dict[str, Any]) -> None:
        (found,) = (p for p in target["conda"] if p["name"] == name)
        found["version"] = version

    return edit


def without(*gone: str) -> Edit:
    def edit(target: Dict[str, Any]) -> None:
        target["distributions"] = [d for d in target["distributions"] if d["name"] not in gone]

    return edit


def with_another_tree(target: Dict[str, Any]) -> None:
    """PYTHONPATH names the tree of another repository first, which vendors another version."""
    folder = "~/BEVFormer/mmdetection3d"
    own = next(d for d in target["distributions"] if d["name"] == "mmdet3d")
    other = {**own, "version": "0.17.1", "search_entry": folder, "editable": folder}
    other["path"] = f"{folder}/mmdet3d.egg-info"
    own["shadowed_by"] = folder
    target["distributions"].insert(0, other)
    target["path"].insert(0, folder)
    target["environ"]["PYTHONPATH"] = f"{folder}:{target['environ']['PYTHONPATH']}"


def copied_into_the_site(target: Dict[str, Any]) -> None:
    """The same tree, installed by pip a second time: what PYTHONPATH names has its version."""
    (tree,) = (d for d in target["distributions"] if d["name"] == "mmdet3d")
    site = next(d["search_entry"] for d in target["distributions"] if d["name"] == "mmdet")
    copy = {k: v for k, v in tree.items() if k != "editable"}
    copy.update(path=f"{site}/mmdet3d-0.17.2.dist-info", search_entry=site, installer="pip")
    target["distributions"].append(copy)


class Edited(NamedTuple):
    title: str
    fixture: str
    edit: Edit
    wanted: Tuple[str, ...] = ()


EDITED = [
    Edited("MKL that lost a symbol", "conda", with_conda("mkl", "2024.1.0"), ("mkl-2024-1-ijit",)),
    Edited("the newest MKL that has it", "conda", with_conda("mkl", "2024.0.0")),
    Edited(
        "a CPU build without Paddle",
        "paddle-beside-torch",
        without("paddlepaddle-gpu"),
        ("cpu-only-torch",),
    ),
    Edited(
        "opencv of two versions",
        "paddle-beside-torch",
        with_version("opencv-contrib-python", "4.5.5.64"),
        ("two-distributions-one-import",),
    ),
    Edited(
        "numpy 2 beside torch 2.1.2",
        "mig",
        with_version("numpy", "2.0.2"),
        ("numpy2-abi",),
    ),
    # for which numpy a vendor compiled is not known
    Edited("numpy 2 beside Jetson's torch", "jetson", torch_and_numpy_2),
    Edited(
        "another checkout before the vendored tree",
        "vendored-maptr",
        with_another_tree,
        ("user-site-shadows-env",),
    ),
    Edited("the vendored tree twice", "vendored-maptr", copied_into_the_site),
    Edited(
        "a dependency is gone",
        "vendored-maptr",
        without("trimesh"),
        ("python-module-missing",),
    ),
    Edited(
        "mmcv is gone",
        "mig",
        without("mmcv"),
        ("python-module-missing",),
    ),
]


@pytest.mark.parametrize("case", EDITED, ids=lambda c: c.title)
def test_edited(case: Edited, tmp_path: Path) -> None:
    told = json.loads(path_of(case.fixture).read_bytes())
    case.edit(told["target"]["value"])
    edited = tmp_path / "facts.json"
    edited.write_text(json.dumps(told))
    report = envdoctor.check(facts=edited)
    assert names(report, "error", "warning") == sorted(case.wanted)


SETTINGS = [
    ("gpu=k80", "driver=396.26", "python=3.7", "os=ubuntu:18.04", "gcc=4.8.5", "toolkit=9.2"),
    ("gpu=a100,h100", "driver=450.36.06", "python=3.8", "glibc=2.17", "cudnn=7.6"),
    ("gpu=rtx5090", "driver=580", "python=3.13", "os=ubuntu:24.04", "toolkit=13.0", "cudnn=9.1"),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: s[0])
@pytest.mark.parametrize("name", FIXTURES)
def test_every_rule_answers_whatever_is_assumed(name: str, settings: Sequence[str]) -> None:
    report = envdoctor.check(facts=path_of(name), assume=settings)
    assert [s.reason for s in report.skipped if "itself failed" in s.reason] == []
    assert report.findings or report.ruled_out
