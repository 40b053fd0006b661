"""The ordinary installer is asked around a stack: a stand-in for uv, and this environment's pip."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from serving import File, Page
from serving import Index as Served

from envdoctor.actions import installer, shadow
from envdoctor.actions.index import Platform
from envdoctor.actions.installer import (
    Conflict,
    Failed,
    Outcome,
    Question,
    Tool,
    Tree,
    ask,
    find_tool,
)
from envdoctor.actions.settings import of_pip
from envdoctor.model.resolution import Bound, Left, Member, Override

P38 = Platform("3.8", glibc="2.31")
HERE = Platform(f"{sys.version_info[0]}.{sys.version_info[1]}", glibc="2.31")


def member(text: str, url: str = "", origin: str = "index", tree: str = "") -> Member:
    name, _, version = text.partition("==")
    return Member(
        component=name, version=version, url=url, origin=origin, requirement=text, tree=tree
    )


class Uv:
    """A stand-in for uv, and what it was asked."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "world.json"
        script = Path(__file__).with_name("fake_uv.py")
        self.tool = Tool("uv", (sys.executable, str(script)), "0.13.9")
        monkeypatch.setenv("WORLD", str(self.path))

    def ask(self, world: Dict[str, Dict[str, List[str]]], **question: Any) -> Outcome:
        self.path.write_text(json.dumps(world))
        options = {n: question.pop(n) for n in ("runs", "limit", "tell") if n in question}
        return ask(Question(**{"platform": P38, **question}), self.tool, **options)

    def calls(self) -> List[Dict[str, Any]]:
        lines = Path(f"{self.path}.calls").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def uv(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Uv:
    return Uv(tmp_path, monkeypatch)


def versions(outcome: Outcome) -> Dict[str, str]:
    assert isinstance(outcome, Tree), outcome
    return {artefact.package: artefact.version for artefact in outcome.artefacts}


WORLD = {
    "numpy": {"1.19.5": [], "1.21.6": [], "1.26.4": [], "2.0.0": []},
    "transformers": {"4.40.0": ["numpy>=1.17", "tokenizers<0.20"], "5.0.0": ["numpy>=2"]},
    "tokenizers": {"0.19.1": [], "0.20.0": []},
    "torch": {"2.2.2": ["numpy"]},
}


# --- a tree -----------------------------------------------------------------------------------


def test_the_stack_and_the_rest_are_one_tree(uv: Uv) -> None:
    outcome = uv.ask(
        WORLD,
        members=(member("python==3.8", origin="image"), member("torch==2.2.2")),
        rest=("transformers  # of the README",),
        constraints=(Bound("numpy", "<2"),),
    )
    assert versions(outcome) == {
        "numpy": "1.26.4",
        "tokenizers": "0.19.1",
        "torch": "2.2.2",
        "transformers": "4.40.0",
    }
    (call,) = uv.calls()
    assert call["asked"] == ["torch==2.2.2", "transformers"]
    assert call["constraints"] == ["numpy<2"]
    argv = " ".join(call["argv"])
    assert "--python-version 3.8.10" in argv
    assert "--python-platform x86_64-manylinux_2_31" in argv
    assert "--only-binary :all:" in argv
    assert "--no-python-downloads" in argv
    artefact = outcome.artefacts[0]  # type: ignore[union-attr]
    assert artefact.url == "https://files.example.org/numpy-1.26.4-py3-none-any.whl"
    assert artefact.hashes == {"sha256": "0" * 64}
    assert outcome.installer == "uv 0.13.9"  # type: ignore[union-attr]


def test_a_constraint_on_a_member_is_its_pin(uv: Uv) -> None:
    uv.ask(WORLD, members=(member("numpy==1.26.4"),), constraints=(Bound("numpy", "<2"),))
    assert uv.calls()[0]["constraints"] == []


def test_logins_are_on_no_command_line_and_in_no_output(
    uv: Uv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://anna:s3cret@127.0.0.1:9/simple")
    monkeypatch.setenv(
        "FAKE_SAYS", "error: Failed to fetch: `http://anna:s3cret@127.0.0.1:9/simple/a/`"
    )
    told: List[Tuple[str, str]] = []
    outcome = uv.ask(WORLD, rest=("numpy",), tell=lambda *line: told.append(line))
    assert outcome == Failed(
        "uv 0.13.9 cannot reach the index: Failed to fetch: `http://127.0.0.1:9/simple/a/`"
    )
    (call,) = uv.calls()
    assert "s3cret" not in json.dumps(call["argv"])
    assert call["environ"]["UV_DEFAULT_INDEX"] == "http://anna:s3cret@127.0.0.1:9/simple"
    assert "s3cret" not in str(told)
    assert told


def test_the_page_of_a_member_is_no_index_of_others(uv: Uv, served: Served) -> None:
    page = f"{served.url}/whl/cu118"
    outcome = uv.ask(WORLD, members=(member("torch==2.2.2+cu118", url=page),), rest=("numpy",))
    assert versions(outcome)["torch"] == "2.2.2+cu118"
    told = json.dumps(uv.calls())
    assert "cu118" in told
    assert page not in told


def test_what_is_no_requirement_by_name_is_left(uv: Uv) -> None:
    rest = (
        "-e .",
        "numpy",
        "pkg @ git+https://host/x",
        "--extra-index-url https://u:p@host",
        "# text",
    )
    outcome = uv.ask(WORLD, rest=rest)
    assert versions(outcome) == {"numpy": "2.0.0"}
    assert uv.calls()[0]["asked"] == ["numpy"]
    assert {left.package for left in outcome.left} == {  # type: ignore[union-attr]
        "-e .",
        "pkg",
        "--extra-index-url https://host",
    }


# --- what no index serves as a wheel ----------------------------------------------------------


def test_a_build_for_a_cuda_of_its_own_requires_what_its_release_does(
    uv: Uv, served: Served
) -> None:
    served.project(
        "torch",
        [
            File(
                "torch-2.4.1-cp38-cp38-manylinux1_x86_64.whl",
                metadata="numpy<2\nnvidia-cublas-cu12==12.1.3.1; platform_system == 'Linux'\n"
                "triton==3.0.0; python_version < '3.8'\nvision==0.19.1\n",
            )
        ],
    )
    world = {**WORLD, "vision": {"0.19.1": ["torch==2.4.1"]}}
    stack = (member("torch==2.4.1+cu118", url=f"{served.url}/no-page/"), member("vision==0.19.1"))
    outcome = uv.ask(world, members=stack, rest=("transformers",))
    assert versions(outcome) == {
        "numpy": "1.26.4",
        "tokenizers": "0.19.1",
        "torch": "2.4.1+cu118",
        "transformers": "4.40.0",
        "vision": "0.19.1",
    }
    assert outcome.left == (  # type: ignore[union-attr]
        Left("nvidia-cublas-cu12", "torch 2.4.1+cu118 brings its own"),
    )
    torch = next(a for a in outcome.artefacts if a.package == "torch")  # type: ignore[union-attr]
    assert (torch.url, torch.hashes, torch.index) == ("", {}, f"{served.url}/no-page/")


def test_the_wheel_on_its_page_says_it_itself(uv: Uv, served: Served) -> None:
    own = "torch-2.4.1+cu118-cp38-cp38-linux_x86_64.whl"
    served.project("torch", [File(own, metadata="numpy<1.22\nnvidia-cublas-cu11==11.1\n")])
    served.pages["/whl/cu118/torch/"] = served.pages.pop("/simple/torch/")
    world = {**WORLD, "nvidia-cublas-cu11": {"11.1": []}}
    outcome = uv.ask(world, members=(member("torch==2.4.1+cu118", url=f"{served.url}/whl/cu118/"),))
    assert versions(outcome) == {
        "numpy": "1.21.6",
        "nvidia-cublas-cu11": "11.1",
        "torch": "2.4.1+cu118",
    }
    torch = next(a for a in outcome.artefacts if a.package == "torch")  # type: ignore[union-attr]
    assert torch.url == f"{served.url}/files/{own}"
    assert outcome.left == ()  # type: ignore[union-attr]


def test_a_vendors_build_counts_as_its_release(uv: Uv) -> None:
    world = {"accelerate": {"1.0": ["torch>=2.4"]}}
    stack = (member("torch==2.4.0a0+07cecf4168.nv24.05", origin="host"),)
    outcome = uv.ask(world, members=stack, rest=("accelerate",))
    assert versions(outcome) == {"accelerate": "1.0", "torch": "2.4.0a0+07cecf4168.nv24.05"}
    assert outcome.left[0].package == "torch"  # type: ignore[union-attr]
    assert outcome.left[0].reason.startswith("what it requires could not be read")  # type: ignore[union-attr]


def test_a_tree_of_training_code_is_there(uv: Uv) -> None:
    world = {"user": {"1": ["mmdet3d<1"]}, "mmdet3d": {"1.4.0": ["numpy"]}}
    stack = (member("mmdet3d==0.17.2", origin="source", tree="mmdetection3d"),)
    outcome = uv.ask(world, members=stack, rest=("user",))
    assert versions(outcome) == {"mmdet3d": "0.17.2", "user": "1"}
    assert outcome.left == ()  # type: ignore[union-attr]


def sdist(served: Served, name: str, version: str, files: Dict[str, str]) -> None:
    """Sources of a project on the index, which nothing but their own text describes."""
    import io
    import tarfile

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(f"{name}-{version}/{path}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    served.project(name, [File(f"{name}-{version}.tar.gz")])
    served.pages[f"/files/{name}-{version}.tar.gz"] = Page(packed.getvalue(), "application/gzip")


def test_sources_are_asked_without_being_built(uv: Uv, served: Served) -> None:
    sdist(
        served,
        "networkx",
        "2.2",
        {
            "PKG-INFO": "Metadata-Version: 1.1\nName: networkx\nVersion: 2.2\n",
            "networkx.egg-info/requires.txt": "numpy<2\n\n[all]\nscipy\n",
            "setup.py": "raise SystemExit('was executed')",
        },
    )
    world = {**WORLD, "networkx": {"sdist:2.2": [], "3.0": []}}
    outcome = uv.ask(world, rest=("networkx<2.3",))
    assert versions(outcome) == {"networkx": "2.2", "numpy": "1.26.4"}
    artefact = outcome.artefacts[0]  # type: ignore[union-attr]
    assert artefact.sdist
    assert artefact.url == f"{served.url}/files/networkx-2.2.tar.gz"
    assert len(uv.calls()) == 2


def test_sources_are_asked_where_the_stack_is_refused_first(uv: Uv, served: Served) -> None:
    sdist(served, "trimesh", "2.35", {"PKG-INFO": "Metadata-Version: 2.2\nName: trimesh\n"})
    world = {
        "numba": {"0.48.0": ["llvmlite<0.32"]},
        "llvmlite": {"0.31.0": [], "0.41.1": []},
        "trimesh": {"sdist:2.35": []},
    }
    stack = (member("numba==0.48.0"), member("llvmlite==0.41.1"))
    outcome = uv.ask(world, members=stack, rest=("trimesh",))
    assert isinstance(outcome, Conflict)
    assert outcome.packages == ("numba", "llvmlite")


def test_what_is_wider_is_one_package_at_a_time(uv: Uv, served: Served) -> None:
    served.project("llvmlite", [File(f"llvmlite-0.{n}.0-py3-none-any.whl") for n in (31, 32, 41)])
    served.project("numba", [File(f"numba-0.{n}.0-py3-none-any.whl") for n in (48, 49, 58)])
    world = {
        "numba": {
            "0.48.0": ["llvmlite<0.32"],
            "0.49.0": ["llvmlite<0.33"],
            "0.58.0": ["llvmlite>=0.41"],
        },
        "llvmlite": {"0.31.0": [], "0.32.0": [], "0.41.0": []},
        "rest": {"1": []},
    }
    stack = (member("numba==0.48.0"), member("llvmlite==0.41.0"))
    outcome = uv.ask(world, members=stack, rest=("rest",))
    assert isinstance(outcome, Conflict)
    python = {"python": "==3.8.*"}
    assert outcome.forbidden == {"numba": "==0.48.0", "llvmlite": "==0.41.0", **python}
    assert outcome.wider == (
        {"numba": "<=0.49.0", "llvmlite": "==0.41.0", **python},
        {"numba": "==0.48.0", "llvmlite": ">=0.32.0", **python},
    )
    assert "rest" not in uv.calls()[-1]["asked"]


def test_sources_that_say_nothing_are_taken_as_they_are(uv: Uv, served: Served) -> None:
    sdist(served, "chumpy", "0.70", {"PKG-INFO": "Metadata-Version: 1.0\nName: chumpy\n"})
    outcome = uv.ask({"chumpy": {"sdist:0.70": []}}, rest=("chumpy",))
    assert versions(outcome) == {"chumpy": "0.70"}
    assert outcome.left == (Left("chumpy", "what it requires only a build tells"),)  # type: ignore[union-attr]


# --- conflicts --------------------------------------------------------------------------------

AV2 = {
    "av2": {"0.2.1": ["numpy>=1.21.5"]},
    "numpy": {v: [] for v in ("1.19.5", "1.20.3", "1.21.4", "1.21.6")},
}


def numpy_on_the_index(served: Served) -> None:
    served.project("numpy", [File(f"numpy-{v}-py3-none-any.whl") for v in AV2["numpy"]])


def test_a_conflict_names_the_part_of_the_stack_and_no_more(uv: Uv) -> None:
    stack = (member("mmdet==2.14.0"), member("numpy==1.19.5"), member("torch==2.2.2"))
    world = {**WORLD, **AV2, "mmdet": {"2.14.0": []}}
    outcome = uv.ask(world, members=stack, rest=("av2",))
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden == {"numpy": "==1.19.5", "python": "==3.8.*"}
    assert outcome.packages == ("numpy",)
    assert outcome.minimal
    assert "av2==0.2.1 depends on numpy>=1.21.5" in outcome.text
    assert outcome.installer == "uv 0.13.9"


def test_what_is_refused_as_well_is_a_part_of_it(uv: Uv, served: Served) -> None:
    numpy_on_the_index(served)
    outcome = uv.ask(AV2, members=(member("numpy==1.19.5"),), rest=("av2",))
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden["numpy"] == "<=1.21.4"


def test_a_release_without_a_wheel_that_fits_may_be_had_elsewhere(uv: Uv, served: Served) -> None:
    files = [File(f"numpy-{v}-py3-none-any.whl") for v in ("1.19.5", "1.20.3", "1.21.4")]
    served.project("numpy", [*files, File("numpy-1.21.6.tar.gz")])
    world = {"av2": AV2["av2"], "numpy": {v: [] for v in ("1.19.5", "1.20.3", "1.21.4")}}
    outcome = uv.ask(world, members=(member("numpy==1.19.5"),), rest=("av2",))
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden["numpy"] == "<=1.21.4"  # and not any numpy


def test_two_pins_that_only_together_are_refused(uv: Uv) -> None:
    world = {
        "a": {"1": ["x<2"], "2": []},
        "b": {"1": ["x>=2"], "2": []},
        "c": {"1": []},
        "x": {"1": [], "2": []},
    }
    stack = (member("a==1"), member("b==1"), member("c==1"))
    outcome = uv.ask(world, members=stack)
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden == {"a": "==1", "b": "==1", "python": "==3.8.*"}


def test_what_a_shadow_requires_takes_part(uv: Uv, served: Served) -> None:
    served.project(
        "torch", [File("torch-2.4.1-cp38-cp38-manylinux1_x86_64.whl", metadata="numpy<1.20")]
    )
    stack = (member("torch==2.4.1+cu118"), member("numpy==1.21.6"))
    outcome = uv.ask(AV2, members=stack, rest=("av2",))
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden == {"torch": "==2.4.1", "numpy": "==1.21.6", "python": "==3.8.*"}


def test_a_constraint_can_be_the_part(uv: Uv) -> None:
    outcome = uv.ask(AV2, members=(), rest=("av2",), constraints=(Bound("numpy", "<1.20"),))
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden == {"numpy": "<1.20", "python": "==3.8.*"}


def test_the_rest_alone_can_be_impossible(uv: Uv) -> None:
    outcome = uv.ask(AV2, members=(member("numpy==1.21.6"),), rest=("av2==9",))
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden == {"python": "==3.8.*"}


def test_without_runs_left_a_conflict_is_not_minimal_and_still_true(uv: Uv) -> None:
    stack = (member("mmdet==2.14.0"), member("numpy==1.19.5"))
    world = {**WORLD, **AV2, "mmdet": {"2.14.0": []}}
    outcome = uv.ask(world, members=stack, rest=("av2",), runs=1)
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden == {
        "mmdet": "==2.14.0",
        "numpy": "==1.19.5",
        "python": "==3.8.*",
    }
    assert not outcome.minimal


# --- contradictions of authors ----------------------------------------------------------------

TAKEN = Override(
    sides=("numpy<1.20.0 (runtime.txt:5)", "numpy>=1.21.5 (metadata of av2)"),
    take="numpy>=1.21,<1.24",
    reason="av2 is imported at module top",
)


def test_an_override_is_used_where_nothing_else_is_found(uv: Uv) -> None:
    world = {**AV2, "old": {"1": ["numpy<1.20"]}}
    outcome = uv.ask(world, rest=("av2", "old"), overrides=(TAKEN,))
    assert versions(outcome) == {"av2": "0.2.1", "numpy": "1.21.6", "old": "1"}
    assert outcome.overridden == ("numpy<1.24,>=1.21",)  # type: ignore[union-attr]
    outcome = uv.ask(world, rest=("av2",), overrides=(TAKEN,))
    assert outcome.overridden == ()  # type: ignore[union-attr]


def test_an_override_keeps_the_pin_of_the_stack(uv: Uv) -> None:
    stack = (member("numpy==1.21.4"),)
    outcome = uv.ask(AV2, members=stack, rest=("av2",), overrides=(TAKEN,))
    assert versions(outcome) == {"av2": "0.2.1", "numpy": "1.21.4"}


def test_a_contradiction_without_a_choice_is_not_overridden(uv: Uv) -> None:
    outcome = uv.ask(
        AV2, members=(member("numpy==1.19.5"),), rest=("av2",), overrides=(Override(TAKEN.sides),)
    )
    assert isinstance(outcome, Conflict)


# --- what cannot be asked ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "error: Failed to fetch: `http://127.0.0.1:9/simple/numpy/`\n  cause: dns error",
            "uv 0.13.9 cannot reach the index: Failed to fetch: "
            "`http://127.0.0.1:9/simple/numpy/` dns error",
        ),
        ("error: unexpected argument", "uv 0.13.9 gives no answer: unexpected argument"),
    ],
)
def test_it_is_said_why(uv: Uv, monkeypatch: pytest.MonkeyPatch, said: str, reason: str) -> None:
    monkeypatch.setenv("FAKE_SAYS", said)
    assert uv.ask(WORLD, rest=("numpy",)) == Failed(reason)


