"""What the matrices say of builds: of one, or of several together. What `explain` answers."""

from __future__ import annotations

from typing import Dict, List, Tuple, Union

from envdoctor.model.facts import Record
from envdoctor.model.finding import Citation

#: A value of a build for programs: a text, a number, a truth, or a list of texts.
Plain = Union[str, int, bool, List[str]]
#: Releases that are neighbours among those that are known: the first and the last.
Run = Tuple[str, str]


class KnownBuild(Record, frozen=True, omit_defaults=False):
    """One build that exists, with everything that the matrices state of it."""

    version: str  # as people write it, "1.9.1+cu111"
    attributes: Dict[str, Plain]
    install: str  # what follows `pip install`; empty if they do not say
    source: Citation


class Devices(Record, frozen=True, omit_defaults=False):
    """Products of one compute capability, and how they run builds for a CUDA."""

    cuda: str
    capability: str  # "8.0"
    how: str  # native: as it is; ptx: the driver compiles it first; none: not at all
    products: Tuple[str, ...]


class Floor(Record, frozen=True, omit_defaults=False):
    """The oldest driver under which code of a CUDA runs."""

    cuda: str
    driver: str
    kind: str  # of code; compiled: for the GPU; ptx: that the driver compiles
    source: Citation


class Told(Record, frozen=True, omit_defaults=False):
    """A relation in words, of the builds that were asked about."""

    relation: Citation
    finding: str
    severity: str
    phase: str
    component: str  # whose relation it is, "mmcv-full 1.4.0"
    builds: int  # of its builds as many are rejected
    enough: bool  # whether nothing fits for this reason alone
    why: str
    patch: str = ""  # of envdoctor's, which mends it


class Known(Record, frozen=True, omit_defaults=False):
    """A relation that is known of a package."""

    relation: Citation
    finding: str
    severity: str
    phase: str
    package: str  # whose it is
    of: Tuple[str, ...]  # what else it speaks of


class Partly(Record, frozen=True, omit_defaults=False):
    """Releases of which some builds fit and others do not: those for these CUDAs fit."""

    first: str
    last: str
    cudas: Tuple[str, ...]


class Beside(Record, frozen=True, omit_defaults=False):
    """Which releases of another package fit beside what was asked about, all else left open."""

    package: str
    prebuilt: Tuple[Run, ...]
    source: Tuple[Run, ...]  # only built from source
    untold: Tuple[Run, ...]  # something that is not known decides
    every: bool  # whether all releases that are known fit
    relations: Tuple[str, ...]  # ids of what decides
    partly: Tuple[Partly, ...] = ()  # of a GPU or a driver: of these not all builds run


class Subject(Record, frozen=True, omit_defaults=False):
    """One package that was asked about."""

    name: str
    asked: str  # "mmcv-full==1.4.0"
    label: str  # the version, or the range of releases that was asked about
    oldest: str  # releases that the matrices know
    newest: str
    releases: int
    modules: Tuple[str, ...]
    requires: Tuple[str, ...]
    known: int  # builds that are known of what was asked about
    fitting: int  # those of them that fit
    spans: Dict[str, Tuple[str, ...]]  # what they were built for: "torch", "cuda", "python", ...
    builds: Tuple[KnownBuild, ...] = ()  # of one version: all of them
    devices: Tuple[Devices, ...] = ()
    floors: Tuple[Floor, ...] = ()
    relations: Tuple[Known, ...] = ()  # its own, and what others have with it


class Explained(Record, frozen=True, omit_defaults=False):
    """What the matrices answer."""

    asked: Tuple[str, ...]
    answer: str  # prebuilt, source, no, untested, undecided
    open: Tuple[str, ...]  # what is not known or not tested
    subjects: Tuple[Subject, ...]
    because: Tuple[Told, ...]  # of a no
    also: Tuple[Told, ...]  # what would say no without that
    warnings: Tuple[Told, ...]
    holding: Tuple[Known, ...]  # of what fits: relations between what was asked about that hold
    from_source: Tuple[str, ...]  # of what fits: packages that are to be built from source
    install: Tuple[str, ...]  # arguments of pip: of one package for each build that fits, else all
    no_command: Tuple[str, ...]  # of what fits: wheels of which no page was seen, "mmcv 2.2.0"
    beside: Tuple[Beside, ...]  # one asked about: what goes with it; several: what fits instead


class Cell(Record, frozen=True, omit_defaults=False):
    """A row of a platform table."""

    table: str
    key: str
    values: Dict[str, Plain]
    source: Citation


class ExplainedRow(Record, frozen=True, omit_defaults=False):
    """What the matrices know of a GPU, a driver, a CUDA, a Python, a system."""

    asked: str
    cells: Tuple[Cell, ...]
    runs: bool  # whether `beside` are releases that run on it; else those that were built for it
    beside: Tuple[Beside, ...]
