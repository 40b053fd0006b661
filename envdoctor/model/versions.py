"""Versions as the relations compare them.

Python distributions, drivers, toolkits and C libraries all fit PEP 440's grammar, so one type
serves them. Two rules go beyond PEP 440:

* a vendor's or a source build (`2.4.0a0+07cecf4168.nv24.05`, `2.3.0a0+git1234`) is compared by its
  release number: it is that release with patches, not a pre-release before it;
* the local part (`+cu111`) never takes part in a comparison: it is an attribute of the build.
"""

from __future__ import annotations

import functools
import re
from typing import Iterable, Optional, Sequence, Tuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

_ARCHITECTURE = re.compile(r"([1-9][0-9]?\.[0-9])([af]?)")

# More digits than a version has, and some thousand than Python reads.
_HUGE = re.compile(r"\d{19}")


class WrittenVersion(Version):
    """A version that is told as it was written: driver 450.80.02, not 450.80.2."""

    def __init__(self, text: str) -> None:
        """Raise InvalidVersion for text that is no version."""
        super().__init__(text)
        self.text = text.strip()

    def __str__(self) -> str:
        return self.text


class Architecture(Version):
    """A target of the CUDA compiler: 9.0, and what is for that device alone or for its family.

    "9.0a" runs on 9.0 and on no other device, "10.0f" on those of its family. They are other
    targets than 9.0 and 10.0, and come after them.
    """

    def __init__(self, text: str) -> None:
        """Raise ValueError for text that is no such target."""
        match = _ARCHITECTURE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not an architecture of GPU code")
        super().__init__(f"{match[1]}+{match[2]}" if match[2] else match[1])
        self.text = text
        self.suffix: str = match[2]

    def __str__(self) -> str:
        return self.text


@functools.lru_cache(maxsize=None)
def architecture(text: str) -> Architecture:
    """The target of text such as "9.0" and "9.0a". Raises ValueError for any other."""
    return Architecture(text)


@functools.lru_cache(maxsize=None)
def parse(text: str) -> Version:
    """The version, as it is compared.

    Raises ValueError for text that is no version.
    """
    try:
        version = Version(text)
    except InvalidVersion:
        raise ValueError(f"{text!r} is not a version") from None
    if version.local is None:
        return WrittenVersion(text)
    return WrittenVersion(version.base_version if version.is_prerelease else version.public)


def try_parse(text: str) -> Optional[Version]:
    """The version as it is compared, or None for text that is no version."""
    try:
        return parse(text)
    except ValueError:
        return None


def is_development(text: str) -> bool:
    """Whether a version is one of a day's or a commit's build, 2.8.0.dev20250324+cu128.

    What such a build has of the release that it comes before, its number does not say.
    """
    try:
        return Version(text).is_devrelease
    except InvalidVersion:
        return False


def local_part(text: str) -> str:
    """The local part of a version, "cu111" of "1.9.1+cu111"; empty if there is none."""
    return text.partition("+")[2]


def series(version: Version) -> Version:
    """Major and minor, 1.9 of 1.9.1."""
    return parse(f"{version.major}.{version.minor}")


@functools.lru_cache(maxsize=None)
def specifier(text: str) -> SpecifierSet:
    """A specifier set.

    Raises packaging's InvalidSpecifier (a ValueError) for text that is none, and for numbers of so
    many digits that Python refuses to read them.
    """
    if _HUGE.search(text):
        raise InvalidSpecifier(f"Invalid specifier: {text[:40]!r}")
    return SpecifierSet(text)


def try_specifier(text: str) -> Optional[SpecifierSet]:
    """A specifier set, or None for text that is none."""
    try:
        return specifier(text)
    except ValueError:
        return None


@functools.lru_cache(maxsize=None)
def satisfies(version: Version, text: str) -> bool:
    """Whether a version lies in a specifier set; pre-releases are judged by order alone."""
    return specifier(text).contains(version, prereleases=True)


def compute_capability(text: str) -> str:
    """A compute capability as "9.0", from "9.0", "sm_90", "sm90", "90" or "compute_90".

    Raises ValueError for anything else (architecture-specific "90a" included: no device has it).
    """
    digits = text
    for prefix in ("sm_", "sm", "compute_"):
        if text.startswith(prefix):
            digits = text[len(prefix) :]
            break
    major, dot, minor = digits.partition(".")
    if not dot:
        major, minor = digits[:-1], digits[-1:]
    if not (major.isdigit() and minor.isdigit() and major.isascii() and minor.isascii()):
        raise ValueError(f"{text!r} is not a compute capability")
    return f"{int(major)}.{int(minor)}"


def sm(capability: Version) -> str:
    """The architecture's name, "sm_90" of 9.0, "sm_90a" of 9.0a."""
    suffix = capability.suffix if isinstance(capability, Architecture) else ""
    return f"sm_{capability.major}{capability.minor}{suffix}"


def cuda_tag(cuda: Version) -> str:
    """The tag of a CUDA version in wheel names, "cu111" of 11.1."""
    return "cu" + "".join(str(part) for part in cuda.release)


def cuda_of_tag(tag: str) -> str:
    """The CUDA version of a tag: "11.1" of "cu111", "12" of "cu12", "12.10" of "cu1210".

    CUDA's major numbers have two digits since 10.0, one before.
    Raises ValueError for anything else.
    """
    digits = tag[2:] if tag.startswith("cu") else ""
    if not digits.isascii() or not digits.isdigit() or len(digits) < 2:
        raise ValueError(f"{tag!r} is not a CUDA tag")
    width = 1 if digits[0] in "6789" else 2
    major, minor = digits[:width], digits[width:]
    return f"{major}.{int(minor)}" if minor else major


def fold(
    chosen: Iterable[Version], known: Sequence[Version]
) -> Tuple[Tuple[Version, Version], ...]:
    """Runs of versions, each (first, last), that are neighbours among the sorted known ones."""
    wanted = set(chosen)
    runs = []
    start = last = None
    for version in known:
        if version in wanted:
            start = version if start is None else start
            last = version
        elif start is not None and last is not None:
            runs.append((start, last))
            start = None
    if start is not None and last is not None:
        runs.append((start, last))
    return tuple(runs)
