"""The order in which a stack is installed, and from where each of its parts comes.

Three things decide it:

* A project that keeps its wheels on an index or a page of its own is asked for them alone: an index
  beside PyPI could serve any other package, too. So these come first, without what they depend on.
* Then comes everything from the index that the user has configured. Where the installer was asked
  (`Resolution.tree`), each distribution is named; else what the stack depends on is left to it,
  under constraints.
* What compiles, or looks at what is installed when it is built, comes after that, each in its turn.

No package's name stands here: what is special about one is said by its arguments and attributes.
"""

from __future__ import annotations

import re
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from packaging.version import Version

from envdoctor.model.names import canonical
from envdoctor.model.resolution import (
    HOST,
    IMAGE,
    IMPOSSIBLE,
    UNKNOWN,
    Artefact,
    Member,
    Resolution,
)
from envdoctor.resolver.lock.written import (
    LockError,
    checked_hashes,
    checked_name,
    checked_path,
    checked_requirement,
    checked_specifier,
    checked_url,
    checked_version,
    told,
)

#: What pip takes a build backend from where a project names none.
_BACKEND = ("setuptools", "wheel")
# Modules of setuptools under a name of their own.
_OF_BACKEND = ("pkg_resources",)
_PYTHON = "python"
_BUILD = "build."
_TOOLKIT = "build.toolkit"
# Members that no pip installs.
_GIVEN = (HOST, IMAGE)
_SOURCE = "source"
#: "9.0", "12.0a", "8.6+PTX".
_ARCHITECTURE = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?[af]?(\+PTX)?")


#: Kinds of steps: what indexes serve; what builds import; what is built against what is there.
FETCH, TOOLS, BUILD = "fetch", "tools", "build"


class Package(NamedTuple):
    """A distribution to install."""

    name: str
    version: str = ""
    url: str = ""  # of the file, if it is to be taken by it
    hashes: Tuple[str, ...] = ()  # "sha256:...", of that file
    extras: Tuple[str, ...] = ()
    specifier: str = ""  # of a requirement that is no pin
    marker: str = ""
    tree: str = ""  # the folder of the training code that it is built from
    editable: bool = False
    patches: Tuple[str, ...] = ()  # that its sources need first
    source: str = ""  # the index that has it; empty: the one that is configured

    @property
    def requirement(self) -> str:
        """What pip reads, "torch==1.9.1+cu111" or "torch @ https://..."; a tree's is its folder."""
        if self.tree:
            return self.tree if self.tree.startswith(("/", ".")) else f"./{self.tree}"
        name = f"{self.name}[{','.join(self.extras)}]" if self.extras else self.name
        if self.url:
            said = f"{name} @ {self.url}"
        else:
            said = f"{name}=={self.version}" if self.version else f"{name}{self.specifier}"
        return f"{said} ; {self.marker}" if self.marker else said

    @property
    def verified(self) -> str:
        """The requirement; one that names a file with the hash of that file."""
        if not self.url or not self.hashes:
            return self.requirement
        algorithm, _, digest = self.hashes[0].partition(":")
        return self._replace(url=f"{self.url}#{algorithm}={digest}").requirement

    @property
    def label(self) -> str:
        """Its name and version, for people."""
        return f"{self.name} {self.version}".strip() or self.tree


class Step(NamedTuple):
    """One call of the installer."""

    packages: Tuple[Package, ...]
    index_url: str = ""  # asked, and no other; empty: the one that is configured
    pages: Tuple[str, ...] = ()  # of wheels, beside the index
    only_binary: Tuple[str, ...] = ()
    no_binary: Tuple[str, ...] = ()
    no_cache: bool = False
    isolated: bool = True  # whether builds get an environment of their own
    no_deps: bool = False
    compiles: str = ""  # cuda, c++, c
    architectures: Tuple[str, ...] = ()  # of GPUs, that code is compiled for
    toolkit: str = ""  # the CUDA whose compiler is needed
    job_memory: int = 0  # MiB that one parallel job of the compiler takes
    kind: str = FETCH
    present: Tuple[Package, ...] = ()  # installed already, whose dependencies are due now

    @property
    def variables(self) -> Tuple[Tuple[str, str], ...]:
        """What the environment must say so that code for these GPUs is compiled, seen or not."""
        if self.compiles != "cuda":
            return ()
        force = (("FORCE_CUDA", "1"),)
        if not self.architectures:
            return force
        return (*force, ("TORCH_CUDA_ARCH_LIST", ";".join(self.architectures)))


