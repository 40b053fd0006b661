"""Reports of resolvers, read as requirements: pip, uv, poetry, conda, mamba, setuptools."""

from __future__ import annotations

import re
from collections import Counter
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from envdoctor.model.names import canonical

_NAME = r"[A-Za-z0-9][\w.-]{0,100}"
_SPEC = r"(?:[<>=!~]=?[\w.,<>=!*+]{1,60})?"
_EXTRAS = r"(?:\[[\w,-]{1,60}\])?"
_OPENS = re.compile(
    r"these package versions have conflicting dependencies|The conflict is caused by:"
    r"|No solution found when resolving|Failed to resolve dependencies|UnsatisfiableError"
    r"|Encountered problems while solving|Could not solve for environment specs"
    r"|(?:SolverProblemError|supported Python range)"
    r"|^Because .{1,300}(?:depends on|requires|no versions of|only supports)",
    re.IGNORECASE,
)
_PIP = re.compile(r"these package versions have|The conflict is caused by:")
_PIP_WANTS = re.compile(
    r"The user requested (?:\(constraint\) )?(.{1,300})|(.{1,200}?) depends on (.{1,300})"
)
_WANTS = re.compile(rf"\b({_NAME}){_EXTRAS}{_SPEC} depends on {_NAME}[^,]{{0,100}}")
#: The rest of a range behind its first comma.
_REST = re.compile(r",(?:[<>=!~][\w.,<>=!~*+]{1,100})")
_ASKED = re.compile(rf"\byou require ({_NAME}{_EXTRAS}{_SPEC})")
_ABSENT = re.compile(
    rf"(?:there (?:is|are) no versions? of|no versions of) ({_NAME}){_EXTRAS}({_SPEC})"
)
_UNMATCHED = re.compile(
    rf"depends on ({_NAME}) \(([^()]{{1,80}})\) which doesn't match any versions"
)
_UNFIT = (
    re.compile(
        rf"\b({_NAME}?)({_SPEC}) (?:has no wheels with|depends on Python|requires Python|-> python)"
    ),
    re.compile(rf"package ({_NAME}?)-(\d[\w.]{{0,60}})-\S{{1,60}} requires python"),
)
_GOES_ON = re.compile(
    r"(?:hint|Because|And because|So, because|Thus|Specifications|Your python|The following"
    r"|Package \S{1,100} conflicts|- )"
)
_CONDA_WANTS = re.compile(rf"package ({_NAME}) (?:requires|depends on) ([^,]{{1,200}})")
_TREE = re.compile(r"[\s\u2502\u251c\u2514\u2500|`+-]{1,200}")
_ENDS_CONDA = re.compile(r"(?:Traceback|ERROR|The command|[$%#>] )")
_ARROW = re.compile(r"\S{1,100} -> ")
_ABSENT_AT_ALL = re.compile(r"was not found in the|no wheels with a matching platform")
_NEXT = re.compile(r" and (?=\S{1,100} depends)|, we can| we can")
_WHOLE_NAME = re.compile(_NAME)
_MOST = 12

#: That what cannot be had is for another Python.
_PYTHON = (
    re.compile(r"no wheels with a matching Python (?:ABI|implementation|version) tag"),
    re.compile(r"Python version[^,]{0,200}does not satisfy Python"),
    re.compile(r"supported Python range|only supports Python|requires Python"),
    re.compile(r"incompatible with the existing python installation|Your python: python"),
    re.compile(r"requires (?:python|python_abi) [^,]{1,100}, but none of the providers"),
)
_INSTALLED = (
    # pip install, pip check
    re.compile(
        rf"(?P<by>{_NAME})(?: [\w.!+]{{1,60}})? (?:requires|has requirement) (?P<wants>.{{1,300}}?)"
        rf",? (?:but you have|but you'll have) (?P<name>{_NAME}) (?P<found>[\w.!+]{{1,60}}?)"
        r"(?: which is incompatible)?\.?$"
    ),
    # setuptools
    re.compile(
        rf"(?P<name>{_NAME}) (?P<found>[\w.!+]{{1,60}}) is installed but (?P<wants>.{{1,200}}?)"
        r" is required by \{?'?(?P<by>[^'}]{1,100})"
    ),
    re.compile(
        rf"(?:Contextual)?VersionConflict: \((?P<name>{_NAME}) (?P<found>[\w.!+]{{1,60}}) \("
        r".{0,300}?Requirement\.parse\('(?P<wants>[^']{1,200})'\)"
        r"(?:, (?:frozenset\(|set\()?[\[{(]{1,2}'(?P<by>[^']{1,100})')?"
    ),
)
_INSTALLED_WORDS = ("but you", "is installed but", "VersionConflict")


def opens(text: str) -> bool:
    """Whether a resolver's report begins with a line."""
    return _OPENS.search(text[:2000]) is not None


