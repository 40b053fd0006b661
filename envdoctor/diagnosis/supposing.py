"""Facts of the environment that a log speaks of, as far as it states versions."""

from __future__ import annotations

import re
from typing import Dict, Optional, Sequence

from envdoctor.facts.pasted import ReportError, parse
from envdoctor.model.diagnosis import Stated
from envdoctor.model.facts import Facts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}", re.ASCII)
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+!_-]{0,60}", re.ASCII)
#: Components of the machine, as reports call them.
_CALLED = {
    "python": "Python version: {}",
    "host.driver": "Nvidia driver version: {}",
    "build.toolkit": "CUDA runtime version: {}",
    "build.gcc": "GCC version: {}",
    "host.glibc": "Libc version: glibc-{}",
}


def facts_of(stated: Sequence[Stated]) -> Optional[Facts]:
    """The facts, or None where the log states no Python environment.

    What a log states twice was exchanged in between: the last statement holds.
    """
    versions: Dict[str, str] = {}
    for one in stated:
        if _NAME.fullmatch(one.component) and _VERSION.fullmatch(one.version):
            versions[one.component] = one.version
    lines = [form.format(versions.pop(name)) for name, form in _CALLED.items() if name in versions]
    packages = [f"{name}=={version}" for name, version in versions.items() if "." not in name]
    if not packages:
        return None
    try:
        return parse("\n".join([*lines, *packages, ""]))
    except ReportError:
        return None
