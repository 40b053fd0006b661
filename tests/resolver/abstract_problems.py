"""Random problems of the search that mean nothing, small enough to try everything."""

from __future__ import annotations

import itertools
import random
from typing import Dict, List, Mapping, Sequence, Tuple

from oracle_clingo import BASE, Row, Table

from envdoctor.resolver.search import Constraint, Marks, Price, Problem


class Listed(Constraint):
    """A constraint that is a list of what it says of each combination of kinds."""

    def __init__(self, table: Table, purse: str = "") -> None:
        self.table = table
        self.scope = table.scope
        self.purse = purse
        self.said = {row.kinds: row for row in table.rows}

    def marks(self, chosen: Mapping[int, int], free: int, mask: int) -> Marks:
        rejected = 0
        prices: Dict[Tuple[str, int], int] = {}
        for value in range(mask.bit_length()):
            if not mask >> value & 1:
                continue
            row = self.said.get(
                tuple(
                    kinds[value if variable == free else chosen[variable]]
                    for variable, kinds in zip(self.scope, self.table.kinds)
                )
            )
            if row is None:
                continue
            if row.is_forbidden:
                rejected |= 1 << value
            for price in row.prices:
                prices[price] = prices.get(price, 0) | 1 << value
        return Marks(rejected, tuple(Price(*price, values) for price, values in prices.items()))

    def kind(self, variable: int, value: int) -> int:
        return self.table.kinds[self.scope.index(variable)][value]


def written(
    constraint: Constraint, domains: Mapping[int, Sequence[int]], sizes: Sequence[int]
) -> Table:
    """The table of a constraint."""
    assert isinstance(constraint, Listed)
    return constraint.table


def abstract_problem(seed: int) -> Problem:
    """The problem of a seed."""
    dice = random.Random(seed)
    sizes = [dice.choice((1, 2, 2, 3, 3, 4, 6)) for _ in range(dice.randint(3, 8))]
    while len(sizes) > 6 and _product(sizes) > 4_000:
        sizes.pop()
    density = dice.choice((0.1, 0.2, 0.35, 0.5))
    asked = dice.choice((0.0, 0.1, 0.4))  # how often something has to be bought
    steps = dice.choice(((0,), (0, 1), (0, 1, 2, 5), (0, 1, BASE, BASE + 2)))
    purses = {
        purse: [(f"{purse} {n}", dice.choice(steps) + dice.choice((0, 1))) for n in range(number)]
        for purse, number in (("a", 1), ("b", 2))
    }
    constraints: List[Constraint] = []
    for number in range(dice.randint(1, 2 * len(sizes))):
        scope = tuple(sorted(dice.sample(range(len(sizes)), dice.choice((1, 2, 2, 2, 3)))))
        kinds = tuple(_kinds(dice, sizes[variable]) for variable in scope)
        purse = dice.choice(("", "", "a", "b"))
        offers = purses.get(purse, [(f"alone {number}", dice.choice(steps) + 1)])
        rows = []
        for combination in itertools.product(*(sorted(set(of)) for of in kinds)):
            if dice.random() < density:
                rows.append(Row(combination, True))
            elif dice.random() < asked:
                bought = dice.sample(offers, dice.randint(1, len(offers)))
                rows.append(Row(combination, False, tuple(bought)))
        constraints.append(Listed(Table(scope, kinds, tuple(rows)), purse))
    order = list(range(len(sizes)))
    dice.shuffle(order)
    levels = tuple(_levels(dice, size, steps) for size in sizes)
    domains = tuple((1 << size) - 1 for size in sizes)
    return Problem(domains, levels, tuple(constraints), tuple(order))


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def _kinds(dice: random.Random, size: int) -> Tuple[int, ...]:
    """Kinds of values; often some are told apart from none other."""
    if dice.random() < 0.5:
        return tuple(range(size))
    return tuple(dice.randrange(size) for _ in range(size))


def _levels(dice: random.Random, size: int, steps: Sequence[int]) -> Tuple[Tuple[int, int], ...]:
    levels: Dict[int, int] = {}
    for value in range(size):
        cost = dice.choice(steps)
        levels[cost] = levels.get(cost, 0) | 1 << value
    return tuple(sorted(levels.items()))
