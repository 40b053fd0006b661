"""Observes what a source build would use: CUDA toolkit, compilers, ninja, headers.

`toolkit`, `compiler`, `nvcc_compiler` and `ninja` follow torch.utils.cpp_extension (read in torch
2.13.0), on the PATH that the target has when it is activated.

Nothing of an environment or a project is started: versions are read from files, and only commands
that the system's packages bring are asked.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
from typing import Dict, Iterator, List, Optional, Tuple

from envdoctor.facts.host import OUTPUT_CAP, Host
from envdoctor.model.facts import Compiler, Observed, Target, Toolkit, Tools, nothing, seen, unseen

# Seconds for `nvcc --version` and `c++ --version`, which a cold network file system makes slow.
LIMIT = 10.0

# Where toolkits are, as shell patterns: NVIDIA's packages and images, Arch, Debian, HPC SDK.
_TOOLKIT_FOLDERS = (
    "/usr/local/cuda",
    "/usr/local/cuda-*",
    "/opt/cuda",
    "/opt/cuda-*",
    "/usr/lib/nvidia-cuda-toolkit",
    "/opt/nvidia/hpc_sdk/*/*/cuda/[0-9]*",
)
# Where the system's commands are, links resolved, who owns them, and what they are started with:
# a launcher finds on PATH what it starts, the loader libraries on LD_LIBRARY_PATH.
_SYSTEM = ("/bin/", "/usr/bin/", "/usr/lib", "/usr/local/bin/", "/usr/local/cuda")
_OWNER = 0
_ENVIRON = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
_NOT_STARTED = "is not the system's, so it is not started, and no file tells its version"

# Programs that tell their own version.
_OWN_VERSION = re.compile(r"(?:.+-)?(?:gcc|g\+\+|c\+\+|clang|clang\+\+|nvcc)(?:-[\d.]+)?$")
_LAUNCHERS = ("ccache", "sccache", "distcc", "icecc")


def observe_tools(host: Host, target: Optional[Target], limit: float = LIMIT) -> Tools:
    """What a source build for `target` would use; `limit` bounds each command, in seconds.

    Without a target the PATH is taken as it is, and there are no Python headers to look for.
    """
    finder = _Finder(host, target, limit)
    toolkit = finder.toolkit()
    return Tools(
        toolkits=finder.toolkits(),
        toolkit=toolkit,
        compiler=finder.compiler(),
        nvcc_compiler=finder.nvcc_compiler(),
        ninja=finder.ninja(),
        python_headers=_python_headers(host, target),
        cudnn=_cudnn(host, toolkit.value),
    )


class _Finder:
    def __init__(self, host: Host, target: Optional[Target], limit: float):
        self.host = host
        self.limit = limit
        self.prefix = target.prefix if target else ""
        self.path = host.search_path()
        self.added = ""  # what activation would put before PATH
        if target:
            folder = target.python.rpartition("/")[0]
            if folder not in self.path:
                self.added = folder
                self.path = [folder, *self.path]
        self._compilers: Dict[str, Tuple[str, str]] = {}
        self._versions: Dict[str, str] = {}

    def _which(self, command: str) -> Tuple[str, str]:
        """The file that a command starts and where it was found."""
        file = self.host.which(command, self.path)
        if self.added and file.startswith(f"{self.added}/"):
            return file, f"{self.added}, which is not on PATH"
        return file, f"{command} on PATH"

    def toolkit(self) -> Observed[Toolkit]:
        """The toolkit that torch takes as CUDA_HOME."""
        environ = self.host.environ
        name = "CUDA_HOME" if environ.get("CUDA_HOME") else "CUDA_PATH"
        folder, origin = environ.get(name), name
        if folder == "":
            return nothing("CUDA_PATH is empty, which makes torch look no further")
        if folder is None:
            nvcc, origin = self._which("nvcc")
            folder = _above(nvcc)
            if not nvcc:
                folder, origin = "/usr/local/cuda", "/usr/local/cuda"
                if not self.host.exists(folder):
                    return nothing(
                        "neither CUDA_HOME nor CUDA_PATH is set, nvcc is not on PATH, and there is"
                        " no /usr/local/cuda"
                    )
        if not self.host.which(f"{folder}/bin/nvcc"):
            return nothing(f"{folder} (by {origin}) has no bin/nvcc")
        version = self._version(folder)
        if not version:
            silent = "does not tell its version"
            reason = silent if self._is_system(f"{folder}/bin/nvcc") else _NOT_STARTED
            return unseen(f"{folder}/bin/nvcc (by {origin}) {reason}")
        return seen(Toolkit(folder, version, origin), origin)

    def toolkits(self) -> Tuple[Toolkit, ...]:
        """Every toolkit found, each once."""
        toolkits, known = [], set()
        for folder, origin in self._toolkit_folders():
            nvcc = self.host.which(f"{folder}/bin/nvcc")
            real = self.host.real(nvcc)
            if nvcc and real not in known:
                known.add(real)
                version = self._version(folder)
                if version:
                    toolkits.append(Toolkit(self.host.real(folder), version, origin))
        return tuple(toolkits)

    def _toolkit_folders(self) -> Iterator[Tuple[str, str]]:
        for name in ("CUDA_HOME", "CUDA_PATH"):
            if self.host.environ.get(name):
                yield self.host.environ[name], name
        for pattern in _TOOLKIT_FOLDERS:
            for folder in self.host.glob(pattern):
                yield folder, folder
        for prefix in (self.prefix, self.host.environ.get("CONDA_PREFIX", "")):
            if prefix:
                yield prefix, f"environment {prefix}"
        # Last, for it may be a script that starts one of those above.
        nvcc, origin = self._which("nvcc")
        if nvcc:
            yield _above(self.host.real(nvcc)), origin

    def _version(self, folder: str) -> str:
        """The version of the folder's nvcc as files or itself state it, or ""."""
        nvcc = self.host.real(f"{folder}/bin/nvcc")
        if nvcc not in self._versions:
            self._versions[nvcc] = (
                _version_of_json(self.host.read_text(f"{folder}/version.json") or "")
                or _search(
                    r"CUDA Version (\d+(?:\.\d+)+)",
                    self.host.read_text(f"{folder}/version.txt") or "",
                )
                or self._version_of_conda(folder)
                or _search(r"\bV(\d+(?:\.\d+)+)", self._ask(f"{folder}/bin/nvcc", "--version"))
                or self._version_of_header(folder)
            )
        return self._versions[nvcc]

    def _version_of_conda(self, folder: str) -> str:
        for package in ("cuda-nvcc-tools", "cuda-nvcc"):
            for path in self.host.glob(f"{glob.escape(folder)}/conda-meta/{package}-[0-9]*.json"):
                return path.rpartition(f"/{package}-")[2].partition("-")[0]
        return ""

    def _version_of_header(self, folder: str) -> str:
        found = self.host.glob(f"{glob.escape(folder)}/targets/*/include/cuda.h")
        for path in (f"{folder}/include/cuda.h", *found):
            text = self.host.read_text(path) or ""
            number = int(_search(r"#define\s+CUDA_VERSION\s+(\d{4,6})\b", text) or 0)
            if number:
                return f"{number // 1000}.{number % 1000 // 10}"
        return ""

    def _ask(self, command: str, option: str) -> str:
        """What a command of the system prints; nothing of any other."""
        if not self._is_system(command):
            return ""

        said = ""

        def read() -> str:
            nonlocal said
            argv = [self.host.at(command), option]
            done = self.host.execute(argv, self.limit, OUTPUT_CAP, _ENVIRON)
            said = done.stdout.decode("utf-8", "replace")
            return "" if done.failure else said

        # Another program may start a compiler, as ccache does under the compiler's name.
        name = self.host.real(command).rpartition("/")[2]
        if _OWN_VERSION.match(name) and self.host.is_program(command):
            return self.host.read_once(option, command, read) or said
        read()
        return said

    def _is_system(self, command: str) -> bool:
        real = self.host.real(command)
        above = _above(real)
        if not real.startswith(_SYSTEM) or self.host.exists(f"{above}/conda-meta"):
            return False
        if self.prefix not in ("", "/usr", "/usr/local") and real.startswith(f"{self.prefix}/"):
            return False
        try:
            status = os.stat(self.host.at(real))  # noqa: PTH116 - as pathlib has it
        except OSError:
            return False
        return status.st_uid == _OWNER and not status.st_mode & 0o022

    def compiler(self) -> Observed[Compiler]:
        """What compiles C++ sources: CXX, else c++."""
        stated = self.host.environ.get("CXX")
        if stated:
            return self._compiler(stated, f"CXX={stated}")
        for command in ("c++", "g++"):
            if self.host.which(command, self.path):
                return self._compiler(command, "")
        return nothing("CXX is not set, and there is no c++ on PATH")

    def nvcc_compiler(self) -> Observed[Compiler]:
        """What nvcc calls for the host's part: the last -ccbin it is given, else gcc on PATH."""
        environ = self.host.environ
        # torch gives nvcc `-ccbin $CC`; nvcc itself puts the flags of two variables around it.
        for name, given in (
            ("NVCC_APPEND_FLAGS", _ccbin(environ.get("NVCC_APPEND_FLAGS", ""))),
            ("CC", environ.get("CC", "")),
            ("NVCC_PREPEND_FLAGS", _ccbin(environ.get("NVCC_PREPEND_FLAGS", ""))),
            ("NVCC_CCBIN", environ.get("NVCC_CCBIN", "")),
        ):
            if given:
                return self._compiler(given, f"{name}={given}")
        if self.host.which("gcc", self.path):
            return self._compiler("gcc", "")
        return nothing("there is no gcc on PATH")

    def _compiler(self, stated: str, origin: str) -> Observed[Compiler]:
        try:
            words = [word for word in shlex.split(stated) if "=" not in word]
        except ValueError:
            words = []
        command = next((w for w in words if w.rpartition("/")[2] not in _LAUNCHERS), stated)
        file, found = self._which(command)
        if not file and self.host.which(f"{command}/gcc"):  # nvcc takes a folder, too
            file = f"{command.rstrip('/')}/gcc"
        if not file:
            return nothing(f"{origin} names no command that can be started")
        real = self.host.real(file)
        if real not in self._compilers:
            family, version = read_compiler(self._ask(file, "--version"))
            if family == "gcc" and not version:
                version = self._ask(file, "-dumpfullversion").strip()
            self._compilers[real] = (family, version) if version else self._installed(real)
        family, version = self._compilers[real]
        if not version:
            silent = "tells no version of gcc or clang"
            reason = silent if self._is_system(file) else _NOT_STARTED
            return unseen(f"{file} ({origin or found}) {reason}")
        return seen(Compiler(file, family, version), origin or found)

    def _installed(self, real: str) -> Tuple[str, str]:
        """Family and version of a compiler by the folder that it has its own files in."""
        name = real.rpartition("/")[2]
        parts = re.fullmatch(r"(?:(.+)-)?(gcc|g\+\+|c\+\+|cc|clang|clang\+\+)(?:-([\d.]+))?", name)
        if not parts:
            return "", ""
        triplet, command, wanted = parts[1] or "", parts[2], f"{parts[3]}." if parts[3] else ""
        family = "clang" if command.startswith("clang") else "gcc"
        folder = "clang/*" if family == "clang" else f"gcc/{glob.escape(triplet) or '*'}/*"
        names = {
            path.rpartition("/")[2]
            for path in self.host.glob(f"{glob.escape(_above(real))}/lib/{folder}")
        }
        versions = [
            name
            for name in names
            if re.fullmatch(r"\d+(\.\d+)*", name) and f"{name}.".startswith(wanted)
        ]
        return (family, versions[0]) if len(versions) == 1 else ("", "")

    def ninja(self) -> Observed[str]:
        """The ninja that torch calls; without it, it compiles one file after the other."""
        file, origin = self._which("ninja")
        return seen(file, origin) if file else nothing("there is no command ninja on PATH")


