"""MapTR's stack on the real matrices: which builds fit which machine, by trying them all."""

from __future__ import annotations

from typing import Dict, List, Set, Tuple

import pytest
from msgspec.structs import replace
from packaging.version import Version

from envdoctor.knowledge.load import load
from envdoctor.model.facts import Distribution, Facts, Machine, Target, TorchFiles, seen
from envdoctor.model.versions import cuda_tag
from envdoctor.relations.assume import assume
from envdoctor.relations.components import PYTHON
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import observe
from envdoctor.resolver.bruteforce import Stack, Wish, stacks
from envdoctor.rules.check import check

KNOWLEDGE = load()
RELATIONS = Relations(KNOWLEDGE)
MACHINE = Facts(machine=Machine(architecture=seen("x86_64", "uname"), glibc=seen("2.31", "")))
STATED = {
    "python": "==3.8",
    "mmcv-full": "==1.4.0",
    "mmdet": "==2.14.0",
    "mmsegmentation": "==0.14.1",
    "mmdet3d": "==0.17.2",
}


def solve(*machine: str, patches: bool = False, **wanted: str) -> List[Stack]:
    observed = observe(assume(MACHINE, machine, KNOWLEDGE), KNOWLEDGE)
    host = {n: d for n, d in observed.domains.items() if n.startswith(("host.", "build."))}
    wishes = {name: Wish(spec) for name, spec in {**STATED, **wanted}.items()}
    wishes["torch"] = Wish(wanted.get("torch", ""), without={"cuda": "cpu"})
    return list(stacks(RELATIONS, host, wishes, "nvidia", patches))


def torches(found: List[Stack]) -> Set[Tuple[str, str]]:
    return {
        (str(stack.builds["torch"].version), str(stack.builds["torch"].attributes["cuda"]))
        for stack in found
    }


def test_an_a100_with_driver_470() -> None:
    """Code for sm_80 came with CUDA 11; mmcv-full 1.4.0 ends at torch 1.10."""
    assert torches(solve("gpu=a100", "driver=470.57.02")) == {
        *(("1.7.0", "11.0"), ("1.7.1", "11.0"), ("1.8.0", "11.1"), ("1.8.1", "11.1")),
        *(("1.8.2", "11.1"), ("1.9.0", "11.1"), ("1.9.1", "11.1")),
        *(("1.10.0", "11.1"), ("1.10.1", "11.1"), ("1.10.2", "11.1")),
        *(("1.10.0", "11.3"), ("1.10.1", "11.3"), ("1.10.2", "11.3")),
    }


def test_what_the_authors_state_is_among_them() -> None:
    found = solve("gpu=a100", "driver=470.57.02", torch="==1.9.1", torchvision="==0.10.1")
    wheels = [s for s in found if s.builds["mmcv-full"].attributes["origin"] == "wheel"]
    assert {str(s.builds["mmcv-full"].attributes["cuda"]) for s in wheels} == {"11.1"}


def test_an_h100_needs_patched_sources() -> None:
    """No torch that mmcv-full 1.4.0 is built for has code for sm_90."""
    assert solve("gpu=h100", "driver=535.129.03") == []
    patched = solve("gpu=h100", "driver=535.129.03", patches=True)
    assert ("2.0.0", "11.8") in torches(patched)
    assert min(Version(torch) for torch, _ in torches(patched)) == Version("2.0.0")
    for stack in patched:
        assert stack.builds["mmcv-full"].attributes["origin"] == "source"
        assert "mmcv-thc" in [bound.relation.waiver for bound in stack.waived]


def test_the_driver_decides_among_them() -> None:
    """Driver 418 serves CUDA 10.1: none of the builds with code for sm_80."""
    assert solve("gpu=a100", "driver=418.87.00") == []


def as_facts(stack: Stack, *machine: str) -> Facts:
    """The stack as if it were installed."""
    site = "/env/lib/python3.8/site-packages"
    distributions = []
    torch = None
    for name, build in stack.builds.items():
        if name == PYTHON:
            continue
        cuda = build.attributes.get("cuda")
        tag = cuda_tag(cuda) if isinstance(cuda, Version) else str(cuda)
        version = f"{build.version}+{tag}" if name == "torch" else str(build.version)
        if name == "torch":
            torch = TorchFiles(
                path=f"{site}/torch",
                version=seen(version, "version.py"),
                cuda=seen(str(cuda), "version.py"),
            )
        path = f"{site}/{name}-{version}.dist-info"
        distributions.append(
            Distribution(name=name, version=version, path=path, search_entry=site, installer="pip")
        )
    target = Target(
        python="/env/bin/python",
        version=f"{stack.builds[PYTHON].version}.18",
        path=(site,),
        distributions=tuple(distributions),
        torch=torch,
    )
    return assume(replace(MACHINE, target=seen(target, "test")), machine, KNOWLEDGE)


@pytest.mark.parametrize(
    "machine", [("gpu=a100", "driver=470.57.02"), ("gpu=rtx4090", "driver=535")]
)
def test_every_stack_is_clean_under_check(machine: Tuple[str, ...]) -> None:
    seen_before: Dict[Tuple[str, ...], None] = {}
    for stack in solve(*machine, torchvision=""):
        facts = as_facts(stack, *machine)
        target = facts.target.value
        assert target is not None
        key = tuple(d.version for d in target.distributions)
        if key in seen_before:
            continue
        seen_before[key] = None
        report = check(facts, KNOWLEDGE)
        assert [f.summary for f in report.findings if f.severity == "error"] == []
    assert len(seen_before) > 10
