"""The search against clingo and against trying everything, on problems that mean nothing."""

from __future__ import annotations

from typing import Dict, Tuple

import pytest
from abstract_problems import Listed, abstract_problem, written
from oracle_clingo import Row, Table, ask, cost_at, costs_of, everything, tables

from envdoctor.resolver.search import Problem, Solution, solve

pytestmark = pytest.mark.answers

#: Problems a test; a failure names its seed.
BATCH = 250


def cost_of(problem: Problem) -> object:
    solution = solve(problem).solution
    return None if solution is None else solution.cost


@pytest.mark.parametrize("batch", range(8))
def test_the_least_cost_is_what_clingo_finds(batch: int) -> None:
    solved = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        problem = abstract_problem(seed)
        expected = ask(problem, written).cost
        assert cost_of(problem) == expected, seed
        solved += expected is not None
    assert BATCH / 10 < solved < BATCH


@pytest.mark.parametrize("batch", range(4))
def test_the_least_cost_is_that_of_trying_everything(batch: int) -> None:
    for seed in range(100_000 + batch * BATCH, 100_000 + (batch + 1) * BATCH):
        problem = abstract_problem(seed)
        assert cost_of(problem) == everything(problem, written).cost, seed


def test_a_solution_costs_what_it_says() -> None:
    """Its values break nothing, and what is bought is what they ask for, once."""
    for seed in range(200_000, 200_000 + BATCH):
        problem = abstract_problem(seed)
        outcome = solve(problem)
        every = tables(problem, written)
        said = [{row.kinds: row for row in table.rows} for table in every]
        assert outcome.proved, seed
        if outcome.solution is None:
            continue
        found = cost_at(outcome.solution.values, costs_of(problem), every, said)
        assert outcome.solution.cost == found, seed
        asked: Dict[str, int] = {}
        for table, rows in zip(every, said):
            kinds = tuple(
                of[outcome.solution.values[variable]]
                for variable, of in zip(table.scope, table.kinds)
            )
            if kinds in rows:
                asked.update(rows[kinds].prices)
        assert sorted(outcome.solution.bought) == sorted(asked), seed


def test_any_solution_is_found_if_there_is_one() -> None:
    for seed in range(300_000, 300_000 + BATCH):
        problem = abstract_problem(seed)
        first = solve(problem, first=True).solution
        assert (first is None) == (cost_of(problem) is None), seed


def test_what_took_values_away_suffices_to_prove_that_there_is_no_solution() -> None:
    for seed in range(400_000, 400_000 + BATCH):
        problem = abstract_problem(seed)
        outcome = solve(problem, first=True)
        if outcome.solution is None:
            less = problem._replace(constraints=outcome.used)
            assert everything(less, written).cost is None, seed


def test_a_constraint_more_makes_no_solution_and_none_cheaper() -> None:
    for seed in range(500_000, 500_000 + BATCH):
        problem = abstract_problem(seed)
        with_all = solve(problem).solution
        for left_out in problem.constraints:
            less = problem._replace(
                constraints=tuple(c for c in problem.constraints if c is not left_out)
            )
            without = solve(less).solution
            if with_all is not None:
                assert without is not None, seed
                assert without.cost <= with_all.cost, seed


def test_the_order_of_constraints_does_not_change_the_cost() -> None:
    for seed in range(600_000, 600_000 + BATCH):
        problem = abstract_problem(seed)
        backwards = problem._replace(constraints=problem.constraints[::-1])
        assert cost_of(backwards) == cost_of(problem), seed


Prices = Dict[Tuple[int, ...], Tuple[str, int]]


Prices = Dict[Tuple[int, ...], Tuple[str, int]]


Prices = Dict[Tuple[int, ...], Tuple[str, int]]


def priced(scope: Tuple[int, ...], prices: Prices, purse: str = "all") -> Listed:
    """What forbids nothing, and asks for (key, cost) in some combinations."""
    rows = tuple(Row(kinds, False, (price,)) for kinds, price in prices.items())
    return Listed(Table(scope, ((0, 1),) * len(scope), rows), purse)


def test_what_two_need_is_paid_once() -> None:
    """The first's second value costs 1 and a patch of 5, which the other needs as well.

    Its first value costs nothing, and 3 beside any value of the other, which pays the patch.
    """
    patch, more = ("patch", 5), ("more", 3)
    asking = (
        priced((0,), {(1,): patch}),
        priced((1,), {(0,): patch, (1,): patch}),
        priced((0, 1), {(0, 0): more, (0, 1): more}, purse=""),
    )
    problem = Problem((3, 3), (((0, 0b01), (1, 0b10)), ((0, 0b11),)), asking, (0, 1))
    assert solve(problem).solution == Solution((1, 0), 6, ("patch",))


def test_of_values_that_cost_the_same_one_buys_what_the_rest_needs() -> None:
    patch = ("patch", 5)
    asking = (
        priced((0,), {(0,): ("alone", 5)}, purse=""),
        priced((0,), {(1,): patch}),
        priced((1,), {(0,): patch, (1,): patch}),
    )
    problem = Problem((3, 3), (((0, 0b11),), ((0, 0b11),)), asking, (0, 1))
    assert solve(problem).solution == Solution((1, 0), 5, ("patch",))
