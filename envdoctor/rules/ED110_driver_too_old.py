"""torch said that the driver is too old for it.

A relation says so where the driver and torch's CUDA are known. This rule is for reports that do not
name both, but hold torch's own words.
"""

from __future__ import annotations

from typing import Iterator, Optional

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault

#: Up to here the driver must serve the minor number as well.
_BY_MINOR = 10


def examine(context: Context) -> Iterator[Fault]:
    """Report it, unless the driver serves none of the builds that torch may be: a relation's."""
    accelerator = context.facts.accelerator
    told = accelerator.refused.get("old")
    if told is None or accelerator.vendor.value != "nvidia":
        return
    served = try_parse(accelerator.serves.value or "")
    if served is not None and _serves_none(context, served):
        return
    serves = Evidence("serves CUDA", accelerator.serves.value or "", accelerator.serves.origin)
    yield Fault(
        component=f"driver {accelerator.driver.value or ''}".rstrip(),
        words="served" if served is not None else "",
        fields={"said": told.value or "", "serves": accelerator.serves.value or ""},
        evidence=(
            Evidence("NVIDIA driver", told.value or "", told.origin),
            *((serves,) if served is not None else ()),
        ),
        fixes=fix(),
        verify=("nvidia-smi",),
    )


def _serves_none(context: Context, served: Version) -> bool:
    """Whether every build that torch may be is for a CUDA that the driver does not serve."""
    builds = context.observed.domains.get("torch", ())
    known = [_cuda(build) for build in builds if isinstance(build, Build)]
    return bool(known) and all(cuda is not None and _above(cuda, served) for cuda in known)


def _cuda(build: Build) -> Optional[Version]:
    cuda = build.attributes.get("cuda")
    return cuda if isinstance(cuda, Version) else None


def _above(cuda: Version, served: Version) -> bool:
    return cuda > served if cuda.major <= _BY_MINOR else cuda.major > served.major
