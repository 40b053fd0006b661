"""Simulates what the loader would do with each binary that an import may load."""

from __future__ import annotations

import os
import re
from typing import (
    Dict,
    FrozenSet,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Protocol,
    Sequence,
    Set,
    Tuple,
    Union,
)

import msgspec

from envdoctor.elf.image import ElfError
from envdoctor.facts.host import Host
from envdoctor.linking.blame import PYTHON, Blamer, abi_of
from envdoctor.linking.files import SharedObject, is_foreign, shared_objects, suffixes
from envdoctor.linking.links import Links
from envdoctor.linking.process import Binaries, Loaded, Outcome, Process
from envdoctor.linking.reach import reaches
from envdoctor.linking.search import Search
from envdoctor.linking.torch import Imported, import_torch
from envdoctor.model.facts import (
    Binary,
    LinkedBuild,
    Linking,
    Observed,
    Target,
    seen,
    unseen,
)

_MOST = 60  # binaries that are told
_IN_FULL = 12  # of these with all that is known: a snapshot stays small
_MAX_UNDECIDED = 20
#: Where a system has glibc's loader. Others, such as Nix's, look elsewhere than this one.
_LOADERS = ("/lib64/ld-linux-", "/lib/ld-linux-", "/lib/ld64.so")
#: Libraries that come with the driver: where there is none, they are not there.
_OF_THE_DRIVER = re.compile(r"lib(cuda|nvidia-[\w-]+|nvcuvid|nvoptix)\.so(\.\d+)*$")
_OF_TORCH = re.compile(r"lib(torch|c10|caffe2)\w*\.so$")
_RUNTIME = re.compile(r"libcudart\.so\.([\d.]+)$")


class Progress(Protocol):
    """Who is told how far it is."""

    def advance(self, done: int, of: int) -> None:
        """`done` of `of` files were simulated."""


class _Result(NamedTuple):
    """What became of one file."""

    file: SharedObject
    outcome: Outcome
    torch: bool


def examined(
    target: Target,
    projects: Tuple[str, ...] = (),
    progress: Optional[Progress] = None,
    named: Sequence[SharedObject] = (),
) -> Tuple[Observed[Linking], List[str]]:
    """What `examine` says of a target of this machine, and every path that it looked at."""
    looked: Dict[str, None] = {}
    found = examine(Host(), target, projects, progress, looked, named)
    return found, list(looked)


def examine(
    host: Host,
    target: Target,
    projects: Tuple[str, ...] = (),
    progress: Optional[Progress] = None,
    looked: Optional[Dict[str, None]] = None,
    named: Sequence[SharedObject] = (),
) -> Observed[Linking]:
    """What would not load of a target, which must be of this machine.

    `projects` are folders whose binaries are examined as well, as are those in `named`. What cannot
    be simulated, another loader than glibc's for one, is unknown with the reason. Every path that
    was looked at is added to `looked`.
    """
    with Binaries() as binaries:
        if looked is not None:
            binaries.looked = looked
        started = begin(target, binaries, host)
        if isinstance(started, str):
            return unseen(started)
        examination = _Examination(target, started, projects, progress, named)
        found = seen(examination.result(), os.path.realpath(target.python))
        binaries.looked.update(dict.fromkeys(started.process.search.consulted))
        return found


class Started:
    """The target's interpreter right after its start, and after `import torch`."""

    def __init__(self, target: Target, process: Process) -> None:
        """Torch is imported when it is first asked for."""
        self.process = process
        self._target = target
        self._torch: Optional[Imported] = None

    def torch(self, files: Sequence[SharedObject]) -> Optional[Imported]:
        """The process after `import torch`; None if there is no torch among the files."""
        torch = self._target.torch
        if torch is None:
            return None
        if self._torch is None:
            # Of several the one that is imported, whose files the probe read.
            listed = [file.path for file in files if file.module == "torch._C"]
            usual = f"{torch.path}/_C.{self._target.soabi}.so"
            extension = usual if usual in listed or not listed else listed[0]
            is_global = bool(self._target.environ.get("TORCH_USE_RTLD_GLOBAL"))
            self._torch = import_torch(
                self.process, torch.path, extension, self._target.path, is_global
            )
        return self._torch

    @property
    def objects(self) -> List[Loaded]:
        """What has been loaded so far."""
        more = self._torch.process.objects if self._torch is not None else []
        return [*self.process.objects, *more]


