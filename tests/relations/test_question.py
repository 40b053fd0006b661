"""What the matrices answer of builds that are asked about together."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import List, Tuple

import msgspec
import pytest
import small
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.build import ABSENT, Build, Unknown
from envdoctor.model.facts import Facts, seen
from envdoctor.relations.assume import assume
from envdoctor.relations.judge import Relations, judge
from envdoctor.relations.observe import set_modules
from envdoctor.relations.question import (
    Answer,
    Question,
    World,
    _Apartness,
    ask,
    is_source,
    world_of,
)
from envdoctor.relations.tell import Teller
from envdoctor.relations.wanted import WantedError, builds_of, read_wanted


def world(knowledge: Knowledge, *settings: str) -> World:
    """A machine of which nothing is known but its processor, and what is assumed."""
    bare = Facts()
    machine = msgspec.structs.replace(bare.machine, architecture=seen("x86_64", "test"))
    facts = msgspec.structs.replace(bare, machine=machine)
    return world_of(assume(facts, settings, knowledge), knowledge)


def answer(knowledge: Knowledge, asked: str, *settings: str) -> Answer:
    wanted = [read_wanted(text, knowledge) for text in asked.split()]
    return ask(wanted, world(knowledge, *settings), Relations(knowledge))


def told(found: Answer) -> List[str]:
    return [reason.bound.relation.id for reason in found.because]


def fitting(found: Answer, name: str) -> List[Tuple[str, ...]]:
    keys = ("origin", "torch", "cuda")
    return [
        (build.label, *(str(build.attributes[k]) for k in keys if k in build.attributes))
        for build in found.fitting[name]
    ]


def test_a_wheel_that_fits(small_matrices: Knowledge) -> None:
    found = answer(small_matrices, "mmcv-full==1.4.0 torch==1.9.1")
    assert found.kind == "prebuilt"
    assert fitting(found, "mmcv-full") == [
        ("1.4.0", "wheel", "1.9", "10.2"),
        ("1.4.0", "wheel", "1.9", "11.1"),
    ]
    assert fitting(found, "torch") == [("1.9.1", "wheel", "10.2"), ("1.9.1", "wheel", "11.1")]


def test_what_is_written_of_a_build_counts(small_matrices: Knowledge) -> None:
    found = answer(small_matrices, "mmcv-full==1.4.0 torch==1.9.1+cu111")
    assert fitting(found, "mmcv-full") == [("1.4.0", "wheel", "1.9", "11.1")]
    assert fitting(found, "torch") == [("1.9.1+cu111", "wheel", "11.1")]


def test_only_sources_fit(small_matrices: Knowledge) -> None:
    found = answer(small_matrices, "mmcv-full==1.4.6 torch==2.4.1")
    assert found.kind == "source"
    assert fitting(found, "mmcv-full") == [("1.4.6", "source")]
    assert [reason.bound.relation.id for reason in found.warnings] == []


def test_only_what_has_no_wheel_is_built() -> None:
    """mmdet3d 0.17.2 has sources only; of all the rest MapTR's authors name there are wheels."""
    stack = "mmdet3d==0.17.2 mmcv-full==1.4.0 mmdet==2.14.0 torch==1.9.1+cu111 numpy==1.19.5"
    found = answer(load(), stack, "python=3.8", "gpu=a100")
    assert found.kind == "source"
    built = {name for name, build in found.example.items() if is_source(build)}
    assert built == {"mmdet3d"}
    assert not any(is_source(build) for build in found.fitting["mmcv-full"])


def test_builds_for_the_processor_alone_do_not_avoid_a_warning() -> None:
    found = answer(load(), "torch==2.0.1 triton==2.1.0")
    assert [reason.bound.relation.id for reason in found.warnings] == ["triton/torch"]
    assert found.example["torch"].attributes["cuda"] != "cpu"


def test_a_warning_is_told_where_nothing_avoids_it(small_matrices: Knowledge) -> None:
    found = answer(small_matrices, "mmcv-full==1.4.0 torch==1.10.0")
    assert (found.kind, found.warnings) == ("prebuilt", ())
    # patched, its sources would compile; nothing else stands in the way
    broken = answer(small_matrices, "mmcv-full==1.4.0 torch==2.4.1")
    assert broken.kind == "no"
    assert [reason.enough for reason in broken.because] == [False, False]
    assert told(broken) == ["mmcv-full/wheel-torch", "mmcv-full/thc"]
    why = [
        Teller(r.violation, Relations(small_matrices), r.domains, "").part(r.breach, "why")
        for r in broken.because
    ]
    assert why == ["its wheels are for torch 1.9 and 1.10", "its sources stop at THC/THC.h"]


def test_a_range_is_answered_by_any_of_its_releases(small_matrices: Knowledge) -> None:
    found = answer(small_matrices, "mmcv-full torch==2.4.1")
    assert found.kind == "source"
    assert {label for label, *_ in fitting(found, "mmcv-full")} == {"1.4.6", "1.7.1"}
    assert answer(small_matrices, "mmcv-full<1.4.6 torch>=2").kind == "no"


