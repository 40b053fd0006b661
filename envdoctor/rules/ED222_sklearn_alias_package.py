"""Requirements that name sklearn, which is the module of scikit-learn and no project."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence, Fix
from envdoctor.model.language import say
from envdoctor.model.text import clean
from envdoctor.rules.rule import Context, Fault

_ALIAS, _PROJECT = "sklearn", "scikit-learn"
#: The release that did no more than require scikit-learn; those after it refuse to be installed.
_HARMLESS = ("==0.0", "==0")
_ALLOWED = "SKLEARN_ALLOW_DEPRECATED_SKLEARN_PACKAGE_INSTALL"


def examine(context: Context) -> Iterator[Fault]:
    """Report lines that make pip take a release which ends its own installation."""
    asked = context.target.asked
    lines = [one for one in (asked.lines if asked is not None else ()) if one.name == _ALIAS]
    lines = [one for one in lines if one.installer == "pip" and one.specifier not in _HARMLESS]
    if not lines or context.target.environ.get(_ALLOWED, "").lower() == "true":
        return
    template = "{line}: {text} -> {changed}"
    told = [
        say(context.language, template, line=one.origin, text=clean(one.text), changed=_PROJECT)
        for one in lines
    ]
    yield Fault(
        component=_ALIAS,
        fields={},
        evidence=tuple(Evidence(_ALIAS, one.specifier or "any", one.origin) for one in lines),
        fixes=(Fix(say(context.language, "; ").join(told)),),
    )
