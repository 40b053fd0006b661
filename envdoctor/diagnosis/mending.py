"""What mends a cause: ways out of its file, and changes that the matrices find.

Printed, never run. Nothing of a log comes into a command that is not a plain name or version.
"""

from __future__ import annotations

import re
import shlex
from typing import Callable, Dict, Iterator, List, Optional, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.nearest import nearest
from envdoctor.knowledge.failures import Cure, Failure
from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Facts
from envdoctor.model.finding import Finding, Fix
from envdoctor.model.language import say
from envdoctor.model.names import canonical
from envdoctor.model.resolution import Member
from envdoctor.model.text import fields as names_in
from envdoctor.model.text import render

#: What may come from a log into a command: names, versions, paths without anything special.
_PLAIN = re.compile(r"\w[\w.+/-]{0,120}", re.ASCII)
_MOST = 4


class Mending:
    """Finds fixes. `facts` looks for the environment when the first fix is asked for."""

    def __init__(
        self, facts: Callable[[], Optional[Facts]], knowledge: Knowledge, language: str
    ) -> None:
        self._look = facts
        self._facts: Optional[Facts] = None
        self._knowledge = knowledge
        self._language = language
        self._looked = False
        self._found: Optional[List[Finding]] = None
        self._nearest: Dict[str, Optional[Member]] = {}

    def component(self, event: Event) -> str:
        """Whose fault it is, "mmcv-full 1.4.0"; "" where the log does not say it."""
        name = event.field("distribution")
        return render("{distribution} {version}", event.field).strip() if name else ""

    def fixes(self, failure: Failure, event: Event) -> Tuple[Fix, ...]:
        """The ways out, computed ones first."""
        found = [
            *self._computed(failure, event),
            *self._replaced(event),
            *self._written(failure, event),
        ]
        return tuple(dict.fromkeys(found))[:_MOST]

    def verify(self, failure: Failure, event: Event) -> Tuple[str, ...]:
        """Commands that show whether it is mended."""
        filled = (self._filled(command, event) for command in failure.verify)
        return tuple(command for command in filled if command is not None)

    def _written(self, failure: Failure, event: Event) -> Iterator[Fix]:
        for cure in failure.fixes:
            if not _is_for(cure, event):
                continue
            commands = [self._filled(command, event) for command in cure.commands]
            words = cure.words.get(self._language) or cure.words["en"]
            known = tuple(command for command in commands if command is not None)
            # of some commands the rest would be another way out
            yield Fix(render(words, event.field), known if len(known) == len(commands) else ())

    def _filled(self, command: str, event: Event) -> Optional[str]:
        """A command with the fields of an event; None if one is missing or not plain."""
        values: Dict[str, str] = {name: event.field(name) for name in names_in(command)}
        if not all(_PLAIN.fullmatch(value) for value in values.values()):
            return None
        return render(command, lambda name: shlex.quote(values[name]))

    def _computed(self, failure: Failure, event: Event) -> Iterator[Fix]:
        """Fixes of what `check` finds under the same name."""
        about = {canonical(event.field(name)) for name in ("distribution", "component", "by")} - {
            ""
        }
        for finding in self._findings():
            if finding.name != failure.cause:
                continue
            if about and canonical(finding.component.partition(" ")[0]) not in about:
                continue
            yield from finding.fixes

    def _replaced(self, event: Event) -> Iterator[Fix]:
        """Another build of the distribution that failed, where one fits what else is there."""
        name = canonical(event.field("distribution") or event.field("package"))
        if name not in self._knowledge.packages or self._environment is None:
            return
        if name not in self._nearest:
            self._nearest[name] = nearest(name, self._environment, self._knowledge)
        member = self._nearest[name]
        if member is None:
            return
        told = "{package} {version} fits what is here, and a wheel of it exists"
        yield Fix(
            say(self._language, told, package=member.component, version=member.version),
            (" ".join(["python -m pip install", *map(shlex.quote, member.arguments)]),),
        )

    @property
    def _environment(self) -> Optional[Facts]:
        """The environment that changes are computed for; None where nothing tells of it."""
        if not self._looked:
            self._looked = True
            self._facts = self._look()
        return self._facts

    def _findings(self) -> List[Finding]:
        if self._found is None:
            from envdoctor.rules.check import check

            facts = self._environment
            report = check(facts, self._knowledge, self._language) if facts else None
            self._found = list(report.findings) if report else []
        return self._found


def _is_for(cure: Cure, event: Event) -> bool:
    return all(re.search(pattern, event.field(name)) for name, pattern in cure.where.items())
