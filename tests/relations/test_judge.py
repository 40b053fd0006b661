from __future__ import annotations

from typing import Dict, List, Tuple

import pytest

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.versions import parse
from envdoctor.relations.judge import Domain, Relations, judge
from envdoctor.relations.observe import candidates, set_modules

A100 = Build("host.gpu", None, {"cc": parse("8.0"), "name": "A100"}, label="A100")
BLACKWELL = Build("host.gpu", None, {"cc": parse("12.0"), "name": "RTX 5090"}, label="RTX 5090")

SERVES = {"470.57.02": "11.4", "535.129.03": "12.2", "580.65.06": "13.0"}


def domains(
    knowledge: Knowledge, gpu: Value = (A100,), driver: str = "535.129.03", **installed: str
) -> Dict[str, Domain]:
    """What is known where these packages are installed; "1.9.1+cu111" states the CUDA."""
    found: Dict[str, Domain] = dict.fromkeys(knowledge.packages, (ABSENT,))
    for name, label in installed.items():
        package = knowledge.packages[name.replace("_", "-")]
        local = label.partition("+")[2]
        observed = {"cuda": package.typed("cuda", local)} if local else {}
        found[package.name] = candidates(package, label, observed, "test")
    found["host.gpu"] = (gpu,)
    found["host.driver"] = (parse(driver),)
    found["host.serves"] = (parse(SERVES[driver]),)
    set_modules(found, knowledge)
    return found


def broken(knowledge: Knowledge, world: Dict[str, Domain]) -> List[Tuple[str, ...]]:
    """The ids of the relations of each violation."""
    relations = Relations(knowledge)
    return [
        tuple(breach.bound.relation.id for breach in violation.breaches)
        for name in knowledge.packages
        if isinstance(world[name][0], Build)
        for violation in judge(relations, name, world, "nvidia").violations
    ]


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        # the wheel's torch is hidden: it fits if any build of that release does
        ({"torch": "1.9.1+cu111", "mmcv_full": "1.4.0"}, []),
        ({"torch": "1.10.0+cu111", "mmcv_full": "1.4.0"}, []),
        # no wheel of it, and its sources stop earlier: broken by both together, which a warning
        # about all its builds does not hide
        (
            {"torch": "2.4.1+cu121", "mmcv_full": "1.4.0"},
            [("mmcv-full/wheel-torch", "mmcv-full/thc"), ("mmcv-full/ddp",)],
        ),
        # newer sources compile: undecided, no finding
        ({"torch": "2.4.1+cu121", "mmcv_full": "1.7.1"}, []),
        ({"torch": "2.4.1+cu121", "torchvision": "0.22.0"}, [("torchvision/torch",)]),
        ({"torch": "2.4.1+cu121", "torchvision": "0.19.1"}, []),
        # a relation about an absent component does not apply
        ({"torchvision": "0.22.0"}, []),
        ({"mmdet": "2.14.0"}, []),
        ({"mmdet": "2.14.0", "mmcv_full": "1.4.0"}, []),
        ({"mmdet": "2.14.0", "mmcv": "1.3.0"}, [("mmdet/mmcv",)]),
        # two providers of one module: which is imported is not known, so no error
        ({"mmdet": "2.14.0", "mmcv": "2.0.1", "mmcv_full": "1.4.0"}, []),
        # newer than the matrices: untested, neither fit nor unfit
        ({"mmdet": "3.9.0", "mmcv": "1.3.0"}, []),
        ({"torch": "2.99.0+cu121", "mmcv_full": "1.7.1"}, []),
    ],
)
def test_broken_relations(
    installed: Dict[str, str], expected: List[Tuple[str, ...]], small_matrices: Knowledge
) -> None:
    assert broken(small_matrices, domains(small_matrices, **installed)) == expected


@pytest.mark.parametrize(
    ("gpu", "driver", "torch", "expected"),
    [
        ((A100,), "535.129.03", "2.4.1+cu121", []),
        ((A100,), "470.57.02", "2.4.1+cu121", [("cuda/minor",)]),
        ((A100,), "470.57.02", "1.9.1+cu111", []),
        ((A100,), "535.129.03", "1.9.1+cu102", [("cuda/code",)]),
        ((BLACKWELL,), "580.65.06", "2.4.1+cu121", [("cuda/code",)]),
        ((A100, BLACKWELL), "580.65.06", "2.7.0+cu126", [("cuda/code",)]),  # all must be served
        ((A100, BLACKWELL), "580.65.06", "2.7.0+cu128", []),
        (Unknown("no GPU here"), "470.57.02", "2.4.1+cu121", []),  # a login node
    ],
)
def test_gpu_and_driver(
    gpu: Value, driver: str, torch: str, expected: List[Tuple[str, ...]], small_matrices: Knowledge
) -> None:
    assert (
        broken(small_matrices, domains(small_matrices, gpu=gpu, driver=driver, torch=torch))
        == expected
    )


def test_another_vendors_machine_is_passed_over(small_matrices: Knowledge) -> None:
    world = domains(small_matrices, gpu=(BLACKWELL,), torch="2.4.1+cu121")
    assert judge(Relations(small_matrices), "torch", world, "amd").violations == ()
    assert len(judge(Relations(small_matrices), "torch", world, "nvidia").violations) == 1


def test_unknown_facts_never_break_a_relation(small_matrices: Knowledge) -> None:
    """Replacing any component by an unknown removes findings or leaves them; it adds none."""
    world = domains(small_matrices, torch="2.4.1+cu121", mmcv_full="1.4.0", torchvision="0.22.0")
    before = set(broken(small_matrices, world))
    for component in ("torch", "host.gpu", "host.driver"):
        fewer = {**world, component: (Unknown("hidden"),)}
        assert set(broken(small_matrices, fewer)) <= before
