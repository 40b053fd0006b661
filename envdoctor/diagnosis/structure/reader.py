"""What a reader of structure is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Iterable, Mapping, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.words import any_of

_NOTHING: Mapping[str, str] = {}


class Reader:
    """Recognises the blocks of one family of tools in the lines of one source."""

    #: Words in lower case; a line that it is to see has one of them, or stands near such a line.
    triggers: Sequence[str] = ()

    def concerns(self, text: str) -> bool:
        """Whether a text has one of the triggers: quicker than most patterns."""
        return _finder(tuple(self.triggers)).search(text.lower()) is not None

    def feed(self, line: Line) -> Iterable[Event]:
        """What is complete with this line. `line.gap` ends what was open."""
        raise NotImplementedError

    def end(self) -> Iterable[Event]:
        """What is complete because the log ends."""
        return ()

    @property
    def surroundings(self) -> Mapping[str, str]:
        """Fields that hold for what others recognise now: `distribution`, `phase`."""
        return _NOTHING


@lru_cache(maxsize=64)
def _finder(triggers: Tuple[str, ...]) -> re.Pattern[str]:
    return any_of(triggers)
