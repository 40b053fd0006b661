"""Steps of pip, uv, conda and others: which distribution, which phase, what became of it."""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterable, Iterator, List, Mapping, Tuple

from envdoctor.diagnosis.event import LONGEST, Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure import requirements
from envdoctor.diagnosis.structure.reader import Reader
from envdoctor.model.names import canonical

_NAME = r"[A-Za-z0-9][\w.-]{0,100}"
#: What stands before the words of a line: frames that tools draw, their own names.
_LEAD = re.compile(
    "[\\s\u2502\u00d7\u2570\u251c\u2500\u25b6>\u2022|+-]{0,60}(?:(?:ERROR|error|WARNING|INFO|DEPRECATION):\\s{0,8})?"
)
_WORD = re.compile(r"[A-Za-z_.]{2,40}")
_PROMPT = re.compile(
    r"\s{0,3}(?:\([^()]{1,60}\)\s?)?"
    r"(?:\[?[\w.-]{1,60}@[\w.-]{1,60}[^$#]{0,200}[$#] \S|[$%] \S|# (?:pip|python|conda|uv) "
    r"|(?:PS )?[A-Za-z]:\\[^>]{0,200}>\s?\S|>>> )"
)
_REQUIRED = re.compile(rf"({_NAME})(?:\[[\w., -]{{0,80}}\])?\s?((?:[<>=!~]=?=?[^\s;()]{{1,200}})?)")
_ARCHIVES = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz")
_RELEASE = re.compile(r"v?(\d[\w.!+]{0,60})$")
_INSTALLED = re.compile(rf"({_NAME})-(\d[\w.!+]{{0,60}})")
_PINNED = re.compile(rf"`?({_NAME})(?:\[[\w., -]{{0,80}}\])?==v?(\d[\w.!+]{{0,60}})`?")
_IN_BRACKETS = re.compile(rf"({_NAME}) \((?:[\d.]{{1,30}} -> )?(\d[\w.!+]{{0,60}})")
_STATUS = re.compile(r"\b(?:status '?(done|error|canceled)'?|\.\.\. ?(done|error))\b")
_IN_FOLDER = re.compile(
    r"(?:pip-install-\w{1,30}|pip-build-\w{1,30}|build)[/\\]([\w.-]{1,100})[/\\]?$"
)
_ASKED = re.compile(r"\b(pip3?|uv pip|conda|mamba|poetry) (?:install|add|sync|update|env create)\b")
_ABOUT_METADATA = re.compile(
    r"(?:Getting requirements to|Preparing (?:wheel |editable )?metadata|Checking if build)"
)
_OF_COMMAND = re.compile(
    r"Running command .{0,200}(?:setup\.py|egg_info|Getting req|Preparing|Building)"
)
_OF_SETUP = re.compile(r"running (?:build|install|develop|bdist|egg_info|dist_info|sdist)")
_SATISFIED = re.compile(rf"Requirement already (?:satisfied|up-to-date)[^:]{{0,60}}: ({_NAME})")
_INVALID = re.compile(rf"Ignoring version (\S{{1,60}}) of ({_NAME}) since it has invalid")
_UNOFFERED = re.compile(
    r"(?:Could not find a version that satisfies the requirement"
    rf"|No matching distribution found for) ({_NAME}.{{0,400}})"
)
_PYTHON = re.compile(r"Using (?:CPython|PyPy|Python) (\d+\.\d+(?:\.\d+)?)")
_PIP = re.compile(r"Using pip (\d[\w.]{0,30}) from .{0,300}\(python (\d\.\d{1,2})\)")
_COLLECTS = re.compile(rf"\w+ ({_NAME})(.{{0,200}})")
_LAST_PART = re.compile(r"[/\\]")
_EXACT = re.compile(r"(?:\[.{0,80}\])?===?([\w.!+]{1,60})")
_BUILDS = re.compile(rf"Building (?:wheel|editable) for ({_NAME}) \((.{{1,40}}?)\)")
_RUNS_SETUP = re.compile(
    rf"Running setup\.py (?:\(path:[^)]{{0,400}}\) )?(\w+) for (?:package )?({_NAME})"
)
_FAILS = re.compile(r"Failed to (?:(?:download and )?build|fetch wheel)")
_FAILED_FOR = re.compile(rf"Failed (?:building (?:wheel|editable) for|to build) '?({_NAME})")
_BACKEND_FAILS = re.compile(r"(?:The b|B)uild backend (?:returned|failed)|Call to `")
_BEST = re.compile(rf"Best match: ({_NAME}) (\d[\w.!+]{{0,60}})")
_AT_END = re.compile(r"\((\d[\w.!+]{0,60})\)$")
_EXISTING = re.compile(rf"Found existing installation: ({_NAME}) (\d[\w.!+]{{0,60}})")
_COUNT = re.compile(r"Installed \d+ packages? in ")
_EGG = re.compile(r"Installed .{0,400}[/\\]([\w.]{1,100})-(\d[\w.+]{0,60})-py\d")
_FINISHED = re.compile(rf"Finished processing dependencies for ({_NAME})==")
_LEFT_OUT = re.compile(r"Ignored the following versions that require")
_FULL_NAME = re.compile(rf"{_NAME}$")
_MOST_DISTRIBUTIONS = 400
_MOST_LINES = 200

