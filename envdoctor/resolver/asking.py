"""From a profile, requirement files and requirements to what is asked of the resolver."""

from __future__ import annotations

from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from envdoctor.facts.requirements import Applying, Line, Reading, applying, pythons
from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.knowledge.profiles import Profile
from envdoctor.model.names import canonical
from envdoctor.model.resolution import CRITERIA, HOST, VENV
from envdoctor.model.text import clean, misspelt
from envdoctor.model.versions import (
    is_development,
    local_part,
    parse,
    satisfies,
    series,
    try_parse,
    try_specifier,
)
from envdoctor.relations.asked import every_interpreter
from envdoctor.relations.components import PYTHON
from envdoctor.relations.wanted import WantedError, expect_release
from envdoctor.resolver.request import FILE, USER, Pin, Request
from envdoctor.resolver.stated import request_of

#: The origin of what stands on a command line, or is an argument in Python.
COMMAND_LINE = "command line"
_MOST_NAMED = 6
_FEW = 500


class AskingError(ValueError):
    """What cannot be asked; the message is one line that says why and what is near."""


class UnheardOfError(ValueError):
    """A build is asked for of which the matrices know nothing; the message says which."""


class Options(NamedTuple):
    """What may be chosen, and what weighs how much."""

    target: str = VENV
    keep: Tuple[str, ...] = ()
    no_source: bool = False
    prefer: Tuple[str, ...] = CRITERIA


class Question(NamedTuple):
    """A request, and what of the question is beside it."""

    request: Request
    notes: Tuple[str, ...] = ()  # what was left out, and why
    located: Mapping[str, Line] = {}  # packages that are taken from where a line says


def questions(
    profile: Optional[Profile],
    reading: Reading,
    knowledge: Knowledge,
    options: Options,
    python: str = "",
    architecture: Optional[str] = None,
    here: str = "",
) -> List[Question]:
    """What is asked: one question, or one for each Python where lines depend on it.

    `python` is the version that is asked for beside what files say, `here` that of the environment
    which is not to be left. Raises AskingError and UnheardOfError.
    """
    asking = _Asking(profile, reading, knowledge, options, python, architecture)
    known = here if options.target == HOST and here else python or asking.authors_python()
    first = asking.question(known)
    if not first.undecided:
        return [first.question]
    series_known = [str(build.version) for build in every_interpreter(knowledge)]
    allowed = [one for one in series_known if asking.may_be(one)]
    found = [asking.question(one, fixed=True).question for one in allowed]
    return found or [first.question]


def order_of(texts: Sequence[str]) -> Tuple[str, ...]:
    """The criteria in the order in which they weigh: those that are named first, then the others.

    Raises AskingError for names that are none, and for one that is named twice.
    """
    named = [part.strip() for text in texts for part in text[:_LONG].split(",")]
    wrong = [name for name in named if name not in CRITERIA]
    if wrong:
        listed = ", ".join(repr(clean(name, 60)) for name in wrong[:_MOST_NAMED])
        raise AskingError(f"--prefer: there is no criterion {listed}; known are {_CRITERIA}")
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise AskingError(f"--prefer: {twice} is named twice; known are {_CRITERIA}")
    return (*named, *(name for name in CRITERIA if name not in named))


_LONG = 1_000
_CRITERIA = ", ".join(CRITERIA)


class _Asked(NamedTuple):
    question: Question
    undecided: bool


