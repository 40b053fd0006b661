"""Asks NVIDIA's driver libraries; run as a script in a child, for a broken driver hangs or crashes.

Usage: driver_probe.py nvml|devices NVML_PATHS CUDA_PATHS (each separated by ":"). `nvml` asks NVML
for the GPUs and libcuda for its version, without initializing it; `devices` initializes libcuda,
which creates no context, and asks it for the devices. It prints one JSON object a line as soon as
it is known, so that what was answered before a hang is kept:

    {"nvml": {"driver", "serves", "devices", "problems"}} or {"nvml": {"error"}}
    {"cuda": {"library", "serves", "devices", "error"}}, a later line replaces an earlier one

Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing is slow to import
    from typing import Any, Callable, Dict, List, Optional

# Seconds after which it ends by itself, if who started it is gone.
LIFETIME = 60
# At least the longest text that the functions used here return (nvml.h).
TEXT = 96
MIG_ENABLED = 1  # nvml.h: NVML_DEVICE_MIG_ENABLE
CAPABILITY = (75, 76)  # cuda.h: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR


class Memory(ctypes.Structure):
    """nvml.h: nvmlMemory_t, in bytes."""

    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class RefusedError(Exception):
    """A library does not load, lacks a function, or the function returned an error."""


class Library:
    """The first of some libraries that loads; its functions return 0 or an error number."""

    def __init__(self, paths: List[str], describe: Callable[[ctypes.CDLL, int], Optional[bytes]]):
        reasons = []
        for path in paths:
            try:
                self.library, self.path = ctypes.CDLL(path), path
            except OSError as error:  # noqa: PERF203
                reasons.append(str(error))
            else:
                self.describe = describe
                return
        raise RefusedError("; ".join(reasons) or "no library found")

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function."""
        function = getattr(self.library, name, None)
        if function is None:
            raise RefusedError(f"{self.path} has no {name}")
        code = function(*arguments)
        if code:
            text = (self.describe(self.library, code) or b"error").decode("utf-8", "replace")
            raise RefusedError(f"{text} ({code})")

    def succeeds(self, name: str, *arguments: Any) -> bool:
        """Call a function that may be missing or refuse."""
        try:
            self.call(name, *arguments)
        except RefusedError:
            return False
        return True


def nvml_text(nvml: Library, name: str, *arguments: Any) -> str:
    """What a function of NVML writes into a buffer; empty if it refuses."""
    buffer = ctypes.create_string_buffer(TEXT)
    if not nvml.succeeds(name, *arguments, buffer, ctypes.c_uint(TEXT)):
        return ""
    return buffer.value.decode("utf-8", "replace")


def nvml_number(nvml: Library, name: str, *arguments: Any) -> Optional[int]:
    """The number that a function of NVML writes through its last argument."""
    value = ctypes.c_uint()
    return value.value if nvml.succeeds(name, *arguments, ctypes.byref(value)) else None


def nvml_memory(nvml: Library, handle: ctypes.c_void_p) -> Optional[int]:
    """Memory of a GPU or of an instance in MiB."""
    memory = Memory()
    if nvml.succeeds("nvmlDeviceGetMemoryInfo", handle, ctypes.byref(memory)):
        return int(memory.total) // 2**20
    return None


def nvml_device(nvml: Library, handle: ctypes.c_void_p) -> Dict[str, Any]:
    """One GPU with its MIG instances."""
    major, minor, mode, pending = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint(), ctypes.c_uint()
    capability = nvml.succeeds(
        "nvmlDeviceGetCudaComputeCapability", handle, ctypes.byref(major), ctypes.byref(minor)
    )
    mig = (
        nvml.succeeds("nvmlDeviceGetMigMode", handle, ctypes.byref(mode), ctypes.byref(pending))
        and mode.value == MIG_ENABLED
    )
    return {
        "name": nvml_text(nvml, "nvmlDeviceGetName", handle),
        "capability": f"{major.value}.{minor.value}" if capability else None,
        "memory_mib": nvml_memory(nvml, handle),
        "uuid": nvml_text(nvml, "nvmlDeviceGetUUID", handle),
        "mig": mig,
        "instances": nvml_instances(nvml, handle) if mig else [],
    }


