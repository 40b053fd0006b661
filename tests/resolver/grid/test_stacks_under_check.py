"""What the resolver returns is clean under `check`, its rules included."""

from __future__ import annotations

from typing import List

import pytest
from cells import GPUS, MODELS, NOWHERE, Grid
from msgspec.structs import replace
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build
from envdoctor.model.facts import Distribution, Facts, Machine, Target, TorchFiles, seen
from envdoctor.relations.assume import assume
from envdoctor.relations.components import PYTHON
from envdoctor.relations.tell import label
from envdoctor.resolver.images import IMAGE
from envdoctor.resolver.solver import Found
from envdoctor.rules.check import check

pytestmark = pytest.mark.answers

#: The newest of the drivers: all of these GPUs are driven by it.
DRIVER = "580.65.06"
PREFIX = "/env"


def installed(found: Found, knowledge: Knowledge, gpu: str) -> Facts:
    """A stack as if it were installed in its image."""
    python, image = found.builds[PYTHON], found.builds[IMAGE]
    site = f"{PREFIX}/lib/python{python.label}/site-packages"
    distributions: List[Distribution] = []
    torch = None
    for name, build in found.builds.items():
        if name in (PYTHON, IMAGE):
            continue
        version = label(build, knowledge)
        is_source = build.attributes.get("origin") == "source"
        if name == "torch":
            abi = build.attributes["abi"]
            assert isinstance(abi, int)
            cuda = str(build.attributes["cuda"])
            stated = {"version": seen(version, "version.py"), "cuda": seen(cuda, "version.py")}
            torch = TorchFiles(f"{site}/torch", abi=seen(abi, "libc10.so"), **stated)
        distributions.append(
            Distribution(
                name=name,
                version=version,
                path=f"{site}/{name}-{version}.dist-info",
                search_entry=site,
                installer="pip",
                direct_url=f"file:///src/{name}" if is_source else "",
                modules=tuple(knowledge.packages[name].modules),
            )
        )
    target = Target(
        python=f"{PREFIX}/bin/python",
        version=str(python.version),
        prefix=PREFIX,
        path=(site,),
        distributions=tuple(distributions),
        torch=torch,
    )
    machine = Machine(
        architecture=seen("x86_64", "the image"),
        os=seen(str(image.attributes["os"]), "the image"),
        glibc=seen(str(image.attributes["glibc"]), "the image"),
        libstdcxx=seen(str(image.attributes["libstdcxx"]), "the image"),
    )
    facts = replace(NOWHERE, machine=machine, target=seen(target, "the stack"))
    return assume(facts, (f"gpu={gpu}", f"driver={DRIVER}"), knowledge)


@pytest.mark.parametrize("model", MODELS)
def test_a_stack_is_clean(model: str) -> None:
    grid = Grid(model)
    looked_at = 0
    for gpu in GPUS:
        found = grid.found(gpu, DRIVER)
        if found is None:
            continue
        looked_at += 1
        report = check(installed(found, grid.knowledge, gpu), grid.knowledge)
        errors = [
            f"{gpu}: {finding.code} {finding.summary}"
            for finding in report.findings
            if finding.severity == "error"
        ]
        assert errors == []
    assert looked_at >= 7


def test_what_is_not_whole_is_seen() -> None:
    """The same facts with a build that does not fit are not clean."""
    grid = Grid("maptr")
    found = grid.found("a100", DRIVER)
    assert found is not None
    package = grid.knowledge.packages["mmcv-full"]
    other = next(b for b in package.builds(Version("1.7.1")) if isinstance(b, Build))
    broken = found._replace(builds={**found.builds, "mmcv-full": other})
    report = check(installed(broken, grid.knowledge, "a100"), grid.knowledge)
    assert "openmmlab-version-assert" in {f.name for f in report.findings if f.severity == "error"}
