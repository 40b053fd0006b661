"""`--version` of python, nvcc, gcc and ldd; `uname -a`, os-release."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import LISTED, Notes, version
from envdoctor.facts.pasted.system import gcc, os_and_machine, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "compilers"
_RELEASE = re.compile(r"release (\d{1,2}\.\d{1,2})(?:, V(\d{1,2}\.\d{1,2}\.\d{1,4}))?")
_BUILD = re.compile(r"Build cuda_(\d{1,2}\.\d{1,2})[._]")
_FILE = re.compile(r"CUDA Version (\d{1,2}\.\d{1,2}\.\d{1,4})")
_GCC = re.compile(r"(?:[\w.-]{0,40}-)?(?:gcc|g\+\+|c\+\+|cc)(?:-\d{1,2})?(?:\.exe)? \(")
_PYTHON = re.compile(r"Python (3\.\d{1,2}\.\d{1,3}[\w+]{0,6})")
_KERNEL = re.compile(r"Linux \S{1,80} (\d\S{1,80}) #")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what its lines say."""
    for line in lines:
        text = line.text
        if text.startswith(("Cuda compilation tools", "Build cuda_")):
            notes.say("toolkit", nvcc(text), "nvcc", line, LISTED)
        elif text.startswith("CUDA Version") and _FILE.fullmatch(text):
            notes.say("toolkit", text[len("CUDA Version ") :], "version.txt", line, LISTED)
        elif _GCC.match(text):
            notes.say("gcc", gcc(text.partition(" ")[2]), "gcc", line, LISTED)
        elif text.startswith(("ldd (", "ldd ")) and "libc" in text.lower():
            notes.say("glibc", version(text.split()[-1]), "ldd", line, LISTED)
        elif text.startswith("Python 3.") and _PYTHON.fullmatch(text):
            python(text[len("Python ") :], "python --version", line, notes, LISTED)
        elif text.startswith("Linux "):
            kernel = _KERNEL.match(text)
            if kernel:
                notes.say("kernel", kernel[1], "uname", line)
                os_and_machine(text, "uname", line, notes)
    for line, key, value in pairs:
        if key in ("pretty_name", "description"):
            os_and_machine(value.strip("\"' "), "os-release", line, notes)
        elif key == "productname" and value.startswith("macOS"):
            notes.say("system", "macOS", "sw_vers", line)


def nvcc(text: str) -> str:
    """The CUDA version that nvcc prints, in either of its last two lines; else empty."""
    release = _RELEASE.search(text) if "compilation tools" in text else None
    if release:
        return release[2] or release[1]
    build = _BUILD.search(text)
    return build[1] if build else ""
