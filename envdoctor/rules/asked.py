"""Words about what pip would take of requirement files."""

from __future__ import annotations

from typing import Dict, Iterator, List, Sequence, Set, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build
from envdoctor.model.finding import Evidence
from envdoctor.model.text import clean, render
from envdoctor.relations.choice import Choice
from envdoctor.relations.judge import Violation, groups
from envdoctor.relations.tell import label

LANGUAGE = "en"

_WORDS: Dict[str, Dict[str, str]] = {
    "en": {
        "summary": "pip would take {taken}: {summary}",
        "summary_python": "with {python}, pip would take {taken}: {summary}",
        "and": " and ",
        "value": "{asked}; pip would take {taken}",
    },
    "zh": {
        "summary": "pip 会选择 {taken}：{summary}",  # noqa: RUF001
        "summary_python": "使用 {python} 时，pip 会选择 {taken}：{summary}",  # noqa: RUF001
        "and": " 和 ",
        "value": "{asked}；pip 会选择 {taken}",  # noqa: RUF001
    },
}


def asked_summary(
    violation: Violation, choice: Choice, knowledge: Knowledge, summary: str, language: str = ""
) -> str:
    """A summary that says which choice of pip's it is about."""
    words = _WORDS[language or LANGUAGE]
    taken = [f"{name} {one}" for name, one in _taken(violation, choice, knowledge)]
    if not taken:
        return summary
    fields = {
        "taken": words["and"].join(taken),
        "summary": summary,
        "python": str(choice.python or ""),
    }
    template = words["summary_python" if choice.python is not None else "summary"]
    return render(template, fields.__getitem__)


def taken_evidence(
    evidence: Sequence[Evidence], violation: Violation, choice: Choice, knowledge: Knowledge
) -> Tuple[Evidence, ...]:
    """Evidence in which what a line leaves open is told with what pip would take of it."""
    words = _WORDS[LANGUAGE]
    taken = dict(_taken(violation, choice, knowledge))
    told: List[Evidence] = []
    for one in evidence:
        if one.fact in taken and taken[one.fact] != one.value:
            fields = {"asked": one.value, "taken": taken[one.fact]}
            value = render(words["value"], fields.__getitem__)
            told.append(Evidence(one.fact, clean(value), one.origin))
        else:
            told.append(one)
    return tuple(told)


def _taken(violation: Violation, choice: Choice, knowledge: Knowledge) -> Iterator[Tuple[str, str]]:
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
            yield name, _told(build, knowledge)


def _told(build: Build, knowledge: Knowledge) -> str:
    """A build of a release that is given: by its local part, else by where it comes from."""
    told = label(build, knowledge)
    origin = build.attributes.get("origin")
    return f"{told} as sources" if told == build.label and origin == "source" else told
