"""Observes whose accelerators are here, and how they are served."""

from __future__ import annotations

import re
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import msgspec

from envdoctor.facts import nvidia
from envdoctor.facts.host import Host
from envdoctor.model.facts import Accelerator, Gpu, Observed, seen, unseen
from envdoctor.model.text import number


class _Signs(NamedTuple):
    """What tells that a vendor's accelerator is here; nodes and folders are shell patterns."""

    vendor: str
    nodes: Tuple[str, ...]
    variables: Tuple[str, ...]  # each holds the folder of the SDK
    folders: Tuple[str, ...]  # the SDK's usual ones
    driver: Tuple[str, ...] = ()  # files that state the driver's version


# Their SDKs bring a libcuda, an nvcc or an nvidia-smi of their own, so their signs are looked for
# before NVIDIA's. Names as the vendors' container set-ups give them.
_POSING = (
    _Signs("t-head", ("/dev/alixpu*",), ("PPU_SDK", "PPU_HOME"), ("/usr/local/PPU_SDK",)),
    _Signs("metax", ("/dev/mxcd",), ("MACA_PATH",), ("/opt/maca",)),
    _Signs(
        "iluvatar",
        ("/dev/iluvatar*", "/dev/aip_bi*"),
        ("COREX_HOME",),
        ("/usr/local/corex",),
    ),
    _Signs(  # before AMD: its stack descends from ROCm and has /dev/kfd too
        "hygon",
        ("/dev/mkfd",),
        ("DTK_HOME", "DTKROOT"),
        ("/opt/dtk*", "/opt/hyhal"),
        ("/sys/module/hycu/version", "/sys/module/hydcu/version"),
    ),
    _Signs(
        "moore-threads",
        ("/dev/mtgpu*",),
        ("MUSA_HOME", "MUSA_PATH"),
        ("/usr/local/musa",),
        ("/sys/module/mtgpu/version",),
    ),
)
_OTHERS = (
    _Signs(
        "ascend",
        ("/dev/davinci[0-9]*", "/dev/davinci_manager"),
        ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"),
        ("/usr/local/Ascend",),
        ("/usr/local/Ascend/driver/version.info",),
    ),
    _Signs(
        "cambricon",
        ("/dev/cambricon_dev*",),
        ("NEUWARE_HOME",),
        ("/usr/local/neuware",),
    ),
    _Signs(
        "amd",
        ("/dev/kfd",),
        ("ROCM_HOME", "ROCM_PATH"),
        ("/opt/rocm*",),
        ("/sys/module/amdgpu/version",),
    ),
    # Not /dev/dri, which the graphics of any laptop have: Gaudi cards, and the SDK of the others.
    _Signs("intel", ("/dev/accel/accel*", "/dev/hl[0-9]*"), ("ONEAPI_ROOT",), ()),
)


# How the PCI bus names NVIDIA, and the devices that are looked at.
_NVIDIA = "0x10de"
_MAX_PCI = 2000


def observe_accelerator(host: Host, limit: float = nvidia.LIMIT) -> Accelerator:
    """Whose accelerators are here, which, and how they are served.

    `limit` bounds a source that asks NVIDIA's driver, in seconds. Where no vendor left a sign,
    no child is started.
    """
    accelerator = _observe(host, limit)
    return msgspec.structs.replace(accelerator, pci=_pci(host))


def _pci(host: Host) -> Observed[int]:
    """NVIDIA's display controllers, as the kernel lists them; a container sees the host's."""
    folder = "/sys/bus/pci/devices"
    classes = host.glob(f"{folder}/*/class")
    if not classes:
        return unseen(f"{folder} cannot be read")
    count = 0
    for path in classes[:_MAX_PCI]:
        if (host.read_text(path) or "").startswith("0x03"):  # VGA and 3D controllers
            vendor = host.read_text(f"{path.rpartition('/')[0]}/vendor") or ""
            count += vendor.strip() == _NVIDIA
    return seen(count, folder)


def _observe(host: Host, limit: float) -> Accelerator:
    vendor, signs = _vendor(host)
    if vendor.value == "nvidia":
        return nvidia.observe_nvidia(host, vendor, limit)
    if signs is None:
        return Accelerator(
            vendor=vendor,
            gpus=seen((), vendor.origin),
            driver=unseen("there is no driver of an accelerator"),
            kernel_module=unseen("there is no driver of an accelerator"),
            serves=unseen("there is no NVIDIA driver"),
            compat=unseen("there is no NVIDIA driver"),
        )
    driver = _driver(host, signs)
    of_module = driver.origin.startswith("/sys/module/")
    return Accelerator(
        vendor=vendor,
        gpus=_gpus(host, signs),
        driver=driver,
        kernel_module=driver if of_module else unseen(f"not read for {signs.vendor}"),
        serves=unseen(f"the accelerator is of {signs.vendor}, not of NVIDIA"),
        compat=unseen(f"the accelerator is of {signs.vendor}, not of NVIDIA"),
    )


