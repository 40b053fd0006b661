"""What a question asks for: "torch==1.9.1+cu111", "mmcv-full>=1.4,<1.5", "numpy"."""

from __future__ import annotations

import difflib
import re
from typing import List, NamedTuple, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.model.build import Build, Value
from envdoctor.model.facts import Machine, seen
from envdoctor.model.names import canonical
from envdoctor.model.text import clean
from envdoctor.model.versions import is_development, satisfies, try_parse, try_specifier
from envdoctor.relations.observe import meant

_WANTED = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(.*)", re.DOTALL)
_PIN = re.compile(r"={2,3}\s*([^*,\s]+)\s*")
_MAX_LENGTH = 200
#: What people say, and what the package is called.
_MEANT = {"pytorch": "torch", "flash-attention": "flash-attn"}
_NEAR = 2  # releases before and after that are suggested


class WantedError(ValueError):
    """What cannot be asked about; the message says why and what is near."""


class Wanted(NamedTuple):
    """One package: a version as people write it, or a range of releases; any if neither."""

    name: str
    label: str = ""
    specifier: str = ""

    def __str__(self) -> str:
        return f"{self.name}=={self.label}" if self.label else f"{self.name}{self.specifier}"


def read_wanted(text: str, knowledge: Knowledge) -> Wanted:
    """What a text asks for. Raises WantedError."""
    match = _WANTED.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise WantedError(f"{clean(text)!r}: a package is expected, as in torch==1.9.1+cu111")
    name, rest = canonical(match[1]), match[2].strip()
    if name not in knowledge.packages:
        near = nearest_packages(name, knowledge)
        nearest = f"; nearest: {', '.join(near)}" if near else ""
        raise WantedError(f"the matrices have no package {clean(match[1])!r}{nearest}")
    pin = _PIN.fullmatch(rest)
    if pin is None:
        if rest and try_specifier(rest) is None:
            raise WantedError(f"{clean(text)!r}: {clean(rest)!r} is no version")
        return Wanted(name, specifier=rest)
    if try_parse(pin[1]) is None:
        raise WantedError(f"{clean(text)!r}: {clean(pin[1])!r} is no version")
    return Wanted(name, label=pin[1])


def nearest_packages(name: str, knowledge: Knowledge) -> List[str]:
    """The packages that a name may mean: those imported by it, then those of a like name."""
    meant_by = _MEANT.get(name, name)
    named = [meant_by] if meant_by in knowledge.packages else []
    providers = knowledge.providers.get(name, ())
    like = difflib.get_close_matches(name, knowledge.packages, n=3, cutoff=0.6)
    return list(dict.fromkeys([*named, *providers, *like]))[:3]


def builds_of(wanted: Wanted, knowledge: Knowledge, architecture: Value) -> Tuple[Build, ...]:
    """The builds that may be meant, for a processor where that is known.

    A release that the matrices do not know stands alone. Raises WantedError if there is none.
    """
    package = knowledge.packages[wanted.name]
    known = isinstance(architecture, str)
    machine = Machine(architecture=seen(str(architecture), "")) if known else Machine()
    if wanted.label:
        expect_release(package, wanted.label)
        return meant(wanted.label, package, machine)
    found = tuple(
        build
        for version in package.releases
        if satisfies(version, wanted.specifier)
        for build in meant(str(version), package, machine)
    )
    if not found:
        raise WantedError(f"no release of {wanted.name} that is known fits {wanted.specifier}")
    return found


def expect_release(package: Package, label: str) -> None:
    """Raise WantedError for a release that does not exist; one newer or older than all may."""
    version = try_parse(label)
    known = package.releases
    if version is None or version in known or not known[0] < version < known[-1]:
        return
    if is_development(label) or Version(label).is_prerelease or "+" in label:
        return  # of a day, or a vendor's
    below = [v for v in known if v < version][-_NEAR:]
    above = [v for v in known if v > version][:_NEAR]
    nearest = ", ".join(str(v) for v in (*below, *above))
    raise WantedError(f"{package.name} has no release {clean(label)}; nearest: {nearest}")
