"""Names of GPUs: what people type and what devices print, matched against the table `gpu`."""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Value

_TOKEN = re.compile(r"[a-z]+\d*[a-z]*|\d+[a-z]*")

#: A number of four digits and what people write onto it without a space: 4070TiSuper, 5090Dv2.
_GLUED = re.compile(r"(?i)(?<!\d)(\d{4})(ti)?(super)?(d)?(ada)?(?=v\d|\b)")

#: How nvidia-smi ends a name for which its table has no room.
_CUT = ("...", "\u2026")
#: What stands before a product's name.
_BRANDS = ("nvidia", "geforce", "tesla")


class Device(NamedTuple):
    """A row of the table `gpu`."""

    id: str
    row: Dict[str, Value]


def tokens(name: str) -> Tuple[str, ...]:
    """The words of a product's name in small letters: "rtx", "4070", "ti" of "RTX4070Ti"."""
    spaced = re.sub(r"(?i)(rtx|gtx|pro)(?=\d)", r"\1 ", name)
    spaced = _GLUED.sub(lambda match: " ".join(filter(None, match.groups())) + " ", spaced)
    return tuple(_TOKEN.findall(spaced.lower()))


def lookup(name: str, knowledge: Knowledge) -> Optional[Device]:
    """The device of a name: whole tokens in a row, the longest match first; None if none is.

    A10 is not in "A100", nor L4 in "L40S". Of a name that nvidia-smi cut ("GeForce RTX 208...") it
    is one of the devices that it may be, if they are all of one compute capability.
    """
    if name.endswith(_CUT):
        return _begun(name, knowledge)
    words = tokens(name)
    best: Optional[Device] = None
    length = 0
    for known, device in _names(knowledge):
        if len(known) > length and _within(known, words):
            best, length = device, len(known)
    return best


def products(knowledge: Knowledge) -> Dict[Version, List[str]]:
    """{compute capability: the products that have it}, the oldest first."""
    table = knowledge.tables.get("gpu")
    found: Dict[Version, List[str]] = {}
    for key, row in table.rows.items() if table else ():
        capability = row.get("cc")
        if isinstance(capability, Version):
            found.setdefault(capability, []).append(str(row.get("product", key)))
    return dict(sorted(found.items()))


def _begun(name: str, knowledge: Knowledge) -> Optional[Device]:
    """The device of a name whose end is missing."""
    words = tokens(name.rstrip("."))
    while words and words[0] in _BRANDS:
        words = words[1:]
    text = "".join(words)
    if not text:
        return None
    known = _names(knowledge)
    # those that it begins, and those that stand in it whole, before its last word
    possible = [d for k, d in known if "".join(k).startswith(text)]
    possible = possible or [d for k, d in known if _within(k, words[:-1])]
    capabilities = {str(device.row.get("cc", "")) for device in possible}
    return possible[0] if len(capabilities) == 1 else None


def family_of(name: str, knowledge: Knowledge) -> Value:
    """The family of a device, "" if its name is not known."""
    device = lookup(name, knowledge)
    return device.row.get("family", "") if device else ""


def _within(part: Tuple[str, ...], whole: Tuple[str, ...]) -> bool:
    size = len(part)
    return any(whole[i : i + size] == part for i in range(len(whole) - size + 1))


def _names(knowledge: Knowledge) -> List[Tuple[Tuple[str, ...], Device]]:
    table = knowledge.tables.get("gpu")
    found: List[Tuple[Tuple[str, ...], Device]] = []
    for key, row in table.rows.items() if table else ():
        device = Device(str(key), row)
        names = row.get("names", ())
        texts = (str(key), *(names if isinstance(names, tuple) else ()))
        found.extend((tokens(str(text)), device) for text in texts)
    return found