class Installation(NamedTuple):
    """How a stack is installed: its steps, and what holds in all of them."""

    python: str  # "3.8"; empty: not said
    steps: Tuple[Step, ...]
    constraints: Tuple[str, ...] = ()  # lines; none where each distribution is named
    complete: bool = False  # whether all distributions are named, dependencies too
    given: Tuple[Member, ...] = ()  # what is there before: driver, image, toolkit

    @property
    def packages(self) -> Tuple[Package, ...]:
        """Every package, in the order of installation."""
        return tuple(package for step in self.steps for package in step.packages)


def installation(resolution: Resolution) -> Installation:
    """The steps in which a stack is installed.

    Raises LockError where there is none, and for what no installer could be told safely.
    """
    if resolution.status in (IMPOSSIBLE, UNKNOWN) or not resolution.stack:
        raise LockError("there is no stack to lock")
    return _Planner(resolution).plan()


class _Sorted(NamedTuple):
    """The packages of one member or of several, and the options that they have in common."""

    step: Step
    imports: FrozenSet[str] = frozenset()


class _Planner:
    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self._complete = bool(resolution.tree) and not resolution.left
        self._found: Dict[str, Artefact] = {}
        for artefact in resolution.tree:
            name = checked_name(artefact.package)
            if name in self._found:
                raise LockError(f"{name} is locked twice")
            self._found[name] = artefact
        self._members = [
            member
            for member in resolution.stack
            if member.origin not in _GIVEN
            and member.component != _PYTHON
            and not member.component.startswith(("host.", _BUILD))
        ]
        self._toolkit = _toolkit(resolution.stack)

    def plan(self) -> Installation:
        own: List[_Sorted] = []
        early: List[_Sorted] = []  # of the configured index
        builds: List[_Sorted] = []
        late: List[_Sorted] = []  # those that the engine puts after a build
        every = [self._sorted(member) for member in self._members]
        wanted = {canonical(name) for one in every for name in one.imports}
        for one in every:
            if one.step.kind == BUILD:
                builds.append(one)
            elif one.step.index_url or one.step.pages or one.step.packages[0].url:
                own.append(one)
            elif builds and not self._complete and one.step.packages[0].name not in wanted:
                late.append(one)
            else:
                early.append(one)
        rest = self._rest()
        steps = _merged(own)
        fetched = [package for step in steps for package in step.packages]
        (late or early).extend(_Sorted(Step((p,))) for p in rest if not p.tree)
        steps += self._of_index(early, fetched)
        if builds:
            steps += self._tools(builds, [package for step in steps for package in step.packages])
            steps += _merged(builds)
        steps += self._of_index(late, [])
        trees = tuple(package for package in rest if package.tree)
        steps += [Step(trees, no_deps=self._complete)] if trees else []
        return Installation(
            python=self._python(),
            steps=tuple(steps),
            constraints=() if self._complete else self._constraints(),
            complete=self._complete,
            given=tuple(
                member
                for member in self._resolution.stack
                if member.origin in _GIVEN or member.component.startswith(("host.", _BUILD))
            ),
        )

    def _python(self) -> str:
        for member in self._resolution.stack:
            if member.component == _PYTHON:
                release = Version(checked_version(member.version)).release
                return ".".join(str(number) for number in release[:2])
        return ""

    def _sorted(self, member: Member) -> _Sorted:
        """A member as a step of its own. Raises LockError."""
        name = checked_name(member.component)
        imports = _texts(member.variant.get("imports"))
        compiles = str(member.variant.get("compiles", ""))
        memory = member.variant.get("job_memory", 0)
        step = _options(member, name)
        patches = tuple(checked_name(patch) for patch in member.patches)
        if member.tree:
            package = Package(
                name,
                version=checked_version(member.version),
                tree=checked_path(member.tree),
                editable=True,
                patches=patches,
            )
            step = Step((package,), isolated=False, kind=BUILD)
            # What authors demand of a tree, its profile may have overruled.
            step = step._replace(no_deps=self._complete or bool(self._resolution.overrides))
        else:
            package = self._package(member, name, step)._replace(patches=patches)
            if package.url:
                step = step._replace(index_url="", pages=(), only_binary=())
            step = step._replace(packages=(package,), no_deps=self._complete)
        from_source = member.origin == _SOURCE
        if from_source and not member.tree:
            needs_others = bool(
                imports or compiles == "cuda" or member.variant.get("without_torch")
            )
            isolated = step.isolated and not needs_others
            step = step._replace(isolated=isolated, no_binary=(name,), only_binary=())
        if not step.isolated or member.patches:
            # Built against what is there: the same version may be another build tomorrow.
            step = step._replace(kind=BUILD, no_cache=True, isolated=False)
        if from_source or member.tree:
            step = step._replace(
                compiles=compiles,
                architectures=self._architectures() if compiles == "cuda" else (),
                toolkit=self._toolkit if compiles == "cuda" else "",
                job_memory=memory if isinstance(memory, int) else 0,
            )
        if step.kind != BUILD:
            apart = bool(step.index_url or step.pages or package.url)
            # What comes from the configured index is the same for every environment.
            step = step._replace(no_deps=step.no_deps or apart, no_cache=step.no_cache and apart)
        return _Sorted(step, frozenset(imports))

    def _package(self, member: Member, name: str, step: Step) -> Package:
        """What is installed of a member that pip fetches. Raises LockError."""
        said = member.requirement or (member.arguments[0] if member.arguments else "")
        if not said and "repository" in member.variant:
            place = told(str(member.variant["repository"]))
            raise LockError(
                f"{name} {told(member.version)} is on no index: its sources are at {place}, and"
                " which commit is meant is not known"
            )
        wanted = checked_requirement(said or f"{name}=={checked_version(member.version)}")
        if canonical(wanted.name) != name:
            raise LockError(f"{member.requirement!r} is not a requirement of {name}")
        package = _package_of(wanted)._replace(source=step.index_url)
        if package.url:
            package = package._replace(version=checked_version(member.version))
        artefact = self._found.get(name)
        if artefact is None:
            return package
        version = checked_version(artefact.version)
        if not wanted.specifier.contains(version, prereleases=True):
            raise LockError(f"the installer took {name} {version}, and {said} was asked for")
        package = package._replace(version=version, specifier="")
        if not step.index_url and not step.pages:
            return package._replace(hashes=checked_hashes(artefact.hashes))
        if not is_of(artefact, step):
            return (
                package  # another file of that version: nothing is known of the one that is meant
            )
        # What a project serves itself is at that place alone; a mirror may serve what PyPI has.
        url = checked_url(artefact.url).partition("#")[0]
        return package._replace(
            url="" if url.startswith("file:") else url, hashes=checked_hashes(artefact.hashes)
        )

    def _rest(self) -> List[Package]:
        """What is no member: of the tree where it is known, else what users asked for."""
        taken = {checked_name(member.component) for member in self._members}
        taken |= {m.component for m in self._resolution.stack if m.origin in _GIVEN}
        asked = [_of_line(line) for line in self._resolution.rest]
        found: List[Package] = []
        for package in asked:
            if package.tree or (package.url and package.name not in taken):
                found.append(package)  # no index has it
                taken.add(package.name)
        for name, artefact in sorted(self._found.items()):
            if name not in taken:
                found.append(
                    Package(
                        name,
                        version=checked_version(artefact.version),
                        hashes=checked_hashes(artefact.hashes),
                        source=artefact.index and checked_url(artefact.index),
                    )
                )
                taken.add(name)
        return [*found, *(package for package in asked if package.name not in taken)]

    def _of_index(self, sorts: List[_Sorted], present: Sequence[Package]) -> List[Step]:
        """What the configured index serves, in one step; what is `present` may need more of it."""
        waiting = () if self._complete else tuple(p for p in present if not p.tree)
        if not sorts and not waiting:
            return []
        steps = [one.step for one in sorts]
        return [
            Step(
                tuple(package for step in steps for package in step.packages),
                only_binary=_union(step.only_binary for step in steps),
                no_binary=_union(step.no_binary for step in steps),
                no_cache=any(step.no_cache for step in steps),
                no_deps=self._complete,
                present=waiting,
            )
        ]

    def _tools(self, builds: Sequence[_Sorted], there: Sequence[Package]) -> List[Step]:
        """What builds import beside what is installed before them, as far as anybody knows."""
        wanted: Dict[str, Package] = {name: Package(name) for name in _BACKEND}
        for one in builds:
            for module in sorted(one.imports):
                if module not in _OF_BACKEND:
                    wanted.setdefault(checked_name(module), Package(checked_name(module)))
        for bound in self._resolution.constraints:
            name = _tool(bound.package)
            if name in wanted:
                wanted[name] = Package(name, specifier=checked_specifier(bound.specifier))
        for member in self._resolution.stack:
            if member.component.startswith(_BUILD) and member.requirement:
                package = _package_of(checked_requirement(member.requirement))
                wanted[package.name] = package
        names = {package.name for package in there}
        names |= {checked_name(member.component) for member in self._members}
        names |= {m.component for m in self._resolution.stack if m.origin in _GIVEN}
        due = tuple(package for name, package in sorted(wanted.items()) if name not in names)
        return [Step(due, kind=TOOLS)] if due else []

    def _architectures(self) -> Tuple[str, ...]:
        """The GPUs' architectures as torch's builder takes them. Raises LockError."""
        found = []
        for architecture in self._resolution.architectures:
            if _ARCHITECTURE.fullmatch(architecture) is None:
                raise LockError(f"{architecture!r} is not an architecture of GPUs")
            found.append(architecture)
        return tuple(
            sorted(set(found), key=lambda text: Version(text.partition("+")[0].rstrip("af")))
        )

    def _constraints(self) -> Tuple[str, ...]:
        """What no later step may change: the versions of the stack, and what it bounds."""
        pins: Dict[str, str] = {}
        for member in self._resolution.stack:
            name = member.component
            if member.tree or name == _PYTHON or name.startswith(("host.", _BUILD)):
                continue
            if member.origin == IMAGE and not member.requirement:
                continue
            said = member.requirement or f"{name}=={checked_version(member.version)}"
            requirement = checked_requirement(said)
            if requirement.url is None:
                pins[canonical(requirement.name)] = str(requirement.specifier)
        for bound in self._resolution.constraints:
            name = bound.package
            if name == _PYTHON or name.startswith(("host.", _BUILD)) or name in pins:
                continue
            pins[checked_name(name)] = checked_specifier(bound.specifier)
        return tuple(f"{name}{specifier}" for name, specifier in sorted(pins.items()) if specifier)