def test_a_limit_of_time_is_said(served: Served) -> None:
    slow = Tool("uv", (sys.executable, "-c", "import time; time.sleep(60)"), "0.13.9")
    outcome = ask(Question(P38, rest=("numpy",)), slow, limit=0.5)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("uv 0.13.9: took longer than 0.")


def test_an_answer_that_is_none_is_said(served: Served) -> None:
    mad = Tool("uv", (sys.executable, "-c", "print('[[packages')"), "0.13.9")
    outcome = ask(Question(P38, rest=("numpy",)), mad)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("uv 0.13.9 gives no answer: pylock.toml:")


def test_a_python_that_is_no_version(uv: Uv) -> None:
    assert uv.ask(WORLD, platform=Platform("three")) == Failed("Invalid version: 'three'")


def test_which_installer_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "uv"
    script.write_text(f"#!{sys.executable}\nprint('uv 0.9.1')\n")
    script.chmod(0o755)
    monkeypatch.setattr(installer.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_tool() == Tool("uv", (str(script),), "0.9.1")
    script.write_text(f"#!{sys.executable}\nprint('uv 0.4.0')\n")
    assert find_tool(["uv"]) is None
    assert find_tool() is None  # that Python is none, and so has no pip
    monkeypatch.undo()
    tool = find_tool(["pip"])
    assert tool is not None
    assert (tool.kind, tool.argv[0]) == ("pip", sys.executable)


def test_no_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "find_tool", lambda: None)
    assert ask(Question(P38)) == Failed("there is no uv, and no pip of 22.2 or newer: install uv")


