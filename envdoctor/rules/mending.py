"""From a report to the one set of commands that mends what it tells: what `repair` shows and does.

The changes were planned when the findings were made, and agree with each other; here their commands
are put together, and with them those of the rules that are commands for an installer. What is for
people to do, and what would exchange a build that stays, is left to them.
"""

from __future__ import annotations

import importlib
import re
import shlex
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Facts, Target
from envdoctor.model.finding import Finding, Fix, Moved, Report
from envdoctor.model.language import say, translate
from envdoctor.model.names import canonical
from envdoctor.model.repair import (
    ANY,
    CHANGES,
    INSTALL,
    REMOVE,
    SOURCE_BUILDS,
    UNINSTALL,
    Apart,
    Left,
    Named,
    Repair,
    Step,
)
from envdoctor.model.resolution import IMPOSSIBLE, RELAXED, SOLVED, UNKNOWN, Criterion
from envdoctor.model.text import clean
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported, inside, outside
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import observe
from envdoctor.relations.repair import Repairs
from envdoctor.rules.examination import finding_of
from envdoctor.rules.lookup import installer, name_of
from envdoctor.rules.page import pages
from envdoctor.rules.rule import Context

#: Options of `pip install` that are followed by a value, and those that are not.
_WITH_VALUE = frozenset(
    ["-f", "--find-links", "-i", "--index-url", "--extra-index-url", "--only-binary"]
)
_FLAGS = frozenset(["--force-reinstall", "--no-deps", "--no-cache-dir", "--no-build-isolation"])
_COMPILED = "--no-build-isolation"  # of what is built from sources
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(.*)", re.ASCII | re.DOTALL)
_EXACT = re.compile(r"\s*===?\s*([^\s,*]+)\s*")
_LONGEST = 4_000
_CONFLICT = "dependency-conflict"


class _Command(NamedTuple):
    """A command of a fix, understood. `items` are requirements, names or paths."""

    kind: str
    options: Tuple[str, ...]
    items: Tuple[str, ...]


class _Call:
    """Commands of one kind and set of options, which are one call."""

    def __init__(self, kind: str, options: Tuple[str, ...]) -> None:
        self.kind = kind
        self.options = options
        self.items: Dict[str, None] = {}
        self.mends: Dict[str, None] = {}


def mending(report: Report, facts: Facts, knowledge: Knowledge) -> Repair:
    """What mends the errors and warnings of a report, and what cannot be mended by commands.

    `report` is `check`'s of these facts, or what is left of it when findings are selected.
    """
    target = facts.target.value
    repair = Repair(
        command="repair",
        envdoctor_version=report.envdoctor_version,
        matrices_date=report.matrices_date,
        status=UNKNOWN,
        target=report.target,
        machine=report.machine,
        assumed=report.assumed,
        configuration=report.configuration,
        facts_digest=report.facts_digest,
        matrices_added=report.matrices_added,
        language=report.language,
    )
    if target is None or target.asked is not None:
        return repair
    return _Mending(repair, report, facts, target, knowledge).answer()


