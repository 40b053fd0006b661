"""What a profile asks for: its pins, with what it adds to the matrices."""

from __future__ import annotations

from envdoctor.knowledge.load import Knowledge, extended
from envdoctor.knowledge.profiles import Profile, expect_known
from envdoctor.model.resolution import IMAGE, Override
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

    With what it adds to them, and without the relations that it sets aside where its authors
    contradict themselves. Raises DocumentError.
    """
    found = extended(knowledge, profile.held)
    if profile.theirs:  # what ships is held to it by the tests
        from envdoctor.rules.added import examine_packages

        expect_known(profile, found)
        examine_packages(found, profile.packages)
    waived = [one for override in profile.overrides for one in override.waives]
    return extended(found, (), waived) if waived else found
