"""Asks the ordinary installer, uv or pip, for the rest of a tree around a stack that is given.

Nothing is installed and nothing is built. What no index serves as a wheel (a build for a CUDA of
its own, sources, a tree of training code) is told to the installer as a wheel of its metadata alone
(`shadow.py`), so that all of it takes part in one resolution under one set of rules.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
    Union,
)

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.actions import said, shadow
from envdoctor.actions.index import File, Index, Platform, best
from envdoctor.actions.metadata import Stated, stated
from envdoctor.actions.process import Ended, Tell, run
from envdoctor.actions.settings import (
    Settings,
    SettingsError,
    configures_uv,
    for_pip,
    for_uv,
    of_pip,
)
from envdoctor.actions.web import UnreachableError, Web
from envdoctor.model.resolution import Artefact, Bound, Left, Member, Override
from envdoctor.model.text import clean, without_secrets
from envdoctor.model.versions import parse, satisfies, try_parse, try_specifier

PYTHON = "python"
#: Seconds for one question, and how often the installer is asked for one answer.
LIMIT, RUNS = 300.0, 24
_OLDEST_UV = (0, 7)  # writes pylock.toml
_OLDEST_PIP = (22, 2)  # says what it would install: --dry-run --report
_VERSION = re.compile(r"\b(\d+(?:\.\d+)+)")
# How many releases of a package are looked at of which there are only sources.
_MOST_SOURCES = 4
_MOST_SHADOWS = 12  # rounds of them
# Seconds in which a conflict is made minimal and widened; it is true without that.
_EXPLAINING = 60.0
#: The C libraries that uv knows wheels for.
_UV_GLIBCS = (17, 28, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40)
# A marker that holds nowhere: with it an override takes a package out of all requirements.
_NEVER = "python_version < '0'"


class Question(NamedTuple):
    """What is given, and what is asked for."""

    platform: Platform
    members: Tuple[Member, ...] = ()  # the stack; what is no package in it is passed over
    rest: Tuple[str, ...] = ()  # requirement lines
    constraints: Tuple[Bound, ...] = ()
    overrides: Tuple[Override, ...] = ()


class Tree(NamedTuple):
    """What the installer would take, the stack included."""

    artefacts: Tuple[Artefact, ...]
    left: Tuple[Left, ...] = ()
    overridden: Tuple[str, ...] = ()  # what was taken in place of all that is stated of a package
    installer: str = ""  # "uv 0.13.9"


class Conflict(NamedTuple):
    """Nothing that is published goes with these together: {component: specifier}.

    Each is needed for it where `minimal`; Python is always named, as all was asked for one. The
    requirement lines are a part of it, too: nobody may change those.
    """

    forbidden: Mapping[str, str]
    text: str  # what the installer says
    installer: str = ""
    minimal: bool = True
    wider: Tuple[Mapping[str, str], ...] = ()  # the same with more versions of one package each

    @property
    def packages(self) -> Tuple[str, ...]:
        """The packages of the stack that take part."""
        return tuple(name for name in self.forbidden if name != PYTHON)


class Failed(NamedTuple):
    """The installer could not be asked; says nothing of the stack."""

    reason: str


Outcome = Union[Tree, Conflict, Failed]


class Tool(NamedTuple):
    """An installer that is there."""

    kind: str  # uv, pip
    argv: Tuple[str, ...]
    version: str

    def __str__(self) -> str:
        return f"{self.kind} {self.version}"


def find_tool(kinds: Iterable[str] = ("uv", "pip")) -> Optional[Tool]:
    """The installer to ask: uv beside the doctor or on PATH, else the doctor's own pip."""
    own = Path(sys.executable).parent / "uv"
    uv = str(own) if os.access(own, os.X_OK) else shutil.which("uv")
    candidates = {
        "uv": (([uv] if uv else None), _OLDEST_UV),
        "pip": ([sys.executable, "-I", "-m", "pip"], _OLDEST_PIP),
    }
    for kind in kinds:
        argv, oldest = candidates[kind]
        if argv is None:
            continue
        answer = run([*argv, "--version"], 30)
        match = _VERSION.search(answer.out)
        version = try_parse(match[1]) if match and not answer.failure else None
        if version is not None and version.release >= oldest:
            return Tool(kind, tuple(argv), str(version))
    return None


