"""What clingo, a solver of another kind, says of a problem of the search.

Every constraint is written out as a table: which combinations of kinds of values it forbids, and
what it asks for others. The tables come from the data of the constraints, not from their `marks`.
"""

from __future__ import annotations

import itertools
from typing import Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import clingo

from envdoctor.resolver.search import Constraint, Problem

#: Packed costs are read in digits of this base: a weight of clingo has 32 bits.
BASE = 1 << 28


class Row(NamedTuple):
    """A combination of kinds, one for each variable of the scope, and what is said of it."""

    kinds: Tuple[int, ...]
    is_forbidden: bool
    prices: Tuple[Tuple[str, int], ...] = ()  # (key, cost)


class Table(NamedTuple):
    """A constraint written out; of each variable the kind of each value."""

    scope: Tuple[int, ...]
    kinds: Tuple[Sequence[int], ...]
    rows: Tuple[Row, ...]


#: From a constraint, the values that its variables may take, and how many they have, to its table.
Written = Callable[[Constraint, Mapping[int, Sequence[int]], Sequence[int]], Table]


class Answer(NamedTuple):
    """The least cost, None if nothing satisfies the problem, and one choice that has it."""

    cost: Optional[int]
    values: Tuple[int, ...] = ()


def values_of(mask: int) -> List[int]:
    """The numbers of the bits that are set."""
    return [n for n in range(mask.bit_length()) if mask >> n & 1]


def costs_of(problem: Problem) -> List[Dict[int, int]]:
    """Of each variable what each of its values costs by itself."""
    found = []
    for levels in problem.levels:
        costs: Dict[int, int] = {}
        for cost, mask in levels:
            for value in values_of(mask):
                costs.setdefault(value, cost)
        found.append(costs)
    return found


def tables(problem: Problem, written: Written) -> List[Table]:
    """All constraints of a problem, written out for the values that none forbids alone."""
    domains = {n: values_of(mask) for n, mask in enumerate(problem.domains)}
    sizes = [mask.bit_length() for mask in problem.domains]
    alone = [c for c in problem.constraints if len(c.scope) == 1]
    found = [written(constraint, domains, sizes) for constraint in alone]
    for table in found:
        (variable,), (kinds,) = table.scope, table.kinds
        out = {row.kinds[0] for row in table.rows if row.is_forbidden}
        domains[variable] = [value for value in domains[variable] if kinds[value] not in out]
    if not all(domains.values()):
        return found
    return found + [written(c, domains, sizes) for c in problem.constraints if len(c.scope) != 1]


def ask(problem: Problem, written: Written) -> Answer:
    """The least cost of a problem, as clingo finds it."""
    return _Program(problem, tables(problem, written)).solve()


class _Program:
    def __init__(self, problem: Problem, every: Sequence[Table]) -> None:
        self.problem = problem
        self.control = clingo.Control(["--models=0", "--opt-mode=opt"], message_limit=0)
        self.costs = costs_of(problem)
        self.chosen: Dict[Tuple[int, int], int] = {}
        self.kinds: Dict[Tuple[int, FrozenSet[int]], int] = {}
        self.bought: Dict[str, Tuple[int, int]] = {}
        self.weights: Dict[int, List[Tuple[int, int]]] = {}
        with self.control.backend() as self.backend:
            for variable, mask in enumerate(problem.domains):
                self._variable(variable, values_of(mask))
            for table in every:
                self._table(table)
            for priority, literals in self.weights.items():
                self.backend.add_minimize(priority, literals)

    def _variable(self, variable: int, values: Sequence[int]) -> None:
        """Exactly one of the values is chosen."""
        atoms = []
        for value in values:
            atom = self.backend.add_atom()
            self.chosen[variable, value] = atom
            atoms.append(atom)
            self._costs(atom, self.costs[variable][value])
        self.backend.add_rule(atoms, [], choice=True)
        self.backend.add_rule([], [-atom for atom in atoms])
        self.backend.add_weight_rule([], 2, [(atom, 1) for atom in atoms])

    def _costs(self, atom: int, cost: int) -> None:
        priority = 1
        while cost:
            cost, digit = divmod(cost, BASE)
            if digit:
                self.weights.setdefault(priority, []).append((atom, digit))
            priority += 1

    def _kind(self, variable: int, values: FrozenSet[int]) -> int:
        """An atom that holds where one of these values is chosen."""
        if len(values) == 1:
            return self.chosen[variable, next(iter(values))]
        known = self.kinds.get((variable, values))
        if known is None:
            known = self.backend.add_atom()
            self.kinds[variable, values] = known
            for value in values:
                self.backend.add_rule([known], [self.chosen[variable, value]])
        return known

    def _table(self, table: Table) -> None:
        members: List[Dict[int, FrozenSet[int]]] = []
        for variable, kinds in zip(table.scope, table.kinds):
            groups: Dict[int, List[int]] = {}
            for value in values_of(self.problem.domains[variable]):
                groups.setdefault(kinds[value], []).append(value)
            members.append({kind: frozenset(values) for kind, values in groups.items()})
        for row in table.rows:
            if any(kind not in of for kind, of in zip(row.kinds, members)):
                continue
            body = [
                self._kind(variable, of[kind])
                for variable, kind, of in zip(table.scope, row.kinds, members)
            ]
            if row.is_forbidden:
                self.backend.add_rule([], body)
                continue
            for key, cost in row.prices:
                if key not in self.bought:
                    self.bought[key] = (self.backend.add_atom(), cost)
                    self._costs(*self.bought[key])
                atom, known = self.bought[key]
                assert known == cost, f"{key} has two prices"
                self.backend.add_rule([atom], body)

    def solve(self) -> Answer:
        best = Answer(None)
        with self.control.solve(yield_=True) as handle:
            for model in handle:
                taken = [a for a in self.chosen if model.is_true(self.chosen[a])]
                cost = sum(self.costs[variable][value] for variable, value in taken)
                cost += sum(c for atom, c in self.bought.values() if model.is_true(atom))
                best = Answer(cost, tuple(value for _, value in sorted(taken)))
        return best


def everything(problem: Problem, written: Written) -> Answer:
    """The least cost of a problem, by trying every combination."""
    every = tables(problem, written)
    costs = costs_of(problem)
    said = [{row.kinds: row for row in table.rows} for table in every]
    best = Answer(None)
    for values in itertools.product(*(values_of(mask) for mask in problem.domains)):
        cost = cost_at(values, costs, every, said)
        if cost is not None and (best.cost is None or cost < best.cost):
            best = Answer(cost, values)
    return best


def cost_at(
    values: Sequence[int],
    costs: Sequence[Mapping[int, int]],
    every: Sequence[Table],
    said: Sequence[Mapping[Tuple[int, ...], Row]],
) -> Optional[int]:
    """What one choice costs; None if a constraint forbids it."""
    bought: Dict[str, int] = {}
    for table, rows in zip(every, said):
        kinds = tuple(of[values[variable]] for variable, of in zip(table.scope, table.kinds))
        row = rows.get(kinds)
        if row is None:
            continue
        if row.is_forbidden:
            return None
        bought.update(row.prices)
    return sum(costs[n][value] for n, value in enumerate(values)) + sum(bought.values())
