"""Named predicates of the relation language: each rule of the platform coded once, with source."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Tuple

from packaging.version import Version

from envdoctor.model.build import Unknown, Value
from envdoctor.relations.gpu_code import ReadCode, carried, is_compiled, is_executed
from envdoctor.relations.values import Truth, attribute, compare, disjunction


def native(build: Value, gpu: Value) -> Truth:
    """Whether a build has SASS that this GPU executes."""
    return _carries(build, "sass", gpu, is_executed)


def jit(build: Value, gpu: Value) -> Truth:
    """Whether a build has PTX that the driver can compile for this GPU.

    The driver must also be as new as the toolkit that made the PTX: a relation of its own.
    """
    return _carries(build, "ptx", gpu, is_compiled)


def is_read(build: Value) -> Truth:
    """Whether the GPU code of a build was read of its files; it has some then."""
    return isinstance(attribute(build, "code"), ReadCode)


def executes(build: Value, gpu: Value) -> Truth:
    """Whether this GPU runs the code that was read of a build, compiled before or there."""
    return _runs(build, gpu, by_ptx=True)


def executes_sass(build: Value, gpu: Value) -> Truth:
    """The same of what is compiled already."""
    return _runs(build, gpu, by_ptx=False)


def _runs(build: Value, gpu: Value, by_ptx: bool) -> Truth:
    code, device = attribute(build, "code"), attribute(gpu, "cc")
    for value in (code, device):
        if isinstance(value, Unknown):
            return value
    if not isinstance(code, ReadCode) or not isinstance(device, Version):
        return Unknown("GPU code")
    return code.runs_on(device) if by_ptx else carried(code.sass(), device, is_executed)


def _carries(
    build: Value, kind: str, gpu: Value, fits: Callable[[Version, Version], Truth]
) -> Truth:
    codes, device = attribute(build, kind), attribute(gpu, "cc")
    if isinstance(codes, Unknown):
        return codes
    if isinstance(device, Unknown):
        return device
    if not isinstance(codes, tuple) or not isinstance(device, Version):
        return Unknown("GPU code")
    return carried(codes, device, fits)


def fits_python(build: Value, python: Value) -> Truth:
    """Whether wheels of this build serve an interpreter, by their Python tags.

    "cp38" serves that CPython, "cp39-abi3" it and newer ones with the GIL, "py3" every one.
    Source: PyPA specifications, "Platform compatibility tags".
    """
    tags, own = attribute(build, "python"), attribute(python, "tag")
    if isinstance(tags, Unknown):
        return tags
    if not isinstance(tags, tuple):
        return Unknown("wheel tags")
    return disjunction(_serves(tag, own, python) for tag in tags)


def _serves(tag: str, own: Value, python: Value) -> Truth:
    if tag.startswith("py3"):
        return True
    if tag.endswith("-abi3"):
        oldest = f"{tag[2]}.{tag[3:-5]}"
        if isinstance(own, str) and own.endswith("t"):
            return False  # the stable ABI is not there in a free-threaded interpreter
        return compare(">=", attribute(python, "series"), oldest)
    return compare("==", own, tag)


class Predicate(NamedTuple):
    """A function of the language and the attributes that it reads of each argument."""

    function: Callable[..., Truth]
    reads: Tuple[Tuple[str, ...], ...]


PREDICATES: Dict[str, Predicate] = {
    "is_read": Predicate(is_read, (("code",),)),
    "executes": Predicate(executes, (("code",), ("cc",))),
    "executes_sass": Predicate(executes_sass, (("code",), ("cc",))),
    "native": Predicate(native, (("sass",), ("cc",))),
    "jit": Predicate(jit, (("ptx",), ("cc",))),
    "fits_python": Predicate(fits_python, (("python",), ("tag", "version"))),
}
