"""uv and pip around stacks, with the index that pip is configured with."""

from __future__ import annotations

from typing import Dict

import pytest

from envdoctor.actions.index import Platform
from envdoctor.actions.installer import Conflict, Outcome, Question, Tree, ask, find_tool
from envdoctor.actions.verify import verify
from envdoctor.model.resolution import Bound, Member, Resolution

pytestmark = pytest.mark.real

P38 = Platform("3.8", glibc="2.31")
P310 = Platform("3.10", glibc="2.35")
TORCH = "https://torch.invalid/whl/cu111"  # where torch's own index would be; it is never asked


def member(text: str, url: str = "", **more: str) -> Member:
    name, _, version = text.partition("==")
    return Member(name, version, url=url, requirement=text, **more)  # type: ignore[arg-type]


def uv(platform: Platform, *stack: Member, **more: object) -> Outcome:
    tool = find_tool(["uv"])
    assert tool is not None, "install uv for these"
    return ask(Question(platform, stack, **more), tool)  # type: ignore[arg-type]


def versions(outcome: Outcome) -> Dict[str, str]:
    assert isinstance(outcome, Tree), outcome
    return {artefact.package: artefact.version for artefact in outcome.artefacts}


def test_torch_and_transformers_with_numpy_1() -> None:
    found = uv(
        P310, member("torch==2.2.2"), rest=("transformers",), constraints=(Bound("numpy", "<2"),)
    )
    chosen = versions(found)
    assert chosen["torch"] == "2.2.2"
    assert chosen["numpy"].startswith("1.")
    assert chosen["nvidia-cudnn-cu12"] == "8.9.2.26"
    assert isinstance(found, Tree)
    assert all(one.hashes.get("sha256") for one in found.artefacts)
    stack = (member("torch==2.2.2"),)
    answer = Resolution("resolve", "0", "", "solved", stack=stack, tree=found.artefacts)
    assert {one.status for one in verify(answer, P310)} == {"there"}


def test_the_contradiction_of_maptr() -> None:
    outcome = uv(P38, member("numpy==1.19.5"), member("mmdet==2.14.0"), rest=("av2==0.2.1",))
    assert isinstance(outcome, Conflict)
    assert outcome.forbidden == {"numpy": "<=1.21.4", "python": "==3.8.*"}
    assert "av2==0.2.1 depends on numpy>=1.21.5" in outcome.text


def test_a_tree_of_python_3_8_with_builds_that_no_index_has() -> None:
    outcome = uv(
        P38,
        member("torch==1.9.1+cu111", TORCH),
        member("torchvision==0.10.1+cu111", TORCH),
        member("mmcv-full==1.4.0", "https://wheels.invalid/cu111/torch1.9.0/index.html"),
        member("mmdet==2.14.0"),
        member("numpy==1.19.5"),
        rest=("networkx>=2.2,<2.3", "trimesh>=2.35.39,<2.35.40"),
    )
    chosen = versions(outcome)
    assert chosen["torch"] == "1.9.1+cu111"
    assert chosen["mmcv-full"] == "1.4.0"
    assert chosen["numpy"] == "1.19.5"
    assert {"addict", "yapf", "opencv-python"} <= set(chosen)  # of mmcv-full's sources
    assert (chosen["networkx"], chosen["trimesh"]) == ("2.2", "2.35.39")
    assert isinstance(outcome, Tree)
    assert {one.package for one in outcome.artefacts if one.sdist} == {"networkx", "trimesh"}
    assert outcome.left == ()


def test_libraries_of_another_cuda_are_not_taken() -> None:
    outcome = uv(P310, member("torch==2.4.1+cu118", TORCH), rest=("accelerate",))
    chosen = versions(outcome)
    assert not [name for name in chosen if name.startswith("nvidia-")]
    assert isinstance(outcome, Tree)
    assert "nvidia-cublas-cu12" in {one.package for one in outcome.left}


@pytest.mark.parametrize(
    ("stack", "rest", "forbidden"),
    [
        (("torch==2.13.0",), (), {"torch": "==2.13.0"}),  # no wheel of it for Python 3.8
        (("numba==0.48.0", "llvmlite==0.41.1"), (), {"numba": "==0.48.0", "llvmlite": "==0.41.1"}),
        (("numpy==1.24.4",), ("numpy==1.99.0",), None),
    ],
)
def test_conflicts_of_other_kinds(stack: tuple, rest: tuple, forbidden: object) -> None:
    outcome = uv(P38, *map(member, stack), rest=rest)
    assert isinstance(outcome, Conflict)
    if forbidden is not None:
        assert {n: s for n, s in outcome.forbidden.items() if n != "python"} == forbidden
