"""A stack, or why there is none, for people and for programs."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import msgspec
from rich.cells import cell_len
from rich.text import Text

from envdoctor.model.facts import Record
from envdoctor.model.finding import Citation
from envdoctor.model.language import count, say, translate
from envdoctor.model.resolution import (
    HOST,
    IMAGE,
    IMPOSSIBLE,
    MISSING,
    RELAXED,
    SOLVED,
    THERE,
    UNASKED,
    UNKNOWN,
    VENV,
    Artefact,
    Bound,
    Core,
    Criterion,
    Left,
    Member,
    Moved,
    Override,
    Reason,
    Rejection,
    Relaxed,
    Resolution,
    Verified,
    Way,
)
from envdoctor.model.text import clean
from envdoctor.report.json import encode
from envdoctor.report.lines import apart, printed, wrapped
from envdoctor.report.sources import Matrices, MatricesAnswer, told_added
from envdoctor.report.style import STYLES
from envdoctor.report.view import View

_LONG = 20_000
#: Columns that a component's name and its version take at most; longer ones push the rest on.
_NAME, _VERSION = 18, 20
#: Columns without which what a component is from stands below it.
_ORIGIN = 24
#: A stack of more than these components is folded, unless all is asked for.
_ROWS = 10
#: Reasons that are told, unless all are asked for.
_CORES = 2
#: What is told of each of them.
_CLAUSES = 2
#: What is told of each, unless all is asked for.
_WAYS, _BOUNDS, _ASSUMPTIONS, _REST, _FOLDED, _UNASKED = 4, 6, 4, 6, 3, 3

_REASONS = {
    1: "The reason:",
    2: "Two reasons, each enough:",
    3: "Three reasons, each enough:",
    4: "Four reasons, each enough:",
    5: "Five reasons, each enough:",
}
#: By whether pins had to go, and whether it is proved to be the best.
_STACKS = {
    (False, True): "Stack (proved: no better one)",
    (False, False): "Stack (a better one is not ruled out)",
    (True, True): "Nearest stack (proved: no better one)",
    (True, False): "Nearest stack (a nearer one is not ruled out)",
}
_TARGETS = {
    HOST: "this environment",
    VENV: "a new environment",
    IMAGE: "an image",
}
_CRITERIA = {
    "dropped_pins": "dropped pins",
    "pin_distance": "distance from pins",
    "source_patches": "source patches",
    "changes": "changes",
    "source_builds": "source builds",
    "tested_distance": "steps from tested",
    "age": "age",
}


class Explanation(Record, frozen=True, omit_defaults=False):
    """A core in a sentence, and how many builds its requirements reject."""

    words: str
    folded: Tuple[Rejection, ...] = ()


class ResolutionAnswer(MatricesAnswer, frozen=True, forbid_unknown_fields=True):
    """What `resolve --format json` prints: the resolution, its cores as lists of their members."""

    status: str
    optimal: bool
    profile: str
    asked: Tuple[str, ...]
    target: str
    machine: Tuple[str, ...]
    architectures: Tuple[str, ...]
    stack: Tuple[Member, ...]
    changes: Tuple[Moved, ...]
    relaxed: Tuple[Relaxed, ...]
    patches: Tuple[str, ...]
    criteria: Tuple[Criterion, ...]
    cores: Tuple[Tuple[Reason, ...], ...]
    explanations: Tuple[Explanation, ...]  # of the cores, in their order
    more_cores: bool
    idle: Tuple[str, ...]
    ways: Tuple[Way, ...]
    assumptions: Tuple[str, ...]
    overrides: Tuple[Override, ...]
    constraints: Tuple[Bound, ...]
    rest: Tuple[str, ...]
    tree: Tuple[Artefact, ...]
    left: Tuple[Left, ...]
    learned: Tuple[str, ...]
    verified: Tuple[Verified, ...]
    citations: Tuple[Citation, ...]
    notes: Tuple[str, ...]
    reason: str


_OWN = ("cores", "explanations")


def as_json(found: Resolution) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/resolve.json."""
    told = _Telling(found, View())
    names = [name for name in ResolutionAnswer.__struct_fields__ if name not in _OWN]
    kept: Dict[str, Any] = {name: getattr(found, name) for name in names}
    answer = ResolutionAnswer(
        **kept,
        cores=tuple(core.members for core in found.cores),
        explanations=tuple(Explanation(told.sentence(c), c.folded) for c in found.cores),
    )
    return encode(msgspec.to_builtins(answer))


