"""`transformers-cli env`, `transformers env`, and those of accelerate, diffusers and datasets."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import LISTED, RUNNING, Card, Notes, Package, place, version
from envdoctor.facts.pasted.projects import PROJECTS
from envdoctor.facts.pasted.system import accelerator_name, named, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "transformers env"
_VERSION_OF = re.compile(r"([\w.-]{1,40}) version(?: \([\w?/]{1,30}\))?\??")
_STATE = re.compile(r"\((True|False|CUDA|NA|XPU|NPU|HPU|MPS|None)\)")
#: Of the same form, but no packages.
_OTHER = ("python", "driver", "cuda", "gcc", "clang", "cmake", "libc", "os", "cudnn", "nvidia")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
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
            for number, name in enumerate(value.split(" VRAM")[0].split("\\n")):
                card = Card(named(name), place(SECTION, line), line.number)
                notes.card("typed", [number], card)
        elif match and match[1] not in _OTHER and version(value):
            _package(match[1], value, line, notes)


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
    elif project:
        notes.install(project, Package(number, place(SECTION, line), line.number, RUNNING))
