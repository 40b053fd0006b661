"""The smallest change that mends a violation."""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_judge import A100, BLACKWELL
from test_words import observation, violation

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.versions import parse
from envdoctor.relations.judge import Domain, Relations, Violation, judge
from envdoctor.relations.observe import Observation, candidates, set_modules
from envdoctor.relations.plan import Plan, requirement_arguments
from envdoctor.relations.repair import Repairs, repair
from envdoctor.relations.tell import label

pytestmark = pytest.mark.answers

REAL = load()
RELATIONS = Relations(REAL)


def told(plan: Optional[Plan], knowledge: Knowledge) -> Optional[List[str]]:
    if plan is None:
        return None
    return [f"{c.after.component} {label(c.after, knowledge)}" for c in plan]


@pytest.mark.parametrize(
    ("gpu", "installed", "changes"),
    [
        # one change, the nearest build
        ((A100,), {"torch": "2.4.1+cu121", "torchvision": "0.22.0"}, ["torchvision 0.19.1"]),
        # torch moves and takes its pair along; mmcv-full 1.4.6 and newer have no command here, and
        # for which torch the one that is there was compiled is not known
        (
            (A100,),
            {"torch": "2.4.1+cu121", "mmcv_full": "1.4.0", "torchvision": "0.19.1"},
            ["torch 1.10.0+cu111", "mmcv-full 1.4.0", "torchvision 0.11.1"],
        ),
        (
            (BLACKWELL,),
            {"torch": "2.4.1+cu121", "torchvision": "0.19.1"},
            ["torch 2.7.0+cu128", "torchvision 0.22.0"],
        ),
        # another CUDA of the same release is nearer than another release
        ((BLACKWELL,), {"torch": "2.7.0+cu126"}, ["torch 2.7.0+cu128"]),
        # no command for mmcv is known, and mmcv-full's wheels are for a torch that is not there
        ((A100,), {"mmdet": "2.14.0", "mmcv": "2.0.1"}, None),
        # with torch, the one that provides mmcv makes way for the other
        (
            (A100,),
            {"torch": "1.9.1+cu111", "mmdet": "2.14.0", "mmcv": "2.0.1"},
            ["mmcv-full 1.4.0"],
        ),
    ],
)
def test_the_smallest_change(
    gpu: Value, installed: Dict[str, str], changes: Optional[List[str]], small_matrices: Knowledge
) -> None:
    observed = observation(small_matrices, gpu, **installed)
    plan = repair(violation(small_matrices, observed), observed, Relations(small_matrices))
    assert told(plan, small_matrices) == changes


def test_arguments_for_pip(small_matrices: Knowledge) -> None:
    torch = small_matrices.packages["torch"].builds(parse("1.9.1"))
    assert [requirement_arguments(build) for build in torch] == [
        "torch==1.9.1+cu102 -f page",
        "torch==1.9.1+cu111 -f page",
    ]
    assert requirement_arguments(small_matrices.packages["mmcv"].builds()[0]) is None


# --- what a plan must never do, on worlds by chance -------------------------------------------

#: (package, relation) of what is broken.
Broken = Set[Tuple[str, str]]


def breaches(relations: Relations, world: Dict[str, Domain], name: str) -> Dict[str, int]:
    """How many of the builds that may be installed each relation rejects; information left out."""
    judged = judge(relations, name, world, "nvidia").breaches
    graver = [breach for breach in judged if breach.bound.relation.severity != "info"]
    return {breach.bound.relation.id: len(breach.builds) for breach in graver}


def installed_in(knowledge: Knowledge, world: Dict[str, Domain]) -> List[str]:
    return [name for name in knowledge.packages if isinstance(world[name][0], Build)]


def broken(relations: Relations, world: Dict[str, Domain]) -> Broken:
    return {
        (name, breach.bound.relation.id)
        for name in installed_in(relations.knowledge, world)
        for found in judge(relations, name, world, "nvidia").violations
        for breach in found.breaches
    }


def violations(relations: Relations, observed: Observation) -> Iterator[Violation]:
    for name in installed_in(relations.knowledge, observed.domains):
        yield from judge(relations, name, observed.domains, "nvidia").violations


def carried_out(plan: Plan, observed: Observation, knowledge: Knowledge) -> Dict[str, Domain]:
    world = dict(observed.domains)
    for change in plan:
        if change.removed:
            world[change.removed] = (ABSENT,)
        world[change.after.component] = (change.after,)
        if change.compiled_again:
            every = observed.domains[change.after.component]
            world[change.after.component] = tuple(
                b for b in every if isinstance(b, Build) and b.attributes["origin"] == "source"
            )
    set_modules(world, knowledge)
    return world


def hold_of(found: Violation) -> FrozenSet[str]:
    return frozenset(breach.bound.relation.id for breach in found.breaches)


def mends(plan: Plan, found: Violation, observed: Observation, relations: Relations) -> bool:
    """Whether nothing is left of a violation after a plan, and nothing new is broken."""
    after = broken(relations, carried_out(plan, observed, relations.knowledge))
    left = {(found.component, relation) for relation in hold_of(found)} & after
    gone = found.component in {change.removed for change in plan}
    return (gone or not left) and not after - broken(relations, observed.domains)


