"""Extension modules that were compiled for NumPy 1: NumPy 2 refuses them.

`import_array()` of NumPy's headers imports the module that has the C interface by its name, which
stands in the compiled file: `numpy.core._multiarray_umath` where NumPy 1 was compiled against
(`numpy.core.multiarray` before 1.16), and first `numpy._core._multiarray_umath` where NumPy 2 was.
Read in numpy/core/include/numpy/__multiarray_api.h of 1.26.4 and 2.0.0. pybind11 looks for other
names, and gets along with both.
"""

from __future__ import annotations

import os
from typing import Dict, List, Tuple

import msgspec

from envdoctor.linking.files import shared_objects
from envdoctor.model.facts import Linking, Observed, Target

_OLD = b"numpy.core._multiarray_umath\0"
_NEW = b"numpy._core._multiarray_umath\0"
_MAX_FILES = 5
_MAX_FILE = 1 << 28
_MAX_ALL = 1 << 32
_CHUNK = 1 << 22


def with_numpy(linking: Observed[Linking], target: Target) -> Observed[Linking]:
    """What was found in the binaries of a target of this machine, with those for NumPy 1."""
    found = linking.value
    if found is None:
        return linking
    found = msgspec.structs.replace(found, numpy_1=compiled_for_numpy_1(target))
    return msgspec.structs.replace(linking, value=found)


def compiled_for_numpy_1(target: Target) -> Dict[str, Tuple[str, ...]]:
    """The modules that take NumPy's C interface where NumPy 1 has it, by distribution.

    Files that cannot be read, or are larger than any, are left out.
    """
    found: Dict[str, List[str]] = {}
    left = _MAX_ALL
    for file in shared_objects(target):
        if not file.module or file.distribution in ("", "numpy"):
            continue
        held = found.get(file.distribution, [])
        if len(held) >= _MAX_FILES:
            continue
        try:
            size = os.stat(file.path).st_size  # noqa: PTH116
        except OSError:
            continue
        left -= size
        if left < 0:
            break
        if size <= _MAX_FILE and _names_numpy_1(file.path):
            found[file.distribution] = [*held, file.path]
    return {name: tuple(files) for name, files in found.items()}


def _names_numpy_1(path: str) -> bool:
    """Whether a file has the name of NumPy 1's module, and not that of NumPy 2's."""
    has_old = False
    overlap = b""
    try:
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123
            while chunk := _read(stream.fileno()):
                text = overlap + chunk
                if _NEW in text:
                    return False
                has_old = has_old or _OLD in text
                overlap = text[-len(_OLD) :]
    except OSError:
        return False
    return has_old


def _read(descriptor: int) -> bytes:
    return os.read(descriptor, _CHUNK)
