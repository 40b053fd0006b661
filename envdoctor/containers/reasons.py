"""Why each part of an image is as it is, for the comments of its Dockerfile."""

from __future__ import annotations

import re
from typing import Optional

from envdoctor.knowledge.profiles import Profile
from envdoctor.model.names import canonical
from envdoctor.model.resolution import Resolution
from envdoctor.resolver.lock.written import told


class Reasons:
    """Why each part of an image is as it is: a line of the profile, or an entry of the matrices."""

    def __init__(self, resolution: Resolution, profile: Optional[Profile]) -> None:
        self._resolution = resolution
        self._profile = profile
        self._members = {member.component: member for member in resolution.stack}

    def of(self, name: str) -> str:
        """Why a distribution, "python" or "image" is there in its version, in one line."""
        return told(self._of(name))

    def _of(self, name: str) -> str:
        member = self._members.get(name)
        pin = self._profile.stack.get(name) if self._profile is not None else None
        if member is None:
            return self._asked(name)
        for relaxed in self._resolution.relaxed:
            if canonical(relaxed.pin.partition(" ")[0]) == name:
                because = ", ".join(relaxed.because) or "the rest of the stack"
                return f"{name} {member.version}, not {relaxed.pin}: {because}"
        for override in self._profile.overrides if self._profile is not None else ():
            if override.taken[0] == name:
                sides = " against ".join(override.sides)
                return f"{override.take}: {sides}"
        if pin is not None and pin.version:
            return f"{name} {pin.version}: {self._place(pin.source)}"
        if pin is not None:
            return f"{name}: needed by {self._place(pin.source)}; its release: {member.entry}"
        return f"{name} {member.version}: {member.entry}"

    def _asked(self, name: str) -> str:
        for line in self._profile.requirements if self._profile is not None else ():
            if canonical(re.split(r"[^\w.-]", line.line, maxsplit=1)[0]) == name:
                return f"{line.line}: {self._place(line.source)}"
        return ""

    def _place(self, source: str) -> str:
        """Where a statement stands; one of the tree's with the repository and its commit."""
        found = self._profile.repository if self._profile is not None else None
        if found is None or " " in source:
            return source
        return f"{source} of {found.name} @{found.commit[:8]}"
