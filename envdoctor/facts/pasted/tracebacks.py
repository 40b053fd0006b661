"""What the dynamic loader said of a compiled module, in a traceback."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import Notes
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "traceback"
_FAILED = re.compile(
    r"(?:\w+\.)?(?:ImportError|OSError): (?:(?P<file>\S{1,400}?\.so[\d.]{0,12}): )?"
    r"(?P<said>undefined symbol: \w{1,400}|\S{1,80}: cannot open shared object file.{0,40})"
)
_FRAME = re.compile(r'File "(?P<file>[^"]{1,400})", line \d{1,6}')
_PACKAGE = re.compile(r"/(?:site|dist)-packages/(?P<name>[A-Za-z_]\w{0,60})[/.]")
#: Compiled modules, and folders of packages, of the projects that are known by name.
_PROJECTS = {
    "cumm": "cumm",
    "detectron2": "detectron2",
    "flash_attn": "flash-attn",
    "flash_attn_2_cuda": "flash-attn",
    "flash_attn_cuda": "flash-attn",
    "mmcv": "mmcv",
    "natten": "natten",
    "pytorch3d": "pytorch3d",
    "torch_cluster": "torch-cluster",
    "torch_scatter": "torch-scatter",
    "torch_sparse": "torch-sparse",
    "torch_spline_conv": "torch-spline-conv",
    "torchaudio": "torchaudio",
    "xformers": "xformers",
}
#: How many lines above the error a frame may stand whose module it is about.
_NEAR = 8


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
    """Note each compiled module that did not load."""
    for position, line in enumerate(lines):
        match = _FAILED.search(line.text) if "Error: " in line.text else None
        if match is None:
            continue
        project = _project(match["file"] or "") or _of_frame(
            lines[max(0, position - _NEAR) : position]
        )
        if project:
            notes.say(f"import {project}", match["said"].strip(), SECTION, line)


def _of_frame(above: List[Line]) -> str:
    """The project whose file stands in the frame next above."""
    for line in reversed(above):
        frame = _FRAME.search(line.text)
        if frame and _PACKAGE.search(frame["file"]):  # not importlib's own
            return _project(frame["file"])
    return ""


def _project(file: str) -> str:
    found = list(_PACKAGE.finditer(file))
    name = found[-1]["name"] if found else file.rpartition("/")[2].partition(".")[0]
    return _PROJECTS.get(name, "")
