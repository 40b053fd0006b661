"""A plan of repair as a fix: what is exchanged, in words, and the commands that do it."""

from __future__ import annotations

import functools
import shlex
from typing import Callable, Dict, Iterator, List, Optional, Sequence

import msgspec

from envdoctor.model.facts import Distribution, Facts
from envdoctor.model.finding import Fix, Moved
from envdoctor.model.language import count, say, translate
from envdoctor.model.text import clean
from envdoctor.relations.environment import imported
from envdoctor.relations.plan import Change, Goal, Plan, requirement_arguments
from envdoctor.relations.repair import Repairs, linked, plans
from envdoctor.relations.tell import label
from envdoctor.rules.lookup import installer
from envdoctor.rules.requirements import parse

_LISTED = 6
_APART = "apart"  # the folder of an environment of its own, in commands


def fixes(
    language: str,
    goals: Sequence[Goal],
    names: Sequence[str],
    repairs: Repairs,
    tell: Callable[[Plan], Fix],
) -> List[Optional[Fix]]:
    """For each goal the change that reaches it, None where none was found.

    All together they are one set: changes are the same, commands and all, or of other packages.
    `names` are what the findings with these goals are called, `tell` puts a plan into words.
    """
    found: Dict[int, Fix] = {}
    for plan, (first, *more) in plans(repairs, goals):
        fix = found[first] = tell(plan)
        mended = "mended by the change of {finding}: {change}"
        said = clean(say(language, mended, finding=names[first], change=fix.summary))
        found.update((number, msgspec.structs.replace(fix, summary=said)) for number in more)
    return [found.get(n) for n in range(len(goals))]


def not_found(language: str, repairs: Repairs, goal: Goal) -> Optional[Fix]:
    """That there is no such change; None where the page has words of its own for it."""
    if goal.no_cpu and not repairs.stays(goal.component):
        return None
    return no_fix(language, repairs, repairs.concerned(goal))


def elsewhere(language: str, repairs: Repairs, goal: Goal, facts: Facts) -> Optional[Fix]:
    """What another environment would have, where what stays keeps this one from being mended."""
    found = repairs.elsewhere(goal)
    if found is None:
        return None
    free, plan = found
    told = [f"{c.after.component} {label(c.after, repairs.knowledge)}" for c in plan]
    said = say(
        language,
        "leave this environment as it is, and make one of its own with {packages}",
        packages=say(language, ", ").join(told),
    )
    # "" of what is there: it is another environment's
    fresh = tuple(Change(None, change.after) for change in plan)
    changes = tuple(moved(change, free, text) for change, text in zip(fresh, told))
    made = shlex.join([interpreter(facts), "-m", "venv", _APART])
    installed = _commands(fresh, free, lambda *words: [f"{_APART}/bin/python", "-m", "pip", *words])
    return Fix(clean(said), (made, *installed), changes, complete=False)


def plan_fix(language: str, plan: Plan, repairs: Repairs, facts: Facts) -> Fix:
    """The fix that carries out a plan. The commands are pip's: conda's part is told in words."""
    said = [_told(language, change, plan, repairs) for change in plan]
    again = others_compiled(plan, repairs, facts)
    if again:
        listed = say(language, ", ").join(again[:_LISTED])
        if len(again) > _LISTED:
            more = len(again) - _LISTED
            listed = say(language, "{names} and {number} more", names=listed, number=more)
        compiled = "then again, as compiled for the old one: {names}"
        said.append(say(language, compiled, names=listed))
    head = count(language, len(plan), "{number} package: ", "{number} packages: ")
    told = clean(say(language, "; ").join(said))
    complete = not again and not any(
        change.compiled_again or _of_conda(change, repairs) for change in plan
    )
    changes = tuple(moved(change, repairs, why) for change, why in zip(plan, said))
    call = functools.partial(installer, facts.target.value)
    return Fix(head + told, tuple(_commands(plan, repairs, call)), changes, complete)


def moved(change: Change, repairs: Repairs, why: str) -> Moved:
    """A change as a record. One of another package of the same module names both."""
    after, before = change.after, change.before
    came = label(after, repairs.knowledge)
    left = before.label if before is not None else ""
    return Moved(
        after.component, f"{change.removed} {left}" if change.removed else left, came, clean(why)
    )


def no_fix(language: str, repairs: Repairs, names: Sequence[str]) -> Fix:
    """That nothing was found, and what of `names` was not to be exchanged."""
    said = say(
        language,
        "none found: exchanging one package, with those that depend on it, does not mend this",
    )
    why = [
        say(
            language,
            "{package} is {build}",
            package=repairs.installed[name],
            build=translate(language, repairs.stays(name)),
        )
        for name in names
        if repairs.stays(name)
    ]
    if why:
        said += say(language, "; {reasons}, and stays", reasons=say(language, " and ").join(why))
    return Fix(clean(said))


