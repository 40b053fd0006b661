"""Observes NVIDIA's driver and GPUs, from the first source that answers.

The sources in their order: NVML; `nvidia-smi`; libcuda, which alone is there in containers with the
capability `compute` only; `/proc/driver/nvidia`. A broken driver hangs or crashes whoever asks it,
so the libraries are asked in a child with a time limit; the next source then answers, and why the
one before did not is kept in the origin.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from envdoctor.facts import child, loader, nvidia_smi
from envdoctor.facts.enumeration import Device, Instance, enumerate_devices
from envdoctor.facts.host import Host
from envdoctor.model.facts import Accelerator, Gpu, Observed, seen, unseen
from envdoctor.model.text import number

_PROBE = Path(__file__).with_name("driver_probe.py")
# Seconds for a source. GPUs without persistence mode take a second each to wake; once a source has
# run out of time, the others get less.
LIMIT = 15.0
_LIMIT_AFTER_A_HANG = 5.0

# Where a driver may lie without being on the loader's path: containers of Google's and of
# Kubernetes' device plugins, WSL, Jetson, NixOS, old Fedora.
_OTHER_FOLDERS = (
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib/aarch64-linux-gnu/tegra",
    "/run/opengl-driver/lib",
    "/usr/lib64/nvidia",
)
_SMI_PLACES = (
    "/usr/bin/nvidia-smi",
    "/usr/local/nvidia/bin/nvidia-smi",
    "/usr/lib/wsl/lib/nvidia-smi",
)
# The last three are a Jetson's.
DEVICE_NODES = ("/dev/nvidia[0-9]*", "/dev/nvhost-gpu", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu/igpu*")
WSL_NODE = "/dev/dxg"


def observe_nvidia(host: Host, vendor: Observed[str], limit: float = LIMIT) -> Accelerator:
    """The driver and the GPUs that CUDA would enumerate; `limit` is in seconds a source."""
    reader = _Reader(host, limit)
    reader.ask_nvml()
    if reader.gpus is None:  # else it tells no more, for it asks NVML
        reader.ask_smi()
    for source in (reader.ask_libcuda, reader.read_proc):
        if not reader.has_all():
            source()
    module = _kernel_module(host)
    return Accelerator(
        vendor=vendor,
        gpus=_gpus(host, reader),
        driver=_driver(host, reader, module),
        kernel_module=module,
        serves=reader.serves or unseen(reader.reasons() or "no source tells it"),
        compat=_compat(host),
    )


def driver_libraries(host: Host, soname: str) -> List[loader.Found]:
    """The driver's own files that serve `soname`: not cuda-compat's, not the stubs of a toolkit."""
    return [
        found
        for found in libraries(host, soname)
        if not _is_compat(host, found.path) and "/stubs/" not in found.path
    ]


def libraries(host: Host, soname: str) -> List[loader.Found]:
    """The files that serve `soname`: the loader's choice, then those it would not find."""
    found = list(loader.find(host, soname))
    known = {host.real(library.path) for library in found}
    for folder in _OTHER_FOLDERS:
        path = f"{folder}/{soname}"
        if host.exists(path) and host.real(path) not in known:
            found.append(loader.Found(path, "not on the loader's path"))
    return found


def _is_compat(host: Host, path: str) -> bool:
    folders = f"{path}/{host.real(path)}".split("/")
    return "compat" in folders or "cuda-compat" in folders


def _compat(host: Host) -> Observed[str]:
    for path, origin in loader.find(host, "libcuda.so.1"):
        if _is_compat(host, path):
            return seen(host.real(path), origin)
        return unseen(f"the loader takes {path}, which is not of cuda-compat")
    return unseen("the loader finds no libcuda.so.1")


def _kernel_module(host: Host) -> Observed[str]:
    path = "/proc/driver/nvidia/version"
    line = re.search(r"NVRM version:.*?\s(\d+(?:\.\d+)+)\s", host.read_text(path) or "")
    if line:
        return seen(line[1], path)
    path = "/sys/module/nvidia/version"
    version = (host.read_text(path) or "").strip()
    return seen(version, path) if version else unseen("no NVIDIA kernel module is loaded here")


def _driver(host: Host, reader: _Reader, module: Observed[str]) -> Observed[str]:
    if reader.driver is not None:
        return reader.driver
    # The files of the driver carry its version in their names: libcuda.so.535.129.03.
    for soname in ("libnvidia-ml.so.1", "libcuda.so.1"):
        for path, _ in driver_libraries(host, soname):
            real = host.real(path)
            version = re.search(r"\.so\.(\d{3,}(?:\.\d+)+)$", real)
            if version:
                return seen(version[1], reader.origin(f"name of {real}"))
    # A Jetson's module has the number of its L4T release there.
    if module.value is not None and (number(module.value.partition(".")[0]) or 0) >= 100:
        return seen(module.value, reader.origin(module.origin))
    return unseen(reader.reasons() or "no source tells it")


