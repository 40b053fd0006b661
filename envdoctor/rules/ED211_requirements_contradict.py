"""Requirement files ask for versions of a project that exclude each other."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List

from envdoctor.model.facts import AskedLine
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse, try_specifier
from envdoctor.rules.lookup import listed
from envdoctor.rules.requirements import meets
from envdoctor.rules.rule import Context, Fault

_MOST = 40  # clauses of one project that are tried


def examine(context: Context) -> Iterator[Fault]:
    """Report each project for which no version is left."""
    asked = context.target.asked
    grouped: Dict[str, List[AskedLine]] = {}
    for line in asked.lines if asked is not None else ():
        grouped.setdefault(line.name, []).append(line)
    for name, lines in grouped.items():
        stated = [line for line in lines if line.specifier and try_specifier(line.specifier)]
        if stated and not _agree([line.specifier for line in stated]):
            yield Fault(
                component=name,
                fields={
                    "name": name,
                    "lines": listed(f"{line.specifier} ({line.origin})" for line in stated),
                },
                evidence=tuple(Evidence(name, line.specifier, line.origin) for line in stated),
            )


def _agree(specifiers: List[str]) -> bool:
    """Whether some version lies in all of them: a pin, a bound, or just beside one."""
    text = ",".join(specifiers)
    pins = [pin for pin in map(_pin, specifiers) if pin]
    if pins:
        return any(meets(pin, text) is not False for pin in dict.fromkeys(pins[:_MOST]))
    if text.count(",") > _MOST:
        return True  # nobody writes that, and trying all bounds would take long
    bounds = {match.rstrip(".*") for match in re.findall(r"[0-9][^,\s=<>!~]*", text)}
    candidates = [
        candidate
        for bound in sorted(bounds)
        for candidate in (bound, f"{bound}.0.0.1", f"{bound}.99999", *_before(bound))
    ]
    return any(meets(candidate, text) is not False for candidate in ("0", *candidates))


def _pin(specifier: str) -> str:
    match = re.fullmatch(r"\s*===?\s*([^\s,*]+)\s*", specifier)
    return match[1] if match else ""


def _before(bound: str) -> Iterator[str]:
    """A version a little below a bound."""
    version = try_parse(bound)
    if version is not None and any(version.release):
        numbers = list(version.release)
        while numbers and numbers[-1] == 0:
            numbers.pop()
        numbers[-1] -= 1
        yield ".".join(map(str, [*numbers, 99999]))
