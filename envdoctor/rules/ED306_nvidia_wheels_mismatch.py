"""NVIDIA's wheels beside torch are not those that this torch pins."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Tuple

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.rules.lookup import evidence, fix, imported, label, listed, pip
from envdoctor.rules.requirements import applies, environment, meets, parse
from envdoctor.rules.rule import Context, Fault

# Libraries whose file name is the same for every CUDA major, so that two wheels overwrite each
# other; of the rest, libcublas.so.11 and .12 lie side by side.
_SAME_FILES = ("cudnn", "cusparselt", "nccl", "nvshmem")
_PER_MAJOR = re.compile(r"nvidia-(?P<library>[a-z]+)-cu(?P<major>\d+)")


def examine(context: Context) -> Iterator[Fault]:
    """Report wheels at other versions than the pinned ones, and of two CUDA majors."""
    installed = imported(context.target)
    torch = installed.get("torch")
    if torch is None:
        return
    known = environment(context.facts, context.target)
    pins: Dict[str, str] = {}
    for text in torch.requires:
        requirement = parse(text)
        if requirement and requirement.name.startswith("nvidia-") and applies(requirement, known):
            pins[requirement.name] = requirement.specifier
    wrong = [
        (installed[name], pin)
        for name, pin in pins.items()
        if name in installed and pin and meets(installed[name].version, pin) is False
    ]
    if wrong:
        yield _other_versions(context, torch, wrong)
    double = list(_of_two_majors(pins, installed))
    if double:
        yield _overwritten(context, torch, double)


def _of_two_majors(
    pins: Dict[str, str], installed: Dict[str, Distribution]
) -> Iterator[Tuple[Distribution, Distribution]]:
    for name, other in installed.items():
        match = _PER_MAJOR.fullmatch(name)
        if match is None or match["library"] not in _SAME_FILES or name in pins:
            continue
        for pinned in pins:
            own = _PER_MAJOR.fullmatch(pinned)
            if own and own["library"] == match["library"] and pinned in installed:
                yield installed[pinned], other


def _other_versions(
    context: Context, torch: Distribution, wrong: List[Tuple[Distribution, str]]
) -> Fault:
    exact = [f"{d.name}{pin}" for d, pin in wrong]
    return Fault(
        component=label(torch),
        fields={
            "torch": label(torch),
            "wrong": listed(f"{label(d)} ({pin})" for d, pin in wrong),
        },
        evidence=tuple(
            e
            for d, pin in wrong
            for e in (evidence(d), Evidence(label(torch), f"requires {d.name}{pin}", torch.path))
        ),
        fixes=fix(pip(context.target, "install", *exact)),
    )


def _overwritten(
    context: Context, torch: Distribution, double: List[Tuple[Distribution, Distribution]]
) -> Fault:
    extra = list(dict.fromkeys(other.name for _, other in double))
    owns = list(dict.fromkeys(f"{own.name}=={own.version}" for own, _ in double))
    return Fault(
        component=label(torch),
        words="majors",
        fields={
            "torch": label(torch),
            "others": listed(label(other) for _, other in double),
            "own": listed(label(own) for own, _ in double),
        },
        evidence=tuple(evidence(d) for pair in double for d in pair),
        fixes=fix(
            pip(context.target, "uninstall", "-y", *extra),
            pip(context.target, "install", "--force-reinstall", "--no-deps", *owns),
        ),
    )