def as_text(found: Resolution, view: View, explain: bool = False, following: str = "") -> str:
    """Verdict first, then why, the stack, and what else would do; ended by a newline.

    `explain` tells all of the reasons; `following` is the command to go on with.
    """
    return printed(_Telling(found, view, explain).lines(following), view)


def verdict(found: Resolution) -> str:
    """The answer in one line."""
    return _Telling(found, View()).verdict()


class _Telling:
    def __init__(self, found: Resolution, view: View, explain: bool = False) -> None:
        self.found = found
        self.view = view
        self.language = found.language
        self.explain = explain or view.verbose
        self.cited = {one.id: one for one in found.citations}

    def lines(self, following: str) -> Iterator[Text]:
        yield from self._head()
        if not self.view.quiet:
            yield from self._asked()
            yield from self._reasons()
        yield from self._stack()
        if self.view.quiet:
            return
        yield from self._changes()
        yield from self._overrides()
        yield from self._beside()
        yield from self._verified()
        yield from self._ways()
        yield from self._sources()
        if following:
            yield Text()
            label = self._say("Next")
            yield Text.assemble((f"{label}  ", "bold"), (clean(following, _LONG), "cyan"))

    # --- words -----------------------------------------------------------------------------------

    def _say(self, template: str, **values: object) -> str:
        return say(self.language, template, **values)

    def _told(self, text: str) -> str:
        """A text in the language: what knew it said so already, the rest is told in English."""
        told = clean(text, _LONG)
        return told if _CHINESE.search(told) else translate(self.language, told)

    def _joined(self, texts: Sequence[str], most: int = 0) -> str:
        """A list in a sentence, past `most` only how many there are."""
        limit = len(texts) if self.view.verbose or not most else most
        told = self._say(", ").join(texts[:limit])
        if len(texts) <= limit:
            return told
        more = len(texts) - limit
        return self._say("{names} and {number} more", names=told, number=more)

    def _listed(self, texts: Sequence[str]) -> str:
        """A list as a sentence has it: a, b and c."""
        *others, last = texts or ("",)
        first = self._say(", ").join(others)
        return self._say("{first} and {last}", first=first, last=last) if others else last

    # --- the verdict -----------------------------------------------------------------------------

    def _head(self) -> Iterator[Text]:
        found = self.found
        style = {
            SOLVED: "bold green",
            RELAXED: STYLES["warning"],
            IMPOSSIBLE: STYLES["error"],
        }.get(found.status, "bold")
        date = Text(self._say("matrices of {date}", date=found.matrices_date), "dim")
        verdict = wrapped(Text(self.verdict(), style), self.view.width)
        yield from verdict[:-1]
        yield from apart(verdict[-1], date, self.view.width)

    def verdict(self) -> str:
        """The answer in one line."""
        found = self.found
        if found.status == UNKNOWN:
            if not found.reason:
                return self._say("It could not be found out: the search was ended at its limit.")
            return self._say("It could not be found out: {reason}", reason=self._told(found.reason))
        if found.status == RELAXED:
            return self._say("Not as the authors pinned it.")
        if found.status == IMPOSSIBLE:
            return self._say("There is no such stack.")
        return self._say("As the authors pinned it." if found.profile else "There is a stack.")

    def _asked(self) -> Iterator[Text]:
        found = self.found
        asked = self._joined([self._told(one) for one in found.asked], _REST)
        where = self._say(_TARGETS[found.target])
        machine = self._joined([self._told(one) for one in found.machine])
        template = "{asked}, for {target} on {machine}" if machine else "{asked}, for {target}"
        if asked:
            said = self._say(template, asked=asked, target=where, machine=machine)
            yield from wrapped(Text(said), self.view.width)
        stated = Matrices(found.matrices_date, found.matrices_added)
        yield from told_added(stated, self.view, self.language)

    # --- why -------------------------------------------------------------------------------------

    def _reasons(self) -> Iterator[Text]:
        found = self.found
        if not found.cores:
            return
        yield Text()
        head = _REASONS.get(len(found.cores), "Reasons, each enough:")
        yield Text(self._say(head), "bold")
        numbered = len(found.cores) > 1
        limit = len(found.cores) if self.explain else _CORES
        for number, core in enumerate(found.cores[:limit], 1):
            first = f" {number}. " if numbered else "  "
            rest = " " * len(first)
            sentence = self.sentence(core, 0 if self.explain else _CLAUSES)
            yield from wrapped(Text(sentence), self.view.width, first, rest)
            yield from self._folded(core, rest)
        left = len(found.cores) - limit
        if left > 0:
            one, many = "{number} more reason (--explain)", "{number} more reasons (--explain)"
            yield from self._indented(count(self.language, left, one, many), " ")
        elif found.more_cores:
            yield from self._indented(self._say("There are more reasons."), " ")
        if found.idle:
            names = self._listed([self._told(one) for one in found.idle])
            one, many = "{names} plays no part.", "{names} play no part."
            said = self._say(one if len(found.idle) == 1 else many, names=names)
            yield from self._indented(said[:1].upper() + said[1:], " ")

    def sentence(self, core: Core, most: int = 0) -> str:
        """Why nothing satisfies the members of a core together; `most` clauses, all for 0."""
        if not core.members:
            return self._told(core.words)
        facts = [self._cited(one) for one in core.members if one.kind == "fact"]
        relations = [self._cited(one) for one in core.members if one.kind == "relation"]
        wanted = [one for one in core.members if one.kind not in ("fact", "relation")]
        claim = self._claim([self._cited(one) for one in wanted], facts)
        if not relations:
            relations = [self._rejected(one) for one in core.folded[:_FOLDED]]
        if not relations:
            return self._say("{claim}.", claim=claim)
        left = len(relations) - most if most else 0
        if left > 0:
            one, many = "{number} more reason (--explain)", "{number} more reasons (--explain)"
            relations = [*relations[:most], count(self.language, left, one, many)]
        *others, last = relations
        said = others[0] if others else last
        for clause in others[1:]:
            said = self._say("{first}, because {second}", first=said, second=clause)
        if others:
            template = "{first}, and because {second}" if left <= 0 else "{first}, and {second}"
            said = self._say(template, first=said, second=last)
        return self._say("{claim}, because {reasons}.", claim=claim, reasons=said)

    def _claim(self, wanted: Sequence[str], facts: Sequence[str]) -> str:
        """That what is wanted cannot be had on such a machine."""
        if not wanted:
            return self._say("nothing can be had with {facts}", facts=self._listed(facts))
        told = self._listed(wanted)
        if facts:
            with_ = self._listed(facts)
            return self._say("{wanted} cannot be had with {facts}", wanted=told, facts=with_)
        one, many = "{wanted} cannot be had", "{wanted} exclude each other"
        return self._say(one if len(wanted) == 1 else many, wanted=told)

    def _cited(self, one: Reason) -> str:
        return f"{self._told(one.text)} [{self._where(one)}]"

    def _rejected(self, one: Rejection) -> str:
        """How many builds of a component a requirement rejects, and why."""
        reason = f"{self._told(one.text)} [{clean(one.relation)}]"
        return self._say("{builds}: {reason}", builds=self._counted(one), reason=reason)

    def _where(self, reason: Reason) -> str:
        """What a member of a core rests on, short."""
        if reason.kind != "relation":
            return self._told(reason.source or reason.id)
        cited = self.cited.get(reason.id)
        basis = f", {self._say(cited.basis)}" if cited is not None and cited.basis else ""
        return f"{clean(reason.id)}{basis}"

    def _folded(self, core: Core, indent: str) -> Iterator[Text]:
        """How many builds each requirement rejects, if that is asked for."""
        if not self.explain:
            return
        told = [one.text for one in core.members if one.kind == "relation"]
        short = [one for one in core.folded if any(one.text in text for text in told)]
        if short:
            listed = [f"{self._counted(one)} [{clean(one.relation)}]" for one in short]
            said = self._say("Rejected: {builds}", builds=self._say("; ").join(listed))
            yield from wrapped(Text(said), self.view.width, f"{indent}- ", f"{indent}  ")
        for one in core.folded:
            if one not in short:
                said = self._rejected(one)
                yield from wrapped(Text(said), self.view.width, f"{indent}- ", f"{indent}  ")

    def _counted(self, one: Rejection) -> str:
        builds = count(self.language, one.builds, "{number} build", "{number} builds")
        return self._say("{builds} of {component}", builds=builds, component=clean(one.component))

    # --- the stack -------------------------------------------------------------------------------

    def _stack(self) -> Iterator[Text]:
        found = self.found
        if not found.stack:
            return
        yield Text()
        yield Text(self._say(_STACKS[found.status == RELAXED, found.optimal]), "bold")
        yield from self._table(found.stack)
        if found.patches:
            names = ", ".join(map(clean, found.patches))
            one, many = "{number} source patch: ", "{number} source patches: "
            said = count(self.language, len(found.patches), one, many) + names
            yield from wrapped(Text(said), self.view.width, "  + ", "    ")
        if found.criteria and not self.view.quiet:
            yield from self._criteria()

    def _table(self, stack: Sequence[Member]) -> Iterator[Text]:
        """A line for each component: its version, where it is from, what it stands in for.

        Of a long stack what comes from PyPI as it was asked for is told together.
        """
        pins = {one.pin.partition(" ")[0]: one.pin for one in self.found.relaxed}
        fold = len(stack) > _ROWS and not self.explain
        plain = [one for one in stack if fold and _is_plain(one) and one.component not in pins]
        rows = [one for one in stack if one not in plain]
        names = _column([one.component for one in rows], _NAME)
        versions = _column([one.version for one in rows], _VERSION)
        column = names + versions + 6
        if column + _ORIGIN > self.view.width:
            column = 4
        for one in rows:
            left = f"  {_padded(clean(one.component), names)}  {clean(one.version)}"
            parts = [self._origin(one)]
            if one.component in pins:
                pin = clean(pins[one.component]).partition(" ")[2]
                parts.append(self._say("instead of {pin}", pin=_pin(pin)))
            if one.patches and self.explain:
                patches = ", ".join(map(clean, one.patches))
                parts.append(self._say("patched: {names}", names=patches))
            said = self._say("; ").join(filter(None, parts))
            room = max(column, cell_len(left) + 2)
            if cell_len(left) + 2 > column and room + cell_len(said) > self.view.width:
                yield Text(left)
                left, room = "", column
            if said:
                yield from wrapped(Text(said), self.view.width, _padded(left, room), " " * room)
            elif left:
                yield Text(left)
        if plain:
            listed = [f"{clean(one.component)} {clean(one.version)}" for one in plain]
            said = self._say("PyPI: {packages}", packages=self._say(", ").join(listed))
            yield from wrapped(Text(said), self.view.width, "  ", "  ")

    def _origin(self, one: Member) -> str:
        """Where a component comes from."""
        if one.origin == "host":
            return self._say("of this machine")
        if one.origin == "image":  # which is no part of itself
            return "" if one.component == IMAGE else self._say("of the image")
        if one.origin == "source":
            if one.tree:
                folder = clean(one.tree)
                if folder in (".", "./"):
                    return self._say("built from the code")
                if "/" in folder and not self.explain:
                    folder = "…/" + folder.rstrip("/").rpartition("/")[2]
                return self._say("built from {folder} of the code", folder=folder)
            place = f" ({_short(one.url)})" if one.url else ""
            return self._say("built from source") + place
        if one.url:
            return _short(one.url)
        return "PyPI" if one.requirement else ""  # which pip does not install

    def _criteria(self) -> Iterator[Text]:
        """All criteria in their order, a line broken between two of them."""
        line = ""
        for one in self.found.criteria:
            said = f"{self._say(_CRITERIA.get(one.name, one.name))} {_cost(one)}"
            longer = f"{line} · {said}" if line else f"  {said}"
            if line and cell_len(longer) > self.view.width:
                yield Text(line, "dim")
                longer = f"  {said}"
            line = longer
        yield Text(line, "dim")

    # --- what is beside it -----------------------------------------------------------------------

    def _changes(self) -> Iterator[Text]:
        changes = self.found.changes
        if not changes:
            return
        yield Text()
        yield Text(self._say("Changes"), "bold")
        for one in changes:
            template = "{component} {before} to {after}"
            if not one.before:
                template = "{component} {after} is added"
            elif not one.after:
                template = "{component} {before} is removed"
            said = self._say(
                template,
                component=clean(one.component),
                before=clean(one.before),
                after=clean(one.after),
            )
            why = self._say(": ") + self._told(one.why) if one.why else ""
            yield from wrapped(Text(said + why), self.view.width, "  - ", "    ")

    def _overrides(self) -> Iterator[Text]:
        """What authors say that cannot hold together, and which side is taken."""
        if not self.found.overrides:
            return
        yield Text()
        yield Text(self._say("The authors contradict themselves"), "bold")
        for one in self.found.overrides:
            sides = [side if self.explain else _unsourced(side) for side in one.sides]
            said = self._say(" and ").join(map(self._told, sides))
            template = "{sides}; taken: {side}" if one.take else "{sides}; neither is taken"
            said = self._say(template, sides=said, side=self._told(one.take))
            yield from wrapped(Text(said), self.view.width, "  - ", "    ")
            if one.reason and self.explain:
                yield from self._indented(self._told(one.reason), "    ")

    def _beside(self) -> Iterator[Text]:
        found = self.found
        parts: List[Tuple[str, Sequence[str], int]] = [
            ("Unchecked", [self._told(one) for one in found.assumptions], _ASSUMPTIONS),
            ("The rest", [self._told(one) for one in found.rest if found.stack], _REST),
            ("Bounds", [self._bound(one) for one in found.constraints], _BOUNDS),
            ("Learned", [self._told(one) for one in found.learned], _BOUNDS),
            ("Installer", [self._told(found.reason)] if found.stack and found.reason else [], 1),
            ("Tree", self._tree(), _BOUNDS),
            ("Notes", [self._told(one) for one in found.notes], _ASSUMPTIONS),
        ]
        told = [(self._say(head), texts, most) for head, texts, most in parts if texts]
        if not told:
            return
        yield Text()
        width = max(cell_len(head) for head, _, _ in told) + 2
        for head, texts, most in told:
            for number, line in enumerate(self._items(texts, most)):
                first = _padded("" if number else head, width)
                yield from wrapped(Text(line), self.view.width, first, " " * width)

    def _items(self, texts: Sequence[str], most: int) -> Iterator[str]:
        """Names on one line, sentences on lines of their own."""
        limit = len(texts) if self.view.verbose else most
        more = self._say("and {number} more (--verbose)", number=len(texts) - limit)
        left = [more] if len(texts) > limit else []
        if any(" " in text for text in texts[:limit]):
            yield from (*texts[:limit], *left)
        else:
            yield self._say(", ").join([*texts[:limit], *left])

    def _tree(self) -> List[str]:
        """How many distributions an installer chose, and what it was not asked for."""
        found = self.found
        if not found.tree:
            return []
        one, many = "{number} distribution", "{number} distributions"
        said = [count(self.language, len(found.tree), one, many)]
        without: Dict[str, List[str]] = {}
        for left in found.left:
            without.setdefault(left.reason, []).append(clean(left.package))
        for reason, names in without.items():
            listed = self._say(", ").join(names)
            why = self._told(reason)
            said.append(self._say("without {names}: {reason}", names=listed, reason=why))
        return said

    def _bound(self, one: Bound) -> str:
        ids = f" [{', '.join(map(clean, one.because))}]" if one.because and self.explain else ""
        return f"{clean(one.package)}{clean(one.specifier)}{ids}"

    def _verified(self) -> Iterator[Text]:
        """Whether what is to be downloaded is there; what is not comes first."""
        found = self.found.verified
        if not found:
            return
        yield Text()
        there = sum(one.status == THERE for one in found)
        said = self._say("{number} of {all} files are there", number=there, all=len(found))
        yield Text(said, "bold")
        missing = [one for one in found if one.status == MISSING]
        for one in missing:
            yield from self._file(one, "missing: {file}: {reason}")
        unasked = [one for one in found if one.status == UNASKED]
        limit = len(unasked) if self.view.verbose else _UNASKED
        for one in unasked[:limit]:
            yield from self._file(one, "not asked: {file}: {reason}")
        if len(unasked) > limit:
            more = self._say("and {number} more (--verbose)", number=len(unasked) - limit)
            yield Text(f"  {more}")

    def _file(self, one: Verified, template: str) -> List[Text]:
        file = f"{clean(one.component)} {clean(one.version)}"
        said = self._say(template, file=file, reason=self._told(one.text))
        if one.nearest:
            names = self._say(", ").join(map(clean, one.nearest))
            said += self._say("; nearest: {names}", names=names)
        style = STYLES["error"] if one.status == MISSING else ""
        return wrapped(Text(said, style), self.view.width, "  - ", "    ")

    # --- other ways ------------------------------------------------------------------------------

    def _ways(self) -> Iterator[Text]:
        ways = self.found.ways
        if not ways:
            return
        yield Text()
        yield Text(self._say("What would do" if not self.found.stack else "Other ways"), "bold")
        limit = len(ways) if self.explain else _WAYS
        for one in ways[:limit]:
            said = self._told(one.summary)
            yield from wrapped(Text(said), self.view.width, "  - ", "    ")
            if self.explain and one.stack:
                members = [f"{clean(m.component)} {clean(m.version)}" for m in one.stack]
                stack = self._joined(members)
                yield from wrapped(Text(stack, "dim"), self.view.width, "    ", "    ")
        if len(ways) > limit:
            more = self._say("and {number} more (--explain)", number=len(ways) - limit)
            yield Text(f"  - {more}")

    def _sources(self) -> Iterator[Text]:
        if not (self.view.verbose and self.found.citations):
            return
        yield Text()
        yield Text(self._say("Sources"), "bold")
        for one in self.found.citations:
            basis = [self._say(one.basis)] if one.basis else []
            checked = self._say("checked {date}", date=clean(one.checked))
            cited = f"[{', '.join([clean(one.id), *basis, checked])}] {clean(one.source, _LONG)}"
            yield from wrapped(Text(cited, "dim"), self.view.width, "  ", "  ")

    def _indented(self, text: str, indent: str) -> List[Text]:
        return wrapped(Text(text), self.view.width, indent, indent)


