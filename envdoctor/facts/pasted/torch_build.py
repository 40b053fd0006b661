"""`torch.__config__.show()`, which several reports end with, and what torch itself warns of.

"NVCC architecture flags" are the GPU code in the build, compiled and PTX: they say more of a source
build or conda's than its version does.
"""

from __future__ import annotations

import re
from typing import List, Optional, Tuple

from envdoctor.facts.pasted.notes import LISTED, Card, Notes, place, version
from envdoctor.facts.pasted.system import capability
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "torch's build"
_WARNING = "torch's warning"
_FLAG = re.compile(r"arch=compute_\d{2,3}[af]?,code=\[?(?:sm|compute)_(\d{2,3})[af]?")
_ABI = re.compile(r"_GLIBCXX_USE_CXX11_ABI=([01])\b")
_SETTING = re.compile(r"\b(USE_CUDA|USE_ROCM|CUDA_VERSION|TORCH_VERSION|USE_XPU)=([\w.+]{1,40})")
_FOUND = re.compile(r"\(found version (\d{4,5})\)")
#: What torch says where the driver does not serve it.
_REFUSALS = (
    ("old", "driver on your system is too old"),
    ("old", "CUDA driver version is insufficient for CUDA runtime version"),
)
_DEVICE = re.compile(r"(\S.{0,80}) with CUDA capability sm_(\d{2,3}) is not compatible")
_NO_IMAGE = "no kernel image is available for execution on the device"
_SUPPORTS = "PyTorch install supports CUDA capabilities "


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
    """Note what its lines say."""
    for line in lines:
        text = line.text
        if text.startswith("CUDA Runtime "):
            notes.say("torch.cuda", version(text[len("CUDA Runtime ") :]), SECTION, line, LISTED)
        elif text.startswith("HIP Runtime "):
            notes.say("torch.hip", version(text[len("HIP Runtime ") :]), SECTION, line, LISTED)
        elif text.startswith("NVCC architecture flags:"):
            _flags(text, line, notes)
        elif text.startswith("Build settings:"):
            _settings(text, line, notes)
        else:
            _warned(text, line, notes)


def _flags(text: str, line: Line, notes: Notes) -> None:
    """The architectures, unless the line was cut within the list."""
    flags = [flag for flag in text.partition(":")[2].split(";") if flag.strip()]
    flags = [flag.strip() for flag in flags if flag.strip() not in ("-gencode", "")]
    found = [(_FLAG.fullmatch(flag.rstrip("]")), flag) for flag in flags]
    code = [(match, capability(match[1])) for match, _ in found if match]
    if not code or len(code) != len(flags) or not all(c for _, c in code):
        return
    for match, number in code:
        kind = "ptx torch" if "code=compute" in match[0] else "sass torch"
        notes.say(kind, number or "", SECTION, line)
    notes.say("whole torch", "yes", SECTION, line)


def _settings(text: str, line: Line, notes: Notes) -> None:
    abi = _ABI.search(text)
    if abi:
        notes.say("torch.abi", abi[1], SECTION, line, LISTED)
    settings = dict(_SETTING.findall(text))
    if version(settings.get("CUDA_VERSION", "")):
        notes.say("torch.cuda", version(settings["CUDA_VERSION"]), SECTION, line, LISTED)
    notes.say("torch", version(settings.get("TORCH_VERSION", "")), SECTION, line, LISTED)
    others = [settings.get(name, "0") for name in ("USE_ROCM", "USE_XPU")]
    if settings.get("USE_CUDA") in ("0", "OFF") and all(other in ("0", "OFF") for other in others):
        notes.say("torch.cuda", "cpu", SECTION, line, LISTED)


def _warned(text: str, line: Line, notes: Notes) -> None:
    for kind, words in _REFUSALS:
        if words in text:
            notes.say(f"refused {kind}", _around(text, words), _WARNING, line)
    found = _FOUND.search(text) if "driver on your system is too old" in text else None
    if found:
        served = int(found[1])
        notes.say("serves", f"{served // 1000}.{served % 1000 // 10}", _WARNING, line)
    if _NO_IMAGE in text:
        notes.say("no image", _NO_IMAGE, _WARNING, line)
    device = _DEVICE.search(text) if " is not compatible" in text else None
    if device:
        name = device[1].rpartition("UserWarning:")[2].strip()
        card = Card(name, place(_WARNING, line), line.number, capability(device[2]))
        notes.card("warned", [0], card)
    _, mark, listed = text.partition(_SUPPORTS)
    code = _listed(listed) if mark else None
    if code:
        for kind, number in code:
            notes.say(f"{kind} torch", number, _WARNING, line)
        notes.say("whole torch", "yes", _WARNING, line)


def _around(text: str, words: str) -> str:
    """The sentence that holds the words, without what stands before it in the line."""
    start = text.find(words)
    return text[max(0, text.rfind(": ", 0, start) + 1) :].strip()[:160]


def _listed(text: str) -> Optional[List[Tuple[str, str]]]:
    """Architectures as "sm_37 sm_50 compute_37."; None if a part of the list is none."""
    found = []
    for word in text.replace(",", " ").replace("'", " ").strip("[]. ").split():
        kind, mark, digits = word.rstrip(".").partition("_")
        number = capability(digits.rstrip("af"))
        if not mark or number is None or kind not in ("sm", "compute"):
            return None
        found.append(("sass" if kind == "sm" else "ptx", number))
    return found
