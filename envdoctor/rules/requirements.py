"""Requirements of installed distributions (Requires-Dist), read for the examined environment.

The cost of a check with many distributions is here, so only a requirement's outline is parsed by
hand; packaging judges its specifier and marker, and equal ones are judged once.
"""

from __future__ import annotations

import functools
import re
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.version import InvalidVersion, Version

from envdoctor.model.facts import Facts, Target
from envdoctor.model.names import canonical
from envdoctor.model.versions import satisfies, specifier, try_parse

#: Values of the marker variables that are known, sorted by name.
Environment = Tuple[Tuple[str, str], ...]

# name, extras, and then a URL or a specifier, which old metadata puts in parentheses
_OUTLINE = re.compile(
    r"""\s*(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)
    \s*(?:\[[^\]]*\])?
    \s*(?:@\s*(?P<url>\S+)|\((?P<enclosed>[^()]*)\)|(?P<plain>[^()@\[\]]*))
    \s*""",
    re.VERBOSE,
)
# ">=1.5.*" is no PEP 440, but old tools wrote and read it.
_STARRED = re.compile(r"((?:>=|<=|<|>)\s*[0-9][0-9.]*)\.\*")
# Names that markers may use for what is not always known; the dotted ones are of old metadata.
_UNSURE: Dict[str, Tuple[str, ...]] = {
    "platform_machine": ("platform_machine", "platform.machine"),
    "platform_release": ("platform_release",),
    "platform_version": ("platform_version", "platform.version"),
    "python_version": ("python_version", "python_full_version", "implementation_version"),
}

# Longer than any that a tool writes: what a hostile file may cost is bounded.
_LONGEST = 1000


class Requirement(NamedTuple):
    """One requirement of the form that Requires-Dist has."""

    name: str  # canonical
    specifier: str  # "" where any version will do
    url: str
    marker: str


@functools.lru_cache(maxsize=None)
def parse(text: str) -> Optional[Requirement]:
    """The requirement that a line of metadata states; None if it cannot be read."""
    if len(text) > _LONGEST:
        return None
    # Runs of blanks would make the pattern try every way to share them out.
    outline, marker = _split(" ".join(text.split()))
    match = _OUTLINE.fullmatch(outline)
    if match is None:
        return None
    stated = _readable((match["enclosed"] or match["plain"] or "").strip())
    if stated is None:
        return None
    return Requirement(canonical(match["name"]), stated, match["url"] or "", marker.strip())


def _split(text: str) -> Tuple[str, str]:
    """What is required, and the marker; a URL may hold a semicolon, but not before a space."""
    if "@" in text.partition(";")[0]:
        outline, _, marker = text.partition(" ;")
    else:
        outline, _, marker = text.partition(";")
    return outline, marker


def _readable(text: str) -> Optional[str]:
    for form in (text, _STARRED.sub(r"\1", text)):
        try:
            specifier(form)
        except ValueError:
            continue
        return form
    return None


def environment(facts: Facts, target: Target) -> Environment:
    """The marker variables of the examined interpreter (PEP 508), less those that are unknown."""
    major, minor = (*target.version.split("."), "0")[:2]
    names = {"cpython": "CPython", "pypy": "PyPy"}
    known: Dict[str, Optional[str]] = {
        "implementation_name": target.implementation,
        "implementation_version": target.version,
        "os_name": "posix",
        "platform_machine": facts.machine.architecture.value,
        "platform_python_implementation": names.get(target.implementation, target.implementation),
        "platform_release": facts.machine.kernel.value,
        "platform_system": "Linux",
        "python_full_version": target.version,
        "python_version": f"{major}.{minor}" if target.version else None,
        "sys_platform": "linux",
    }
    return tuple(sorted((name, value) for name, value in known.items() if value))


def applies(requirement: Requirement, known: Environment) -> Optional[bool]:
    """Whether a requirement holds in an environment without extras; None if that is not known."""
    return _evaluate(requirement.marker, known) if requirement.marker else True


@functools.lru_cache(maxsize=None)
def _evaluate(marker: str, known: Environment) -> Optional[bool]:
    values = dict(known)
    for variable, names in _UNSURE.items():
        if variable not in values and any(name in marker for name in names):
            return None
    try:
        return Marker(marker).evaluate({"extra": "", **values})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
        return None


def narrowest(specifiers: Iterable[str]) -> str:
    """One specifier for all: of lower bounds the highest, of upper bounds the lowest, the rest.

    An exact version stands alone.
    """
    clauses = list(dict.fromkeys(c.strip() for text in specifiers for c in text.split(",")))
    exact = [c for c in clauses if c.startswith("==") and not c.endswith("*")]
    lower = [c for c in clauses if c.startswith(">")]
    upper = [c for c in clauses if c.startswith("<")]
    rest = [c for c in clauses if c and c not in (*exact, *lower, *upper)]
    bounds = [*_strictest(lower, max), *_strictest(upper, min)]
    return ",".join(exact or [*bounds, *rest])


def agree(specifiers: List[str]) -> bool:
    """Whether a version at or just above a bound lies in all of them."""
    text = ",".join(specifiers)
    bounds = [match.rstrip(".*") for match in re.findall(r"[0-9][^,\s]*", text)]
    candidates = ["0", *bounds, *(f"{bound}.0.0.1" for bound in bounds)]
    return any(meets(candidate, text) for candidate in candidates)


def _strictest(clauses: List[str], choose: Callable[[Iterable[Version]], Version]) -> List[str]:
    bounds = {clause: Version(clause.lstrip("<>= ")) for clause in clauses}
    if not bounds:
        return []
    bound = choose(bounds.values())
    strict = sorted((c for c in bounds if bounds[c] == bound), key=lambda c: "=" in c)
    return strict[:1]


@functools.lru_cache(maxsize=None)
def meets(version: str, wanted: str) -> Optional[bool]:
    """Whether an installed version lies in a specifier; None if it is no version.

    It does if it does by the letter, local part and all; as `model.versions` compares it (a
    vendor's 2.4.0a0+07cecf4168.nv24.05 meets ">=2.4"); or if the release does of which it is a
    post-release, a new packaging of the same code (conda-forge's 2.4.1.post303 meets "==2.4.1").
    """
    compared = try_parse(version)
    if compared is None:
        return None
    forms = [Version(version), compared]
    if compared.is_postrelease:
        forms.append(Version(compared.base_version))
    return any(satisfies(form, wanted) for form in forms)
