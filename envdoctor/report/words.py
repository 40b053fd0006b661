"""What facts and counts are in a sentence; the overview and the report say the same."""

from __future__ import annotations

from typing import Any, Dict, Sequence

from envdoctor.model.facts import NOT_SAID, Accelerator, Facts, Gpu, Observed, Tools
from envdoctor.model.finding import Report
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
    grave = [count(counts[severity], severity) for severity in ("error", "warning")]
    said = ", ".join(text for text in grave if not text.startswith("0 "))
    if said:
        return said
    if facts.target.value is None:
        return "not examined: no Python environment"
    return "nothing found wrong"


def count(number: int, noun: str) -> str:
    """A number and its noun: "2 errors"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def accelerators(accelerator: Accelerator) -> str:
    """The GPUs and their driver, or why they are not known."""
    vendor, gpus = accelerator.vendor.value, accelerator.gpus.value
    if vendor == "none" or (vendor is None and gpus == ()):
        return "none: " + _reason(accelerator.vendor, accelerator.gpus)
    maker = _VENDORS.get(vendor or "", clean(vendor or ""))
    if gpus:
        said = _devices(gpus)
        if vendor not in (None, "nvidia"):
            said = f"{maker}: {said}"
    elif vendor is None:
        return "unknown: " + _reason(accelerator.vendor, accelerator.gpus)
    else:
        said = f"{maker}, devices not known: {_reason(accelerator.gpus)}"
    return said + _driver(accelerator)


def _devices(gpus: Sequence[Gpu]) -> str:
    counts: Dict[str, int] = {}
    for gpu in gpus:
        name = clean(gpu.name)
        for prefix in ("NVIDIA ", "Tesla "):
            name = name[len(prefix) :] if name.startswith(prefix) else name
        details = [clean(part) for part in (gpu.compute_capability, gpu.mig) if part]
        label = f"{name} ({', '.join(details)})" if details else name
        counts[label] = counts.get(label, 0) + 1
    return ", ".join(f"{n}x {label}" if n > 1 else label for label, n in counts.items())


def _driver(accelerator: Accelerator) -> str:
    driver, serves = accelerator.driver.value, accelerator.serves.value
    if driver is None:
        return f"; driver unknown: {_reason(accelerator.driver)}" if serves is None else ""
    said = f", driver {clean(driver)}"
    if accelerator.vendor.value != "nvidia":
        return said
    version = try_parse(serves or "")
    if version is None:
        return f"{said}; what it serves is unknown: {_reason(accelerator.serves)}"
    if version.major < _MINOR_COMPATIBLE:
        return f"{said}: runs builds up to CUDA {version}"
    return f"{said}: runs CUDA {version.major}.x builds and older"


def target(facts: Facts, view: View) -> str:
    """The environment under examination, its torch, and why this environment."""
    found = facts.target.value
    if found is None:
        return "none: " + _reason(facts.target)
    if found.asked is not None:
        python = found.version or found.asked.python or "not said"
        files = ", ".join(view.place(clean(file)) for file in found.asked.files)
        return f"{files} (what they ask for)  Python {clean(python)}"
    is_environment = found.prefix != found.base_prefix or found.conda
    where = found.prefix if is_environment and found.prefix else found.python
    origin = clean(facts.target.origin)
    said = f"{view.place(clean(where))} ({origin})" if where else origin
    said += f"  Python {clean(found.version) or 'unknown'}"
    if found.torch is None:
        return f"{said}  no torch"
    version = found.torch.version
    if version.value is None:
        return f"{said}  torch, version unknown: {_reason(version)}"
    return f"{said}  torch {clean(version.value)}"


def tools(facts: Facts) -> str:
    """What a source build would use, beside the CUDA that torch was built with."""
    tools = facts.tools
    toolkit, compiler = tools.toolkit.value, tools.compiler.value
    if tools == Tools():
        return "unknown: not looked for"
    have = []
    lack = []
    if toolkit is not None:
        have.append(f"nvcc {clean(toolkit.version)}")
    elif _is_absent(tools.toolkit):
        lack.append("nvcc")
    if compiler is not None:
        have.append(f"{clean(compiler.family)} {clean(compiler.version)}")
    elif _is_absent(tools.compiler):
        lack.append("C++ compiler")
    for name, fact in (("ninja", tools.ninja), ("Python.h", tools.python_headers)):
        if fact.value is not None:
            have.append(name)
        elif _is_absent(fact):
            lack.append(name)
    said = ", ".join(have) + ("; " if have and lack else "")
    if lack:
        said += "no " + ", no ".join(lack)
    if toolkit is None and "nvcc" not in lack:
        return said or f"unknown: {NOT_SAID}"
    if toolkit is None:
        return f"{said}: wheels install, CUDA sources do not compile ({_reason(tools.toolkit)})"
    found = facts.target.value
    cuda = found.torch.cuda.value if found is not None and found.torch is not None else None
    if cuda is None or cuda == "cpu":
        return said
    theirs, ours = try_parse(toolkit.version), try_parse(cuda)
    same = theirs is not None and ours is not None and series(theirs) == series(ours)
    return said + ("; torch's own CUDA" if same else f"; torch was built for CUDA {clean(cuda)}")


def _is_absent(fact: Observed[Any]) -> bool:
    """Whether it was looked for, and not found."""
    return fact.value is None and fact.unknown not in ("", NOT_SAID)


def assumed(facts: Facts) -> str:
    """What was assumed in place of what was observed; empty if nothing was."""
    accelerator, machine, tools_ = facts.accelerator, facts.machine, facts.tools
    said = []
    if accelerator.gpus.assumed and accelerator.gpus.value:
        said.append(_devices(accelerator.gpus.value))
    for name, fact in (
        ("driver", accelerator.driver),
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
    return clean(", ".join(said))


def _reason(*facts: Observed[Any]) -> str:
    """Why facts are unknown, or else where it was seen that there is nothing."""
    reasons = [fact.unknown for fact in facts if fact.unknown]
    return clean((reasons or [fact.origin for fact in facts] or [""])[0]) or "not looked for"
