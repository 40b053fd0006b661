"""What a plain version says of a reported package: that it is the file that PyPI has.

PyTorch's own pages mark their builds (+cu118), PyPI's and those of distributions have no mark. So
beside a torch of such a page a plain torchvision is PyPI's, for the CUDA that PyPI's is for, unless
somebody compiled it under that version: likely, not certain.
"""

from __future__ import annotations

import re
from typing import Optional, Tuple

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.facts import Distribution, Facts
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import local_part
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Relations, judge
from envdoctor.relations.observe import Observation, kind
from envdoctor.rules.lookup import label
from envdoctor.rules.rule import Context, Fault

#: How a build is installed that needs no page of its own.
_FROM_PYPI = "{name}=={version}"
#: The processors that are meant where a report does not tell: conda's builds for CUDA.
_USUAL = "x86_64"
#: Lists that state the version of the metadata; what a module says of itself may lack the mark.
_LISTS = re.compile(r"pip\b|collect_env \[pip|uv\b|poetry\b")


def presumed(context: Context, name: str) -> Optional[Fault]:
    """The fault that `name` has for another CUDA than torch's if one of the two is PyPI's."""
    target = context.target
    if target.python or target.asked is not None or context.facts.machine.os.unknown in _OTHERS:
        return None
    installed = imported(target)
    ours, torch = installed.get(name), installed.get("torch")
    if ours is None or torch is None:
        return None
    domains = dict(context.observed.domains)
    if _is_plain(ours):
        plain = name
    elif _is_plain(torch) and local_part(ours.version) and _cuda(domains["torch"]) is None:
        plain = "torch"
    else:
        return None
    relations = Relations(context.knowledge)
    if judge(relations, name, domains, context.observed.accelerator).violations:
        return None  # wrong whatever it is
    beside = domains["torch" if plain == name else name]
    domains[plain] = _of_pypi(domains[plain], beside)
    mine, its = _cuda(domains[name]), _cuda(domains["torch"])
    found = judge(relations, name, domains, context.observed.accelerator).violations
    if not found or mine is None or its is None:
        return None
    holder = ours if plain == name else torch
    return Fault(
        component=label(ours),
        severity="warning",
        fields={
            "self": label(ours),
            "torch": f"torch {_label(domains['torch'])}",
            "plain": label(holder),
            "cuda": mine,
            "other": its,
        },
        evidence=(
            Evidence(name, ours.version, ours.path),
            Evidence("torch", torch.version, torch.path),
        ),
    )


def for_cuda(facts: Facts, observed: Observation) -> Optional[Observation]:
    """What is observed, a reported torch of which only the release is known taken for one for CUDA.

    One without CUDA would use no GPU at all. None where this supposes nothing.
    """
    target = facts.target.value
    torch = observed.domains.get("torch", ())
    if target is None or target.python or target.asked is not None or _cuda(torch) is not None:
        return None
    of = facts.machine.architecture.value or _USUAL
    left = tuple(
        build
        for build in torch
        if isinstance(build, Build)
        and kind(build) == "cuda"
        and build.attributes.get("architecture", of) == of
    )
    if not left or facts.machine.os.unknown in _OTHERS or observed.accelerator != "nvidia":
        return None
    return observed._replace(domains={**observed.domains, "torch": left})


#: Where PyPI has other files, of which the matrices do not tell.
_OTHERS = ("the report is of Windows", "the report is of macOS")


def _is_plain(distribution: Distribution) -> bool:
    """Whether pip installed it, under a version without a mark, from nowhere else."""
    by_pip = distribution.installer == "pip" or bool(_LISTS.match(distribution.path))
    marked = local_part(distribution.version) or local_part(distribution.built)
    elsewhere = distribution.direct_url or distribution.editable
    return by_pip and distribution.installer != "conda" and not marked and not elsewhere


def _of_pypi(domain: Tuple[object, ...], beside: Tuple[object, ...]) -> Tuple[Build, ...]:
    """Those of PyPI, for the processors for which there is the other one, which is marked."""
    of = [v.attributes.get("architecture") or _USUAL for v in beside if isinstance(v, Build)]
    return tuple(
        build
        for build in domain
        if isinstance(build, Build)
        and build.attributes.get("install") == _FROM_PYPI
        and build.attributes.get("architecture", _USUAL) in of
    )


def _cuda(domain: Tuple[object, ...]) -> Optional[str]:
    """The one CUDA of all possible builds, "cpu" too; None if it is not known."""
    found = {v.attributes.get("cuda") if isinstance(v, Build) else None for v in domain}
    (cuda,) = found if len(found) == 1 else (None,)
    return str(cuda) if isinstance(cuda, (Version, str)) else None


def _label(domain: Tuple[object, ...]) -> str:
    return next((v.label or str(v.version) for v in domain if isinstance(v, Build)), "")
