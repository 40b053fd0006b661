"""The toolkit that is here is of another CUDA than torch.

Relations say so where a source build is due by the matrices. Here it is due because what was
compiled before does not load. Else it is worth a note in what somebody reported, who may have
compiled something; of an environment that is whole there is nothing to say.
"""

from __future__ import annotations

from typing import Iterator, Set

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.finding import Evidence
from envdoctor.model.language import say
from envdoctor.model.versions import series, try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
    label,
)
from envdoctor.rules.rule import Context, Fault

#: Up to here the runtime library's name holds the minor number too.
_BY_MINOR = 10


def examine(context: Context) -> Iterator[Fault]:
    """Report it, if no build that this torch may be is of the toolkit's CUDA."""
    toolkit = context.facts.tools.toolkit
    found = toolkit.value
    version = try_parse(found.version) if found is not None else None
    possible = _cuda_of_torch(context)
    if found is None or version is None or not possible:
        return
    if any(_same(version, cuda) for cuda in possible):
        return
    broken = [d for d in imported(context.target).values() if d.import_error]
    if not broken and context.target.python:
        return
    torch = context.observed.domains["torch"][0]
    name = str(torch)
    listed = say(context.language, " or ").join(str(cuda) for cuda in sorted(possible))
    yield Fault(
        component=f"CUDA toolkit {found.version}",
        severity="error" if broken else "info",
        words="" if broken else "idle",
        fields={
            "toolkit": found.version,
            "torch": name,
            "cuda": listed,
            "extension": ", ".join(label(distribution) for distribution in broken),
        },
        evidence=(
            Evidence("CUDA toolkit", found.version, toolkit.origin),
            Evidence("CUDA of torch", listed, torch.origin if isinstance(torch, Build) else ""),
            *(Evidence(label(d), d.import_error, d.path) for d in broken),
        ),
        fixes=fix(),
        verify=("nvcc --version",),
    )


def _cuda_of_torch(context: Context) -> Set[Version]:
    """What torch may have been built with; empty if that is not known, or if it is no CUDA."""
    found = set()
    for build in context.observed.domains.get("torch", ()):
        cuda = build.attributes.get("cuda") if isinstance(build, Build) else None
        if not isinstance(cuda, Version):
            if cuda == "cpu":
                continue  # of several possible builds, those for the processor compile no CUDA
            return set()
        found.add(cuda)
    return found


def _same(toolkit: Version, cuda: Version) -> bool:
    if cuda.major <= _BY_MINOR or toolkit.major <= _BY_MINOR:
        return series(toolkit) == series(cuda)
    return toolkit.major == cuda.major
