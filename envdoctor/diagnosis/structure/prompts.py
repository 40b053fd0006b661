"""Commands that a log shows: typed at a prompt, echoed by a shell, by CI, by docker's builder."""

from __future__ import annotations

import re
from typing import Optional

_PROMPTS = re.compile(
    r"(?:\([^\s()]{1,60}\) ?)?(?:(?:\$|\+{1,3}|\u279c|\u276f) "
    r"|[\w.-]{1,60}@[^\s$#%]{1,280}(?: [^\s$#%]{1,200})? ?[$#%] "
    r"|\[[\w.-]{1,60}@[^\]]{1,120}\][$#] "
    r"|(?:PS )?[A-Za-z]:\\[^>]{0,200}> ?) ?(?P<typed>\S.*)"
    r"|(?:Step \d{1,4}/\d{1,4} : |\[[^\]/]{0,60}/\d{1,4}\] )RUN (?P<run>\S.*)"
    r"|Run (?P<ci>\S.*)"
)


def command_of(text: str) -> Optional[str]:
    """The command that a line shows; None if it shows none."""
    found = _PROMPTS.match(text[:4000])
    if found is None:
        return None
    return (found["typed"] or found["run"] or found["ci"]).strip()
