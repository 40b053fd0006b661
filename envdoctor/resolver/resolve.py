"""`resolve`: the best stack for a request, or the minimal reasons why there is none."""

from __future__ import annotations

from typing import Iterator, List, Optional, Sequence, Tuple

from envdoctor import __version__
from envdoctor.model.build import Build
from envdoctor.model.facts import Facts
from envdoctor.model.language import ENGLISH, say, translate
from envdoctor.model.resolution import (
    HOST,
    IMAGE,
    IMPOSSIBLE,
    RELAXED,
    SOLVED,
    UNKNOWN,
    Core,
    Member,
    Moved,
    Relaxed,
    Resolution,
    Way,
)
from envdoctor.relations.components import DOTTED
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import is_source
from envdoctor.resolver.bounds import bounds
from envdoctor.resolver.cores import Cores
from envdoctor.resolver.members import capabilities, members, told
from envdoctor.resolver.request import Learned, Request
from envdoctor.resolver.requirement import RELATION
from envdoctor.resolver.solver import Found, Solver
from envdoctor.resolver.space import Space
from envdoctor.resolver.telling import Telling
from envdoctor.resolver.ways import Ways
from envdoctor.resolver.world import World


def resolve(
    request: Request,
    facts: Facts,
    relations: Relations,
    learned: Sequence[Learned] = (),
    language: str = ENGLISH,
    bounded: bool = False,
) -> Resolution:
    """The answer for a request on the machine of `facts`.

    With `bounded` it says what the stack allows of all other packages. Raises LookupError for a
    component that the matrices do not know.
    """
    return _Resolving(request, facts, relations, learned, language).answer(bounded)


