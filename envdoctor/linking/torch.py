"""What `import torch` loads before its own libraries, as its `__init__.py` says.

Read in 1.9.1, 1.13.1, 2.0.1, 2.3.1, 2.5.1 and 2.13.0. All load torch/lib/libtorch_global_deps.so
with RTLD_GLOBAL, then torch/_C. From 1.13 on, where the first fails for want of a library of
CUDA's, they load libraries out of the `nvidia-*` wheels by path and try again; some later ones load
some or all of these in any case, and do not mind if that fails. Which ones, in which order, the
text of the file tells: it differs by release.
"""

from __future__ import annotations

import fnmatch
import os
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from envdoctor.facts.probe import read_text
from envdoctor.linking.process import Outcome, Process

_MAX_BYTES = 1 << 20
_GLOBAL_DEPS = "lib/libtorch_global_deps.so"
# ("cublas", "libcublas.so.*[0-9]"), "cublas": "...", 'cublas', 'lib', 'libcublas.so.11'
_PAIR = re.compile(r"""["'](\w+)["']\s*[,:]\s*(?:["']lib["']\s*,\s*)?["'](lib[\w.*\[\]-]+)["']""")
_CALL = re.compile(r"_preload_cuda_deps\(([^)]*)\)")
_HARD_WAY = re.compile(r"^USE_RTLD_GLOBAL_WITH_LIBTORCH\s*=\s*True", re.MULTILINE)


class Preloads(NamedTuple):
    """What a torch's `__init__.py` loads, (folder under nvidia/, pattern of the file's name)."""

    on_failure: Tuple[Tuple[str, str], ...] = ()
    always: Tuple[Tuple[str, str], ...] = ()
    is_global: bool = False  # torch/_C itself is loaded with RTLD_GLOBAL


def read_preloads(folder: str) -> Preloads:
    """What the `__init__.py` in torch's folder loads; nothing if it cannot be read."""
    text = read_text(f"{folder}/__init__.py", [], _MAX_BYTES)
    end = text.find("def _load_global_deps")
    body = text[end:] if end >= 0 else ""
    body = body[: body.find("torch._C import")]
    start = text.find("def _preload_cuda")
    pairs = _PAIR.findall(text[start:end] if 0 <= start < end else "") + _PAIR.findall(body)
    # What comes before the handler is done where nothing failed.
    tried = body.partition("except OSError")[0]
    always: List[Tuple[str, str]] = []
    for arguments in _CALL.findall(tried):
        always += _PAIR.findall(arguments) or ([] if arguments.strip() else pairs)
    unique = tuple(dict.fromkeys(pairs))
    return Preloads(unique, tuple(always), bool(_HARD_WAY.search(text)))


class Imported(NamedTuple):
    """A process after `import torch`, or how that failed."""

    process: Process
    failure: Optional[Outcome] = None


def import_torch(
    start: Process, folder: str, extension: str, path: Tuple[str, ...], is_global: bool = False
) -> Imported:
    """What `import torch` does in a process.

    `folder` is torch's, `extension` the file of torch._C, `path` the target's sys.path; `is_global`
    says that TORCH_USE_RTLD_GLOBAL is set.
    """
    process = start.fork()
    looked = process.binaries.looked
    looked[f"{folder}/__init__.py"] = None
    preloads = read_preloads(folder)
    is_global = is_global or preloads.is_global
    first = f"{folder}/{_GLOBAL_DEPS}"
    if not is_global and os.path.exists(first):  # noqa: PTH110
        outcome = process.open(first, is_global=True)
        if not outcome.loads:
            if not preloads.on_failure:
                return Imported(process, outcome)
            for file in _files(preloads.on_failure, path, looked):
                process.open(file)
            outcome = process.open(first, is_global=True)
            if not outcome.loads:
                return Imported(process, outcome)
        elif any("/libcudart.so" in one.path for one in process.objects):
            for file in _files(preloads.always, path, looked):
                if not process.open(file).loads:
                    break
    outcome = process.open(extension, is_global=is_global)
    return Imported(process, None if outcome.loads else outcome)


def _files(
    pairs: Tuple[Tuple[str, str], ...], path: Tuple[str, ...], looked: Dict[str, None]
) -> Iterator[str]:
    """The first file on the search path for each."""
    for folder, pattern in pairs:
        for entry in path:
            found = _first(entry, folder, pattern, looked)
            if found:
                yield found
                break


def _first(entry: str, folder: str, pattern: str, looked: Dict[str, None]) -> str:
    # Wheels for CUDA 13 lie together, in nvidia/cu13.
    for inside in ("cu13", folder):
        place = f"{entry}/nvidia/{inside}/lib"
        looked[place] = None
        try:
            names = sorted(os.listdir(place))  # noqa: PTH208
        except OSError:
            continue
        for name in names:
            if fnmatch.fnmatchcase(name, pattern):
                return f"{place}/{name}"
    return ""
