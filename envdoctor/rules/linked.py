"""Binaries that the dynamic loader would refuse, as faults of the pages that say what is to blame.

They have no rule of their own: which page tells a binary, the simulation says (`Binary.cause`). The
page's words with `_linked` tell it, or those with `_library` where a library is missing; pages that
tell nothing else have plain words.
"""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from envdoctor.model.facts import Binary, Distribution, Linking
from envdoctor.model.finding import Evidence, Finding
from envdoctor.model.names import canonical
from envdoctor.relations.environment import imported
from envdoctor.rules.library_path import without
from envdoctor.rules.lookup import fix, folder_of, label, listed, pip, python_says
from envdoctor.rules.requirements import applies, environment, parse
from envdoctor.rules.rule import Context, Fault

#: Pages that tell nothing else, whose words are plain.
OWN = (
    "shared-library-missing",
    "symbol-version-missing",
    "undefined-symbol",
    "extension-of-another-python",
)
#: Pages that tell it beside what they tell of builds or paths.
SHARED = (
    "torch-abi-mismatch",
    "cxx11-abi-mismatch",
    "cuda-runtime-major-mismatch",
    "glibc-too-old",
    "libstdcxx-too-old",
    "stale-torch-libraries",
    "ld-library-path-shadows-cuda",
    "nccl-library-conflict",
    "mkl-2024-1-ijit",
)
#: Findings that say the same of a component from what its build or its paths are.
SAME = frozenset(
    [
        *OWN,
        *SHARED,
        "nvidia-wheels-mismatch",
        "opencv-system-libs-missing",
        "paddle-cuda-cudnn-mismatch",
        "system-library-missing",
        "torch-torchaudio-mismatch",
        "torch-torchvision-mismatch",
        "wheel-for-another-interpreter",
    ]
)
_OF_TORCH = frozenset(["torch-abi-mismatch", "cxx11-abi-mismatch", "cuda-runtime-major-mismatch"])
_SYSTEM = frozenset(["glibc-too-old", "libstdcxx-too-old"])
#: Pages with words for a file that is loaded in place of the one that fits.
_IN_PLACE = frozenset(["stale-torch-libraries", "undefined-symbol"])
_SYMBOLS = 3
#: A requirement without a marker: those of extras have one.
_TORCH_ALONE = re.compile(r"torch(?![\w.-])[^;]*$", re.IGNORECASE)


class Told(NamedTuple):
    """A fault and the name of the page that tells it."""

    page: str
    fault: Fault


def faults(context: Context) -> Iterator[Told]:
    """Every binary that would not load, those of one component and cause together."""
    linking = context.target.linking.value or Linking()
    groups: Dict[Tuple[str, str, str], List[Binary]] = {}
    for binary in linking.binaries:
        if binary.cause in OWN or binary.cause in SHARED:
            owner = binary.distribution or _wheel(binary.path) or binary.module or binary.path
            # What was built for another torch may lack its CUDA, its ABI and its functions.
            is_torch = binary.cause in _OF_TORCH
            cause = "torch" if is_torch else f"{binary.cause} {binary.outcome}"
            groups.setdefault((owner, cause, _severity(binary, context)), []).append(binary)
    for (owner, _, severity), binaries in groups.items():
        first = min(binaries, key=lambda one: (not one.certain, one.module.count("."), one.module))
        yield Told(first.cause, _fault(context, owner, severity, first, binaries))


#: Findings of installed wheels that may say why a component lacks libraries, or parts of them.
REASONS = frozenset(["nvidia-wheels-mismatch", "python-module-missing"])


def says_why(other: Finding, finding: Finding) -> bool:
    """Whether what is told of a component's requirements is why a binary of it does not load.

    Without NVIDIA's wheels, or with others than torch pins, torch lacks libraries or parts of them.
    """
    return finding.name in OWN and other.name in REASONS and "nvidia-" in other.summary


def _severity(binary: Binary, context: Context) -> str:
    """An error if an import fails for certain: of a package, or of what it is there for.

    Others are parts that may never be imported.
    """
    if "/torch_extensions/" in binary.path:
        return "info"  # compiled again where its sources changed
    if binary.module == "torch._C" or binary.certain:
        # What a wheel requires comes with its installation, and may bring the library.
        is_open = binary.cause == "shared-library-missing" and bool(_wheel(binary.path))
        return "warning" if is_open else "error"
    is_purpose = binary.torch and binary.cause in _OF_TORCH | _SYSTEM
    return "error" if is_purpose and _is_for_torch(binary, context) else "info"


