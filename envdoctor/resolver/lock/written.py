"""What may stand in a lock. Names, versions and URLs come from files and indexes of strangers.

Installers give some characters a meaning of their own: a line break ends a requirement, "${NAME}"
is the value of a variable, a dash begins an option. So each part is parsed, and what is not what it
ought to be is refused rather than quoted.
"""

from __future__ import annotations

import re
from typing import Dict, NamedTuple, Tuple
from urllib.parse import unquote, urlsplit, urlunsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envdoctor.model.names import canonical
from envdoctor.model.text import clean

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
# RFC 3986, less what shells and requirement files may take for something else.
_URL = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!&()*+,;=%-]+", re.ASCII)
_SCHEMES = ("https", "http", "file")
_REPOSITORIES = ("git+https", "git+http", "git+ssh", "git+file")
# What pip verifies, see hashlib.algorithms_guaranteed.
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
_LONGEST = 2000
_SHOWN = 100


class File(NamedTuple):
    """A file of a lock: its name, as the others name it, and what is in it."""

    name: str
    text: str


class LockError(Exception):
    """A stack cannot be written in a form; the message says why, and what can be done."""


def checked_name(text: str) -> str:
    """A project's name in its canonical form. Raises LockError for text that is none."""
    if len(text) > _LONGEST or not _NAME.fullmatch(text):
        raise LockError(f"{_shown(text)} is not the name of a package")
    return canonical(text)


def checked_version(text: str) -> str:
    """A version. Raises LockError for text that is none."""
    try:
        return str(Version(text))
    except InvalidVersion:
        raise LockError(f"{_shown(text)} is not a version that an installer reads") from None


def checked_specifier(text: str) -> str:
    """A set of versions, sorted. Raises LockError for text that is none."""
    try:
        return ",".join(sorted(str(one) for one in SpecifierSet(text)))
    except InvalidSpecifier:
        raise LockError(f"{_shown(text)} does not say which versions are meant") from None


def checked_url(text: str, repositories: bool = False) -> str:
    """A URL of a file, a page or an index, without who logs in.

    Raises LockError for text that is no such URL, or that refers to variables.
    """
    schemes = (*_SCHEMES, *_REPOSITORIES) if repositories else _SCHEMES
    if len(text) <= _LONGEST and _URL.fullmatch(text):
        try:
            parts = urlsplit(text)
            host = parts.hostname or ""
            known = parts.scheme in schemes and bool(host or parts.scheme.endswith("file"))
        except ValueError:
            known = False
        if known:
            place = parts.netloc.rpartition("@")[2]
            if parts.scheme == "git+ssh" and parts.username:
                place = f"{parts.username}@{place}"
            return urlunsplit(parts._replace(netloc=place))
    raise LockError(f"{_shown(text)} is not a URL that a lock can name")


def checked_hashes(hashes: Dict[str, str]) -> Tuple[str, ...]:
    """Hashes as "sha256:...", those that installers verify, sorted. Raises LockError."""
    found = []
    for algorithm, digest in hashes.items():
        if algorithm.lower() not in _DIGITS:
            continue
        if not re.fullmatch(f"[0-9a-f]{{{_DIGITS[algorithm.lower()]}}}", digest.lower(), re.ASCII):
            raise LockError(f"{_shown(digest)} is not a hash")
        found.append(f"{algorithm.lower()}:{digest.lower()}")
    return tuple(sorted(found))


def checked_path(text: str) -> str:
    """A folder of sources. Raises LockError for one that no line of a file can name."""
    plain = text.isprintable() and text == text.strip() and "${" not in text
    if not text or not plain or len(text) > _LONGEST or text.startswith("-") or "://" in text:
        raise LockError(f"{_shown(text)} is not a folder that a lock can name")
    return text


def checked_requirement(text: str) -> Requirement:
    """A requirement of users, as PEP 508 has it. Raises LockError for any other text."""
    try:
        found = Requirement(text)
    except InvalidRequirement:
        found = None
    if found is None or len(text) > _LONGEST or not text.isprintable() or "${" in text:
        raise LockError(f"{_shown(text)} is not a requirement that a lock can repeat")
    if found.url is not None:
        found.url = checked_url(found.url, repositories=True)
    return found


def file_name(url: str) -> str:
    """The name of the file that a URL leads to: "torch-1.9.1+cu111-cp38-...whl"."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def told(text: str) -> str:
    """Text for a comment: one line without characters that end it or join it to the next."""
    return clean(text).rstrip("\\ ")


def _shown(text: str) -> str:
    return repr(clean(text, _SHOWN))
