"""What a stack has to satisfy: facts of the machine, pins, relations of the matrices."""

from __future__ import annotations

from typing import NamedTuple

#: A need is that a component is there, a pin is which of its builds.
FACT, PIN, NEED, RELATION, OPTION = "fact", "pin", "need", "relation", "option"


class Requirement(NamedTuple):
    """One requirement, with where it comes from; every rejection names one."""

    id: str  # "gpu:h100", "pin:torch", "mmcv-full/thc"
    kind: str
    text: str  # in words
    source: str
