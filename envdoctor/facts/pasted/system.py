"""Values that several formats print alike: Python, the operating system, GPUs, compilers."""

from __future__ import annotations

import re
from typing import List, Optional

from envdoctor.facts.pasted.notes import RUNNING, Card, Notes, place, version
from envdoctor.facts.pasted.text import Line

_PYTHON = re.compile(r"3\.\d{1,2}(?:\.\d{1,2}(?:(?:a|b|rc)\d{1,2})?)?(?![\d.])")
_GPU = re.compile(r"GPU (\d{1,3}(?:, ?\d{1,3}){0,63}) ?: ?(\S.{0,120})")
_CAPABILITY = re.compile(r"\(arch=(\d{1,2}\.\d)\)")
_ASIDE = re.compile(r"\s*\((?:UUID|arch|gfx)[^()]{0,100}\)?|\s*\(\d{1,3}\.?\d{0,3} ?G(?:i?B)?\)?$")
_MEMORY = re.compile(r", (\d{4,7}) MiB\b.{0,20}")
_NAMED = re.compile(
    r"(?i)\b(?:nvidia|geforce|tesla|quadro|titan|[rg]tx ?\d|rtx ?a?\d|gt ?\d{3}|grid|amd|radeon|"
    r"instinct|device [0-9a-f]{4}|mtt|orin|xavier|thor|tegra|gb?[0-9]{2,3}\b|"
    r"[abhklptv][0-9]{1,4}[a-z]?\b|mi\d{2,3}[a-z]?\b)"
)
_AMD = re.compile(r"(?i)\b(?:amd|radeon|instinct|device [0-9a-f]{4}|mi\d{2,3}[a-z]?|gfx\w+)\b")
_GCC_ASIDE = re.compile(r"\([^()]{0,200}\)")
_DISTRIBUTIONS = (
    # what PRETTY_NAME begins with, ID of os-release, parts of VERSION_ID
    ("ubuntu", "ubuntu", 2),
    ("debian", "debian", 1),
    ("centos stream", "centos", 1),
    ("centos", "centos", 1),
    ("rocky", "rocky", 2),
    ("almalinux", "almalinux", 2),
    ("red hat enterprise", "rhel", 2),
    ("oracle linux", "ol", 2),
    ("fedora", "fedora", 1),
    ("amazon linux", "amzn", 1),
    ("opensuse leap", "opensuse-leap", 2),
    ("suse linux enterprise server", "sles", 2),
    ("linux mint", "linuxmint", 2),
    ("alpine", "alpine", 2),
)
_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,4}){0,2}")
_MACHINE = re.compile(r"(?:^|[\s(_-])(x86_64|amd64|aarch64|arm64|ppc64le)(?:$|[\s)_-])")


def python(value: str, section: str, line: Line, notes: Notes, rank: int = RUNNING) -> None:
    """The interpreter: "3.8.10 (default, ...) [GCC 9.4.0]"."""
    number = _PYTHON.match(value)
    if number:
        notes.say("python", number[0], section, line, rank)
        if "MSC v." in value:
            notes.say("system", "win32", section, line)
        elif "[Clang" in value and ("arm64" in value or "macOS" in value):
            notes.say("system", "darwin", section, line)


def os_and_machine(value: str, section: str, line: Line, notes: Notes, rank: int = RUNNING) -> None:
    """The operating system as ID:VERSION_ID, and the processor's architecture."""
    lowered = value.lower().lstrip("[ ")
    machine = _MACHINE.search(lowered)
    if machine:
        name = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine[1], machine[1])
        notes.say("architecture", name, section, line, rank)
    if "windows" in lowered:
        notes.say("system", "win32", section, line, rank)
    elif lowered.startswith(("mac", "darwin", "os x")):
        notes.say("system", "darwin", section, line, rank)
    for start, identifier, parts in _DISTRIBUTIONS:
        number = _NUMBER.search(lowered) if lowered.startswith(start) else None
        if number:
            release = ".".join(number[0].split(".")[:parts])
            notes.say("os", f"{identifier}:{release}", section, line, rank)
            return


def gcc(value: str) -> str:
    """The version of gcc: 9.4.0 of "(Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0"; else empty."""
    if "clang" in value.lower() or "msvc" in value.lower():
        return ""
    rest = _GCC_ASIDE.sub(" ", value)
    return next((v for v in (version(word) for word in rest.split()) if v), "")


def accelerator_name(value: str) -> bool:
    """Whether a text names a GPU."""
    return _NAMED.search(value) is not None


def is_amd(name: str) -> bool:
    """Whether a device is one of AMD's."""
    return _AMD.search(name) is not None


def cards(text: str, section: str, line: Line, notes: Notes) -> bool:
    """Devices as "GPU 0,1: NVIDIA A100 (arch=8.0)"; whether the text is of that form."""
    match = _GPU.match(text)
    if match is None or not accelerator_name(match[2]):
        return False
    capability = _CAPABILITY.search(match[2])
    indices = [int(index) for index in match[1].replace(" ", "").split(",")]
    card = Card(named(match[2]), place(section, line), line.number, capability and capability[1])
    notes.card("printed", indices, card)
    return True


def named(text: str) -> str:
    """The name alone, without UUID, architecture and memory."""
    return _MEMORY.sub("", _ASIDE.sub("", text)).strip().strip("'\",").strip()


def truncated(name: str) -> bool:
    """Whether nvidia-smi's table had no room for the name."""
    return name.endswith(("...", "…"))


def capability(text: str) -> Optional[str]:
    """A compute capability as "8.6" from "sm_86", "8.6", "12.0" or "1.2.0"; None if it is none."""
    digits = "".join(c for c in text if c.isascii() and c.isdigit())
    if not 2 <= len(digits) <= 3:
        return None
    major = int(digits[:-1])
    return f"{major}.{digits[-1]}" if 3 <= major <= 20 else None


def capabilities(text: str) -> List[str]:
    """Those of a list "sm_35, sm_50" or "3.5, 5.0"; empty if a part of it is none."""
    parts = [part.strip(" '\"[]") for part in text.split(",")]
    found = [capability(part) for part in parts if part]
    whole = all(re.fullmatch(r"(?:sm_)?[\d.]{1,6}[af]?", part) for part in parts)
    return [c for c in found if c] if whole and all(found) else []
