"""`python -m torch.utils.collect_env`, of torch 1.0 and newer, and vllm's script of the same form.

"CUDA runtime version" is what the nvcc on PATH says, in three numbers. "CUDA used to build PyTorch"
is "None" or "Could not collect" for a CPU build, and "N/A" for ROCm.
"""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import LISTED, Notes, version
from envdoctor.facts.pasted.system import accelerator_name, cards, gcc, os_and_machine, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "collect_env"
#: What stands for a value that is not known.
NOTHING = ("could not collect", "n/a", "none", "no cuda", "not available", "no", "false", "")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what its lines say."""
    for line, key, value in pairs:
        if key == "pytorch version" and not line.listed:
            notes.say("torch", version(value), SECTION, line)
            if value == "N/A":
                notes.say("import torch", "PyTorch version: N/A", SECTION, line)
        elif key == "xpu used to build pytorch" and version(f"{value}.0"):
            notes.say("torch.xpu", value, SECTION, line)
        elif key == "cuda used to build pytorch":
            _cuda(value, line, notes)
        elif key == "rocm used to build pytorch" and version(value):
            notes.say("torch.hip", version(value), SECTION, line)
        elif key == "gcc version" and not value.startswith("gcc version "):
            notes.say("gcc", gcc(value), SECTION, line, LISTED)
        elif key == "libc version" and value.startswith("glibc-"):
            notes.say("glibc.libc", version(value[len("glibc-") :]), SECTION, line)
        elif key == "os" and not line.listed:
            os_and_machine(value, SECTION, line, notes)
        elif key == "python version" and not line.listed:
            python(value, SECTION, line, notes)
        elif key == "python platform":
            notes.say("platform", value, SECTION, line)
        elif key == "is cuda available":
            notes.say("available", _yes_or_no(value), SECTION, line)
        elif key == "cuda runtime version" and version(value).count(".") > 1:
            notes.say("toolkit", version(value), SECTION, line, LISTED)
        elif key == "nvidia driver version":
            notes.say("driver", version(value), SECTION, line)
        elif key == "cudnn version":
            notes.say("cudnn", _cudnn(value), SECTION, line, LISTED)
        elif key == "gpu models and configuration":
            _models(value, line, notes)
    _cudnn_files(lines, notes)


def _cuda(value: str, line: Line, notes: Notes) -> None:
    if version(value):
        notes.say("torch.cuda", version(value), SECTION, line)
    elif value.lower() in ("none", "could not collect"):
        notes.say("torch.cuda", "cpu", SECTION, line)


def _yes_or_no(value: str) -> str:
    return {"true": "yes", "yes": "yes", "false": "no", "no": "no"}.get(value.lower(), "")


def _models(value: str, line: Line, notes: Notes) -> None:
    """A single device without a number stands on the same line (ROCm, macOS)."""
    if re.match(r"\d{1,2} ?[x\u00d7*]", value):
        return  # filled in by hand
    if value.lower() in NOTHING or value.startswith("GPU "):
        cards(value, SECTION, line, notes)
    elif accelerator_name(value):
        cards(f"GPU 0: {value}", SECTION, line, notes)


def _cudnn(value: str) -> str:
    """The version in the name of a library: 7.6.5 of ".../libcudnn.so.7.6.5"."""
    _, mark, number = value.partition("libcudnn.so.")
    return version(number) if mark else version(value)


def _cudnn_files(lines: List[Line], notes: Notes) -> None:
    for line in lines:
        if line.text.startswith("/") and "/libcudnn.so." in line.text and " " not in line.text:
            notes.say("cudnn", _cudnn(line.text), SECTION, line, LISTED)