def _is_for_torch(binary: Binary, context: Context) -> bool:
    """Whether what it belongs to is of no use without torch: a project's own code, an extension.

    Open3D, for one, has a part for torch which few import.
    """
    if binary.named:
        return True
    package = context.knowledge.packages.get(binary.distribution)
    if package is not None and "torch" in package.requires:
        return True
    distribution = imported(context.target).get(binary.distribution)
    requirements = distribution.requires if distribution is not None else ()
    return any(_TORCH_ALONE.match(text) for text in requirements)


def _fault(
    context: Context, owner: str, severity: str, first: Binary, binaries: List[Binary]
) -> Fault:
    distribution = imported(context.target).get(owner)
    package = _wheel(first.path) or first.module or first.path
    if distribution is not None:
        package = label(distribution)
    torch = imported(context.target).get("torch")
    words = "" if first.cause in OWN else "linked"
    if first.cause == "torch-abi-mismatch" and first.outcome == "missing-library":
        words = "library"
    elif first.cause in _IN_PLACE and first.instead:
        words = "in_place"
    elif first.outcome == "other-python":
        words = "name"
    return Fault(
        component=package,
        severity=severity,
        words=words,
        fields={
            "module": first.module or first.path,
            "package": package,
            "torch": label(torch) if torch is not None else "torch",
            "library": first.missing,
            "version": first.missing,
            "symbol": first.symbols[0] if first.symbols else "",
            "count": str(first.count),
            "by": _short(first.by or first.path, context),
            "instead": first.instead,
            "origin": first.origin,
        },
        evidence=tuple(_evidence(first, binaries, distribution)),
        fixes=fix(*_commands(context, first, distribution)),
        verify=_verify(context, first),
    )


def _wheel(path: str) -> str:
    """The project and version of the wheel that a path leads into, "" of other paths."""
    wheel = path.partition(".whl/")[0].rpartition("/")[2] if ".whl/" in path else ""
    return " ".join(wheel.split("-")[:2])


def _short(path: str, context: Context) -> str:
    """A path from the search entry on."""
    for entry in context.target.path:
        if entry and path.startswith(entry.rstrip("/") + "/"):
            return path[len(entry.rstrip("/")) + 1 :]
    return path


def _evidence(
    first: Binary, binaries: List[Binary], distribution: Optional[Distribution]
) -> Iterator[Evidence]:
    if distribution is not None:
        yield Evidence(distribution.name, distribution.version, distribution.path)
    asks = first.by or first.path
    if first.outcome == "missing-symbols":
        yield Evidence("undefined symbols", listed(first.symbols[:_SYMBOLS]), asks)
    elif first.outcome == "missing-version":
        yield Evidence("symbol version", first.missing, asks)
    elif first.outcome == "other-python":
        yield Evidence("file of another Python", first.path.rpartition("/")[2], first.path)
    elif first.outcome == "missing-library":
        yield Evidence("needed library", listed([first.missing, *first.others]), asks)
    if first.instead and first.outcome == "missing-library":
        yield Evidence("there is", first.instead, first.origin)
    elif first.instead:
        yield Evidence("loaded", first.instead, first.origin)
    elif first.looked:
        yield Evidence("looked for in", listed(first.looked), asks)
    for other in binaries:
        if other is not first:
            yield Evidence("likewise", other.module or other.path, other.path)
            break


def _commands(
    context: Context, binary: Binary, distribution: Optional[Distribution]
) -> Tuple[str, ...]:
    if binary.outcome == "missing-library" and distribution is not None:
        gone = _wheels_gone(context, distribution)
        if gone:
            return (pip(context.target, "install", *gone),)
    if binary.origin == "LD_PRELOAD":
        return ("unset LD_PRELOAD",)
    if binary.origin == "LD_LIBRARY_PATH" and folder_of(binary.instead):
        return (without(context.target, binary.instead),)
    return ()


def _wheels_gone(context: Context, distribution: Distribution) -> List[str]:
    """The wheels of NVIDIA's that a distribution requires and that are not there."""
    known = environment(context.facts, context.target)
    installed = imported(context.target)
    found = []
    for text in distribution.requires:
        requirement = parse(text) if text.startswith("nvidia-") else None
        if requirement is not None and applies(requirement, known):
            name = canonical(requirement.name)
            if name not in installed:
                found.append(f"{name}{requirement.specifier}")
    return found


def _verify(context: Context, binary: Binary) -> Tuple[str, ...]:
    if binary.module == "torch._C":
        return (python_says(context.target, "import torch"),)
    if not binary.module or _wheel(binary.path):
        return ()
    if binary.torch:
        statement = f"import torch; torch.ops.load_library({binary.path!r})"
        return (python_says(context.target, statement),)
    return (python_says(context.target, f"import {binary.module}"),)
