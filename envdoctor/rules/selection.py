"""Which findings are told: those that are selected, less those that are ignored."""

from __future__ import annotations

import difflib
import re
from typing import Dict, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

import msgspec

from envdoctor.model.finding import Finding, Identity, Report
from envdoctor.model.text import clean
from envdoctor.rules.page import Page

_PREFIX = re.compile(r"ED\d{0,3}", re.IGNORECASE | re.ASCII)
#: Words of a component that say which build it is, or how many more there are.
_VERSION = re.compile(r"v?\d|\(\+\d")


class SelectionError(ValueError):
    """No finding is called so; the message names the nearest."""


class Selection(NamedTuple):
    """Codes, or the beginnings of codes. What is ignored is left out of what is selected."""

    select: Tuple[str, ...] = ()  # empty: all
    ignore: Tuple[str, ...] = ()

    def takes(self, code: str) -> bool:
        """Whether findings of a code are told; what has no code of a finding always is."""
        if not code.startswith("ED"):
            return True
        return code.startswith(self.select or "ED") and not code.startswith(self.ignore or "-")


def codes(texts: Iterable[str], pages: Dict[str, Page]) -> Tuple[str, ...]:
    """The codes, or the beginnings of codes, of texts such as "ED203,ED4" and "numpy2-abi".

    Raises SelectionError for a text that names nothing.
    """
    named = {page.name: page.code for page in pages.values()}
    return tuple(dict.fromkeys(_code(word, named) for text in texts for word in _words(text)))


def _words(text: str) -> List[str]:
    words = [word.strip() for word in text.split(",")]
    if not any(words):
        raise SelectionError("a code or a name of findings is expected, and nothing was given")
    return [word for word in words if word]


def _code(word: str, named: Dict[str, str]) -> str:
    code = word.upper()
    if _PREFIX.fullmatch(code) and any(known.startswith(code) for known in named.values()):
        return code
    if word.lower() in named:
        return named[word.lower()]
    near = nearest(word, named)
    hint = f"nearest: {', '.join(near)}" if near else "list them: envdoctor check --list-rules"
    raise SelectionError(f"no finding is called {clean(word)!r}; {hint}")


def nearest(word: str, named: Dict[str, str]) -> List[str]:
    """The names and codes of findings that resemble a word, the nearest first."""
    known = [*named, *(code.lower() for code in named.values())]
    near = difflib.get_close_matches(word.lower(), known)
    return [one if one in named else one.upper() for one in near]


def selected(report: Report, selection: Selection, pages: Dict[str, Page]) -> Report:
    """The report without what is not selected; what was found of it is listed as ignored."""
    if selection == Selection():
        return report
    left_out = {page.name for page in pages.values() if not selection.takes(page.code)}
    return msgspec.structs.replace(
        report,
        findings=tuple(f for f in report.findings if selection.takes(f.code)),
        ignored=tuple(identity(f) for f in report.findings if not selection.takes(f.code)),
        ruled_out=tuple(name for name in report.ruled_out if name not in left_out),
        skipped=tuple(s for s in report.skipped if selection.takes(s.code)),
    )


def identity(finding: Finding) -> Identity:
    """What a finding is known by from one check to the next."""
    return Identity(
        code=finding.code,
        name=finding.name,
        component=_unversioned(finding.component),
        relation=finding.relation.id if finding.relation is not None else "",
        about=tuple(sorted(set(finding.about))),
        severity=finding.severity,
    )


def _unversioned(component: str) -> str:
    """What a component is called in all versions: "CUDA toolkit" of "CUDA toolkit 12.0"."""
    first, *rest = component.split(" ")
    return " ".join([first, *(word for word in rest if not _VERSION.match(word))])


def counted(identities: Sequence[Identity]) -> Iterator[Tuple[str, int]]:
    """Each code among them, in order, with how often it is there."""
    found = [one.code for one in identities]
    for code in sorted(set(found)):
        yield code, found.count(code)
