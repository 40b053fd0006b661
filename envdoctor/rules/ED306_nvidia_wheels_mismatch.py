"""NVIDIA's wheels beside torch are not those that this torch pins."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Tuple

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence, Fix
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    evidence,
    fix,
    label,
    listed,
    name_of,
    pip,
)
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
    double = list(_of_two_majors(pins, installed))
    fixes = fix(*_commands(context, wrong, double, pins))
    if wrong:
        yield _other_versions(torch, wrong, fixes)
    if double:
        yield _overwritten(torch, double, fixes)


def _commands(
    context: Context,
    wrong: List[Tuple[Distribution, str]],
    double: List[Tuple[Distribution, Distribution]],
    pins: Dict[str, str],
) -> Iterator[str]:
    """One way that mends all: what is foreign goes, what torch asks for is installed, once each."""
    asked = {name_of(d): f"{d.name}{pin}" for d, pin in wrong}
    if not double:
        yield pip(context.target, "install", *asked.values())
        return
    for own, _ in double:
        pin = pins[name_of(own)]
        asked.setdefault(name_of(own), f"{own.name}{pin or f'=={own.version}'}")
    foreign = dict.fromkeys(other.name for _, other in double)
    yield pip(context.target, "uninstall", "-y", *foreign)
    yield pip(context.target, "install", "--force-reinstall", "--no-deps", *asked.values())


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
    torch: Distribution, wrong: List[Tuple[Distribution, str]], fixes: Tuple[Fix, ...]
) -> Fault:
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
        fixes=fixes,
    )


def _overwritten(
    torch: Distribution,
    double: List[Tuple[Distribution, Distribution]],
    fixes: Tuple[Fix, ...],
) -> Fault:
    return Fault(
        component=label(torch),
        words="majors",
        fields={
            "torch": label(torch),
            "others": listed(label(other) for _, other in double),
            "own": listed(label(own) for own, _ in double),
        },
        evidence=tuple(evidence(d) for pair in double for d in pair),
        fixes=fixes,
    )
