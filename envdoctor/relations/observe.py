"""Facts as the observed part of an assignment: what each component may be."""

from __future__ import annotations

import re
from typing import Dict, FrozenSet, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.model.build import ABSENT, Build, Specifier, Unknown, Value
from envdoctor.model.facts import NOT_SAID, Distribution, Facts, GpuCode, Machine, Target
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import (
    architecture,
    is_development,
    local_part,
    parse,
    specifier,
    try_parse,
)
from envdoctor.relations.binaries import as_linked
from envdoctor.relations.components import DOTTED, PYTHON
from envdoctor.relations.environment import imported, is_doubled, outside
from envdoctor.relations.gpu_code import Ptx, Sass, read_code
from envdoctor.relations.host import observe_host
from envdoctor.relations.judge import Domain
from envdoctor.relations.values import compare

_PRESENT = re.compile(r"present\(([\w.]+)\)")
_SHORT = re.compile(r"^<=(\d+\.\d+)$")
_CONDA_NAMES = {"torch": "pytorch"}
_OF_PYTORCH = re.compile(r"py\d\.\d+_(cuda[\d.]+_cudnn[\d.]+|cpu)_\d+")
_GIT = re.compile(r"(^|[._-])(git|g)[0-9a-f]{7,}")


class Observation(NamedTuple):
    """The observed part of an assignment, with the evidence for each component."""

    domains: Dict[str, Domain]
    evidence: Dict[str, Evidence]
    accelerator: str  # vendor, "" if unknown
    untested: Tuple[Build, ...]  # builds newer than the matrices
    #: {component: "wheel", "source", "conda", "vendor", "development"}, "" where its metadata does
    #: not show it
    origins: Mapping[str, str] = {}
    #: {component: the place outside of the environment that serves it}
    served: Mapping[str, str] = {}
    unclear: Tuple[str, ...] = ()  # why it is not known which release of a package is here


def observe(facts: Facts, knowledge: Knowledge) -> Observation:
    """What the facts say of every component that the matrices know."""
    domains: Dict[str, Domain] = {}
    evidence: Dict[str, Evidence] = {}
    observe_host(facts, knowledge, domains, evidence)
    for component in DOTTED:
        if component.startswith("build."):
            domains[component] = (Unknown("no source build is due"),)
    for name in knowledge.packages:
        domains[name] = (ABSENT,)
    for module in knowledge.providers:
        domains[f"module.{module}"] = (ABSENT,)
    untested: List[Build] = []
    unclear: List[str] = []
    origins: Dict[str, str] = {}
    served: Dict[str, str] = {}
    target = facts.target.value
    if target is None:
        reason = facts.target.unknown or "no environment was examined"
        for component in (PYTHON, *knowledge.packages):
            domains[component] = (Unknown(reason),)
    else:
        domains[PYTHON] = (_python(target),)
        if target.version:
            where = facts.target.origin if facts.target.assumed else target.python
            evidence[PYTHON] = Evidence("Python", target.version, where or facts.target.origin)
        for name, distribution in imported(target).items():
            package = knowledge.packages.get(name)
            if package is None:
                continue
            label, origin, observed = _observed(distribution, package, facts)
            if is_doubled(distribution) and not label:
                unclear.append(f"{name}: {distribution.problem}")
                domains[name] = (Unknown(unclear[-1]),)
                continue
            observed.update(_limits(distribution, package, knowledge))
            domain = candidates(package, label, observed, origin)
            domain = as_linked(domain, name, target)
            domains[name] = domain
            origins[name] = _origin(distribution, package, label, bool(target.conda))
            if place := outside(target, distribution):
                served[name] = place
            evidence[name] = Evidence(name, label, origin)
            if domain[0].version is not None and domain[0].version > package.newest:
                untested.append(domain[0])
        unclear += _without_metadata(target, domains, knowledge)
    set_modules(domains, knowledge)
    if target is not None and not (target.python or target.asked or facts.target.assumed):
        _leave_open(domains, knowledge)
    vendor = facts.accelerator.vendor.value or ""
    new = tuple(untested)
    return Observation(domains, evidence, vendor, new, origins, served, tuple(unclear))


