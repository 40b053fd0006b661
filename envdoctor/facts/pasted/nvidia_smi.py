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
_CELL = re.compile(r"(\d{3}\.\d{2,3}(?:\.\d{2})?)|(\d{1,2}\.\d)|(\d{3,7})(?: MiB)?|\d{1,2}")
_KERNEL = re.compile(
    r"NVRM version: .{0,80}? (?:Kernel Module|Module)(?: for \S{1,20})?\s{1,4}(\d{3}\.[\d.]{2,8})\s"
)
_LIBRARY = re.compile(r"NVML library version: (\d{3}\.[\d.]{2,8})")
#: What nvidia-smi, torch and containers say where the driver does not serve them.
_REFUSALS = (
    ("broken", "couldn't communicate with the NVIDIA driver"),
    ("broken", "NVIDIA-SMI has failed because"),
    ("mismatch", "Driver/library version mismatch"),
    ("mismatch", "system has unsupported display driver / cuda driver combination"),
)
_DRIVER = re.compile(r"NVIDIA-SMI \d{3}\.\d")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what its lines say."""
    for position, line in enumerate(lines):
        text = line.text
        _said(text, line, notes)
        if _DRIVER.search(text) or text.startswith(("Driver Version ", "CUDA Version  ")):
            driver, cuda = read_versions(text)
            notes.say("driver", driver, SECTION, line)
            notes.say("serves", cuda, SECTION, line)
        elif text.startswith("|") and _BUS.search(text):
            _row(lines, position, notes)
        elif text.startswith("GPU ") and ": " in text:
            cards(text, SECTION, line, notes)
        elif ", " in text and " VRAM" not in text:
            _csv(text, line, notes)
    for line, key, value in pairs:
        if key == "product name" and accelerator_name(value):  # of -q
            number = len(notes.cards.get("queried", {}))
            notes.card("queried", [number], Card(value, place(SECTION, line), line.number))


def _said(text: str, line: Line, notes: Notes) -> None:
    kernel, library = _KERNEL.search(text + " "), _LIBRARY.search(text)
    if kernel:
        notes.say("kernel module", kernel[1], "/proc/driver/nvidia/version", line)
    if library:
        notes.say("driver library", library[1], SECTION, line)
    for kind, words in _REFUSALS:
        if words in text:
            notes.say(f"refused {kind}", text[:200], SECTION, line)
            break


def _csv(text: str, line: Line, notes: Notes) -> None:
    """A row of `--query-gpu=... --format=csv`: what a cell is, its form tells."""
    cells = [cell.strip() for cell in text.split(", ")]
    names = [cell for cell in cells if accelerator_name(cell) and not _CELL.fullmatch(cell)]
    others = [_CELL.fullmatch(cell) for cell in cells if cell not in names and cell != "[N/A]"]
    matches = [match for match in others if match is not None]
    told = [match for match in matches if match[1] or match[2] or "MiB" in match[0]]
    if len(names) != 1 or len(matches) != len(others) or not told or len(names[0]) > 60:
        return
    for match in matches:
        notes.say("driver", match[1] or "", SECTION, line)
    capability = next((match[2] for match in matches if match[2]), None)
    sizes = [int(match[3]) for match in matches if match[3]]
    memory = max(sizes) if sizes else None
    number = len(notes.cards.get("queried", {}))
    card = Card(names[0], place(SECTION, line), line.number, capability, memory)
    notes.card("queried", [number], card)


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
