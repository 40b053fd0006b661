"""Where glibc's dynamic loader looks for a library: ld.so(8), and glibc's elf/dl-load.c."""

from __future__ import annotations

import os
import re
import struct
from typing import Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

from envdoctor.facts import loader
from envdoctor.facts.host import Host

_MAX_NAMES = 20000
_MAX_FOLDERS = 4096
_MAX_PATHS = 256
_TOKEN = re.compile(r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM))")
_LEVELS = {
    "x86-64-v2": frozenset(["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"]),
    "x86-64-v3": frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"]),
    "x86-64-v4": frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
}
# The cache's format: glibc's sysdeps/generic/dl-cache.h.
_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = 48
_ENTRY = struct.Struct("<iIIIQ")
_FLAGS = {"x86_64": 0x0303, "aarch64": 0x0A03}
_MAX_ENTRIES = 200_000
_EXTENSION = 1 << 62  # of an entry's hwcap: the name of its folder is in the extension
_EXTENSION_MAGIC = 0xEAA42174
_HWCAPS_TAG = 1


class Place(NamedTuple):
    """A file that the loader would try, and what makes it look there."""

    path: str
    origin: str  # "RPATH", "LD_LIBRARY_PATH", "RUNPATH", "/etc/ld.so.cache", "default folders"