def _leave_open(domains: Dict[str, Domain], knowledge: Knowledge) -> None:
    """Make unknown whether packages are here that a report does not name, where relations ask that.

    Most lists were cut to what somebody took for relevant.
    """
    for relation in knowledge.relations:
        for component in _PRESENT.findall(f"{relation.condition} {relation.needs}"):
            name = component.replace("_", "-")
            for held in (component, name):
                if domains.get(held) == (ABSENT,):
                    domains[held] = (Unknown(NOT_SAID),)


def _without_metadata(
    target: Target, domains: Dict[str, Domain], knowledge: Knowledge
) -> Iterator[str]:
    """Make unknown what is imported from where no metadata tells its release; yield the reasons.

    It may be a source tree or a copy, and come before a release that is installed as well; or
    another project that brings the same module.
    """
    claims: Dict[str, str] = {}
    for name, distribution in imported(target).items():
        if name not in knowledge.packages:
            for module in distribution.modules:
                claims.setdefault(module, f"{distribution.name} {distribution.version}".rstrip())
    files = target.torch
    for module, names in knowledge.providers.items():
        reason = ""
        if module in target.modules:
            # Of a torch that has metadata its files tell the version all the same.
            told = module == "torch" and files is not None and files.version.known
            if not told or domains[module] == (ABSENT,):
                reason = f"{target.modules[module]} has no metadata that tells its version"
        elif module in claims and all(domains[n] == (ABSENT,) for n in names):
            reason = f"{module} is here by {claims[module]}, whose versions are not known"
        if reason:
            yield reason
            for name in names:
                domains[name] = (Unknown(reason),)
    if "pkg_resources" in target.modules:
        held = imported(target).get("setuptools")
        if held is None or (held.modules and "pkg_resources" not in held.modules):
            domains["setuptools"] = (Unknown("pkg_resources is here, setuptools' metadata is not"),)


def set_modules(domains: Dict[str, Domain], knowledge: Knowledge) -> None:
    """Fill in which packages provide each import name; unknown where one that is unknown may."""
    for module, names in knowledge.providers.items():
        every = [value for name in names for value in domains.get(name, ())]
        builds = tuple(value for value in every if isinstance(value, Build))
        unsure = next((value for value in every if isinstance(value, Unknown)), ABSENT)
        domains[f"module.{module}"] = builds or (unsure,)


def meant(label: str, package: Package, machine: Machine) -> Tuple[Build, ...]:
    """The builds that somebody may mean who names a version of a package, for a machine.

    They are those that it may be where it is installed, and nothing else is known of it.
    """
    named = Distribution(name=package.name, version=label, path="", search_entry="")
    version, _, observed = _observed(named, package, Facts(machine=machine))
    return candidates(package, version, observed, "")


def candidates(
    package: Package, label: str, observed: Mapping[str, Value], origin: str
) -> Tuple[Build, ...]:
    """Every build of the matrices that an installed one may be; itself alone if none is known.

    What was observed of it overrides what the matrices say.
    """
    version = try_parse(label)
    found = []
    if version is not None and _is_between(package, version, label):
        plain = "origin" not in package.variant or observed.get("origin") == "wheel"
        shared = _shared_around(package, label) if plain else {}
        number = None if is_development(label) else version
        attributes = {**shared, **observed}
        return (Build(package.name, number, attributes, label=label, origin=origin),)
    if version is not None:
        for build in _builds(package, version, observed):
            if _consistent(build, observed):
                merged = _over(build, observed)
                found.append(build.with_attributes(merged, label=label, origin=origin))
    if found:
        return tuple(found)
    shared = {}
    if version is not None and observed.get("origin") in (None, "wheel"):
        # An unlisted variant of a listed release; what shows a tag is a wheel.
        every = package.builds(version)
        wheels = tuple(b for b in every if b.attributes.get("origin") == "wheel")
        shared = _shared(wheels if observed.get("tag") else every)
    return (Build(package.name, version, {**shared, **observed}, label=label, origin=origin),)


