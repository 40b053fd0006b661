"""nvidia-smi: its table, of drivers from R384 to those that speak of KMD and UMD; `-L`; `-q`."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.nvidia_smi import read_versions
from envdoctor.facts.pasted.notes import Card, Notes, place
from envdoctor.facts.pasted.system import accelerator_name, cards
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "nvidia-smi"
_ROW = re.compile(
    r"\|\s{0,4}(\d{1,3})\s{1,4}(\S.{0,60}?)\s{1,30}(?:On|Off|N/A|WDDM|TCC|MCDM)\s{0,4}"
)
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_MEMORY = re.compile(r"\d{1,7} ?MiB {0,4}/ {0,6}(\d{2,7}) ?MiB")
_DRIVER = re.compile(r"NVIDIA-SMI \d{3}\.\d")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what its lines say."""
    for position, line in enumerate(lines):
        text = line.text
        if _DRIVER.search(text) or text.startswith(("Driver Version ", "CUDA Version  ")):
            driver, cuda = read_versions(text)
            notes.say("driver", driver, SECTION, line)
            notes.say("serves", cuda, SECTION, line)
        elif text.startswith("|") and _BUS.search(text):
            _row(lines, position, notes)
        elif text.startswith("GPU ") and ": " in text:
            cards(text, SECTION, line, notes)
    for line, key, value in pairs:
        if key == "product name" and accelerator_name(value):  # of -q
            number = len(notes.cards.get("queried", {}))
            notes.card("queried", [number], Card(value, place(SECTION, line), line.number))


def _row(lines: List[Line], position: int, notes: Notes) -> None:
    """A device; its memory stands in the line below."""
    line = lines[position]
    match = _ROW.match(line.text)
    if match is None:
        return
    below = lines[position + 1].text if position + 1 < len(lines) else ""
    memory = _MEMORY.search(below)
    card = Card(
        match[2],
        place(SECTION, line),
        line.number,
        memory_mib=int(memory[1]) if memory else None,
    )
    notes.card("table", [int(match[1])], card)
