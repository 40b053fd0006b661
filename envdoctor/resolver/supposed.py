"""An environment as it would be with other builds in it: facts, and what each component may be."""

from __future__ import annotations

import difflib
import re
from typing import Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

import msgspec
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, UNKNOWN, Build, Value
from envdoctor.model.facts import Distribution, Facts, Target, TorchFiles, seen, unseen
from envdoctor.model.names import canonical
from envdoctor.model.text import clean
from envdoctor.model.versions import local_part, try_parse
from envdoctor.relations.components import PYTHON
from envdoctor.relations.environment import imported
from envdoctor.relations.fit import Fit
from envdoctor.relations.judge import Bound, Domain, Relations
from envdoctor.relations.observe import Observation, is_source, kind, observe, set_modules
from envdoctor.relations.plan import requirement_arguments
from envdoctor.relations.tell import label
from envdoctor.relations.wanted import Wanted, WantedError, builds_of, read_wanted

_NAMED = re.compile(r"\s*([A-Za-z0-9][\w.-]*)(.*)", re.ASCII)
_PIN = re.compile(r"={2,3}\s*([^*,\s]+)")
_MAX_LENGTH = 200
_WANTED = "what is asked for"
_NO_LINKING = "binaries of what is asked for are not there to be read"

replace = msgspec.structs.replace


class Asked(NamedTuple):
    """One change that is asked about: another version of a package, or that it goes."""

    name: str  # canonical
    wanted: Optional[Wanted] = None  # None of what the matrices do not know, and of what goes
    version: str = ""  # of what the matrices do not know
    removed: bool = False


class Supposed(NamedTuple):
    """What the environment would be."""

    facts: Facts
    observation: Observation
    builds: Dict[str, Build]  # of packages of the matrices that change, the build that comes
    labels: Dict[str, str]  # of all that change, the version that comes; "" of what goes
    fits_here: Dict[str, bool]  # whether a build can be installed here at all


def read_asked(text: str, removed: bool, knowledge: Knowledge, facts: Facts) -> Asked:
    """What a text asks for. Raises WantedError, which names what is near."""
    target = facts.target.value
    installed = imported(target) if target is not None else {}
    match = _NAMED.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    name = canonical(match[1]) if match is not None else ""
    rest = match[2].strip() if match is not None else ""
    if removed:
        if name not in installed or rest:
            told = f"{clean(text)!r} is not installed here"
            raise WantedError(told + _near(name, list(installed)))
        return Asked(name, removed=True)
    if name in knowledge.packages or match is None:
        wanted = read_wanted(text, knowledge)
        return Asked(wanted.name, wanted)
    if name not in installed:
        told = f"neither the matrices nor this environment have a package {clean(match[1])!r}"
        raise WantedError(told + _near(name, [*knowledge.packages, *installed]))
    pin = _PIN.fullmatch(rest)
    if pin is None or try_parse(pin[1]) is None:
        raise WantedError(
            f"{clean(text)!r}: the matrices do not know its releases: a version is expected, "
            f"as in {name}==1.0"
        )
    return Asked(name, version=pin[1])


def _near(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=3, cutoff=0.6)
    return f"; nearest: {', '.join(near)}" if near else ""


def suppose(
    facts: Facts,
    world: Mapping[str, Domain],
    asked: Sequence[Asked],
    relations: Relations,
) -> Supposed:
    """The environment of `facts` with what is asked for in it.

    `facts` are of the machine that is asked about; `world` has, of each package, the builds that
    may be installed today. Raises WantedError for a release that there is not.
    """
    knowledge = relations.knowledge
    observation = observe(facts, knowledge)
    domains = dict(observation.domains)
    for name in knowledge.packages:
        if name in world and isinstance(domains[name][0], Build):
            domains[name] = world[name]
    coming: Dict[str, Tuple[Build, ...]] = {}
    fits_here: Dict[str, bool] = {}
    fit = Fit(relations, observation.accelerator)
    for one in asked:
        if one.removed and one.name in knowledge.packages:
            domains[one.name] = (ABSENT,)
        if one.wanted is not None:
            builds, fits_here[one.name] = _offered(one.wanted, domains, fit, knowledge)
            coming[one.name] = builds
            domains[one.name] = builds
    set_modules(domains, knowledge)
    for name in coming:
        domains[name] = coming[name] = _that_fit(name, coming[name], domains, fit)
        set_modules(domains, knowledge)
    chosen = {name: _first(builds) for name, builds in coming.items()}
    labels = {one.name: one.version for one in asked}
    labels.update({name: label(build, knowledge) for name, build in chosen.items()})
    after = _facts(facts, labels, chosen, knowledge)
    told = observe(after, knowledge)
    for name, builds in coming.items():
        domains[name] = tuple(b.with_attributes({}, label=label(b, knowledge)) for b in builds)
    set_modules(domains, knowledge)
    return Supposed(
        after, told._replace(domains={**told.domains, **domains}), chosen, labels, fits_here
    )


