"""A pin with a local tag, like +cu111, without the index or page that alone has such builds."""

from __future__ import annotations

from typing import Iterator, Tuple

from envdoctor.model.build import Build
from envdoctor.model.facts import Asked, AskedLine, Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import local_part
from envdoctor.relations.asked import is_on, segments
from envdoctor.relations.environment import imported
from envdoctor.relations.plan import requirement_arguments
from envdoctor.rules.index_lines import lasting, page_line, place_of
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault

#: With what pip is told of indexes and pages outside of the files.
_TOLD_BY = ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE")


def examine(context: Context) -> Iterator[Fault]:
    """Report pins that PyPI does not have, where the files name nothing that could."""
    target = context.target
    asked = target.asked
    if asked is None or any(target.environ.get(name) for name in _TOLD_BY):
        return
    for name, wanted in imported(target).items():
        if not local_part(wanted.version) or wanted.direct_url or wanted.installer == "conda":
            continue
        line = next((one for one in asked.lines if one.origin == wanted.path), None)
        if line is None or line.locked or _may_be_found(context, name, asked):
            continue
        yield _fault(context, name, wanted, line, asked)


def _builds(context: Context, name: str) -> Tuple[Build, ...]:
    return tuple(b for b in context.observed.domains.get(name, ()) if isinstance(b, Build))


def _may_be_found(context: Context, name: str, asked: Asked) -> bool:
    """Whether some index that the files name has such builds, or is not known at all."""
    builds = _builds(context, name)
    if not any(requirement_arguments(build) for build in builds):
        return True  # where its builds are is not known
    for url in asked.indexes:
        parts = segments(url)
        plain = not parts or parts[-1] in ("simple", "pypi")
        others = [b for n in context.knowledge.packages for b in _builds(context, n)]
        known = plain or any(is_on(build, parts) for build in others)
        if not known or any(is_on(build, parts) for build in builds):
            return True
    return False


def _fault(
    context: Context, name: str, wanted: Distribution, line: AskedLine, asked: Asked
) -> Fault:
    told = next(filter(None, map(requirement_arguments, _builds(context, name))), "")
    option = lasting(told.partition(" ")[2])
    page = page_line(context.language, place_of(asked, line.origin), option, [name])
    return Fault(
        component=f"{name} {wanted.version}",
        fields={"pin": f"{name}=={wanted.version}", "page": page},
        evidence=(Evidence(name, wanted.version, line.origin),),
        fixes=fix(),
    )
