"""What environments of the lab are made of: installed packages and compiled files, made once.

A layer is a virtual environment after some calls of `pip install`. Layers and compiled files are
kept from run to run in a folder of the user's cache (`ENVDOCTOR_LAB` names another). What is made
of a layer shares its files by hard links: whoever changes a file there replaces it, see `replace`.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence, Tuple

from environments import bare
from odd import pip, says, site
from packaging.version import Version

SOURCES = Path(__file__).resolve().parent / "sources"

#: Builds for the processor alone are on PyTorch's index, of which pip is not told everywhere.
_CPU_BUILDS = "https://download.pytorch.org/whl/cpu"


def cache() -> Path:
    """The folder in which layers and compiled files are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(os.environ.get("ENVDOCTOR_LAB") or Path(home, "envdoctor-lab"))


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder of its own, on the same file system as the layers."""
    root = cache() / "work"
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root) as folder:
        yield Path(folder)


def layer(python: str, steps: Tuple[str, ...]) -> Path:
    """The virtual environment of an interpreter after these steps, each arguments of pip.

    Nothing that packages require is installed along with them: all is said, all is pinned.
    """

    def build(folder: Path) -> None:
        if not steps:
            shutil.copytree(bare(python), folder, symlinks=True)
            return
        link(layer(python, steps[:-1]), folder)
        arguments = ["install", "--no-deps", "--no-cache-dir", *steps[-1].split()]
        try:
            pip(folder, *arguments)
        except AssertionError:
            if "+cpu" not in steps[-1]:
                raise
            pip(folder, *arguments, "--extra-index-url", _CPU_BUILDS)

    return _kept("layer", (_identity(python), *steps), build)


def link(environment: Path, folder: Path) -> None:
    """Make an environment like another one; files are shared, commands point to the new one."""
    shutil.copytree(environment, folder, symlinks=True, copy_function=os.link)
    for command in (folder / "bin").iterdir():
        if command.is_symlink():
            continue
        text = command.read_bytes()
        if str(environment).encode() in text:
            replace(command, text.replace(str(environment).encode(), str(folder).encode()))
            command.chmod(0o755)


def replace(path: Path, data: bytes) -> None:
    """Give a file another content; other environments that share it keep theirs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    path.write_bytes(data)


def overwrite(files: Path, folder: Path) -> None:
    """Put the files below a folder over those of another, as an unpacked archive does."""
    for path in sorted(files.rglob("*")):
        target = folder / path.relative_to(files)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.unlink() if target.exists() or target.is_symlink() else None
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, target)


def source(name: str) -> str:
    """The text of a file of `sources`."""
    return (SOURCES / name).read_text()


def compiled(text: str, *options: str, texts: Mapping[str, str] = {}) -> Path:
    """A shared library of C++ with these options of the compiler, to be copied.

    `texts` are further files that the options name, in the folder where the compiler runs.
    """

    def build(folder: Path) -> None:
        folder.mkdir()
        for name, content in {"source.cpp": text, **texts}.items():
            (folder / name).write_text(content)
        command = ["g++", "-shared", "-fPIC", "-w", "-o", "made.so", "source.cpp", *options]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr.decode()

    identity = (text, *options, *(f"{name}\n{content}" for name, content in texts.items()))
    return _kept("compiled", (_compiler(), *identity), build) / "made.so"


@functools.lru_cache(maxsize=None)
def _compiler() -> str:
    done = subprocess.run(["g++", "-dumpfullversion"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip()


@functools.lru_cache(maxsize=None)
def _identity(python: str) -> str:
    code = "import sys; print(sys.executable, sys.version)"
    done = subprocess.run([python, "-I", "-c", code], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def kept(name: str, data: bytes) -> Path:
    """A file of that name with that content, where the compiler can be told to find it."""

    def build(folder: Path) -> None:
        folder.mkdir()
        (folder / name).write_bytes(data)

    digest = hashlib.sha256(data).hexdigest()
    return _kept("file", (name, digest), build) / name


def _kept(kind: str, identity: Sequence[str], build: Callable[[Path], None]) -> Path:
    """What `build` makes in the folder that it is given; made once for each identity."""
    digest = hashlib.sha256("\0".join(identity).encode()).hexdigest()[:16]
    root = cache() / kind
    root.mkdir(parents=True, exist_ok=True)
    made = root / digest
    with (root / f"{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes run tests at once
        if not made.exists():
            unfinished = root / f"{digest}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            build(unfinished)
            if (unfinished / "bin").is_dir():
                _point(unfinished, made)
            unfinished.rename(made)
    return made


def _point(unfinished: Path, made: Path) -> None:
    """Let the commands of an environment name the place where it will be."""
    for command in (unfinished / "bin").iterdir():
        if not command.is_symlink() and str(unfinished).encode() in command.read_bytes():
            text = command.read_bytes()
            replace(command, text.replace(str(unfinished).encode(), str(made).encode()))
            command.chmod(0o755)


def built(environment: Path, requirement: str) -> Path:
    """The wheel that pip builds of a source distribution in an environment, with what is there."""

    def build(folder: Path) -> None:
        folder.mkdir()
        compiler = folder / "compiler"  # what is compiled is to load, not to be fast
        compiler.write_text('#!/bin/sh\nexec g++ "$@" -O0 -w\n')
        compiler.chmod(0o755)
        settings = {"CC": str(compiler), "CXX": str(compiler), "FORCE_ONLY_CPU": "1"}
        command = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
        command += ["wheel", "-q", "--no-deps", "--no-build-isolation", "--no-binary=:all:"]
        command += ["--no-cache-dir", "-w", str(folder), requirement]
        environ = {**os.environ, **settings}
        done = subprocess.run(command, env=environ, capture_output=True, timeout=3600, check=False)
        assert done.returncode == 0, done.stderr.decode()

    folder = _kept("wheel", (str(environment), requirement), build)
    (wheel,) = folder.glob("*.whl")
    return wheel


def torch_options(environment: Path, name: str, abi: str = "") -> Tuple[str, ...]:
    """What torch's own builder of extensions gives the compiler, for a module of that name.

    `abi` is the C++ ABI, "0" or "1"; that of the torch itself if not given.
    """
    packages = site(environment)
    torch = packages / "torch"
    (info,) = packages.glob("torch-*.dist-info")
    version = Version(info.stem.split("-")[1])
    new = version >= Version("2.7") or version.local == "cpu"
    return (
        f"-DTORCH_EXTENSION_NAME={name}",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi or int(new)}",
        f"-std={'c++14' if version.major < 2 else 'c++17' if version.minor < 10 else 'c++20'}",
        "-O0",
        f"-I{torch / 'include'}",
        f"-I{torch / 'include' / 'torch' / 'csrc' / 'api' / 'include'}",
        f"-I{python_headers(environment)}",
        f"-L{torch / 'lib'}",
        *("-lc10", "-ltorch", "-ltorch_cpu", "-ltorch_python"),
    )


def python_headers(environment: Path) -> str:
    """The folder of Python.h."""
    python = str(environment / "bin" / "python")
    return says(python, "import sysconfig; print(sysconfig.get_path('include'))")


def system_library(soname: str) -> Path:
    """Where the compiler finds a library of the system."""
    command = ["g++", f"-print-file-name={soname}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return Path(os.path.realpath(done.stdout.decode().strip()))
