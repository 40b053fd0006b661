"""Observes what processes share and how much of it they get: /dev/shm, open files, interfaces."""

from __future__ import annotations

import re
from typing import Optional, Tuple

from envdoctor.facts.host import Host
from envdoctor.model.facts import Observed, seen, unseen

_MOUNTS = "/proc/self/mounts"
_LIMITS = "/proc/self/limits"
_DEVICES = "/proc/net/dev"
_SHM = "/dev/shm"  # noqa: S108 - what is looked at, not written to
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_MAX_INTERFACES = 64


def observe_shm(host: Host) -> Observed[int]:
    """The size of /dev/shm in MiB."""
    options: Optional[str] = None
    for line in (host.read_text(_MOUNTS) or "").splitlines():
        words = line.split(" ")
        if len(words) > 3 and words[1] == _SHM:  # the last one mounted is what is seen
            options = words[3] if words[2] == "tmpfs" else None
    if options is None:
        return unseen(f"{_MOUNTS} has no tmpfs at /dev/shm")
    size = re.search(r"(?:^|,)size=([0-9]{1,18})([kmg]?)(?:,|$)", options)
    if size:
        return seen(int(size[1]) * _UNITS[size[2]] // 2**20, _MOUNTS)
    total = re.search(
        r"^MemTotal:\s*([0-9]{1,18}) kB", host.read_text("/proc/meminfo") or "", re.MULTILINE
    )
    if total and "size=" not in options:
        return seen(int(total[1]) // 2048, f"{_MOUNTS}: half of the memory, as no size is given")
    return unseen(f"{_MOUNTS} does not tell the size of /dev/shm")


def observe_open_files(host: Host) -> Observed[int]:
    """How many files a process may have open (the soft limit, `ulimit -n`)."""
    limit = re.search(
        r"^Max open files\s+([0-9]{1,18}|unlimited)\s", host.read_text(_LIMITS) or "", re.MULTILINE
    )
    if limit is None:
        return unseen(f"{_LIMITS} cannot be read")
    return seen(2**30 if limit[1] == "unlimited" else int(limit[1]), _LIMITS)


def observe_interfaces(host: Host) -> Observed[Tuple[str, ...]]:
    """The network interfaces of this network namespace."""
    names = re.findall(r"^[ \t]*([^\s:]+):", host.read_text(_DEVICES) or "", re.MULTILINE)
    if not names or len(names) > _MAX_INTERFACES:
        return unseen(f"{_DEVICES} lists {len(names)} interfaces")
    return seen(tuple(sorted(names)), _DEVICES)