def begin(target: Target, binaries: Binaries, host: Optional[Host] = None) -> Union[Started, str]:
    """Start the target's interpreter; why that cannot be simulated if it cannot."""
    program = os.path.realpath(target.python)
    try:
        _, library = binaries.library(program)
        interpreter = library.interpreter
    except ElfError as error:
        return f"{target.python}: {error}"
    if not interpreter.startswith(_LOADERS) or "musl" in interpreter:
        name = interpreter or "no loader: it is linked statically"
        return f"{target.python} is started by {name}, whose search is not known"
    variables = {k: v for k, v in target.environ.items() if k.startswith("LD_")}
    search = Search(_with_variables(host or Host(), variables), os.path.dirname(program))  # noqa: PTH120
    process = Process(search, binaries, library.machine, library.bits)
    preloads = re.split(r"[ :]+", variables.get("LD_PRELOAD", "").strip())
    outcome = process.start(program, tuple(name for name in preloads if name))
    if not outcome.loads:
        return f"{target.python}: what it needs itself was not found"
    return Started(target, process)


def is_of_torch(needed: Iterable[str]) -> bool:
    """Whether what needs these libraries is linked to torch."""
    return any(_OF_TORCH.match(name) for name in needed)


def _with_variables(host: Host, variables: Dict[str, str]) -> Host:
    others = {k: v for k, v in host.environ.items() if not k.startswith("LD_")}
    return host.with_variables({**others, **variables})


