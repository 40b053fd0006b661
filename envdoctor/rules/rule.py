"""What a rule is given and what it yields.

A rule is a module `ED123_name.py` with one function

    def examine(context: Context) -> Iterator[Fault]

(or of `Fault` and `Undecided`) and the page `ED123_name.md` beside it, which holds its name,
severity, phase, the facts without which it is skipped, and its words. It reads facts only: no file,
no process, no variable of the machine that envdoctor itself runs on.
"""

from __future__ import annotations

from typing import Dict, Optional, Tuple

import msgspec

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Facts, Target
from envdoctor.model.finding import Evidence, Fix
from envdoctor.model.language import ENGLISH
from envdoctor.relations.observe import Observation
from envdoctor.relations.plan import Goal
from envdoctor.relations.sources import SourceBuild


class Context(msgspec.Struct, frozen=True):
    """What a rule may look at."""

    facts: Facts
    knowledge: Knowledge
    observed: Observation  # the facts as builds of components
    language: str = ENGLISH  # for words that join what fills a field
    sources: Tuple[SourceBuild, ...] = ()  # the builds from source that are due
    commands: Tuple[str, ...] = ()  # those that the other findings propose; for their own rules

    @property
    def target(self) -> Target:
        """The environment under examination; for rules whose page names the fact `target`."""
        target = self.facts.target.value
        if target is None:
            raise LookupError("the rule reads the target but its page does not name that fact")
        return target


class Fault(msgspec.Struct, frozen=True):
    """One breach of a rule.

    `goal` is what a plan is to reach, whose fix then takes the place of the page's. `fields` fill
    the templates of the page: `summary`, `why` and, for each fix, `fix`. `words` picks templates
    other than those, for a rule that says two things: "login" takes `summary_login`, `why_login`.
    `severity` overrides the page's. `about` names what tells it from another fault of the rule in
    the same component, beside the distributions of its evidence.
    """

    component: str
    evidence: Tuple[Evidence, ...]
    fields: Dict[str, str] = {}
    words: str = ""
    severity: Optional[str] = None
    fixes: Tuple[Fix, ...] = ()
    goal: Optional[Goal] = None
    verify: Tuple[str, ...] = ()
    about: Tuple[str, ...] = ()


class Undecided(msgspec.Struct, frozen=True):
    """What a rule could not decide, though its facts are known, and the reason: it is skipped."""

    reason: str