def _vendor(host: Host) -> Tuple[Observed[str], Optional[_Signs]]:
    """The vendor by its strongest sign; the order of the looks is their strength."""
    for signs, origin in _decisions(host):
        return seen(signs.vendor if signs else "nvidia", origin), signs
    return seen("none", "no device node, driver or SDK of a known accelerator"), None


def _decisions(host: Host) -> Iterator[Tuple[Optional[_Signs], str]]:
    """The vendors that left signs, strongest first; None is NVIDIA."""
    for signs in _POSING:
        for origin in (*_nodes(host, signs.nodes), *_set_up(host, signs)):
            yield signs, origin
    module_loaded = host.exists("/proc/driver/nvidia/version")
    for signs in _POSING if not module_loaded else ():
        for origin in _folders(host, signs):
            yield signs, origin
    for origin in _nvidia_devices(host):
        yield None, origin
    for signs in _OTHERS:
        for origin in _nodes(host, signs.nodes):
            yield signs, origin
    for signs in _POSING:
        for name in signs.variables:
            if host.environ.get(name):
                yield signs, f"the variable {name}"
    for soname in ("libcuda.so.1", "libnvidia-ml.so.1"):
        for path, _ in nvidia.driver_libraries(host, soname):
            yield None, path
    for signs in _OTHERS:
        for origin in (*_set_up(host, signs), *_folders(host, signs)):
            yield signs, f"{origin}, without a device"


def _nvidia_devices(host: Host) -> List[str]:
    origins = _nodes(host, nvidia.DEVICE_NODES)
    module = "/proc/driver/nvidia/version"
    if host.exists(module):
        origins.append(module)
    wsl = "/usr/lib/wsl/lib/libcuda.so.1"
    if host.exists(nvidia.WSL_NODE) and host.exists(wsl):  # the node serves any vendor's GPU
        origins.append(f"{nvidia.WSL_NODE} and {wsl}")
    return origins


def _nodes(host: Host, patterns: Sequence[str]) -> List[str]:
    return [f"device node {found[0]}" for found in map(host.glob, patterns) if found]


def _folders(host: Host, signs: _Signs) -> List[str]:
    return [f"folder {found[0]}" for found in map(host.glob, signs.folders) if found]


def _set_up(host: Host, signs: _Signs) -> List[str]:
    """The variables of the SDK that name a folder that exists; a stale one does not count."""
    values = [(name, host.environ.get(name, "")) for name in signs.variables]
    return [f"{name}={value}" for name, value in values if value and host.exists(value)]


def _driver(host: Host, signs: _Signs) -> Observed[str]:
    for path in signs.driver:
        text = host.read_text(path) or ""
        version = re.search(r"^(?:Version=)?(\d\S*)", text, re.MULTILINE | re.IGNORECASE)
        if version:
            return seen(version[1], path)
    where = " and ".join(signs.driver)
    return unseen(f"{where} does not state it" if where else f"not read for {signs.vendor}")


def _gpus(host: Host, signs: _Signs) -> Observed[Tuple[Gpu, ...]]:
    if signs.vendor in ("amd", "hygon"):
        gpus = _kfd_gpus(host)
        if gpus:
            return seen(gpus, "/sys/class/kfd/kfd/topology")
    nodes = [node for pattern in signs.nodes for node in host.glob(pattern)]
    numbered = [node for node in nodes if node[-1].isdigit()]
    if not nodes:
        return seen((), f"no device node of {signs.vendor} in /dev")
    return unseen(
        f"which models they are is not read for {signs.vendor}"
        f" ({len(numbered) or len(nodes)} device nodes such as {(numbered or nodes)[0]})"
    )


def _kfd_gpus(host: Host) -> Tuple[Gpu, ...]:
    """The GPUs of the Linux kernel's compute driver for AMD; its other nodes are CPUs."""
    gpus = []
    for path in host.glob("/sys/class/kfd/kfd/topology/nodes/[0-9]*/properties"):
        fields = dict(
            re.findall(r"^(\w+) ([0-9]{1,18})$", host.read_text(path) or "", re.MULTILINE)
        )
        version = int(fields.get("gfx_target_version", 0))
        if not int(fields.get("simd_count", 0)) or not version:
            continue
        # 90402 is gfx942, 90010 gfx90a, 110000 gfx1100
        target = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
        card = f"/sys/class/drm/renderD{fields.get('drm_render_minor', '')}/device"
        product = (host.read_text(f"{card}/product_name") or "").strip()
        memory = number((host.read_text(f"{card}/mem_info_vram_total") or "").strip())
        gpus.append(
            Gpu(
                name=f"{product} ({target})" if product else target,
                memory_mib=None if memory is None else memory // 2**20,
            )
        )
    return tuple(gpus)
