"""Reads what uv and pip say: the packages that they chose, or why they found none."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from packaging.utils import canonicalize_name

from envdoctor.actions.index import File, Platform, best, read_name
from envdoctor.actions.web import shown
from envdoctor.facts.files import FileError, toml
from envdoctor.model.resolution import Artefact
from envdoctor.model.text import clean

_LONGEST = 1500
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"

# --- uv -------------------------------------------------------------------------------------

_UV_NONE = "No solution found when resolving dependencies"
_UV_LACKS = re.compile(
    rf"(?P<name>{_NAME})(?P<version>[=<>!~][^ ]*)? (?:has|have) no (?:usable |pre-built )?wheels"
)
_UV_HINT = re.compile(rf"Wheels are required for `(?P<name>{_NAME})`")
_UV_NETWORK = re.compile(
    r"Failed to fetch|Failed to download|error sending request|dns error|Request failed|timed out"
)
_UV_BUILD = re.compile(rf"Failed to build `?(?P<name>{_NAME})")
# What a terminal shows reasons in.
_FRAME = re.compile(r"^(?:[\u00d7\u2500-\u257f\u25b6: ]|error: |cause: )+")


class Refusal(NamedTuple):
    """Why an installer has no answer.

    `kind` is conflict (what is asked for contradicts itself), network, build (of sources, which is
    not done here) or other. `lacking` are packages of which it found no wheel that fits.
    """

    kind: str
    text: str
    lacking: Tuple[str, ...] = ()


def of_uv(err: str) -> Refusal:
    """What uv says where it finds nothing."""
    lines = [line for line in err.splitlines() if not line.lstrip().startswith("warning:")]
    text = "\n".join(lines)
    if _UV_NONE in text:
        said, _, hints = text.partition("\nhint:")
        reasons = said.partition(_UV_NONE)[2]
        lacking = [match["name"] for match in _UV_LACKS.finditer(" ".join(reasons.split()))]
        lacking += [match["name"] for match in _UV_HINT.finditer(hints)]
        names = tuple(dict.fromkeys(map(canonicalize_name, lacking)))
        return Refusal("conflict", _sentence(reasons), names)
    kind = "network" if _UV_NETWORK.search(text) else "other"
    kind = "build" if _UV_BUILD.search(text) else kind
    return Refusal(kind, _sentence(text))


def _sentence(text: str) -> str:
    """Reasons without the frame that a terminal shows them in, on one line."""
    lines = [line for line in text.splitlines() if line.strip()]
    plain = [_FRAME.sub("", line) for line in lines]
    return clean(" ".join(plain), _LONGEST)


def pylock(text: str, platform: Platform) -> Tuple[Artefact, ...]:
    """The packages of a pylock.toml (PEP 751), by name. Raises ValueError for what is none."""
    try:
        packages = toml(text, "pylock.toml").get("packages")
    except FileError as error:
        raise ValueError(str(error)) from None
    if packages is not None and not isinstance(packages, list):
        raise ValueError("packages is no list")
    found = [_locked(entry, platform) for entry in packages or () if isinstance(entry, dict)]
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.package))


def _locked(entry: Dict[str, Any], platform: Platform) -> Optional[Artefact]:
    name, version = entry.get("name"), entry.get("version")
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    wheels: List[Tuple[File, Dict[str, Any]]] = []
    for said in entry.get("wheels") or ():
        address = _address(said)
        file = read_name(str(said.get("name") or "") or address.rpartition("/")[2])
        if file is not None:
            wheels.append((file._replace(url=address), said))
    chosen = best([file for file, _ in wheels], platform)
    sdist = entry.get("sdist")
    index = str(entry.get("index") or "")
    said = next((said for file, said in wheels if file is chosen), None)
    if said is None and isinstance(sdist, dict):
        said = sdist
    if said is None:
        said = wheels[0][1] if wheels else {}
    hashes = said.get("hashes")
    return Artefact(
        package=canonicalize_name(name),
        version=version,
        url=_address(said),
        hashes={str(k): str(v) for k, v in hashes.items()} if isinstance(hashes, dict) else {},
        index=shown(index) if index else "",
        sdist=said is sdist,
    )


def _address(said: Dict[str, Any]) -> str:
    return str(said.get("url") or said.get("path") or "")


# --- pip ------------------------------------------------------------------------------------

_PIP_NONE = re.compile(
    rf"Could not find a version that satisfies the requirement (?P<name>{_NAME})(?P<rest>[^\n]*)"
)
_PIP_CONFLICT = "The conflict is caused by:"
_PIP_CANNOT = re.compile(r"ERROR: (Cannot install [^\n]+)")
_PIP_PYTHON = re.compile(r"requires a different Python|Package '[^']+' requires a different")
_PIP_NETWORK = re.compile(
    r"connection broken|Could not fetch URL|NewConnectionError|ConnectTimeout|ReadTimeout"
    r"|Max retries exceeded|Temporary failure in name resolution|SSLError|HTTPError|ProxyError"
)
_LISTED = re.compile(r"\(from versions: ([^)]*)\)")


def of_pip(out: str, err: str) -> Refusal:
    """What pip says where it finds nothing."""
    said = f"{out}\n{err}"
    cannot = _PIP_CANNOT.search(said)
    if cannot:
        reasons = [cannot[1]]
        _, found, rest = said.partition(_PIP_CONFLICT)
        if found:
            block = rest.split("\n\n")[0].splitlines()
            reasons += [line.strip() for line in block if line.strip()]
        return Refusal("conflict", clean("; ".join(reasons), _LONGEST))
    none = _PIP_NONE.search(said)
    if none and not (_PIP_NETWORK.search(said) and "(from versions: none)" in none["rest"]):
        name = canonicalize_name(none["name"])
        text = _LISTED.sub("", f"no version satisfies {none['name']}{none['rest']}")
        return Refusal("conflict", clean(text, _LONGEST), (name,))
    if _PIP_PYTHON.search(said):
        line = next(line for line in said.splitlines() if "requires a different" in line)
        return Refusal("conflict", clean(line.replace("ERROR: ", ""), _LONGEST))
    kind = "network" if _PIP_NETWORK.search(said) else "other"
    lines = [line for line in said.splitlines() if line.startswith("ERROR:")] or said.splitlines()
    return Refusal(kind, clean(" ".join(lines[-3:]).replace("ERROR: ", ""), _LONGEST))


def report(text: str) -> Tuple[Artefact, ...]:
    """The packages of pip's installation report, by name. Raises ValueError for what is none."""
    try:
        entries = json.loads(text)["install"]
        found = [_installed(entry) for entry in entries]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no report: {error}") from None
    return tuple(sorted(found, key=lambda one: one.package))


def _installed(entry: Dict[str, Any]) -> Artefact:
    download, metadata = entry["download_info"], entry["metadata"]
    archive = download.get("archive_info") or {}
    hashes = archive.get("hashes") or {}
    if not hashes and "=" in str(archive.get("hash", "")):
        kind, _, value = str(archive["hash"]).partition("=")
        hashes = {kind: value}
    url = str(download.get("url", ""))
    return Artefact(
        package=canonicalize_name(str(metadata["name"])),
        version=str(metadata["version"]),
        url=url,
        hashes={str(k): str(v) for k, v in hashes.items()},
        sdist=not url.partition("#")[0].endswith(".whl"),
    )


def names_in(text: str) -> Tuple[str, ...]:
    """The words of a reason that may be names of packages, canonical."""
    found = re.findall(rf"(?<![\w.=<>!~-]){_NAME}(?=[\s=<>!~,.;:\[`)]|$)", text)
    return tuple(dict.fromkeys(map(canonicalize_name, found)))