# --- pip --------------------------------------------------------------------------------------


@pytest.fixture
def pip(served: Served) -> Tool:
    tool = find_tool(["pip"])
    assert tool is not None
    return tool


def wheels(folder: Path, served: Served, world: Dict[str, Dict[str, List[str]]]) -> None:
    for name, releases in world.items():
        served.project(name, [File(f"{name}-{v}-py3-none-any.whl") for v in releases])
        for version, requires in releases.items():
            shadow.write(folder, name, version, requires)
            file = f"{name}-{version}-py3-none-any.whl"
            served.pages[f"/files/{file}"] = Page((folder / file).read_bytes(), "application/zip")


def test_pip_answers_for_its_own_python(served: Served, pip: Tool, tmp_path: Path) -> None:
    wheels(tmp_path, served, WORLD)
    question = Question(HERE, (member("torch==2.2.2"),), ("transformers",), (Bound("numpy", "<2"),))
    outcome = ask(question, pip, of_pip())
    assert versions(outcome) == {
        "numpy": "1.26.4",
        "tokenizers": "0.19.1",
        "torch": "2.2.2",
        "transformers": "4.40.0",
    }
    numpy = outcome.artefacts[0]  # type: ignore[union-attr]
    assert numpy.url == f"{served.url}/files/numpy-1.26.4-py3-none-any.whl"


