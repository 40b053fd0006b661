"""Which shared objects of the system `import` of a wheel needs, and which of them are not there."""

from __future__ import annotations

import shlex
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from envdoctor.model.build import Value
from envdoctor.model.facts import Distribution, Library
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import name_of
from envdoctor.rules.requirements import meets
from envdoctor.rules.rule import Context

# Systems by what os-release calls them, and who installs there.
_INSTALLERS = {
    "debian": "apt",
    "ubuntu": "apt",
    "rocky": "dnf",
    "almalinux": "dnf",
    "rhel": "dnf",
    "fedora": "dnf",
    "centos": "dnf",
    "amzn": "dnf",
}
# There the loader of wheels looks where no default of glibc's says.
_ELSEWHERE = ("nixos", "guix")


class Lack(NamedTuple):
    """A distribution whose import fails for want of shared objects."""

    distribution: Distribution
    module: str
    libraries: Tuple[str, ...]
    headless: str  # the package that needs none of them, "" if there is none


def lacks(context: Context) -> Iterator[Lack]:
    """Wheels of the matrices' table `system_needs` of which something is not there."""
    facts = context.facts
    found: Dict[str, Library] = {one.soname: one for one in facts.machine.libraries.value or ()}
    table = context.knowledge.tables.get("system_needs")
    system = (facts.machine.os.value or "").partition(":")[0]
    if not facts.machine.glibc.known or system in _ELSEWHERE or table is None:
        return
    installed = imported(context.target)
    for row in table.rows.values():
        for package in _texts(row.get("packages")):
            distribution = installed.get(package)
            if distribution is None or not _is_wheel(distribution):
                continue
            if not meets(distribution.version, str(row["releases"])):
                continue
            gone = tuple(
                name
                for name in _texts(row.get("libraries"))
                if name in found and not found[name].path
            )
            if gone:
                headless = f"{package}{row['headless']}" if row.get("headless") else ""
                yield Lack(distribution, str(row["module"]), gone, headless)


def _texts(value: Optional[Value]) -> Tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


def _is_wheel(distribution: Distribution) -> bool:
    # PaddlePaddle's wheels on PyPI name the machine that built them; .postN are others
    own = name_of(distribution) == "paddlepaddle-gpu" and "post" not in distribution.version
    tagged = any("-manylinux" in tag or (own and "-linux_" in tag) for tag in distribution.tags)
    return bool(distribution.version) and distribution.installer != "conda" and tagged


def install(context: Context, libraries: Tuple[str, ...]) -> List[str]:
    """The command of this system that brings them; none where it is not known."""
    table = context.knowledge.tables.get("system_package")
    system = (context.facts.machine.os.value or "").partition(":")[0]
    installer = _INSTALLERS.get(system, "")
    rows = [table.rows.get(name) for name in libraries] if table is not None else []
    if not installer or not rows or not all(rows):
        return []
    packages = list(dict.fromkeys(str(row[installer]) for row in rows if row))
    if installer == "apt":
        return ["apt-get update", shlex.join(["apt-get", "install", "-y", *packages])]
    return [shlex.join(["dnf", "install", "-y", *packages])]


def evidence_of(context: Context, libraries: Tuple[str, ...]) -> Tuple[Evidence, ...]:
    """That they were looked for and are not there."""
    origin = context.facts.machine.libraries.origin
    return tuple(Evidence(name, "none", origin) for name in libraries)


def is_opencv(distribution: Distribution) -> bool:
    """Whether a page of its own tells it."""
    return name_of(distribution).startswith("opencv-")
