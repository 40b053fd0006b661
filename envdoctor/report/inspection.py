"""What a binary is, for people and for programs."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Iterator, List, Tuple

import msgspec
from rich.text import Text

from envdoctor import __version__
from envdoctor.model.facts import Binary, GpuCode
from envdoctor.model.finding import SCHEMA_VERSION
from envdoctor.model.inspection import Inspection
from envdoctor.model.language import count, say, translate
from envdoctor.model.text import clean
from envdoctor.report.json import encode
from envdoctor.report.lines import printed, wrapped
from envdoctor.report.style import STYLES
from envdoctor.report.view import View

_LABEL = 12  # columns
_VERSION = re.compile(r"(.*?)_(\d+(?:\.\d+)*)$")
_SYMBOLS = 5
_MEBIBYTE = 1 << 20


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `inspect --format json` prints."""

    schema_version: int
    command: str
    envdoctor_version: str
    language: str  # of reasons
    inspection: Inspection


def as_json(inspection: Inspection, language: str) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/inspect.json."""
    answer = Answer(SCHEMA_VERSION, "inspect", __version__, language, inspection)
    return encode(msgspec.to_builtins(answer))


def as_text(inspection: Inspection, view: View, language: str) -> str:
    """Some lines, ended by a newline."""
    lines = [Text(clean(view.place(inspection.path), 4096), "bold")]
    for label, text in _described(inspection, view, language):
        lines += _line(label, text, view)
    if inspection.python:
        lines += [Text(), *_loading(inspection, view, language)]
    return printed(lines, view)


def _line(label: str, text: str, view: View, style: str = "") -> List[Text]:
    first = Text(f"  {label}")
    first.pad_right(max(1, _LABEL + 2 - first.cell_len))
    return wrapped(Text(clean(text, 20_000), style), view.width, first.plain, " " * first.cell_len)


def _described(one: Inspection, view: View, language: str) -> Iterator[Tuple[str, str]]:
    kind = say(language, one.kind)
    processor = say(language, "{machine}, {bits} bits", machine=one.machine, bits=one.bits)
    size = f"{one.size / _MEBIBYTE:.1f} MiB"
    yield "", ", ".join([kind, processor, size] if one.machine else [kind, size])
    if one.reason:
        yield "", translate(language, one.reason)
    for label, value in (
        ("SONAME", one.soname),
        ("BuildID", one.build_id),
        ("loader", one.interpreter),
        ("RPATH", one.rpath),
        ("RUNPATH", one.runpath),
        ("flags", " ".join(one.flags)),
        ("needs", " ".join(one.needed)),
        ("versions", " ".join(_highest(v for of in one.versions for v in of.versions))),
    ):
        if value:
            yield say(language, label), value
    if one.undefined or one.weak:
        told = count(language, one.undefined, "{number} undefined", "{number} undefined")
        yield say(language, "symbols"), told + say(language, ", {weak} weak", weak=one.weak)
    if one.gpu_code is not None:
        yield say(language, "GPU code"), _gpu_code(one, one.gpu_code, language)
    if view.verbose and one.gpu_code is not None:
        for group in one.gpu_code.groups:
            targets = [*(f"sm_{_joined(t)}" for t in group.sass)]
            targets += [f"compute_{_joined(t)}" for t in group.ptx]
            yield "", f"{group.containers} x {' '.join(targets)}"
    if view.verbose and one.defines:
        yield say(language, "defines"), " ".join(one.defines)


def _gpu_code(one: Inspection, code: GpuCode, language: str) -> str:
    told = [
        say(language, text, targets=" ".join(targets))
        for text, targets in (
            ("SASS for {targets}", code.sass or ()),
            ("PTX for {targets}", code.ptx or ()),
            ("PTX to be linked for {targets}", code.linkable),
        )
        if targets
    ]
    told.append(count(language, one.images, "{number} image", "{number} images"))
    return "; ".join(told)


def _joined(capability: str) -> str:
    return capability.replace(".", "")


def _highest(versions: Iterable[str]) -> List[str]:
    """Of each family of versions the highest: GLIBC_2.28, GLIBCXX_3.4.22."""
    found: Dict[str, Tuple[Tuple[int, ...], str]] = {}
    for version in versions:
        match = _VERSION.match(version)
        family, number = (match[1], match[2]) if match else (version, "")
        key = tuple(int(part) for part in number.split(".") if part and len(part) < 10)
        found[family] = max(found.get(family, ((), "")), (key, version))
    return sorted(version for _, version in found.values())


def _loading(one: Inspection, view: View, language: str) -> Iterator[Text]:
    python = view.place(one.python)
    if one.not_simulated:
        reason = translate(language, one.not_simulated)
        said = say(language, "Whether it loads is not known: {reason}", reason=reason)
        yield from wrapped(Text(clean(said, 2000)), view.width)
        return
    template = "In {python}, after import torch:" if one.beside_torch else "In {python}:"
    yield Text(clean(say(language, template, python=python), 4096))
    if one.module:
        yield from _line(say(language, "imported as"), one.module, view)
    if one.fault is None:
        yield from _line("", say(language, "it loads"), view, "bold green")
    else:
        yield from _fault(one.fault, view, language)
    for needed in one.loaded:
        if not needed.direct and not view.verbose:
            continue
        where = f"{view.place(needed.path)} ({translate(language, needed.origin)})"
        missing = say(language, "not found")
        yield Text("    " + clean(f"{needed.name} -> {where if needed.path else missing}", 9000))


def _fault(fault: Binary, view: View, language: str) -> Iterator[Text]:
    by = view.place(fault.by or fault.path)
    if fault.outcome == "missing-library":
        said = say(
            language,
            "it does not load: {library} is not found, which {by} needs",
            library=fault.missing,
            by=by,
        )
    elif fault.outcome == "missing-version":
        said = say(
            language,
            "it does not load: {file} ({origin}) does not define {version}",
            file=view.place(fault.instead),
            origin=translate(language, fault.origin),
            version=fault.missing,
        )
    elif fault.outcome == "missing-symbols":
        said = count(
            language,
            fault.count,
            "it does not load: nothing defines {number} symbol",
            "it does not load: nothing defines {number} symbols",
        )
    else:
        reason = translate(language, fault.reason)
        said = say(language, "it does not load: {reason}", reason=reason)
    yield from _line("", said, view, STYLES["error"])
    for symbol in fault.symbols if view.verbose else fault.symbols[:_SYMBOLS]:
        yield Text("    " + clean(symbol, 2000))
    if fault.instead and fault.outcome == "missing-library":
        said = say(
            language,
            "there is {file} ({origin})",
            file=fault.instead,
            origin=view.place(fault.origin),
        )
        yield from _line("", said, view)
    if fault.cause:
        yield from _line(fault.cause, f"envdoctor explain {fault.cause}", view)