def _toolkit(stack: Sequence[Member]) -> str:
    """The CUDA toolkit of a stack: a member, or what its image has. Raises LockError."""
    for member in stack:
        if member.component == _TOOLKIT:
            return checked_version(member.version)
    for member in stack:
        said = member.variant.get("toolkit")
        if member.component == IMAGE and isinstance(said, str) and said:
            return checked_version(said)
    return ""


def _options(member: Member, name: str) -> Step:
    """The options of a member's arguments as a step without packages. Raises LockError."""
    step = Step(())
    arguments = iter(member.arguments[1:])
    for argument in arguments:
        option, _, value = argument.partition("=")
        if option in _FLAGS and not value:
            step = _flagged(step, option)
            continue
        if option not in _VALUES:
            raise LockError(
                f"{name}: the option {argument!r} of its installation is not understood"
            )
        value = value or next(arguments, "")
        if _VALUES[option] == "names":
            names = tuple(checked_name(part) for part in value.split(","))
            only = option == "--only-binary"
            step = step._replace(only_binary=names) if only else step._replace(no_binary=names)
        else:
            step = _from(step, _VALUES[option], value)
    if not member.arguments and member.url:
        # Pages have a file's name, an index is a folder.
        kind = "page" if member.url.endswith((".html", ".htm")) else "index"
        step = _from(step, kind, member.url)
    return step