def ask(
    question: Question,
    tool: Optional[Tool] = None,
    settings: Optional[Settings] = None,
    tell: Optional[Tell] = None,
    limit: float = LIMIT,
    runs: int = RUNS,
) -> Outcome:
    """The rest of the tree, or why there is none; one that cannot be asked is Failed.

    `tell` hears what the installer prints. It is run at most `runs` times, `limit` seconds in all.
    """
    tool = tool or find_tool()
    if tool is None:
        return Failed("there is no uv, and no pip of 22.2 or newer: install uv")
    try:
        settings = settings or of_pip()
        series = question.platform.series
    except (SettingsError, ValueError) as error:
        return Failed(str(error))
    if tool.kind == "pip" and series != sys.version_info[:2]:
        # pip judges markers by the Python that runs it, whatever --python-version says.
        return Failed(
            f"pip answers for the Python that runs it only, which is not {series[0]}.{series[1]}: "
            "install uv"
        )
    with tempfile.TemporaryDirectory(prefix="envdoctor-") as folder:
        session = _Session(question, tool, settings, tell, limit, runs, Path(folder))
        return session.outcome()


class _Session:
    """One question and the runs that answer it."""

    def __init__(
        self,
        question: Question,
        tool: Tool,
        settings: Settings,
        tell: Optional[Tell],
        limit: float,
        runs: int,
        folder: Path,
    ) -> None:
        self.question, self.tool, self.settings, self.tell = question, tool, settings, tell
        self.platform = question.platform
        self.deadline, self.limit, self.runs = time.monotonic() + limit, limit, runs
        self.folder = folder
        self.links = folder / "links"
        self.links.mkdir()
        self.index = Index(Web(settings), settings)
        self.left: Dict[str, str] = {}
        self.found: Dict[str, Artefact] = {}  # of what stands behind shadows
        self.pins: Dict[str, str] = {}
        self.extras: Dict[str, str] = {}
        self.shadowed: Set[str] = set()  # members
        self.lines: List[Requirement] = []
        self.bounds: Dict[str, str] = {}
        self.allowed: Dict[str, str] = {}  # overrides
        self.over: Dict[str, str] = {}  # those that are used
        self.tried: Set[str] = set()
        self.unreachable = ""  # why the index could not be read by us

    def outcome(self) -> Outcome:
        self._prepare()
        answer = self._settled(frozenset(), {})
        if isinstance(answer, said.Refusal) and answer.kind == "conflict" and self.allowed:
            # Only now: what is taken in place of all that is stated may hide a contradiction.
            if self.tool.kind != "uv":
                return Failed(
                    "pip cannot override what authors state against each other: install uv"
                )
            self.over = self.allowed
            answer = self._settled(frozenset(), {})
        if isinstance(answer, Failed):
            return answer
        if isinstance(answer, said.Refusal):
            if answer.kind != "conflict":
                return self._failed(answer)
            if self.tool.kind == "pip" and self.unreachable:
                # pip says the same of a package that is not there and of an index that is not.
                return self._failed(said.Refusal("network", self.unreachable))
            return self._conflict(answer)
        listed = tuple(self._own(artefact) for artefact in answer)
        left = tuple(Left(name, reason) for name, reason in sorted(self.left.items()))
        return Tree(listed, left, tuple(self.over.values()), str(self.tool))

    def _settled(
        self, without: FrozenSet[str], swapped: Mapping[str, str]
    ) -> Union[Tuple[Artefact, ...], said.Refusal, Failed]:
        """An answer for which nothing is missing of which there are only sources."""
        answer = self._answer(without, swapped)
        for _ in range(_MOST_SHADOWS):
            if not isinstance(answer, said.Refusal) or not self._tell_sources(answer.lacking):
                break
            answer = self._answer(without, swapped)
        return answer

    def _failed(self, refusal: said.Refusal) -> Failed:
        if refusal.kind == "network":
            return Failed(f"{self.tool} cannot reach the index: {refusal.text}")
        return Failed(f"{self.tool} gives no answer: {refusal.text}")

    # --- what is asked ----------------------------------------------------------------------

    def _prepare(self) -> None:
        packages = [m for m in self.question.members if is_package(m)]
        names: Set[str] = {canonicalize_name(member.component) for member in packages}
        for text in map(_bare, self.question.rest):
            line = _requirement(text)
            if not text:
                continue
            if line is None:
                self.left[clean(without_secrets(text), 80)] = "it is no requirement by name"
            elif line.url:
                self.left[canonicalize_name(line.name)] = "it comes from an address of its own"
            else:
                self.lines.append(line)
        for member in packages:
            name = canonicalize_name(member.component)
            asked = _requirement(member.requirement)
            extras = sorted(asked.extras) if asked is not None else []
            self.extras[name] = f"[{','.join(extras)}]" if extras else ""
            if _is_served(member):
                self.pins[name] = f"=={member.version}"
            else:
                self.pins[name] = f"=={self._shadow(member, names)}"
                self.shadowed.add(name)
        for bound in self.question.constraints:
            name = canonicalize_name(bound.package)
            if name not in self.pins and bound.specifier:
                self.bounds[name] = bound.specifier
        for override in self.question.overrides:
            taken = _requirement(override.take)
            if taken is not None:
                name = canonicalize_name(taken.name)
                self.allowed[name] = f"{name}{self.pins.get(name) or taken.specifier}"

    def _shadow(self, member: Member, names: Set[str]) -> str:
        """Tell the installer of a member that no index serves; return its version there."""
        name = canonicalize_name(member.component)
        requires: Tuple[str, ...] = ()
        if not member.tree:
            try:
                requires = self._required(member, names)
            except UnreachableError as error:
                self.left[name] = f"what it requires could not be read: {error}"
        try:
            return shadow.write(self.links, name, member.version, requires)
        except ValueError:
            self.left[name] = f"{clean(member.version)} is no version by PEP 440"
            return shadow.write(self.links, name, "0", requires)

    def _required(self, member: Member, names: Set[str]) -> Tuple[str, ...]:
        """What a member requires: by its own wheel, else by the release of its number on PyPI.

        Of that release exact pins stay only where they name the stack: others, as those of CUDA's
        libraries, are of that build, and another one has others.
        """
        own = self._on_its_page(member)
        if own is not None:
            return own.requires
        public = _public(member.version)
        files = [f for f in self.index.files(member.component) if str(f.version) == public]
        chosen = _telling(files, self.platform)
        told = stated(self.index.web, chosen) if chosen is not None else None
        if told is None:
            where = f"no release {public} of it" if chosen is None else "only a build would tell"
            raise UnreachableError(where)
        if not told.whole:
            self.left[canonicalize_name(member.component)] = "what it requires only a build tells"
        if public == member.version:
            return told.requires
        kept = []
        for line in told.requires:
            asked = Requirement(line)
            other = canonicalize_name(asked.name)
            if _is_exact(asked.specifier) and other not in names:
                if asked.marker is None or asked.marker.evaluate(self._markers()):
                    self.left[other] = f"{member.component} {member.version} brings its own"
            else:
                kept.append(line)
        return tuple(kept)

    def _on_its_page(self, member: Member) -> Optional[Stated]:
        if not member.url:
            return None
        name = canonicalize_name(member.component)
        try:
            listed = self.index.on_page(member.url, name)
            files = [f for f in listed if f.version == Version(shadow.version_of(member.version))]
            chosen = best(files, self.platform)
            if chosen is None:
                return None
            self.found[name] = Artefact(
                package=name,
                version=member.version,
                url=chosen.url,
                hashes=dict(chosen.hashes),
                index=member.url,
            )
            return stated(self.index.web, chosen)
        except (UnreachableError, ValueError):
            return None

    def _markers(self) -> Dict[str, str]:
        series = self.platform.series
        return {
            "python_version": f"{series[0]}.{series[1]}",
            "python_full_version": self.platform.full,
            "platform_machine": self.platform.architecture,
            "platform_system": "Linux",
            "sys_platform": "linux",
            "os_name": "posix",
            "extra": "",
        }

    def _tell_sources(self, lacking: Iterable[str]) -> bool:
        """Tell the installer of releases that have no wheel that fits; whether any was new."""
        told = False
        for name in lacking:
            if name in self.tried or name in self.shadowed:
                continue
            self.tried.add(name)
            wanted = [str(line.specifier) for line in self.lines if _named(line) == name]
            wanted += [spec for spec in (self.pins.get(name), self.bounds.get(name)) if spec]
            told |= self._shadow_sources(name, ",".join(filter(None, wanted)))
        return told

    def _shadow_sources(self, name: str, wanted: str) -> bool:
        try:
            releases = _releases(self.index.files(name))
        except UnreachableError as error:
            self.unreachable = str(error)
            return False
        done = 0
        for version in sorted(releases, reverse=True):
            files = releases[version]
            sources = next((f for f in files if f.sdist and not f.yanked), None)
            fits = sources is not None and _lets_in(sources, self.platform)
            if not fits or version.is_prerelease or not satisfies(version, wanted):
                continue
            if best(files, self.platform) is not None or sources is None:
                continue
            try:
                told = stated(self.index.web, sources)
            except UnreachableError as error:
                self.left[name] = f"what it requires could not be read: {error}"
                continue
            requires = told.requires if told is not None else ()
            if told is None or not told.whole:
                self.left[name] = "what it requires only a build tells"
            shadow.write(self.links, name, str(version), requires, sources.requires_python)
            self.found[f"{name}=={version}"] = Artefact(
                package=name,
                version=str(version),
                url=sources.url,
                hashes=dict(sources.hashes),
                index=sources.listed,
                sdist=True,
            )
            done += 1
            if done == _MOST_SOURCES:
                break
        return done > 0

    def _own(self, artefact: Artefact) -> Artefact:
        """What stands behind a shadow, in its place."""
        sources = self.found.get(f"{artefact.package}=={artefact.version}")
        if sources is not None and self.links.name in artefact.url:
            return sources
        if artefact.package not in self.shadowed:
            return artefact
        member = next(
            m for m in self.question.members if canonicalize_name(m.component) == artefact.package
        )
        plain = Artefact(
            package=artefact.package,
            version=member.version,
            index=member.url,
            sdist=member.origin == "source",
        )
        return self.found.get(artefact.package, plain)

    # --- runs -------------------------------------------------------------------------------

    def _answer(
        self, without: FrozenSet[str], swapped: Mapping[str, str]
    ) -> Union[Tuple[Artefact, ...], said.Refusal, Failed]:
        """Run the installer, `without` some of the stack, and with other specifiers for some."""
        left = self.deadline - time.monotonic()
        if left <= 0 or self.runs <= 0:
            return Failed(f"{self.tool}: took longer than {self.limit:g} s")
        self.runs -= 1
        pins = {n: swapped.get(n, spec) for n, spec in self.pins.items() if n not in without}
        asked = [f"{name}{self.extras[name]}{spec}" for name, spec in pins.items()]
        asked += [str(line) for line in self.lines]
        bounds = {n: swapped.get(n, s) for n, s in self.bounds.items() if n not in without}
        constraints = [f"{name}{spec}" for name, spec in bounds.items()]
        if self.tool.kind == "uv":
            gone = [f"{name} ; {_NEVER}" for name in sorted(without) if name in self.pins]
            over = [line for name, line in self.over.items() if name not in without]
            return self._uv(asked, constraints, [*over, *gone], left)
        return self._pip(asked, constraints, left)

    def _uv(
        self, asked: List[str], constraints: List[str], overrides: List[str], left: float
    ) -> Union[Tuple[Artefact, ...], said.Refusal, Failed]:
        argv = [
            *(*self.tool.argv, "pip", "compile", "-", "--format", "pylock.toml"),
            *("--python-version", self.platform.full, "--python", sys.executable),
            *("--python-platform", _uv_platform(self.platform), "--no-python-downloads"),
            *("--only-binary", ":all:", "--no-header", "--no-annotate", "--color", "never"),
            *(("--no-index",) if self.settings.no_index else ()),
        ]
        for option, lines in (("--constraint", constraints), ("--override", overrides)):
            if lines:
                argv += [option, self._file(option[2:], lines)]
        ended = self._run(argv, for_uv(self.settings, os.environ, [str(self.links)]), asked, left)
        if ended.status is None:
            return Failed(f"{self.tool}: {ended.failure}")
        if ended.status:
            return said.of_uv(ended.err)
        try:
            return said.pylock(ended.out, self.platform)
        except ValueError as error:
            return said.Refusal("other", clean(str(error)))

    def _pip(
        self, asked: List[str], constraints: List[str], left: float
    ) -> Union[Tuple[Artefact, ...], said.Refusal, Failed]:
        report = self.folder / "report.json"
        argv = [
            *(*self.tool.argv, "install", "--dry-run", "--ignore-installed", "--no-user"),
            *("--no-input", "--no-color", "--only-binary", ":all:", "--report", str(report)),
            *("--target", str(self.folder / "target"), "--implementation", "cp"),
            *(word for name in self.platform.names() for word in ("--platform", name)),
            *("-r", self._file("requirements", asked)),
            *(("-c", self._file("constraint", constraints)) if constraints else ()),
        ]
        ended = self._run(argv, for_pip(self.settings, os.environ, [str(self.links)]), [], left)
        if ended.status is None:
            return Failed(f"{self.tool}: {ended.failure}")
        if ended.status:
            return said.of_pip(ended.out, ended.err)
        try:
            return said.report(report.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            return said.Refusal("other", clean(str(error)))

    def _run(self, argv: List[str], env: Dict[str, str], asked: List[str], left: float) -> Ended:
        secrets = self.settings.secrets
        if self.tool.kind == "uv" and configures_uv(os.environ):
            secrets = (*secrets, *_of_uv(os.environ))
        stdin = "".join(f"{line}\n" for line in asked).encode()
        return run(argv, left, env, str(self.folder), stdin, self.tell, secrets)

    def _file(self, stem: str, lines: List[str]) -> str:
        path = self.folder / f"{stem}.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)

    # --- conflicts --------------------------------------------------------------------------

    def _conflict(self, refusal: said.Refusal) -> Outcome:
        """The smallest part of the stack that the installer refuses, as wide as it refuses it."""
        self.deadline = min(self.deadline, time.monotonic() + _EXPLAINING)
        every = [*self.pins, *self.bounds]
        named = [name for name in every if name in said.names_in(refusal.text)]
        kept = every
        if self._refuses(frozenset(every) - frozenset(named)):
            kept = named
        minimal = True
        for name in list(kept):
            rest = [other for other in kept if other != name]
            refused = self._refuses(frozenset(every) - frozenset(rest), name)
            if refused:
                kept = rest
            elif refused is None:
                minimal = False
        forbidden = {name: self._forbids(name) for name in kept}
        without = frozenset(every) - frozenset(kept)
        self._narrow_rest(without, refusal.text)
        series = self.platform.series
        python = {PYTHON: f"=={series[0]}.{series[1]}.*"}
        wider = []
        for name in kept:
            specifier = self._widened(name, forbidden, without, refusal.text)
            if specifier != forbidden[name]:
                wider.append({**forbidden, name: specifier, **python})
        if len(wider) == len(kept) == 1:
            forbidden, wider = dict(wider[0]), []
        return Conflict(
            {**forbidden, **python}, refusal.text, str(self.tool), minimal, tuple(wider)
        )

    def _narrow_rest(self, without: FrozenSet[str], text: str) -> None:
        """Ask on without requirement lines that play no part: that is quicker."""
        every = self.lines
        named = said.names_in(text)
        for fewer in ([], [line for line in every if _named(line) in named]):
            self.lines = fewer
            if len(fewer) == len(every) or self._is_refused(without, {}):
                return
        self.lines = every

    def _refuses(self, without: FrozenSet[str], dropped: str = "") -> Optional[bool]:
        """Whether there is nothing even without these; None if that cannot be told.

        uv leaves a package out of all requirements, so what it refuses then, it refuses with any
        build of it. pip would look for another release, and of shadows there is none.
        """
        if self.tool.kind == "pip" and dropped in self.shadowed:
            return None
        return self._is_refused(without, {})

    def _is_refused(self, without: FrozenSet[str], swapped: Mapping[str, str]) -> Optional[bool]:
        answer = self._settled(without, swapped)
        if isinstance(answer, Failed):
            return None
        return isinstance(answer, said.Refusal) and (answer.kind == "conflict" or None)

    def _forbids(self, name: str) -> str:
        """A pin as a specifier for components, whose local parts are not compared."""
        if name in self.pins:
            return f"=={_public(self.pins[name][2:])}"
        return self.bounds[name]

    def _widened(
        self, name: str, forbidden: Mapping[str, str], without: FrozenSet[str], text: str
    ) -> str:
        """The widest range around a pin that is refused as well, as far as it can be proved."""
        narrow = forbidden[name]
        pin = self.pins.get(name)
        if self.tool.kind != "uv" or pin is None or name in self.shadowed:
            return narrow
        try:
            files = self.index.files(name)
        except UnreachableError:
            return narrow
        releases = _releases(files)
        known = sorted(v for v in releases if not v.is_prerelease)
        own = try_parse(pin[2:])
        if own is None or own not in known:
            return narrow
        for version in known:
            # A release without a wheel that fits may be had elsewhere: only its number counts.
            if best(list(releases[version]), self.platform) is None:
                shadow.write(self.links, name, str(version), ())
        swapped = {n: s for n, s in forbidden.items() if n in self.pins and n not in self.shadowed}
        place = known.index(own)

        def refused(low: int, high: int) -> bool:
            spec = f">={known[low]},<={known[high]}"
            return self._is_refused(without, {**swapped, name: spec}) is True

        guesses = [
            index
            for bound in re.findall(rf"\b{re.escape(name)}[=<>!~]+([0-9][0-9a-z.]*)", text)
            for index in range(len(known))
            if known[index] == try_parse(bound)
        ]
        high = _furthest(place, len(known) - 1, guesses, lambda to: refused(place, to))
        low = _furthest(place, 0, guesses, lambda to: refused(to, high))
        ends = []
        if low > 0:
            ends.append(f">={known[low]}")
        if high < len(known) - 1:
            ends.append(f"<={known[high]}")
        return ",".join(ends) if (low, high) != (place, place) else narrow


def _furthest(start: int, end: int, guesses: Iterable[int], holds: Callable[[int], bool]) -> int:
    """The place furthest from the start, towards the end, up to which something holds.

    The end first, then guesses and what is next to them, then steps that double.
    """
    if start == end or holds(end):
        return end
    step = 1 if end > start else -1
    good, bad, stride = start, end, 1
    nearby = [place for guess in guesses for place in (guess - step, guess)]
    while abs(bad - good) > 1:
        between = [p for p in nearby if min(good, bad) < p < max(good, bad)]
        reached = good + step * min(stride, abs(bad - good) // 2)
        place = between[0] if between else reached
        if holds(place):
            good, stride = place, stride * 2
        else:
            bad = place
    return good


def is_package(member: Member) -> bool:
    """Whether a member of a stack is a package that an installer takes."""
    return (
        member.component != PYTHON
        and "." not in member.component
        and (bool(member.requirement) or member.origin in ("index", "source"))
    )


def _is_served(member: Member) -> bool:
    """Whether the configured index has this very build."""
    own = bool(member.url or member.tree) or "+" in member.version
    return member.origin == "index" and not own and _public(member.version) == member.version


def _public(label: str) -> str:
    """The release that a build is of: 1.9.1 of 1.9.1+cu111."""
    known = try_parse(label)
    return label if known is None else str(parse(str(known)))


def _bare(text: str) -> str:
    """A line without its comment."""
    return re.sub(r"(?:^|\s)#.*$", "", text).strip()


def _requirement(text: str) -> Optional[Requirement]:
    try:
        return Requirement(text) if text else None
    except (InvalidRequirement, RecursionError):
        return None


def _named(line: Requirement) -> str:
    return canonicalize_name(line.name)


def _is_exact(specifiers: SpecifierSet) -> bool:
    return any(s.operator in ("==", "===") and "*" not in s.version for s in specifiers)


def _telling(files: List[File], platform: Platform) -> Optional[File]:
    """Of the files of a release the one that tells best what it requires: wheels before sources."""
    wheels = [file for file in files if not file.sdist]
    linux = [f for f in wheels if any("linux" in t.platform or t.platform == "any" for t in f.tags)]
    return best(wheels, platform) or next(iter([*linux, *wheels, *files]), None)


def _releases(files: Iterable[File]) -> Dict[Version, List[File]]:
    found: Dict[Version, List[File]] = {}
    for file in files:
        if not file.yanked and file.version.local is None:
            found.setdefault(file.version, []).append(file)
    return found


def _lets_in(file: File, platform: Platform) -> bool:
    allowed = try_specifier(file.requires_python)
    version = try_parse(platform.full)
    return allowed is None or version is None or satisfies(version, file.requires_python)


def _uv_platform(platform: Platform) -> str:
    """The newest C library that uv knows and that is no newer than this one."""
    known = try_parse(platform.glibc)
    newest = known.minor if known is not None and known.major == 2 else _UV_GLIBCS[-1]
    minor = max((one for one in _UV_GLIBCS if one <= newest), default=_UV_GLIBCS[0])
    return f"{platform.architecture}-manylinux_2_{minor}"


def _of_uv(environ: Mapping[str, str]) -> Tuple[str, ...]:
    """What must not be told of uv's own variables."""
    names = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
    urls = tuple(url for name in names for url in re.split(r"[\s,]+", environ.get(name, "")) if url)
    own = [value for name, value in environ.items() if re.fullmatch(r"UV_INDEX_.*_PASSWORD", name)]
    return (*Settings(default=urls[0] if urls else "", extra=urls[1:]).secrets, *own)
