"""A relation of the matrices as a constraint over the variables of a search."""

from __future__ import annotations

import itertools
from typing import Callable, Dict, FrozenSet, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.relations.judge import Bound, Verdict, key
from envdoctor.relations.observe import is_source
from envdoctor.resolver.images import IMAGE, SETS
from envdoctor.resolver.search import Constraint, Marks, Price

MODULE = "module."


class Variable(NamedTuple):
    """A component whose build is to be chosen; ABSENT among its values if it may be left out."""

    name: str
    values: Tuple[Value, ...]

    @property
    def every(self) -> int:
        """All of its values."""
        return (1 << len(self.values)) - 1

    @property
    def there(self) -> int:
        """Those with which it is not left out."""
        return self.those(lambda _: True)

    def those(self, test: Callable[[Build], bool]) -> int:
        """The builds for which a test holds."""
        return sum(
            1 << position
            for position, value in enumerate(self.values)
            if isinstance(value, Build) and test(value)
        )


class Views:
    """Values of variables that some attributes do not tell apart, once for all relations."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        """Group the values of `variables` when it is asked for."""
        self.variables = variables
        self._known: Dict[Tuple[int, Tuple[str, ...]], Tuple[List[int], List[int]]] = {}

    def of(self, variable: int, names: Tuple[str, ...]) -> Tuple[List[int], List[int]]:
        """(of each value the number of its group; of each group its values)."""
        known = self._known.get((variable, names))
        if known is None:
            numbers: Dict[object, int] = {}
            groups: List[int] = []
            members: List[int] = []
            for position, value in enumerate(self.variables[variable].values):
                listed = isinstance(value, Build) and bool(value.entry)
                kind = (isinstance(value, Build), listed, key(value, names))
                number = numbers.setdefault(kind, len(numbers))
                if number == len(members):
                    members.append(0)
                members[number] |= 1 << position
                groups.append(number)
            known = (groups, members)
            self._known[variable, names] = known
        return known


class Buying(NamedTuple):
    """What breaking relations may cost instead of being forbidden."""

    patch: int = 0  # what a patch of sources costs
    warning: int = 0  # what breaking a warning costs, 0 if that is not looked at
    patches: bool = False  # whether patches may be bought


class _Said:
    """What a relation said of values beside one choice of the others, as far as it was asked."""

    __slots__ = ("failed", "judged", "mended")

    def __init__(self) -> None:
        self.judged = 0
        self.failed = 0
        self.mended = 0  # those that a patch would mend


class Related:
    """A relation over variables; `at` binds it to what is known of the machine."""

    def __init__(
        self,
        bound: Bound,
        owner: int,
        places: Mapping[str, Tuple[int, ...]],
        views: Views,
        by_pip: bool = True,
    ) -> None:
        """`places` says which variables each component of the relation stands for.

        `by_pip` says whether pip installs the owner, and so keeps to what its metadata asks.
        """
        self.bound = bound
        self.owner = owner
        self.views = views
        self.variables = views.variables
        self.places = places
        read = {owner: {*bound.reads["self"], "origin"}}
        for component, variables in places.items():
            for variable in variables:
                names = bound.reads.get(component, ("version",))
                if component in SETS and views.variables[variable].name == IMAGE:
                    names = (SETS[component],)
                read.setdefault(variable, set()).update(names)
        self.names = {variable: tuple(sorted(names)) for variable, names in read.items()}
        self.scope = tuple(sorted(read))
        is_enforced = by_pip and bound.relation.enforced == "pip"
        self.is_hard = bound.relation.severity == "error" or is_enforced
        self._groups: Dict[int, List[int]] = {}
        self._named = (*bound.components, *sorted(bound.asked))
        self._said: Dict[Tuple[object, ...], _Said] = {}
        # by machine, of each combination of kinds
        self._verdicts: Dict[Tuple[object, ...], Dict[Tuple[int, ...], Verdict]] = {}
        self._speaks: Dict[Tuple[object, ...], bool] = {}

    def marks(
        self,
        chosen: Mapping[int, int],
        free: int,
        mask: int,
        seen: Mapping[str, Value],
        about: Tuple[object, ...],
        buying: Buying,
    ) -> Marks:
        """Marks of the values `mask` of `free`; `about` tells machines apart.

        Values that the relation cannot tell apart are judged once, and when they are asked about.
        """
        kinds = self.kinds()
        others = tuple([(n, kinds[n][chosen[n]]) for n in self.scope if n != free])
        asked = (free, others, about)
        said = self._said.get(asked)
        if said is None:
            said = self._said[asked] = _Said()
        missing = mask & ~said.judged
        if missing:
            self._judge(said, missing, chosen, free, seen, about)
        failed, prices = said.failed, []
        if not buying.patches:
            failed |= said.mended
        elif said.mended & mask:  # also of what would only be warned of: then it is as well mended
            patch = f"patch:{self.bound.relation.waiver}"
            prices.append(Price(patch, buying.patch, said.mended))
        if not self.is_hard:
            if failed & mask and buying.warning:
                key_ = f"warning:{self.bound.relation.id}:{self.owner}"
                prices.append(Price(key_, buying.warning, failed))
            failed = 0
        return Marks(failed & mask, tuple(prices))

    def kinds(self) -> Dict[int, List[int]]:
        """Of each variable of the scope, the group of each of its values."""
        if not self._groups:
            for number in self.scope:
                self._groups[number] = self.views.of(number, self.names[number])[0]
        return self._groups

    def _judge(
        self,
        said: _Said,
        missing: int,
        chosen: Mapping[int, int],
        free: int,
        seen: Mapping[str, Value],
        about: Tuple[object, ...],
    ) -> None:
        groups, members = self.views.of(free, self.names[free])
        values = {n: self.variables[n].values[chosen[n]] for n in self.scope if n != free}
        place = self.scope.index(free)
        known = self._verdicts.setdefault(about, {})
        kinds = [0 if n == free else self.kinds()[n][chosen[n]] for n in self.scope]
        while missing:
            first = (missing & -missing).bit_length() - 1
            alike = members[groups[first]]
            missing &= ~alike
            said.judged |= alike
            values[free] = self.variables[free].values[first]
            kinds[place] = groups[first]
            kind = tuple(kinds)
            if kind not in known:
                known[kind] = self.verdict(values, seen)
            verdict = known[kind]
            if verdict is Verdict.HOLDS:
                continue
            if verdict is Verdict.FAILS and self._is_mended(values[self.owner]):
                said.mended |= alike
            elif verdict is Verdict.FAILS or self.is_hard:
                said.failed |= alike

    def _is_mended(self, owner: Value) -> bool:
        """Whether a patch of its sources would mend a breach."""
        if not self.bound.relation.waiver or not isinstance(owner, Build):
            return False
        return is_source(owner)

    def verdict(self, values: Mapping[int, Value], seen: Mapping[str, Value]) -> Verdict:
        """HOLDS also where it does not speak of these values; UNDECIDED where they decide that.

        What is not known of the machine decides nothing here, nor what compiling will show, nor a
        relation of which it is not known whether it speaks of a build.
        """
        owner = values[self.owner]
        if not isinstance(owner, Build):
            return Verdict.HOLDS
        worst = Verdict.HOLDS
        for environment in self._environments(values, seen):
            verdict, _ = self.bound.verdict({**environment, "self": owner})
            if verdict is Verdict.FAILS:
                return Verdict.FAILS
            if verdict is Verdict.UNDECIDED and self._counts(environment, owner):
                worst = Verdict.UNDECIDED
        return worst

    def is_left_open(self, values: Mapping[int, Value], seen: Mapping[str, Value]) -> bool:
        """Whether it speaks of these values, and what is not known of the machine decides it."""
        owner = values[self.owner]
        if not isinstance(owner, Build):
            return False
        for environment in self._environments(values, seen):
            unknown = any(isinstance(value, Unknown) for value in environment.values())
            full = {**environment, "self": owner}
            if unknown and self.bound.verdict(full)[0] is Verdict.UNDECIDED:
                return True
        return False

    def _counts(self, environment: Mapping[str, Value], owner: Build) -> bool:
        """Whether it is this build of which too little is known; other builds tell."""
        if any(isinstance(value, Unknown) for value in environment.values()):
            return False
        builds = [v for v in (owner, *environment.values()) if isinstance(v, Build)]
        if any(is_source(build) for build in builds) or not owner.entry:
            return False
        condition = self.bound.condition
        if condition and condition.evaluate({**environment, "self": owner}) is not True:
            return False
        kind = tuple(
            (component, key(value, self.bound.reads.get(component, ("version",))))
            for component, value in environment.items()
        )
        if kind not in self._speaks:
            verdicts = (
                self.bound.verdict({**environment, "self": build})[0] for build in self._alike()
            )
            self._speaks[kind] = any(v in (Verdict.HOLDS, Verdict.FAILS) for v in verdicts)
        return self._speaks[kind]

    def _alike(self) -> Iterator[Build]:
        """One of each kind of the owner's builds."""
        for members in self.views.of(self.owner, self.names[self.owner])[1]:
            build = self.variables[self.owner].values[(members & -members).bit_length() - 1]
            if isinstance(build, Build):
                yield build

    def _environments(
        self, values: Mapping[int, Value], seen: Mapping[str, Value]
    ) -> List[Dict[str, Value]]:
        """What the components are: one for each provider of a module that several provide."""
        plain: Dict[str, Value] = {}
        several: List[List[Tuple[str, Value]]] = []
        for component in self._named:
            found = self._component(component, values, seen)
            if len(found) == 1:
                plain[component] = found[0]
            else:
                several.append([(component, value) for value in found])
        if not several:
            return [plain]
        return [{**plain, **dict(chosen)} for chosen in itertools.product(*several)]

    def _component(
        self, component: str, values: Mapping[int, Value], seen: Mapping[str, Value]
    ) -> List[Value]:
        variables = self.places.get(component)
        if variables is None:
            return [seen.get(component, ABSENT)]
        if component in SETS and self.variables[variables[0]].name == IMAGE:
            image = values[variables[0]]
            name = SETS[component]
            if not isinstance(image, Build):
                return [seen.get(component, ABSENT)]
            return [image.attributes.get(name, Unknown(f"the {name} of {image} is not known"))]
        found = [values[n] for n in variables if values[n] != ABSENT]
        return found or [ABSENT]


class AtMachine(Constraint):
    """A relation on one machine, with what may be bought."""

    def __init__(
        self,
        related: Related,
        facts: FrozenSet[str],
        seen: Mapping[str, Value],
        buying: Buying,
        tag: str,
    ) -> None:
        """`facts` are those of the relation's that hold; `tag` names the machine."""
        self.related = related
        self.scope = related.scope
        self.purse = related.bound.relation.waiver if buying.patches else ""
        self._seen = seen
        self._about = (facts, tag)
        self._buying = buying

    def marks(self, chosen: Mapping[int, int], free: int, mask: int) -> Marks:
        """What the relation says of the values `mask` of `free`."""
        return self.related.marks(chosen, free, mask, self._seen, self._about, self._buying)

    def kind(self, variable: int, value: int) -> int:
        """The group of a value among those that the relation cannot tell apart."""
        return self.related.kinds()[variable][value]