def _builds(package: Package, version: Version, observed: Mapping[str, Value]) -> Tuple[Build, ...]:
    """What the matrices know of a release: of conda's builds, where the channel is known."""
    if observed.get("origin") == "conda" and "channel" in observed:
        return package.conda_builds(version)
    return package.builds(version)


def _over(build: Build, observed: Mapping[str, Value]) -> Dict[str, Value]:
    """What was observed, as far as it overrides what the matrices say of a build.

    Of a wheel they say for which GPUs it was made. Its files hold that, and often more: other
    libraries that are linked into them, which serve more GPUs or bring PTX, do not make it run.
    """
    merged = {name: value for name, value in observed.items() if value is not None}
    stated, read = build.attributes.get("sass"), observed.get("sass")
    if not isinstance(read, Sass) or not isinstance(stated, tuple):
        return merged
    if build.attributes.get("origin") == "wheel" and set(stated) <= set(read):
        merged.pop("sass")
        merged.pop("ptx", None)
    return merged


def _is_between(package: Package, version: Version, label: str) -> bool:
    """Whether a build is of the time between two releases: which state of it, no number says."""
    if version in package.releases and not _GIT.search(local_part(label)):
        return is_development(label)
    local = local_part(label)
    return Version(label).is_prerelease and (
        not local or bool(_GIT.search(local)) or is_development(label)
    )


def _shared_around(package: Package, label: str) -> Dict[str, Value]:
    """What the releases before and after a build of the time between have in common."""
    written = Version(label)
    before = [v for v in package.releases if v <= written]
    after = [v for v in package.releases if v >= parse(written.base_version)]
    if not before or not after:
        return {}
    around = [v for v in package.releases if before[-1] <= v <= after[0]]
    shared = _shared(tuple(build for v in around for build in package.builds(v)))
    return {name: value for name, value in shared.items() if name != "origin"}


def _shared(builds: Tuple[Build, ...]) -> Dict[str, Value]:
    """What all builds of a release have in common."""
    first = builds[0].attributes if builds else {}
    return {
        name: value
        for name, value in first.items()
        if name != "install" and all(b.attributes.get(name) == value for b in builds)
    }


def is_source(build: Build) -> bool:
    """Whether it is what one builds oneself."""
    return build.attributes.get("origin") == "source"


def kind(build: Build) -> Optional[str]:
    """What accelerator a build is for: "cuda", "cpu", "rocm"; None where it is not known."""
    cuda = build.attributes.get("cuda")
    if isinstance(cuda, Version):
        return "cuda"
    if isinstance(cuda, str):
        return re.sub(r"[\d.]+$", "", cuda)
    return None


def alike(before: Build, after: Build) -> bool:
    """Whether one build can stand in for another: for the same kind of device and processor."""
    return all(
        one is None or other is None or one == other
        for one, other in (
            (kind(before), kind(after)),
            (before.attributes.get("architecture"), after.attributes.get("architecture")),
        )
    )


def _consistent(build: Build, observed: Mapping[str, Value]) -> bool:
    if kind(build) == "cpu" and (observed.get("sass") or observed.get("code")):
        return False  # no build for the processor alone has GPU code
    for name, value in observed.items():
        stated = build.attributes.get(name)
        if stated is None or isinstance(stated, Specifier):
            continue  # what a release accepts, its user may have edited
        if isinstance(value, (Sass, Ptx)):
            continue  # files hold other libraries' code, too
        if isinstance(stated, tuple) and isinstance(value, tuple):
            if stated != value and not set(stated) & set(value):
                return False
        elif compare("==", stated, value) is False:
            return False
    return True


