"""What frameworks above torch print of themselves: lightning, deepspeed, ultralytics and YOLOv5."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import (
    LISTED,
    Card,
    Notes,
    Package,
    place,
    version,
)
from envdoctor.facts.pasted.system import accelerator_name, python
from envdoctor.facts.pasted.text import Line, Pair

#: "Ultralytics YOLOv8.0.196 🚀 Python-3.10.12 torch-2.1.0+cu118 CUDA:0 (Tesla T4, 15102MiB)",
#: "YOLOv5 🚀 v5.0-290-g62409ee torch 1.9.0+cu102 CUDA:0 (...)", "Using torch 1.7.0 CPU"
_YOLO = re.compile(
    r"(?:Ultralytics|YOLO\w{1,12}|Using)\b.{0,120}?\btorch[- ](\d[\w.+]{2,40}) (?:CUDA:\d|CPU|MPS)"
)
_ULTRALYTICS = re.compile(r"Ultralytics (?:YOLOv?)?(\d{1,2}\.\d{1,3}\.\d{1,4})\b")
_PYTHON = re.compile(r"\bPython-(3\.\d{1,2}\.\d{1,2})\b")
_DEVICE = re.compile(r"\bCUDA:(\d{1,2}) \(([^(),]{3,60}), (\d{4,7})(?:\.\d{1,3})?Mi?B\)")
_DEEPSPEED = re.compile(r"(\d{1,2}\.\d{1,3}\.\d{1,3}[\w.+]{0,30}),")
#: The sections of lightning's report, and what each says.
_SECTIONS = ("cuda", "lightning", "packages", "system")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what their lines say."""
    _yolo(lines, notes)
    _deepspeed(pairs, notes)
    _lightning(lines, notes)


def _yolo(lines: List[Line], notes: Notes) -> None:
    section = "YOLO's line"
    for line in lines:
        if "CUDA:" not in line.text and "torch" not in line.text:
            continue
        match = _YOLO.search(line.text)
        if match:
            notes.say("torch", version(match[1]), section, line)
            interpreter = _PYTHON.search(line.text)
            release = _ULTRALYTICS.search(line.text)
            if interpreter:
                python(interpreter[1], section, line, notes)
            if release:
                package = Package(release[1], place(section, line), line.number, LISTED)
                notes.install("ultralytics", package)
        device = _DEVICE.search(line.text)
        if device and accelerator_name(device[2]):
            where = place(section, line)
            card = Card(device[2], where, line.number, memory_mib=int(device[3]))
            notes.card("yolo", [int(device[1])], card)
            notes.say("available", "yes", section, line)


def _deepspeed(pairs: List[Pair], notes: Notes) -> None:
    """`ds_report`: its operators compile when they are first used, unless they were installed."""
    section = "ds_report"
    if not any(key == "deepspeed info" for _, key, _ in pairs):
        return
    for line, key, value in pairs:
        if key == "torch version":
            notes.say("torch", version(value), section, line)
        elif key == "torch cuda version":
            notes.say("torch.cuda", "cpu" if value == "None" else version(value), section, line)
        elif key == "torch hip version":
            notes.say("torch.hip", version(value), section, line)
        elif key == "nvcc version":
            notes.say("toolkit", version(value), section, line)
        elif key == "deepspeed info":
            match = _DEEPSPEED.match(value)
            if match:
                package = Package(match[1], place(section, line), line.number, LISTED)
                notes.install("deepspeed", package)


def _lightning(lines: List[Line], notes: Notes) -> None:
    """Lightning's collect_env_details: sections, in each names with values, devices in a list."""
    section = "lightning's details"
    inside, names = "", False
    for line in lines:
        key, mark, value = (part.strip() for part in line.text.partition(":"))
        key = key.lower().strip("*` ")
        if line.listed and mark and not value and key in _SECTIONS:
            inside, names = key, False
        elif inside == "cuda" and key == "gpu":
            names = True
            if accelerator_name(value):
                _lightning_card(value, section, line, notes)
        elif inside == "cuda" and key == "available" and value in ("True", "False"):
            names = False
            notes.say("available", "yes" if value == "True" else "no", section, line)
        elif inside == "cuda" and key == "version" and (version(value) or value == "None"):
            notes.say("torch.cuda", version(value) or "cpu", section, line)
        elif inside == "cuda" and names and line.listed and accelerator_name(line.text):
            _lightning_card(line.text, section, line, notes)
        elif inside == "packages" and key == "pytorch_version":
            notes.say("torch", version(value), section, line)
        elif inside == "system" and key == "python":
            python(value, section, line, notes)


def _lightning_card(name: str, section: str, line: Line, notes: Notes) -> None:
    number = len(notes.cards.get("lightning", {}))
    notes.card("lightning", [number], Card(name, place(section, line), line.number))
