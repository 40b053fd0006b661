"""Words about what pip would take of requirement files."""

from __future__ import annotations

from typing import Dict, Iterator, List, Sequence, Set, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build
from envdoctor.model.finding import Evidence
from envdoctor.model.language import say
from envdoctor.model.text import clean
from envdoctor.relations.choice import Choice
from envdoctor.relations.judge import Violation, groups
from envdoctor.relations.tell import label


def asked_summary(
    language: str, violation: Violation, choice: Choice, knowledge: Knowledge, summary: str
) -> str:
    """A summary that says which choice of pip's it is about."""
    chosen = [f"{name} {one}" for name, one in _taken(language, violation, choice, knowledge)]
    if not chosen:
        return summary
    taken = clean(say(language, " and ").join(chosen))
    if choice.python is None:
        template = "pip would take {taken}: {summary}"
        return say(language, template, taken=taken, summary=clean(summary))
    template = "with {python}, pip would take {taken}: {summary}"
    python = clean(str(choice.python))
    return say(language, template, python=python, taken=taken, summary=clean(summary))


def taken_evidence(
    language: str,
    evidence: Sequence[Evidence],
    violation: Violation,
    choice: Choice,
    knowledge: Knowledge,
) -> Tuple[Evidence, ...]:
    """Evidence in which what a line leaves open is told with what pip would take of it."""
    taken = dict(_taken(language, violation, choice, knowledge))
    told: List[Evidence] = []
    for one in evidence:
        if one.fact in taken and taken[one.fact] != one.value:
            value = say(
                language,
                "{asked}; pip would take {taken}",
                asked=clean(one.value),
                taken=clean(taken[one.fact]),
            )
            told.append(Evidence(one.fact, clean(value), one.origin))
        else:
            told.append(one)
    return tuple(told)


def _taken(
    language: str, violation: Violation, choice: Choice, knowledge: Knowledge
) -> Iterator[Tuple[str, str]]:
    """The packages that a violation is about and of which pip has a choice, with that choice.

    Where only the build is open, and not the release, it is told if the violation depends on it.
    """
    read: Dict[str, Set[str]] = {}
    for breach in violation.breaches:
        for component, attributes in breach.bound.reads.items():
            module = component.partition("module.")[2]
            name = violation.component if component == "self" else component
            for one in knowledge.providers.get(module, ()) if module else (name,):
                read.setdefault(one, set()).update(attributes)
    for name, used in read.items():
        build = choice.taken.get(name)
        if build is None:
            continue
        builds = [b for b in choice.possible[name] if isinstance(b, Build)]
        if len({b.version for b in builds}) > 1:
            yield name, build.label
        elif len(groups(builds, sorted(used))) > 1:
            yield name, _told(language, build, knowledge)


def _told(language: str, build: Build, knowledge: Knowledge) -> str:
    """A build of a release that is given: by its local part, else by where it comes from."""
    told = label(build, knowledge)
    origin = build.attributes.get("origin")
    if told == build.label and origin == "source":
        return say(language, "{release} as sources", release=told)
    return told
