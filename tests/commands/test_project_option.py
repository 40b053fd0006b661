"""`--project`: a source tree beside the environment that is to run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Set

import msgspec
import pytest

import envdoctor as package
from envdoctor.facts.project.reading import MOST
from envdoctor.facts.redact import redact
from envdoctor.facts.snapshot import dump, load
from envdoctor.model.facts import Distribution, Facts, InterfaceUse, Project, seen

SITE = "/home/ann/envs/maptr/lib/python3.8/site-packages"
TORCH = Distribution("torch", "2.4.1+cu121", f"{SITE}/torch-2.4.1+cu121.dist-info", SITE)


@pytest.fixture
def environment(facts: Facts) -> Facts:
    found = facts.target.value
    assert found is not None
    target = msgspec.structs.replace(found, path=(SITE,), distributions=(TORCH,))
    return msgspec.structs.replace(facts, target=seen(target, "VIRTUAL_ENV"))


@pytest.fixture
def snapshot(environment: Facts, tmp_path: Path) -> str:
    path = tmp_path / "facts.json"
    path.write_bytes(dump(environment))
    return str(path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "net"
    (root / "ops").mkdir(parents=True)
    (root / "train.py").write_text("import torch._six\n")
    (root / "ops" / "a.cu").write_text("#include <THC/THC.h>\n")
    return root


def test_without_it_nothing_is_said_of_projects(
    envdoctor: Callable[..., Any], snapshot: str
) -> None:
    said = json.loads(envdoctor("check", "--facts", snapshot, "--format", "json").out)
    codes = {one["code"] for one in (*said["findings"], *said["skipped"])}
    assert not any(code.startswith("ED24") for code in codes)
    assert not {"torch-six-removed", "git-submodule-missing"} & set(said["ruled_out"])


def test_what_it_uses_is_judged_for_the_environment(
    envdoctor: Callable[..., Any], snapshot: str, project: Path
) -> None:
    arguments = ["check", "--facts", snapshot, "--project", str(project)]
    ended = envdoctor(*arguments, "--format", "json")
    assert ended.code == 0  # warnings
    said = json.loads(ended.out)
    told = {one["code"]: one for one in said["findings"] if one["component"] == "net"}
    assert {code: one["severity"] for code, one in told.items()} == {
        "ED240": "warning",
        "ED501": "warning",
    }
    assert told["ED240"]["evidence"][0] == {
        "fact": "torch._six",
        "value": "train.py:1",
        "origin": str(project),
    }
    assert "git-submodule-missing" in said["ruled_out"]
    assert envdoctor(*arguments, "--fail-on", "warning").code == 1
    assert "net 用到了 torch" in envdoctor(*arguments, "--lang", "zh", "--verbose").out


def test_several_and_the_overview(
    envdoctor: Callable[..., Any], snapshot: str, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "clean").mkdir()
    options = ["--facts", snapshot, "--project", str(tmp_path / "clean"), "--project", str(project)]
    told = envdoctor(*options).out
    assert "2 warnings" in told
    assert f"--project {project}" in " ".join(told.split())


@pytest.mark.parametrize("command", [["check"], ["facts"], []])
def test_a_folder_that_is_not_there(
    command: list[str], envdoctor: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    ended = envdoctor(*command, "--facts", snapshot, "--project", str(tmp_path / "none"))
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        f"envdoctor: --project {tmp_path}/none: cannot be read: no such file or directory\n"
    )


def test_a_snapshot_holds_it_and_replays_it(
    envdoctor: Callable[..., Any], snapshot: str, project: Path, tmp_path: Path
) -> None:
    file = str(tmp_path / "with.json")
    envdoctor("facts", "--facts", snapshot, "--project", str(project), "-o", file, "--no-redact")
    (found,) = load(file).projects
    assert (found.root, found.files, found.sought) == (str(project), 2, False)
    replayed = json.loads(envdoctor("check", "--facts", file, "--format", "json").out)
    assert {"ED240", "ED501"} <= {one["code"] for one in replayed["findings"]}


def test_requirement_files_are_judged_with_it(
    envdoctor: Callable[..., Any], project: Path, tmp_path: Path
) -> None:
    (tmp_path / "r.txt").write_text("torch==2.4.1\n")
    (tmp_path / "old.txt").write_text("torch==1.10.1\n")

    def codes(file: str) -> Set[str]:
        options = ["--requirements", str(tmp_path / file), "--project", str(project)]
        ended = envdoctor("check", *options, "--assume", "python=3.9", "--format", "json")
        return {one["code"] for one in json.loads(ended.out)["findings"]}

    assert {"ED240", "ED501"} <= codes("r.txt")
    assert not {"ED240", "ED501"} & codes("old.txt")


def test_from_python(environment: Facts, project: Path) -> None:
    report = package.check(facts=environment, project=[project])
    assert "ED240" in {finding.code for finding in report.findings}


def test_a_snapshot_for_others_has_no_names() -> None:
    use = InterfaceUse("numpy.int", 1, ("tools/train.py:3",))
    facts = Facts(projects=(Project(root="/home/ada/code/net", uses=(use,)),))
    (told,) = redact(facts).projects
    assert (told.root, told.uses) == ("~/code/net", (use,))


def test_a_snapshot_stays_small() -> None:
    from envdoctor.knowledge.load import load as load_matrices
    from envdoctor.relations.removed import interfaces

    place = "a/rather/long/folder/of/plugins/and/more/module.py:1234"
    longest = sorted((one.name for one in interfaces(load_matrices())), key=len)[-MOST:]
    uses = tuple(InterfaceUse(name, 100, (place, place, place)) for name in longest)
    assert len(dump(Facts(projects=(Project(root="/code/net", uses=uses),)))) < 100_000


#: What the sources of the time of torch 1.9 are full of.
OF_ITS_TIME = {
    "train.py": (
        "import numpy as np\nimport torch\nfrom mmcv.runner import init_dist\n"
        "x = np.int(torch.load(f)[0])\n"
    ),
    "ops.cu": "#include <THC/THC.h>\nAT_DISPATCH_FLOATING_TYPES(x.type(), name, [&] {});\n",
    "setup.py": (
        "from torch.utils.cpp_extension import CUDAExtension\nflags = ['-std=c++14']\n"
        "from distutils.version import LooseVersion\nimport pkg_resources\n"
    ),
}


@pytest.mark.parametrize(
    ("fixture", "codes"),
    [
        ("vendored-maptr", set()),  # torch 1.9.1, Python 3.8
        ("bare-wheel", {"ED241", "ED501", "ED502"}),  # torch 2.4.1, NumPy 1.26.4, Python 3.10
    ],
)
def test_an_old_project_is_well_in_the_environment_of_its_time(
    fixture: str, codes: Set[str], tmp_path: Path
) -> None:
    for name, text in OF_ITS_TIME.items():
        (tmp_path / name).write_text(text)
    facts = Path(__file__).parents[1] / "acceptance" / "fixtures" / f"{fixture}.json"
    report = package.check(facts=facts, project=[tmp_path])
    told = {one.code for one in report.findings if one.component == tmp_path.name}
    assert told == codes