class _Asking:
    def __init__(
        self,
        profile: Optional[Profile],
        reading: Reading,
        knowledge: Knowledge,
        options: Options,
        python: str,
        architecture: Optional[str],
    ) -> None:
        target = options.target
        self.stated = request_of(profile, target) if profile else Request("", (), target)
        self.reading = reading
        self.knowledge = knowledge
        self.options = options
        self.python = python
        self.architecture = architecture

    def authors_python(self) -> str:
        """The one series of Python that the profile pins; "" if it leaves several open."""
        for pin in self.stated.pins:
            if pin.component == PYTHON and pin.specifier:
                found = pythons(pin.specifier)
                return found[0] if len(found) == 1 else ""
        return ""

    def may_be(self, version: str) -> bool:
        """Whether what is asked for allows a series of Python."""
        stated = [text for text, _ in self.reading.pythons]
        return all(not text or _allows(text, parse(version)) for text in stated)

    def question(self, python: str, fixed: bool = False) -> _Asked:
        """What is asked of a Python; `fixed`: of no other."""
        base = self.stated
        found = applying(
            self.reading, python or None, self.architecture, [pin.component for pin in base.pins]
        )
        known = {*self.knowledge.packages, PYTHON}
        pins = [*(pin for pin in base.pins if pin.component in known), *self._of_python()]
        if fixed and python:
            pins.append(Pin(PYTHON, f"=={python}.*", source=_MARKERS, by=FILE))
        notes = list(found.problems)
        located: Dict[str, Line] = {}
        rest = list(base.rest)
        unknown: List[str] = []
        few = len(found.lines) <= _FEW  # so that what is misspelt is looked for
        for pin in base.pins:
            if pin.component not in known:
                rest.append(f"{pin.component}{pin.specifier}")
                notes.append(f"{pin.source}: not judged: the matrices do not know {pin.component}")
        for line in found.lines:
            package = self.knowledge.packages.get(line.name)
            by = USER if line.origin == COMMAND_LINE else FILE
            if package is not None and (not line.url or line.pin):
                pins.append(self._pin(package, line, by))
                if line.url and not line.tags:
                    located[line.name] = line
                continue
            if line.name == PYTHON:
                wanted = self._of_series(line.specifier, line.origin)
                pins.append(Pin(PYTHON, wanted, source=line.origin, by=by))
                continue
            if line.installer == "conda":
                notes.append(f"{line.origin}: left out: nothing that pip installs: {line.text}")
                continue
            if package is not None:
                notes.append(f"{line.origin}: taken as it is, and not judged: {line.text}")
            elif few and (near := misspelt(line.name, self.knowledge.packages)):
                unknown.append(f"{line.origin}: {clean(line.name, 60)} is unknown; nearest: {near}")
            rest.append(line.text)
        if unknown and all(pin.component == PYTHON for pin in pins):
            raise AskingError(unknown[0])
        notes += unknown
        if rest and all(pin.component == PYTHON for pin in pins):
            names = ", ".join(clean(text, 60) for text in rest[:_MOST_NAMED])
            raise UnheardOfError(f"the matrices know nothing of what is asked for: {names}")
        request = base._replace(
            title=self._title(found),
            pins=tuple(dict.fromkeys(map(_hashable, pins))),
            rest=tuple(dict.fromkeys(rest)),
            keep=self._kept(pins),
            no_source=self.options.no_source,
            prefer=self.options.prefer,
        )
        told = tuple(clean(note) for note in dict.fromkeys(notes))
        return _Asked(Question(request, told, located), found.undecided)

    def _title(self, found: Applying) -> str:
        asked = [line.text for line in found.lines if line.origin == COMMAND_LINE]
        return " ".join([*filter(None, [self.stated.title]), *asked, *self.reading.files])

    def _of_python(self) -> List[Pin]:
        """What files and the command line say of Python, in series as the matrices list them."""
        pins = [
            Pin(PYTHON, self._of_series(text, origin), source=origin, by=FILE)
            for text, origin in self.reading.pythons
            if text
        ]
        if self.python:
            version = try_parse(self.python)
            wanted = f"=={series(version)}.*" if version is not None else ""
            pins.append(Pin(PYTHON, wanted, source=COMMAND_LINE, by=USER))
        return pins

    def _of_series(self, text: str, origin: str) -> str:
        """A specifier that allows the series of which the given one allows some release."""
        known = [b.version for b in every_interpreter(self.knowledge) if b.version is not None]
        allowed = [version for version in known if _allows(text, version)]
        if not allowed:
            raise AskingError(f"{origin}: no Python that is known fits {clean(text, 60)}")
        if allowed == [version for version in known if satisfies(version, text)]:
            return text
        first, last = allowed[0], allowed[-1]
        if first == last:
            return f"=={first}.*"
        left_out = [f"!={v}" for v in known if first < v < last and v not in allowed]
        oldest = [] if first == known[0] else [f">={first}"]
        newest = [] if last == known[-1] else [f"<={last}"]
        return ",".join([*oldest, *newest, *left_out])

    def _pin(self, package: Package, line: Line, by: str) -> Pin:
        wanted, variant = _without_local(package, line)
        if line.installer == "conda" and line.build and "cuda" in package.variant:
            cuda = _cuda_of_conda(line)
            if cuda:
                variant["cuda"] = cuda
        where = "" if line.origin == COMMAND_LINE else f"{line.origin}: "
        self._expect(package, wanted, where)
        return Pin(package.name, wanted, variant, line.origin, by)

    def _expect(self, package: Package, wanted: str, where: str) -> None:
        """Raise AskingError if the specifier leaves no release, UnheardOfError for a newer one."""
        specifier = try_specifier(wanted)
        if specifier is None:
            raise AskingError(f"{where}{clean(wanted, 60)!r} is no version of {package.name}")
        if not wanted or any(satisfies(version, wanted) for version in package.releases):
            return
        exact = _exact(specifier)
        if exact:
            try:
                expect_release(package, exact)
            except WantedError as error:
                raise AskingError(f"{where}{error}") from None
        raise UnheardOfError(
            f"{where}no release of {package.name} that is known fits {clean(wanted, 60)}; "
            f"known are {package.releases[0]} to {package.newest}"
        )

    def _kept(self, pins: Sequence[Pin]) -> FrozenSet[str]:
        pinned = dict.fromkeys(pin.component for pin in pins)
        kept = [canonical(name) for name in self.options.keep]
        for name in kept:
            if name not in pinned:
                listed = ", ".join(pinned) or "none"
                raise AskingError(
                    f"--keep: nothing that was asked for pins {clean(name, 60)!r}; pinned: {listed}"
                )
        return frozenset(kept)


