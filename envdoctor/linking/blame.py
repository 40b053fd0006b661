"""Who is to blame where a binary does not load: which finding says it, and on what evidence.

The names of findings are those of their pages. Where nothing known fits, it is a general one.
"""

from __future__ import annotations

import os
import re
from typing import Iterable, List, Optional, Sequence, Tuple

from envdoctor.elf.image import ElfError
from envdoctor.linking.demangle import demangled
from envdoctor.linking.files import SharedObject
from envdoctor.linking.process import Lack, Loaded, Outcome, Process, Unresolved, Unversioned
from envdoctor.linking.torch import Imported
from envdoctor.model.facts import Binary, Target

_SHOWN = 10
_LONGEST = 200

MISSING_LIBRARY = "shared-library-missing"
MISSING_VERSION = "symbol-version-missing"
MISSING_SYMBOL = "undefined-symbol"
TORCH = "torch-abi-mismatch"
ABI = "cxx11-abi-mismatch"
CUDA = "cuda-runtime-major-mismatch"
GLIBC = "glibc-too-old"
LIBSTDCXX = "libstdcxx-too-old"
STALE = "stale-torch-libraries"
SHADOWED = "ld-library-path-shadows-cuda"
NCCL = "nccl-library-conflict"
MKL = "mkl-2024-1-ijit"
PYTHON = "extension-of-another-python"

_OF_TORCH = re.compile(r"lib(torch|c10|caffe2)\w*\.so$")
#: Libraries of a CUDA toolkit, whose SONAME ends with the release of their interface.
_OF_CUDA = re.compile(
    r"lib(cudart|cublas|cublasLt|cufft|curand|cusolver|cusparse|nvrtc|nvToolsExt|npp\w+|nvjpeg|"
    r"nvJitLink|cupti)\.so\.[\d.]+$"
)
#: As strings are mangled by the two ABIs of libstdc++ where functions of torch take them.
_NEW_STRING = b"__cxx11"
_OLD_STRING = re.compile(rb"(?:RK|R|O|E|[a-z])Ss(?:$|[A-Z])")
_ANY_TORCH_NAME = re.compile(rb"(?:3c10|2at|5torch|6caffe2)[0-9E]")
_PYTHON_NAME = re.compile(rb"_?Py[A-Z_]\w*$")
# c10::detail::torchCheckFail(char const*, char const*, unsigned int, std::string const&), and an
# older function with a string, as the two ABIs mangle them.
_BY_ABI = {
    1: (
        b"_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        b"_ZN3c105ErrorC1ENS_14SourceLocationERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        b"_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
    ),
    0: (
        b"_ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
        b"_ZN3c105ErrorC1ENS_14SourceLocationERKSs",
        b"_ZN3c105ErrorC2ENS_14SourceLocationESs",
    ),
}