class _Mending:
    def __init__(
        self, repair: Repair, report: Report, facts: Facts, target: Target, knowledge: Knowledge
    ) -> None:
        self.repair = repair
        self.facts = facts
        self.language = report.language
        self.findings = [f for f in report.findings if f.severity != "info"]
        self.target = target
        self.knowledge = knowledge
        self.installed = {name: d.version for name, d in imported(target).items()}
        repairs = Repairs(observe(facts, knowledge), Relations(knowledge))
        stays = {name: repairs.stays(name) for name in repairs.installed}
        self.stays = {name: why for name, why in stays.items() if why}
        self.calls: List[_Call] = []
        self.wanted: Dict[str, str] = {}  # {canonical name: requirement} of what is installed
        self.changes: Dict[str, Moved] = {}
        self.mends: List[Finding] = []
        self.left: List[Left] = []
        self.apart: Dict[Tuple[str, ...], Tuple[Fix, List[str]]] = {}

    def answer(self) -> Repair:
        """The plan. What was planned goes before what rules say of single distributions."""
        chosen = [(finding, *self._chosen(finding)) for finding in self.findings]
        planned = [one for one in chosen if one[1] is not None and one[1].changes]
        others = [one for one in chosen if one[1] is None or not one[1].changes]
        for finding, fix, commands in (*planned, *others):
            if fix is None:
                self._leave(finding)
            elif fix.changes or self._agrees(self._due(finding, fix, commands)):
                self._take(finding, fix, self._due(finding, fix, commands))
            else:
                reason = say(
                    self.language,
                    "the plan has another version of what would mend it: look again afterwards",
                )
                self.left.append(Left(Named.of(finding), reason, fix.commands))
        steps = tuple(self._steps())
        order = {id(finding): place for place, finding in enumerate(self.findings)}
        mends = sorted(self.mends, key=lambda finding: order[id(finding)])
        return msgspec.structs.replace(
            self.repair,
            status=self._status(steps),
            optimal=len(self.changes) < 2,
            changes=tuple(self.changes.values()),
            steps=steps,
            commands=tuple(step.command for step in steps),
            criteria=(
                Criterion(CHANGES, len(self.changes)),
                Criterion(
                    SOURCE_BUILDS, sum("--no-build-isolation" in c.options for c in self.calls)
                ),
            ),
            mends=tuple(map(Named.of, mends)),
            left=tuple(self.left),
            brings=tuple(self._brings()) if steps else (),
            apart=tuple(self._apart()),
            verify=tuple(self._verify(mends)) if steps else (),
            undo=tuple(self._undo()) if steps else (),
            stays={
                name: d.version
                for name, d in imported(self.target).items()
                if name in self.stays and not outside(self.target, d)
            },
        )

    def _status(self, steps: Sequence[Step]) -> str:
        if not self.left:
            return SOLVED
        return RELAXED if steps else IMPOSSIBLE

    # --- what is done ------------------------------------------------------------------------

    def _chosen(self, finding: Finding) -> Tuple[Optional[Fix], List[_Command]]:
        """The first fix that is commands for an installer alone, and all of it."""
        for fix in finding.fixes:
            commands = [self._understood(text) for text in fix.commands] if fix.complete else []
            understood = [command for command in commands if command is not None]
            if len(understood) < len(commands) or not understood:
                continue
            # what is only taken away is to be put back by somebody who knows which one is meant
            if all(command.kind == UNINSTALL for command in understood):
                continue
            if not any(name in self.stays for name in _touched(understood)):
                return fix, understood
        return None, []

    def _understood(self, text: str) -> Optional[_Command]:
        """A command of ours as words; None if it is none for an installer."""
        try:
            words = shlex.split(text)
        except ValueError:
            return None
        if words[:2] == ["rm", "-r"] and len(words) == 3:
            path = words[2]
            is_own = inside(path, self.target.prefix) and ".." not in path.split("/")
            return _Command(REMOVE, (), (path,)) if is_own and self.target.prefix else None
        for verb in (UNINSTALL, INSTALL):
            head = installer(self.target, verb)
            if words[: len(head)] == head:
                return _arguments(verb, words[len(head) :])
        return None

    def _agrees(self, commands: Sequence[_Command]) -> bool:
        """Whether what is to be installed may be what is to be installed already."""
        for command in commands:
            for item in command.items if command.kind == INSTALL else ():
                name, specifier = _parts(item)
                other = self.wanted.get(name)
                if other is None or other == item:
                    continue
                exact = _EXACT.fullmatch(_parts(other)[1])
                if "--force-reinstall" in command.options:
                    continue  # it is installed anew in any case
                if exact is None or not _allows(specifier, exact[1]):
                    return False
        return True

    def _due(self, finding: Finding, fix: Fix, commands: Sequence[_Command]) -> Sequence[_Command]:
        """The commands, less what comes with other releases of the packages that they are for.

        What the new one requires pip installs; what only the old one did nobody needs.
        """
        if fix.changes:
            return commands
        others = bool(finding.about) and all(map(self._moves, finding.about))
        adds = all(c.kind == INSTALL and "--force-reinstall" not in c.options for c in commands)
        if self._moves(canonical(finding.component.partition(" ")[0])) or (others and adds):
            return [command for command in commands if command.kind != INSTALL]
        return commands

    def _moves(self, name: str) -> bool:
        """Whether another release of a package comes, and with it what that one requires."""
        change = self.changes.get(name)
        return change is not None and bool(change.after) and change.before != change.after

    def _take(self, finding: Finding, fix: Fix, commands: Sequence[_Command]) -> None:
        self.mends.append(finding)
        called = f"{finding.code} {finding.component}"
        if not commands:
            for name in (canonical(finding.component.partition(" ")[0]), *finding.about):
                self._also(name, called)
        last = 0  # a command stays behind those of the same fix that come before it
        for command in commands:
            items = [
                item
                for item in command.items
                if command.kind != INSTALL or _parts(item)[0] not in self.wanted
            ]
            places = range(last, len(self.calls))
            same = (command.kind, command.options)
            here = [n for n in places if (self.calls[n].kind, self.calls[n].options) == same]
            if here:
                last = here[0]
            elif items:
                self.calls.append(_Call(*same))
                last = len(self.calls) - 1
            if here or items:
                call = self.calls[last]
                call.items.update(dict.fromkeys(items))
                call.mends[called] = None
            if command.kind == INSTALL:
                for item in set(command.items) - set(items):
                    self._also(_parts(item)[0], called)
            self._note(finding, fix, command, items)

    def _also(self, name: str, called: str) -> None:
        """Say of what is installed already that it is for another finding, too."""
        for call in self.calls:
            if call.kind == INSTALL and name in {_parts(item)[0] for item in call.items}:
                call.mends[called] = None

    def _note(self, finding: Finding, fix: Fix, command: _Command, items: Sequence[str]) -> None:
        """Keep which packages change."""
        why = f"{finding.code} {finding.component}: {finding.summary}"
        for change in fix.changes:
            self.changes.setdefault(change.component, _with_why(change, why))
        for item in items:
            if command.kind == REMOVE:
                continue
            name, specifier = _parts(item)
            before = self.installed.get(name, "")
            if command.kind == UNINSTALL:
                known = any(f"{name} " in f"{c.before} " for c in self.changes.values())
                if not known:
                    self.changes.setdefault(name, Moved(name, before, "", why))
                continue
            self.wanted[name] = item
            exact = _EXACT.fullmatch(specifier)
            after = exact[1] if exact else specifier.strip() or ANY
            known_change = self.changes.get(name)
            if known_change is None or not known_change.after:
                self.changes[name] = Moved(name, before, after, why)

    def _steps(self) -> Iterator[Step]:
        """The calls as commands: what is removed first, then what is installed."""
        for kind in (REMOVE, UNINSTALL, INSTALL):
            for call in self.calls:
                if call.kind != kind:
                    continue
                items = list(call.items)
                if kind == REMOVE:
                    words = ["rm", "-r", *items]
                elif kind == UNINSTALL:
                    words = installer(self.target, kind, "-y", *items)
                else:
                    words = installer(self.target, kind, *items, *call.options)
                yield Step(kind, shlex.join(words), tuple(words), tuple(call.mends))

    # --- what is not -------------------------------------------------------------------------

    def _leave(self, finding: Finding) -> None:
        elsewhere = [fix for fix in finding.fixes if _is_elsewhere(fix)]
        advice = [fix for fix in finding.fixes if not _is_elsewhere(fix)]
        for fix in elsewhere:
            _, names = self.apart.setdefault(fix.commands, (fix, []))
            names.append(f"{finding.code} {finding.component}")
        first = advice[0] if advice else None
        reason = first.summary if first is not None else ""
        commands = first.commands if first is not None else ()
        words = [self._understood(text) for text in commands]
        kept = [n for n in _touched([w for w in words if w is not None]) if n in self.stays]
        if kept:
            commands = ()
            reason = say(
                self.language,
                "{package} is {build}, and stays",
                package=f"{kept[0]} {self.installed.get(kept[0], '')}".strip(),
                build=translate(self.language, self.stays[kept[0]]),
            )
        if not reason:
            reason = say(self.language, "no command is known that mends it")
        self.left.append(Left(Named.of(finding), clean(reason, _LONGEST), commands))

    def _apart(self) -> Iterator[Apart]:
        for fix, names in self.apart.values():
            needed = tuple(f"{change.component}=={change.after}" for change in fix.changes)
            yield Apart(fix.summary, needed, fix.commands, tuple(names))

    # --- what comes with it ------------------------------------------------------------------

    def _brings(self) -> Iterator[Named]:
        """What `check` would say of the releases that come, which it does not say now.

        Who requires another release than the one that comes is known by what is installed; what
        that one requires itself pip installs.
        """
        after = self._afterwards()
        context = Context(after, self.knowledge, observe(after, self.knowledge), self.language)
        page = next(page for page in pages().values() if page.name == _CONFLICT)
        rule = importlib.import_module(f"envdoctor.rules.{page.module}")
        told = {f.component.partition(" ")[0] for f in self.findings if f.code == page.code}
        for fault in rule.examine(context):
            finding = finding_of(page, fault, self.language)
            if finding.component.partition(" ")[0] not in told:
                yield Named.of(finding)

    def _afterwards(self) -> Facts:
        """The facts, with the versions of distributions that come, as far as they are known."""
        found = []
        for distribution in self.target.distributions:
            change = self.changes.get(name_of(distribution))
            if change is None or try_parse(change.after) is None or change.before == change.after:
                found.append(distribution)
            else:
                fields = {"version": change.after, "requires": (), "checks": {}}
                found.append(msgspec.structs.replace(distribution, **fields))
        target = msgspec.structs.replace(self.target, distributions=tuple(found))
        observed = msgspec.structs.replace(self.facts.target, value=target)
        return msgspec.structs.replace(self.facts, target=observed)

    # --- before and after --------------------------------------------------------------------

    def _called(self, *words: str) -> str:
        """A command of envdoctor about the same environment."""
        return shlex.join(["envdoctor", *words, "--python", clean(self.target.python) or "python"])

    def _verify(self, mends: Sequence[Finding]) -> Iterator[str]:
        yield self._called("check")
        mine = [command for finding in mends for command in finding.verify]
        yield from dict.fromkeys(c for c in mine if not c.startswith("envdoctor explain "))

    def _undo(self) -> Iterator[str]:
        """How to take it back; by hand where an index has what was there."""
        yield self._called("repair", "--rollback")


