"""What compiled packages print of themselves: xformers, bitsandbytes, numba, sglang, paddle."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import LISTED, RUNNING, Card, Notes, Package, place, version
from envdoctor.facts.pasted.projects import PROJECTS
from envdoctor.facts.pasted.system import accelerator_name, cards
from envdoctor.facts.pasted.text import Line, Pair

_BUILT_FOR = re.compile(r"PyTorch (\S{3,40}) with CUDA \S{1,12} \(you have (\S{3,40})\)")
_TITLE = re.compile(r"=+ ?bitsandbytes v(\d[\w.]{2,20}) ?=+")
_NUMBA = re.compile(r"id (\d{1,2})\s+b?'(.{3,60})'\s+\[(?:SUPPORTED|NOT SUPPORTED).{0,60}\]")
_DEVICES = re.compile(r"gpu (\d{1,3}(?:,\d{1,3})*) compute capability")
_DRIVER = re.compile(r"\d{3}\.\d{2,3}(?:\.\d{2})?")
_SERVED = re.compile(r"\d{1,2}\.\d|\d{4,5}")
_PADDLE = re.compile(r"Driver API Version: (\d{1,2}\.\d)")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what their lines say."""
    for line in lines:
        text = line.text
        built = _BUILT_FOR.search(text) if "(you have" in text else None
        title = _TITLE.fullmatch(text) if text.startswith("=") else None
        device = _NUMBA.match(text) if text.startswith("id ") else None
        served = _PADDLE.search(text) if "Driver API Version" in text else None
        if built:
            notes.say("import xformers", built[0], "xformers' warning", line)
            notes.say("torch", version(built[2]), "xformers' warning", line)
        elif title:
            package = Package(title[1], place("bitsandbytes", line), line.number, RUNNING)
            notes.install("bitsandbytes", package)
        elif device:
            cards(f"GPU {device[1]}: {device[2]}", "numba", line, notes)
        elif served:
            notes.say("serves", served[1], "paddle", line)
    _xformers(pairs, notes)
    for position, (line, key, value) in enumerate(pairs):
        before = pairs[position - 1].key if position else ""
        if key == "cuda" and before == "pytorch":  # bitsandbytes
            notes.say("torch.cuda", version(value), "bitsandbytes", line)
        elif key == "cuda driver version":
            _driver(value, line, notes)
        elif key == "paddle version":
            _paddle(pairs[position + 1 : position + 2], value, line, notes)
        elif _DEVICES.fullmatch(key):
            notes.say(f"capability {_DEVICES.fullmatch(key)[1]}", value, "sglang", line)  # type: ignore[index]
    _numba(pairs, notes)
    _sglang(pairs, notes)


def _xformers(pairs: List[Pair], notes: Notes) -> None:
    """`python -m xformers.info`: torch as it runs, the device that it sees."""
    section = "xformers.info"
    capability = next((p.value for p in pairs if p.key == "gpu.compute_capability"), None)
    for line, key, value in pairs:
        if key == "pytorch.version":
            notes.say("torch", version(value), section, line)
        elif key == "pytorch.cuda" and value in ("available", "not available"):
            notes.say("available", "yes" if value == "available" else "no", section, line)
        elif key == "gpu.name" and accelerator_name(value):
            card = Card(value, place(section, line), line.number, version(capability or "") or None)
            notes.card("typed", [0], card)


def _driver(value: str, line: Line, notes: Notes) -> None:
    """The driver's number (sglang), or the CUDA that it serves (numba: 12.0, before that 11040)."""
    if _DRIVER.fullmatch(value):
        notes.say("driver", value, "sglang", line)
    elif _SERVED.fullmatch(value):
        number = value if "." in value else f"{int(value) // 1000}.{int(value) % 1000 // 10}"
        notes.say("serves", number, "numba", line)


def _paddle(following: List[Pair], value: str, line: Line, notes: Notes) -> None:
    """Whether it is the build for CUDA, the line below says."""
    gpu = [p.value for p in following if p.key == "paddle with cuda"]
    if version(value) and gpu in (["True"], ["False"]):
        name = "paddlepaddle-gpu" if gpu == ["True"] else "paddlepaddle"
        where = place("paddle's summary", line)
        notes.install(name, Package(version(value), where, line.number, LISTED))


def _numba(pairs: List[Pair], notes: Notes) -> None:
    for line, key, value in pairs:
        if key == "platform name":
            notes.say("platform", value, "numba", line)


def _sglang(pairs: List[Pair], notes: Notes) -> None:
    """Its list of packages, "huggingface_hub: 0.27.0", behind torch's version."""
    if not any(key == "sglang" for _, key, _ in pairs):
        return
    for line, key, value in pairs:
        name = PROJECTS.get(key.replace("_", "-"), "")
        if name and name != "torch" and version(value) == value and not line.listed:
            notes.install(name, Package(value, place("sglang", line), line.number, RUNNING))
