"""Headers and names of C++ that releases no longer have; architectures that nvcc does not know."""

from __future__ import annotations

import re
from typing import Iterator, Sequence

from envdoctor.diagnosis.event import Event
from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.schema import typed
from envdoctor.model.interface import pattern_of
from envdoctor.model.versions import try_parse

#: How compilers say that a name is unknown.
_UNKNOWN: Sequence[re.Pattern[str]] = tuple(
    re.compile(pattern)
    for pattern in (
        r"['\u2018\"](?P<name>[\w:]{1,120})['\u2019\"] (?:was not declared|has not been declared)",
        r"identifier \"(?P<name>[\w:]{1,120})\" is undefined",
        r"use of undeclared identifier '(?P<name>[\w:]{1,120})'",
        r"['\u2018](?P<name>[\w:]{1,120})['\u2019]: (?:undeclared identifier|identifier not "
        r"found|is not a member of)",
        r"['\u2018](?P<name>[\w:]{1,120})['\u2019] does not name a type",
        r"unknown type name ['\u2018](?P<name>[\w:]{1,120})",
        r"['\u2018](?P<name>[\w:<>]{1,120})['\u2019] is not a member of ['\u2018](?P<of>[\w:"
        r"]{1,80})",
        r"has no member(?: named)? ['\u2018\"](?P<name>[\w:<>]{1,120})",
    )
)
_TOOLKIT = re.compile(r"cuda-(\d{1,2}\.\d)|CUDA[\\/]v(\d{1,2}\.\d)")
_ARCH = re.compile(r"(?:compute|sm)_(?P<arch>\d{2,3})")
_REFUSED = re.compile(
    r"Unsupported gpu architecture|is not defined for option 'gpu-|Unsupported gpu name"
    r"|Value '(?:sm|compute)_"
)


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """`unknown-name` and `removed` of messages of compilers; `unsupported-arch`."""
    if event.kind == "missing-header":
        yield from _removed(event, event.field("header"), knowledge)
    if event.kind != "diagnostic" or not event.fatal:
        return
    message = event.field("message")
    if _REFUSED.search(message):
        arch = _ARCH.search(message)
        if arch is not None:
            yield _unsupported(event, arch.group("arch"), knowledge)
        return
    for pattern in _UNKNOWN:
        found = pattern.search(message)
        if found is not None:
            name = found.group("name")
            yield event.derived("unknown-name", name=name)
            yield from _removed(event, name, knowledge)
            return


def _removed(event: Event, name: str, knowledge: Knowledge) -> Iterator[Event]:
    """The row of the tables that knows the name as gone."""
    for table in knowledge.tables.values():
        if not table.name.startswith("removed_"):
            continue
        for key, row in table.rows.items():
            if row.get("kind") in ("header", "identifier", "pattern") and _is(str(key), name):
                yield event.derived(
                    "removed",
                    name=name,
                    owner=str(row.get("of") or ""),
                    gone=str(row.get("gone") or ""),
                    instead=str(row.get("instead") or ""),
                    cause=str(row.get("finding") or ""),
                )
                return


def _is(key: str, name: str) -> bool:
    if key.endswith("/"):
        return name.startswith(key)
    return key == name or ("*" in key and pattern_of(key).fullmatch(name) is not None)


def _unsupported(event: Event, arch: str, knowledge: Knowledge) -> Event:
    """Whether nvcc is too old for an architecture, or has dropped it: the message is the same."""
    capability = f"{arch[:-1]}.{arch[-1:]}"
    table = knowledge.tables.get("architecture")
    row = table.texts.get(typed("version", capability), {}) if table is not None else {}
    first, last = row.get("first_cuda", ""), row.get("last_cuda", "")
    here = _TOOLKIT.search(event.text)
    release = try_parse((here.group(1) or here.group(2)) if here else "")
    newest = try_parse(last)
    is_dropped = bool(last) and (release is None or newest is None or release > newest)
    return event.derived(
        "unsupported-arch",
        arch=arch,
        capability=capability,
        reason="dropped" if is_dropped else "too-new",
        first_cuda=first or "?",
        last_cuda=last or "?",
    )
