"""What people write in one line: "PyTorch 1.8.1 + CUDA 11.1, Python 3.7, RTX 3090".

A line counts if most of its parts are of that kind. Which CUDA is meant, such a line does not say.
"""

from __future__ import annotations

import re
from typing import Callable, List, Optional

from envdoctor.facts.pasted.notes import WRITTEN, Card, Notes, Package, place, version
from envdoctor.facts.pasted.projects import PROJECTS
from envdoctor.facts.pasted.system import accelerator_name, named, os_and_machine, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "a line by hand"
_LONGEST = 200
_PARTS = re.compile(r"\s*(?:[,;|+/\uff0c\u3001\uff1b]| and | with )\s*")
_STATED = re.compile(
    r"([A-Za-z][\w-]{1,30})[ =:@v-]{1,4}(\d{1,4}(?:\.\d{1,4}){1,3}(?:\+\w{2,12}|\w{0,12}))"
)
_CUDA = re.compile(
    r"(?i)(?:cuda|cudnn|gcc|nvcc|cuda ?toolkit|driver|cu)[ :v-]{0,3}\d[\d.]{0,12}|cu\d{2,3}"
)
_CARD = re.compile(
    r"(?i)(?:a |an |one |single )?(?:(\d{1,2}) ?[x\u00d7*] ?)?"
    r"((?:nvidia )?(?:geforce )?(?:rtx|gtx|tesla|quadro|titan)"
    r" ?[a-z]{0,2}\d{0,4}(?: ?ti| super| xp| rtx| v)?|"
    r"(?:nvidia )?(?:a100|h100|v100|p100|a10|a40|a6000|l4|l40s|h200|t4))"
    r"(?:[ -](?:\d{2,3} ?gi?b|sxm\d?|pcie)){0,2}(?: ?[x\u00d7*] ?(\d{1,2}))?(?: gpus?)?"
)


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
    """Note what such a line says, where no tool printed it."""
    understood = set(notes.understood)
    for line in lines:
        text = line.text
        if len(text) > _LONGEST or line.number in understood or "(you have" in text:
            continue
        parts = [part for part in _PARTS.split(_plus(text).strip("# .")) if part]
        if not 2 <= len(parts) <= 12:
            continue
        said = [note for note in (_note(part, line, notes) for part in parts) if note is not None]
        if len(said) >= 2 and 3 * len(said) >= 2 * len(parts):
            for note in said:
                note()


def _plus(text: str) -> str:
    """The "+" of a local version is no sign between parts."""
    return re.sub(r"(?<=\d)\+(?=cu\d|cpu\b|rocm\d)", "\x00", text)


def _note(part: str, line: Line, notes: Notes) -> Optional[Callable[[], None]]:
    """What to note of a part; None if it says nothing of an environment."""
    part = part.replace("\x00", "+").strip("()` *")
    if _CUDA.fullmatch(part):
        return lambda: None
    stated = _STATED.fullmatch(part)
    name = stated[1].lower() if stated else ""
    project = PROJECTS.get(name.replace("_", "-"), "")
    if stated and name == "python":
        return lambda: python(stated[2], SECTION, line, notes, WRITTEN)
    if stated and name in ("ubuntu", "debian", "centos"):
        return lambda: os_and_machine(part, SECTION, line, notes, WRITTEN)
    if stated and project == "torch":
        return lambda: notes.say("torch", version(stated[2]), SECTION, line, WRITTEN)
    if stated and project == "mmcv":
        return lambda: notes.say("mmcv", version(stated[2]), SECTION, line, WRITTEN)
    if stated and project:
        package = Package(stated[2], place(SECTION, line), line.number, WRITTEN)
        return lambda: notes.install(project, package)
    card = _CARD.fullmatch(part)
    if card and accelerator_name(part):
        count = int(card[1] or card[3] or 1)
        held = Card(named(card[2]), place(SECTION, line), line.number)
        return lambda: notes.card("written", range(min(count, 16)), held)
    return None
