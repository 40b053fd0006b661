"""Stacks as `pylock.toml`, the lock file that PEP 751 specifies.

Each distribution stands there with the address and a hash of its file: both are required, and are
known only where an index was asked. What is not known is not made up: the error names it. Nor has
the format words for an order of installation, for builds that look at what is installed, and for
patches, so a stack that needs them is refused as a whole; half of it would install without them.
"""

from __future__ import annotations

import re
from typing import Dict, List, Sequence, Set, Tuple, Union
from urllib.parse import unquote, urlsplit

from envdoctor.model.resolution import Artefact, Resolution
from envdoctor.resolver.lock.heading import commented, heading
from envdoctor.resolver.lock.steps import (
    BUILD,
    Installation,
    Package,
    installation,
)
from envdoctor.resolver.lock.written import (
    LockError,
    checked_hashes,
    checked_name,
    checked_path,
    checked_url,
    file_name,
)

#: What tools look for, and what they take as its name where there are several.
FILE_NAME = "pylock.toml"
_FILE_NAMES = re.compile(r"pylock\.([^.]+\.)?toml")
_VERSION = "1.0"
_TOOL = "envdoctor"
_MOST_NAMED = 5
# Platform tags end with the processor, as markers call it: manylinux_2_17_x86_64.
_PROCESSORS = ("x86_64", "aarch64")
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)

Value = Union[str, bool, Sequence[str], Dict[str, str]]


def is_file_name(name: str) -> bool:
    """Whether installers take a file of that name for a lock, see the specification."""
    return bool(_FILE_NAMES.fullmatch(name))


def pylock(resolution: Resolution) -> str:
    """The text of the file.

    Raises LockError where there is no stack, and for what the format cannot say.
    """
    plan = installation(resolution)
    _refuse(plan)
    found = {checked_name(artefact.package): artefact for artefact in resolution.tree}
    packages = sorted(plan.packages)
    if resolution.left:
        names = _some([one.package for one in resolution.left])
        raise LockError(
            f"pylock.toml names every distribution, and not all is known of {names}:"
            f" {resolution.left[0].reason}. --lock requirements does without"
        )
    _refuse_unknown(plan, packages, found)
    lines = [*commented(heading(resolution, plan)), ""]
    lines += _pairs({"lock-version": _VERSION, **_environment(plan, packages, found)})
    lines += _pairs({"created-by": _TOOL})
    for package in packages:
        lines += _package(package, found[package.name])
    lines += ["", f"[tool.{_TOOL}]"]
    lines += _pairs(
        {
            "version": resolution.envdoctor_version,
            "matrices": resolution.matrices_date,
            "asked": list(resolution.asked),
            "machine": list(resolution.machine),
        }
    )
    return "\n".join(lines) + "\n"


def _refuse(plan: Installation) -> None:
    """Raise LockError for what only steps can say."""
    built = [
        package.label for step in plan.steps if step.kind == BUILD for package in step.packages
    ]
    if built:
        raise LockError(
            f"pylock.toml cannot say how {_some(built)} is built: after what it is compiled"
            " against, and in the same environment. --lock requirements and --lock script can"
        )
    trees = [package.tree for package in plan.packages if package.tree]
    if trees:
        raise LockError(
            f"pylock.toml cannot hold {_some(trees)}, whose dependencies no index states:"
            " --lock requirements and --lock script can"
        )


def _refuse_unknown(
    plan: Installation, packages: Sequence[Package], found: Dict[str, Artefact]
) -> None:
    """Raise LockError for what has no file whose hash is known."""
    if not plan.complete:
        raise LockError(
            "pylock.toml needs the file and the hash of every distribution, and no index was asked"
            " for them: allow the network, or use --lock requirements"
        )
    unknown = [
        package.label
        for package in packages
        if not package.hashes or package.name not in found or not found[package.name].url
    ]
    if unknown:
        raise LockError(
            f"pylock.toml needs the file and the hash of every distribution, and none is known of"
            f" {_some(unknown)}: its index was not asked or gave none. --lock requirements does"
            " without"
        )


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    said = ", ".join(names[:_MOST_NAMED])
    return f"{said} and {more} more" if more > 0 else said


def _environment(
    plan: Installation, packages: Sequence[Package], found: Dict[str, Artefact]
) -> Dict[str, Value]:
    """For which interpreters the lock is: files were chosen for one Python on one machine."""
    markers = ["sys_platform == 'linux'"]
    processors = _processors([_name_of(found[package.name].url) for package in packages])
    if len(processors) == 1:
        markers.append(f"platform_machine == '{processors.pop()}'")
    said: Dict[str, Value] = {}
    if plan.python:
        markers += ["implementation_name == 'cpython'", f"python_version == '{plan.python}'"]
        said["requires-python"] = f"=={plan.python}.*"
    return {"environments": [" and ".join(markers)], **said}


def _processors(names: Sequence[str]) -> Set[str]:
    """The processors that wheels are for; none where all run on any."""
    return {one for name in names for one in _PROCESSORS if name.endswith(f"{one}.whl")}


def _package(package: Package, artefact: Artefact) -> List[str]:
    """The entry of one distribution: its one file, which is the one that was resolved."""
    lines = ["", "[[packages]]"]
    said: Dict[str, Value] = {"name": package.name, "version": package.version}
    if package.marker:
        said["marker"] = package.marker
    if package.source:
        said["index"] = package.source
    lines += _pairs(said)
    place = _place(artefact.url)
    hashes = dict(_split(one) for one in checked_hashes(artefact.hashes))
    lines.append("[packages.sdist]" if artefact.sdist else "[[packages.wheels]]")
    return lines + _pairs({"name": _name_of(artefact.url), **place, "hashes": hashes})


def _place(address: str) -> Dict[str, Value]:
    """Where a file is. What lies on this machine is named by its path, as networks have URLs."""
    if address.startswith("/"):
        return {"path": checked_path(address)}
    url = checked_url(address).partition("#")[0]
    if url.startswith("file:"):
        return {"path": checked_path(unquote(urlsplit(url).path))}
    return {"url": url}


def _name_of(address: str) -> str:
    return address.rpartition("/")[2] if address.startswith("/") else file_name(address)


def _split(one: str) -> Tuple[str, str]:
    algorithm, _, digest = one.partition(":")
    return algorithm, digest


def _pairs(values: Dict[str, Value]) -> List[str]:
    """Keys and values of a table of TOML, in their order."""
    return [f"{_key(key)} = {_value(value)}" for key, value in values.items()]


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_text(text)}" for key, text in value.items())
        return f"{{{inner}}}"
    return f"[{', '.join(_text(text) for text in value)}]"


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else _text(text)


def _text(text: str) -> str:
    """A basic string of TOML."""
    return '"' + "".join(_ESCAPES.get(c) or _character(c) for c in text) + '"'


def _character(character: str) -> str:
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:  # half a character, which no UTF-8 has
        return "\\uFFFD"
    return f"\\u{code:04X}" if code < 0x20 or code == 0x7F else character


__all__ = ["FILE_NAME", "LockError", "is_file_name", "pylock"]
