"""What people write by hand into the forms of a tracker: "- GPU model [GTX 1080Ti]"."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.compilers import nvcc
from envdoctor.facts.pasted.notes import WRITTEN, Card, Notes, Package, place, version
from envdoctor.facts.pasted.projects import PROJECTS
from envdoctor.facts.pasted.system import accelerator_name, gcc, named, os_and_machine, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "form"
_GPUS = {"gpu", "gpus", "gpu model", "gpu models", "gpu name", "gpu type", "graphics card"}
_GPUS |= {"gpu models and configuration", "gpu model and memory", "device", "video card"}
_DRIVERS = {"nvidia driver", "driver", "gpu driver", "driver version", "nvidia driver version"}
_SYSTEMS = {"os", "operating system", "system", "os platform and distribution", "os version"}
_COUNT = re.compile(
    r"(\d{1,2}) ?[x\u00d7*] ?(?=[A-Za-z])|\s{0,3}\(?[x\u00d7*] ?(\d{1,2})\)?(?=$|\s{0,3}\()"
)
_TOOLKIT = re.compile(r"(?:CUDA )?(?:Version )?(\d{1,2}\.\d{1,2}\.\d{1,4})\b")
_LONGEST = 60


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
    """Note what is filled in, where no tool printed the line."""
    understood = set(notes.understood)
    for line, key, written in pairs:
        if len(written) > _LONGEST or line.number in understood:
            continue
        value = written.strip("[] ")
        if key in _GPUS and accelerator_name(value):
            _gpus(value, line, notes)
        elif key in _DRIVERS and version(value):
            notes.say("driver", version(value), SECTION, line, WRITTEN)
        elif key in _SYSTEMS:
            os_and_machine(value, SECTION, line, notes, WRITTEN)
        elif key in ("python", "python version", "python_version"):
            python(value.lower().replace("python", "").strip(), SECTION, line, notes, WRITTEN)
        elif key in ("gcc", "gcc version", "gcc/compiler version"):
            notes.say("gcc", version(value) or gcc(value), SECTION, line, WRITTEN)
        elif key in ("nvcc", "nvcc version", "cuda toolkit"):
            notes.say("toolkit", nvcc(value) or version(value), SECTION, line, WRITTEN)
        elif key.startswith("cuda") and key.endswith("version"):
            # three numbers are the toolkit's; two may be anybody's
            toolkit = _TOOLKIT.match(value)
            notes.say("toolkit", toolkit[1] if toolkit else "", SECTION, line, WRITTEN)
        else:
            _project(key, value, line, notes)


def _gpus(value: str, line: Line, notes: Notes) -> None:
    if "," in value or "/" in value or value.startswith("GPU "):
        return  # several models: which of them is the machine's is not clear
    match = _COUNT.search(value)
    count = int(match[1] or match[2]) if match else 1
    name = _COUNT.sub("", value).strip()
    name = name[1:-1] if name.startswith("(") and name.endswith(")") else name
    if 1 <= count <= 16 and name:
        card = Card(named(name), place(SECTION, line), line.number)
        notes.card("written", range(count), card)


def _project(key: str, value: str, line: Line, notes: Notes) -> None:
    name = key[: -len(" version")] if key.endswith((" version", "_version")) else key
    project = PROJECTS.get(name.replace("_", "-").replace(" ", "-"))
    number = version(value)
    if project == "torch" and number:
        notes.say("torch", number, SECTION, line, WRITTEN)
    elif project == "mmcv":
        notes.say("mmcv", number, SECTION, line, WRITTEN)  # of which flavour is not said
    elif project and number:
        notes.install(project, Package(number, place(SECTION, line), line.number, WRITTEN))
