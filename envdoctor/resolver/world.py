"""The machine that a stack is for: its facts as requirements, which may be given up one by one."""

from __future__ import annotations

import copy
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.facts import Facts
from envdoctor.model.resolution import HOST, IMAGE
from envdoctor.relations.components import DOTTED, PYTHON
from envdoctor.relations.observe import Observation, observe
from envdoctor.relations.sources import with_tools
from envdoctor.resolver.requirement import FACT, Requirement

#: {fact: the components that it fixes}, hardest to change first.
_FACTS: Dict[str, Tuple[str, ...]] = {
    "architecture": ("host.architecture",),
    "os": ("host.os",),
    "glibc": ("host.glibc",),
    "libstdcxx": ("host.libstdcxx",),
    "driver": ("host.driver", "host.serves", "host.drives"),
    "gcc": ("build.gcc", "build.clang"),
    "toolkit": ("build.toolkit", "build.cudnn"),
}
#: Those that an image brings, so that they may be chosen with it.
OF_IMAGE = ("os", "glibc", "libstdcxx", "gcc", "toolkit")
_GPU = "host.gpu"


class Fact(NamedTuple):
    """A fact and the components whose values follow from it."""

    requirement: Requirement
    components: Tuple[str, ...]
    gpu: Tuple[Build, ...] = ()  # of a GPU: those devices


class World:
    """What is fixed: the machine, and for some targets its system and tools."""

    def __init__(self, facts: Facts, knowledge: Knowledge, target: str, tag: str = "") -> None:
        """Observe `facts`; with the target `image` the system and the tools are left open.

        `tag` names a machine that stands in for another one.
        """
        self.tag = tag
        self.knowledge = knowledge
        self.target = target
        self.observation: Observation = with_tools(observe(facts, knowledge), facts)
        self.accelerator = self.observation.accelerator
        domains = self.observation.domains
        self.values: Dict[str, Value] = {name: domains[name][0] for name in DOTTED}
        self.open: Tuple[str, ...] = ()
        if target == IMAGE:
            opened = [c for fact in OF_IMAGE for c in _FACTS[fact]]
            self.values.update((c, Unknown(f"the {DOTTED[c]} is to be chosen")) for c in opened)
            self.open = tuple(opened)
        self.facts: Tuple[Fact, ...] = (*self._gpus(), *self._others())
        self.python: Value = ABSENT
        found = domains[PYTHON][0]
        if target == HOST and isinstance(found, Build):
            self.python = found
        self._seen: Dict[FrozenSet[str], Dict[str, Value]] = {}

    @property
    def has_gpu(self) -> bool:
        """Whether programs are to run on a GPU."""
        gpus = self.values[_GPU]
        if isinstance(gpus, tuple):
            return bool(gpus)
        return isinstance(self.values["host.driver"], Version)

    def seen(self, active: FrozenSet[str]) -> Dict[str, Value]:
        """The components' values where these facts alone hold; what follows of others is open."""
        if active not in self._seen:
            values = dict(self.values)
            gpus: List[Build] = []
            for fact in self.facts:
                if fact.requirement.id in active:
                    gpus.extend(fact.gpu)
                elif not fact.gpu:
                    text = f"the {fact.requirement.id} is left open"
                    values.update((c, Unknown(text)) for c in fact.components)
            if isinstance(values[_GPU], tuple) and values[_GPU]:
                values[_GPU] = tuple(gpus) if gpus else Unknown("the GPU is left open")
            self._seen[active] = values
        return self._seen[active]

    def with_values(self, tag: str, values: Mapping[str, Value]) -> World:
        """The same machine with other values of components that facts fix; `tag` names it."""
        other = copy.copy(self)
        other.tag = tag
        other.values = {**self.values, **values}
        other.facts = (*other._gpus(), *other._others())  # noqa: SLF001
        other._seen = {}  # noqa: SLF001
        return other

    def unknown(self) -> Tuple[str, ...]:
        """Components of which nothing is known and nothing is to be chosen."""
        return tuple(
            name
            for name, value in self.values.items()
            if isinstance(value, Unknown) and name not in self.open
        )

    def _gpus(self) -> List[Fact]:
        gpus = self.values[_GPU]
        kinds: Dict[Tuple[str, str], List[Build]] = {}
        for gpu in gpus if isinstance(gpus, tuple) else ():
            kinds.setdefault((gpu.label, str(gpu.attributes.get("cc", ""))), []).append(gpu)
        found = []
        for (label, capability), devices in kinds.items():
            text = f"GPU {label} (compute capability {capability})"
            about = Requirement(f"gpu:{label}".lower(), FACT, text, self._origin(_GPU))
            found.append(Fact(about, (_GPU,), tuple(devices)))
        return found

    def _others(self) -> List[Fact]:
        found = []
        for name, components in _FACTS.items():
            known = [c for c in components if isinstance(self.values[c], (Version, str))]
            if not known:
                continue
            first = known[0]
            text = f"{DOTTED[first]} {self.values[first]}"
            found.append(Fact(Requirement(name, FACT, text, self._origin(first)), components))
        return found

    def _origin(self, component: str) -> str:
        evidence = self.observation.evidence.get(component)
        return evidence.origin if evidence is not None else ""
