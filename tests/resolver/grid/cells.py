"""The answers for five models on nine GPUs under four drivers, in classes of equal answers."""

from __future__ import annotations

import textwrap
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from envdoctor.knowledge.load import load
from envdoctor.knowledge.profiles import load_profile
from envdoctor.model.facts import Facts, Machine, seen
from envdoctor.model.resolution import IMAGE, IMPOSSIBLE, RELAXED, SOLVED
from envdoctor.relations.assume import assume
from envdoctor.relations.judge import Relations
from envdoctor.resolver.members import members
from envdoctor.resolver.solver import Found, Solver
from envdoctor.resolver.space import Space
from envdoctor.resolver.stated import request_of, with_profile
from envdoctor.resolver.telling import Telling
from envdoctor.resolver.world import World

MODELS = ("gaussianformer", "maptr", "petrv2", "qcnet", "sparsedrive")
GPUS = ("v100", "t4", "rtx3090", "a100", "rtx4090", "l40s", "h100", "h200", "rtx5090")
DRIVERS = ("450.80.02", "470.57.02", "535.129.03", "580.65.06")
#: Nothing is known of the machine beside its GPU and its driver.
NOWHERE = Facts(machine=Machine(architecture=seen("x86_64", "the grid")))

Cell = Tuple[str, str]


class Answer(NamedTuple):
    """What is told of a cell."""

    status: str
    stack: Tuple[str, ...]
    patches: Tuple[str, ...]
    criteria: Tuple[str, ...]
    cores: Tuple[Tuple[str, ...], ...]


class Grid:
    """The cells of one model; what relations say is shared by all of them."""

    def __init__(self, model: str) -> None:
        profile = load_profile(model)
        self.knowledge = with_profile(load(), profile)
        self.request = request_of(profile, IMAGE)
        self.solvers: Dict[Cell, Solver] = {}
        self.space: Optional[Space] = None
        self.stacks: Dict[Cell, Optional[Found]] = {}
        self.words: Dict[Cell, Tuple[str, ...]] = {}

    def solver(self, gpu: str, driver: str) -> Solver:
        if (gpu, driver) not in self.solvers:
            settings = (f"gpu={gpu}", f"driver={driver}")
            facts = assume(NOWHERE, settings, self.knowledge)
            world = World(facts, self.knowledge, IMAGE, tag=" ".join(settings))
            if self.space is None:
                self.space = Space(self.request, world, Relations(self.knowledge))
            self.solvers[gpu, driver] = Solver(self.space.at(world))
        return self.solvers[gpu, driver]

    def found(self, gpu: str, driver: str) -> Optional[Found]:
        """The stack of a cell."""
        if (gpu, driver) not in self.stacks:
            solver = self.solver(gpu, driver)
            self.stacks[gpu, driver] = solver.best(solver.soft)
        return self.stacks[gpu, driver]

    def answer(self, gpu: str, driver: str) -> Answer:
        solver, found = self.solver(gpu, driver), self.found(gpu, driver)
        stack: Tuple[str, ...] = ()
        criteria: Tuple[str, ...] = ()
        status = IMPOSSIBLE
        if found is not None:
            listed = members(found, solver.space)
            stack = tuple(f"{m.component} {m.version}{_mark(m.origin, m.tree)}" for m in listed)
            costs = solver.scale.unpack(found.solution.cost)
            criteria = tuple(f"{one.name} {_told(one.value)}" for one in costs)
            status = RELAXED if costs[0].value else SOLVED
        cores: Tuple[Tuple[str, ...], ...] = ()
        if status != SOLVED:
            telling = Telling(solver)
            told = [telling.core(core) for core in solver.cores().found]
            cores = tuple(tuple(member.id for member in core.members) for core in told)
            self.words[gpu, driver] = tuple(core.words for core in told)
        return Answer(status, stack, found.patches if found else (), criteria, cores)

    def classes(self) -> List[Tuple[Answer, List[Cell]]]:
        """The answers that differ, each with its cells."""
        found: Dict[Answer, List[Cell]] = {}
        for gpu in GPUS:
            for driver in DRIVERS:
                answer = self.answer(gpu, driver)
                alike = answer._replace(cores=tuple(map(of_any_gpu, answer.cores)))
                found.setdefault(alike, []).append((gpu, driver))
        return list(found.items())

    def table(self) -> str:
        """All classes, as text that a reader can check."""
        return "\n".join(line for one in self.classes() for line in self._lines(*one)) + "\n"

    def _lines(self, answer: Answer, cells: List[Cell]) -> Iterator[str]:
        yield f"{answer.status}"
        for gpu in dict.fromkeys(gpu for gpu, _ in cells):
            drivers = [driver for one, driver in cells if one == gpu]
            yield f"  on {gpu}: {', '.join(drivers)}"
        for title, texts in (
            ("stack", answer.stack),
            ("patches", answer.patches),
            ("criteria", answer.criteria),
        ):
            if texts:
                yield from _wrapped(f"  {title}: {'; '.join(texts)}")
        for core in answer.cores:
            yield from _wrapped(f"  core: {', '.join(core)}")
        words = self.words.get(cells[0], ("every pin holds, and nothing else is broken by it",))
        for text in words:
            yield from _wrapped(f"  why: {text}")
        yield ""


def _wrapped(text: str) -> List[str]:
    return textwrap.wrap(
        text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _told(value: object) -> str:
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _mark(origin: str, tree: str) -> str:
    return " (tree)" if tree else " (source)" if origin == "source" else ""


def of_any_gpu(core: Tuple[str, ...]) -> Tuple[str, ...]:
    """A core in which the GPU is not named: cells of different ones are compared."""
    return tuple("gpu" if member.startswith("gpu:") else member for member in core)
