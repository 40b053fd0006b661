"""What two components cost together though nothing forbids it."""

from __future__ import annotations

import copy
from typing import Dict, Iterator, List, Mapping, Sequence, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build, Value
from envdoctor.relations.components import PYTHON
from envdoctor.relations.observe import is_source
from envdoctor.resolver.related import Variable
from envdoctor.resolver.search import Constraint, Marks, Price

#: A wheel that was planned and that nobody has seen is that many steps from a tested one.
UNSEEN = 3


class Dear(Constraint):
    """Values of one variable that cost something beside values of another."""

    def __init__(self, key: str, steps: int, one: int, other: int, masks: Sequence[int]) -> None:
        """`masks` has for each value of `other` the values of `one` that are dear beside it."""
        self.key = key
        self.steps = steps
        self.one, self.other = one, other
        self.scope = tuple(sorted((one, other)))
        self.masks = list(masks)
        self.cost = 0
        distinct = list(dict.fromkeys(masks))
        self._numbers = [distinct.index(mask) for mask in masks]
        self._distinct = distinct

    def at(self, step: int) -> Dear:
        """The same where a step costs so much."""
        other = copy.copy(self)
        other.cost = self.steps * step
        return other

    def marks(self, chosen: Mapping[int, int], free: int, mask: int) -> Marks:
        """The values that cost something beside the other one."""
        if free == self.one:
            dear = self.masks[chosen[self.other]] & mask
        else:
            bit = 1 << chosen[self.one]
            dear = sum(1 << n for n, values in enumerate(self.masks) if values & bit) & mask
        return Marks(0, (Price(self.key, self.cost, dear),) if dear else ())

    def kind(self, variable: int, value: int) -> int:
        """Which of the other's values it is dear beside."""
        if variable == self.other:
            return self._numbers[value]
        return sum((values >> value & 1) << n for n, values in enumerate(self._distinct))


def unlike(
    variables: Sequence[Variable], number: Mapping[str, int], knowledge: Knowledge
) -> Iterator[Dear]:
    """Builds for another CUDA than that of the framework that they are compiled against."""
    for place, variable in enumerate(variables):
        package = knowledge.packages.get(variable.name)
        if package is None or package.is_framework or "cuda" not in package.variant:
            continue
        own = _by_cuda(variable)
        every = sum(own.values())
        for name in package.requires:
            if name not in number or not knowledge.packages[name].is_framework:
                continue
            theirs = (_cuda(value) for value in variables[number[name]].values)
            masks = [every & ~own.get(cuda, 0) if cuda else 0 for cuda in theirs]
            yield Dear(f"cuda:{variable.name}:{name}", 1, place, number[name], masks)


def unseen(variables: Sequence[Variable], number: Mapping[str, int]) -> Iterator[Dear]:
    """Wheels for a Python for which they were planned, and nobody has seen them."""
    pythons = variables[number[PYTHON]].values
    for place, variable in enumerate(variables):
        masks = []
        for python in pythons:
            tag = python.attributes.get("tag") if isinstance(python, Build) else None
            unseen_ = [n for n, v in enumerate(variable.values) if _is_unseen(v, tag)]
            masks.append(sum(1 << n for n in unseen_))
        if any(masks):
            yield Dear(f"unseen:{variable.name}", UNSEEN, place, number[PYTHON], masks)


def _is_unseen(value: Value, tag: object) -> bool:
    if not isinstance(value, Build) or is_source(value):
        return False
    proven, planned = value.attributes.get("proven"), value.attributes.get("python")
    if not isinstance(proven, tuple) or not isinstance(planned, tuple):
        return False
    return tag in planned and tag not in proven


def _cuda(value: Value) -> Tuple[int, ...]:
    cuda = value.attributes.get("cuda") if isinstance(value, Build) else None
    return cuda.release[:2] if isinstance(cuda, Version) else ()


def _by_cuda(variable: Variable) -> Dict[Tuple[int, ...], int]:
    found: Dict[Tuple[int, ...], int] = {}
    positions: List[Tuple[int, Tuple[int, ...]]] = [
        (n, _cuda(value)) for n, value in enumerate(variable.values)
    ]
    for position, cuda in positions:
        if cuda:
            found[cuda] = found.get(cuda, 0) | 1 << position
    return found