class Search:
    """The places of one machine and one set of variables. What it looked up it keeps."""

    def __init__(self, host: Host, origin: str) -> None:
        """Look on `host`; `origin` is the folder of the program, $ORIGIN of LD_LIBRARY_PATH."""
        self._host = host
        self._names: Dict[str, Optional[FrozenSet[str]]] = {}
        self.multiarch = f"lib/{host.architecture}-linux-gnu"
        is_multiarch = host.exists(f"/{self.multiarch}")
        self._lib = self.multiarch if is_multiarch else "lib64"
        self._levels = _levels(host)
        self._cache = LoaderCache(loader.read_cache(host), host.architecture, self._levels)
        self.defaults = tuple(
            folder for folder in loader.default_folders(host.architecture) if self._listed(folder)
        )
        text = host.environ.get("LD_LIBRARY_PATH", "").replace(";", ":")
        self.library_path = self.folders(text, origin)

    def folders(self, text: str, origin: str) -> Tuple[str, ...]:
        """The folders of a search path, $ORIGIN and the like replaced.

        Of relative ones, an empty one among them, nobody knows where a process will be started.
        """

        def token(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            own = {"ORIGIN": origin, "LIB": self._lib, "PLATFORM": self._host.architecture}
            return own[name]

        found = []
        for part in text.split(":")[:_MAX_PATHS]:
            folder = _TOKEN.sub(token, part)
            if folder.startswith("/"):
                found.append(folder.rstrip("/") or "/")
        return tuple(dict.fromkeys(found))

    def in_folders(self, folders: Tuple[str, ...], name: str, origin: str) -> Iterator[Place]:
        """The files of a name in these folders, with the folders for this processor first."""
        for folder in folders:
            names = self._listed(folder)
            if names is None:
                continue
            if "glibc-hwcaps" in names:
                for level in self._levels:
                    place = f"{folder}/glibc-hwcaps/{level}"
                    if self._holds(place, name):
                        yield Place(f"{place}/{name}", origin)
            if self._holds(folder, name):
                yield Place(f"{folder}/{name}", origin)

    def in_library_path(self, name: str) -> Iterator[Place]:
        """The files that LD_LIBRARY_PATH has for a name."""
        return self.in_folders(self.library_path, name, "LD_LIBRARY_PATH")

    def in_system(self, name: str, without_defaults: bool = False) -> Iterator[Place]:
        """The files of the loader's cache and of the default folders.

        `without_defaults`: of a library that is marked NODEFLIB.
        """
        for path in self._cache.paths(name):
            folder = path.rpartition("/")[0]
            if not (without_defaults and folder in self.defaults):
                yield Place(path, loader.CACHE)
        if not without_defaults:
            yield from self.in_folders(self.defaults, name, "the default folders")

    def _holds(self, folder: str, name: str) -> bool:
        names = self._listed(folder)
        if names is None:
            return False
        return name in names if len(names) < _MAX_NAMES else self._host.exists(f"{folder}/{name}")

    def _listed(self, folder: str) -> Optional[FrozenSet[str]]:
        """The names in a folder; None if it cannot be listed."""
        if folder not in self._names:
            if len(self._names) >= _MAX_FOLDERS:
                return None
            names = set()
            try:
                with os.scandir(self._host.at(folder)) as entries:
                    for entry in entries:
                        names.add(entry.name)
                        if len(names) >= _MAX_NAMES:
                            break
                self._names[folder] = frozenset(names)
            except (OSError, ValueError):
                self._names[folder] = None
        return self._names[folder]

    @property
    def consulted(self) -> Tuple[str, ...]:
        """Every folder that was looked at so far, and the loader's cache."""
        return (*self._names, loader.CACHE)


def _levels(host: Host) -> Tuple[str, ...]:
    """The folders of glibc-hwcaps that this processor uses, the best first."""
    match = re.search(r"^flags\s*:(.*)$", host.read_text("/proc/cpuinfo") or "", re.MULTILINE)
    flags = set(match[1].split()) if match and host.architecture == "x86_64" else set()
    found: List[str] = []
    for level, needed in _LEVELS.items():
        if not needed <= flags:
            break
        found.insert(0, level)
    return tuple(found)


class LoaderCache:
    """The loader's cache, by name."""

    def __init__(self, data: bytes, architecture: str, levels: Tuple[str, ...]) -> None:
        """Read what `ldconfig` wrote; entries that are damaged are left out.

        `levels` are the folders of glibc-hwcaps that this processor uses, the best first.
        """
        self._paths: Dict[str, List[Tuple[int, str]]] = {}
        start = data.find(_MAGIC)  # an older table may come before it
        if start < 0 or len(data) < start + _HEADER:
            return
        data = data[start:]
        count, _, _, extension = struct.unpack_from("<IIII", data, len(_MAGIC))
        folders = _hwcaps(data, extension)
        wanted = _FLAGS.get(architecture)
        for number in range(min(count, _MAX_ENTRIES)):
            at = _HEADER + number * _ENTRY.size
            if at + _ENTRY.size > len(data):
                break
            flags, key, value, _, hwcap = _ENTRY.unpack_from(data, at)
            if wanted not in (None, flags):
                continue
            rank = len(levels)
            if hwcap & _EXTENSION:
                name = folders[hwcap & 0xFFFFFFFF] if hwcap & 0xFFFFFFFF < len(folders) else ""
                if name not in levels:
                    continue
                rank = levels.index(name)
            self._paths.setdefault(_text(data, key), []).append((rank, _text(data, value)))

    def paths(self, name: str) -> List[str]:
        """The files of a name, the one that fits this processor best first."""
        found = self._paths.get(name, [])
        return [path for _, path in sorted(found, key=lambda one: one[0]) if path]


def _text(data: bytes, at: int) -> str:
    end = data.find(b"\0", at, at + 4096)
    return os.fsdecode(data[at:end]) if end >= 0 else ""


def _hwcaps(data: bytes, extension: int) -> List[str]:
    """The folders under glibc-hwcaps that entries of the cache name by number."""
    found: List[str] = []
    if not 0 < extension <= len(data) - 8:
        return found
    magic, count = struct.unpack_from("<II", data, extension)
    if magic != _EXTENSION_MAGIC:
        return found
    for number in range(min(count, 16)):
        at = extension + 8 + 16 * number
        if at + 16 > len(data):
            break
        tag, _, offset, size = struct.unpack_from("<IIII", data, at)
        if tag == _HWCAPS_TAG:
            for each in range(min(size // 4, 64)):
                if offset + 4 * each + 4 <= len(data):
                    (text,) = struct.unpack_from("<I", data, offset + 4 * each)
                    found.append(_text(data, text))
    return found
