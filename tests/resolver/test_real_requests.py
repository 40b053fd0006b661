"""Random requests on the real matrices: against clingo, and laws that every answer keeps."""

from __future__ import annotations

import random
from typing import List, Optional, Tuple

import pytest
from oracle_clingo import ask, values_of
from oracle_relations import BROKEN, MENDED, Written, says
from random_requests import Asked, asked, solver

from envdoctor.model.build import Build
from envdoctor.model.resolution import CRITERIA, IMAGE
from envdoctor.resolver.request import USER, Pin, Request
from envdoctor.resolver.search import Outcome, Problem, solve
from envdoctor.resolver.solver import Solver
from envdoctor.resolver.space import Patches

pytestmark = pytest.mark.answers

WRITTEN = Written()


def problem_of(one: Solver) -> Problem:
    return one.space.problem(one.every, one.soft, one.scale, patches=Patches.ALL)


def cost_of(outcome: Outcome) -> Optional[int]:
    assert outcome.proved
    return None if outcome.solution is None else outcome.solution.cost


def narrowed(problem: Problem, seed: int) -> Problem:
    """The same with a few values of each variable, so that all combinations can be written out.

    Every other one keeps what the best stack consists of.
    """
    dice = random.Random(seed)
    best = solve(problem).solution if seed % 2 else None
    domains = []
    for number, mask in enumerate(problem.domains):
        values = values_of(mask)
        kept = {*dice.sample(values, min(len(values), dice.choice((4, 8, 12))))}
        if best is not None:
            kept.add(best.values[number])
        domains.append(sum(1 << value for value in kept))
    return problem._replace(domains=tuple(domains))


@pytest.mark.parametrize("batch", range(4))
def test_the_least_cost_is_what_clingo_finds(batch: int) -> None:
    solved = 0
    for seed in range(20 * batch, 20 * (batch + 1)):
        problem = narrowed(problem_of(solver(asked(seed))), seed)
        expected = ask(problem, WRITTEN).cost
        assert cost_of(solve(problem)) == expected, seed
        solved += expected is not None
    assert 4 < solved < 20


def broken(one: Solver, values: Tuple[int, ...], bought: Tuple[str, ...]) -> List[str]:
    """The requirements that a stack breaks, each judged by itself."""
    found = []
    problem = problem_of(one)
    for constraint in problem.constraints:
        related = getattr(constraint, "related", None)
        if related is None or not related.is_hard:
            continue
        chosen = {n: one.space.variables[n].values[values[n]] for n in related.scope}
        said = says(related, chosen, constraint._seen)
        is_patched = said == MENDED and f"patch:{related.bound.relation.waiver}" in bought
        if said in (BROKEN, MENDED) and not is_patched:
            found.append(related.bound.relation.id)
    for id_, (_, number, mask) in one.space.pinned.items():
        if id_ not in one.soft and not mask >> values[number] & 1:
            found.append(id_)
    return found


def test_a_stack_breaks_no_requirement() -> None:
    for seed in range(1_000, 1_020):
        one = solver(asked(seed))
        found = one.best(one.soft)
        if found is not None:
            solution = found.solution
            assert broken(one, solution.values, solution.bought) == [], seed


def test_a_pin_more_makes_no_stack_and_none_better() -> None:
    for seed in range(2_000, 2_010):
        one = asked(seed)
        solved = solver(one)
        best = solved.best(solved.soft)
        if best is None:
            continue
        for id_, (pin, _, _) in solved.space.pinned.items():
            if pin.by == USER:
                less = solved.best(solved.soft, without=frozenset({id_}))
                assert less is not None, seed
                assert not less.proved or less.solution.cost <= best.solution.cost, (seed, id_)


def test_keeping_pins_and_compiling_nothing_make_no_stack() -> None:
    for seed in range(3_000, 3_009):
        one = asked(seed)
        free = solver(one._replace(request=one.request._replace(no_source=False)))
        found = free.best(free.soft)
        components = frozenset(pin.component for pin in one.request.pins)
        for more in (
            one.request._replace(no_source=True),
            one.request._replace(no_source=False, keep=components),
        ):
            strict = solver(one._replace(request=more))
            less = strict.best(strict.soft)
            if less is not None:
                assert found is not None, seed
                assert not found.proved or found.solution.cost <= less.solution.cost, seed


def test_the_weightiest_criterion_is_never_worse_than_in_another_order() -> None:
    for seed in range(4_000, 4_006):
        one = asked(seed)
        least = {}
        costs = []
        for first in CRITERIA:
            prefer = (first, *(name for name in CRITERIA if name != first))
            request = one.request._replace(prefer=prefer)
            solved = solver(one._replace(request=request))
            found = solved.best(solved.soft)
            if found is None:
                continue
            criteria = {c.name: c.value for c in solved.scale.unpack(found.solution.cost)}
            least[first] = criteria[first]
            costs.append(criteria)
        for first, value in least.items():
            assert all(value <= other[first] for other in costs), (seed, first)


def test_cores_are_minimal() -> None:
    """Nothing satisfies a core; without any one member something does; of relations the same."""
    seen = 0
    for seed in range(5_000, 5_030):
        one = solver(asked(seed))
        if one.is_satisfiable(one.every):
            continue
        for core in one.cores().found[:2]:
            beside = one.needs_beside(core)
            assert not one.is_satisfiable(frozenset(core) | beside), (seed, core)
            for member in core:
                less = frozenset(core) - {member} | beside
                assert one.is_satisfiable(less), (seed, core, member)
            relations = one.relations(core)
            assert solve(one.problem_of(core, relations), first=True).solution is None, seed
            for relation in relations:
                fewer = [other for other in relations if other != relation]
                left = solve(one.problem_of(core, fewer), first=True)
                assert left.solution is not None, (seed, core, relation)
            seen += 1
    assert seen > 5


def test_the_order_of_pins_does_not_change_the_stack() -> None:
    for seed in range(6_000, 6_010):
        one = asked(seed)
        backwards = one._replace(request=one.request._replace(pins=one.request.pins[::-1]))
        told = []
        for either in (one, backwards):
            solved = solver(either)
            found = solved.best(solved.soft)
            told.append(
                found
                and (
                    found.solution.cost,
                    sorted(
                        (name, build.label, build.entry) for name, build in found.builds.items()
                    ),
                )
            )
        assert told[0] == told[1], seed


def test_images_are_told_apart_by_what_they_bring() -> None:
    """Of one CUDA there are images of several Ubuntu, each with a glibc of its own."""
    pins = (Pin("torch", source="test"), Pin("flash-attn", source="test"))
    one = solver(Asked(Request("", pins, IMAGE), ("gpu=a100", "driver=580.65.06"))).space
    number = one.number["image"]
    glibc = [v.attributes["glibc"] for v in one.variables[number].values if isinstance(v, Build)]
    speaking = [r for r in one.related if r.bound.relation.id == "host/glibc"]
    assert speaking
    for related in speaking:
        kinds = one.views.of(number, related.names[number])[0]
        assert len(set(kinds)) == len(set(zip(kinds, glibc))) == len(set(glibc))