def _gpus(host: Host, reader: _Reader) -> Observed[Tuple[Gpu, ...]]:
    if reader.gpus is not None:
        return reader.gpus
    if not any(host.glob(pattern) for pattern in (*DEVICE_NODES, WSL_NODE)):
        return seen((), "no NVIDIA device node in /dev")
    return unseen(reader.reasons())


class _Reader:
    """Asks the sources and keeps the first answer to each question, with its origin."""

    def __init__(self, host: Host, limit: float):
        self.host = host
        self.limit = limit
        self.gpus: Optional[Observed[Tuple[Gpu, ...]]] = None
        self.driver: Optional[Observed[str]] = None
        self.serves: Optional[Observed[str]] = None
        self._gpus_are_whole = False
        self._failures: List[str] = []
        # For the child: the libraries' places, and how to name them.
        self._nvml = {host.at(path): path for path, _ in libraries(host, "libnvidia-ml.so.1")}
        self._cuda = {host.at(path): path for path, _ in libraries(host, "libcuda.so.1")}

    def has_all(self) -> bool:
        """Whether no further source is needed."""
        return self._gpus_are_whole and self.driver is not None and self.serves is not None

    def reasons(self) -> str:
        """Why the sources that were asked did not answer, as a clause."""
        return "; ".join(self._failures)

    def origin(self, source: str) -> str:
        """The source, and why those before it did not answer."""
        return "; ".join([source, *self._failures])

    def ask_nvml(self) -> None:
        if not self._nvml:
            self._failures.append("NVML: no libnvidia-ml.so.1")
            return
        answers, failure = self._probe("nvml")
        failure = failure or "no answer"
        nvml = answers.get("nvml", {"error": failure})
        cuda = answers.get("cuda", {"error": failure})
        if "error" not in nvml:
            devices = [_device(device) for device in nvml["devices"]]
            self._take_driver("NVML", nvml["driver"])
            self._take_devices("; ".join(["NVML", *nvml["problems"]]), devices, nvml["driver"])
        self._take_cuda(cuda)
        if "error" in nvml:
            self._failures.append(f"NVML: {nvml['error']}")
        else:
            if "error" in cuda:
                self._failures.append(f"libcuda: {cuda['error']}")
            self._take_serves("NVML", nvml["serves"])

    def ask_smi(self) -> None:
        command = self.host.which("nvidia-smi") or next(
            (place for place in _SMI_PLACES if self.host.which(place)), ""
        )
        if not command:
            self._failures.append("nvidia-smi: no such command")
            return
        fields = nvidia_smi.FIELDS
        done = self._smi(command, "--query-gpu=" + ",".join(fields), nvidia_smi.FORMAT)
        if b"not a valid field" in done.stdout + done.stderr:
            fields = nvidia_smi.OLD_FIELDS
            done = self._smi(command, "--query-gpu=" + ",".join(fields), nvidia_smi.FORMAT)
        output = done.stdout.decode("utf-8", "replace")
        listed = nvidia_smi.read_query(output, fields)
        if not listed.devices and "No devices were found" not in output:
            said = (output + done.stderr.decode("utf-8", "replace")).strip().splitlines()
            self._failures.append(f"nvidia-smi: {said[0] if said else done.failure or 'no answer'}")
            return
        devices = list(listed.devices)
        has_mig = any(device.mig for device in devices)
        details = ""
        if has_mig or self.serves is None:
            details = self._smi(command, "-q").stdout.decode("utf-8", "replace")
        if has_mig:
            listing = self._smi(command, "-L").stdout.decode("utf-8", "replace")
            every = nvidia_smi.read_instances(listing, details)
            devices = [
                device._replace(instances=instances if device.mig else ())
                for device, instances in zip(devices, every)
            ]
        driver, serves = nvidia_smi.read_versions(details)
        self._take_driver("nvidia-smi", listed.driver or driver)
        self._take_serves("nvidia-smi", serves)
        self._take_devices("nvidia-smi", devices, listed.driver)

    def ask_libcuda(self) -> None:
        if not self._cuda:
            self._failures.append("libcuda: no libcuda.so.1")
            return
        answers, failure = self._probe("devices")
        cuda = answers.get("cuda", {})
        self._take_cuda(cuda)
        reason = cuda.get("error") or failure or "no answer"
        if "devices" in cuda:
            gpus = tuple(_cuda_gpu(device) for device in cuda["devices"])
            self._take_gpus("libcuda (cuDeviceGetAttribute)", gpus, whole=True)
        elif reason.startswith("CUDA_ERROR_NO_DEVICE"):
            self._take_gpus(f"libcuda: {reason}", (), whole=True)
        else:
            self._failures.append(f"libcuda: {reason}")

    def read_proc(self) -> None:
        devices = []
        for path in self.host.glob("/proc/driver/nvidia/gpus/*/information"):
            pairs = (line.partition(":") for line in (self.host.read_text(path) or "").splitlines())
            fields = {key.strip(): value.strip() for key, _, value in pairs}
            if fields.get("Model"):
                devices.append(Device(fields["Model"], uuid=fields.get("GPU UUID", "")))
        if devices:
            self._take_devices("/proc/driver/nvidia/gpus", devices, "")

    def _probe(self, step: str) -> Tuple[Dict[str, Dict[str, Any]], str]:
        """The child's answers and why there are no more of them."""
        done = self.host.run_script(
            _PROBE, [step, ":".join(self._nvml), ":".join(self._cuda)], self.limit
        )
        self._note_hang(done)
        answers: Dict[str, Dict[str, Any]] = {}
        for line in done.stdout.splitlines():
            answers.update(_object(line))
        return answers, done.failure

    def _smi(self, command: str, *options: str) -> child.Completed:
        done = self.host.run([command, *options], self.limit)
        self._note_hang(done)
        return done

    def _note_hang(self, done: child.Completed) -> None:
        if done.status is None:
            self.limit = _LIMIT_AFTER_A_HANG

    def _take_driver(self, source: str, version: str) -> None:
        if self.driver is None and version:
            self.driver = seen(version, self.origin(source))

    def _take_serves(self, source: str, version: str) -> None:
        if self.serves is None and version:
            self.serves = seen(version, self.origin(source))

    def _take_cuda(self, cuda: Dict[str, Any]) -> None:
        library = self._cuda.get(cuda.get("library", ""), "")
        self._take_serves(f"libcuda (cuDriverGetVersion), {library}", cuda.get("serves", ""))

    def _take_devices(self, source: str, devices: Sequence[Device], driver: str) -> None:
        visible = self.host.environ.get("CUDA_VISIBLE_DEVICES")
        gpus = enumerate_devices(devices, visible, driver)
        # NVML does not tell the memory of GPUs that share the CPU's; libcuda does.
        whole = bool(devices) and all(gpu.compute_capability and gpu.memory_mib for gpu in gpus)
        # These sources list by PCI bus, while CUDA numbers the fastest first unless told otherwise.
        if (
            visible is not None
            and len({device.name for device in devices}) > 1
            and re.search(r"(^|,)\s*\+?\d", visible)
            and self.host.environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID"
        ):
            whole = False
            source += ", CUDA_VISIBLE_DEVICES taken in the order of the PCI bus"
        self._take_gpus(source, gpus, whole)

    def _take_gpus(self, source: str, gpus: Tuple[Gpu, ...], whole: bool) -> None:
        if self.gpus is None or (whole and not self._gpus_are_whole):
            self.gpus = seen(gpus, self.origin(source))
            self._gpus_are_whole = whole


def _object(line: bytes) -> Dict[str, Any]:
    """A line of the child; empty if it was stopped in it, or if a library printed it."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _device(told: Dict[str, Any]) -> Device:
    """A GPU as the child tells it of NVML."""
    return Device(
        name=told["name"],
        compute_capability=told["capability"],
        memory_mib=told["memory_mib"],
        uuid=told["uuid"],
        mig=told["mig"],
        instances=tuple(
            Instance(
                profile=_split_mig(instance["name"])[1] or "unnamed",
                memory_mib=instance["memory_mib"],
                uuid=instance["uuid"],
                gpu_instance=instance["gpu_instance"],
                compute_instance=instance["compute_instance"],
            )
            for instance in told["instances"]
        ),
    )


def _cuda_gpu(told: Dict[str, Any]) -> Gpu:
    """A device as the child tells it of libcuda."""
    name, profile = _split_mig(told["name"])
    return Gpu(name, told["capability"], told["memory_mib"], profile or None)


def _split_mig(name: str) -> Tuple[str, str]:
    """The GPU's name and the instance's profile of "NVIDIA A100-SXM4-40GB MIG 1g.5gb"."""
    gpu, _, profile = name.partition(" MIG ")
    return gpu, profile.strip()
