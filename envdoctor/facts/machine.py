"""Observes the operating system: what runs here, in which container, with how much of it."""

from __future__ import annotations

import math
import re
import shlex
from typing import Dict, Iterator, List, Optional, Tuple

from envdoctor.facts import libraries, limits, loader
from envdoctor.facts.host import Host
from envdoctor.model.facts import Machine, Observed, Target, seen, unseen
from envdoctor.model.text import number

_LIBSTDCXX = "libstdc++.so.6"
_LIBRARY_CAP = 64 * 1024 * 1024
_MAX_PARTS = 100  # of a control group's path
_MAX_NAME = 200  # characters of a kernel's release, of a system's name
_PACKAGES_CAP = 32 * 1024 * 1024


def observe_machine(host: Host, target: Optional[Target] = None) -> Machine:
    """What the operating system and its limits are, as processes of this environment see them.

    `target` is the environment in whose folders libraries are looked for, too.
    """
    return Machine(
        os=_os(host),
        kernel=_kernel(host),
        architecture=seen(host.architecture, "uname"),
        glibc=_glibc(host),
        libstdcxx=_libstdcxx(host),
        own_libstdcxx=_own_libstdcxx(host, target),
        container=_container(host),
        wsl=_wsl(host),
        jetson=_jetson(host),
        memory_mib=_memory(host),
        cpus=_cpus(host),
        shm_mib=limits.observe_shm(host),
        open_files=limits.observe_open_files(host),
        interfaces=limits.observe_interfaces(host),
        ahead=libraries.observe_ahead(host),
        libraries=libraries.observe_libraries(host, target),
    )


def _os(host: Host) -> Observed[str]:
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        text = host.read_text(path)
        if text is not None:
            fields = _shell_assignments(text)
            parts = [fields[key][:_MAX_NAME] for key in ("ID", "VERSION_ID") if fields.get(key)]
            if fields.get("ID"):
                return seen(":".join(parts), path)
    return unseen("there is no /etc/os-release that names a system")


def _shell_assignments(text: str) -> Dict[str, str]:
    fields = {}
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if separator and not key.startswith("#"):
            try:
                fields[key] = "".join(shlex.split(value))
            except ValueError:  # an unclosed quote
                fields[key] = value
    return fields


def _kernel(host: Host) -> Observed[str]:
    path = "/proc/sys/kernel/osrelease"
    release = (host.read_text(path, _MAX_NAME) or "").strip()
    return seen(release, path) if release else unseen(f"{path} cannot be read")


def _glibc(host: Host) -> Observed[str]:
    name, _, version = host.libc.partition(" ")
    if name == "glibc" and version:
        return seen(version, "confstr CS_GNU_LIBC_VERSION")
    musl = host.glob("/lib/ld-musl-*.so.1")
    if musl:
        return unseen(f"the C library is musl ({musl[0]}), not glibc")
    return unseen("the C library of this system is not glibc")


def _libstdcxx(host: Host) -> Observed[str]:
    # Not LD_LIBRARY_PATH: this is what the system has, whatever the present shell puts before it.
    for path, origin in loader.find(host, _LIBSTDCXX, library_path=False):
        highest = _highest_glibcxx(host, path)
        if highest:
            return seen(highest, f"{path} ({origin})")
        return unseen(f"{path} names no GLIBCXX version")
    return unseen("the loader finds no libstdc++.so.6")


def _own_libstdcxx(host: Host, target: Optional[Target]) -> Observed[str]:
    """What comes before the system's: conda's interpreters name their lib folder in DT_RPATH."""
    prefixes = [target.prefix, target.base_prefix] if target is not None else []
    folders = [f"{prefix}/lib" for prefix in prefixes if prefix not in ("", "/", "/usr")]
    places = [(folder, "the environment's lib folder") for folder in folders]
    places += [(folder, "LD_LIBRARY_PATH") for folder in loader.library_path_folders(host)]
    for folder, origin in places:
        path = f"{folder}/{_LIBSTDCXX}"
        if loader.fits(host, path):
            highest = _highest_glibcxx(host, path)
            if highest:
                return seen(highest, f"{path} ({origin})")
            return unseen(f"{path} names no GLIBCXX version")
    return unseen("programs of the environment load the system's libstdc++")


def _highest_glibcxx(host: Host, path: str) -> str:
    def read() -> str:
        data = host.read_bytes(path, _LIBRARY_CAP) or b""
        versions = {
            tuple(map(int, version.split(b".")))
            for version in re.findall(rb"GLIBCXX_(\d{1,9}(?:\.\d{1,9}){1,9})\0", data)
        }
        return ".".join(map(str, max(versions))) if versions else ""

    return host.read_once("GLIBCXX", path, read)


def _container(host: Host) -> Observed[str]:
    """The container this process is in; the most telling sign decides."""
    for kind, origin in _container_signs(host):
        return seen(kind, origin)
    return seen("none", "no sign of a container in /, /run, /proc/1/cgroup and the environment")


