"""What rules ask of the libraries that LD_LIBRARY_PATH and LD_PRELOAD put first.

How torch's wheels find CUDA, as read in their dynamic sections: those that require `nvidia-*`
wheels (1.13.1 to 2.9.1 were read) name the folders of these in DT_RPATH, which the loader looks at
before LD_LIBRARY_PATH; those that hold CUDA in torch/lib (1.8.1, 1.12.1) name `$ORIGIN` in
DT_RUNPATH, which comes after it. The libraries in the `nvidia-*` wheels have a DT_RUNPATH, so what
they load themselves (nvJitLink, the parts of cuDNN) is looked for on LD_LIBRARY_PATH first, whoever
loaded them.
"""

from __future__ import annotations

import re
import shlex
from typing import Dict, List, Optional, Tuple

from packaging.version import Version

from envdoctor.model.facts import Distribution, Library, Target
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported, inside
from envdoctor.rules.lookup import folder_of
from envdoctor.rules.requirements import applies, environment, parse
from envdoctor.rules.rule import Context

_WHEEL = re.compile(r"nvidia-([a-z-]+?)(?:-cu\d+)?", re.ASCII)


def torch_wheel(target: Target) -> Optional[Distribution]:
    """The torch that is imported, if it is a wheel of PyTorch's; None for conda's and others."""
    torch = imported(target).get("torch")
    if torch is None or torch.editable or torch.installer == "conda" or not torch.tags:
        return None
    version = try_parse(torch.version)
    if version is None or version.is_devrelease or version.is_prerelease:
        return None
    if not re.fullmatch(r"(cu\d+)?", version.local or ""):
        return None
    return torch


def pinned(context: Context, torch: Distribution) -> Dict[str, Version]:
    """The versions of NVIDIA's wheels that a torch pins, {"cudnn": 9.1.0.70}."""
    known = environment(context.facts, context.target)
    found: Dict[str, Version] = {}
    for text in torch.requires:
        requirement = parse(text)
        match = _WHEEL.fullmatch(requirement.name) if requirement else None
        if requirement and match and applies(requirement, known):
            version = try_parse(str(requirement.specifier).replace("==", "").strip("() "))
            if version is not None:
                found[match[1]] = version
    return found


def first(context: Context, soname: str) -> Optional[Library]:
    """What a variable puts first under a name; None if none does, or if that is not known."""
    ahead = context.facts.machine.ahead.value or ()
    return next((library for library in ahead if library.soname == soname), None)


def is_own(target: Target, library: Library) -> bool:
    """Whether a library lies in the environment's own packages."""
    return any(inside(library.path, entry) for entry in target.path if entry.count("/") > 1)


def without(target: Target, *paths: str) -> str:
    """A command that takes the folders of files off LD_LIBRARY_PATH; the rest may be needed."""
    gone = {folder_of(path) for path in paths}
    held = target.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    rest = ":".join(one for one in held if one and (one.rstrip("/") or "/") not in gone)
    return f"export LD_LIBRARY_PATH={shlex.quote(rest)}" if rest else "unset LD_LIBRARY_PATH"


def seen_first(library: Library) -> Evidence:
    """That a library is first under its name."""
    value = f"{library.path} ({library.version})" if library.version else library.path
    return Evidence(library.soname, value, library.origin)


def release(version: Version, parts: int = 2) -> Tuple[int, ...]:
    """The first numbers of a version: (12, 4) of 12.4.127."""
    numbers: List[int] = [*version.release, 0, 0, 0]
    return tuple(numbers[:parts])