# An index that stands beside PyPI in arguments is the only one that is asked here: the two ways of
# naming it mean the same files, and beside PyPI either could serve any package.
_VALUES = {
    "-i": "index",
    "--index-url": "index",
    "--extra-index-url": "index",
    "-f": "page",
    "--find-links": "page",
    "--only-binary": "names",
    "--no-binary": "names",
}
_FLAGS = ("--no-cache-dir", "--no-build-isolation", "--no-deps")


def _flagged(step: Step, option: str) -> Step:
    if option == "--no-cache-dir":
        return step._replace(no_cache=True)
    if option == "--no-deps":
        return step._replace(no_deps=True)
    return step._replace(isolated=False)


def _from(step: Step, kind: str, value: str) -> Step:
    url = checked_url(value)
    if kind == "page":
        return step._replace(pages=(*step.pages, url))
    if step.index_url and step.index_url != url:
        raise LockError(f"{step.index_url} and {url} are both named for one package")
    return step._replace(index_url=url)


def _merged(sorts: Iterable[_Sorted]) -> List[Step]:
    """Steps, in which neighbours with the same options are one, and all that share a source.

    What imports another while it is built comes after it, in a step of its own.
    """
    steps: List[Step] = []
    for one in sorts:
        step = one.step
        at = next(
            (n for n, known in enumerate(steps) if _options_of(known) == _options_of(step)), -1
        )
        if step.kind == BUILD and (
            at != len(steps) - 1 or _needs(one, steps[at] if steps else None)
        ):
            at = -1
        if at < 0:
            steps.append(step)
            continue
        known = steps[at]
        steps[at] = known._replace(
            packages=(*known.packages, *step.packages),
            only_binary=_union((known.only_binary, step.only_binary)),
            no_binary=_union((known.no_binary, step.no_binary)),
            job_memory=max(known.job_memory, step.job_memory),
        )
    return steps


