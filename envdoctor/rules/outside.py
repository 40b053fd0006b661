"""What folders outside of the environment cause: told once, with the fix that cures it.

pip installs into the environment. What an entry of PYTHONPATH or the user site puts before it, pip
neither removes nor replaces.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Callable, List, Sequence

import msgspec

from envdoctor.model.facts import Facts, Target
from envdoctor.model.finding import SEVERITIES, Evidence, Finding, Fix
from envdoctor.model.language import say, translate
from envdoctor.model.text import clean
from envdoctor.relations.environment import (
    imported,
    inside,
    is_same_folder,
    outside,
    place_outside,
    pythonpath,
)
from envdoctor.rules.lookup import is_tree, label, listed, off_the_path
from envdoctor.rules.rule import Fault

SHADOW = "user-site-shadows-env"
_OWN_WORDS = (SHADOW, "duplicate-distribution")  # whose fixes are of the folder itself
_MISSING = "python-module-missing"  # whose commands add to the environment, where that is right
_TRIED = 3  # entries
_SITES = ("site-packages", "dist-packages")

replace = msgspec.structs.replace


def of_place(finding: Finding, fault: Fault, target: Target, language: str) -> Finding:
    """A rule's finding; of a distribution outside of the environment it says so, and no pip."""
    if finding.name in _OWN_WORDS or fault.goal is not None or target.asked is not None:
        return finding
    if finding.name == _MISSING and any(fix.commands for fix in finding.fixes):
        return finding
    for distribution in imported(target).values():
        if label(distribution) == fault.component:
            place = outside(target, distribution)
            if place:
                where = translate(language, place)
                cure = say(
                    language, "take {place} off the search path, or mend it there", place=where
                )
                said = say(
                    language,
                    "{summary}; it comes from {place}",
                    summary=finding.summary,
                    place=where,
                )
                return replace(finding, summary=clean(said), fixes=(Fix(clean(cure)),))
    return finding


def by_cause(
    findings: Sequence[Finding],
    facts: Facts,
    examine: Callable[[Facts], List[Finding]],
    language: str,
) -> List[Finding]:
    """The findings; those that an entry of the search path causes are in the finding about it.

    An entry is their cause if all is well without it: nothing new is wrong then, and nothing is
    missing. What is left is told as it is without the entry, so that no fix counts on it. Where
    the entry shadows nothing they stay, and errors are given the fix.
    """
    target = facts.target.value
    if target is None or target.asked is not None or not _grave(findings):
        return list(findings)
    for entry in _entries(target)[:_TRIED]:
        other = _without(target, entry)
        if target.torch is not None and "torch" not in imported(other) and not other.torch:
            continue
        left = examine(replace(facts, target=replace(facts.target, value=other)))
        kept = {_key(finding) for finding in left}
        gone = [finding for finding in findings if _key(finding) not in kept]
        shadow = next((f for f in gone if f.name == SHADOW), None)
        caused = [f for f in _grave(gone) if f is not shadow]
        is_worse = bool({_key(f) for f in _grave(left)} - {_key(f) for f in _grave(findings)})
        if is_worse or not caused:
            continue
        if shadow is None and PurePosixPath(entry).name in _SITES and _is_filled(target, entry):
            cure = say(
                language,
                "take {place} off the search path: without it this is gone",
                place=translate(language, place_outside(target, entry)),
            )
            fixes = (Fix(clean(cure), tuple(off_the_path(target, entry))),)
            cured = [replace(f, fixes=fixes) if f.severity == "error" else f for f in caused]
        elif shadow is not None and (_is_filled(target, entry) or shadow.severity == "error"):
            cured = [_with(shadow, caused, entry, language)]
        else:
            continue
        facts = replace(facts, target=replace(facts.target, value=other))
        return [*cured, *by_cause(left, facts, examine, language)]
    return list(findings)


def _entries(target: Target) -> List[str]:
    """Entries of the path that are outside of the environment, first those that shadow."""
    entries = [d.shadowed_by for d in target.distributions if d.shadowed_by]
    entries += [d.search_entry for d in imported(target).values() if not d.editable]
    return [entry for entry in dict.fromkeys(entries) if place_outside(target, entry)]


def _is_filled(target: Target, entry: str) -> bool:
    """Whether an entry has what was installed there: no source tree, which is there on purpose."""
    there = [d for d in target.distributions if d.search_entry == entry]
    return any(not is_tree(d) and not d.editable for d in there)


def _grave(findings: Sequence[Finding]) -> List[Finding]:
    return [finding for finding in findings if finding.severity != "info"]


def _key(finding: Finding) -> str:
    """What a finding is about, whichever version it is told of."""
    return f"{finding.code} {finding.component.partition(' ')[0]}"


def _with(shadow: Finding, caused: Sequence[Finding], entry: str, language: str) -> Finding:
    """The finding about an entry, as grave as what it causes, with that as evidence."""
    names = listed(f"{f.code} {f.component}" for f in caused)
    why = say(
        language,
        "{why}; without that folder there would be no {findings}",
        why=shadow.why,
        findings=translate(language, names),
    )
    return replace(
        shadow,
        severity=max([shadow, *caused], key=lambda f: SEVERITIES.index(f.severity)).severity,
        why=clean(why),
        about=tuple(
            sorted({*shadow.about, *(f"{f.code} {f.component.split(' ')[0]}" for f in caused)})
        ),
        evidence=(
            *shadow.evidence[:2],
            *(Evidence(f"{f.code} {f.component}:", f.summary, entry) for f in caused),
            *shadow.evidence[2:],
        ),
    )


def _without(target: Target, entry: str) -> Target:
    """The environment as it would be if an entry were not on its search path."""
    rest = [d for d in target.distributions if d.search_entry != entry]
    torch = target.torch
    kept = ":".join(one for one in pythonpath(target) if not is_same_folder(entry, one))
    return replace(
        target,
        path=tuple(one for one in target.path if one != entry),
        environ={**target.environ, "PYTHONPATH": kept},
        distributions=tuple(
            # what was read of its files was read of the other's
            replace(d, shadowed_by="", stray="", limits=None, built="", checks={})
            if d.shadowed_by == entry
            else d
            for d in rest
        ),
        modules={m: place for m, place in target.modules.items() if not inside(place, entry)},
        standard={m: place for m, place in target.standard.items() if not inside(place, entry)},
        torch=None if torch is not None and inside(torch.path, entry) else torch,
    )