def _told(language: str, change: Change, plan: Plan, repairs: Repairs) -> str:
    new = label(change.after, repairs.knowledge)
    if repairs.is_likely(change.after) and not change.compiled_again:
        new += say(language, " (a wheel is likely, none was seen)")
    if change.before is None:
        package = f"{change.after.component} {new}"
        return say(language, "install {package}", package=package)
    if change.removed:
        return f"{change.before} -> {change.after.component} {new}"
    cause = _for(change, plan, repairs)
    if change.compiled_again:
        again = "compile {package} again for {cause}" if cause else "compile {package} again"
        return say(language, again, package=change.before, cause=cause)
    if change.before.label == new:
        again = "{package} again for {cause}" if cause else "{package} again"
        return say(language, again, package=change.before, cause=cause)
    conda = _of_conda(change, repairs)
    return f"{change.before} -> {new}" + (
        say(language, " (with conda, which installed it)") if conda else ""
    )


def _for(change: Change, plan: Plan, repairs: Repairs) -> str:
    """For which of the packages that came with it a package is installed again."""
    required = repairs.knowledge.packages[change.after.component].requires
    for other in plan:
        if other.after.component in required:
            return f"{other.after.component} {label(other.after, repairs.knowledge)}"
    return ""


def _of_conda(change: Change, repairs: Repairs) -> bool:
    return (
        change.before is not None
        and repairs.observation.origins.get(change.before.component) == "conda"
    )


def _commands(plan: Plan, repairs: Repairs, call: Callable[..., List[str]]) -> Iterator[str]:
    """Uninstalling first, then one command for each set of options, required packages first.

    `call` makes words that call the installer.
    """
    mine = [c for c in plan if not c.compiled_again and not _of_conda(c, repairs)]
    gone = [change.removed for change in mine if change.removed]
    # pip would find the requirement met by the other build of the same release
    met = [c for c in mine if _is_met(c)]
    if any(not repairs.knowledge.packages[c.after.component].requires for c in met):
        gone += [c.after.component for c in met]  # what these need is another's, too
        met = []
    groups: Dict[str, List[str]] = {}
    for change in _required_first(mine, repairs):
        requirement, _, options = (requirement_arguments(change.after) or "").partition(" ")
        if change in met:
            options = f"--force-reinstall --no-deps {options}".rstrip()
        group = groups.setdefault(options, [])
        if requirement not in group:  # as it is where two packages make way for it
            group.append(requirement)
    if gone:
        yield shlex.join(call("uninstall", "-y", *gone))
    for options, requirements in groups.items():
        yield " ".join([shlex.join(call("install")), *requirements, options]).rstrip()


def _is_met(change: Change) -> bool:
    """Whether pip would take what is there for what is wanted."""
    requirement = (requirement_arguments(change.after) or "").partition(" ")[0]
    return (
        change.before is not None
        and not change.removed
        and change.before.version == change.after.version
        and "+" not in requirement
    )


def _required_first(changes: Sequence[Change], repairs: Repairs) -> List[Change]:
    ordered: List[Change] = []

    def put(change: Change) -> None:
        if change in ordered:
            return
        for required in repairs.knowledge.packages[change.after.component].requires:
            for other in changes:
                if other.after.component == required:
                    put(other)
        ordered.append(change)

    for change in changes:
        put(change)
    return ordered


def others_compiled(plan: Plan, repairs: Repairs, facts: Facts) -> List[str]:
    """Distributions that the matrices do not know and that were compiled for what moves."""
    moved = [
        change.after.component
        for change in plan
        if change.before is not None
        and not change.compiled_again
        and "abi" in repairs.knowledge.packages[change.after.component].variant
        and not repairs.knowledge.packages[change.after.component].requires
        and linked(change.before) != linked(change.after)
    ]
    target = facts.target.value
    if not moved or target is None:
        return []
    return sorted(
        f"{distribution.name} {distribution.version}"
        for name, distribution in imported(target).items()
        if name not in repairs.knowledge.packages and _is_compiled_for(moved, name, distribution)
    )


def _is_compiled_for(moved: Sequence[str], name: str, distribution: Distribution) -> bool:
    pure = not distribution.tags or all(tag.endswith("-any") for tag in distribution.tags)
    required = [parse(text) for text in distribution.requires]
    names = [requirement.name for requirement in required if requirement is not None]
    return not pure and any(one in names or name.startswith(f"{one}-") for one in moved)


def interpreter(facts: Facts) -> str:
    """The examined interpreter as a command calls it."""
    target = facts.target.value
    return clean(target.python) if target is not None and target.python else "python"
