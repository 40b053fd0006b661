"""Whose a symbol is that a loader missed, and whose the library that wants it."""

from __future__ import annotations

import re
from typing import Iterator, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.mechanisms.modules import brings
from envdoctor.knowledge.load import Knowledge

#: Whose names these are, by how they begin or what namespace they are in.
_OWNERS: Sequence[Tuple[str, re.Pattern[str]]] = tuple(
    (owner, re.compile(pattern))
    for owner, pattern in (
        ("mkl", r"^iJIT_|^mkl_|^MKL_"),
        ("nccl", r"^p?nccl[A-Z]"),
        ("nvjitlink", r"nvJitLink"),
        ("cublas", r"^cublas"),
        ("cusparse", r"^cusparse"),
        ("cudnn", r"^cudnn|5cudnn|^_ZN11nvrtcHelper"),
        ("cudart", r"^cuda[A-Z]|^__cuda[A-Z]"),
        ("torch", r"\d(?:c10|at|torch|caffe2|torchvision)(?=\d|[A-Z])|^TH[CP]?[A-Z_]|^THCState"),
        ("python", r"^_?Py[A-Z_]"),
        ("openmp", r"^GOMP_|^__kmpc_|^omp_"),
        ("libstdc++", r"^_ZN?K?St|^_ZT[ISV]St|^__cxa"),
    )
)
#: Whose a library is, by its place and its name.
_LIBRARIES: Sequence[Tuple[str, re.Pattern[str]]] = tuple(
    (owner, re.compile(pattern))
    for owner, pattern in (
        (
            "torch",
            r"(?:^|/)lib(?:torch(?:_(?:cpu|cuda|python|global)\w*)?|c10\w*|caffe2\w*|shm)\.so|[\\/]torch[\\/]lib[\\/](?!\.\.)"
            r"|/torch/_C\.",
        ),
        ("cuda", r"(?:^|/)lib(?:cu[a-z]|nv[a-zA-Z]|nccl)\w*\.so|[\\/]nvidia[\\/]\w+[\\/]lib"),
        ("torchvision", r"[\\/]torchvision[\\/]"),
    )
)
_PACKAGE = re.compile(r"(?:site|dist)-packages[\\/]+(?:([\w.-]{1,80}?)[\\/]|(\w{1,80})\.)")
_NEW = re.compile(r"__cxx11|B5cxx11")
_OLD = re.compile(r"(?:RK|R|O|E|[a-z])Ss(?:$|[A-Zb-z])|Ss$")


def observe(event: Event, knowledge: Knowledge) -> Iterator[Event]:
    """`symbol-missed`, an `undefined-symbol` of which is known whose it is."""
    if event.kind != "undefined-symbol":
        return
    symbol, library = event.field("symbol"), event.field("library")
    owner = next((name for name, pattern in _OWNERS if pattern.search(symbol)), "")
    own = next((name for name, pattern in _LIBRARIES if pattern.search(library)), "")
    package = _PACKAGE.search(library)
    abi = "cxx11" if _NEW.search(symbol) else "old" if _OLD.search(symbol) else ""
    yield event.derived(
        "symbol-missed",
        owner=owner,
        abi=abi if owner == "torch" else "",
        library_owner=own or "other",
        package=_distribution(package.group(1) or package.group(2), knowledge) if package else "",
        short=symbol if len(symbol) <= 60 else f"{symbol[:60]}...",
        library=library[package.start(1 if package.group(1) else 2) :] if package else library,
    )


def _distribution(module: str, knowledge: Knowledge) -> str:
    """The one distribution that brings a module; "" if it may be one of several."""
    providers = knowledge.providers.get(module, ())
    return brings(module, knowledge) if len(providers) <= 1 else ""
