"""Wheels that hold metadata and nothing else: how an installer is told of what no index serves.

A build for a CUDA of its own, sources that only a build could ask, a tree of training code: each
stands in a folder of links as a wheel of a kilobyte, so that the installer sees what it requires,
and takes nothing else in its place.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Sequence

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.model.versions import local_part, parse

_EXTRA = re.compile(r"extra\s*==\s*[\"']([^\"']+)[\"']")
_WHEN = (1980, 1, 1, 0, 0, 0)


def version_of(label: str) -> str:
    """The version under which an installer is told of a build.

    A vendor's 2.4.0a0+07cecf4168.nv24.05 counts as 2.4.0, of which it is a build; in PEP 440 it
    would come before it, and no `>=2.4` would take it. Raises ValueError for what is no version.
    """
    public, local = str(parse(label)), local_part(label)
    return str(Version(f"{public}+{local}" if local else public))


def write(
    folder: Path, package: str, label: str, requires: Sequence[str], requires_python: str = ""
) -> str:
    """Write a wheel that states this, for any Python; return its version. Raises ValueError."""
    name = canonicalize_name(package).replace("-", "_")
    version = version_of(label)
    stem = f"{name}-{version}"
    extras = dict.fromkeys(extra for line in requires for extra in _EXTRA.findall(line))
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {canonicalize_name(package)}",
        f"Version: {version}",
        *([f"Requires-Python: {requires_python}"] if requires_python else []),
        *(f"Provides-Extra: {extra}" for extra in extras),
        *(f"Requires-Dist: {line}" for line in requires),
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: envdoctor", "Root-Is-Purelib: true"]
    files = {
        "METADATA": "\n".join(metadata) + "\n",
        "WHEEL": "\n".join([*wheel, "Tag: py3-none-any"]) + "\n",
        "RECORD": "".join(
            f"{stem}.dist-info/{part},,\n" for part in ("METADATA", "WHEEL", "RECORD")
        ),
    }
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for part, text in files.items():
            archive.writestr(zipfile.ZipInfo(f"{stem}.dist-info/{part}", _WHEN), text)
    return version