def _column(texts: Sequence[str], most: int) -> int:
    """The width of a column; what is longer than `most` pushes the rest of its line on."""
    widths = [cell_len(clean(text)) for text in texts]
    return max([width for width in widths if width <= most] or [most])


def _unsourced(side: str) -> str:
    """What authors say, without where they say it: "numpy<1.20.0 (setup.py:5)"."""
    return side.partition(" (")[0]


def _is_plain(one: Member) -> bool:
    """Whether there is nothing to say of a component but its version."""
    return one.origin == "index" and bool(one.requirement) and not (one.url or one.patches)


def _pin(pin: str) -> str:
    """A pin of one version as people say it: 1.9.1 (cuda 11.1)."""
    return pin[2:] if pin.startswith("==") else pin


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _cost(one: Criterion) -> str:
    """What a stack costs by a criterion: 2; of a tuple 0-1-0-0, and 0 if it is nothing but that."""
    if isinstance(one.value, int):
        return str(one.value)
    return "-".join(map(str, one.value)) if any(one.value) else "0"


_CHINESE = re.compile("[\u4e00-\u9fff]")
_SCHEME = re.compile(r"^[a-z+]+://")


def _short(url: str) -> str:
    """A URL as it fits on a line: the host, and what tells its pages from each other."""
    host, *parts = [p for p in _SCHEME.sub("", clean(url)).split("/") if p and p != "index.html"]
    return "/".join([host, *(["…"] if len(parts) > _TELLING else []), *parts[-_TELLING:]])


#: Parts of a path that tell a page of wheels: .../cu111/torch1.9.0.
_TELLING = 2
