"""Asks the search about one request: best stacks, what can be satisfied, minimal cores."""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from envdoctor.model.build import Build
from envdoctor.resolver.cores import Cores, enumerate_cores, minimal
from envdoctor.resolver.criteria import Scale
from envdoctor.resolver.requirement import FACT, NEED, OPTION, PIN
from envdoctor.resolver.search import Problem, Solution, solve
from envdoctor.resolver.space import Patches, Space
from envdoctor.resolver.world import World

_PATCH = "patch:"
#: Values that are tried at most to find out whether something is satisfiable, and for all of that.
_QUESTION, _QUESTIONS = 8_000, 40_000


class Found(NamedTuple):
    """A stack, what it costs, and whether no better one exists."""

    builds: Mapping[str, Build]
    solution: Solution
    proved: bool

    @property
    def patches(self) -> Tuple[str, ...]:
        """The source patches that it needs."""
        return tuple(k[len(_PATCH) :] for k in self.solution.bought if k.startswith(_PATCH))


class Solver:
    """One space, and the questions about it."""

    def __init__(self, space: Space) -> None:
        """Ask about `space`."""
        self.space = space
        self.scale = Scale(space.request.prefer)
        self.requirements = space.requirements()
        self.every = frozenset(r.id for r in self.requirements)
        self.pins = tuple(r.id for r in self.requirements if r.kind == PIN)
        self.soft = frozenset(
            id_
            for id_, (pin, _, _) in space.pinned.items()
            if pin.soft and pin.component not in space.request.keep
        )
        #: Whether every search so far ended by itself.
        self.is_complete = True
        #: Whether the last search for a best stack did.
        self.is_proved = True
        self._left = _QUESTIONS
        self._satisfied: Dict[Tuple[FrozenSet[str], Patches, int], bool] = {}

    def best(
        self,
        soft: FrozenSet[str] = frozenset(),
        without: FrozenSet[str] = frozenset(),
        patches: Patches = Patches.ALL,
        world: Optional[World] = None,
    ) -> Optional[Found]:
        """The best stack in which all requirements but `soft` and `without` hold."""
        problem = self.space.problem(
            self.every - without, soft, self.scale, patches=patches, world=world
        )
        outcome = solve(problem)
        self.is_proved = outcome.proved
        self.is_complete = self.is_complete and outcome.proved
        if outcome.solution is None:
            return None
        builds = {}
        for variable, value in zip(self.space.variables, outcome.solution.values):
            build = variable.values[value]
            if isinstance(build, Build):
                builds[variable.name] = build
        return Found(builds, outcome.solution, outcome.proved)

    def is_satisfiable(
        self,
        active: FrozenSet[str],
        patches: Patches = Patches.TREES,
        world: Optional[World] = None,
    ) -> bool:
        """Whether something satisfies these requirements."""
        asked = (active, patches, id(world))
        if asked not in self._satisfied:
            problem = self.space.problem(active, patches=patches, world=world)
            outcome = solve(problem, first=True, limit=max(2, min(_QUESTION, self._left)))
            self._left -= outcome.nodes
            proved = outcome.proved or outcome.solution is not None
            self.is_complete = self.is_complete and proved
            # what could not be ruled out is no reason
            self._satisfied[asked] = outcome.solution is not None or not outcome.proved
        return self._satisfied[asked]

    def cores(self) -> Cores:
        """Minimal cores of the facts and pins; of sources the training code's alone are patched.

        That components are there at all is only a member of cores where pins are none.
        """
        fixed = [r.id for r in self.requirements if r.kind in (FACT, OPTION)]
        needs = [r.id for r in self.requirements if r.kind == NEED]
        if not self.is_satisfiable(frozenset((*fixed, *needs))):
            return self._and_others(enumerate_cores(fixed, needs, self.is_satisfiable))
        always = frozenset(needs)
        return self._and_others(
            enumerate_cores(
                fixed,
                self.pins,
                lambda asked: self.is_satisfiable(asked | always),
                self._of_one_component(),
            )
        )

    def _and_others(self, cores: Cores) -> Cores:
        """Cores, of which there may be more where a question was not answered."""
        return cores if self.is_complete else cores._replace(more=True)

    def _of_one_component(self) -> List[Tuple[str, ...]]:
        """Pins that speak of one component, together."""
        found: Dict[int, List[str]] = {}
        for id_, (_, number, _) in self.space.pinned.items():
            found.setdefault(number, []).append(id_)
        return [tuple(ids) for ids in found.values() if len(ids) > 1]

    def relations(self, core: Sequence[str]) -> Tuple[str, ...]:
        """A minimal set of relations that rules a core out."""

        def without(relations: FrozenSet[str]) -> bool:
            outcome = solve(self.problem_of(core, relations), first=True, limit=_QUESTION)
            return outcome.solution is not None or not outcome.proved

        outcome = solve(self.problem_of(core), first=True)
        used = list(dict.fromkeys(filter(None, map(self.space.name_of, outcome.used))))
        return minimal(used, without)

    def problem_of(self, core: Sequence[str], relations: Optional[Iterable[str]] = None) -> Problem:
        """The problem in which nothing but a core holds; `relations` are those that count."""
        active = frozenset(core) | self.needs_beside(core)
        counted = None if relations is None else frozenset(relations)
        return self.space.problem(active, patches=Patches.TREES, relations=counted)

    def needs_beside(self, core: Sequence[str]) -> FrozenSet[str]:
        """That components are there, where a core does not consist of that."""
        needs = frozenset(r.id for r in self.requirements if r.kind == NEED)
        return frozenset() if needs & frozenset(core) else needs