def nvml_instances(nvml: Library, parent: ctypes.c_void_p) -> List[Dict[str, Any]]:
    """The compute instances of a GPU in MIG mode; the slots that none was created in are empty."""
    instances = []
    for index in range(nvml_number(nvml, "nvmlDeviceGetMaxMigDeviceCount", parent) or 0):
        handle = ctypes.c_void_p()
        place = ctypes.c_uint(index), ctypes.byref(handle)
        if nvml.succeeds("nvmlDeviceGetMigDeviceHandleByIndex", parent, *place):
            instances.append(
                {
                    "name": nvml_text(nvml, "nvmlDeviceGetName", handle),
                    "memory_mib": nvml_memory(nvml, handle),
                    "uuid": nvml_text(nvml, "nvmlDeviceGetUUID", handle),
                    "gpu_instance": nvml_number(nvml, "nvmlDeviceGetGpuInstanceId", handle),
                    "compute_instance": nvml_number(nvml, "nvmlDeviceGetComputeInstanceId", handle),
                }
            )
    return instances


def ask_nvml(paths: List[str]) -> Dict[str, Any]:
    """The driver and the GPUs that NVML lists."""
    count = ctypes.c_uint()
    try:
        nvml = Library(paths, nvml_error)
        nvml.call("nvmlInit_v2")
        nvml.call("nvmlDeviceGetCount_v2", ctypes.byref(count))
    except RefusedError as error:
        return {"error": str(error)}
    devices, problems = [], []
    for index in range(count.value):
        handle = ctypes.c_void_p()
        try:
            nvml.call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        except RefusedError as error:
            problems.append(f"GPU {index}: {error}")
        else:
            devices.append(nvml_device(nvml, handle))
    cuda = nvml_number(nvml, "nvmlSystemGetCudaDriverVersion_v2")
    return {
        "driver": nvml_text(nvml, "nvmlSystemGetDriverVersion"),
        "serves": dotted(cuda) if cuda else "",
        "devices": devices,
        "problems": problems,
    }


def nvml_error(library: ctypes.CDLL, code: int) -> Optional[bytes]:
    """What NVML calls an error number."""
    library.nvmlErrorString.restype = ctypes.c_char_p
    text: Optional[bytes] = library.nvmlErrorString(code)
    return text


def cuda_version(cuda: Library) -> str:
    """The newest CUDA that libcuda serves; needs no initialization."""
    version = ctypes.c_int()
    cuda.call("cuDriverGetVersion", ctypes.byref(version))
    return dotted(version.value)


def cuda_devices(cuda: Library) -> List[Dict[str, Any]]:
    """The devices that libcuda enumerates, by CUDA_VISIBLE_DEVICES and with MIG resolved."""
    cuda.call("cuInit", ctypes.c_uint(0))
    count = ctypes.c_int()
    cuda.call("cuDeviceGetCount", ctypes.byref(count))
    devices = []
    for index in range(count.value):
        device, memory = ctypes.c_int(), ctypes.c_size_t()
        name = ctypes.create_string_buffer(TEXT)
        cuda.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(index))
        cuda.call("cuDeviceGetName", name, ctypes.c_int(TEXT), device)
        parts = []
        for attribute in CAPABILITY:
            part = ctypes.c_int()
            cuda.call("cuDeviceGetAttribute", ctypes.byref(part), ctypes.c_int(attribute), device)
            parts.append(str(part.value))
        sized = cuda.succeeds("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
        devices.append(
            {
                "name": name.value.decode("utf-8", "replace"),
                "capability": ".".join(parts),
                "memory_mib": memory.value // 2**20 if sized else None,
            }
        )
    return devices


def cuda_error(library: ctypes.CDLL, code: int) -> Optional[bytes]:
    """What libcuda calls an error number."""
    name = ctypes.c_char_p()
    library.cuGetErrorName(code, ctypes.byref(name))
    return name.value


def dotted(number: int) -> str:
    """CUDA's numbering: 12020 is "12.2"."""
    return f"{number // 1000}.{number % 1000 // 10}"


def say(answer: Dict[str, Any]) -> None:
    """Print an answer at once."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main(step: str, nvml_paths: List[str], cuda_paths: List[str]) -> None:
    """Ask what `step` names and print the answers."""
    signal.alarm(LIFETIME)
    if step == "nvml":
        say({"nvml": ask_nvml(nvml_paths)})
    answer: Dict[str, Any] = {}
    try:
        cuda = Library(cuda_paths, cuda_error)
        answer["library"] = cuda.path
        answer["serves"] = cuda_version(cuda)
        say({"cuda": answer})
        if step == "devices":
            answer["devices"] = cuda_devices(cuda)
            say({"cuda": answer})
    except RefusedError as refusal:
        say({"cuda": {**answer, "error": str(refusal)}})


if __name__ == "__main__":
    main(sys.argv[1], *(list(filter(None, part.split(":"))) for part in sys.argv[2:4]))