def _options_of(step: Step) -> Step:
    return step._replace(packages=(), only_binary=(), no_binary=(), job_memory=0)


def _needs(one: _Sorted, step: Optional[Step]) -> bool:
    if step is None:
        return False
    modules = {canonical(name) for name in one.imports}
    patched = any(package.patches for package in (*step.packages, *one.step.packages))
    return patched or any(package.name in modules for package in step.packages)


def _package_of(requirement: Requirement) -> Package:
    """A requirement of PEP 508 as a package; of one exact version by that version."""
    specifiers = list(requirement.specifier)
    exact = len(specifiers) == 1 and specifiers[0].operator == "=="
    version = specifiers[0].version if exact else ""
    if version.endswith(".*"):
        version = ""
    url = requirement.url or ""
    return Package(
        canonical(requirement.name),
        version=version and checked_version(version),
        url=url,
        extras=tuple(sorted(requirement.extras)),
        specifier="" if version else ",".join(sorted(str(one) for one in specifiers)),
        marker=str(requirement.marker) if requirement.marker is not None else "",
    )


def is_of(artefact: Artefact, step: Step) -> bool:
    """Whether an artefact is of the index or of a page of a step, as its address shows it."""
    if not artefact.url or (artefact.sdist and artefact.package in step.only_binary):
        return False
    sources = (step.index_url, *step.pages)
    return artefact.index in sources or _site(artefact.url) in {_site(s) for s in sources if s}


def _site(url: str) -> str:
    """What a project's hosts have in common: "pytorch.org" of download.pytorch.org."""
    host = urlsplit(url).hostname or ""
    return host.partition(".")[2] if host.count(".") > 1 else host


def _of_line(line: str) -> Package:
    """A requirement line of users. Raises LockError for one that cannot be repeated."""
    text = line.strip()
    for option in ("-e ", "--editable ", "--editable="):
        if text.startswith(option):
            return Package("", tree=checked_path(text[len(option) :].strip()), editable=True)
    if text.startswith((".", "/")):
        return Package("", tree=checked_path(text))
    return _package_of(checked_requirement(text))


def _tool(component: str) -> str:
    """The package that a build uses, "setuptools" of "build.setuptools"."""
    return component[len(_BUILD) :] if component.startswith(_BUILD) else component


def _texts(value: object) -> Tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, (list, tuple)) else ()


def _union(groups: Iterable[Tuple[str, ...]]) -> Tuple[str, ...]:
    found: Set[str] = set()
    for group in groups:
        found.update(group)
    return tuple(sorted(found))


__all__ = ["Installation", "LockError", "Package", "Step", "installation"]
