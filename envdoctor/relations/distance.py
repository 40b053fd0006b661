"""How far builds of a package are from one of them."""

from __future__ import annotations

from typing import Dict, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.model.build import Build, Value
from envdoctor.model.versions import parse

_MAJOR = 10  # series that a step to another major number counts for

#: Series apart, releases apart, CUDA releases apart, 1 where it is older.
Rank = Tuple[int, ...]


class Distance:
    """How far builds are from one: series apart, releases apart, CUDA apart, older."""

    def __init__(
        self, before: Optional[Build], releases: Sequence[Version], cuda: Optional[Value]
    ) -> None:
        """From `before`, or else from the newest release; `cuda` is the one that is wanted."""
        self.before = before.version if before is not None else None
        self.cuda = cuda
        self.release: Dict[Version, int] = {}
        self.series: Dict[Tuple[int, int], int] = {}
        known = set(releases)
        if self.before is not None:
            known.add(parse(self.before.public))
        self.release = {version: index for index, version in enumerate(sorted(known))}
        for version in sorted(known):
            self.series.setdefault((version.major, version.minor), len(self.series))
        self.newest = max(self.release.values())

    def of(self, after: Build) -> Rank:
        """The distance of a build; zero for the same release with the same CUDA."""
        old, new = self.before, after.version
        if new is None:
            return (0, 0, 0, 0)
        steps = apart = 0
        if old is None:
            steps = self.newest - self.release[new]
        else:
            steps = self.release[new] - self.release[parse(old.public)]
            apart = abs(self.series[new.major, new.minor] - self.series[old.major, old.minor])
            apart += _MAJOR * abs(new.major - old.major)
        cuda = after.attributes.get("cuda")
        toolkits = 0
        if isinstance(self.cuda, Version) and isinstance(cuda, Version):
            toolkits = abs(100 * (self.cuda.major - cuda.major) + self.cuda.minor - cuda.minor)
        return (apart, abs(steps), toolkits, int(steps < 0))