#: More releases than a series of Python has.
_PATCHES = 40
#: The origin of a Python that was chosen since the lines of files depend on it.
_MARKERS = "markers of the lines"


def _allows(text: str, series: Version) -> bool:
    """Whether a specifier allows some release of a series of Python."""
    return any(satisfies(parse(f"{series}.{patch}"), text) for patch in range(_PATCHES))


def _hashable(pin: Pin) -> Pin:
    return pin._replace(variant=_Variant(pin.variant))


class _Variant(Dict[str, str]):
    """Attributes that can be put into a set."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


def _without_local(package: Package, line: Line) -> Tuple[str, Dict[str, str]]:
    """The specifier without a local part, and what the part says: {"cuda": "11.1"} of +cu111."""
    variant: Dict[str, str] = {}
    specifier = try_specifier(line.specifier)
    if "+" not in line.specifier or specifier is None:
        return line.specifier, variant
    clauses = []
    for clause in specifier:
        local = local_part(clause.version)
        if not local:
            clauses.append(str(clause))
            continue
        match = package.local.match(local) if package.local else None
        if match is None or is_development(clause.version) or _is_preview(clause.version):
            raise UnheardOfError(
                f"{line.origin}: {package.name} {clean(clause.version, 60)} is a build that the "
                "matrices do not know"
            )
        clauses.append(f"{clause.operator}{clause.version.partition('+')[0]}")
        for name, raw in match.groupdict().items():
            if raw is not None and clause.operator in ("==", "==="):
                variant[name] = _plain(package, name, raw)
    return ",".join(sorted(clauses)), variant


def _is_preview(version: str) -> bool:
    try:
        return Version(version).is_prerelease
    except InvalidVersion:
        return False


def _plain(package: Package, name: str, raw: str) -> str:
    """An attribute as profiles write it: 11.1 of cu111."""
    try:
        value = package.typed(name, raw)
    except ValueError:
        return raw
    return str(value) if isinstance(value, Version) else raw


def _cuda_of_conda(line: Line) -> str:
    from envdoctor.facts.requirements.conda import cuda_of

    return cuda_of(line.build)


def _exact(specifier: SpecifierSet) -> str:
    """The one release that a specifier names; "" if it names several."""
    clauses = list(specifier)
    if len(clauses) != 1 or clauses[0].operator not in ("==", "==="):
        return ""
    version = clauses[0].version
    return "" if version.endswith("*") or try_parse(version) is None else version