def test_the_machine_is_asked_as_far_as_it_is_known(small_matrices: Knowledge) -> None:
    assert answer(small_matrices, "torch==1.9.1+cu111").kind == "prebuilt"
    found = answer(small_matrices, "torch==1.9.1+cu111", "gpu=sm_90")
    assert (found.kind, told(found)) == ("no", ["cuda/code"])
    found = answer(small_matrices, "torch==1.9.1 mmcv-full==1.4.0", "gpu=sm_90")
    assert (found.kind, told(found), found.also) == ("no", ["cuda/code"], ())


def test_three_together(small_matrices: Knowledge) -> None:
    asked = "mmdet==2.14.0 mmcv-full==1.4.0 torch==1.9.1"
    assert answer(small_matrices, asked).kind == "prebuilt"
    found = answer(small_matrices, "mmdet==2.14.0 mmcv-full==1.4.6 torch==1.9.1")
    assert (found.kind, told(found)) == ("no", ["mmdet/mmcv"])


def test_all_that_rejects_alone_is_told_and_what_would_reject_without_it() -> None:
    knowledge = load()
    asked = "mmdet==2.14.0 mmcv-full==1.7.0 torch==1.9.1+cu111"
    found = answer(knowledge, asked, "gpu=h100")
    assert told(found) == ["mmdet/mmcv", "cuda/code"]
    assert all(reason.enough for reason in found.because)
    found = answer(knowledge, "mmcv-full==1.4.0 torch==2.0.1", "python=3.12")
    assert [(reason.bound.owner, *told(found)) for reason in found.because] == [
        ("torch", "python/wheel-tag")
    ]
    also = [reason.bound.relation.id for reason in found.also]
    assert also == ["mmcv-full/wheel-torch", "mmcv-full/thc"]


def test_newer_than_the_matrices_is_untested(small_matrices: Knowledge) -> None:
    found = answer(small_matrices, "mmcv-full==1.9.0 torch==2.4.1")
    assert found.kind == "untested"
    assert found.open == ("mmcv-full 1.9.0 is newer than the matrices know (1.7.1)",)
    # the others' relations still say what they know
    assert answer(small_matrices, "mmcv-full==1.4.0 torch==9.0").kind == "no"


def test_what_is_not_known_decides(tmp_path: Path) -> None:
    path = small.write(tmp_path) / "packages" / "torch.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"12.6": {sass: ["8.0", "9.0"], ptx: []}', '"12.6":'))
    knowledge = load(tmp_path)
    found = answer(knowledge, "torch==2.7.0+cu126", "gpu=sm_80")
    assert found.kind == "undecided"
    assert found.open == ("the ptx of torch 2.7.0+cu126 is not known",)
    assert answer(knowledge, "torch==2.7.0", "gpu=sm_80").kind == "prebuilt"  # cu128 has it
    assert answer(knowledge, "torch==2.7.0+cu126").kind == "prebuilt"  # nobody asks of a GPU


@pytest.mark.parametrize(
    "label", ["2.4.0a0+07cecf4168.nv24.05", "2.4.0.dev20240601+cu121", "2.4.1+gitabcdef12"]
)
def test_builds_of_vendors_days_and_commits_are_no_wheels_of_the_project(label: str) -> None:
    found = answer(load(), f"torch=={label}", "gpu=sm_20")
    assert found.kind == "undecided"
    assert found.open == (f"torch {label} is no build that the matrices know",)
    (build,) = found.fitting["torch"]
    assert "sass" not in build.attributes or build.attributes.get("origin") != "wheel"


def test_where_there_is_a_gpu_builds_for_the_processor_do_not_count() -> None:
    knowledge = load()
    assert answer(knowledge, "torch==1.9.1", "gpu=h100").kind == "no"
    assert answer(knowledge, "torch==1.9.1+cpu", "gpu=h100").kind == "prebuilt"


def test_tools_of_a_build_count_where_they_are_assumed() -> None:
    knowledge = load()
    asked = "mmcv-full==1.7.2 torch==2.4.1+cu121"
    assert answer(knowledge, asked, "gpu=a100").kind == "source"
    found = answer(knowledge, asked, "gpu=a100", "toolkit=11.8")
    assert (found.kind, "cuda/build-major" in told(found)) == ("no", True)


