"""Where the dynamic loader finds a shared object, as glibc's ld.so(8) searches for one by name."""

from __future__ import annotations

import struct
from typing import Iterator, List, NamedTuple, Optional, Tuple

from envdoctor.facts.host import Host

CACHE = "/etc/ld.so.cache"
_CACHE_CAP = 16 * 1024 * 1024
# The cache as `ldconfig` of glibc 2.2 and newer writes it (sysdeps/generic/dl-cache.h): a header
# of 48 bytes, then entries of 24 bytes (flags, offsets of name and path, two more), then text.
_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = 48
_ENTRY = struct.Struct("<iIIIQ")
_FLAGS = {"x86_64": 0x0303, "aarch64": 0x0A03}
_MULTIARCH = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}


class Found(NamedTuple):
    """A shared object and what made the loader look there."""

    path: str
    origin: str


def find(
    host: Host, soname: str, library_path: bool = True, cache: Optional[bytes] = None
) -> Iterator[Found]:
    """The files that serve `soname`, the one that the loader takes first; each file once.

    It looks at LD_LIBRARY_PATH (unless `library_path` is False), the loader's cache and the
    default folders. Folders that a program itself names (RPATH, RUNPATH) are not considered.
    `cache` is what `read_cache` returned, for who looks for many.
    """
    files = set()
    if cache is None:
        cache = read_cache(host)
    for path, origin in _candidates(host, soname, library_path, cache):
        real = host.real(path)
        if real not in files and fits(host, path):
            files.add(real)
            yield Found(path, origin)


def default_folders(architecture: str) -> Tuple[str, ...]:
    """The folders that the loader searches last: those of Debian and those of Red Hat."""
    multiarch = _MULTIARCH.get(architecture)
    own = (f"/lib/{multiarch}", f"/usr/lib/{multiarch}") if multiarch else ()
    return (*own, "/lib64", "/usr/lib64", "/lib", "/usr/lib")


def library_path_folders(host: Host) -> List[str]:
    """The absolute folders of LD_LIBRARY_PATH in order, without a slash at their end."""
    folders = host.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    return [folder.rstrip("/") or "/" for folder in folders if folder.startswith("/")]


def read_cache(host: Host) -> bytes:
    """The loader's cache; empty if there is none."""
    return host.read_bytes(CACHE, _CACHE_CAP) or b""


def _candidates(host: Host, soname: str, library_path: bool, cache: bytes) -> Iterator[Found]:
    if library_path:
        for folder in library_path_folders(host):
            yield Found(f"{folder}/{soname}", "LD_LIBRARY_PATH")
    for path in _cached(host, soname, cache):
        yield Found(path, CACHE)
    for folder in default_folders(host.architecture):
        yield Found(f"{folder}/{soname}", "the loader's default folders")


def _cached(host: Host, soname: str, data: bytes) -> List[str]:
    """The paths that the loader's cache has for the name, in its order."""
    start = data.find(_MAGIC)  # an older table may come before it
    name = soname.encode() + b"\0"
    if start < 0 or len(data) < start + _HEADER or name not in data:
        return []
    data = data[start:]
    (count,) = struct.unpack_from("<I", data, len(_MAGIC))
    wanted = _FLAGS.get(host.architecture)
    paths = []
    end = min(_HEADER + count * _ENTRY.size, len(data) - _ENTRY.size + 1)
    for position in range(_HEADER, end, _ENTRY.size):
        flags, key, value, _, _ = _ENTRY.unpack_from(data, position)
        if data.startswith(name, key) and wanted in (None, flags):
            paths.append(data[value : data.find(b"\0", value)].decode("utf-8", "replace"))
    return paths


def fits(host: Host, path: str) -> bool:
    """Whether the file exists and is no 32-bit object, which the loader passes over."""
    head = host.read_bytes(path, 5)
    return head is not None and head != b"\x7fELF\x01"
