"""What a profile asks for: its pins, with what it adds to the matrices."""

from __future__ import annotations

from typing import Tuple

from envdoctor.knowledge.load import Knowledge, extended
from envdoctor.knowledge.profiles import Profile
from envdoctor.model.resolution import IMAGE, Override
from envdoctor.relations.components import PYTHON
from envdoctor.resolver.request import PROFILE, Pin, Request


def request_of(profile: Profile, target: str = IMAGE) -> Request:
    """What a profile states, as a request: of contradictions what it takes instead."""
    return Request(
        title=profile.title,
        pins=tuple(
            Pin(name, pin.version, pin.variant, pin.source, PROFILE, pin.tree)
            for name, pin in profile.pins.items()
        ),
        target=target,
        rest=tuple(entry.line for entry in profile.requirements),
        overrides=tuple(Override(tuple(o.sides), o.take, o.reason) for o in profile.overrides),
        profile=profile.profile,
    )


def with_profile(knowledge: Knowledge, profile: Profile) -> Knowledge:
    """The matrices with the packages that a profile's trees alone hold. Raises DocumentError."""
    return extended(knowledge, profile.held)


def unknown(profile: Profile, knowledge: Knowledge) -> Tuple[str, ...]:
    """Components of a profile's stack that the matrices, with what it adds, do not know."""
    return tuple(n for n in profile.stack if n != PYTHON and n not in knowledge.packages)
