"""What the profiles that ship state: held to the matrices, and solved."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Tuple

import pytest

from envdoctor.knowledge.load import extended, load
from envdoctor.knowledge.profiles import Profile, expect_known, load_profile, profiles
from envdoctor.model.facts import Facts, Machine, seen
from envdoctor.model.names import canonical
from envdoctor.model.resolution import IMAGE
from envdoctor.model.versions import satisfies
from envdoctor.relations.assume import assume
from envdoctor.relations.components import PYTHON
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import observe
from envdoctor.resolver.bruteforce import Wish, stacks
from envdoctor.resolver.request import PROFILE
from envdoctor.resolver.stated import request_of, with_profile
from envdoctor.rules.added import examine_packages

KNOWLEDGE = load()
PROFILES = profiles()
MACHINE = Facts(machine=Machine(architecture=seen("x86_64", "uname"), glibc=seen("2.31", "")))
#: A machine on which the authors' stack is to be had: Paddle's on PyPI is for CUDA 10.2.
RUNS_ON = {
    "gaussianformer": "rtx3090",
    "maptr": "rtx3090",
    "petrv2": "t4",
    "qcnet": "rtx3090",
    "sparsedrive": "rtx3090",
}
each = pytest.mark.parametrize("profile", PROFILES, ids=lambda p: str(p.profile))
#: "docs/install.md:15", or a sentence that names what was read.
SOURCE = re.compile(r"[\w./-]+(\.\w+)(:\d+)?( .*)?|.* (of|at|asserted) .*")


def test_five_profiles_ship() -> None:
    assert {profile.profile for profile in PROFILES} == set(RUNS_ON)


@each
def test_each_pin_is_of_a_release_that_exists(profile: Profile) -> None:
    knowledge = with_profile(KNOWLEDGE, profile)
    expect_known(profile, extended(KNOWLEDGE, profile.held))
    for name, pin in {**profile.stack, **profile.pins}.items():
        if name == PYTHON:
            continue
        package = knowledge.packages[name]
        fitting = [v for v in package.releases if satisfies(v, pin.version)]
        assert fitting, f"{profile.place(f'stack.{name}')}: no release of {name} is {pin.version}"
        variant = {key: package.typed(key, value) for key, value in pin.variant.items()}
        builds = [b for v in fitting for b in package.builds(v)]
        assert any(variant.items() <= b.attributes.items() for b in builds), name
        if pin.tree:
            assert any(b.attributes.get("origin") == "source" for b in builds), name


@each
def test_each_statement_has_a_source(profile: Profile) -> None:
    assert profile.repository is not None
    assert re.fullmatch(r"[0-9a-f]{40}", profile.repository.commit)
    listed = [*profile.stack.values(), *profile.requirements, *profile.trees]
    for entry in listed:
        assert SOURCE.fullmatch(entry.source), entry
    for override in profile.overrides:
        assert all("(" in side for side in override.sides), override


@each
def test_what_the_matrices_know_is_no_line_for_the_installer(profile: Profile) -> None:
    names = [re.split(r"[^\w.-]", entry.line)[0] for entry in profile.requirements]
    known = with_profile(KNOWLEDGE, profile).packages
    assert [name for name in names if canonical(name) in known] == []
    assert len({canonical(name) for name in names}) == len(names)


@each
def test_each_tree_is_one_of_the_stack(profile: Profile) -> None:
    trees = {tree.package: tree.folder for tree in profile.trees}
    assert {name: pin.tree for name, pin in profile.stack.items() if pin.tree} == trees
    assert {file.package for file in profile.packages if file.releases} <= set(trees)
    assert {file.package for file in profile.packages} <= set(profile.stack)


@each
def test_its_own_packages_obey_the_laws_of_the_matrices(profile: Profile) -> None:
    knowledge = with_profile(KNOWLEDGE, profile)
    examine_packages(knowledge, profile.packages)
    own = {entry.id for file in profile.packages for entry in file.relations}
    for relation in knowledge.relations:
        if relation.id in own:
            assert set(relation.words) == {"en", "zh"}, relation.id


def waivers() -> Iterator[Tuple[str, str]]:
    """Each patch with the relation that it mends."""
    for relation in KNOWLEDGE.relations:
        if relation.waiver:
            yield relation.waiver, relation.id
    shared = {relation.id for relation in KNOWLEDGE.relations}
    for profile in PROFILES:
        for relation in with_profile(KNOWLEDGE, profile).relations:
            if relation.waiver and relation.id not in shared:
                yield relation.waiver, f"{profile.profile}: {relation.id}"


def test_a_patch_mends_one_relation() -> None:
    mended: Dict[str, List[str]] = {}
    for patch, relation in waivers():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", patch)
        mended.setdefault(patch, []).append(relation)
    assert [found for found in mended.values() if len(found) > 1] == []


@each
def test_the_authors_stack_is_to_be_had(profile: Profile) -> None:
    knowledge = with_profile(KNOWLEDGE, profile)
    machine = [f"gpu={RUNS_ON[profile.profile]}", "driver=470.57.02"]
    observed = observe(assume(MACHINE, machine, knowledge), knowledge)
    host = {n: d for n, d in observed.domains.items() if n.startswith(("host.", "build."))}
    wanted = {
        name: Wish(pin.version, pin.variant)
        for name, pin in profile.pins.items()
        if pin.version or pin.variant
    }
    assert next(stacks(Relations(knowledge), host, wanted, "nvidia"), None) is not None


def test_what_the_authors_contradict_themselves_in_is_taken_from_the_profile() -> None:
    profile = load_profile("maptr")
    request = request_of(profile)
    pins = {pin.component: pin for pin in request.pins}
    assert profile.stack["numpy"].version == "<1.20.0"
    assert pins["numpy"].specifier == ">=1.21.5,<1.24"
    assert str(pins["torch"]) == "torch ==1.9.1 (cuda 11.1)"
    assert pins["mmdet3d"].tree == "mmdetection3d"
    assert all(pin.by == PROFILE and pin.soft for pin in request.pins)
    assert (request.title, request.profile, request.target) == ("MapTR", "maptr", IMAGE)
    assert "yapf<0.40.2" in request.rest
    taken = [override.take for override in request.overrides]
    assert taken == ["numpy>=1.21.5,<1.24", ""]


def test_what_says_the_other_side_is_set_aside() -> None:
    profile = load_profile("maptr")
    kept = {relation.id for relation in with_profile(KNOWLEDGE, profile).relations}
    assert [r.id for r in KNOWLEDGE.relations if r.id not in kept] == ["mmdet3d/numpy"]


def test_a_package_of_a_tree_is_known_with_its_profile_alone() -> None:
    profile = load_profile("maptr")
    knowledge = with_profile(KNOWLEDGE, profile)
    assert "geometrickernelattention" not in KNOWLEDGE.packages
    assert knowledge.packages["torch"] is KNOWLEDGE.packages["torch"]
    assert knowledge.providers["GeometricKernelAttention"] == ("geometrickernelattention",)
    assert "geometrickernelattention/source" in knowledge.citations
    bound = Relations(knowledge).of("geometrickernelattention")
    assert "geometrickernelattention/dispatch" in [one.relation.id for one in bound]