def _offered(
    wanted: Wanted, domains: Mapping[str, Domain], fit: Fit, knowledge: Knowledge
) -> Tuple[Tuple[Build, ...], bool]:
    """The builds that pip may take for what is wanted, and whether one can be installed here.

    Of a range the newest release that can. PyPI's wheels, where no local part asks for others.
    """
    architecture = domains.get("host.architecture", (UNKNOWN,))[0]
    every = builds_of(wanted, knowledge, architecture)
    _expect_local(wanted, every, knowledge, architecture)
    every = tuple(build for build in every if build.attributes.get("origin") != "conda")
    fitting = _installable(wanted.name, every, domains, fit)
    of = fitting or every
    if not wanted.label:
        known = [b.version for b in of if b.version is not None and not b.version.is_prerelease]
        if known:
            of = tuple(b for b in of if b.version == max(known))
    wheels = tuple(b for b in of if not is_source(b))
    plain = tuple(b for b in wheels if _is_plain(b))
    return plain or of, bool(fitting)


def _expect_local(
    wanted: Wanted, builds: Sequence[Build], knowledge: Knowledge, architecture: Value
) -> None:
    """Raise WantedError for a build of a release that it does not have: torch==1.9.1+cu999."""
    package = knowledge.packages[wanted.name]
    version, local = try_parse(wanted.label), local_part(wanted.label)
    if version not in package.releases or not (package.local and package.local.match(local)):
        return
    if any(build.entry for build in builds):
        return
    here = [
        build
        for build in package.builds(version)
        if build.attributes.get("architecture") in (None, architecture)
        or not isinstance(architecture, str)
    ]
    known = dict.fromkeys(label(build, knowledge) for build in here)
    raise WantedError(
        f"{wanted.name} has no build {clean(wanted.label)} for this processor; "
        f"its builds: {', '.join(known) or 'none'}"
    )


def _installable(
    name: str, builds: Tuple[Build, ...], domains: Mapping[str, Domain], fit: Fit
) -> Tuple[Build, ...]:
    """Those that this interpreter and this system take."""
    rejected = 0
    for bound in fit.of(name):
        if is_of_installing(bound):
            rejected |= fit.ask(bound, builds, domains).rejected
    return tuple(build for n, build in enumerate(builds) if not rejected >> n & 1)


def is_of_installing(bound: Bound) -> bool:
    """Whether what breaks it cannot be installed here, whatever else is installed."""
    relation = bound.relation
    of_here = all(c == PYTHON or c.startswith("host.") for c in bound.components)
    return relation.phase == "install" and relation.severity == "error" and of_here


def _is_plain(build: Build) -> bool:
    """Whether a plain `pip install` takes it from PyPI."""
    arguments = requirement_arguments(build)
    return arguments is not None and " " not in arguments and "+" not in arguments


def _that_fit(
    name: str, builds: Tuple[Build, ...], domains: Mapping[str, Domain], fit: Fit
) -> Tuple[Build, ...]:
    """The builds that fit what is beside them; all of them if none does."""
    rejected = 0
    for bound in fit.of(name):
        if bound.relation.severity == "error":
            rejected |= fit.ask(bound, builds, domains).rejected
    return tuple(b for n, b in enumerate(builds) if not rejected >> n & 1) or builds


def _first(builds: Sequence[Build]) -> Build:
    """The one that a command of the matrices installs: a wheel rather than sources."""
    return min(
        builds,
        key=lambda b: (requirement_arguments(b) is None, is_source(b)),
    )


def _facts(
    facts: Facts, labels: Mapping[str, str], chosen: Mapping[str, Build], knowledge: Knowledge
) -> Facts:
    """The facts as they would be; what only the files would tell is not known."""
    target = facts.target.value
    if target is None:
        return facts
    if not labels:
        return facts
    there = imported(target)
    kept = tuple(d for d in target.distributions if canonical(d.name) not in labels)
    come = tuple(
        _distribution(name, version, there.get(name), target, knowledge)
        for name, version in labels.items()
        if version
    )
    linking = target.linking
    if linking.known or linking.unknown:
        linking = unseen(_NO_LINKING)
    changed = replace(
        target,
        distributions=(*kept, *come),
        torch=_torch(target, labels, chosen),
        gpu_code={name: code for name, code in target.gpu_code.items() if name not in labels},
        linking=linking,
    )
    return replace(facts, target=replace(facts.target, value=changed))


def _distribution(
    name: str,
    version: str,
    there: Optional[Distribution],
    target: Target,
    knowledge: Knowledge,
) -> Distribution:
    package = knowledge.packages.get(name)
    modules = package.modules if package is not None else ()
    entry = there.search_entry if there is not None else _site(target)
    return Distribution(
        name=there.name if there is not None else name,
        version=version,
        path=f"{entry}/{name}",
        search_entry=entry,
        installer="pip",
        modules=tuple(there.modules if there is not None else modules),
    )


def _site(target: Target) -> str:
    """Where pip puts what is new: where most of what is there is."""
    entries = [d.search_entry for d in target.distributions]
    return max(entries, key=entries.count) if entries else ""


def _torch(
    target: Target, labels: Mapping[str, str], chosen: Mapping[str, Build]
) -> Optional[TorchFiles]:
    """What the files of torch would say."""
    if "torch" not in labels:
        return target.torch
    if not labels["torch"]:
        return None
    build = chosen.get("torch")
    path = target.torch.path if target.torch is not None else f"{_site(target)}/torch"
    files = TorchFiles(path=path, version=seen(labels["torch"], _WANTED))
    if build is None:
        return files
    cuda = build.attributes.get("cuda")
    abi = build.attributes.get("abi")
    if isinstance(cuda, Version) or kind(build) == "cpu":
        files = replace(files, cuda=seen(str(cuda), _WANTED))
    if isinstance(abi, int):
        files = replace(files, abi=seen(abi, _WANTED))
    return files
