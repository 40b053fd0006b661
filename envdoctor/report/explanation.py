"""What the matrices say of builds, for people and for programs."""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, List, Sequence, Tuple

import msgspec
from rich.text import Text

from envdoctor import __version__
from envdoctor.model.explanation import (
    Beside,
    Cell,
    Devices,
    Explained,
    ExplainedRow,
    Known,
    KnownBuild,
    Plain,
    Run,
    Subject,
    Told,
)
from envdoctor.model.finding import SCHEMA_VERSION, Citation
from envdoctor.model.language import count, say
from envdoctor.model.text import clean
from envdoctor.report.json import encode
from envdoctor.report.lines import apart, printed, wrapped
from envdoctor.report.sources import Matrices, MatricesAnswer, told_added
from envdoctor.report.style import MARKS, STYLES
from envdoctor.report.view import View

#: Columns of what a line is about.
_LABEL = 16
#: What is listed of each, unless all is asked for.
_CAPABILITIES, _PRODUCTS, _RELATIONS, _BUILDS = 6, 3, 8, 8
_LONG = 20_000
#: As much of a source is told, unless all is asked for.
_SOURCE = 150

#: Attributes that people ask for first, in this order, and what they are called.
_ATTRIBUTES: Dict[str, str] = {
    "origin": "is",
    "architecture": "processor",
    "torch": "for torch",
    "cuda": "CUDA",
    "abi": "C++ ABI",
    "sass": "GPU code",
    "ptx": "PTX",
    "python": "Python tags",
    "requires_python": "Python",
    "glibc": "glibc",
    "cxx": "C++ standard",
    "compiles": "compiles",
}


class PackagesAnswer(MatricesAnswer, frozen=True, forbid_unknown_fields=True):
    """What `explain --format json` prints of packages."""

    assumed: List[str]
    packages: Explained


class RowAnswer(MatricesAnswer, frozen=True, forbid_unknown_fields=True):
    """What `explain --format json` prints of a GPU, a driver, a CUDA, ..."""

    row: ExplainedRow


def packages_json(
    explained: Explained, assumed: Sequence[str], matrices: Matrices, language: str
) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/explain-packages.json."""
    answer = PackagesAnswer(
        SCHEMA_VERSION,
        "explain",
        __version__,
        matrices.date,
        list(matrices.added),
        language,
        list(assumed),
        explained,
    )
    return encode(msgspec.to_builtins(answer))


def row_json(row: ExplainedRow, matrices: Matrices, language: str) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/explain-row.json."""
    added = list(matrices.added)
    answer = RowAnswer(SCHEMA_VERSION, "explain", __version__, matrices.date, added, language, row)
    return encode(msgspec.to_builtins(answer))


def packages_text(
    explained: Explained, assumed: Sequence[str], matrices: Matrices, view: View, language: str
) -> str:
    """Verdict first, then what there is, why, and what fits; ended by a newline."""
    return printed(_Telling(view, language).packages(explained, assumed, matrices), view)


def row_text(row: ExplainedRow, matrices: Matrices, view: View, language: str) -> str:
    """The cells of a row with their sources, and what they decide; ended by a newline."""
    return printed(_Telling(view, language).row(row, matrices), view)


