"""What PyPI calls apex is a web toolkit; NVIDIA's comes from its repository."""

from __future__ import annotations

from typing import Iterator, List, Set, Tuple

from envdoctor.model.facts import AskedLine
from envdoctor.model.finding import Evidence, Fix
from envdoctor.model.language import say
from envdoctor.model.text import clean
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import evidence, fix, label
from envdoctor.rules.requirements import parse
from envdoctor.rules.rule import Context, Fault

_NAME, _TORCH = "apex", "torch"
#: What PyPI's project requires, and NVIDIA's does not.
_ITS_OWN = frozenset({"pyramid", "velruse", "wtforms"})
_SOURCES = "apex @ git+https://github.com/NVIDIA/apex"
#: Where somebody may keep NVIDIA's under its name.
_TOLD_BY = ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE")


def examine(context: Context) -> Iterator[Fault]:
    """Report it beside torch, installed or asked for."""
    distributions = imported(context.target)
    if _TORCH not in distributions:
        return
    asked = context.target.asked
    if asked is not None:
        lines = _lines(asked.lines)
        told = any(context.target.environ.get(name) for name in _TOLD_BY)
        wanted = distributions.get(_NAME)
        if lines and not asked.indexes and not told and not (wanted and wanted.direct_url):
            yield Fault(
                component=_NAME,
                words="asked",
                fields={},
                evidence=tuple(
                    Evidence(_NAME, one.specifier or "any", one.origin) for one in lines
                ),
                fixes=(
                    Fix(say(context.language, "; ").join(_told(context, one) for one in lines)),
                ),
            )
        return
    apex = distributions.get(_NAME)
    if apex is None or not _required(apex.requires) & _ITS_OWN:
        return
    yield Fault(
        component=label(apex),
        fields={"apex": label(apex)},
        evidence=(evidence(apex),),
        fixes=fix(),
    )


def _lines(lines: Tuple[AskedLine, ...]) -> List[AskedLine]:
    return [one for one in lines if one.name == _NAME and one.installer == "pip"]


def _told(context: Context, line: AskedLine) -> str:
    template = "{line}: {text} -> {changed}"
    text = clean(line.text)
    return say(context.language, template, line=line.origin, text=text, changed=_SOURCES)


def _required(texts: Tuple[str, ...]) -> Set[str]:
    return {requirement.name for requirement in map(parse, texts) if requirement is not None}
