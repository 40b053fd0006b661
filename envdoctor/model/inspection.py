"""What one binary is, and what would become of it in an interpreter."""

from __future__ import annotations

from typing import Optional, Tuple

from envdoctor.model.facts import Binary, GpuCode, Record


class Needed(Record, frozen=True, omit_defaults=False):
    """A library that is loaded with it."""

    name: str  # as NEEDED has it, or the path of what was opened by path
    path: str = ""  # the file that serves it; "" where none does
    origin: str = ""  # what makes the loader take that: "RUNPATH", "LD_LIBRARY_PATH", ...
    direct: bool = False  # the file itself needs it


class VersionsOf(Record, frozen=True, omit_defaults=False):
    """The symbol versions that are asked of one library."""

    library: str
    versions: Tuple[str, ...] = ()
    weak: Tuple[str, ...] = ()  # without which the loader only warns


class Inspection(Record, frozen=True, omit_defaults=False):
    """The story of one file."""

    path: str
    size: int  # bytes
    # "library", "program", "static program", "object file", "core dump", "GPU code"; "no binary"
    kind: str
    reason: str = ""  # why it is none, or what of it could not be read
    machine: str = ""  # "x86_64"
    bits: int = 0
    soname: str = ""
    build_id: str = ""
    interpreter: str = ""  # the loader that a program asks for
    rpath: Optional[str] = None
    runpath: Optional[str] = None
    flags: Tuple[str, ...] = ()
    needed: Tuple[str, ...] = ()
    versions: Tuple[VersionsOf, ...] = ()
    defines: Tuple[str, ...] = ()  # versions
    undefined: int = 0  # symbols that must come from elsewhere
    weak: int = 0  # symbols that may
    gpu_code: Optional[GpuCode] = None
    images: int = 0  # of GPU code
    python: str = ""  # the interpreter for which loading was simulated
    module: str = ""  # as that one imports it; "" if it does not
    beside_torch: bool = False  # it is loaded after torch
    outcome: str = ""  # "loads", or as `Binary` has it; "" where it was not simulated
    not_simulated: str = ""  # why
    fault: Optional[Binary] = None
    loaded: Tuple[Needed, ...] = ()  # all that the loader takes for it, in its order
