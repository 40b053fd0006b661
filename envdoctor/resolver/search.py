"""Branch and bound: the cheapest choice of one value for each variable that breaks nothing.

It knows neither packages nor relations. Values of a variable are numbers, sets of them are bits of
an integer. Costs are integers that add up; who packs several criteria into one keeps their order.

Once the variables on which most rests are chosen, the others fall apart into groups that no
constraint joins; each is solved by itself. A failure that does not rest on the last choice is not
tried again with another one (Prosser, "Hybrid algorithms for the constraint satisfaction problem",
1993: conflict-directed backjumping).
"""

from __future__ import annotations

from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

#: Values that are tried at most; a search that ends there has not proved its answer.
LIMIT = 100_000
#: The first run of a search for any solution. What failed in it is chosen first in the next one.
_RUN = 300


class Price(NamedTuple):
    """What some values cost beside others; once, however many constraints ask for the same."""

    key: str
    cost: int
    values: int


class Marks(NamedTuple):
    """What a constraint says of the values of the last variable that is open in its scope."""

    rejected: int
    prices: Tuple[Price, ...] = ()


class Constraint:
    """A constraint over the variables of its scope.

    Constraints of one `purse`, unless that is empty, may ask for the same price.
    """

    scope: Tuple[int, ...] = ()
    purse: str = ""

    def marks(self, chosen: Mapping[int, int], free: int, mask: int) -> Marks:
        """Marks for the values `mask` of `free`, where all others of the scope are chosen."""
        raise NotImplementedError

    def kind(self, variable: int, value: int) -> int:
        """A number that is equal for values of a variable which it cannot tell apart."""
        raise NotImplementedError


class Problem(NamedTuple):
    """Variables by number, with what each of their values costs by itself."""

    domains: Tuple[int, ...]  # values that may be taken
    levels: Tuple[Tuple[Tuple[int, int], ...], ...]  # per variable (cost, values), cheapest first
    constraints: Tuple[Constraint, ...]
    order: Tuple[int, ...]  # in which variables are chosen that are joined to as many others


class Solution(NamedTuple):
    """A value for each variable, what it costs, and what had to be bought for it."""

    values: Tuple[int, ...]
    cost: int
    bought: Tuple[str, ...]


class Outcome(NamedTuple):
    """The cheapest solution, None if there is none; `proved` unless the search was cut off.

    `used` are the constraints that took a value away: without a solution they suffice to prove it.
    """

    solution: Optional[Solution]
    proved: bool
    nodes: int
    used: Tuple[Constraint, ...] = ()


def solve(problem: Problem, first: bool = False, limit: int = LIMIT) -> Outcome:
    """The cheapest solution of a problem; with `first` any one, looked for in several runs."""
    if not first:
        return _Search(problem, first, limit).run()
    weights: Dict[Constraint, int] = {}
    nodes, run = 0, _RUN
    while True:
        outcome = _Search(problem, first, min(run, limit - nodes), weights).run()
        nodes += outcome.nodes
        if outcome.proved or outcome.solution is not None or nodes >= limit:
            return outcome._replace(nodes=nodes)
        run *= 3


class _Part(NamedTuple):
    """Values for some variables, and what they cost beside what is chosen already."""

    cost: int
    values: Dict[int, int]
    bought: Tuple[str, ...]


class _State:
    """What is left of each variable, what taking a value buys, and who took the rest away."""

    __slots__ = ("causes", "masks", "pending", "shared", "used")

    def __init__(
        self,
        masks: List[int],
        pending: List[Tuple[Price, ...]],
        shared: List[Tuple[Price, ...]],
        causes: List[int],
        used: Dict[Constraint, None],
    ) -> None:
        self.masks = masks
        self.pending = pending
        self.shared = shared  # prices that other variables may have paid, or may pay
        self.causes = causes  # variables, as bits
        self.used = used  # one for all states of a search

    def copy(self) -> _State:
        return _State(
            list(self.masks), list(self.pending), list(self.shared), list(self.causes), self.used
        )

    def apply(self, constraint: Constraint, chosen: Mapping[int, int], free: int) -> bool:
        """Heed a constraint of which one variable is open; whether that keeps a value."""
        marks = constraint.marks(chosen, free, self.masks[free])
        left = self.masks[free] & ~marks.rejected
        if left != self.masks[free]:
            self.masks[free] = left
            self.used.setdefault(constraint)
            for variable in constraint.scope:
                if variable != free:
                    self.causes[free] |= 1 << variable
        if marks.prices:
            prices = self.shared if constraint.purse else self.pending
            prices[free] += marks.prices
        return left != 0


#: An outcome that rests on everything that is chosen.
_ALL = -1


