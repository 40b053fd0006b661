"""A change of packages, plans of changes, and what plans are to reach."""

from __future__ import annotations

import re
from typing import FrozenSet, List, NamedTuple, Optional, Sequence, Set, Tuple

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.versions import cuda_tag
from envdoctor.relations.judge import Bound, Violation

_FIELD = re.compile(r"\{([\w.]+)\}")
#: Fields of `install` that are no attributes.
OWN_FIELDS = ("name", "version")


class Change(NamedTuple):
    """What is there, and the build to put in its place.

    Nothing was there where `before` is None. Where both are one, it is to be compiled again.
    """

    before: Optional[Build]
    after: Build

    @property
    def removed(self) -> str:
        """The package that makes way for another of the same module, "" if none does."""
        if self.before is None or self.before.component == self.after.component:
            return ""
        return self.before.component

    @property
    def compiled_again(self) -> bool:
        """Whether the same sources are to be compiled once more."""
        return self.before is self.after


Plan = Tuple[Change, ...]


class Goal(NamedTuple):
    """What is to be mended: relations of one component; also, what must not stay for the CPU."""

    component: str
    ids: FrozenSet[str] = frozenset()
    bounds: Tuple[Bound, ...] = ()  # the relations that it is about, what else may be changed
    no_cpu: bool = False

    @classmethod
    def of(cls, violation: Violation) -> Goal:
        """That nothing is left of a violation. Information is nothing to mend."""
        bounds = tuple(breach.bound for breach in violation.breaches)
        ids = frozenset(b.relation.id for b in bounds if b.relation.severity != "info")
        return cls(violation.component, ids, bounds)


#: A plan, and the numbers of the goals that it reaches, first the one for which it was made.
Made = Tuple[Plan, List[int]]


def touched_by(plan: Sequence[Change]) -> Set[str]:
    """The packages that a plan changes."""
    return {c.after.component for c in plan} | {c.removed for c in plan if c.removed}


def joined(made: Sequence[Made], plan: Plan, reached: List[int]) -> List[Made]:
    """Plans with one more, which is made one with those that change the same packages."""
    touched = touched_by(plan)
    apart = [one for one in made if not touched & touched_by(one[0])]
    same = [one for one in made if touched & touched_by(one[0])]
    chain = [change for earlier, _ in same for change in earlier]
    for change in plan:
        left = change.before.component if change.before is not None else ""
        came = {old.after.component for old in chain}
        if not change.compiled_again:  # several may make way for one
            met = (left, change.after.component)
            chain = [
                Change(old.before, change.after) if old.after.component in met else old
                for old in chain
            ]
        if left not in came:
            chain.append(change)
    numbers = [number for _, earlier in same for number in earlier]
    return [*apart, (tuple(chain), [*numbers, *reached])]


def requirement_arguments(build: Build) -> Optional[str]:
    """What follows `pip install` for a build of the matrices, None if they do not say."""
    template = build.attributes.get("install")
    if not isinstance(template, str):
        return None

    def fill(match: re.Match[str]) -> str:
        name, _, form = match.group(1).partition(".")
        if name in OWN_FIELDS:
            return build.component if name == "name" else str(build.version)
        value = build.attributes[name]
        if form == "tag" and isinstance(value, Version):
            return cuda_tag(value)
        return str(value)

    return _FIELD.sub(fill, template)