def goes_on(block: Sequence[str], text: str, told: str) -> bool:
    """Whether a line belongs to the report of these lines. `told` is it without what is drawn."""
    if _PIP.search(block[0]):
        if told.startswith(("To fix this", "ResolutionImpossible")):
            return False
        is_inside = not text.strip() or text[:1] in " \t"
        return is_inside or text.startswith(("The conflict is", "Additionally, some packages"))
    if "UnsatisfiableError" in block[0]:
        return not _ENDS_CONDA.match(text)
    if not told:
        # an empty line stands below the head of conda's reports
        return len(block) < 8 or "Specifications" in block[-1]
    if _GOES_ON.match(told):
        return True
    return text[:1] in " \t\u2502\u2514\u251c\u00d7\u2570" or bool(_ARROW.match(told))


def read(block: Sequence[str]) -> Iterator[Tuple[str, Dict[str, str]]]:
    """Kind and fields of what a report tells."""
    if _PIP.search(block[0]):
        yield _of_pip(block)
        return
    text = " ".join(" ".join(_TREE.sub(" ", line, count=1).split()) for line in block)
    if any(pattern.search(text) for pattern in _PYTHON):
        yield (
            "no-version",
            {**_wanted(text), "offered": "?", "reason": "python", "told": text[:600]},
        )
        return
    absent = _ABSENT.search(text)
    unmatched = _UNMATCHED.search(text)
    if unmatched is not None:
        name, required = canonical(unmatched.group(1)), unmatched.group(2)
        if required[:1].isdigit():
            required = f"=={required}"
        yield (
            "no-version",
            {"component": name, "distribution": name, "required": required, "offered": "?"},
        )
        return
    wants = _requirements(text)
    if absent and len(wants) < 2:
        yield (
            "no-version",
            {
                "component": canonical(absent.group(1)),
                "distribution": canonical(absent.group(1)),
                "required": absent.group(2),
                "offered": "?",
            },
        )
        return
    if _ABSENT_AT_ALL.search(text):
        return
    yield "conflict", {**_summed(wants), "how": "resolver", "told": text[:600]}


def installed(told: str) -> Dict[str, str]:
    """The fields of a conflict between what is installed; none if a line tells of none."""
    if not any(word in told for word in _INSTALLED_WORDS):
        return {}
    for pattern in _INSTALLED:
        found = pattern.search(told)
        if found is not None:
            wants = found.group("wants").strip()
            return {
                "component": canonical(found.group("name")),
                "found": found.group("found"),
                "required": wants,
                "by": (found.group("by") or "").strip(),
                "requirements": f"{found.group('by') or '?'}: {wants}",
                "how": "setuptools" if pattern is not _INSTALLED[0] else "installed",
            }
    return {}


def _of_pip(block: Sequence[str]) -> Tuple[str, Dict[str, str]]:
    wants = []
    for line in block:
        found = _PIP_WANTS.match(line.strip())
        if found is None:
            continue
        if found.group(1):
            wants.append(("you", found.group(1)))
        else:
            wants.append((found.group(2), found.group(3)))
    missing = "no matching distributions available" in " ".join(block)
    return "conflict", {
        **_summed(wants),
        "how": "resolver",
        "unavailable": "yes" if missing else "",
    }


def _requirements(text: str) -> List[Tuple[str, str]]:
    """Who wants what, as uv, poetry and conda word it."""
    wants = []
    for found in _WANTS.finditer(text):
        by, _, wanted = found.group().partition(" depends on ")
        rest = _REST.match(text, found.end())
        wants.append((by, _NEXT.split(wanted + (rest.group().rstrip(",") if rest else ""))[0]))
    if wants:
        wants += [("you", found.group(1).rstrip(",")) for found in _ASKED.finditer(text)]
    wants += [(found.group(1), found.group(2)) for found in _CONDA_WANTS.finditer(text)]
    return wants[: 4 * _MOST]


def _wanted(text: str) -> Dict[str, str]:
    """Of what cannot be had for a Python: its name, the versions asked for."""
    found = next(filter(None, (pattern.search(text) for pattern in _UNFIT)), None)
    if found is None:
        return {}
    name = canonical(found.group(1))
    return {"component": name, "distribution": name, "required": found.group(2)}


def _summed(wants: Sequence[Tuple[str, str]]) -> Dict[str, str]:
    """What most of them want, and who wants which of it."""
    names: Counter[str] = Counter()
    for _, wanted in wants:
        name = _name(wanted)
        if name:
            names[name] += 1
    component = max(names, key=lambda name: names[name], default="")
    about = [(by, wanted) for by, wanted in wants if _name(wanted) == component] or list(wants)
    told = dict.fromkeys(f"{by}: {wanted}".strip() for by, wanted in about)
    return {"component": component, "requirements": "; ".join(list(told)[:_MOST])}


def _name(wanted: str) -> Optional[str]:
    found = _WHOLE_NAME.match(wanted)
    return canonical(found.group()) if found else None