class _Telling:
    def __init__(self, view: View, language: str) -> None:
        self.view = view
        self.language = language

    # --- parts -----------------------------------------------------------------------------------

    def packages(
        self, one: Explained, assumed: Sequence[str], matrices: Matrices
    ) -> Iterator[Text]:
        yield from self._head(one, matrices.date)
        yield from told_added(matrices, self.view, self.language)
        if assumed:
            said = say(self.language, "Assumed: {assumed}", assumed=", ".join(assumed))
            yield from self._wrapped(said)
        for reason in one.open:
            yield from self._wrapped(reason)
        # What was asked is answered first, with its reasons; of a build to be had, what it is.
        judged = len(one.subjects) > 1 or one.answer == "no"
        if judged:
            yield from self._reasons(one)
        for subject in one.subjects:
            yield Text()
            yield from self._subject(subject, len(one.subjects) == 1, bool(assumed))
        if not judged:
            yield from self._reasons(one)
        if one.holding:
            yield from self._section("Relations that hold")
            yield from self._known(one.holding)
        yield from self._install(one)
        yield from self._beside(one)
        if len(one.subjects) == 1 and one.subjects[0].relations:
            yield from self._relations(one.subjects[0])

    def row(self, row: ExplainedRow, matrices: Matrices) -> Iterator[Text]:
        date = self._date(matrices.date)
        yield from apart(Text(clean(row.asked), "bold"), date, self.view.width)
        yield from told_added(matrices, self.view, self.language)
        for cell in row.cells:
            yield Text()
            yield from self._cell(cell)
        if row.beside:
            head = "Releases whose builds run on it"
            yield from self._section(head if row.runs else "Releases with builds for it")
            for beside in row.beside:
                yield from self._line(beside.package, self._fitting(beside))

    # --- of packages -----------------------------------------------------------------------------

    def _head(self, one: Explained, date: str) -> Iterator[Text]:
        *others, last = (f"{s.name} {s.label}".rstrip() for s in one.subjects)
        names = say(self.language, ", ").join(others)
        names = say(self.language, " and ").join([*([names] if names else []), last])
        alone = len(one.subjects) == 1
        if alone and not one.subjects[0].label:
            text, style = names, "bold"
        else:
            text, style = say(self.language, _VERDICTS[one.answer, alone], names=names), ""
            text += self._warned(one)
        style = style or {"no": STYLES["error"], "prebuilt": "bold green"}.get(one.answer, "bold")
        verdict = wrapped(Text(clean(text, _LONG), style), self.view.width)
        if len(verdict) == 1:
            yield from apart(verdict[0], self._date(date), self.view.width)
        else:
            yield from verdict
            yield from apart(Text(), self._date(date), self.view.width)

    def _warned(self, one: Explained) -> str:
        """How many warnings are told of what fits."""
        number = sum(told.severity == "warning" for told in one.warnings)
        if not number or one.answer not in ("prebuilt", "source"):
            return ""
        return count(self.language, number, ", with {number} warning", ", with {number} warnings")

    def _date(self, date: str) -> Text:
        return Text(say(self.language, "matrices of {date}", date=date), "dim")

    def _subject(self, one: Subject, alone: bool, assumed: bool) -> Iterator[Text]:
        heading = Text(clean(f"{one.name} {one.label}".rstrip()), "bold")
        heading.append("  " + self._counts(one, not alone or assumed), "not bold")
        yield from wrapped(heading, self.view.width)
        if not one.builds:
            yield from self._summary(one)
            return
        common, varying = _common(one.builds)
        if not alone:
            keys = [k for k in ("origin", "torch", "cuda", "abi", "python") if k in common]
            common = {key: common[key] for key in keys}
        for name, value in common.items():
            if value != "" or name == "requires_python":
                yield from self._line(self._name(name), self._value(name, value))
        yield from self._varying(one.builds, varying, alone)
        if alone:
            yield from self._devices(one)
            yield from self._floors(one)
        sources = dict.fromkeys(build.source for build in one.builds if build.source.source)
        yield from self._cited_together(list(sources))

    def _counts(self, one: Subject, asked: bool) -> str:
        language = self.language
        known = count(language, one.known, "{number} build is known", "{number} builds are known")
        if asked and 0 < one.fitting < one.known:
            known += say(language, ", {number} of them fit", number=one.fitting)
        return known

    def _summary(self, one: Subject) -> Iterator[Text]:
        runs = say(
            self.language,
            "{number}, {first} to {last}",
            number=one.releases,
            first=one.oldest,
            last=one.newest,
        )
        yield from self._line(say(self.language, "releases"), runs)
        yield from self._line(say(self.language, "imported as"), " ".join(one.modules))
        if one.requires:
            yield from self._line(say(self.language, "requires"), " ".join(one.requires))
        for axis, values in one.spans.items():
            told = [self._value(axis, value) for value in values] if axis == "origin" else values
            yield from self._line(self._name(axis), say(self.language, ", ").join(told))

    def _varying(
        self, builds: Sequence[KnownBuild], names: Sequence[str], alone: bool
    ) -> Iterator[Text]:
        """Builds that differ, each kind on a line: what they share of CUDA is folded."""
        if not names:
            return
        shown = [name for name in names if name in _ATTRIBUTES or not (set(names) & set(_AXES))]
        if not alone:
            shown = [n for n in shown if n in _TELLING and (n == "origin" or _differs(builds, n))]
        kinds: Dict[str, Tuple[Dict[str, Plain], List[str]]] = {}
        for build in builds:
            own = {n: build.attributes[n] for n in shown if n in build.attributes and n != "cuda"}
            _, cudas = kinds.setdefault(repr(own), (own, []))
            cuda = str(build.attributes.get("cuda", ""))
            if "cuda" in shown and cuda and cuda not in cudas:
                cudas.append(cuda)
        listed = list(kinds.values())
        limit = len(listed) if self.view.verbose else _BUILDS * (2 if alone else 1)
        for own, cudas in listed[:limit]:
            every: Dict[str, Plain] = {**own, "cuda": cudas} if cudas else own
            order = [
                *(n for n in _ATTRIBUTES if n in every),
                *(n for n in own if n not in _ATTRIBUTES),
            ]
            said = say(self.language, "; ").join(self._pair(name, every[name]) for name in order)
            yield from wrapped(Text(clean(said, _LONG)), self.view.width, "  - ", "    ")
        if len(listed) > limit:
            more = say(self.language, "and {number} more (--verbose)", number=len(listed) - limit)
            yield Text(f"  - {more}")

    def _pair(self, name: str, value: Plain) -> str:
        if name == "origin":
            return self._value(name, value)
        return f"{self._name(name)} {self._value(name, value)}"

    def _name(self, attribute: str) -> str:
        known = _ATTRIBUTES.get(attribute)
        return attribute if known is None else say(self.language, known)

    def _value(self, name: str, value: Plain) -> str:
        language = self.language
        if name == "origin":
            return say(language, _ORIGINS.get(str(value), str(value)))
        if name in ("sass", "ptx") and isinstance(value, list):
            prefix = "sm_" if name == "sass" else "compute_"
            told = " ".join(prefix + one.replace(".", "") for one in value)
            return told or say(language, "none")
        if name == "abi":
            old = say(language, "{number}: the old one", number=value)
            new = say(language, "{number}: the new one", number=value)
            return old if str(value) == "0" else new
        if name == "glibc":
            return say(language, "{version} or newer", version=value)
        if name == "cxx":
            return say(language, "C++{number}, which its headers need", number=value)
        if name == "requires_python":
            return str(value) or say(language, "any")
        if name == "cuda" and isinstance(value, list):
            return say(language, ", ").join(value)
        if isinstance(value, bool):
            return say(language, "yes") if value else say(language, "no")
        if isinstance(value, list):
            return " ".join(value) or say(language, "none")
        return str(value)

    def _devices(self, one: Subject) -> Iterator[Text]:
        """Per compute capability, the newest first: products, and which of the builds they run."""
        of: Dict[str, List[Devices]] = {}
        for device in one.devices:
            of.setdefault(device.capability, []).append(device)
        running = [d for d in reversed(list(of.values())) if any(one.how != "none" for one in d)]
        limit = len(running) if self.view.verbose else _CAPABILITIES
        name = say(self.language, "runs on")
        for devices in running[:limit]:
            products = self._some(devices[0].products, _PRODUCTS)
            yield from self._line(name, f"{_sm(devices[0])}: {products}{self._builds(devices)}")
            name = ""
        if running[limit:]:
            older: Dict[str, List[str]] = {}
            for devices in running[limit:]:
                older.setdefault(self._builds(devices), []).append(_sm(devices[0]))
            told = [f"{', '.join(names)}{builds}" for builds, names in older.items()]
            yield from self._line(name, say(self.language, "; ").join(told))
        refused = [devices[0] for devices in of.values() if all(d.how == "none" for d in devices)]
        if refused:
            told = [f"{_sm(d)}: {self._some(d.products, 1)}" for d in refused]
            yield from self._line(say(self.language, "not on"), say(self.language, "; ").join(told))

    def _builds(self, devices: Sequence[Devices]) -> str:
        """With which of the builds a GPU runs, where it is not all of them as they are."""
        if all(device.how == "native" for device in devices):
            return ""
        told = []
        for device in devices:
            if device.how != "none":
                by_ptx = say(self.language, " by PTX") if device.how == "ptx" else ""
                told.append(f"CUDA {device.cuda}{by_ptx}")
        return say(self.language, " ({builds})", builds=", ".join(told))

    def _some(self, names: Sequence[str], number: int) -> str:
        """The first of some names, and how many more there are."""
        limit = len(names) if self.view.verbose else number
        told = say(self.language, ", ").join(names[:limit])
        if len(names) <= limit:
            return told
        more = len(names) - limit
        return say(self.language, "{names} and {number} more", names=told, number=more)

    def _floors(self, one: Subject) -> Iterator[Text]:
        name = say(self.language, "driver")
        for floor in one.floors:
            template = (
                "{version} or newer, for code of CUDA {cuda}"
                if floor.kind == "compiled"
                else "{version} or newer, to compile its PTX"
            )
            said = say(self.language, template, version=floor.driver, cuda=floor.cuda)
            yield from self._line(name, f"{said}  [{floor.source.id}]")
            name = ""

    def _install(self, one: Explained) -> Iterator[Text]:
        if one.from_source and len(one.subjects) > 1:
            names = say(self.language, ", ").join(one.from_source)
            yield Text()
            yield from self._wrapped(
                say(self.language, "To be built from source: {names}", names=names)
            )
        if not one.install:
            yield from self._no_command(one)
            return
        several_or_one = len(one.subjects) > 1 or len(one.install) == 1
        yield from self._section("Install" if several_or_one else "Install one of these")
        limit = len(one.install) if self.view.verbose else _BUILDS
        for arguments in one.install[:limit]:
            yield Text.assemble("  ", (clean(f"pip install {arguments}", _LONG), "cyan"))
        if len(one.install) > limit:
            more = len(one.install) - limit
            yield Text(f"  {say(self.language, 'and {number} more (--verbose)', number=more)}")
        yield from self._no_command(one)

    def _no_command(self, one: Explained) -> Iterator[Text]:
        for name in one.no_command:
            template = "No command is known for {name}: its wheel was not seen on a page."
            yield Text()
            yield from self._wrapped(say(self.language, template, name=name))

    # --- relations -------------------------------------------------------------------------------

    def _reasons(self, one: Explained) -> Iterator[Text]:
        if one.because:
            head = "Why"
            if len(one.because) > 1:
                head = "Why: together these reject every build"
                if all(told.enough for told in one.because):
                    head = "Why: each of these is enough"
            yield from self._section(head)
            for told in one.because:
                yield from self._told(told)
        if one.also:
            yield from self._section("Without that it would still be no")
            for told in one.also:
                yield from self._told(told)
        if one.warnings:
            yield from self._section("It fits, but")
            for told in one.warnings:
                yield from self._told(told)

    def _told(self, told: Told) -> Iterator[Text]:
        style = STYLES[told.severity]
        left = Text.assemble(" ", (MARKS[told.severity], style), f" {clean(told.finding)}")
        yield from apart(left, Text(clean(told.component)), self.view.width)
        yield from self._indented(told.why)
        if told.patch:
            said = say(self.language, "A source patch mends it: {patch}", patch=told.patch)
            yield from self._indented(said)
        yield from self._cited(told.relation, "   ")

    def _known(self, known: Sequence[Known]) -> Iterator[Text]:
        yield from self._cited_together([one.relation for one in known])

    def _cited_together(self, sources: Sequence[Citation]) -> Iterator[Text]:
        """Entries that stand in the same source, looked at on one day, are told together."""
        alike: Dict[Tuple[str, str, str], List[str]] = {}
        for one in sources:
            alike.setdefault((one.source, one.checked, one.basis), []).append(one.id)
        for (source, checked, basis), ids in alike.items():
            yield from self._cited(Citation(" ".join(ids), source, checked, basis))

    def _relations(self, one: Subject) -> Iterator[Text]:
        yield from self._section("Relations")
        owners: Dict[str, List[Known]] = {}
        for known in one.relations:
            owners.setdefault(known.package, []).append(known)
        for owner, listed in owners.items():
            if self.view.verbose:
                yield Text(f"  {clean(owner)}", "bold")
                yield from self._known(listed)
            elif owner == one.name or len(owners) <= _RELATIONS:
                yield from self._line(owner, " ".join(known.relation.id for known in listed))
        others = [owner for owner in owners if owner != one.name]
        if others and not self.view.verbose and len(owners) > _RELATIONS:
            said = say(
                self.language,
                "{number} relations of {packages} other packages (--verbose)",
                number=sum(len(owners[owner]) for owner in others),
                packages=len(others),
            )
            yield from self._indented_by_two(said)

    def _cited(self, source: Citation, indent: str = "  ") -> Iterator[Text]:
        basis = say(self.language, source.basis) if source.basis else ""
        checked = say(self.language, "checked {date}", date=source.checked)
        parts = [clean(source.id), basis, checked]
        cited = f"[{', '.join(part for part in parts if part)}]"
        text = clean(source.source, _LONG)
        if not self.view.verbose and len(text) > _SOURCE:
            text = text[:_SOURCE].rpartition(" ")[0] + " …"
        cited += f" {text}"
        yield from wrapped(Text(cited, "dim"), self.view.width, indent, indent)

    # --- what goes with it -----------------------------------------------------------------------

    def _beside(self, one: Explained) -> Iterator[Text]:
        if not one.beside:
            return
        alone = len(one.subjects) == 1
        yield from self._section("Beside it" if alone else "What fits instead, the rest unchanged")
        plain: Dict[str, List[str]] = {}
        for beside in one.beside:
            text = self._fitting(beside)
            if beside.prebuilt or (beside.source and not beside.every) or not alone:
                yield from self._line(beside.package, text)
            else:
                plain.setdefault(text, []).append(beside.package)
        for text, packages in plain.items():
            yield from self._indented_by_two(f"{text}: {', '.join(packages)}")

    def _fitting(self, beside: Beside) -> str:
        language = self.language
        if beside.every and not beside.source:
            return say(language, "every release that is known") + self._partly(beside)
        if beside.every and not beside.prebuilt:
            return say(language, "no wheel; nothing known rules out its sources")
        said = []
        if beside.prebuilt:
            said.append(self._runs(beside.prebuilt) + self._partly(beside))
        if beside.source:
            runs = self._runs(beside.source)
            said.append(say(language, "with a build from source: {releases}", releases=runs))
        if not said:
            template = "not known" if beside.untold else "none that is known"
            return say(language, template)
        return say(language, "; ").join(said)

    def _partly(self, beside: Beside) -> str:
        """Of which releases only some builds fit."""
        language = self.language
        told = [
            say(
                language,
                ", of {releases} only those for CUDA {cudas}",
                releases=self._runs([(one.first, one.last)]),
                cudas=say(language, ", ").join(one.cudas),
            )
            for one in beside.partly
        ]
        return "".join(told)

    def _runs(self, runs: Sequence[Run]) -> str:
        told = [
            first
            if first == last
            else say(self.language, "{first} to {last}", first=first, last=last)
            for first, last in runs
        ]
        return say(self.language, ", ").join(told)

    # --- rows ------------------------------------------------------------------------------------

    def _cell(self, cell: Cell) -> Iterator[Text]:
        yield Text(f"{clean(cell.table)}[{clean(cell.key)}]", "bold")
        names = _OF_INTERFACES if cell.table.startswith(("removed_", "added_", "kept_")) else {}
        for name, value in cell.values.items():
            told = say(self.language, names[name]) if name in names else name
            yield from self._line(told, self._value("", value))
        yield from self._cited(cell.source)

    # --- lines -----------------------------------------------------------------------------------

    def _section(self, head: str) -> Iterator[Text]:
        yield Text()
        yield Text(say(self.language, head), "bold")

    def _line(self, name: str, text: str) -> Iterator[Text]:
        first = Text(f"  {clean(name)}")
        first.pad_right(max(1, _LABEL + 2 - first.cell_len))
        rest = " " * (_LABEL + 2)
        if first.cell_len > _LABEL + 2:
            yield from wrapped(Text(clean(text, _LONG)), self.view.width, first.plain + " ", rest)
            return
        yield from wrapped(Text(clean(text, _LONG)), self.view.width, first.plain, rest)

    def _indented_by_two(self, text: str) -> List[Text]:
        return wrapped(Text(clean(text, _LONG)), self.view.width, "  ", "  ")

    def _indented(self, text: str) -> List[Text]:
        return wrapped(Text(clean(text, _LONG)), self.view.width, "   ", "   ")

    def _wrapped(self, text: str) -> List[Text]:
        return wrapped(Text(clean(text, _LONG)), self.view.width)


