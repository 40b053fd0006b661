"""Recognises what programs print as blocks: tracebacks, steps of installers, messages of compilers.

A module each; `READERS` lists them. What one reader says of the surroundings (the distribution that
is built, say) is told with every event of the others.
"""

from __future__ import annotations

from collections import deque
from typing import Callable, Deque, Dict, Iterator, Sequence, Tuple

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
from envdoctor.diagnosis.structure.outcomes import Outcomes
from envdoctor.diagnosis.structure.progress import Progress
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
    Outcomes,
    Progress,
    Python,
)

#: More sources than a job has ranks; the rest share one.
_MOST_SOURCES = 512
#: So often may it change what holds, while a block is read.
_MOST_PAST = 200


def triggers() -> Tuple[str, ...]:
    """The words, in lower case, of which a line has one if a reader is to see it."""
    return tuple(dict.fromkeys(word for made in READERS for word in made().triggers))


class _Source:
    """The readers of a source, and what held around its lines."""

    def __init__(self) -> None:
        self.readers = [made() for made in READERS]
        telling = [one for one in self.readers if type(one).surroundings is not Reader.surroundings]
        self._telling: Sequence[Reader] = telling
        self._past: Deque[Tuple[int, Dict[str, str]]] = deque([(0, {})], _MOST_PAST)

    def feed(self, line: Line) -> Iterator[Event]:
        """The events that end with a line."""
        for reader in self.readers:
            events = list(reader.feed(line))
            if reader in self._telling:
                self._note(line.number)
            yield from events

    def around(self, number: int) -> Dict[str, str]:
        """What held around a line; events are told later than they happen."""
        for since, told in reversed(self._past):
            if since <= number:
                return told
        return self._past[0][1]

    def _note(self, number: int) -> None:
        told: Dict[str, str] = {}
        for reader in self._telling:
            told.update(reader.surroundings)
        if told != self._past[-1][1]:
            self._past.append((number, told))


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
            held = self._sources[source] = _Source()
        for event in held.feed(line):
            yield _placed(event, held, source)

    def around(self, line: Line) -> Dict[str, str]:
        """What holds around a line that was fed: distribution, phase."""
        held = self._sources.get(line.source) or self._sources.get("")
        return held.around(line.number) if held is not None else {}

    def end(self) -> Iterator[Event]:
        """The events that the end of the log ends."""
        for source, held in self._sources.items():
            for reader in held.readers:
                for event in reader.end():
                    yield _placed(event, held, source)


def _placed(event: Event, held: _Source, source: str) -> Event:
    return event._replace(fields={**held.around(event.line), **event.fields}, source=source)


__all__ = ["READERS", "Structure", "triggers"]
