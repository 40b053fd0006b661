"""What messages of CUDA and its driver mean: versions and architectures, looked up."""

from __future__ import annotations

import re
from typing import Dict, Iterator, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.schema import typed

_BUILT = re.compile(r"(?:sm|compute)_(\d{2,3})")
_DRIVER = ("old-driver", "requirement", "container-driver", "ptx")


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """`driver-fault` with versions to people's taste, `refused-arch` with its CUDA."""
    if event.kind != "device":
        return
    fault = event.field("fault")
    if fault in _DRIVER:
        yield event.derived("driver-fault", **_driver(event))
    elif fault in ("refused-arch", "paddle-arch"):
        yield event.derived("refused-arch", **_arch(event, knowledge))
    elif fault == "announced":
        yield from _announced(event, knowledge)


def _driver(event: Event) -> Dict[str, str]:
    """`cuda` that the driver serves (11000 is 11.0), `needed` of CUDA or of the driver."""
    found = event.field("found")
    cuda = f"{int(found) // 1000}.{int(found) % 1000 // 10}" if found.isdecimal() else ""
    condition = event.field("condition").replace(" ", "")
    return {
        "cuda": cuda or (event.field("version") if event.field("fault") == "old-driver" else ""),
        "needed": condition or event.field("needs"),
    }


def _announced(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """A runtime from before the GPU, or of a later major version than the driver serves."""
    runtime, served = _numbers(event.field("runtime")), _numbers(event.field("served"))
    capability = event.field("capability")
    table = knowledge.tables.get("architecture")
    row = table.texts.get(typed("version", capability), {}) if table is not None else {}
    first = row.get("first_cuda", "")
    if first and runtime < _numbers(first):
        yield event.derived("refused-arch", fault="runtime", first_cuda=first, age="new")
    if served[:1] < runtime[:1]:
        yield event.derived("driver-fault", fault="runtime", cuda=event.field("served"))


def _numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _arch(event: Event, knowledge: Knowledge) -> Dict[str, str]:
    """`capability` "12.0", `first_cuda` that has code for it, `age` beside what torch has."""
    arch = event.field("arch")
    capability = f"{arch[:-1]}.{arch[-1:]}" if len(arch) >= 2 else ""
    fields = {"capability": capability, "first_cuda": "", "age": ""}
    table = knowledge.tables.get("architecture")
    if table is not None and capability:
        row = table.texts.get(typed("version", capability), {})
        fields["first_cuda"] = row.get("first_cuda", "")
        fields["last_cuda"] = row.get("last_cuda", "")
    built = [int(number) for number in _BUILT.findall(event.field("built"))]
    if built and arch:
        fields["age"] = "old" if int(arch) < min(built) else "new"
    elif event.field("gone"):
        fields["age"] = "old"
    return fields