def read_compiler(text: str) -> Tuple[str, str]:
    """Family and version in what a compiler prints for --version; empty where not recognized."""
    first = text.partition("\n")[0]
    clang = _search(r"clang version (\d+(?:\.\d+)+)", text)
    if clang:
        return "clang", clang
    if "Free Software Foundation" in text:
        # For instance "g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-26)".
        return "gcc", _search(r"^\S+ \([^)]*\) (\d+(?:\.\d+)+)", first)
    return "", ""


def _search(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return match[1] if match else ""


def _above(file: str) -> str:
    """The folder that holds the folder of a file, as two calls of dirname give it."""
    return file.rpartition("/")[0].rpartition("/")[0] or "/"


def _version_of_json(text: str) -> str:
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    for part in ("cuda_nvcc", "cuda"):
        entry = parts.get(part) if isinstance(parts, dict) else None
        version = entry.get("version") if isinstance(entry, dict) else None
        if isinstance(version, str) and re.fullmatch(r"\d+(\.\d+)+", version):
            return version
    return ""


def _ccbin(flags: str) -> str:
    """The last compiler that flags of nvcc name."""
    found = re.findall(r"(?:^|\s)(?:-ccbin|--compiler-bindir)[ =](\S+)", flags)
    return found[-1] if found else ""


def _python_headers(host: Host, target: Optional[Target]) -> Observed[str]:
    if target is None:
        return unseen("there is no target interpreter")
    numbers = [int(part) for part in re.findall(r"\d{1,9}", target.version)[:2]]
    flags = "t" if target.free_threaded else "m" if numbers < [3, 8] else ""
    name = "pypy" if target.implementation == "pypy" else "python"
    include = f"include/{name}{'.'.join(map(str, numbers))}{flags}"
    folders = _distinct([f"{prefix}/{include}" for prefix in (target.base_prefix, target.prefix)])
    for folder in folders:
        if host.exists(f"{folder}/Python.h"):
            return seen(folder, f"{folder}/Python.h")
    return nothing(f"there is no Python.h in {' or '.join(folders)}")


def _cudnn(host: Host, toolkit: Optional[Toolkit]) -> Observed[str]:
    environ = host.environ
    homes = [environ[name] for name in ("CUDNN_HOME", "CUDNN_PATH") if environ.get(name)]
    folders = [f"{home}/include" for home in homes]
    if toolkit:
        folders += [f"{toolkit.path}/include", *host.glob(f"{toolkit.path}/targets/*/include")]
    folders += ["/usr/include", *host.glob("/usr/include/*-linux-gnu")]
    for folder in folders:
        for header in ("cudnn_version.h", "cudnn.h"):  # before cuDNN 8 it was in cudnn.h
            path = f"{folder}/{header}"
            fields = dict(
                re.findall(
                    r"#define\s+CUDNN_(MAJOR|MINOR|PATCHLEVEL)\s+(\d+)", host.read_text(path) or ""
                )
            )
            if len(fields) == 3:
                parts = (fields[name] for name in ("MAJOR", "MINOR", "PATCHLEVEL"))
                return seen(".".join(parts), path)
    return unseen("no cudnn_version.h in the toolkit or in /usr/include")


def _distinct(items: List[str]) -> List[str]:
    return list(dict.fromkeys(items))
