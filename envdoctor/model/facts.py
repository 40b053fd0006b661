"""What was observed of a machine and of one Python environment on it.

Every value that may be missing is an `Observed`: it says where it was read, or why it is
unknown. A `Facts` snapshot is plain JSON (`envdoctor facts -o FILE`), so a user's report can be
replayed as a test.
"""

from __future__ import annotations

from typing import Dict, Generic, Optional, Tuple, TypeVar

import msgspec

SCHEMA_VERSION = 1

T = TypeVar("T")


class Record(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of the records of a snapshot: immutable, decoded strictly, defaults left out."""


class Observed(Record, Generic[T], frozen=True, omit_defaults=True):
    """A value with where it was read, or the reason why it is unknown.

    `value` is None exactly when the value is unknown, and then `unknown` says why.
    """

    value: Optional[T] = None
    origin: str = ""
    unknown: str = ""
    assumed: bool = False
    absent: bool = False  # it was looked for and is not there; `unknown` says where

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


def seen(value: T, origin: str) -> Observed[T]:
    """An observed value and where it was read (a path, a command, an environment variable)."""
    return Observed(value=value, origin=origin)


#: How the reason begins why a fact is unknown that a fault of envdoctor's own kept from being read.
FAILED = "the probe itself failed"
#: Why a fact is unknown that a pasted report could hold.
NOT_SAID = "the report does not say"


def unseen(reason: str) -> Observed[T]:
    """An unknown value and the reason, as a clause that can follow "unknown: "."""
    return Observed(unknown=reason)


def nothing(reason: str) -> Observed[T]:
    """What was looked for and is not there, with the reason as `unseen` has it."""
    return Observed(unknown=reason, absent=True)


class Gpu(Record, frozen=True, omit_defaults=True):
    """One device that CUDA (or the vendor's runtime) would enumerate; a MIG instance is one."""

    name: str
    compute_capability: Optional[str] = None  # "8.0"
    memory_mib: Optional[int] = None  # of the instance where MIG is on
    mig: Optional[str] = None  # MIG profile, e.g. "1g.10gb"; None where MIG is off


class Library(Record, frozen=True, omit_defaults=True):
    """A shared object as the dynamic loader finds it by name."""

    soname: str  # the name that is asked for, "libcudnn.so.9"
    path: str = ""  # empty where it was looked for and is not there
    origin: str = ""  # "LD_LIBRARY_PATH", "LD_PRELOAD", the loader's cache, the environment, ...
    version: str = ""  # "9.1.0": of the file it links to, or of the wheel that it lies in


class Machine(Record, frozen=True, omit_defaults=True):
    """The operating system as processes of this environment see it."""

    os: Observed[str] = Observed()  # "ubuntu:22.04": ID and VERSION_ID of os-release
    kernel: Observed[str] = Observed()
    architecture: Observed[str] = Observed()  # "x86_64", "aarch64"
    glibc: Observed[str] = Observed()  # "2.35"
    libstdcxx: Observed[str] = Observed()  # highest GLIBCXX version, "3.4.30"
    # the same of the one that programs of the environment load in place of the system's
    own_libstdcxx: Observed[str] = Observed()
    container: Observed[str] = Observed()  # "docker", "podman", "kubernetes", ..., "none"
    wsl: Observed[bool] = Observed()
    jetson: Observed[str] = Observed()  # L4T release, "35.4.1"; unknown elsewhere
    memory_mib: Observed[int] = Observed()  # what may be used: the cgroup's limit if lower
    cpus: Observed[int] = Observed()
    shm_mib: Observed[int] = Observed()  # size of /dev/shm
    open_files: Observed[int] = Observed()  # soft limit of a process started here
    interfaces: Observed[Tuple[str, ...]] = Observed()  # network interfaces, "eth0"
    # CUDA's libraries that LD_LIBRARY_PATH or LD_PRELOAD put before others, in the loader's order
    ahead: Observed[Tuple[Library, ...]] = Observed()
    # what common wheels leave to the system: each name that was looked for, found or not
    libraries: Observed[Tuple[Library, ...]] = Observed()


class Accelerator(Record, frozen=True, omit_defaults=True):
    """Accelerators, their driver and what it serves."""

    # "nvidia", "amd", "hygon", "ascend", "t-head", "metax", "iluvatar", "moore-threads",
    # "cambricon", "intel"; "none" where a look found no device and no driver at all
    vendor: Observed[str] = Observed()
    gpus: Observed[Tuple[Gpu, ...]] = Observed()
    driver: Observed[str] = Observed()  # user-space driver, "535.129.03"
    kernel_module: Observed[str] = Observed()  # "535.129.03", of the loaded module
    serves: Observed[str] = Observed()  # newest CUDA that libcuda serves natively, "12.2"
    served: Observed[str] = (
        Observed()
    )  # a CUDA whose build works here, so that it serves at least it
    # libcuda of a cuda-compat package that the loader would take before the driver's own
    compat: Observed[str] = Observed()
    # what a tool said where the driver did not serve it, by kind, as a report tells it: "broken",
    # "mismatch" (of kernel module and libraries), "old"
    refused: Dict[str, Observed[str]] = {}
    # NVIDIA's display controllers on the PCI bus, whether or not a driver serves them
    pci: Observed[int] = Observed()


class Toolkit(Record, frozen=True, omit_defaults=True):
    """A CUDA toolkit with a compiler."""

    path: str  # the folder that holds bin/nvcc
    version: str  # "11.3" or "11.3.109": as nvcc or its version file states it
    origin: str


class Compiler(Record, frozen=True, omit_defaults=True):
    """A host C++ compiler."""

    path: str
    family: str  # "gcc" or "clang"
    version: str  # "11.4.0"


class Tools(Record, frozen=True, omit_defaults=True):
    """What a source build would use."""

    toolkits: Tuple[Toolkit, ...] = ()  # every one found
    toolkit: Observed[Toolkit] = Observed()  # the one torch's extension builder would take
    compiler: Observed[Compiler] = Observed()  # of C++ sources
    nvcc_compiler: Observed[Compiler] = Observed()  # the one that nvcc calls for the host's part
    ninja: Observed[str] = Observed()  # path of the command that the build would call
    python_headers: Observed[str] = Observed()  # folder that holds Python.h
    cudnn: Observed[str] = Observed()  # version of the toolkit's or system's cuDNN headers


class Distribution(Record, frozen=True, omit_defaults=True):
    """One installed distribution as its metadata on the target's search path states it."""

    name: str  # as written in the metadata
    version: str
    path: str  # the metadata folder or file
    search_entry: str  # the entry of sys.path under which it was found
    installer: str = ""  # INSTALLER: "pip", "uv", "conda", ...
    tags: Tuple[str, ...] = ()  # wheel tags of WHEEL, "cp38-cp38-manylinux1_x86_64"
    direct_url: str = ""  # where it came from, if not an index; credentials removed
    editable: str = ""  # the project folder, if installed in place
    requires_python: str = ""
    requires: Tuple[str, ...] = ()  # Requires-Dist, as written, without those of extras
    modules: Tuple[str, ...] = ()  # top-level import names
    # entries of RECORD that imports may need (of a long one, all but .pyc); 0 if there is no list
    files: int = 0
    looked_for: int = 0  # how many of them were looked for on disk, where that was a sample
    # up to ten modules and libraries that are gone and that no other distribution lists as well;
    # first those without which a top-level import fails
    missing: Tuple[str, ...] = ()
    missing_count: int = 0  # how many of those looked for
    cut: Tuple[str, ...] = ()  # up to ten that are shorter than listed: empty, or without their end
    # of `missing` and `cut`, those without which compiled code does not load or an import fails
    needed: Tuple[str, ...] = ()
    unimportable: Tuple[str, ...] = ()  # of `modules`, those that nothing serves for that reason
    shadowed_by: str = ""  # search entry whose same-named module is imported instead
    stray: str = ""  # the module there, where it is no copy of this one
    built: str = ""  # __version__ of its version.py, where that names the build: "0.19.1+cu121"
    # versions of other modules that its __init__.py asserts, {"mmcv": ">=1.3.8,<=1.4.0"}; "" where
    # it tests in another way; None if it was not read (it is for OpenMMLab's packages); of one
    # that wrote a report none, for it was imported
    limits: Optional[Dict[str, str]] = None
    # the versions of other projects that it checks when it is imported, by canonical name
    checks: Dict[str, str] = {}
    # where its folder holds metadata of several versions of it, whether the files there are of this
    # one; None where they do not tell
    has_files: Optional[bool] = None
    # there, files that are as this one lists them, where others are as another version does
    mixed: Tuple[str, ...] = ()
    # what it has in a namespace package and cannot be imported ("google.auth"), for a package of
    # that name has an __init__.py, `hidden_by`, somewhere on the path
    hidden: Tuple[str, ...] = ()
    hidden_by: str = ""
    # {module: file} of modules that the standard library no longer has and nothing else serves,
    # where importing it imports them in any case
    removed: Dict[str, str] = {}
    import_error: str = ""  # what importing its compiled part said, where a report tells that
    problem: str = ""  # why the metadata could not be read wholly
    # of one that is asked for (Target.asked): all that is asked of its version, which is empty
    # where several would do; `path` is the line that asks
    specifier: str = ""


class CodeGroup(Record, frozen=True, omit_defaults=True):
    """Fat binaries of a package that hold images for the same architectures."""

    sass: Tuple[str, ...] = ()  # compiled, ("7.0", "8.6", "9.0a")
    ptx: Tuple[str, ...] = ()
    containers: int = 1  # how many they are


class GpuCode(Record, frozen=True, omit_defaults=True):
    """GPU code in the libraries of a package, by compute capability."""

    # compiled, ("7.0", "8.6", "9.0a"); None where it is not known
    sass: Optional[Tuple[str, ...]] = None
    ptx: Optional[Tuple[str, ...]] = None  # None where it is not known
    cuda: str = ""  # the CUDA that made it, where that is known
    origin: str = ""
    # of files that were read: what `sass` and `ptx` sum up, the most frequent first
    groups: Tuple[CodeGroup, ...] = ()
    # PTX that would have to be linked on the device before it runs
    linkable: Tuple[str, ...] = ()
    ptx_version: str = ""  # the newest version of PTX among them, "8.4"


class Binary(Record, frozen=True, omit_defaults=True):
    """A shared object that an import may load, and that the dynamic loader would refuse."""

    path: str
    # "missing-library", "missing-version", "missing-symbols"; "unreadable" if it is none itself;
    # "other-python" if this interpreter takes no file of that name, and no other is there
    outcome: str
    module: str = ""  # as it is imported, "mmcv._ext"
    distribution: str = ""  # canonical name
    # finding that says what is to blame, "torch-abi-mismatch"; a general one where nothing is known
    cause: str = ""
    # the library, "libcudart.so.11.0", the version, "GLIBCXX_3.4.30", or how files of modules end
    missing: str = ""
    by: str = ""  # the file that asks for it, where that is another one
    others: Tuple[str, ...] = ()  # up to ten more libraries that are missing
    looked: Tuple[str, ...] = ()  # folders that files and variables name for it
    instead: str = ""  # what is there in its place: a file, or the SONAME of another release
    origin: str = ""  # what makes the loader take that: "LD_LIBRARY_PATH", "RPATH", ...
    symbols: Tuple[str, ...] = ()  # up to ten that nothing defines, demangled where that can be
    count: int = 0  # how many there are
    certain: bool = False  # importing the package's top-level module loads it in any case
    torch: bool = False  # it is linked to torch
    named: bool = False  # it lies in a tree or at a path that was named
    reason: str = ""  # of an unreadable one


class LinkedBuild(Record, frozen=True, omit_defaults=True):
    """What the binaries of a distribution that is linked to torch say of how they were compiled."""

    cuda: str = ""  # the CUDA runtime that they need, by its SONAME: "11.0" or "12"; "" if none
    abi: Optional[int] = None  # _GLIBCXX_USE_CXX11_ABI, where names of symbols show it
    loads: Optional[bool] = None  # whether all of them load beside the torch that is here
    origin: str = ""  # the file that says so


class Link(Record, frozen=True, omit_defaults=True):
    """Files of one distribution that are linked to libraries of another."""

    to: str  # canonical name of the distribution that has the libraries
    libraries: Tuple[str, ...] = ()  # up to ten, as the files name them: "libtorch.so"
    files: Tuple[str, ...] = ()  # up to five of them
    count: int = 0  # how many files
    # whether they use C++ of torch, which changes from series to series, and not C alone
    cxx: bool = False


class Linking(Record, frozen=True, omit_defaults=True):
    """What the dynamic loader would do with the binaries of an environment, simulated."""

    files: int = 0  # that an import may load, and whose loading was simulated
    binaries: Tuple[Binary, ...] = ()  # those that do not load
    builds: Dict[str, LinkedBuild] = {}  # by canonical name
    gpu_code: Dict[str, GpuCode] = {}  # as it is remembered; a snapshot has it in Target
    undecided: Tuple[str, ...] = ()  # what cannot be told by files alone, and why
    # distributions whose shared objects are no modules of any Python, by canonical name
    plain: Tuple[str, ...] = ()
    # by the canonical name of the distribution that the files are of; "" of what is of none
    links: Dict[str, Tuple[Link, ...]] = {}
    # extension modules that take NumPy's C interface from where NumPy 1 has it alone, up to five
    # of each distribution, by canonical name; None where they were not looked for
    numpy_1: Optional[Dict[str, Tuple[str, ...]]] = None


class CondaPackage(Record, frozen=True, omit_defaults=True):
    """A package of conda-meta."""

    name: str
    version: str
    build: str = ""
    channel: str = ""


class Command(Record, frozen=True, omit_defaults=True):
    """A command on PATH and the Python that its first line starts."""

    name: str
    path: str
    interpreter: str = ""  # empty if it is not a Python script


class TorchFiles(Record, frozen=True, omit_defaults=True):
    """What torch's own files say; torch is not imported."""

    path: str  # the package folder
    version: Observed[str] = Observed()  # torch/version.py __version__
    cuda: Observed[str] = Observed()  # "11.1"; "cpu" where version.py says None
    hip: Observed[str] = Observed()
    abi: Observed[int] = Observed()  # _GLIBCXX_USE_CXX11_ABI, 0 or 1
    # whether torch/utils/tensorboard takes distutils.version from setuptools
    distutils: Observed[bool] = Observed()
    # further platforms that version.py names, {"xpu": "20250004"}; cuda is unknown then if None
    vendor: Dict[str, str] = {}


class AskedLine(Record, frozen=True, omit_defaults=True):
    """One requirement that applies, as a file states it."""

    name: str  # canonical
    specifier: str
    origin: str  # "requirements.txt:3"
    text: str  # as written
    installer: str = "pip"  # "conda" where conda would install it
    locked: bool = False  # the choice of a lock file


class Asked(Record, frozen=True, omit_defaults=True):
    """What requirement files ask for. Nothing of it is installed."""

    files: Tuple[str, ...]
    lines: Tuple[AskedLine, ...] = ()
    python: str = ""  # the versions of Python that the files allow, where they say it
    python_origin: str = ""
    indexes: Tuple[str, ...] = ()  # URLs of indexes and pages of links that they name
    complete: bool = False  # a lock file: what it does not name will not be there
    previews: bool = False  # pre-releases are as good as releases
    # {file: what reads it}, "conda", "uv", "poetry", "pipenv", or "build" where any tool may that
    # builds the project; files that are not named are pip's
    managers: Dict[str, str] = {}


class Target(Record, frozen=True, omit_defaults=True):
    """The Python environment under examination, or the one that requirement files ask for."""

    python: str  # path of the interpreter
    version: str  # "3.8.18"; empty where requirement files do not say it
    implementation: str = "cpython"
    soabi: str = ""  # "cpython-38-x86_64-linux-gnu"
    prefix: str = ""
    base_prefix: str = ""
    free_threaded: bool = False
    path: Tuple[str, ...] = ()  # sys.path of a script started without arguments
    user_site: str = ""  # the user site folder, if it is on the search path
    environ: Dict[str, str] = {}  # variables that change imports, linking or builds
    distributions: Tuple[Distribution, ...] = ()
    conda: Tuple[CondaPackage, ...] = ()
    commands: Tuple[Command, ...] = ()
    # {module: place} of modules that belong to no metadata here, as in a source tree on the path:
    # of packages of the matrices, and what may serve requirements of which nothing is installed;
    # pkg_resources also with its metadata
    modules: Dict[str, str] = {}
    # {module: place} of what is imported in place of the standard library's modules
    standard: Dict[str, str] = {}
    managed: str = ""  # the file that keeps pip from installing here (PEP 668), if there is one
    leftovers: Tuple[str, ...] = ()  # folders that pip had renamed to remove when it was broken off
    # {"python3.8": number of distributions} in the environment's libraries of other Pythons
    other_libraries: Dict[str, int] = {}
    torch: Optional[TorchFiles] = None
    gpu_code: Dict[str, GpuCode] = {}  # of distributions of which it was read
    linking: Observed[Linking] = Observed()
    problems: Tuple[str, ...] = ()  # what the probe could not read, and why
    asked: Optional[Asked] = None  # the requirement files that ask for `distributions`


class InterfaceUse(Record, frozen=True, omit_defaults=True):
    """Where a project uses an interface that some releases do not have."""

    interface: str  # as the tables `removed_...` of the matrices name it: "numpy.bool"
    count: int  # lines
    places: Tuple[str, ...] = ()  # the first three, "tools/train.py:82"
    by: str = ""  # of a script's flag: the line that starts the script, "tools/dist_train.sh:9"


class Project(Record, frozen=True, omit_defaults=True):
    """The source tree of a project, as far as its environment matters to it."""

    root: str
    files: int = 0  # that were read
    uses: Tuple[InterfaceUse, ...] = ()
    # {folder of a git submodule that is missing or empty: ".gitmodules:3"}
    submodules: Dict[str, str] = {}
    packages: Dict[str, str] = {}  # {package at its root: version that its files tell, or ""}
    # {module that its entry files import and nothing on the search path serves: "train.py:7"}
    unresolved: Dict[str, str] = {}
    sought: bool = False  # whether modules were looked for on the search path
    problems: Tuple[str, ...] = ()  # what was not read, and why


class Facts(Record, frozen=True, omit_defaults=True):
    """A snapshot: one machine, one environment, at one moment."""

    schema_version: int = SCHEMA_VERSION
    envdoctor_version: str = ""
    taken: str = ""  # UTC, "2026-11-30T10:18:19Z"
    machine: Machine = Machine()
    accelerator: Accelerator = Accelerator()
    tools: Tools = Tools()
    # origin says why this interpreter was chosen
    target: Observed[Target] = Observed()
    projects: Tuple[Project, ...] = ()  # source trees that were named
