"""`collect_env` of mmcv, mmengine and the packages above them (mmdet, mmdet3d, mmseg, ...).

Printed as "key: value", with or without a logger's prefix, or as a dictionary. "MMCV Compiler" is
what mmcv.ops says of itself, and "n/a" where mmcv has no ops.
"""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.compilers import nvcc
from envdoctor.facts.pasted.notes import RUNNING, Notes, Package, place, version
from envdoctor.facts.pasted.system import cards, gcc, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "collect_env"
_PROJECTS = {
    "torchvision": "torchvision",
    "mmengine": "mmengine",
    "mmdetection": "mmdet",
    "mmdet": "mmdet",
    "mmdetection3d": "mmdet3d",
    "mmdet3d": "mmdet3d",
    "mmsegmentation": "mmsegmentation",
    "mmseg": "mmsegmentation",
    "mmclassification": "mmcls",
    "mmpretrain": "mmpretrain",
    "mmpose": "mmpose",
    "mmaction2": "mmaction2",
    "mmrotate": "mmrotate",
    "mmtracking": "mmtrack",
    "mmocr": "mmocr",
    "mmdeploy": "mmdeploy",
    "mmrazor": "mmrazor",
    "mmyolo": "mmyolo",
}
#: A commit that a checkout appends to its version: "2.11.0+ee5dc2c", "1.0.0rc4+", "2.0.0+unknown".
_CHECKOUT = re.compile(r"\+(?:[0-9a-f]{6,40}|unknown)?$")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
    """Note what its lines say."""
    # Names and versions alone may stand in a list that was cut as well.
    section = SECTION if any(key == "sys.platform" for _, key, _ in pairs) else "report"
    for line, key, value in pairs:
        if key == "sys.platform":
            notes.say("system", value, SECTION, line)
        elif key == "python" and not line.listed:
            python(value, SECTION, line, notes)
        elif key == "cuda available":
            said = {"true": "yes", "false": "no"}.get(value.lower(), "")
            notes.say("available", said, SECTION, line)
        elif key == "musa available" and value == "True":
            notes.say("vendor", "moore-threads", SECTION, line)
        elif key.startswith("gpu "):
            cards(line.text, SECTION, line, notes)
        elif key == "cuda_home":
            notes.say("cuda_home", value.split(" - ")[0], SECTION, line)
        elif key == "nvcc":
            notes.say("toolkit", nvcc(value), SECTION, line)
        elif key == "gcc":
            notes.say("gcc", gcc(value), SECTION, line)
        elif key == "pytorch":
            # detectron2's table has the folder after the version
            notes.say("torch", version(value.split(" @")[0]), SECTION, line)
        elif key in ("mmcv", "mmcv compiler", "mmcv cuda compiler"):
            notes.say(key, value, SECTION, line)
        elif key in _PROJECTS and version(value) and _is_stated(line, value):
            number = _CHECKOUT.sub("", version(value.split(" @")[0]))
            package = Package(number, place(section, line), line.number, RUNNING)
            notes.install(_PROJECTS[key], package)
            if section == SECTION and line.text.lstrip("'").startswith("MM"):
                # its own collect_env names it so, and has imported it
                notes.say(f"imported {_PROJECTS[key]}", "yes", SECTION, line)


def _is_stated(line: Line, value: str) -> bool:
    """Whether it is no row of a list of packages: that has no colon."""
    return ":" in line.text.partition(value)[0] or " @" in value
