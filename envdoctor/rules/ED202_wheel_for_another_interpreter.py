"""A binary wheel is installed that this interpreter cannot load."""

from __future__ import annotations

from typing import Dict, Iterator, List, Tuple

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Relations, judge
from envdoctor.rules.lookup import (
    fix,
    important_first,
    label,
    listed,
    moves_torch,
    name_of,
    on_an_index,
    pip,
    wheel_file,
)
from envdoctor.rules.rule import Context, Fault
from envdoctor.rules.tags import Interpreter, Tag, interpreter_of, serves, tags_of


def examine(context: Context) -> Iterator[Fault]:
    """Report distributions none of whose wheel tags fits, those of one folder and ABI together."""
    target = context.target
    interpreter = interpreter_of(context.facts, target)
    if interpreter is None:
        return
    plain = target.linking.value.plain if target.linking.value is not None else ()
    groups: Dict[Tuple[str, str, bool], List[Tuple[Distribution, Tag]]] = {}
    for distribution in imported(target).values():
        tags = list(tags_of(distribution))
        if not tags or distribution.installer == "conda":
            continue
        if any(serves(tag, interpreter) for tag in tags) or _is_told(distribution, context):
            continue
        if name_of(distribution) in plain and any(_on(tag, interpreter) for tag in tags):
            continue  # its tags name a Python, and nothing in it is for one
        # Without an extension module it may import, and what it brings for another system fail.
        loads = any(tag.abi != "none" for tag in tags)
        key = (distribution.search_entry, tags[0].abi, loads)
        groups.setdefault(key, []).append((distribution, tags[0]))
    for (place, _, loads), found in groups.items():
        tag_of = {name_of(d): tag for d, tag in found}
        first, *others = important_first([d for d, _ in found], context.knowledge)
        commands = []
        can_move = not moves_torch(name_of(first), context.knowledge)
        if not others and can_move and on_an_index(first):
            requirement = f"{first.name}=={first.version}"
            commands.append(pip(target, "install", "--force-reinstall", "--no-deps", requirement))
        yield Fault(
            component=label(first),
            severity="error" if loads else "warning",
            words="several" if others else "",
            fields={
                "distribution": label(first),
                "tag": "-".join(tag_of[name_of(first)]),
                "interpreter": target.soabi or f"{target.implementation} {target.version}",
                "others": listed(label(d) for d in others),
                "folder": place,
            },
            evidence=(
                Evidence("Python", f"{target.version} {target.soabi}".rstrip(), target.python),
                *(Evidence(label(d), d.tags[0], wheel_file(d)) for d, _ in found),
            ),
            fixes=fix(*commands),
        )


def _is_told(distribution: Distribution, context: Context) -> bool:
    """Whether a relation says it of what requirement files ask for, with a change."""
    name = name_of(distribution)
    if context.target.asked is None or name not in context.knowledge.packages:
        return False
    observed = context.observed
    found = judge(Relations(context.knowledge), name, observed.domains, observed.accelerator)
    breaches = (breach for violation in found.violations for breach in violation.breaches)
    return any(breach.bound.finding == "python-version-unsupported" for breach in breaches)


def _on(tag: Tag, interpreter: Interpreter) -> bool:
    """Whether a tag's platform is that of the interpreter."""
    return serves(tag._replace(python="py3", abi="none"), interpreter)
