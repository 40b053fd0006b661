"""Random requests on the real matrices: packages of the profiles, pins, machines, targets."""

from __future__ import annotations

import functools
import random
from typing import Dict, NamedTuple, Tuple

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.knowledge.profiles import profiles
from envdoctor.model.facts import Facts, Machine, seen
from envdoctor.model.resolution import CRITERIA, IMAGE, VENV
from envdoctor.relations.assume import assume
from envdoctor.relations.components import PYTHON
from envdoctor.relations.judge import Relations
from envdoctor.resolver.request import PROFILE, USER, Pin, Request
from envdoctor.resolver.solver import Solver
from envdoctor.resolver.space import Space
from envdoctor.resolver.world import World

GPUS = ("v100", "t4", "rtx3090", "a100", "rtx4090", "l40s", "h100", "h200", "rtx5090")
DRIVERS = ("450.80.02", "470.57.02", "535.129.03", "580.65.06")
TOOLS = (
    ("glibc=2.31", "gcc=9", "toolkit=11.1"),
    ("glibc=2.35", "gcc=11", "toolkit=11.8"),
    ("glibc=2.35", "gcc=12", "toolkit=12.8"),
    ("glibc=2.27", "gcc=7"),
    (),
)
NOWHERE = Facts(machine=Machine(architecture=seen("x86_64", "the tests")))


@functools.lru_cache(maxsize=None)
def knowledge() -> Knowledge:
    return load()


@functools.lru_cache(maxsize=None)
def relations() -> Relations:
    return Relations(knowledge())


@functools.lru_cache(maxsize=None)
def packages() -> Tuple[str, ...]:
    """Those of the matrices that profiles pin."""
    named = {name for profile in profiles() for name in profile.pins}
    return tuple(sorted(named & set(knowledge().packages)))


class Asked(NamedTuple):
    request: Request
    machine: Tuple[str, ...]


def asked(seed: int) -> Asked:
    """The request of a seed, and the machine that it is for."""
    dice = random.Random(seed)
    names = dice.sample(packages(), dice.randint(2, min(6, len(packages()))))
    pins = [_pin(dice, name) for name in names]
    if dice.random() < 0.4:
        series = dice.choice(("3.7", "3.8", "3.9", "3.10", "3.11"))
        pins.append(Pin(PYTHON, f"=={series}.*", source="python", by=_by(dice)))
    if dice.random() < 0.2:
        pins.append(_pin(dice, dice.choice(names)))
    target = dice.choice((IMAGE, VENV))
    machine = [f"gpu={dice.choice(GPUS)}", f"driver={dice.choice(DRIVERS)}"]
    if target == VENV:
        machine += dice.choice(TOOLS)
    prefer = list(CRITERIA)
    if dice.random() < 0.3:
        dice.shuffle(prefer)
    request = Request("", tuple(pins), target, no_source=dice.random() < 0.2, prefer=tuple(prefer))
    return Asked(request, tuple(machine))


def _by(dice: random.Random) -> str:
    return dice.choice((PROFILE, PROFILE, USER))


def _pin(dice: random.Random, name: str) -> Pin:
    package = knowledge().packages[name]
    release = str(dice.choice(package.releases))
    specifier = dice.choice(("", "", f"=={release}", f">={release}", f"<={release}"))
    variant: Dict[str, str] = {}
    if package.is_framework and dice.random() < 0.3:
        variant["cuda"] = dice.choice(("10.2", "11.1", "11.8", "12.1", "12.8"))
    return Pin(name, specifier, variant, f"line of {name}", _by(dice))


def space(one: Asked) -> Space:
    facts = assume(NOWHERE, one.machine, knowledge())
    world = World(facts, knowledge(), one.request.target)
    return Space(one.request, world, relations())


def solver(one: Asked) -> Solver:
    return Solver(space(one))