def _container_signs(host: Host) -> Iterator[Tuple[str, str]]:
    # Kubernetes first: its containers are those of docker, containerd or podman as well.
    if host.environ.get("KUBERNETES_SERVICE_HOST"):
        yield "kubernetes", "KUBERNETES_SERVICE_HOST"
    for path in ("/run/secrets/kubernetes.io", "/var/run/secrets/kubernetes.io"):
        if host.exists(path):
            yield "kubernetes", path
    # Apptainer is Singularity's name since 2021 and sets the variables of both.
    for name in ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"):
        if host.environ.get(name):
            yield "apptainer", name
    if host.exists("/.singularity.d"):
        yield "apptainer", "/.singularity.d"
    if host.exists("/run/.containerenv"):
        yield "podman", "/run/.containerenv"
    if host.exists("/.dockerenv"):
        yield "docker", "/.dockerenv"
    # What container managers tell the first process: systemd's "Container Interface".
    stated = (host.read_text("/run/systemd/container") or "").strip()
    if stated in ("lxc", "lxc-libvirt", "systemd-nspawn", "podman", "docker"):
        yield stated.replace("-libvirt", ""), "/run/systemd/container"
    if host.environ.get("container") in ("lxc", "systemd-nspawn", "podman", "docker"):
        yield host.environ["container"], "the variable container"
    for path in ("/proc/1/cgroup", "/proc/self/cgroup"):
        groups = host.read_text(path) or ""
        for pattern, kind in (
            (r"/kubepods", "kubernetes"),
            (r"/libpod", "podman"),
            (r"/docker(?:/|-[0-9a-f]{12})", "docker"),
            (r"/lxc[./]", "lxc"),
        ):
            if re.search(pattern, groups):
                yield kind, path


def _wsl(host: Host) -> Observed[bool]:
    path = "/proc/sys/kernel/osrelease"
    if "microsoft" in (host.read_text(path) or "").lower():
        return seen(True, path)
    for sign in ("/dev/dxg", "/proc/sys/fs/binfmt_misc/WSLInterop"):
        if host.exists(sign):
            return seen(True, sign)
    return seen(False, path)


def _jetson(host: Host) -> Observed[str]:
    """The L4T release of an NVIDIA Jetson."""
    path = "/etc/nv_tegra_release"
    release = re.search(
        r"#\s*R(\d+)\s*\(release\),\s*REVISION:\s*([\d.]+)", host.read_text(path) or ""
    )
    if release:
        return seen(".".join(release.groups()), path)
    if host.architecture != "aarch64":
        return unseen("not a Jetson: those are aarch64")
    packages = "/var/lib/dpkg/status"
    stated = re.search(
        r"^Package: nvidia-l4t-core\n(?:.+\n)*?Version: (\d+(?:\.\d+)+)",
        host.read_text(packages, _PACKAGES_CAP) or "",
        re.MULTILINE,
    )
    if stated:
        return seen(stated[1], f"package nvidia-l4t-core in {packages}")
    if "nvidia,tegra" in (host.read_text("/proc/device-tree/compatible") or ""):
        return unseen(f"a Tegra by its device tree, but neither {path} nor nvidia-l4t-core is here")
    return unseen(f"no {path}, no package nvidia-l4t-core")


def _memory(host: Host) -> Observed[int]:
    total = re.search(
        r"^MemTotal:\s*([0-9]{1,18}) kB", host.read_text("/proc/meminfo") or "", re.MULTILINE
    )
    amounts = [(int(total[1]) // 1024, "MemTotal in /proc/meminfo")] if total else []
    for name, path in _group_files(host, "memory", ("memory.max", "memory.limit_in_bytes")):
        limit = number((host.read_text(path) or "").strip())
        # "max", or in version 1 a number near 2**63, is no limit
        if limit is not None and limit < 2**60:
            amounts.append((limit // 2**20, f"{name} of the control group"))
    return seen(*min(amounts)) if amounts else unseen("/proc/meminfo cannot be read")


def _cpus(host: Host) -> Observed[int]:
    path = "/proc/self/status"
    allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", host.read_text(path) or "", re.MULTILINE)
    amounts = [(_length_of_list(allowed[1]), f"Cpus_allowed_list in {path}")] if allowed else []
    for name, file in _group_files(host, "cpu", ("cpu.max", "cpu.cfs_quota_us")):
        quota = _quota(host, name, file)
        if quota is not None:
            amounts.append((max(1, math.ceil(quota)), f"{name} of the control group"))
    return seen(*min(amounts)) if amounts else unseen(f"{path} cannot be read")


def _length_of_list(ranges: str) -> int:
    """The number of entries of a kernel list such as "0-3,8"."""
    count = 0
    for part in ranges.split(","):
        first, _, last = map(number, part.partition("-"))
        if first is not None:
            count += (first if last is None else last) - first + 1
    return count


def _quota(host: Host, name: str, path: str) -> Optional[float]:
    """CPUs that the group may use at a time; None without a limit."""
    words = (host.read_text(path) or "").split()
    if name == "cpu.cfs_quota_us":
        folder = path.rpartition("/")[0]
        words += (host.read_text(f"{folder}/cpu.cfs_period_us") or "").split()
    allowed, period = map(number, words) if len(words) == 2 else (None, None)
    return allowed / period if allowed is not None and period else None


def _group_files(host: Host, controller: str, names: Tuple[str, str]) -> Iterator[Tuple[str, str]]:
    """The limit files of this process's control groups and of all groups above them.

    `names` are the file's names in version 2 and in version 1.
    """
    for line in (host.read_text("/proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            name, mounts = names[0], ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        elif controller in controllers.split(","):
            name, mounts = (
                names[1],
                [f"/sys/fs/cgroup/{controllers}", f"/sys/fs/cgroup/{controller}"],
            )
        else:
            continue
        for mount in mounts:
            for above in _upwards(group):
                yield name, f"{mount}{above}/{name}"


def _upwards(group: str) -> List[str]:
    """The group and those above it: "/a/b" gives "/a/b", "/a", ""."""
    parts = [part for part in group.split("/") if part and part != ".."]
    parts = parts[:_MAX_PARTS]
    return ["".join(f"/{part}" for part in parts[:length]) for length in range(len(parts), -1, -1)]
