"""`transformers-cli env`, `transformers env`, and those of accelerate, diffusers and datasets."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import (
    LISTED,
    RUNNING,
    WRITTEN,
    Card,
    Notes,
    Package,
    place,
    version,
)
from envdoctor.facts.pasted.projects import PROJECTS
from envdoctor.facts.pasted.system import accelerator_name, named, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "transformers env"
_VERSION_OF = re.compile(r"([\w.-]{1,40}) version(?: \([\w?/]{1,30}\))?\??")
_STATE = re.compile(r"\((True|False|CUDA|NA|XPU|NPU|HPU|MPS|None)\)")
#: Of the same form, but no packages.
_OTHER = ("python", "driver", "cuda", "gcc", "clang", "cmake", "libc", "os", "cudnn", "nvidia")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what its lines say."""
    for line, key, value in pairs:
        if not line.listed:
            continue
        match = _VERSION_OF.fullmatch(key)
        if key == "platform":
            notes.say("platform", value, SECTION, line)
        elif key == "python version":
            python(value, SECTION, line, notes)
        elif key in ("gpu type", "accelerator") and accelerator_name(value):
            _devices(value, line, lines, notes)
        elif match and match[1] not in _OTHER and version(value):
            _package(match[1], value, line, notes)


def _devices(value: str, line: Line, lines: List[Line], notes: Notes) -> None:
    """The devices that nvidia-smi lists, one a line; behind the last stands "VRAM"."""
    below = [other for other in lines if 0 < other.number - line.number <= 16]
    texts = [value]
    if " MiB" in value and not value.endswith("VRAM"):
        for other in below:
            texts.append(other.text)
            if other.listed or other.text.endswith("VRAM"):
                break
    for number, text in enumerate(texts if texts[-1].endswith("VRAM") else texts[:1]):
        card = Card(named(text.split(" VRAM")[0]), place(SECTION, line), line.number)
        notes.card("typed", [number], card)


def _package(name: str, value: str, line: Line, notes: Notes) -> None:
    project = PROJECTS.get(name.replace("_", "-"))
    number = version(value)
    state = _STATE.search(value)
    if project == "torch":
        rank = RUNNING if state else LISTED
        notes.say("torch", number, SECTION, line, rank)
        if state and state[1] in ("True", "CUDA"):
            notes.say("available", "yes", SECTION, line)
        elif state and state[1] == "False":
            notes.say("available", "no", SECTION, line)
    elif project == "mmcv":
        notes.say("mmcv", number, SECTION, line, WRITTEN)  # of which flavour is not said
    elif project:
        notes.install(project, Package(number, place(SECTION, line), line.number, RUNNING))