SMALL = {
    "torch": ["1.9.1+cu102", "1.9.1+cu111", "1.10.0+cu111", "2.4.1+cu121", "2.7.0+cu126"],
    "torchvision": ["0.10.0", "0.10.1", "0.11.1", "0.19.1", "0.22.0"],
    "mmcv-full": ["1.4.0", "1.4.6", "1.7.1"],
    "mmcv": ["1.3.0", "2.0.1"],
    "mmdet": ["2.14.0", "2.28.2"],
}
SMALL_WORLDS = st.fixed_dictionaries(
    {"torch": st.sampled_from(SMALL["torch"])},
    optional={n: st.sampled_from(v) for n, v in SMALL.items() if n != "torch"},
)


@settings(max_examples=150)
@given(SMALL_WORLDS, st.sampled_from([A100, BLACKWELL]))
def test_a_plan_mends_and_no_single_change_is_overlooked(
    small_matrices: Knowledge, installed: Dict[str, str], gpu: Build
) -> None:
    stack = {name.replace("-", "_"): version for name, version in installed.items()}
    observed = observation(small_matrices, (gpu,), **stack)
    relations = Relations(small_matrices)
    repairs = Repairs(observed, relations)
    for found in violations(relations, observed):
        plan = repairs.plan(found)
        if plan is not None:
            assert mends(plan, found, observed, relations)
        if plan is None or len(plan) > 1:
            assert list(single_changes(found, observed, relations)) == []


def single_changes(
    found: Violation, observed: Observation, relations: Relations
) -> Iterator[Tuple[str, str]]:
    """By trying them all: exchanges of one installed package that surely mend a violation."""
    knowledge = relations.knowledge
    before = broken(relations, observed.domains)
    torch = observed.domains["torch"][0]
    assert isinstance(torch, Build)
    for name in installed_in(knowledge, observed.domains):
        for build in knowledge.packages[name].builds():
            if requirement_arguments(build) is None or "cp38" not in build.attributes.get(
                "python", ("cp38",)
            ):
                continue
            world = {**observed.domains, name: (build,)}
            set_modules(world, knowledge)
            after = broken(relations, world)
            doubts = judge(relations, name, world, "nvidia").undecided or any(
                breaches(relations, world, other) for other in installed_in(knowledge, world)
            )
            left = {(found.component, relation) for relation in hold_of(found)} & after
            if not left and not after - before and not doubts:
                yield name, label(build, knowledge)


REAL_NAMES = (
    "torchvision",
    "torchaudio",
    "mmcv-full",
    "mmcv",
    "mmdet",
    "mmsegmentation",
    "mmengine",
    "numpy",
    "transformers",
    "tokenizers",
    "flash-attn",
)


def versions(name: str) -> st.SearchStrategy[str]:
    return st.sampled_from([str(version) for version in REAL.packages[name].releases])


REAL_WORLDS = st.fixed_dictionaries(
    {
        "torch": st.sampled_from(
            [
                label(build, REAL)
                for build in REAL.packages["torch"].builds()
                if build.attributes["architecture"] == "x86_64"
            ]
        )
    },
    optional={name: versions(name) for name in REAL_NAMES},
)


def real(installed: Dict[str, str], python: str = "3.10", gpu: Value = (A100,)) -> Observation:
    """An environment of the real matrices on a machine whose driver serves CUDA 12.2."""
    world: Dict[str, Domain] = dict.fromkeys(REAL.packages, (ABSENT,))
    tag = "cp" + python.replace(".", "")
    world["python"] = (Build("python", parse(python), {"tag": tag}, label=python),)
    world["host.gpu"] = (gpu,)
    world["host.driver"] = (parse("535.129.03"),)
    world["host.serves"] = (parse("12.2"),)
    world["host.architecture"] = ("x86_64",)
    world["host.jetson"] = ("",)
    world["host.wsl"] = (False,)
    world["host.glibc"] = (parse("2.35"),)
    for component in ("toolkit", "gcc", "clang", "cudnn", "setuptools", "pip", "numpy"):
        world[f"build.{component}"] = (Unknown("nothing is built"),)
    for name, version in installed.items():
        package = REAL.packages[name]
        local = version.partition("+")[2]
        stated: Dict[str, Value] = {"cuda": package.typed("cuda", local)} if local else {}
        world[name] = candidates(package, version, stated, "test")
    set_modules(world, REAL)
    return Observation(world, {}, "nvidia", (), dict.fromkeys(installed, ""))


@settings(max_examples=60)
@given(REAL_WORLDS, st.sampled_from(["3.8", "3.10", "3.12"]))
def test_a_plan_for_a_real_stack_mends_and_can_be_carried_out(
    installed: Dict[str, str], python: str
) -> None:
    observed = real(installed, python)
    repairs = Repairs(observed, RELATIONS)
    tag = "cp" + python.replace(".", "")
    for found in violations(RELATIONS, observed):
        plan = repairs.plan(found)
        if plan is None:
            continue
        world = carried_out(plan, observed, REAL)
        left = breaches(RELATIONS, world, found.component) if world[found.component][0] else {}
        for change in plan:
            if change.compiled_again:
                continue
            build = change.after
            assert breaches(RELATIONS, world, build.component) == {}
            assert requirement_arguments(build) is not None
            assert build.attributes.get("architecture", "x86_64") == "x86_64"
            python_tags = build.attributes.get("python", (tag,))
            assert isinstance(python_tags, tuple)
            assert tag in python_tags or any("-abi3" in t or "py3" in t for t in python_tags)
            assert (build.attributes.get("cuda") == "cpu") <= ("+cpu" in installed["torch"])
        assert not hold_of(found) & set(left)
