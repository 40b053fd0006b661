"""Takes away what PowerShell writes among the first lines of a program's error output.

python : Traceback (most recent call last):
At line:1 char:1
+ python train.py 2>&1 | tee log.txt
+ ~~~~~~~~~~~~~~~~~~~~
    + CategoryInfo          : NotSpecified: (Traceback (most recent call last)::String) [], ...
    + FullyQualifiedErrorId : NativeCommandError

  File "train.py", line 1, in <module>
"""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Optional

from envdoctor.diagnosis.reading.prefixes import Item

_PLACE = re.compile(r"(?:At |\u6240\u5728\u4f4d\u7f6e ).{1,400}(?:char|\u5b57\u7b26): ?\d{1,9}$")
_QUOTED = re.compile(r" {0,8}\+ ")
_LAST = "FullyQualifiedErrorId"
_PROGRAM = re.compile(r"[\w.\\/:-]{1,200} : ")
_MOST_QUOTED = 30


def without_places(items: Iterable[Item]) -> Iterator[Item]:
    """The lines without PowerShell's."""
    held: Optional[Item] = None  # waits for what the next line is
    quoted = 0  # how many lines of an error are still to come at most
    for item in items:
        if quoted:
            quoted -= 1
            if _QUOTED.match(item.text):
                if _LAST in item.text:
                    quoted = 1
                continue
            # An empty line ends it.
            is_end, quoted = not item.text, 0
            if is_end:
                continue
        if held is not None:
            if _PLACE.match(item.text):
                program = _PROGRAM.match(held.text)
                if program:
                    held.text = held.text[program.end() :]
                yield held
                held, quoted = None, _MOST_QUOTED
                continue
            yield held
        held = item
    if held is not None:
        yield held