def _arguments(verb: str, words: Sequence[str]) -> Optional[_Command]:
    options: List[str] = []
    items: List[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in _WITH_VALUE and verb == INSTALL and left:
            options += [word, left.pop(0)]
        elif word in _FLAGS and verb == INSTALL:
            options.append(word)
        elif verb == UNINSTALL and word == "-y":
            continue
        elif _REQUIREMENT.fullmatch(word) and "..." not in word:
            items.append(word)
        else:
            return None
    return _Command(verb, tuple(options), tuple(items)) if items else None


def _parts(requirement: str) -> Tuple[str, str]:
    """The canonical name of what is required, and the specifier."""
    match = _REQUIREMENT.fullmatch(requirement)
    return (canonical(match[1]), match[2]) if match else (requirement, "")


def _touched(commands: Sequence[_Command]) -> Set[str]:
    """Names of what commands exchange or take away."""
    return {
        _parts(item)[0] for command in commands if command.kind != REMOVE for item in command.items
    }


def _allows(specifier: str, version: str) -> bool:
    parsed = try_parse(version)
    try:
        return parsed is not None and SpecifierSet(specifier).contains(parsed, prereleases=True)
    except InvalidSpecifier:
        return False


def _is_elsewhere(fix: Fix) -> bool:
    """Whether a fix is of another environment, where nothing is there yet."""
    return bool(fix.changes) and not fix.complete and not any(c.before for c in fix.changes)


def _with_why(change: Moved, why: str) -> Moved:
    return Moved(change.component, change.before, change.after, why)
