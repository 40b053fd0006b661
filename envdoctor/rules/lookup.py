"""What several rules ask of the facts."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import Iterable, List, Optional, Sequence, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build
from envdoctor.model.facts import Distribution, Observed, Target
from envdoctor.model.finding import Evidence, Fix
from envdoctor.model.names import canonical as canonical_name
from envdoctor.model.text import clean
from envdoctor.model.versions import is_development, local_part, try_parse
from envdoctor.relations.environment import (
    inside,
    is_same_folder,
    on_pythonpath,
    outside,
    pythonpath,
)
from envdoctor.relations.observe import candidates
from envdoctor.relations.plan import requirement_arguments
from envdoctor.rules.rule import Context

#: How the probe words that it did not see the whole search path.
INCOMPLETE = (
    "changes sys.path by code",
    "cannot be listed",
    "the rest was not read",
    "only the environment's site-packages was read",
)
_LISTED = 4
#: Origins of builds that cannot be had a second time.
_NOT_PUBLISHED = ("vendor", "source", "development")
_PROJECT = re.compile(r"[A-Za-z0-9._-]+")
_DASHES = re.compile(r"[-_.]+")
_REPLACED = 3  # letters of a name that pip replaces at most, before it finds one that is free
_IN_PLACE = frozenset("-~.=%0123456789")
#: What rules ask of pip besides requirements.
_PIP_WORDS = frozenset(
    [
        "install",
        "uninstall",
        "-y",
        "--force-reinstall",
        "--no-deps",
        "--no-build-isolation",
        "...",
        "--",
    ]
)
_REQUIREMENT = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(?: ?(?:===?|!=|~=|<=?|>=?) ?[A-Za-z0-9.*+!_-]+ ?,?)*", re.ASCII
)


def name_of(distribution: Distribution) -> str:
    """The canonical name of a distribution (PEP 503)."""
    return canonical_name(distribution.name)


def import_names(project: str) -> List[str]:
    """The modules that a project of this canonical name may bring, the likeliest first."""
    from envdoctor.facts import probe  # a large file, of use only where something is amiss

    return probe.import_names(project)


def is_leftover(distribution: Distribution) -> bool:
    """Whether pip set it aside and was broken off: it is neither listed nor imported."""
    return distribution.name.startswith("~")


def on_an_index(distribution: Distribution) -> bool:
    """Whether pip would find this version again: not what was built of sources or by a vendor."""
    version = distribution.version
    located = distribution.direct_url or distribution.editable
    return not (not version or located or local_part(version) or is_development(version))


def is_needed(distribution: Distribution, context: Context) -> bool:
    """Whether the matrices know it, or something that is installed requires it."""
    name = name_of(distribution)
    return name in context.knowledge.packages or any(
        canonical_name(match.group()) == name
        for one in context.target.distributions
        for match in map(_PROJECT.match, one.requires)
        if match
    )


def is_tree(distribution: Distribution) -> bool:
    """Whether it is the source tree of a project, with the metadata that building it left."""
    return distribution.path.endswith(".egg-info") and not distribution.installer


def of_the_system(distribution: Distribution) -> bool:
    """Whether it came with the operating system, whose packagers split and patch requirements."""
    return distribution.search_entry.startswith(("/usr/lib/python3/", "/usr/lib/python3."))


def folder_of(path: str) -> str:
    """The folder that holds a file."""
    return str(PurePosixPath(path).parent)


def sees_all(target: Target) -> bool:
    """Whether every distribution on the search path was listed; archives are not looked into."""
    archives = [e for e in target.path if e.endswith((".zip", ".whl")) and "/python3" not in e]
    cut = any(sign in problem for problem in target.problems for sign in INCOMPLETE)
    return bool(target.path) and not archives and not cut


def moves_torch(name: str, knowledge: Knowledge) -> bool:
    """Whether a plain `pip install` of a package may exchange the torch that is there."""
    package = knowledge.packages.get(name)
    return name == "torch" or (package is not None and "torch" in package.requires)


def label(distribution: Distribution) -> str:
    """Name and version, "numpy 1.26.4"."""
    return f"{distribution.name} {distribution.version}".rstrip()


def wheel_file(distribution: Distribution) -> str:
    """Where the tags of a distribution are stated: its metadata, or the line that names it."""
    asked = bool(distribution.specifier)
    return distribution.path if asked else f"{distribution.path}/WHEEL"


def evidence(distribution: Distribution) -> Evidence:
    """That a distribution is installed."""
    return Evidence(distribution.name, distribution.version, distribution.path)


def observed(what: str, value: Observed[str]) -> Evidence:
    """A known fact as evidence."""
    return Evidence(what, value.value or "", value.origin)


def listed(texts: Iterable[str]) -> str:
    """The first few texts, and in parentheses how many more there are."""
    every = list(texts)
    more = f" (+{len(every) - _LISTED})" if len(every) > _LISTED else ""
    return ", ".join(every[:_LISTED]) + more


def pip(target: Target, *arguments: str) -> str:
    """A command that calls the examined environment's own pip.

    Names and versions come from metadata that strangers wrote: no command (an empty text) where
    one of `arguments` is neither an option that rules use nor a plain requirement.
    """
    if not all(a in _PIP_WORDS or _REQUIREMENT.fullmatch(a) for a in arguments):
        return ""
    return shlex.join(installer(target, *arguments))


def installer(target: Optional[Target], *arguments: str) -> List[str]:
    """The words of a command that installs or removes something in the examined environment.

    It is the environment's own pip; uv where uv made the environment and put no pip into it.
    """
    python = clean(target.python) if target is not None and target.python else "python"
    if target is not None and _is_of_uv(target):
        verb, *rest = arguments
        # which asks nothing, and knows no such option
        kept = [word for word in rest if not (verb == "uninstall" and word == "-y")]
        return ["uv", "pip", verb, "--python", python, *kept]
    return [python, "-m", "pip", *arguments]


def _is_of_uv(target: Target) -> bool:
    found = target.distributions
    return any(d.installer == "uv" for d in found) and all(name_of(d) != "pip" for d in found)


def again(context: Context, distribution: Distribution) -> str:
    """A command that installs the same build once more, and nothing else; "" if none is known.

    Where the matrices name one place to have it from, that is taken: PyPI has no local versions.
    """
    target, observed = context.target, context.observed
    name, version = name_of(distribution), distribution.version
    located = distribution.direct_url or distribution.editable or outside(target, distribution)
    if located or observed.origins.get(name) in _NOT_PUBLISHED:
        return ""
    options = ["--force-reinstall", "--no-deps"]
    package = context.knowledge.packages.get(name)
    if package is not None and try_parse(version) is not None:
        builds = observed.domains[name]
        if builds == (ABSENT,):
            builds = candidates(package, version, {}, "")
        stated = {requirement_arguments(b) for b in builds if isinstance(b, Build)}
        named = [text.split() for text in stated if text]
        if local_part(version):
            named = [words for words in named if words[0] == f"{name}=={version}"]
        if len(named) == 1:
            return shlex.join(installer(target, "install", *options, *named[0]))
    if moves_torch(name, context.knowledge) or not on_an_index(distribution):
        return ""
    return pip(target, "install", *options, f"{distribution.name}=={version}")


def cut_off(target: Target, name: str) -> Optional[Distribution]:
    """What pip left of a project that it was removing when it was broken off.

    It renames numpy to ~umpy, or replaces more than one letter where that name is taken.
    """
    plain = _DASHES.sub("-", name.lower())
    for one in target.distributions:
        if not is_leftover(one):
            continue
        left = one.name.lower()
        for at in range(1, min(_REPLACED, len(left) - 1) + 1):
            tail = _DASHES.sub("-", left[at:])
            length = len(plain) - len(tail)
            if length == at and plain.endswith(tail) and set(left[1:at]) <= _IN_PLACE:
                return one
    return None


def kind_of(target: Target, entry: str) -> str:
    """Which part of the search path has an entry: "user", "pythonpath", "" for any other."""
    if inside(entry, target.user_site):
        return "user"
    return "pythonpath" if on_pythonpath(target, entry) else ""


def off_the_path(target: Target, entry: str) -> List[str]:
    """What takes an entry off the path; the rest of PYTHONPATH may be needed and stays."""
    kind = kind_of(target, entry)
    if kind == "user":
        return ["export PYTHONNOUSERSITE=1"]
    if kind != "pythonpath":
        return []
    rest = ":".join(one for one in pythonpath(target) if not is_same_folder(entry, one))
    return [f"export PYTHONPATH={shlex.quote(rest)}" if rest else "unset PYTHONPATH"]


def python_says(target: Target, statement: str) -> str:
    """A command that runs a statement in the examined environment."""
    return shlex.join([target.python or "python", "-c", statement])


def fix(*commands: str) -> Tuple[Fix, ...]:
    """The page's fix with its commands."""
    return (Fix(summary="", commands=tuple(command for command in commands if command)),)


def important_first(
    distributions: Sequence[Distribution], knowledge: Knowledge
) -> Sequence[Distribution]:
    """Those that the matrices know, torch before all, then the others."""
    return sorted(
        distributions,
        key=lambda d: (name_of(d) != "torch", name_of(d) not in knowledge.packages, name_of(d)),
    )