class _Search:
    def __init__(
        self,
        problem: Problem,
        first: bool,
        limit: int,
        weights: Optional[Dict[Constraint, int]] = None,
    ) -> None:
        self.weights = {} if weights is None else weights
        # by the variables that are open, and by a group of them
        self._grouped: Dict[FrozenSet[int], List[FrozenSet[int]]] = {}
        self._joined: Dict[FrozenSet[int], Dict[int, List[Constraint]]] = {}
        self.problem = problem
        self.first = first
        self.limit = limit
        self.nodes = 0
        self.place = {variable: n for n, variable in enumerate(problem.order)}
        self.speaking: List[List[Constraint]] = [[] for _ in problem.domains]
        self.purses: Dict[str, List[Constraint]] = {}
        for constraint in problem.constraints:
            for variable in constraint.scope:
                self.speaking[variable].append(constraint)
            if constraint.purse:
                self.purses.setdefault(constraint.purse, []).append(constraint)

    def run(self) -> Outcome:
        number = len(self.problem.domains)
        used: Dict[Constraint, None] = {}
        state = _State(list(self.problem.domains), [()] * number, [()] * number, [0] * number, used)
        for constraint in self.problem.constraints:
            if len(constraint.scope) == 1 and not state.apply(constraint, {}, constraint.scope[0]):
                return Outcome(None, True, 0, tuple(used))
        if not all(state.masks):
            return Outcome(None, True, 0)
        part, _ = self._solve(frozenset(range(number)), {}, state, frozenset(), None)
        proved = self.nodes < self.limit
        if part is None:
            return Outcome(None, proved, self.nodes, tuple(used))
        values = tuple(part.values[n] for n in range(number))
        return Outcome(Solution(values, part.cost, tuple(sorted(part.bought))), proved, self.nodes)

    def _solve(
        self,
        open_: FrozenSet[int],
        chosen: Dict[int, int],
        state: _State,
        owned: FrozenSet[str],
        budget: Optional[int],
    ) -> Tuple[Optional[_Part], int]:
        """The cheapest values of the open variables, for less than `budget`.

        With None come the chosen variables, as bits, that this rests on: whatever is chosen for the
        others, there is no solution either.
        """
        groups = self._groups(open_, chosen)
        if len(groups) == 1:
            return self._branch(groups[0], chosen, state, owned, budget)
        least = [self._least(group, state, owned) for group in groups]
        cost = 0
        values: Dict[int, int] = {}
        bought: Tuple[str, ...] = ()
        for position, group in enumerate(groups):
            left = None
            if budget is not None:
                left = budget - cost - sum(least[position + 1 :])
            part, because = self._branch(group, chosen, state, owned, left)
            if part is None:
                return None, because
            cost += part.cost
            values.update(part.values)
            bought += part.bought
        return _Part(cost, values, bought), 0

    def _branch(
        self,
        group: FrozenSet[int],
        chosen: Dict[int, int],
        state: _State,
        owned: FrozenSet[str],
        budget: Optional[int],
    ) -> Tuple[Optional[_Part], int]:
        """The same for variables that constraints join."""
        variable = self._next(group, chosen, state.masks)
        rest = group - {variable}
        own = 1 << variable
        own_prices = frozenset(price.key for price in state.shared[variable])
        least = self._least(rest, state, owned | own_prices)
        beside: Dict[FrozenSet[str], int] = {}
        best: Optional[_Part] = None
        because = state.causes[variable]
        speaking = [c for c in self.speaking[variable] if any(n in rest for n in c.scope)]
        tried: Dict[Tuple[int, ...], List[Tuple[int, Dict[str, int]]]] = {}
        for level, values in self.problem.levels[variable]:
            untried = values & state.masks[variable]
            if not untried:
                continue
            if budget is not None and level + least >= budget:
                because = _ALL
                break
            while untried:
                bit = untried & -untried
                untried ^= bit
                self.nodes += 1
                if self.nodes >= self.limit:
                    return best, _ALL
                shared = {
                    price.key: price.cost
                    for price in state.shared[variable]
                    if price.values & bit and price.key not in owned
                }
                new = {
                    price.key: price.cost for price in state.pending[variable] if price.values & bit
                }
                new.update(shared)
                paid = owned.union(shared)
                if paid not in beside:
                    beside[paid] = self._least(rest, state, paid)
                cost = level + sum(new.values())
                if budget is not None and cost + beside[paid] >= budget:
                    because = _ALL
                    continue
                alike = tuple(c.kind(variable, bit.bit_length() - 1) for c in speaking)
                if any(_serves(one, cost, shared) for one in tried.get(alike, ())):
                    continue
                tried.setdefault(alike, []).append((cost, shared))
                if not rest:
                    best, budget = _Part(cost, {variable: bit.bit_length() - 1}, tuple(new)), cost
                    continue
                below = state.copy()
                below.masks[variable] = bit
                further = {**chosen, variable: bit.bit_length() - 1}
                part: Optional[_Part] = None
                failed = self._propagate(variable, further, below)
                if failed is None:
                    left = None if budget is None else budget - cost
                    part, failed = self._solve(rest, further, below, paid, left)
                if part is not None:
                    cost += part.cost
                    part.values[variable] = further[variable]
                    best = _Part(cost, part.values, (*new, *part.bought))
                    budget = cost
                    if self.first:
                        return best, 0
                elif not failed & own:
                    return best, failed  # no other value of this variable helps
                else:
                    because |= failed & ~own
        return best, because

    def _propagate(self, variable: int, chosen: Mapping[int, int], state: _State) -> Optional[int]:
        """Take the values out that the newly chosen one excludes.

        Returns None, or what left a variable without values: the chosen ones, as bits.
        """
        for constraint in self.speaking[variable]:
            free = [n for n in constraint.scope if n not in chosen]
            if len(free) == 1 and not state.apply(constraint, chosen, free[0]):
                if self.first:
                    self.weights[constraint] = self.weights.get(constraint, 1) + 1
                return state.causes[free[0]]
        return None

    def _groups(self, open_: FrozenSet[int], chosen: Mapping[int, int]) -> List[FrozenSet[int]]:
        """The open variables, those together that constraints still join.

        All others are chosen, so that the open ones tell the answer.
        """
        known = self._grouped.get(open_)
        if known is not None:
            return known
        left = set(open_)
        found = []
        while left:
            group = {min(left)}
            waiting = list(group)
            while waiting:
                for constraint in self.speaking[waiting.pop()]:
                    joined = set(constraint.scope)
                    for other in self.purses.get(constraint.purse, ()):
                        joined.update(other.scope)
                    new = {n for n in joined if n not in chosen} - group
                    group |= new
                    waiting += new
            left -= group
            found.append(frozenset(group))
        self._grouped[open_] = found
        return found

    def _next(self, group: FrozenSet[int], chosen: Mapping[int, int], masks: Sequence[int]) -> int:
        """A variable with one value left, else the one that is joined to most others.

        Constraints count by how often they failed (Boussemart and others, "Boosting systematic
        search by weighting constraints", 2004).
        """
        joined = self._joined.get(group)
        if joined is None:
            joined = self._joined[group] = {
                variable: [
                    constraint
                    for constraint in self.speaking[variable]
                    if any(n != variable and n not in chosen for n in constraint.scope)
                ]
                for variable in group
            }
        weights = self.weights

        def rank(variable: int) -> Tuple[bool, int, int]:
            mask = masks[variable]
            joins = len(joined[variable])
            if weights:
                joins = sum(weights.get(constraint, 1) for constraint in joined[variable])
            return (bool(mask & (mask - 1)), -joins, self.place[variable])

        return min(group, key=rank)

    def _least(self, variables: FrozenSet[int], state: _State, paid: FrozenSet[str]) -> int:
        """What variables cost at least; a price that several of them might pay counts for one."""
        counted = set(paid)
        total = 0
        for variable in sorted(variables):
            shared: Dict[str, Price] = {}
            for price in state.shared[variable]:
                if price.key not in counted:
                    values = price.values | (shared[price.key].values if price.key in shared else 0)
                    shared[price.key] = price._replace(values=values)
            counted.update(shared)
            prices = (*state.pending[variable], *shared.values())
            total += self._cheapest(variable, state.masks[variable], prices)
        return total

    def _cheapest(self, variable: int, mask: int, prices: Sequence[Price]) -> int:
        """The least that a value of a variable costs, with what it has to pay of `prices`."""
        least: Optional[int] = None
        for cost, values in self.problem.levels[variable]:
            left = values & mask
            if not left:
                continue
            if least is not None and cost >= least:
                break
            while left:
                dear = [price for price in prices if price.values & left]
                common = left
                for price in dear:
                    common &= ~price.values
                total = cost
                if not common:
                    bit = left & -left
                    total += sum(price.cost for price in dear if price.values & bit)
                    left ^= bit
                else:
                    left = 0
                least = total if least is None else min(least, total)
        return least or 0


def _serves(earlier: Tuple[int, Dict[str, int]], cost: int, shared: Mapping[str, int]) -> bool:
    """Whether a value that was tried is to the rest as good as one that costs `cost`.

    What the other has paid of shared prices, and the earlier has not, the rest might have to pay.
    """
    before, paid = earlier
    return before <= cost - sum(price for key, price in shared.items() if key not in paid)
