"""The smallest relaxations of a request that nothing satisfies as it stands, each solved again."""

from __future__ import annotations

import itertools
from typing import Dict, FrozenSet, Iterator, List, Optional, Sequence, Tuple

from packaging.version import Version

from envdoctor.model.build import Value
from envdoctor.model.facts import Gpu
from envdoctor.model.language import ENGLISH, say
from envdoctor.model.resolution import IMAGE, Way
from envdoctor.model.versions import parse
from envdoctor.relations.drivers import serves
from envdoctor.relations.host import gpu_build
from envdoctor.resolver.members import members
from envdoctor.resolver.request import PROFILE
from envdoctor.resolver.requirement import FACT, NEED, PIN, Requirement
from envdoctor.resolver.solver import Found, Solver
from envdoctor.resolver.space import Patches, Space
from envdoctor.resolver.world import World

_GPU, _DRIVER = "gpu:", "driver"
_TOOLS = ("toolkit", "gcc", "glibc", "libstdcxx", "os", "build/toolkit")
#: Requirements that are given up together, at most.
_TOGETHER = 3
#: Ways that are told of each kind.
_MOST = 3
_PRODUCTS = 3
#: Whose products are named.
_FAMILIES = ("datacenter", "consumer")


class Ways:
    """Looks for the ways out of the cores of one request."""

    def __init__(
        self,
        solver: Solver,
        cores: Sequence[Tuple[str, ...]],
        is_relaxed: bool,
        language: str = ENGLISH,
    ) -> None:
        """`cores` are minimal ones; `is_relaxed`: there is a stack, with other pins."""
        self.solver = solver
        self.space: Space = solver.space
        self.world: World = solver.space.world
        self.cores = [frozenset(core) for core in cores]
        self.members: FrozenSet[str] = frozenset().union(*self.cores)
        self.is_relaxed = is_relaxed
        self.language = language
        self.by_id: Dict[str, Requirement] = {r.id: r for r in solver.requirements}

    def of_machine(self) -> Iterator[Way]:
        """Another driver or another GPU: all that is asked for as it is, or else any stack."""
        if _DRIVER in self.members:
            yield from self._drivers()
        if any(member.startswith(_GPU) for member in self.members):
            yield from self._gpus()

    def of_pins(self) -> Iterator[Way]:
        """Other versions of what users ask for, as few as can be."""
        found = 0
        hard = [r.id for r in self.solver.requirements if r.kind in (PIN, NEED)]
        hard = [id_ for id_ in hard if id_ not in self.solver.soft]
        dropped: List[FrozenSet[str]] = []
        for size in range(1, _TOGETHER + 1):
            for chosen in itertools.combinations([h for h in hard if h in self.members], size):
                given_up = frozenset(chosen)
                if any(known <= given_up for known in dropped):
                    continue
                if not all(given_up & core for core in self.cores):
                    continue
                if any(self._is_needed(id_, size) for id_ in chosen):
                    continue
                stack = self._without(given_up)
                if stack is None:
                    continue
                dropped.append(given_up)
                found += 1
                yield self._way("versions", self._other_versions(chosen, stack), chosen, stack)
                if found == _MOST:
                    return
            if found:
                return

    def of_sources(self) -> Iterator[Way]:
        """The same with patches of sources."""
        stack = self.solver.best(patches=Patches.ALL)
        if stack is not None and stack.patches:
            patches = say(self.language, ", ").join(stack.patches)
            text = say(
                self.language,
                "as it is asked for, with patched sources: {patches}",
                patches=patches,
            )
            yield self._way("patch", text, (), stack)

    def concerns_tools(self, relations: Sequence[str]) -> bool:
        """Whether an image, which brings system and tools, may help."""
        return self.world.target != IMAGE and bool(
            (self.members | frozenset(relations)) & frozenset(_TOOLS)
        )

    def _is_needed(self, id_: str, size: int) -> bool:
        """Whether a stack without this component is none: code imports it, or more would go."""
        if self.by_id[id_].kind != NEED:
            return False
        pins = self.space.pins[id_.partition(":")[2]]
        return size > 1 or any(pin.by == PROFILE for pin in pins)

    # --- versions ----------------------------------------------------------------------------

    def _without(self, given_up: FrozenSet[str]) -> Optional[Found]:
        pins = frozenset(id_ for id_ in given_up if self.by_id[id_].kind == PIN)
        needs = given_up - pins
        # what is not there is at no version either
        left_out = frozenset(
            id_
            for id_, (pin, _, _) in self.space.pinned.items()
            if f"need:{pin.component}" in needs
        )
        return self.solver.best(pins | self.solver.soft, needs | left_out)

    def _other_versions(self, chosen: Sequence[str], stack: Found) -> str:
        texts = []
        for id_ in chosen:
            name = id_.split(":")[1]
            if self.by_id[id_].kind == NEED:
                texts.append(say(self.language, "without {name}", name=name))
            elif name in stack.builds:
                told = next(m for m in members(stack, self.space) if m.component == name)
                texts.append(f"{name} {told.version}")
        return say(self.language, ", ").join(texts)

    # --- the machine -------------------------------------------------------------------------

    def _drivers(self) -> Iterator[Way]:
        present = self.world.values["host.driver"]
        rows = self.space.knowledge.tables["cuda"].rows.values()
        known = {row["driver"] for row in rows if isinstance(row.get("driver"), Version)}
        for driver in sorted(v for v in known if isinstance(v, Version)):
            if not isinstance(present, Version) or driver <= present:
                continue
            served = serves(driver, self.space.knowledge)
            values: Dict[str, Value] = {"host.driver": driver, "host.drives": driver}
            if served is not None:
                values["host.serves"] = parse(served)
            world = self.world.with_values(f"driver={driver}", values)
            if self._is_enough(world):
                text = say(self.language, "driver {driver} or newer", driver=driver)
                yield self._way("driver", text, (_DRIVER,), self._best(world))
                return

    def _gpus(self) -> Iterator[Way]:
        """Products that run what is asked for as it is, those with the nearest architecture."""
        present = self._capability()
        serving: List[str] = []
        listed = self._products()
        for capability in sorted(listed, key=lambda cc: _apart(cc, present)):
            name = listed[capability][0]
            gpu = gpu_build(Gpu(name, compute_capability=str(capability)), self.space.knowledge)
            world = self.world.with_values(f"gpu={capability}", {"host.gpu": (gpu,)})
            if capability != present and self._is_enough(world):
                serving += listed[capability]
                if len(serving) >= _PRODUCTS:
                    break
        if not serving:
            return
        names = say(self.language, ", ").join(serving)
        text = say(self.language, "another GPU: {names}", names=names)
        gone = tuple(sorted(m for m in self.members if m.startswith(_GPU)))
        # that there is a stack was asked; `resolve --gpu` tells it of the one that is chosen
        yield self._way("gpu", text, gone, None)

    def _products(self) -> Dict[Version, List[str]]:
        """{compute capability: of each family the last product, which is the largest of most}."""
        families: Dict[Version, Dict[str, str]] = {}
        for row in self.space.knowledge.tables["gpu"].rows.values():
            capability, family = row.get("cc"), str(row.get("family", ""))
            is_own = "basis" not in row and "host" not in row
            if isinstance(capability, Version) and family in _FAMILIES and is_own:
                families.setdefault(capability, {})[family] = str(row.get("product", ""))
        return {
            capability: [found[family] for family in _FAMILIES if family in found]
            for capability, found in families.items()
        }

    def _capability(self) -> Version:
        gpus = self.world.values["host.gpu"]
        listed = (gpu.attributes.get("cc") for gpu in (gpus if isinstance(gpus, tuple) else ()))
        found = [capability for capability in listed if isinstance(capability, Version)]
        return max(found, default=Version("0"))

    def _is_enough(self, world: World) -> bool:
        """Whether what is asked for can be had on another machine."""
        facts = frozenset(f.requirement.id for f in world.facts)
        kept = frozenset(r.id for r in self.solver.requirements if r.kind != FACT)
        patches = Patches.TREES if self.is_relaxed else Patches.ALL
        return self.solver.is_satisfiable(facts | kept - self._soft, patches, world)

    def _best(self, world: World) -> Optional[Found]:
        return self.solver.best(self._soft, world=world)

    @property
    def _soft(self) -> FrozenSet[str]:
        """The pins that may go on another machine, too: none where this one has a stack."""
        return frozenset() if self.is_relaxed else self.solver.soft

    def _way(self, kind: str, text: str, drops: Sequence[str], stack: Optional[Found]) -> Way:
        return Way(
            kind=kind,
            summary=text,
            drops=tuple(drops),
            stack=() if stack is None else members(stack, self.space),
            criteria=() if stack is None else self.solver.scale.unpack(stack.solution.cost),
        )


def _apart(capability: Version, present: Version) -> Tuple[bool, int]:
    """Older architectures before newer ones, the nearest first."""
    steps = 100 * (capability.major - present.major) + capability.minor - present.minor
    return (steps > 0, abs(steps))
