"""What a profile asks for: its pins, with what it adds to the matrices."""

from __future__ import annotations

from typing import Tuple

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import Knowledge, extended
from envdoctor.knowledge.profiles import Profile
from envdoctor.model.resolution import IMAGE, Override
from envdoctor.model.text import clean, nearest
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
    """The matrices as a profile has them.

    With the packages that its trees alone hold, and without the relations that it sets aside where
    its authors contradict themselves. Raises DocumentError.
    """
    waived = [one for override in profile.overrides for one in override.waives]
    ids = {relation.id for relation in knowledge.relations}
    for number, override in enumerate(profile.overrides):
        for one in override.waives:
            if one not in ids:
                part = f"overrides[{number}]"
                raise DocumentError(
                    f"{profile.place(part)}: {part}.waives: no relation is called "
                    f"{clean(one)!r}{nearest(one, ids)}"
                )
    return extended(knowledge, profile.held, waived)


def unknown(profile: Profile, knowledge: Knowledge) -> Tuple[str, ...]:
    """Components of a profile's stack that the matrices, with what it adds, do not know."""
    return tuple(n for n in profile.stack if n != PYTHON and n not in knowledge.packages)