#: Lines that tell that a step, or all of them, failed; what comes of the causes.
_CONSEQUENCES = (
    "failed building",
    "failed to build",
    "could not build",
    "failed cleaning",
    "subprocess-exited-with-error",
    "metadata-generation-failed",
    "legacy-install-failure",
    "failed-wheel-build-for-install",
    "encountered error while",
    "command errored out",
    'command "',
    "no matching distribution",
    "resolutionimpossible",
    "failed to download and build",
)

_Teller = Callable[[Line, str], Iterable[Event]]
_Note = Callable[[str], None]


class Installers(Reader):
    """Recognises the installers' own lines. What their builds print lies between them."""

    triggers = (
        "collecting ",
        "downloading/unpacking",
        "build dependencies",
        "requirements to build",
        "preparing ",
        "building wheel",
        "building editable",
        "running setup.py",
        "egg_info",
        "successfully installed",
        "successfully built",
        "requirement already",
        "existing installation",
        "failed to build",
        "failed building",
        "satisfies the requirement",
        "no matching distribution",
        "versions that require",
        "invalid metadata",
        "conflicting dependencies",
        "conflict is caused",
        "resolutionimpossible",
        "incompatible",
        "has requirement",
        "is installed but",
        "versionconflict",
        "distributionnotfound",
        "no solution found",
        "unsatisfiable",
        "version solving failed",
        "solving environment",
        "different python",
        "best match",
        "using python",
        "using cpython",
        "build backend",
        "caused by:",
        "installing ",
        "processing ",
        "finished processing",
        "discarding",
        "not a supported wheel",
        "supported python range",
    )

    def __init__(self) -> None:
        self._around: Dict[str, str] = {}
        self._is_isolated = False
        self._ignored = ""  # releases that pip left out because of Python
        self._is_uv_list = False
        self._block: List[str] = []  # a report of a resolver that has not ended
        self._started: Line = Line(0, "")
        # by the word that their lines begin with
        self._notes: Dict[str, _Note] = {
            "collecting": self._collecting,
            "processing": self._obtaining,
            "obtaining": self._obtaining,
            "downloading": self._downloading,
            "complete": self._command,
            "command": self._command,
            "build": self._backend,
            "the": self._backend,
            "call": self._backend,
            "python": self._command,
        }
        self._tellers: Dict[str, _Teller] = {
            "using": self._using,
            "installing": self._installing,
            "updating": self._installing,
            "getting": self._metadata,
            "preparing": self._metadata,
            "checking": self._metadata,
            "building": self._building,
            "running": self._running,
            "failed": self._failed,
            "caused": self._caused,
            "cause": self._caused,
            "best": self._best,
            "requirement": self._satisfied,
            "found": self._found,
            "successfully": self._successfully,
            "installed": self._listing,
            "finished": self._finished,
            "ignored": self._ignoring,
            "ignoring": self._ignoring,
            "could": self._unoffered,
            "no": self._unoffered,
        }

    @property
    def surroundings(self) -> Mapping[str, str]:
        """`installer`, `distribution`, `version`, `phase` and `isolated` of the step under way."""
        return self._around

    def feed(self, line: Line) -> Iterable[Event]:
        """Steps, versions, reports of resolvers."""
        return list(self._recognised(line))  # a step holds for its own line

    def _recognised(self, line: Line) -> Iterator[Event]:
        text = line.text
        lead = _LEAD.match(text)
        told = text[lead.end() if lead else 0 :].rstrip()
        if self._block:
            if self._goes_on(line, told):
                return
            yield from self._reported()
        elif requirements.opens(text):
            self._block, self._started = [text[:2000]], line
            return
        if self._is_uv_list:
            listed = _PINNED.match(told) if text[:3] in (" + ", " ~ ") else None
            if listed:
                yield from self._installed(line, [(listed.group(1), listed.group(2))])
                return
            self._is_uv_list = text.startswith(" - ")
        if _PROMPT.match(text):
            self._around, self._is_isolated = {}, False
            asked = _ASKED.search(text[:2000])
            if asked:
                self._is_at("resolve", installer=asked.group(1).split(" ")[0].rstrip("3"))
            return
        word = _WORD.match(told)
        first = word.group().lower().rstrip(".") if word else ""
        if first in self._notes:
            self._notes[first](told)
        elif first in self._tellers:
            yield from self._tellers[first](line, told)
        yield from self._conflict(line, told)
        if told.lower().startswith(_CONSEQUENCES):
            yield self._event(line, "failed", what=told[:200])

    def end(self) -> Iterator[Event]:
        """The report that the end of the log ends."""
        if self._block:
            yield from self._reported()

    # Reports of resolvers

    def _goes_on(self, line: Line, told: str) -> bool:
        """Whether a line belongs to the report that is open, which then has it."""
        if line.gap or len(self._block) >= _MOST_LINES:
            return False
        if not requirements.goes_on(self._block, line.text, told):
            return False
        self._block.append(line.text[:2000])
        return True

    def _reported(self) -> Iterator[Event]:
        block, self._block = self._block, []
        for kind, fields in requirements.read(block):
            # What is installed meanwhile has no part in it.
            none = {"distribution": "", "version": ""}
            yield self._event(self._started, kind, fatal=True, **{**none, **fields})

    # Steps

    def _event(self, at: Line, kind: str, fatal: bool = True, **fields: str) -> Event:
        cut = {name: value[:LONGEST] for name, value in fields.items()}
        return Event(kind, at.number, at.text, cut, fatal=fatal)

    def _is_at(self, phase: str, name: str = "", version: str = "", installer: str = "pip") -> None:
        """Take note of a step. One without a name is of the distribution before."""
        if name:
            name = canonical(name)
            if name != self._around.get("distribution"):
                self._around, self._is_isolated = {"distribution": name}, False
            if version:
                self._around["version"] = version
        self._around = {**self._around, "phase": phase, "installer": installer}
        if phase in ("metadata", "build"):
            self._around["isolated"] = "yes" if self._is_isolated else ""

    def _step(self, line: Line, told: str) -> Iterator[Event]:
        status = _STATUS.search(told)
        if status is not None:
            how = status.group(1) or status.group(2)
            yield self._event(line, "step", fatal=how == "error", status=how)

    def _collecting(self, told: str) -> None:
        named = _COLLECTS.match(told)
        if named is None or told.startswith(
            ("Collecting package metadata", "Collecting environment")
        ):
            return
        name, rest = named.group(1), named.group(2)
        if rest.startswith(("+", ":")):  # git+https://.../name.git
            last = _LAST_PART.split(told.partition("#egg=")[0].split(" (")[0].split("@")[0])[-1]
            name = told.partition("#egg=")[2].split(" ")[0] or last.replace(".git", "")
        pinned = _EXACT.match(rest)
        self._around, self._is_isolated = {}, False
        self._is_at("resolve", name or "?", pinned.group(1) if pinned else "")

    def _obtaining(self, told: str) -> None:
        if told.startswith("Processing dependencies for "):
            return
        self._around, self._is_isolated = {}, False
        name, version = _archive(told)
        self._is_at("resolve", name, version)

    def _downloading(self, told: str) -> None:
        name, version = _archive(told)
        if name:
            self._is_at("download", name, version)

    def _using(self, line: Line, told: str) -> Iterator[Event]:
        pip, python = _PIP.match(told), _PYTHON.match(told)
        if pip:
            yield self._event(line, "stated", False, component="pip", version=pip.group(1))
            yield self._event(line, "stated", False, component="python", version=pip.group(2))
        elif python:
            yield self._event(line, "stated", False, component="python", version=python.group(1))
        elif told.startswith("Using cached"):
            self._downloading(told)

    def _installing(self, line: Line, told: str) -> Iterator[Event]:
        """Of build dependencies, of collected packages; `Installing torch (2.0.1)` of poetry."""
        if told.startswith(("Installing build dep", "Installing backend dep")):
            self._is_isolated = True
            self._is_at("build-requirements")
            yield from self._step(line, told)
        elif told.startswith("Installing collected packages"):
            self._around, self._is_isolated = {}, False
            self._is_at("install")
        else:
            named = _IN_BRACKETS.search(told[:300])
            if named:
                self._is_at("install", named.group(1), named.group(2), "poetry")

    def _metadata(self, line: Line, told: str) -> Iterator[Event]:
        if _ABOUT_METADATA.match(told):
            if "pyproject" in told or not told.startswith("Preparing"):
                self._is_isolated = True
            self._is_at("metadata")
            yield from self._step(line, told)

    def _building(self, line: Line, told: str) -> Iterator[Event]:
        named = _BUILDS.match(told)
        if named:
            self._is_at("build", named.group(1))
            if named.group(2) == "pyproject.toml":
                self._is_isolated = True
                self._around["isolated"] = "yes"
            yield from self._step(line, told)

    def _running(self, line: Line, told: str) -> Iterator[Event]:
        package = _RUNS_SETUP.match(told)
        if package:
            phase = "metadata" if package.group(1) == "egg_info" else "build"
            self._is_at(phase, package.group(2).rstrip("."))
            yield from self._step(line, told)
        elif _OF_COMMAND.match(told):
            self._is_at("metadata" if "wheel for" not in told else "build")
        elif _OF_SETUP.match(told) and self._around.get("phase", "install") == "install":
            self._is_at("build", installer="setup.py")

    def _command(self, told: str) -> None:
        """`Complete output from command ...`, `Command "..." failed ... in /tmp/...`."""
        if "egg_info" in told:
            self._is_at("metadata")
        elif "bdist_wheel" in told:
            self._is_at("build")
        folder = _IN_FOLDER.search(told[-200:])
        if folder and told.startswith("Command "):
            self._around = {**self._around, "distribution": canonical(folder.group(1))}

    def _failed(self, line: Line, told: str) -> Iterator[Event]:
        pinned = _PINNED.search(told[:300])
        if pinned and _FAILS.match(told):
            self._is_isolated = True
            self._is_at("build", pinned.group(1), pinned.group(2), "uv")
            yield self._event(line, "step", status="error")
            return
        named = _FAILED_FOR.match(told)
        if named:
            yield self._event(line, "step", distribution=canonical(named.group(1)), status="error")

    def _caused(self, line: Line, told: str) -> Iterator[Event]:
        rest = told.partition(": ")[2]
        self._backend(rest)
        yield from self._failed(line, rest)

    def _backend(self, told: str) -> None:
        """`The build backend returned an error`, `Build backend failed to ...` of uv."""
        if _BACKEND_FAILS.match(told):
            self._is_isolated = True
            self._is_at("metadata" if "requires" in told else "build", installer="uv")

    def _best(self, line: Line, told: str) -> Iterator[Event]:
        """`Best match: numpy 1.19.5` of easy_install."""
        found = _BEST.match(told)
        if found:
            yield from self._stated(line, found.group(1), found.group(2))

    def _satisfied(self, line: Line, told: str) -> Iterator[Event]:
        found = _SATISFIED.match(told)
        version = _AT_END.search(told[-80:])
        if found and version:
            yield from self._stated(line, found.group(1), version.group(1))

    def _found(self, line: Line, told: str) -> Iterator[Event]:
        found = _EXISTING.match(told)
        if found:
            yield from self._stated(line, found.group(1), found.group(2))

    def _stated(self, line: Line, name: str, version: str) -> Iterator[Event]:
        yield self._event(line, "stated", False, component=canonical(name), version=version)

    def _successfully(self, line: Line, told: str) -> Iterator[Event]:
        listed = told.split(" ")[2 : _MOST_DISTRIBUTIONS + 2]
        if told.startswith("Successfully installed"):
            found = [match for match in map(_INSTALLED.fullmatch, listed) if match]
            yield from self._installed(line, [(m.group(1), m.group(2)) for m in found])
        elif told.startswith("Successfully built"):
            for name in listed:
                yield self._event(
                    line, "success", False, what="built", distribution=canonical(name), version=""
                )

    def _installed(self, line: Line, listed: Iterable[Tuple[str, str]]) -> Iterator[Event]:
        self._around, self._is_isolated = {}, False
        for name, version in listed:
            yield from self._stated(line, name, version)
            yield self._event(
                line,
                "success",
                False,
                what="installed",
                distribution=canonical(name),
                version=version,
            )

    def _listing(self, line: Line, told: str) -> Iterator[Event]:
        """`Installed 3 packages in 5ms` of uv, a list follows; `Installed /.../x.egg`."""
        self._is_uv_list = bool(_COUNT.match(told))
        egg = _EGG.match(told)
        if egg:
            yield from self._stated(line, egg.group(1).replace("_", "-"), egg.group(2))

    def _finished(self, line: Line, told: str) -> Iterator[Event]:
        found = _FINISHED.match(told)
        if found:
            yield self._event(
                line, "success", False, what="installed", distribution=canonical(found.group(1))
            )

    # What an index does not offer, what metadata says

    def _ignoring(self, line: Line, told: str) -> Iterator[Event]:
        """`Ignored the following versions ...`, `Ignoring version 1.6 of ... since it has ...`."""
        if _LEFT_OUT.match(told):
            self._ignored = told.partition("version: ")[2][:LONGEST]
        invalid = _INVALID.match(told)
        if invalid:
            yield self._event(
                line,
                "step",
                distribution=canonical(invalid.group(2)),
                version=invalid.group(1),
                phase="metadata",
                status="error",
                message="invalid metadata",
            )

    def _unoffered(self, line: Line, told: str) -> Iterator[Event]:
        offered = told.rpartition("(from versions:")[2].rstrip(")").strip()
        wanted = _UNOFFERED.match(told)
        required = _REQUIRED.match(wanted.group(1)) if wanted else None
        if required is None:
            return
        yield self._event(
            line,
            "no-version",
            component=canonical(required.group(1)),
            required=required.group(2).rstrip(","),
            offered=offered if "(from versions:" in told else "?",
            ignored=self._ignored,
            distribution=canonical(required.group(1)),
            version="",
        )
        if told.startswith("No matching"):
            self._ignored = ""

    def _conflict(self, line: Line, told: str) -> Iterator[Event]:
        """What pip, `pip check`, setuptools say of what is installed."""
        fields = requirements.installed(told[:2000])
        if fields:
            is_fatal = fields["how"] != "installed"
            yield self._event(line, "conflict", is_fatal, distribution="", version="", **fields)


def _archive(told: str) -> Tuple[str, str]:
    """Name and version of the file that a line names last; "" if it names none."""
    for word in told[:1000].split(" ")[1:]:
        file = word.rpartition("/")[2].rpartition("\\")[2].partition("#")[0]
        file = file[: -len(".metadata")] if file.endswith(".metadata") else file
        end = next((end for end in _ARCHIVES if file.endswith(end)), "")
        if not end:
            continue
        stem = file[: -len(end)]
        parts = stem.split("-")
        name, version = parts[:2] if end == ".whl" and len(parts) > 4 else _parted(stem)
        released = _RELEASE.match(version)
        if released and _FULL_NAME.match(name):
            return name, released.group(1)
    return "", ""


def _parted(stem: str) -> Tuple[str, str]:
    name, _, version = stem.rpartition("-")
    return name, version
