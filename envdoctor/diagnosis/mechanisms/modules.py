"""Modules and names that Python does not find: whose they are, which distribution brings them."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.knowledge.load import Knowledge

_MODULE = re.compile(r"No module named [`'\"]{0,2}([\w.]{1,200})")
_NAME = re.compile(
    r"cannot import name ['\"]?(\w{1,200})['\"]? from "
    r"(?:partially initialized module )?['\"]?([\w.]{1,200})"
)
_BACKEND = re.compile(r"Cannot import ['\"]([\w.]{1,200})['\"]")
_KINDS = ("exception", "warning")
_SITE = re.compile(r"(?:site|dist)-packages[\\/](\w+)")
#: Folders in which installers build, and what they run there.
_BUILD = re.compile(
    r"pip-build-env-|pip-install-|pip-req-build-|pip-ephem|pip-wheel-|<pip-setuptools-caller>|<pip-egg-info"
    r"|pip[\\/]_vendor[\\/]p(?:ep517|yproject_hooks)|[\\/]\.tmp\w{6}|builds-v\d|sdists-v\d|build_meta\.py|pyproject_hooks"
)
_SETUP = re.compile(r"(?:^|[\\/])setup\.py$")
_PHASES = ("metadata", "build", "build-requirements")
#: Where an installer has begun, what is run of a file without a name is a setup.py.
_EARLIER, _UNNAMED = ("resolve", "download"), ("", "<string>", "setup.py")
#: A command that was installed, and the package it belongs to.
_COMMAND = re.compile(
    r"[\\/](?:bin|Scripts)[\\/]([\w-]{1,60})(?:\.exe[\\/]__main__\.py|-script\.py|)$"
)
#: Tables of matrices/platform.
_GONE, _BROUGHT = "removed_python_modules", "module"


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """`missing-module` and `missing-name` of messages."""
    if event.kind not in _KINDS:
        return
    told = event.fields.get("message") or event.text
    for match in _MODULE.finditer(told):
        yield _missing(event, match.group(1).rstrip("."), knowledge)
    if event.field("exception") == "BackendUnavailable":
        for match in _BACKEND.finditer(told):
            yield _missing(event, match.group(1), knowledge)
    for match in _NAME.finditer(told):
        yield event.derived("missing-name", name=match.group(1), owner=match.group(2))


def _missing(event: Event, name: str, knowledge: Knowledge) -> Event:
    provider, of = _whose(event, name, knowledge)
    return event.derived(
        "missing-module", name=name, provider=provider, of=of, during=_during(event)
    )


def _whose(event: Event, name: str, knowledge: Knowledge) -> Tuple[str, str]:
    """The distribution that brings a module, and whose it is."""
    top = name.partition(".")[0]
    command = _COMMAND.search(event.field("file"))
    if command and command.group(1).replace("-", "_") == top:
        return brings(top, knowledge), "command"
    if knowledge.tables[_GONE].rows.get(top) and top not in knowledge.providers:
        return "", "standard"
    for known in (name, top):
        provider = brings(known, knowledge)
        if provider:
            # Python names the part that is missing: what stands before the dot is there
            return provider, "dependency" if known == name or "." not in name else "part"
    if "." in name:
        return "", "part" if _module(event) else "project"
    return "", "dependency" if _module(event) not in ("", top) else "project"


def brings(module: str, knowledge: Knowledge) -> str:
    """The distribution that brings a module, of several the plainest; "" if none is known."""
    providers = knowledge.providers.get(module, ())
    if providers:
        # those for one device or purpose have longer names
        return min(providers, key=lambda name: (len(name), name))
    row = knowledge.tables[_BROUGHT].rows.get(module)
    return str(row["distribution"]) if row else ""


def _module(event: Event) -> str:
    """The package whose code imported it; "" for code of the project."""
    site = _SITE.search(event.field("file"))
    found = event.field("module") or (site.group(1) if site else "")
    # what installers and build backends run on behalf of a setup.py is theirs in name only
    return "" if found in ("pip", "setuptools", "pkg_resources") else found


def _during(event: Event) -> str:
    """During what: isolated (a build environment of its own), build (another), setup, or ""."""
    if event.field("isolated"):
        return "isolated"
    if event.field("phase") in _PHASES:
        return "build"
    if event.field("phase") in _EARLIER and event.field("file") in _UNNAMED:
        return "build"
    places = (
        f"{event.field('file')}\n{event.field('script')}\n{event.field('frames')}\n{event.text}"
    )
    if _BUILD.search(places):
        return "build"
    return (
        "setup"
        if _SETUP.search(event.field("file")) or _SETUP.search(event.field("script"))
        else ""
    )
