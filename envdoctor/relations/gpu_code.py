"""Which GPU executes which compiled code, and for which it can be compiled from PTX.

Source: CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility" and "Feature Set
Compiler Targets" with its table of families.
"""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, Sequence, Tuple

from packaging.version import Version

from envdoctor.model.build import Unknown
from envdoctor.model.facts import GpuCode
from envdoctor.model.versions import Architecture, architecture, sm
from envdoctor.relations.values import Truth, disjunction

# Members of the families for whose targets that have an "f". Not every later device of a major
# number is of its family, so of others nothing is known.
_FAMILIES = (("10.0", "10.3"), ("11.0",), ("12.0", "12.1"))
# What CUDA 12 calls 10.1 is 11.0 since CUDA 13.
_RENAMED = {"10.1": "11.0"}


_Group = Tuple[Tuple[Architecture, ...], Tuple[Architecture, ...], int]


class _Grouped(Tuple[Version, ...]):
    """Architectures, with the groups that they were read in; equal if the groups are."""

    groups: Tuple[_Group, ...]

    def __new__(cls, codes: Iterable[Version], groups: Tuple[_Group, ...]) -> _Grouped:
        made = super().__new__(cls, sorted(set(codes)))
        made.groups = groups
        return made

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.groups == self.groups

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.groups)


class Sass(_Grouped):
    """Architectures of which compiled code was read."""


class Ptx(_Grouped):
    """Architectures of which PTX was read."""


class ReadCode(_Grouped):
    """GPU code that was read of the files of a build: as a list, what is compiled.

    `groups` are sets of fat binaries with the same images, with their number. Where some have code
    for a GPU and others have not, it is not known whether what is needed has it: kernels may be
    written for one GPU and chosen when it is there.
    """

    def sass(self) -> Sass:
        """What is compiled, as a build may state it."""
        return Sass(self, self.groups)

    def ptx(self) -> Ptx:
        """The PTX, as a build may state it."""
        return Ptx((code for _, ptx, _ in self.groups for code in ptx), self.groups)

    def runs_on(self, device: Version) -> Truth:
        """Whether a GPU runs it, by compiled code or by PTX."""
        return _share(
            (
                disjunction(
                    (*_answers(sass, device, is_executed), *_answers(ptx, device, is_compiled))
                ),
                n,
            )
            for sass, ptx, n in self.groups
        )


def read_code(code: GpuCode) -> ReadCode:
    """The code of a fact. Raises ValueError.

    PTX that would have to be linked first counts for nothing by itself.
    """
    groups = [(group.sass, group.ptx, group.containers) for group in code.groups]
    if code.linkable:
        groups.append(((), code.linkable, 0))
    read = tuple(
        (tuple(map(architecture, sass)), tuple(map(architecture, ptx)), number)
        for sass, ptx, number in groups
    )
    return ReadCode((target for sass, _, _ in read for target in sass), read)


def is_executed(code: Version, device: Version) -> Truth:
    """Whether a GPU executes compiled code: same major, minor not above the device's.

    Code with an "a" runs on its own device alone, code with an "f" on those of its family.
    """
    if _RENAMED.get(_number(code)) == _number(device):
        return Unknown(f"whether code for {sm(code)} runs on {sm(device)} is not known")
    suffix = code.suffix if isinstance(code, Architecture) else ""
    if suffix == "a":
        return _number(code) == _number(device)
    if code.major != device.major or code.minor > device.minor:
        return False
    return _is_of_family(code, device) if suffix == "f" else True


def is_compiled(code: Version, device: Version) -> Truth:
    """Whether a driver can compile PTX for a GPU: it must not be newer than the device.

    PTX with an "a" is for its own device alone, PTX with an "f" for those of its family.
    """
    suffix = code.suffix if isinstance(code, Architecture) else ""
    if suffix:
        return is_executed(code, device)
    return (code.major, code.minor) <= (device.major, device.minor)


def carried(
    codes: Sequence[Version], device: Version, fits: Callable[[Version, Version], Truth]
) -> Truth:
    """Whether a build's code fits a GPU; of what was read, that of most of its fat binaries."""
    if isinstance(codes, _Grouped):
        is_ptx = isinstance(codes, Ptx)
        groups = ((ptx if is_ptx else sass, number) for sass, ptx, number in codes.groups)
        return _share((disjunction(_answers(some, device, fits)), n) for some, n in groups)
    return disjunction(_answers(codes, device, fits))


def _answers(
    codes: Sequence[Version], device: Version, fits: Callable[[Version, Version], Truth]
) -> Iterator[Truth]:
    return (fits(code, device) for code in codes)


def _share(answers: Iterable[Tuple[Truth, int]]) -> Truth:
    """True if most have it, False if none has it."""
    told = list(answers)
    good = sum(number for answer, number in told if answer is True)
    if good and 2 * good >= sum(number for _, number in told):
        return True
    if all(answer is False for answer, _ in told):
        return False
    return Unknown("only a part of its kernels has code for this GPU")


def _is_of_family(code: Version, device: Version) -> Truth:
    for family in _FAMILIES:
        if _number(code) in family and _number(device) in family:
            return True
    return Unknown(f"whether {sm(device)} is of the family of {sm(code)} is not known")


def _number(version: Version) -> str:
    return f"{version.major}.{version.minor}"