def _observed(
    distribution: Distribution, package: Package, facts: Facts
) -> Tuple[str, str, Dict[str, Value]]:
    """The label, where it was read, and the attributes that can be told without opening it."""
    label, origin = distribution.version, distribution.path
    texts = [
        local_part(label),
        local_part(distribution.built),
        local_part(_wheel_version(distribution.direct_url)),
    ]
    attributes: Dict[str, Value] = {}
    target = facts.target.value
    files = target.torch if target is not None and package.name == "torch" else None
    if files is not None:
        if files.version.value is not None:
            label, origin = files.version.value, files.version.origin
            texts.insert(0, local_part(label))
        if files.hip.value is not None:
            attributes["cuda"] = "rocm" + ".".join(files.hip.value.split(".")[:2])
        elif files.cuda.value is not None:
            _put(attributes, package, "cuda", _minor(files.cuda.value))
        if files.abi.value is not None:
            attributes["abi"] = files.abi.value
    for text in texts:
        match = package.local.match(text) if package.local and text else None
        for name, value in match.groupdict().items() if match else ():
            if value is not None and name not in attributes:
                _put(attributes, package, name, value)
    in_conda = target is not None and bool(target.conda)
    where = _origin(distribution, package, label, in_conda)
    if where and where != "development" and "origin" in package.variant:
        attributes["origin"] = where
    if where == "conda" and target is not None and "channel" in package.variant:
        attributes.update(channel_of(package.name, target))
    tags = tuple(dict.fromkeys(_python_tags(distribution.tags)))
    if tags and "python" in package.variant:
        attributes["python"] = tags
    if "platform" in package.variant and (platform := _platform(distribution)):
        attributes["platform"] = platform
    if "file" in package.variant and (file := _kind_of_platform(_wheel_tag(distribution))):
        attributes["file"] = file
    if "ops" in package.variant and _is_pure(distribution.tags):
        _put(attributes, package, "ops", "false")  # its setup.py found no torch, and left them out
    if "architecture" in package.variant:
        architecture = _architecture(distribution.tags) or facts.machine.architecture.value
        if architecture:
            attributes["architecture"] = architecture
    code = target.gpu_code.get(package.name) if target is not None else None
    if code is not None and code.cuda and "cuda" in package.variant and "cuda" not in attributes:
        _put(attributes, package, "cuda", _minor(code.cuda))
    if code is not None:
        attributes.update(_gpu_code(code, package))
    return label, origin, attributes


def channel_of(name: str, target: Target) -> Dict[str, Value]:
    """The channel of conda that a package is from, as an attribute; none if it is not known."""
    for held in target.conda:
        if held.name == name or held.name == _CONDA_NAMES.get(name):
            # The name of the build shows it, where the channel is a mirror's or was not listed.
            channel = "pytorch" if _OF_PYTORCH.fullmatch(held.build) else held.channel
            return {"channel": channel.rpartition("/")[2]} if channel else {}
    return {}


def _gpu_code(code: GpuCode, package: Package) -> Dict[str, Value]:
    """The attributes that say which GPUs a build has code for."""
    found: Dict[str, Value] = {}
    try:
        if code.groups:
            read = read_code(code)
            found = {"code": read, "sass": read.sass(), "ptx": read.ptx()}
            if code.ptx_version:
                found["ptx_version"] = parse(code.ptx_version)
        elif code.sass is not None:
            found["sass"] = tuple(architecture(number) for number in code.sass)
            found["ptx"] = Unknown(f"PTX of {package.name}")
            if code.ptx is not None:
                found["ptx"] = tuple(architecture(number) for number in code.ptx)
    except ValueError:
        return {}  # a snapshot that somebody edited
    return {name: value for name, value in found.items() if name in package.variant}


def _limits(distribution: Distribution, package: Package, knowledge: Knowledge) -> Dict[str, Value]:
    """The versions of others that a package asserts, where its file has been edited.

    As released it asserts what the matrices say: they know how that release compares versions.
    """
    found: Dict[str, Value] = {}
    version = try_parse(distribution.version)
    if distribution.limits is None or version is None:
        return found
    for name, of_type in package.variant.items():
        if of_type == "specifier" and name in knowledge.providers:
            limit = distribution.limits.get(name)
            stated = {_bounds(str(b.attributes.get(name, ""))) for b in package.builds(version)}
            if limit == "":
                found[name] = Unknown(f"{package.name} tests {name} in a way of its own")
            elif stated != {_bounds(limit or "")}:
                found[name] = _specifier(limit or "", f"{package.name} asserts {name}{limit}")
    return found