class _Resolving:
    def __init__(
        self,
        request: Request,
        facts: Facts,
        relations: Relations,
        learned: Sequence[Learned],
        language: str,
    ) -> None:
        self.request, self.facts, self.relations = request, facts, relations
        self.learned, self.language = tuple(learned), language
        self.knowledge = relations.knowledge
        self.world = World(facts, relations.knowledge, request.target)
        self.space = Space(request, self.world, relations, learned)
        self.solver = Solver(self.space)
        self.telling = Telling(self.solver, language)

    def answer(self, bounded: bool) -> Resolution:
        found = self.solver.best(self.solver.soft)
        is_proved = self.solver.is_proved
        dropped = self._dropped(found) if found is not None else []
        cores = Cores((), False)
        if found is None or dropped:
            cores = self.solver.cores()
        told_cores = tuple(self.telling.core(core) for core in cores.found)
        status = IMPOSSIBLE
        if found is not None:
            status = RELAXED if dropped else SOLVED
        stack = members(found, self.space) if found is not None else ()
        return Resolution(
            command="resolve",
            envdoctor_version=__version__,
            matrices_date=self.knowledge.date,
            matrices_added=self.knowledge.added,
            status=status if found is not None or is_proved else UNKNOWN,
            optimal=found is not None and found.proved,
            profile=self.request.profile,
            asked=(self.request.title,) if self.request.profile else self._asked(),
            target=self.request.target,
            machine=tuple(self.telling.text(f.requirement) for f in self.world.facts),
            architectures=capabilities(self.world.values["host.gpu"]),
            stack=stack,
            changes=self._changes(found, stack),
            relaxed=tuple(self._relaxed(id_, found, told_cores) for id_ in dropped if found),
            patches=found.patches if found is not None else (),
            criteria=self.solver.scale.unpack(found.solution.cost) if found is not None else (),
            cores=told_cores,
            more_cores=cores.more,
            idle=self._idle(cores),
            ways=tuple(self._ways(found, cores, told_cores)),
            assumptions=tuple(self._assumptions(found)),
            overrides=self.request.overrides,
            constraints=bounds(found, self.space) if found is not None and bounded else (),
            rest=self.request.rest,
            learned=tuple(one.words for one in self.learned),
            citations=tuple(self.telling.cited.values()),
            language=self.language,
        )

    # --- the stack ---------------------------------------------------------------------------

    def _asked(self) -> Tuple[str, ...]:
        return tuple(str(pin) for pin in self.request.pins)

    def _dropped(self, found: Found) -> List[str]:
        """The pins that the stack does not keep."""
        return [
            id_
            for id_, (_, number, mask) in self.space.pinned.items()
            if not mask >> found.solution.values[number] & 1
        ]

    def _relaxed(self, id_: str, found: Found, cores: Sequence[Core]) -> Relaxed:
        pin, _, _ = self.space.pinned[id_]
        build = found.builds.get(pin.component)
        because = [
            member.id
            for core in cores
            if any(m.id == id_ for m in core.members)
            for member in core.members
            if member.kind == RELATION
        ]
        return Relaxed(
            pin=str(pin),
            to="" if build is None else told(build, self.knowledge),
            because=tuple(dict.fromkeys(because)),
        )

    def _changes(self, found: Optional[Found], stack: Sequence[Member]) -> Tuple[Moved, ...]:
        """What is installed and would be another."""
        if found is None or self.request.target == IMAGE:
            return ()
        moved = []
        for member in stack:
            domain = self.world.observation.domains.get(member.component, ())
            there = next((v for v in domain if isinstance(v, Build)), None)
            build = found.builds[member.component]
            if self.request.target == HOST and not any(v is build for v in domain):
                before = "" if there is None else there.label
                moved.append(Moved(member.component, before, member.version))
        return tuple(moved)

    def _assumptions(self, found: Optional[Found]) -> Iterator[str]:
        """What is not known and was taken to hold."""
        if found is None:
            return
        seen = self.world.seen(frozenset(fact.requirement.id for fact in self.world.facts))
        chosen = found.solution.values
        is_compiled = any(map(is_source, found.builds.values()))
        open_ = [
            related.bound
            for related in self.space.related
            if related.is_hard
            and (is_compiled or related.bound.relation.phase != "build")
            and related.is_left_open(
                {n: self.space.variables[n].values[chosen[n]] for n in related.scope}, seen
            )
        ]
        for component in self.world.unknown():
            asking = [bound for bound in open_ if component in bound.components]
            if asking:
                yield say(
                    self.language,
                    "{what} is not known; {names} asks for it [{ids}]",
                    what=translate(self.language, DOTTED[component]),
                    names=", ".join(dict.fromkeys(bound.owner for bound in asking)),
                    ids=", ".join(dict.fromkeys(bound.relation.id for bound in asking)),
                )

    # --- cores -------------------------------------------------------------------------------

    def _idle(self, cores: Cores) -> Tuple[str, ...]:
        """Facts that play no part in any core; none are named where there may be others."""
        if not cores.found:
            return ()
        used = {id_ for core in cores.found for id_ in core}
        facts = {fact.requirement.id: fact.requirement for fact in self.world.facts}
        if cores.more and not self.solver.is_satisfiable(self.solver.every - (used & set(facts))):
            return ()
        return tuple(self.telling.text(facts[id_]) for id_ in facts if id_ not in used)

    # --- ways out ------------------------------------------------------------------------------

    def _ways(
        self, found: Optional[Found], cores: Cores, told_cores: Sequence[Core]
    ) -> Iterator[Way]:
        if not cores.found:
            return
        ways = Ways(self.solver, cores.found, found is not None, self.language)
        if found is None:
            yield from ways.of_pins()
            yield from ways.of_sources()
            named = [m.id for core in told_cores for m in core.members if m.kind == RELATION]
            if ways.concerns_tools(named):
                yield from self._in_an_image()
        yield from ways.of_machine()

    def _in_an_image(self) -> Iterator[Way]:
        request = self.request._replace(target=IMAGE)
        world = World(self.facts, self.knowledge, IMAGE)
        space = Space(request, world, self.relations, self.learned)
        solver = Solver(space)
        found = solver.best(solver.soft)
        if found is not None:
            image = found.builds["image"].label
            yield Way(
                kind="image",
                summary=say(self.language, "in an image: {image}", image=image),
                stack=members(found, space),
                criteria=solver.scale.unpack(found.solution.cost),
            )
