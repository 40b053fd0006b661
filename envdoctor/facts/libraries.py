"""Observes shared objects that wheels count on: CUDA's that a variable puts first, the system's.

No file is opened but for its first bytes: the versions are in the names of files and of wheels.
"""

from __future__ import annotations

import glob
import re
from typing import Dict, Iterator, List, Optional, Tuple

from envdoctor.facts import loader
from envdoctor.facts.host import Host
from envdoctor.model.facts import Library, Observed, Target, seen, unseen
from envdoctor.model.names import canonical

# What torch or its libraries load by these names; the driver's is there as a stub of the toolkit.
_CUDA = re.compile(
    r"lib(?:cuda|cudart|cublas|cublasLt|cudnn(?:_\w+)?|cufft|curand|cusolver|cusparse|cusparseLt"
    r"|nccl|nvJitLink|nvrtc)\.so(?:\.\d+(?:\.\d+)?)?",
    re.ASCII,
)
#: What `import` of common wheels needs and the wheels do not bring, and what a linker calls the
#: driver's library.
SYSTEM = (
    "libGL.so.1",
    "libglib-2.0.so.0",
    "libgthread-2.0.so.0",
    "libSM.so.6",
    "libICE.so.6",
    "libX11.so.6",
    "libXext.so.6",
    "libXrender.so.1",
    "libxcb.so.1",
    "libgomp.so.1",
    "libudev.so.1",
    "libcuda.so.1",
    "libcuda.so",
)
#: What PaddlePaddle's builds for GPUs leave to the system, too: looked for where one is installed.
PADDLE = (
    "libcudart.so.10.2",
    "libcudart.so.11.0",
    "libcublas.so",
    "libcudnn.so",
    "libssl.so.1.1",
    "libcrypto.so.1.1",
)
# It looks for cuDNN there by itself (dynamic_loader.cc).
_CUDA_OF_PADDLE = "/usr/local/cuda/lib64"
_MAX_FOLDERS = 50
_MAX_AHEAD = 60
_FULL = re.compile(r"\.so\.(\d+(?:\.\d+)+)$", re.ASCII)
_OF_WHEEL = re.compile(r"(.*)/nvidia/(\w+)/lib", re.ASCII)


def observe_ahead(host: Host) -> Observed[Tuple[Library, ...]]:
    """CUDA's libraries that LD_PRELOAD and LD_LIBRARY_PATH put first, one a name."""
    found: Dict[str, Library] = {}
    for path in re.split(r"[\s:]+", host.environ.get("LD_PRELOAD", "")):
        name = path.rpartition("/")[2]
        if path.startswith("/") and _CUDA.match(name) and loader.fits(host, path):
            soname = _soname(name)
            found.setdefault(soname, Library(soname, path, "LD_PRELOAD", version_of(host, path)))
    for folder in loader.library_path_folders(host)[:_MAX_FOLDERS]:
        for path in host.glob(f"{glob.escape(folder)}/lib[cn]*.so*"):
            name = path.rpartition("/")[2]
            if _CUDA.fullmatch(name) and name not in found and loader.fits(host, path):
                found[name] = Library(name, path, "LD_LIBRARY_PATH", version_of(host, path))
    return seen(tuple(found.values())[:_MAX_AHEAD], "LD_LIBRARY_PATH and LD_PRELOAD")


def _soname(name: str) -> str:
    """What a file is asked for by: "libnccl.so.2" of "libnccl.so.2.18.5"."""
    stem, _, version = name.partition(".so.")
    return f"{stem}.so.{version.partition('.')[0]}" if version else name


def version_of(host: Host, path: str) -> str:
    """The version of a library by the file that it links to, or by the wheel that it lies in."""
    full = _FULL.search(host.real(path))
    if full:
        return full[1]
    wheel = _OF_WHEEL.fullmatch(path.rpartition("/")[0])
    if wheel:
        pattern = f"{glob.escape(wheel[1])}/nvidia_{wheel[2]}_cu*-*.dist-info"
        versions = {re.sub(r".*-(.*)\.dist-info", r"\1", found) for found in host.glob(pattern)}
        if len(versions) == 1:
            return versions.pop()
    return ""


def observe_libraries(host: Host, target: Optional[Target]) -> Observed[Tuple[Library, ...]]:
    """Where the loader finds each of SYSTEM, for programs of the target."""
    if host.architecture not in ("x86_64", "aarch64"):
        return unseen(f"where the loader looks on {host.architecture} is not known")
    cache = loader.read_cache(host)
    found = [_first(host, soname, target, cache) for soname in SYSTEM]
    if target is not None and any(
        canonical(one.name) == "paddlepaddle-gpu" for one in target.distributions
    ):
        found += [_of_paddle(host, soname, target, cache) for soname in PADDLE]
    return seen(tuple(found), "where the loader looks")


def _first(host: Host, soname: str, target: Optional[Target], cache: bytes) -> Library:
    for path, origin in loader.find(host, soname, cache=cache):
        return Library(soname, path, origin, version_of(host, path))
    for folder, origin in _of_environment(target):
        path = f"{folder}/{soname}"
        if loader.fits(host, path):
            return Library(soname, path, origin)
    return Library(soname)


def _of_paddle(host: Host, soname: str, target: Target, cache: bytes) -> Library:
    """As `_first`, with the folders in which only Paddle looks; which comes first, releases differ.

    So the version is told only where all that it may take have the same.
    """
    paths = [(f"{entry}/paddle/libs/{soname}", "Paddle's own folder") for entry in target.path]
    if soname == "libcudnn.so":
        paths.append((f"{_CUDA_OF_PADDLE}/{soname}", "where Paddle looks for cuDNN"))
    first = _first(host, soname, target, cache)
    found = [first] if first.path else []
    found += [
        Library(soname, path, origin, version_of(host, path))
        for path, origin in paths
        if loader.fits(host, path)
    ]
    if not found:
        return first
    alike = {one.version for one in found} == {found[0].version}
    return Library(soname, found[0].path, found[0].origin, found[0].version if alike else "")


def _of_environment(target: Optional[Target]) -> Iterator[Tuple[str, str]]:
    """Where conda's interpreters look by their own RPATH."""
    prefixes: List[str] = [target.prefix, target.base_prefix] if target is not None else []
    for prefix in dict.fromkeys(prefixes):
        if prefix:
            yield f"{prefix}/lib", "the environment's lib folder"