def _bounds(limit: str) -> FrozenSet[str]:
    """The clauses of a range. Those that compare lists of numbers have 1.3.0 beyond "<=1.3"."""
    return frozenset(_SHORT.sub(r"<\1", clause) for clause in limit.split(","))


def _specifier(text: str, reason: str) -> Value:
    try:
        specifier(text)
    except ValueError:
        return Unknown(reason)
    return Specifier(text)


def _put(attributes: Dict[str, Value], package: Package, name: str, text: str) -> None:
    try:
        attributes[name] = package.typed(name, text)
    except ValueError:
        attributes[name] = Unknown(f"{name} {text!r} of {package.name}")


def _minor(cuda: str) -> str:
    """CUDA as wheels state it: 12.1 of "12.1.105"; "cpu" stays."""
    version = try_parse(cuda)
    return cuda if version is None else f"{version.major}.{version.minor}"


def _origin(distribution: Distribution, package: Package, label: str, in_conda: bool) -> str:
    """Where a build came from, if its metadata shows it: a guess would be worse than none."""
    # Packages of conda's own name no installer, those that pip put into its environment do.
    named = distribution.installer or ("conda" if in_conda and not distribution.editable else "")
    if named == "conda":
        return "conda"
    local = local_part(label)
    if distribution.editable or _GIT.search(local) or distribution.direct_url.startswith("git"):
        return "source"
    if local and package.local is not None and not package.local.match(local):
        return "vendor"
    if is_development(label):
        return "development"
    wheel = _wheel_version(distribution.direct_url)
    if distribution.direct_url and not wheel:
        return "source"  # pip built what it was given: a folder or an archive of sources
    published = local_part(wheel)
    if published and package.local is not None and package.local.match(published):
        return "wheel"  # a file named as the project names its own
    return ""


def _wheel_version(url: str) -> str:
    """The version in the name of the wheel that a URL names, if it names one."""
    name = url.rpartition("/")[2].partition("#")[0].replace("%2B", "+").replace("%2b", "+")
    parts = name.split("-")
    return parts[1] if name.endswith(".whl") and len(parts) >= 5 else ""


def _python_tags(tags: Tuple[str, ...]) -> Iterator[str]:
    for tag in tags:
        python, abi, _ = (*tag.split("-"), "", "", "")[:3]
        yield f"{python}-abi3" if abi == "abi3" else (abi if abi.endswith("t") else python)


def _platform(distribution: Distribution) -> str:
    """The kind of platform tag; "linux" also without a wheel: both were compiled where they are."""
    if not distribution.tags and distribution.path.endswith(".egg-info"):
        return "linux"
    return _kind_of_platform(*distribution.tags, _wheel_tag(distribution))


def _wheel_tag(distribution: Distribution) -> str:
    """The name of the wheel that a distribution was installed from, as far as it is known."""
    file = distribution.direct_url.rpartition("/")[2].partition("#")[0]
    return file[: -len(".whl")] if file.endswith(".whl") else ""


def _kind_of_platform(*tags: str) -> str:
    """The kind of platform that tags end with, "manylinux" of manylinux2014_x86_64."""
    kinds = {tag.rpartition("-")[2].partition("_")[0].rstrip("0123456789") for tag in tags}
    return next((kind for kind in ("manylinux", "musllinux", "linux") if kind in kinds), "")


def _is_pure(tags: Tuple[str, ...]) -> bool:
    """Whether it is a wheel without extension modules."""
    return bool(tags) and all(tag.endswith("-none-any") for tag in tags)


def _architecture(tags: Tuple[str, ...]) -> str:
    for tag in tags:
        for name in ("x86_64", "aarch64"):
            if tag.endswith(name):
                return name
    return ""


def _python(target: Target) -> Value:
    if not target.version:
        return Unknown("the version of Python is unknown")
    version = parse(target.version)
    tag = f"cp{version.major}{version.minor}{'t' if target.free_threaded else ''}"
    return Build(PYTHON, version, {"tag": tag}, label=target.version, origin=target.python)