class Blamer:
    """Tells outcomes as facts."""

    def __init__(
        self,
        target: Target,
        start: Process,
        torch: Optional[Imported],
        files: Sequence[SharedObject],
    ) -> None:
        """Look in what the processes have loaded, and in what the environment holds."""
        self._target = target
        self._start = start
        self._torch = torch
        self._files = files

    def binary(self, outcome: Outcome) -> Binary:
        """An outcome that is a failure, with what is to blame."""
        if outcome.problem:
            return Binary(outcome.path, "unreadable", reason=outcome.problem)
        if outcome.lacks:
            return self._missing(outcome, outcome.lacks)
        if outcome.versions:
            return self._unversioned(outcome, outcome.versions)
        return self._unresolved(outcome, outcome.symbols)

    @property
    def _loaded(self) -> List[Loaded]:
        return self._torch.process.objects if self._torch is not None else self._start.objects

    # --- libraries

    def _missing(self, outcome: Outcome, lacks: Tuple[Lack, ...]) -> Binary:
        first = min(lacks, key=lambda lack: _rank(lack.name))
        instead, origin = self._other_release(first.name)
        cause = MISSING_LIBRARY
        if _OF_TORCH.match(first.name):
            cause = TORCH
        elif _OF_CUDA.match(first.name) and instead:
            cause = CUDA
        elif re.match(r"libpython\d", first.name):
            cause = PYTHON
        others = [lack.name for lack in lacks if lack.name != first.name]
        if first.passed_over and not instead:
            instead, origin = first.passed_over[0], "passed over"
        return Binary(
            outcome.path,
            "missing-library",
            cause=cause,
            missing=first.name,
            by=_other(first.by, outcome.path),
            others=tuple(dict.fromkeys(others))[:_SHOWN],
            looked=first.looked,
            instead=instead,
            origin=origin,
            count=len({lack.name for lack in lacks}),
        )

    def _other_release(self, name: str) -> Tuple[str, str]:
        """A library of another release that is loaded or in the environment, and where."""
        stem = name.partition(".so")[0]
        for one in self._loaded:
            for other in one.names:
                if other.partition(".so")[0] == stem and "/" not in other and other != name:
                    return other, os.path.normpath(one.path)
        for file in self._files:
            other = file.path.rpartition("/")[2]
            if other.startswith(f"{stem}.so.") and other != name:
                return other, file.path
        return "", ""

    # --- versions

    def _unversioned(self, outcome: Outcome, versions: Tuple[Unversioned, ...]) -> Binary:
        # The newest of a kind is what is needed.
        first = max(versions, key=lambda one: (_is_system(one), _numbers(one.version)))
        cause = MISSING_VERSION
        name = first.file.rpartition("/")[2]
        if first.version.startswith(("GLIBCXX_", "CXXABI_")):
            cause = LIBSTDCXX
        elif first.version.startswith("GLIBC_"):
            cause = GLIBC
        elif first.origin == "LD_LIBRARY_PATH":
            cause = SHADOWED if _OF_CUDA.match(name) or "cudnn" in name else cause
        return Binary(
            outcome.path,
            "missing-version",
            cause=cause,
            missing=first.version,
            by=_other(first.by, outcome.path),
            instead=os.path.normpath(first.file),
            origin=first.origin,
            count=len({one.version for one in versions}),
        )

    # --- symbols

    def _unresolved(self, outcome: Outcome, symbols: Tuple[Unresolved, ...]) -> Binary:
        names = list(dict.fromkeys(one.symbol for one in symbols))
        first = symbols[0]
        instead, origin = "", ""
        cause = MISSING_SYMBOL
        torch_names = [name for name in names if _ANY_TORCH_NAME.search(name)]
        library = self._shadowing(outcome, names)
        if any(name.startswith(b"iJIT_") for name in names):
            cause = MKL
        elif library is not None:
            instead, origin = os.path.normpath(library.path), library.origin
            is_nccl = any(name.startswith((b"nccl", b"pnccl")) for name in names)
            cause = NCCL if is_nccl else _cause_of(library.path)
        elif torch_names:
            own = self._target.torch.path + "/" if self._target.torch is not None else "//"
            by_torch = [one for one in symbols if one.by.startswith(own)]
            if by_torch:
                first, cause = by_torch[0], STALE
            elif self._other_abi(torch_names):
                cause = ABI
            else:
                cause = TORCH
            names = [*torch_names, *(name for name in names if name not in torch_names)]
        elif all(_PYTHON_NAME.match(name) for name in names):
            cause = PYTHON
        texts = [name.decode("utf-8", "replace") for name in names[:_SHOWN]]
        plain = demangled(texts)
        return Binary(
            outcome.path,
            "missing-symbols",
            cause=cause,
            by=_other(first.by, outcome.path),
            instead=instead,
            origin=origin,
            symbols=tuple(plain[text][:_LONGEST] for text in texts),
            count=len(names),
        )

    def _shadowing(self, outcome: Outcome, names: Iterable[bytes]) -> Optional[Loaded]:
        """What is loaded in place of a file of the same name that has the symbols.

        Where several are, together they lack all of the symbols; it is the first of them.
        """
        left = set(names)
        first: Optional[Loaded] = None
        for one in outcome.objects:
            for file in self._files:
                other = file.path
                if other == one.path or other.rpartition("/")[2] not in one.names:
                    continue
                try:
                    _, library = self._start.binaries.library(other)
                    has = {name for name in left if library.symbols.versions_of(name)}
                except ElfError:
                    continue
                first = (first or one) if has else first
                left -= has
        return None if left else first

    def _other_abi(self, names: Iterable[bytes]) -> bool:
        """Whether a file wants torch's functions as the other C++ ABI mangles their strings."""
        wanted = abi_of(names)
        if wanted is None or self._torch is None:
            return False
        other = _BY_ABI[1 - wanted]
        own = _BY_ABI[wanted]
        has_other = has_own = False
        for one in self._torch.process.objects:
            if "libc10.so" in one.names:
                has_other = any(one.library.symbols.versions_of(name) for name in other)
                has_own = any(one.library.symbols.versions_of(name) for name in own)
        return has_other and not has_own


def abi_of(names: Iterable[bytes]) -> Optional[int]:
    """The C++ ABI by the names of torch's functions that take strings; None if they do not show."""
    old = False
    for name in names:
        if b"c10" in name or b"2at" in name or b"5torch" in name:
            if _NEW_STRING in name:
                return 1
            old = old or bool(_OLD_STRING.search(name))
    return 0 if old else None


def names_torch(name: bytes) -> bool:
    """Whether a symbol is one of torch's C++ functions."""
    return _ANY_TORCH_NAME.search(name) is not None


def _other(path: str, own: str) -> str:
    """The path of another file, shown without the ".." of search paths; "" of a file itself."""
    return os.path.normpath(path) if path != own else ""


def _rank(name: str) -> Tuple[int, str]:
    """What is told first: torch's own files, then CUDA's."""
    return (0 if _OF_TORCH.match(name) else 1 if _OF_CUDA.match(name) else 2, name)


def _cuda_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return bool(_OF_CUDA.match(name) or name.startswith("libcudnn"))


def _cause_of(path: str) -> str:
    """What to call it where this file is loaded in place of another."""
    if _OF_TORCH.match(path.rpartition("/")[2]):
        return STALE
    return SHADOWED if _cuda_file(path) else MISSING_SYMBOL


def _is_system(one: Unversioned) -> int:
    """Glibc before libstdc++: what needs a newer glibc needs a newer system."""
    return 2 if one.version.startswith("GLIBC_") else 1


def _numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,6}", version)[:6])
