"""Recognises what programs print as blocks: tracebacks, steps of installers, messages of compilers.

A module each; `READERS` lists them. What one reader says of the surroundings (the distribution that
is built, say) is told with every event of the others.
"""

from __future__ import annotations

from typing import Callable, Dict, Iterable, Iterator, NamedTuple, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.compilers import Compilers
from envdoctor.diagnosis.structure.containers import Containers
from envdoctor.diagnosis.structure.devices import Devices
from envdoctor.diagnosis.structure.installers import Installers
from envdoctor.diagnosis.structure.kernel import Kernel
from envdoctor.diagnosis.structure.launchers import Launchers
from envdoctor.diagnosis.structure.loader import Loader
from envdoctor.diagnosis.structure.nccl import Nccl
from envdoctor.diagnosis.structure.python import Python
from envdoctor.diagnosis.structure.reader import Reader

#: Makers of readers. Those whose surroundings others are told in come first.
READERS: Sequence[Callable[[], Reader]] = (
    Installers,
    Compilers,
    Loader,
    Launchers,
    Devices,
    Nccl,
    Containers,
    Kernel,
    Python,
)

#: More sources than a job has ranks; the rest share one.
_MOST_SOURCES = 512


def triggers() -> Tuple[str, ...]:
    """The words, in lower case, of which a line has one if a reader is to see it."""
    return tuple(dict.fromkeys(word for made in READERS for word in made().triggers))


class _Source(NamedTuple):
    """The readers of a source, and those of them that tell what holds around others' events."""

    readers: Sequence[Reader]
    telling: Sequence[Reader]


def _source() -> _Source:
    readers = [made() for made in READERS]
    return _Source(
        readers, [one for one in readers if type(one).surroundings is not Reader.surroundings]
    )


class Structure:
    """Feeds the lines of a log to readers, a set of them for each source."""

    def __init__(self) -> None:
        self._sources: Dict[str, _Source] = {}

    def feed(self, line: Line) -> Iterator[Event]:
        """The events that end with this line."""
        source = line.source
        if source not in self._sources and len(self._sources) >= _MOST_SOURCES:
            source = ""
        held = self._sources.get(source)
        if held is None:
            held = self._sources[source] = _source()
        for reader in held.readers:
            yield from _placed(reader.feed(line), held.telling, source)

    def around(self, source: str) -> Dict[str, str]:
        """What holds around the line of a source that was fed last: distribution, phase."""
        held = self._sources.get(source) or self._sources.get("")
        return _around(held.telling) if held is not None else {}

    def end(self) -> Iterator[Event]:
        """The events that the end of the log ends."""
        for source, held in self._sources.items():
            for reader in held.readers:
                yield from _placed(reader.end(), held.telling, source)


def _placed(events: Iterable[Event], telling: Sequence[Reader], source: str) -> Iterator[Event]:
    around = _around(telling)
    for event in events:
        yield event._replace(fields={**around, **event.fields}, source=source)


def _around(readers: Sequence[Reader]) -> Dict[str, str]:
    around: Dict[str, str] = {}
    for reader in readers:
        around.update(reader.surroundings)
    return around


__all__ = ["READERS", "Structure", "triggers"]
