"""Reads one file, and simulates that an interpreter loads it."""

# ruff: noqa: PTH100, PTH116

from __future__ import annotations

import os
from typing import Dict, List, Optional, Tuple

import msgspec

from envdoctor.elf.gpu_code import GpuImages, read_gpu_images, summarize
from envdoctor.elf.image import ET_EXEC, ElfError
from envdoctor.elf.library import Library, open_library
from envdoctor.linking.blame import Blamer
from envdoctor.linking.examine import Started, begin, is_of_torch
from envdoctor.linking.files import SharedObject, module_of, shared_objects, suffixes
from envdoctor.linking.process import Binaries, Outcome
from envdoctor.model.facts import Target
from envdoctor.model.inspection import Inspection, Needed, VersionsOf

_KINDS = {1: "object file", 4: "core dump"}
_MOST_LOADED = 2000


def inspect(path: str, target: Optional[Target]) -> Inspection:
    """What the file at `path` is, and what would become of it in the target's interpreter.

    Nothing of it is executed. Raises OSError if it cannot be read at all.
    """
    place = os.path.abspath(path)
    size = os.stat(place).st_size
    try:
        images = read_gpu_images(place)
    except OSError:
        images = GpuImages()
    try:
        with open_library(place) as library:
            told = _described(place, size, library)
            wanted = library.is_loadable and not library.interpreter
    except ElfError as error:
        kind = "GPU code" if images.images else "no binary"
        told = Inspection(place, size, kind, reason="" if images.images else str(error))
        wanted = False
    told = msgspec.structs.replace(
        told,
        gpu_code=summarize([images], place),
        images=images.images,
        reason=told.reason or images.problem,
    )
    if not wanted or target is None:
        return told
    return _loaded(told, target)


def _described(place: str, size: int, library: Library) -> Inspection:
    dynamic = library.dynamic
    kind = _KINDS.get(library.image.type, "library")
    if library.interpreter or library.image.type == ET_EXEC:
        kind = "static program" if library.is_static else "program"
    versions: Dict[str, Tuple[List[str], List[str]]] = {}
    for need in library.versions.needs:
        versions.setdefault(need.file, ([], []))[int(need.weak)].append(need.version)
    undefined = library.undefined() if not library.is_static else ()
    weak = sum(1 for one in undefined if one.weak)
    return Inspection(
        place,
        size,
        kind,
        machine=library.machine,
        bits=library.bits,
        soname=dynamic.soname,
        build_id=library.build_id,
        interpreter=library.interpreter,
        rpath=dynamic.rpath,
        runpath=dynamic.runpath,
        flags=dynamic.flags,
        needed=dynamic.needed,
        versions=tuple(
            VersionsOf(file, tuple(sorted(hard)), tuple(sorted(soft)))
            for file, (hard, soft) in versions.items()
        ),
        defines=tuple(library.versions.defined.values()),
        undefined=len(undefined) - weak,
        weak=weak,
    )


def _loaded(told: Inspection, target: Target) -> Inspection:
    """The story with what loading it comes to."""
    with Binaries() as binaries:
        started = begin(target, binaries)
        if isinstance(started, str):
            return msgspec.structs.replace(told, python=target.python, not_simulated=started)
        beside_torch = is_of_torch(told.needed)
        outcome, files = _outcome(told.path, target, started, beside_torch)
        fault = None
        if not outcome.loads:
            fault = Blamer(target, started.process, started.torch(files), files).binary(outcome)
        direct = set(told.needed)
        loaded = [
            Needed(
                next((n for n in one.names if n in direct), one.library.dynamic.soname or one.path),
                one.path,
                one.origin,
                bool(one.names & direct),
            )
            for one in outcome.objects[1:_MOST_LOADED]
        ]
        loaded += [Needed(lack.name, direct=lack.name in direct) for lack in outcome.lacks]
        return msgspec.structs.replace(
            told,
            python=target.python,
            module=_module(told.path, target, outcome),
            beside_torch=beside_torch and started.torch(files) is not None,
            outcome="loads" if fault is None else fault.outcome,
            fault=fault,
            loaded=tuple(loaded),
        )


def _outcome(
    path: str, target: Target, started: Started, beside_torch: bool
) -> Tuple[Outcome, List[SharedObject]]:
    """How loading it ends: beside torch if it is linked to torch, else by itself."""
    alone = started.process.open(path, keep=False)
    if alone.loads and not beside_torch:
        return alone, []
    files = shared_objects(target)
    torch = started.torch(files)
    if torch is None or torch.failure is not None:
        return alone, files
    beside = torch.process.open(path, keep=False)
    return (beside if beside.loads or beside_torch else alone), files


def _module(path: str, target: Target, outcome: Outcome) -> str:
    """The name by which the interpreter imports the file, "" if it does not."""
    for entry in sorted(target.path, key=len, reverse=True):  # one may lie in another
        folder = entry.rstrip("/") + "/"
        if entry and path.startswith(folder):
            name = module_of(path[len(folder) :], suffixes(target))
            entry_point = b"PyInit_" + name.rpartition(".")[2].encode()
            library = outcome.objects[0].library if outcome.objects else None
            return name if library is not None and library.symbols.exports(entry_point) else ""
    return ""
