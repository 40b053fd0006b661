"""Which builds of a package fit a world, asked of many worlds that differ by little.

An answer is kept for as long as nothing changes that the relation reads. Sets of builds are numbers
here: bit n stands for the n-th build.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple

from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.relations.judge import Bound, Domain, Relations, Verdict, groups, key, verdicts

World = Mapping[str, Domain]


class Answer(NamedTuple):
    """What one relation says of several builds."""

    rejected: int
    unsure: int  # something is not known of these builds, rather than of what is beside them


class Fit:
    """Asks the relations of builds. The tuples of builds it is given are to stay as they are."""

    def __init__(self, relations: Relations, accelerator: str) -> None:
        """`accelerator` is the vendor of the machine's accelerator, as in `judge`."""
        self.relations = relations
        self.accelerator = accelerator
        self._numbers: Dict[object, int] = {}
        self._views: Dict[Tuple[int, Tuple[str, ...]], Tuple[Domain, int]] = {}
        self._groups: Dict[Tuple[int, Tuple[str, ...]], Tuple[Domain, List[Tuple[Build, int]]]] = {}
        self._answers: Dict[Tuple[int, int, Tuple[int, ...]], Answer] = {}
        self._bound: Dict[str, Tuple[Bound, ...]] = {}

    def of(self, name: str) -> Tuple[Bound, ...]:
        """The relations of a package that speak of this machine."""
        if name not in self._bound:
            self._bound[name] = tuple(
                bound
                for bound in self.relations.of(name)
                if not bound.relation.accelerator
                or self.accelerator in ("", bound.relation.accelerator)
            )
        return self._bound[name]

    def ask(self, bound: Bound, builds: Tuple[Value, ...], world: World) -> Answer:
        """What a relation says of `builds` beside the other packages of a world."""
        seen = tuple(self._view(world, component, names) for component, names in _others(bound))
        own = id(builds)
        if len(builds) == 1:
            own = self.view(builds, (*bound.reads["self"], "version"))
        asked = (id(bound), own, seen)
        if asked not in self._answers:
            self._answers[asked] = self._answer(bound, builds, world)
        return self._answers[asked]

    def view(self, builds: Domain, names: Tuple[str, ...]) -> int:
        """A number that is equal for domains which these attributes do not tell apart."""
        known = self._views.get((id(builds), names))
        if known is None:
            what = tuple(
                dict.fromkeys(
                    (type(v), getattr(v, "component", ""), *key(v, names)) for v in builds
                )
            )
            known = (builds, self._numbers.setdefault(what, len(self._numbers)))
            self._views[id(builds), names] = known
        return known[1]

    def _view(self, world: World, component: str, names: Tuple[str, ...]) -> int:
        return self.view(world.get(component, _NOTHING), names)

    def _answer(self, bound: Bound, builds: Tuple[Value, ...], world: World) -> Answer:
        rejected = unsure = 0
        decided = False
        members = self._members(builds, bound.reads["self"])
        said = verdicts(bound, [build for build, _ in members], world)
        for (_, bits), (_, verdict, _) in zip(members, said):  # each is a group of its own
            if verdict is Verdict.FAILS:
                rejected |= bits
            elif verdict is Verdict.UNDECIDED:
                unsure |= bits
            decided = decided or verdict in (Verdict.FAILS, Verdict.HOLDS)
        if not decided or any(_is_unknown(world.get(c, _NOTHING)) for c in bound.components):
            unsure = 0  # it would be unknown of any build
        return Answer(rejected, unsure)

    def _members(
        self, builds: Tuple[Value, ...], names: Tuple[str, ...]
    ) -> Sequence[Tuple[Build, int]]:
        known = self._groups.get((id(builds), names))
        if known is None:
            position = {id(build): 1 << n for n, build in enumerate(builds)}
            found = [
                (group[0], sum(position[id(build)] for build in group))
                for group in groups([b for b in builds if isinstance(b, Build)], names)
            ]
            known = (builds, found)
            self._groups[id(builds), names] = known
        return known[1]


_NOTHING: Domain = (ABSENT,)


def _others(bound: Bound) -> List[Tuple[str, Tuple[str, ...]]]:
    read = [(c, names) for c, names in bound.reads.items() if c != "self"]
    return [*read, *((c, ("version",)) for c in sorted(bound.asked))]


def _is_unknown(domain: Domain) -> bool:
    return all(isinstance(value, Unknown) for value in domain)
