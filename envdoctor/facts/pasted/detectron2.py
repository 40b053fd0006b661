"""`python -m detectron2.utils.collect_env`: a table of two columns, then torch's build.

Where detectron2._C loads, "Compiler" and "CUDA compiler" are those that built it; where it does
not, they are those that are here. Lines that mm's collect_env has too are read in `openmmlab`.
"""

from __future__ import annotations

from typing import Dict, List

from envdoctor.facts.pasted.compilers import nvcc
from envdoctor.facts.pasted.notes import RUNNING, Notes, Package, place, version
from envdoctor.facts.pasted.system import capabilities, cards
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "detectron2's collect_env"
_PROJECTS: Dict[str, str] = {
    "numpy": "numpy",
    "detectron2": "detectron2",
    "torchvision": "torchvision",
    "pillow": "pillow",
    "fvcore": "fvcore",
    "iopath": "iopath",
}
_FLAGS = " arch flags"


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
    """Note what its lines say."""
    # Names and versions alone may stand in a list that was cut as well.
    section = SECTION if any(key == "sys.platform" for _, key, _ in pairs) else "report"
    for line, key, value in pairs:
        if key in ("cuda compiler", "detectron2 cuda compiler"):
            _compiler(value, line, notes)
        elif key.endswith(_FLAGS) and len(key.split()) == 3:
            for code in capabilities(value):
                notes.say(f"sass {key[: -len(_FLAGS)]}", code, SECTION, line)
        elif key == "detectron2._c" and "@" not in value:
            notes.say("import detectron2", value, SECTION, line)
        elif key == "torch._c._glibcxx_use_cxx11_abi" and value in ("True", "False"):
            notes.say("torch.abi", str(int(value == "True")), SECTION, line)
        elif key == "gpu available":
            said = "yes" if value in ("True", "Yes") else "no" if value[:2] in ("Fa", "No") else ""
            notes.say("available", said, SECTION, line)
        elif key == "driver version":
            notes.say("driver", version(value), SECTION, line)
        elif key.startswith("gpu ") and key[4:5].isdigit():
            cards(f"GPU {key[4:]}: {value}", SECTION, line, notes)
        elif key in _PROJECTS and version(value):
            path = value.partition(" @")[1]
            # without its first line it may be a row of a list of packages
            if path or (not line.listed and section == SECTION):
                number = version(value.split(" @")[0])
                package = Package(number, place(section, line), line.number, RUNNING)
                notes.install(_PROJECTS[key], package)


def _compiler(value: str, line: Line, notes: Notes) -> None:
    """The words of nvcc are those of the nvcc that is here."""
    if nvcc(value):
        notes.say("toolkit", nvcc(value), SECTION, line)
    elif value.lower() == "not available":
        notes.say("cuda detectron2", "cpu", SECTION, line)
    else:
        number = version(value[5:] if value.startswith("CUDA ") else value)
        notes.say("cuda detectron2", number, SECTION, line)
