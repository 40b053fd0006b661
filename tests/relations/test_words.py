"""What is told of a violation."""

from __future__ import annotations

from typing import Dict, List

import pytest
from test_judge import A100, BLACKWELL, domains

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.build import Build, Value
from envdoctor.model.versions import parse
from envdoctor.relations.judge import Relations, Violation, judge
from envdoctor.relations.observe import Observation
from envdoctor.relations.tell import Teller, tell_releases, tell_values


def violation(knowledge: Knowledge, observed: Observation) -> Violation:
    """The only violation there is that is an error."""
    relations = Relations(knowledge)
    found = [
        v
        for name in knowledge.packages
        if isinstance(observed.domains[name][0], Build)
        for v in judge(relations, name, observed.domains, "nvidia").violations
        if v.breaches[0].bound.relation.severity == "error"
    ]
    assert len(found) == 1
    return found[0]


def observation(knowledge: Knowledge, gpu: Value = (A100,), **installed: str) -> Observation:
    world = domains(knowledge, gpu=gpu, driver="580.65.06", **installed)
    world["python"] = (Build("python", parse("3.8"), {"tag": "cp38"}),)
    return Observation(world, {}, "nvidia", ())


@pytest.mark.parametrize(
    ("gpu", "installed", "summary", "whys"),
    [
        (
            (A100,),
            {"torch": "2.4.1+cu121", "mmcv_full": "1.4.0"},
            "mmcv-full 1.4.0 was built for another torch than torch 2.4.1+cu121; "
            "the last that fits is 1.10.0",
            ["its wheels are for torch 1.9 and 1.10", "its sources stop at THC/THC.h"],
        ),
        (
            (A100,),
            {"torch": "2.4.1+cu121", "torchvision": "0.22.0"},
            "torchvision 0.22.0 is not the pair of torch 2.4.1+cu121; 0.19.1 is",
            ["it was built for torch ==2.7.0"],
        ),
        (
            (BLACKWELL, A100),
            {"torch": "2.7.0+cu126"},
            "torch 2.7.0+cu126 has no code for sm_120 (RTX 5090); "
            "2.7.0+cu128 is the first that has",
            ["it has 8.0, 9.0"],
        ),
    ],
)
def test_words(
    gpu: Value, installed: Dict[str, str], summary: str, whys: List[str], small_matrices: Knowledge
) -> None:
    observed = observation(small_matrices, gpu, **installed)
    found = violation(small_matrices, observed)
    teller = Teller(found, Relations(small_matrices), observed.domains, "nvidia")
    assert teller.part(found.breaches[0], "summary") == summary
    assert [teller.part(breach, "why") for breach in found.breaches] == whys


def test_values_as_people_say_them() -> None:
    versions = [parse(v) for v in ("1.5", "1.10", "1.9", "1.5")]
    assert tell_values(versions) == "1.5, 1.9 and 1.10"
    series = [parse(f"1.{n}") for n in (5, 6, 7, 8, 9, 10, 13)]
    assert tell_values(series) == "1.5 to 1.10 and 1.13"
    assert tell_values(series, "zh") == "1.5 至 1.10 和 1.13"
    # what lies between decides, where that is known
    cudas = [parse(v) for v in ("10.2", "11.1", "11.3")]
    assert tell_values(cudas, known=cudas) == "10.2 to 11.3"
    assert tell_values(cudas, known=[*cudas[:2], parse("11.2"), cudas[2]]) == "10.2, 11.1 and 11.3"
    assert tell_values([parse("1.13"), parse("2.0"), parse("2.1")]) == "1.13, 2.0 and 2.1"
    assert tell_values(versions[:2]) == "1.5 and 1.10"
    assert tell_values([(parse("8.0"), parse("9.0"))]) == "8.0, 9.0"
    known = [parse(v) for v in ("1.0", "1.1", "1.2", "1.4", "2.0")]
    assert tell_releases([known[0], known[1], known[3]], known) == "1.0 to 1.1, 1.4"


@pytest.mark.parametrize(
    ("gpu", "language", "why"),
    [
        ("11.1", "en", "releases with code for sm_111: none known"),
        ("11.1", "zh", "带 sm_111 代码的版本"),
        ("7.0", "en", "releases with code for sm_70: "),
    ],
)
def test_ends_that_are_told_alike_are_told_once(gpu: str, language: str, why: str) -> None:
    knowledge = load()
    device = Build("host.gpu", None, {"cc": parse(gpu)}, label="X")
    observed = observation(knowledge, (device,), torch="2.9.0+cu130")
    found = next(
        v for v in judge(Relations(knowledge), "torch", observed.domains, "nvidia").violations
        if any(b.bound.relation.id == "cuda/code" for b in v.breaches)
    )  # fmt: skip
    teller = Teller(found, Relations(knowledge), observed.domains, "nvidia")
    (breach,) = (b for b in found.breaches if b.bound.relation.id == "cuda/code")
    told = teller.part(breach, "why", language)
    assert why in told
    assert told.count("none known") + told.count("无已知版本") == (gpu == "11.1")