def test_pip_sees_shadows_and_conflicts(served: Served, pip: Tool, tmp_path: Path) -> None:
    wheels(tmp_path, served, AV2)
    stack = (member("torch==2.4.1+cu118", origin="host"), member("numpy==1.19.5"))
    outcome = ask(Question(HERE, stack, ("av2",)), pip)
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden["numpy"] == "==1.19.5"
    assert "numpy>=1.21.5" in outcome.text
    assert outcome.installer.startswith("pip ")
    good = (member("torch==2.4.1+cu118", origin="host"), member("numpy==1.21.6"))
    assert versions(ask(Question(HERE, good, ("av2",)), pip))["torch"] == "2.4.1+cu118"


def test_pip_cannot_answer_for_another_python(pip: Tool) -> None:
    assert ask(Question(Platform("2.7")), pip) == Failed(
        "pip answers for the Python that runs it only, which is not 2.7: install uv"
    )


def test_pip_cannot_override(served: Served, pip: Tool, tmp_path: Path) -> None:
    wheels(tmp_path, served, AV2)
    question = Question(HERE, (member("numpy==1.19.5"),), ("av2",), overrides=(TAKEN,))
    assert ask(question, pip) == Failed(
        "pip cannot override what authors state against each other: install uv"
    )


def test_pip_without_an_index(served: Served, pip: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    outcome = ask(Question(HERE, rest=("numpy",)), pip)
    assert isinstance(outcome, Failed)
    assert "cannot reach the index" in outcome.reason
