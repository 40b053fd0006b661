"""What is resolved for random requests is clean under `check`, its rules included.

The profiles' stacks on the GPUs of the grid are looked at in grid/test_stacks_under_check.py. Here
the facts state more: tags of wheels, the GPU code in files, the toolkit and the compiler.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, Set, Tuple

import pytest
from msgspec.structs import replace
from packaging.version import Version
from random_requests import NOWHERE, asked, knowledge, solver

from envdoctor.model.build import Build
from envdoctor.model.facts import (
    Compiler,
    Distribution,
    Facts,
    GpuCode,
    Machine,
    Target,
    Toolkit,
    Tools,
    TorchFiles,
    seen,
)
from envdoctor.model.finding import Report
from envdoctor.relations.assume import assume
from envdoctor.relations.components import PYTHON
from envdoctor.relations.tell import label
from envdoctor.resolver.images import IMAGE
from envdoctor.resolver.solver import Found
from envdoctor.rules.check import check

pytestmark = pytest.mark.answers

PREFIX = "/env"
FIRST = 7_040
BATCH = 25
#: CUDA 11.7's torch 1.13.1 and what was built for it, for Python 3.7 on an L40S.
WITH_TORCH = 7_054
#: Interpreters before 3.8 have "m" in the tag of their ABI.
WITH_M = ("cp35", "cp36", "cp37")


def installed(found: Found, settings: Tuple[str, ...]) -> Facts:
    """A stack as if it were installed: in its image, or on the machine that was asked about."""
    python = found.builds[PYTHON]
    site = f"{PREFIX}/lib/python{python.label}/site-packages"
    packages = [b for name, b in found.builds.items() if name not in (PYTHON, IMAGE)]
    target = Target(
        python=f"{PREFIX}/bin/python",
        version=str(python.version),
        prefix=PREFIX,
        path=(site,),
        distributions=tuple(distribution(b, str(python.attributes["tag"]), site) for b in packages),
        torch=next((torch(b, site) for b in packages if b.component == "torch"), None),
        gpu_code={b.component: gpu_code(b) for b in packages if "sass" in b.attributes},
    )
    facts = replace(NOWHERE, target=seen(target, "the stack"))
    if IMAGE in found.builds:
        facts = within(found.builds[IMAGE], facts)
    return assume(facts, settings, knowledge())


def distribution(build: Build, python: str, site: str) -> Distribution:
    name, version = build.component, label(build, knowledge())
    is_source = build.attributes.get("origin") == "source"
    return Distribution(
        name=name,
        version=version,
        path=f"{site}/{name}-{version}.dist-info",
        search_entry=site,
        installer="pip",
        tags=() if is_source else tuple(tags(build, python)),
        direct_url=f"file:///src/{name}" if is_source else "",
        modules=tuple(knowledge().packages[name].modules),
    )


def tags(build: Build, python: str) -> Iterator[str]:
    """The tag of the wheel that this interpreter takes, as far as the build knows it."""
    known = build.attributes.get("python")
    if not isinstance(known, tuple):
        return
    glibc = build.attributes.get("manylinux")
    kind = build.attributes.get("platform", build.attributes.get("file"))
    platform = "linux"
    if isinstance(glibc, Version):
        platform = f"manylinux_{glibc.major}_{glibc.minor}"
    elif isinstance(kind, str):
        platform = {"manylinux": "manylinux1"}.get(kind, kind)
    if python in known:
        abi = f"{python}m" if python in WITH_M else python
        yield f"{python}-{abi}-{platform}_x86_64"
    elif any(tag.endswith("-abi3") for tag in known):
        oldest = next(tag for tag in known if tag.endswith("-abi3"))
        yield f"{oldest}-{platform}_x86_64"
    elif "py3" in known:
        is_pure = platform == "linux" and "architecture" not in build.attributes
        yield "py3-none-any" if is_pure else f"py3-none-{platform}_x86_64"
    else:
        raise AssertionError(f"{build}: no wheel for {python} among {known}")


def torch(build: Build, site: str) -> TorchFiles:
    """What the files of torch say."""
    cuda, abi = build.attributes["cuda"], build.attributes["abi"]
    assert isinstance(abi, int)
    return TorchFiles(
        path=f"{site}/torch",
        version=seen(label(build, knowledge()), "version.py"),
        cuda=seen(str(cuda), "version.py"),
        abi=seen(abi, "libc10.so"),
    )


def gpu_code(build: Build) -> GpuCode:
    codes: Dict[str, Tuple[str, ...]] = {}
    for name in ("sass", "ptx"):
        stated = build.attributes.get(name)
        if isinstance(stated, tuple):
            codes[name] = tuple(map(str, stated))
    return GpuCode(origin=build.component, **codes)


def within(image: Build, facts: Facts) -> Facts:
    """The facts in a container of an image."""
    stated = {name: seen(str(image.attributes[name]), "the image") for name in ("os", "glibc")}
    machine = Machine(
        architecture=facts.machine.architecture,
        libstdcxx=seen(str(image.attributes["libstdcxx"]), "the image"),
        **stated,
    )
    compiler = seen(Compiler("/usr/bin/g++", "gcc", str(image.attributes["gcc"])), "PATH")
    tools = Tools(compiler=compiler, nvcc_compiler=compiler)
    release = image.attributes["toolkit"]
    if isinstance(release, Version):
        toolkit = Toolkit("/usr/local/cuda", str(release), "the image")
        tools = replace(tools, toolkits=(toolkit,), toolkit=seen(toolkit, "the image"))
    return replace(facts, machine=machine, tools=tools)


def report(found: Found, settings: Tuple[str, ...]) -> Report:
    return check(installed(found, settings), knowledge())


def errors(told: Report) -> List[str]:
    return [f"{f.code} {f.component}: {f.summary}" for f in told.findings if f.severity == "error"]


def broken_sources(found: Found, told: Report) -> Set[str]:
    """The patches that would mend what is found of builds from source, of any severity.

    What concerns compiling is a warning: what is installed is past it.
    """
    cited = {f.relation.id for f in told.findings if f.relation is not None}
    return {
        r.waiver
        for r in knowledge().relations
        if r.waiver and r.id in cited and r.owner in found.builds
        if found.builds[r.owner].attributes.get("origin") == "source"
    }


@pytest.mark.parametrize("batch", range(2))
def test_a_stack_is_clean(batch: int) -> None:
    looked_at = patched = 0
    for seed in range(FIRST + BATCH * batch, FIRST + BATCH * (batch + 1)):
        one = asked(seed)
        solved = solver(one)
        found = solved.best(solved.soft)
        if found is not None:
            looked_at += 1
            patched += bool(found.patches)
            told = report(found, one.machine)
            assert errors(told) == [], (seed, one)
            assert broken_sources(found, told) == set(found.patches), (seed, one)
    assert looked_at >= BATCH // 3
    assert patched


@pytest.mark.parametrize(
    ("made_wrong", "name"),
    [
        ("driver=410.48", "driver-too-old"),
        ("gpu=rtx5090", "gpu-arch-not-in-torch"),
        ("glibc=2.12", "glibc-too-old"),
        ("python=3.9", "wheel-for-another-interpreter"),
    ],
)
def test_what_is_made_wrong_is_seen(made_wrong: str, name: str) -> None:
    """The facts of a stack are looked at: one of them made wrong is an error."""
    one = asked(WITH_TORCH)
    solved = solver(one)
    found = solved.best(solved.soft)
    assert found is not None
    assert errors(report(found, one.machine)) == []
    told = report(found, (*one.machine, made_wrong))
    assert name in {f.name for f in told.findings if f.severity == "error"}
