"""What rules say of builds from source that are due."""

from __future__ import annotations

from typing import Iterable, List, Optional, Sequence, Tuple

from envdoctor.model.build import Build
from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.relations.components import PYTHON
from envdoctor.relations.environment import imported
from envdoctor.relations.sources import SourceBuild
from envdoctor.rules.lookup import listed, pip
from envdoctor.rules.rule import Context

#: From this Python on, the newest pip builds everything in an environment of its own (pip 25.3).
_ISOLATED_FROM = (3, 9)
#: What keeps pip or uv from making one.
_NOT_ISOLATED = ("PIP_NO_BUILD_ISOLATION", "UV_NO_BUILD_ISOLATION", "UV_NO_BUILD_ISOLATION_PACKAGE")


#: What is in an environment already, or has to be chosen: which torch, the page says.
_BROUGHT = ("pip", "pkg_resources", "torch")


def compiling(context: Context, *kinds: str) -> List[SourceBuild]:
    """The builds that compile something of these kinds: "cuda", "c++", "c"."""
    return [one for one in context.sources if one.compiles in kinds]


def for_cuda(context: Context) -> List[SourceBuild]:
    """The builds that compile CUDA sources for the GPUs here, or wherever they run."""
    torch = context.observed.domains.get("torch", ())
    if torch and all(isinstance(b, Build) and b.attributes.get("cuda") == "cpu" for b in torch):
        return []
    if context.observed.accelerator not in ("", "nvidia"):
        return []
    sees_gpu = bool(context.facts.accelerator.gpus.value)
    forced = context.target.environ.get("FORCE_CUDA") == "1"
    return [
        one
        for one in context.sources
        if one.needs("compiles") == "cuda"
        and (one.needs("toolkit") == "needed" or sees_gpu or forced)
    ]


def names(builds: Iterable[SourceBuild]) -> str:
    """What the builds are of, the first few."""
    return listed(str(one.build) for one in builds)


def evidence(builds: Sequence[SourceBuild]) -> Tuple[Evidence, ...]:
    """The lines that ask for what has to be built."""
    return tuple(
        Evidence(one.name, one.asked.specifier or one.asked.direct_url or "any", one.asked.path)
        for one in builds[:4]
    )


def is_certain(builds: Iterable[SourceBuild]) -> bool:
    """Whether one is sure to be built: of the others, pip may yet be told of a page with wheels."""
    return any(one.certain for one in builds)


def is_isolated(context: Context) -> Optional[bool]:
    """Whether pip is sure to build in an environment of its own; None where it was told not to.

    The newest pip for the Python does, an older one only where setuptools or wheel is missing.
    """
    if any(context.target.environ.get(name) for name in _NOT_ISOLATED):
        return None
    pythons = [b.version for b in context.observed.domains.get(PYTHON, ()) if isinstance(b, Build)]
    return bool(pythons) and all(v is not None and v.release[:2] >= _ISOLATED_FROM for v in pythons)


def of_first_use(context: Context) -> List[Distribution]:
    """What is of no use on the GPU that is here before it has compiled its operators."""
    gpus = context.facts.accelerator.gpus.value
    is_nvidia = context.observed.accelerator in ("", "nvidia")
    return just_in_time(context, "needed") if gpus and is_nvidia else []


def just_in_time(context: Context, toolkit: str = "") -> List[Distribution]:
    """What is installed without compiled code, and compiles CUDA sources when it is first used.

    With `toolkit`, only those that need one as the matrices call it.
    """
    table = context.knowledge.tables.get("just_in_time")
    rows = table.rows if table is not None else {}
    return [
        one
        for name, one in imported(context.target).items()
        if name in rows
        and toolkit in ("", rows[name].get("toolkit"))
        and one.tags
        and all(tag.endswith("-none-any") for tag in one.tags)
    ]


def in_two_steps(context: Context, one: SourceBuild) -> List[str]:
    """Commands that install what a setup.py imports, and then build in the environment itself."""
    target = context.target
    imported = [name for name in one.lists("imports") if name not in _BROUGHT]
    wanted = one.asked.direct_url or f"{one.name}{one.asked.specifier}"
    return [
        pip(target, "install", "setuptools", "wheel", *imported),
        pip(target, "install", "--no-build-isolation", wanted),
    ]