class _Examination:
    def __init__(
        self,
        target: Target,
        started: Started,
        projects: Tuple[str, ...],
        progress: Optional[Progress],
        named: Sequence[SharedObject],
    ) -> None:
        self.target = target
        self.started = started
        self.start = started.process
        self.binaries = started.process.binaries
        listed = shared_objects(target, projects, self.binaries.looked)
        places = {file.path for file in named}
        self.files = [*(file for file in listed if file.path not in places), *named]
        self.progress = progress
        self.undecided: Dict[str, None] = {}
        self._names: Optional[FrozenSet[str]] = None

    def result(self) -> Linking:
        """Simulate all of them."""
        results: List[_Result] = []
        foreign: List[Binary] = []
        count = 0
        builds: Dict[str, LinkedBuild] = {}
        links = Links(self.files)
        has_modules: Dict[str, bool] = {}
        for number, file in enumerate(self.files):
            if self.progress is not None:
                self.progress.advance(number, len(self.files))
            if "." in file.wanted:
                foreign.append(self._foreign(file))
            result = self._load(file)
            name = file.distribution
            is_module = result is not None or is_foreign(file.path) or self._is_of_python_2(file)
            has_modules[name] = is_module or has_modules.get(name, False)
            if result is None:
                continue
            count += 1
            if result.torch:
                self._note_build(builds, result)
            links.note(file, result.outcome, self.binaries)
            if not result.outcome.loads and self._is_told(result):
                results.append(result)
            self._release()
        blamer = Blamer(self.target, self.start, self.torch, self.files)
        told = [self._binary(result, blamer) for result in results[:_MOST]]
        told[_IN_FULL:] = [
            msgspec.structs.replace(one, symbols=one.symbols[:1], others=(), looked=())
            for one in told[_IN_FULL:]
        ]
        told += foreign[: _MOST - len(told)]
        return Linking(
            files=count,
            binaries=tuple(told),
            builds=builds,
            undecided=tuple(self.undecided)[:_MAX_UNDECIDED],
            plain=tuple(name for name, has in has_modules.items() if name and not has),
            links=links.result(),
        )

    # --- torch

    @property
    def torch(self) -> Optional[Imported]:
        """The process after `import torch`; None if there is no torch."""
        return self.started.torch(self.files)

    # --- one file

    def _load(self, file: SharedObject) -> Optional[_Result]:
        """Load a file as an import does; None if none would, unless it was named itself."""
        is_asked_for = file.root == file.path
        if not file.module and not is_asked_for:
            return None
        try:
            _, library = self.binaries.library(file.path)
        except ElfError as error:
            if not os.path.exists(file.path):  # noqa: PTH110
                return None  # the probe tells what is missing
            return _Result(file, Outcome(file.path, str(error)), False)
        is_torch = is_of_torch(library.dynamic.needed)
        stem = file.module.rpartition(".")[2]
        is_extension = library.symbols.exports(b"PyInit_" + stem.encode())
        # What is linked to torch may also be loaded as a library of operators; torch's own
        # libraries are loaded with it, or when they are needed.
        is_loaded = is_extension or (is_torch and file.distribution != "torch")
        if not is_loaded and not is_asked_for:
            return None
        if file.module == "torch._C":
            if self.torch is None:
                return None
            return _Result(file, self.torch.failure or Outcome(file.path), True)
        outcome = self.start.open(file.path, keep=False)
        process = self.start
        if not outcome.loads and self.torch is not None:
            if self.torch.failure is not None and is_torch:
                return None  # what torch cannot load, its extensions cannot either: one fault
            beside = self.torch.process.open(file.path, keep=False)
            if beside.loads or is_torch:
                outcome, process = beside, self.torch.process
        if outcome.lacks:
            own = self._with_own_libraries(file, outcome, process)
            if own is None:
                return None
            outcome = own
        return _Result(file, outcome, is_torch)

    def _with_own_libraries(
        self, file: SharedObject, outcome: Outcome, process: Process
    ) -> Optional[Outcome]:
        """What it comes to where libraries of the same distribution are loaded before, by path.

        Packages of torch load what they register operators with so (torch.ops.load_library). None
        if one of these does not load itself: that is the fault.
        """
        names = {lack.name for lack in outcome.lacks}
        helpers = [
            other.path
            for other in self.files
            if (other.distribution, other.root) == (file.distribution, file.root)
            and (file.distribution or file.root)
            and other.path != file.path
            and other.path.rpartition("/")[2] in names
        ]
        if not helpers:
            return outcome
        fork = process.fork()
        outcomes = [fork.open(helper) for helper in helpers]
        if not all(one.loads for one in outcomes):
            return None
        return fork.open(file.path, keep=False)

    def _is_of_python_2(self, file: SharedObject) -> bool:
        """Whether it is a module of Python 2, whose names of files do not say so."""
        if not file.module:
            return False
        try:
            _, library = self.binaries.library(file.path)
        except ElfError:
            return True
        stem = file.module.rpartition(".")[2]
        return library.symbols.exports(b"init" + stem.encode())

    def _foreign(self, file: SharedObject) -> Binary:
        """A module in a package of which another Python's file is there alone."""
        return Binary(
            file.path,
            "other-python",
            module=file.wanted,
            distribution=file.distribution,
            cause=PYTHON,
            missing=suffixes(self.target)[0],
            named=bool(file.root),
            certain=reaches(self.target.path, file.wanted, self.binaries.looked),
        )

    def _release(self) -> None:
        self.binaries.release(self.started.objects)

    def _note_build(self, builds: Dict[str, LinkedBuild], result: _Result) -> None:
        name = result.file.distribution
        if not name or name == "torch" or result.outcome.problem:
            return
        try:
            identity, library = self.binaries.library(result.file.path)
            undefined = self.binaries.undefined(identity, library)
        except ElfError:
            return
        held = builds.get(name, LinkedBuild(loads=True, origin=result.file.path))
        runtime = next((m[1] for n in library.dynamic.needed for m in [_RUNTIME.match(n)] if m), "")
        builds[name] = LinkedBuild(
            cuda=held.cuda or runtime,
            abi=held.abi if held.abi is not None else abi_of(one.name for one in undefined),
            loads=bool(held.loads) and result.outcome.loads,
            origin=held.origin,
        )

    # --- what is told

    def _is_told(self, result: _Result) -> bool:
        """Whether files alone decide that it does not load."""
        outcome = result.outcome
        if outcome.unread:
            return self._leave(result, outcome.unread)
        if outcome.lacks:
            names = [lack.name for lack in outcome.lacks]
            if all(_OF_THE_DRIVER.match(name) for name in names):
                return self._leave(result, f"{names[0]} comes with the driver")
            if result.torch and self.torch is None:
                return self._leave(result, "it is linked to torch, which is not installed")
            for lack in outcome.lacks:
                if self._may_be_loaded_before(lack.name) and result.file.distribution != "torch":
                    why = f"{lack.name} is in the environment, and code may load it before"
                    return self._leave(result, why)
        return True

    def _leave(self, result: _Result, reason: str) -> bool:
        self.undecided[f"{result.file.module}: {reason}"] = None
        return False

    def _may_be_loaded_before(self, name: str) -> bool:
        """Whether some package here brings a library of this name.

        Many load such by path (ctypes.CDLL) before they import what needs them.
        """
        if self._names is None:
            names: Set[str] = set()
            for file in self.files:
                names.add(file.path.rpartition("/")[2])
            self._names = frozenset(names)
        return name in self._names

    def _binary(self, result: _Result, blamer: Blamer) -> Binary:
        file, outcome = result.file, result.outcome
        told = blamer.binary(outcome)
        return msgspec.structs.replace(
            told,
            module=file.module,
            distribution=file.distribution,
            torch=result.torch,
            named=bool(file.root),
            certain=reaches(self.target.path, file.module, self.binaries.looked),
        )