#: Columns of the tables of interfaces that releases lack.
_OF_INTERFACES: Dict[str, str] = {
    "of": "of",
    "gone": "gone since",
    "back": "there again since",
    "since": "there since",
    "passing": "if it is given",
    "without": "if not given",
    "instead": "instead",
    "finding": "finding",
}
_AXES = ("torch", "cuda", "abi", "architecture", "python", "sass")
#: What tells builds apart where several packages are asked about.
_TELLING = ("origin", "torch", "cuda", "abi", "architecture")
_ORIGINS = {"wheel": "wheel", "source": "sources", "conda": "conda's", "vendor": "a vendor's"}
#: By answer, and whether one package was asked about.
_VERDICTS: Dict[Tuple[str, bool], str] = {
    ("prebuilt", True): "{names}: a wheel exists",
    ("prebuilt", False): "{names} fit: wheels exist for it",
    ("source", True): "{names}: only to be built from source",
    ("source", False): "{names} fit only if built from source",
    ("no", True): "{names}: no",
    ("no", False): "{names} do not fit",
    ("untested", True): "{names}: untested",
    ("untested", False): "{names}: untested",
    ("undecided", True): "{names}: it cannot be told",
    ("undecided", False): "{names}: it cannot be told whether they fit",
}


def _differs(builds: Sequence[KnownBuild], name: str) -> bool:
    """Whether builds that state an attribute state different values."""
    return len({repr(b.attributes[name]) for b in builds if name in b.attributes}) > 1


def _sm(device: Devices) -> str:
    return f"sm_{device.capability.replace('.', '')}"


def _ordered(names: Iterable[str]) -> List[str]:
    """Names of attributes, those that people ask for first."""
    listed = list(names)
    return [*(n for n in _ATTRIBUTES if n in listed), *(n for n in listed if n not in _ATTRIBUTES)]


def _common(builds: Sequence[KnownBuild]) -> Tuple[Dict[str, Plain], List[str]]:
    """What all builds share, in the order of what people ask for; and what differs."""
    names = {name: None for build in builds for name in build.attributes}
    common: Dict[str, Plain] = {}
    varying = []
    for name in _ordered(names):
        values = [build.attributes.get(name) for build in builds]
        first = values[0]
        if first is not None and all(value == first for value in values):
            common[name] = first
        else:
            varying.append(name)
    return common, varying
