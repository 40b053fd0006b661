"""What messages say, whoever says it: a missing module, an undefined symbol, a refused version.

Each mechanism looks at one event and yields what follows from it. `MECHANISMS` lists them; what one
yields is shown to the others again, so that they can rest on each other.
"""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, List, Sequence, Set, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.mechanisms import (
    devices,
    interfaces,
    modules,
    names,
    offers,
    ranges,
    symbols,
)
from envdoctor.knowledge.load import Knowledge

Mechanism = Callable[[Event, Knowledge], Iterable[Event]]

MECHANISMS: Sequence[Mechanism] = (
    modules.observe,
    offers.observe,
    symbols.observe,
    interfaces.observe,
    names.observe,
    ranges.observe,
    devices.observe,
)
_DEEPEST = 3


def observed(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """The event, and everything that follows from it."""
    yield event
    known: Set[Tuple[str, Tuple[Tuple[str, str], ...]]] = set()
    layer = [event]
    for _ in range(_DEEPEST):
        following: List[Event] = []
        for one in layer:
            for mechanism in MECHANISMS:
                for new in mechanism(one, knowledge):
                    key = (new.kind, tuple(sorted(new.fields.items())))
                    if key not in known:
                        known.add(key)
                        following.append(new)
        yield from following
        layer = following