def test_a_grid_of_releases_is_what_each_pair_answers(small_matrices: Knowledge) -> None:
    relations = Relations(small_matrices)
    there = world(small_matrices)
    wanted = [read_wanted(name, small_matrices) for name in ("torch", "mmcv-full")]
    question = Question(wanted, there, relations)
    releases = [small_matrices.packages[one.name].releases for one in wanted]
    for torch, mmcv in itertools.product(*releases):
        asked = [read_wanted(f"torch=={torch}", small_matrices)]
        asked.append(read_wanted(f"mmcv-full=={mmcv}", small_matrices))
        alone = ask(asked, there, relations)
        cell = question.answer_for({"torch": torch, "mmcv-full": mmcv})
        assert (cell.kind, told(cell)) == (alone.kind, told(alone)), (torch, mmcv)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("mmcv-full==1.4.0", "torch==1.9.1"),
        ("mmcv-full==1.7.0", "torch==1.13.1"),
        ("mmcv==2.1.0", "torch==2.4.1"),
        ("flash-attn==2.5.8", "torch==2.3.0"),
        ("torchvision==0.19.1", "torch==2.4.0"),
        ("transformers==4.57.6", "torch==2.1.2"),
        ("mmdet==3.3.0", "mmcv==2.2.0"),
    ],
)
@pytest.mark.parametrize("gpu", ["a100", "h100", "rtx5090"])
def test_of_two_builds_the_answer_is_what_check_judges(first: str, second: str, gpu: str) -> None:
    """No second reading of the relations: a pair is refused where `check` reports an error."""
    knowledge = load()
    relations = Relations(knowledge)
    there = world(knowledge, f"gpu={gpu}", "driver=535.129.03", "python=3.10")
    pairs = itertools.product(
        *(builds_of(read_wanted(t, knowledge), knowledge, "x86_64") for t in (first, second))
    )
    for pair in itertools.islice(pairs, 120):
        domains = {**there.domains, **{build.component: (build,) for build in pair}}
        set_modules(domains, knowledge)
        for bound in (b for build in pair for b in relations.of(build.component)):
            for component in bound.asked:  # whether it is there, nobody says
                if domains[component] == (ABSENT,):
                    domains[component] = (Unknown("not asked"),)
        broken = any(
            violation.breaches[0].bound.relation.severity == "error"
            for build in pair
            for violation in judge(relations, build.component, domains, "nvidia").violations
        )
        assert (refused(pair, there, relations) == "no") == broken, pair


def refused(pair: Tuple[Build, ...], there: World, relations: Relations) -> str:
    """The answer for two builds, given as they are."""

    class Given(Question):
        def _builds(self, one: object) -> Tuple[Build, ...]:
            return tuple(b for b in pair if b.component == getattr(one, "name", ""))

    wanted = [read_wanted(build.component, relations.knowledge) for build in pair]
    return Given(wanted, there, relations).answer().kind


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "''"),
        ("torch ~~ 2", "is no version"),
        ("torch==two", "is no version"),
        ("torhc==1.9.1", "nearest: torch"),
        ("nothing-like-it", "the matrices have no package 'nothing-like-it'"),
        ("torch=>1", "is no version"),
        ("x" * 500, "a package is expected"),
        ("torch==" + "9" * 5000, "a package is expected"),
        ("\x1b[31mtorch", "a package is expected"),
    ],
)
def test_what_cannot_be_asked(text: str, problem: str) -> None:
    with pytest.raises(WantedError) as caught:
        read_wanted(text, load())
    assert problem in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_release_that_does_not_exist_has_neighbours() -> None:
    knowledge = load()
    with pytest.raises(WantedError) as caught:
        builds_of(read_wanted("torch==1.9.7", knowledge), knowledge, "x86_64")
    assert str(caught.value) == (
        "torch has no release 1.9.7; nearest: 1.9.0, 1.9.1, 1.10.0, 1.10.1"
    )
    with pytest.raises(WantedError):
        builds_of(read_wanted("torch<0.1", knowledge), knowledge, "x86_64")
    vendor = builds_of(read_wanted("torch==2.4.0a0+07cecf4168.nv24.05", knowledge), knowledge, "")
    assert [build.version for build in vendor] == [Version("2.4.0")]


@pytest.mark.parametrize(
    ("asked", "cudas"),
    [
        ("mmcv==2.2.0 torch==2.4.0+cu121", ("12.1", "12.1")),
        ("torch==2.0.1+cu117 mmcv==2.0.1", ("11.7", "11.7")),
        ("torchaudio==2.5.1 torch==2.5.1+cu121 torchvision==0.20.1", ("12.1", "12.1", "12.1")),
        ("torch==1.9.1+cu111 mmcv-full==1.4.0", ("11.1", "11.1")),
    ],
)
def test_the_example_is_of_one_cuda(asked: str, cudas: Tuple[str, ...]) -> None:
    found = answer(load(), asked, "python=3.9")
    assert tuple(str(b.attributes["cuda"]) for b in found.example.values()) == cudas


def test_the_nearest_cuda_of_the_same_major_version_is_the_next_best() -> None:
    """Of torch 2.0.1 there are wheels for CUDA 11.7 and 11.8: the one nearer to the given one."""
    order = _Apartness([Build("torch", None, {"cuda": Version("11.7")})])
    ranked = sorted(
        ("12.1", "11.8", "11.3", "11.7"),
        key=lambda text: order.with_(Build("mmcv", None, {"cuda": Version(text)})),
    )
    assert ranked == ["11.7", "11.8", "11.3", "12.1"]
    assert order.with_(Build("mmcv", None, {})) == (0, 0)  # of sources no CUDA is known
    assert order.with_(Build("mmcv", None, {"cuda": "cpu"})) == (1, 0)
