"""Why an index offers no release that was asked for: this Python, or a tag of another page."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Optional, Tuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.mechanisms.modules import brings
from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.published import SDIST
from envdoctor.model.versions import try_parse

_PIN = re.compile(r"={2,3}\s?([\w.!+]{1,60})$")
_TAG = re.compile(r"\+([\w.]{1,40})")
_IGNORED = re.compile(r"([\w.!+]{1,60}) Requires-Python ([^;]{1,100})")
_MOST = 600


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """`unoffered` of `no-version`, with the reason where one can be told."""
    if event.kind != "no-version":
        return
    name, required = event.field("component"), event.field("required")
    reason, needs = event.field("reason"), ""
    if not reason:
        reason, needs = _reason(event, name, required, knowledge)
    pin = _PIN.match(required)
    yield event.derived(
        "unoffered",
        reason=reason,
        needs=needs,
        wanted=f"{name}{required}",
        local=pin.group(1).partition("+")[2] if pin else "",
        plain=pin.group(1).partition("+")[0] if pin else "",
    )


def _reason(event: Event, name: str, required: str, knowledge: Knowledge) -> Tuple[str, str]:
    offered = _versions(event.field("offered"))
    pin = _PIN.match(required)
    pinned = try_parse(pin.group(1)) if pin else None
    if pin is not None and "+" in pin.group(1):
        # versions are compared without their tags here
        # a page of one tag may be another one's, a page of many has this one's, too
        tags = {text.strip() for text in _TAG.findall(event.field("offered"))}
        is_there = pin.group(1).partition("+")[2] in tags or len(tags) > 1
        return ("python" if is_there and pinned not in offered else "local", "")
    for text, needs in _ignored(event.field("ignored")).items():
        version = try_parse(text)
        if version is not None and _fits(version, required) and not _any_fits(offered, required):
            return "python", needs.strip()
    if _any_fits(offered, required):
        return "", ""
    if _has_source(name, required, knowledge):
        return "", ""
    if event.field("offered") == "none":
        return ("none-known" if _is_known(name, knowledge) else "", "")
    if pinned is None:
        return "", ""
    package = knowledge.packages.get(name)
    if package is not None and package.releases:
        is_release = any(version == pinned for version in package.releases)
        return ("python" if is_release and offered else "listed" if is_release else "", "")
    if offered and pinned < min(offered):
        return "older", ""
    return ("dev", "") if pinned.is_devrelease else ("", "")


def _is_known(name: str, knowledge: Knowledge) -> bool:
    return name in knowledge.packages or bool(brings(name.replace("-", "_"), knowledge))


def _has_source(name: str, required: str, knowledge: Knowledge) -> bool:
    """Whether every Python is offered one: that none is, must lie at the index then."""
    package = knowledge.packages.get(name)
    published = package.pypi if package is not None else None
    return published is not None and any(
        not published.stated(version).get("requires_python")
        and any(True for _ in published.wheels(version, SDIST))
        for version in published.releases
        if _fits(version, required)
    )


def _versions(text: str) -> List[Version]:
    found = (try_parse(part.strip()) for part in text.split(",")[:_MOST])
    return [version for version in found if version is not None]


def _ignored(text: str) -> Dict[str, str]:
    return {found.group(1): found.group(2) for found in _IGNORED.finditer(text)}


def _specifiers(required: str) -> Optional[SpecifierSet]:
    try:
        return SpecifierSet(required)
    except InvalidSpecifier:
        return None


def _fits(version: Version, required: str) -> bool:
    specifiers = _specifiers(required)
    return specifiers is not None and specifiers.contains(version, prereleases=bool(required))


def _any_fits(versions: List[Version], required: str) -> bool:
    return any(_fits(version, required) for version in versions)
