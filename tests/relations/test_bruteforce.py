from __future__ import annotations

from typing import Dict, List, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build, Unknown
from envdoctor.model.versions import parse
from envdoctor.relations.judge import Domain, Relations
from envdoctor.resolver.bruteforce import Wish, stacks


def host(capability: str, driver: str, serves: str) -> Dict[str, Domain]:
    gpu = Build("host.gpu", None, {"cc": parse(capability)})
    return {
        "host.gpu": ((gpu,),),
        "host.driver": (parse(driver),),
        "host.serves": (parse(serves),),
        "build.gcc": (Unknown("none"),),
    }


def solve(
    knowledge: Knowledge, machine: Dict[str, Domain], patches: bool = False, **wanted: str
) -> List[Tuple[str, ...]]:
    wishes = {name.replace("_", "-"): Wish(spec) for name, spec in wanted.items()}
    found = []
    for stack in stacks(Relations(knowledge), machine, wishes, "nvidia", patches):
        torch = stack.builds["torch"]
        cuda = torch.attributes["cuda"]
        assert isinstance(cuda, Version)
        others = [
            f"{name} {build.label} {build.attributes['origin']}"
            for name, build in sorted(stack.builds.items())
            if name not in ("torch", "python")
        ]
        patched = [bound.relation.waiver for bound in stack.waived]
        found.append((f"torch {torch.label} cuda {cuda}", *others, *patched))
    return sorted(found)


def test_every_stack_and_no_other(small_matrices: Knowledge) -> None:
    ampere = host("8.0", "470.57.02", "11.4")
    assert solve(small_matrices, ampere, mmcv_full="==1.4.0", torchvision="") == [
        ("torch 1.10.0 cuda 11.1", "mmcv-full 1.4.0 source", "torchvision 0.11.1 wheel"),
        ("torch 1.10.0 cuda 11.1", "mmcv-full 1.4.0 wheel", "torchvision 0.11.1 wheel"),
        ("torch 1.9.0 cuda 11.1", "mmcv-full 1.4.0 source", "torchvision 0.10.0 wheel"),
        ("torch 1.9.0 cuda 11.1", "mmcv-full 1.4.0 wheel", "torchvision 0.10.0 wheel"),
        ("torch 1.9.1 cuda 11.1", "mmcv-full 1.4.0 source", "torchvision 0.10.1 wheel"),
        ("torch 1.9.1 cuda 11.1", "mmcv-full 1.4.0 wheel", "torchvision 0.10.1 wheel"),
    ]


def test_no_stack_without_a_patch(small_matrices: Knowledge) -> None:
    hopper = host("9.0", "535.129.03", "12.2")
    assert solve(small_matrices, hopper, mmcv_full="==1.4.0") == []
    assert solve(small_matrices, hopper, patches=True, mmcv_full="==1.4.0") == [
        ("torch 2.4.1 cuda 12.1", "mmcv-full 1.4.0 source", "mmcv-thc"),
        ("torch 2.7.0 cuda 12.6", "mmcv-full 1.4.0 source", "mmcv-thc"),
        ("torch 2.7.0 cuda 12.8", "mmcv-full 1.4.0 source", "mmcv-thc"),
    ]


def test_a_wish_more_never_makes_a_stack_more(small_matrices: Knowledge) -> None:
    machine = host("8.0", "535.129.03", "12.2")
    torches = {s[0] for s in solve(small_matrices, machine, torch="")}
    assert {s[0] for s in solve(small_matrices, machine, torch="", torchvision="")} <= torches
    assert {s[0] for s in solve(small_matrices, machine, torch="<2")} <= torches
