"""What facts and counts are in a sentence; the overview and the report say the same."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Sequence

from envdoctor.model.facts import NOT_SAID, Accelerator, Facts, Gpu, Observed, Tools
from envdoctor.model.finding import Report
from envdoctor.model.language import count, say, translate
from envdoctor.model.text import clean
from envdoctor.model.versions import series, try_parse
from envdoctor.report.view import View

_VENDORS = {
    "amd": "AMD",
    "ascend": "Ascend",
    "cambricon": "Cambricon",
    "hygon": "Hygon",
    "iluvatar": "Iluvatar",
    "intel": "Intel",
    "metax": "MetaX",
    "moore-threads": "Moore Threads",
    "nvidia": "NVIDIA",
    "t-head": "T-Head",
}
# From this major on, a driver that serves one minor of a CUDA major runs builds of all of them.
_MINOR_COMPATIBLE = 11


def verdict(report: Report, facts: Facts) -> str:
    """The counts of what is wrong: "1 error, 2 warnings"; notes are not counted."""
    counts = {"error": 0, "warning": 0, "info": 0}
    for finding in report.findings:
        counts[finding.severity] += 1
    language = report.language
    grave = (
        (counts["error"], "{number} error", "{number} errors"),
        (counts["warning"], "{number} warning", "{number} warnings"),
    )
    said = [count(language, number, one, many) for number, one, many in grave if number]
    if said:
        return say(language, ", ").join(said)
    if facts.target.value is None:
        return say(language, "not examined: no Python environment")
    return say(language, "nothing found wrong")


def set_aside(report: Report) -> str:
    """What is not told or could not be, as an end of the verdict: "; 2 ignored; 1 known"."""
    said = ""
    for number, one, many in (
        (len(report.ignored), "; {number} ignored", "; {number} ignored"),
        (
            len(report.baseline.known) if report.baseline is not None else 0,
            "; {number} known",
            "; {number} known",
        ),
        (
            sum(skipped.failed for skipped in report.skipped),
            "; {number} part of the check failed",
            "; {number} parts of the check failed",
        ),
    ):
        said += count(report.language, number, one, many) if number else ""
    return said


def accelerators(language: str, accelerator: Accelerator) -> str:
    """The GPUs and their driver, or why they are not known."""
    vendor, gpus = accelerator.vendor.value, accelerator.gpus.value
    if vendor == "none" or (vendor is None and gpus == ()):
        reason = _reason(language, accelerator.vendor, accelerator.gpus)
        return say(language, "none: {reason}", reason=reason)
    maker = _VENDORS.get(vendor or "", clean(vendor or ""))
    if gpus:
        said = _devices(language, gpus)
        if vendor not in (None, "nvidia"):
            said = say(language, "{maker}: {gpus}", maker=maker, gpus=said)
    elif vendor is None:
        reason = _reason(language, accelerator.vendor, accelerator.gpus)
        return say(language, "unknown: {reason}", reason=reason)
    else:
        reason = _reason(language, accelerator.gpus)
        said = say(language, "{maker}, devices not known: {reason}", maker=maker, reason=reason)
    return said + _driver(language, accelerator)


def _devices(language: str, gpus: Sequence[Gpu]) -> str:
    counts: Dict[str, int] = {}
    for gpu in gpus:
        name = clean(gpu.name)
        for prefix in ("NVIDIA ", "Tesla "):
            name = name[len(prefix) :] if name.startswith(prefix) else name
        details = [clean(part) for part in (gpu.compute_capability, gpu.mig) if part]
        label = f"{name} ({', '.join(details)})" if details else name
        counts[label] = counts.get(label, 0) + 1
    told = (f"{n}x {label}" if n > 1 else label for label, n in counts.items())
    return say(language, ", ").join(told)


def _driver(language: str, accelerator: Accelerator) -> str:
    driver, serves = accelerator.driver.value, accelerator.serves.value
    if driver is None:
        reason = _reason(language, accelerator.driver)
        return say(language, "; driver unknown: {reason}", reason=reason) if serves is None else ""
    said = say(language, ", driver {version}", version=clean(driver))
    if accelerator.vendor.value != "nvidia":
        return said
    version = try_parse(serves or "")
    if version is None:
        reason = _reason(language, accelerator.serves)
        return said + say(language, "; what it serves is unknown: {reason}", reason=reason)
    if version.major < _MINOR_COMPATIBLE:
        return said + say(language, ": runs builds up to CUDA {version}", version=version)
    return said + say(language, ": runs CUDA {major}.x builds and older", major=version.major)


def target(language: str, facts: Facts, view: View) -> str:
    """The environment under examination, its torch, and why this environment."""
    found = facts.target.value
    if found is None:
        return say(language, "none: {reason}", reason=_reason(language, facts.target))
    if found.asked is not None:
        python = found.version or found.asked.python or say(language, "not said")
        files = ", ".join(view.place(clean(file)) for file in found.asked.files)
        return say(
            language,
            "{files} (what they ask for)  Python {python}",
            files=files,
            python=clean(python),
        )
    is_environment = found.prefix != found.base_prefix or found.conda
    where = found.prefix if is_environment and found.prefix else found.python
    origin = translate(language, clean(facts.target.origin))
    said = origin
    if where:
        place = view.place(clean(where))
        said = say(language, "{place} ({origin})", place=place, origin=origin)
    said += f"  Python {clean(found.version) or say(language, 'unknown')}"
    if found.torch is None:
        return said + "  " + say(language, "no torch")
    version = found.torch.version
    if version.value is None:
        reason = _reason(language, version)
        return said + "  " + say(language, "torch, version unknown: {reason}", reason=reason)
    return f"{said}  torch {clean(version.value)}"


def tools(language: str, facts: Facts) -> str:
    """What a source build would use, beside the CUDA that torch was built with."""
    tools = facts.tools
    toolkit, compiler = tools.toolkit.value, tools.compiler.value
    if tools == Tools():
        return say(language, "unknown: not looked for")
    have = []
    lack = []
    if toolkit is not None:
        have.append(f"nvcc {clean(toolkit.version)}")
    elif _is_absent(tools.toolkit):
        lack.append("nvcc")
    if compiler is not None:
        have.append(f"{clean(compiler.family)} {clean(compiler.version)}")
    elif _is_absent(tools.compiler):
        lack.append(say(language, "C++ compiler"))
    for name, fact in (("ninja", tools.ninja), ("Python.h", tools.python_headers)):
        if fact.value is not None:
            have.append(name)
        elif _is_absent(fact):
            lack.append(name)
    said = say(language, ", ").join(have) + (say(language, "; ") if have and lack else "")
    if lack:
        said += say(language, "no {tool}", tool=say(language, ", no ").join(lack))
    if toolkit is None and "nvcc" not in lack:
        return said or say(language, "unknown: {reason}", reason=translate(language, NOT_SAID))
    if toolkit is None:
        return said + say(
            language,
            ": wheels install, CUDA sources do not compile ({reason})",
            reason=_reason(language, tools.toolkit),
        )
    found = facts.target.value
    cuda = found.torch.cuda.value if found is not None and found.torch is not None else None
    if cuda is None or cuda == "cpu":
        return said
    theirs, ours = try_parse(toolkit.version), try_parse(cuda)
    same = theirs is not None and ours is not None and series(theirs) == series(ours)
    if same:
        return said + say(language, "; torch's own CUDA")
    return said + say(language, "; torch was built for CUDA {cuda}", cuda=clean(cuda))


def _is_absent(fact: Observed[Any]) -> bool:
    """Whether it was looked for, and not found."""
    return fact.value is None and fact.unknown not in ("", NOT_SAID)


def assumed(language: str, facts: Facts) -> str:
    """What was assumed in place of what was observed; empty if nothing was."""
    accelerator, machine, tools_ = facts.accelerator, facts.machine, facts.tools
    said = []
    if accelerator.gpus.assumed and accelerator.gpus.value:
        said.append(_devices(language, accelerator.gpus.value))
    for name, fact in (
        (say(language, "driver"), accelerator.driver),
        ("", machine.os),
        ("glibc", machine.glibc),
        ("nvcc", tools_.toolkit),
        ("", tools_.compiler),
        ("cuDNN", tools_.cudnn),
        ("Python", facts.target),
    ):
        value: Any = fact.value
        if fact.assumed and value is not None:
            text = getattr(value, "version", value)
            said.append(f"{name or getattr(value, 'family', '')} {text}".strip())
    told = clean(say(language, ", ").join(said))
    by = [where for where in _said_by(facts) if where]
    return say(language, "{what} ({by})", what=told, by=clean(", ".join(by))) if by else told


def _said_by(facts: Facts) -> Iterator[str]:
    """What an assumption stands in, if it is not the command line: a variable, a line of a file."""
    found = []
    for record in (facts.accelerator, facts.machine, facts.tools, facts):
        for name in record.__struct_fields__:
            fact = getattr(record, name)
            if isinstance(fact, Observed) and fact.assumed:
                found.append(fact.origin.partition("(")[2].rpartition(")")[0])
    yield from dict.fromkeys(found)


def _reason(language: str, *facts: Observed[Any]) -> str:
    """Why facts are unknown, or else where it was seen that there is nothing."""
    reasons = [fact.unknown for fact in facts if fact.unknown]
    reason = clean((reasons or [fact.origin for fact in facts] or [""])[0])
    return translate(language, reason) or say(language, "not looked for")
