"""What requirement files ask for as domains: the builds that an installation of them may bring."""

from __future__ import annotations

import re
from typing import Dict, List, Sequence, Tuple
from urllib.parse import unquote, urlsplit

import msgspec
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.facts import Asked, Distribution, Facts, Target
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import cuda_tag, parse, satisfies, try_specifier
from envdoctor.relations.components import PYTHON
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Domain
from envdoctor.relations.observe import (
    Observation,
    candidates,
    channel_of,
    observe,
    set_modules,
)

_URL = re.compile(r"https?://\S+")
_SERIES = re.compile(r"torch\d{1,2}\.\d{1,3}")
_FIELD = re.compile(r"\{([\w.]+)\}")


def observe_asked(facts: Facts, target: Target, asked: Asked, knowledge: Knowledge) -> Observation:
    """What requirement files ask for as domains.

    What is pinned is as if it were installed; of the rest, the releases that are known and allowed
    are possible. What no file names may come along with something else.
    """
    pinned = tuple(d for d in target.distributions if d.version)
    named = msgspec.structs.replace(
        facts,
        target=msgspec.structs.replace(
            facts.target, value=msgspec.structs.replace(target, distributions=pinned)
        ),
    )
    observed = observe(named, knowledge)
    domains, evidence = dict(observed.domains), dict(observed.evidence)
    if not target.version:
        domains[PYTHON] = _interpreters(asked, knowledge)
        if asked.python:
            evidence[PYTHON] = Evidence("Python", asked.python, asked.python_origin)
    elif asked.python_origin and not facts.target.assumed:
        evidence[PYTHON] = Evidence("Python", target.version, asked.python_origin)
    if not asked.complete:
        for name in knowledge.packages:
            if domains[name] == (ABSENT,):
                domains[name] = (Unknown("the requirement files do not name it"),)
    origins = dict(observed.origins)
    for name, distribution in imported(target).items():
        package = knowledge.packages.get(name)
        if package is None:
            continue
        if distribution.version:
            domains[name] = of_url(domains[name], distribution.direct_url)
            continue
        domains[name] = _open(package, distribution, asked, facts)
        origins[name] = "conda" if distribution.installer == "conda" else ""
        evidence[name] = Evidence(name, distribution.specifier or "any", distribution.path)
    set_modules(domains, knowledge)
    return observed._replace(domains=domains, evidence=evidence, origins=origins)


def _open(package: Package, wanted: Distribution, asked: Asked, facts: Facts) -> Domain:
    """The builds that a requirement leaves open, the oldest first."""
    if wanted.direct_url:
        return (Unknown(f"{wanted.path} does not say which release of {wanted.name} that is"),)
    attributes: Dict[str, Value] = {}
    if "origin" in package.variant and wanted.installer == "conda":
        attributes["origin"] = "conda"
        if facts.target.value is not None and "channel" in package.variant:
            attributes.update(channel_of(package.name, facts.target.value))
    if "architecture" in package.variant and facts.machine.architecture.value:
        attributes["architecture"] = facts.machine.architecture.value
    # Pre-releases as pip has it: where they are asked for, or where there is nothing else.
    previews = True if asked.previews else None
    allowed = try_specifier(wanted.specifier)
    releases = allowed.filter(package.releases, prereleases=previews) if allowed is not None else ()
    found = [
        build
        for version in sorted(releases)
        for build in candidates(package, str(version), attributes, wanted.path)
    ]
    none = f"no release of {wanted.name} that is known fits {wanted.specifier}"
    return tuple(found) or (Unknown(none),)


def _interpreters(asked: Asked, knowledge: Knowledge) -> Domain:
    """The interpreters that the files allow."""
    if not asked.python:
        return (Unknown("the requirement files do not say for which Python"),)
    found = [
        one
        for one in every_interpreter(knowledge)
        if try_specifier(asked.python) is not None and _is_allowed(one, asked.python)
    ]
    return tuple(found) or (Unknown(f"no Python that is known fits {asked.python}"),)


def every_interpreter(knowledge: Knowledge) -> List[Build]:
    """The series of Python that the matrices know, the oldest first."""
    table = knowledge.tables.get("python")
    rows = table.rows if table is not None else {}
    found = [
        Build(PYTHON, version, {"tag": row.get("tag", Unknown("tag"))})
        for version, row in rows.items()
        if isinstance(version, Version)
    ]
    return sorted(found, key=lambda build: build.version or parse("0"))


def _is_allowed(interpreter: Build, wanted: str) -> bool:
    """Whether a specifier allows a series: its first release or a late one."""
    return any(
        satisfies(parse(f"{interpreter.version}{end}"), wanted) for end in ("", ".1", ".8", ".30")
    )


# --- where builds come from -----------------------------------------------------------------


def page(build: Build) -> Tuple[str, ...]:
    """What tells the page or index of a build from others: the last parts of its path.

    Mirrors have these parts as well, on hosts of their own.
    """
    template = build.attributes.get("install")
    url = _URL.search(template) if isinstance(template, str) else None
    if url is None:
        return ()
    parts = segments(url[0])
    named = [n for n, part in enumerate(parts) if "{" in part]
    tail = parts[named[0] if named else len(parts) - 1 :]
    return tuple(_FIELD.sub(lambda match: _field(build, match[1]), part) for part in tail)


def _field(build: Build, field: str) -> str:
    name, _, form = field.partition(".")
    if name in ("name", "version"):
        return build.component if name == "name" else str(build.version)
    value = build.attributes.get(name)
    return cuda_tag(value) if form == "tag" and isinstance(value, Version) else str(value)


def segments(url: str) -> Tuple[str, ...]:
    """The parts of the path of a URL, without a final index.html.

    OpenMMLab serves the pages of a series of torch under both names, torch1.12 and torch1.12.0.
    """
    try:
        parts = [unquote(part) for part in urlsplit(url).path.split("/") if part]
        parts = [f"{part}.0" if _SERIES.fullmatch(part) else part for part in parts]
    except ValueError:
        return ()
    return tuple(parts[:-1] if parts and parts[-1] == "index.html" else parts)


def is_on(build: Build, parts: Sequence[str]) -> bool:
    """Whether a build is published on the page or index with this path."""
    tail = page(build)
    return bool(tail) and tuple(parts[-len(tail) :]) == tail


def of_url(domain: Tuple[Value, ...], url: str) -> Tuple[Value, ...]:
    """Of the builds that a wheel at a URL may be, those that are published in its folder."""
    if not url.partition("#")[0].endswith(".whl"):
        return domain
    folder = segments(url)[:-1]
    found = tuple(b for b in domain if isinstance(b, Build) and is_on(b, folder))
    return found or domain
