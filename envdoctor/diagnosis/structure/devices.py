"""Messages of CUDA, of NVIDIA's driver and its tools, from whatever program they come."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

#: What devices and drivers report, the more specific first. Named groups become fields.
_FAULTS: Sequence[Tuple[str, re.Pattern[str]]] = tuple(
    (fault, re.compile(pattern, re.IGNORECASE))
    for fault, pattern in (
        (
            "no-kernel",
            r"no kernel image is available|cudaErrorNoKernelImageForDevice|NO_BINARY_FOR_GPU"
            r"|CUBLAS_STATUS_ARCH_MISMATCH|CUDNN_STATUS\w{0,30}ARCH_MISMATCH"
            r"|invalid device function|cudaErrorInvalidDeviceFunction"
            r"|device kernel image is invalid|cudaErrorInvalidKernelImage"
            r"|CUDA[ _](?:runtime )?error:? ?\(?209\b"
            r"|is for sm\d{1,3}[\w, -]{0,30} but was built for sm",
        ),
        (
            "ptx",
            r"PTX was compiled with an unsupported toolchain|UNSUPPORTED_PTX_VERSION"
            r"|cudaErrorUnsupportedPtxVersion"
            r"|ptx input, line \d{1,6}; fatal {1,5}: Unsupported \.version (?P<ptx>[\d.]{1,6})",
        ),
        (
            "old-driver",
            r"NVIDIA driver on your system is too old(?: \(found version (?P<found>\d{4,5})\))?"
            r"|CUDA driver version is insufficient|cudaErrorInsufficientDriver"
            r"|\bCUDA (?:runtime )?(?:error|failure):? ?\(?35\b"
            r"|installed NVIDIA driver is too old|driver is too old for"
            r"|CUDA driver version (?P<version>\d{1,2}\.\d{1,2}) is (?:too old|insufficient|lower)",
        ),
        (
            "requirement",
            r"unsatisfied condition: (?P<condition>(?:cuda|driver) ?>=? ?(?P<needs>[\d.]{1,12}))",
        ),
        (
            "container-driver",
            r"container was built for NVIDIA Driver Release (?P<needs>[\d.]{1,12}) or later, but"
            r"(?: version (?P<version>[\d.]{1,16}) was detected)?",
        ),
        (
            "compat",
            r"forward compatibility was attempted on non supported HW"
            r"|COMPAT_NOT_SUPPORTED_ON_DEVICE"
            r"|cudaErrorCompatNotSupportedOnDevice",
        ),
        (
            "mismatch",
            r"driver/library version mismatch|LIB_RM_VERSION_MISMATCH|NVML/RM version mismatch"
            r"|unsupported display driver / cuda driver combination|SYSTEM_DRIVER_MISMATCH"
            r"|cudaErrorSystemDriverMismatch|NVMLError_LibRmVersionMismatch"
            r"|kernel version (?P<kernel>[\d.]{3,16}) does not match DSO version "
            r"(?P<dso>[\d.]{3,16})"
            r"|API mismatch: the (?:client|NVIDIA)",
        ),
        (
            "not-compiled",
            r"Torch not compiled with CUDA enabled|not linked with support for cuda devices"
            r"|Cannot initialize CUDA without ATen_cuda library"
            r"|PyTorch (?:is |was )?(?:not compiled|compiled without|built without) (?:with )?CUDA",
        ),
        (
            "no-driver",
            r"Found no NVIDIA driver on your system"
            r"|libcuda\.so(?:\.1)?:? cannot open shared object"
            r"|couldn't find libnvidia-ml\.so"
            r"|NVML Shared Library Not Found|NVMLError_LibraryNotFound"
            r"|CUDA driver library cannot be found|Could not find module 'nvcuda\.dll'"
            r"|nvcuda\.dll.{0,20} not found",
        ),
        (
            "driver-down",
            r"couldn't communicate with the NVIDIA driver"
            r"|nvml error: driver not loaded|NVML: Driver Not Loaded|NVMLError_DriverNotLoaded"
            r"|driver error: (?:failed to process request|timed out)|driver rpc error"
            r"|nvidia-container-cli[^,]{0,60}: load library failed: libnvidia-ml"
            r"|nvidia-container-cli[^,]{0,60}: (?:nvml error: (?:unknown error|gpu is lost)|cuda"
            r" error)"
            r"|initialization error: (?:nvml error: (?:unknown error|insufficient)|cuda error: )"
            r"|NVIDIA kernel module (?:is )?(?:not loaded|appears? to be missing)"
            r"|Module nvidia not found in directory|could not insert 'nvidia\w{0,20}'"
            r"|system not yet initialized|SYSTEM_NOT_READY|cudaErrorSystemNotReady"
            r"|RmInitAdapter failed|fallen off the bus|GPU is lost\b|Unable to determine the"
            r" device handle"
            r"|NVRM: (?:No NVIDIA GPU found|This can occur when a driver)",
        ),
        (
            "unknown",
            r"CUDA (?:error: )?unknown error|CUDA_ERROR_UNKNOWN|cuda runtime error \((?:30|999)\)",
        ),
        (
            "device-memory",
            r"CUDA(?: error:?| driver error:| runtime error \(2\) ?:) ?out of memory"
            r"|CUDA out of memory(?=\.|$|['\")\]:,]| (?:at|when|error)\b)"
            r"|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|HIP out of memory"
            r"|CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED"
            r"|failed to allocate .{1,60} from device: CUDA"
            r"|RESOURCE_EXHAUSTED: Out of memory (?:while trying to allocate|allocating)"
            r"|Available memory on GPU \d|OutOfMemoryError: Out of memory allocating"
            r"|OOM when allocating tensor .{0,200}(?:GPU|gpu)|Cannot allocate \S{1,30} memory on"
            r" GPU"
            r"|NVML_SUCCESS == r INTERNAL ASSERT FAILED at .{0,80}CUDACachingAllocator"
            r"|torch\.(?:cuda\.)?OutOfMemoryError",
        ),
        (
            "paddle-arch",
            r"Mismatched GPU Architecture"
            r"|GPU architecture in your current machine is (?P<gpu>\w{2,20}), which is not"
            r" compatible"
            r"|installed Paddle (?:package )?was compiled for "
            r"(?P<built>[\d ]{2,80})",
        ),
        (
            "announced",
            r"GPU Compute Capability: (?P<capability>\d{1,2}\.\d), Driver API Version: "
            r"(?P<served>\d{1,2}\.\d{1,2}), Runtime API Version: (?P<runtime>\d{1,2}\.\d{1,2})",
        ),
        (
            "refused-arch",
            r"(?P<refused>\S.{0,80}?) with CUDA capability sm_(?P<arch>\d{2,3}) is not compatible"
            r" with"
            r" the current PyTorch"
            r"|Found GPU\d{1,3} (?P<old_gpu>.{1,80}?) which is of (?:cuda|compute) capability"
            r"(?: \(CC\))? (?P<old>\d{1,2}\.\d)",
        ),
    )
)
#: Words of which a line has one that may hold a message; they are what readers are woken by.
_TRIGGERS = (
    "kernel image",
    "nokernelimage",
    "invalid device function",
    "invaliddevicefunction",
    "arch_mismatch",
    "no_binary_for_gpu",
    "was built for sm",
    "unsupported toolchain",
    "unsupported_ptx",
    "unsupportedptx",
    "ptx input",
    "driver is too old",
    "driver on your system",
    "cuda driver version",
    "insufficientdriver",
    "unsatisfied condition",
    "nvidia driver release",
    "forward compatibility",
    "compat_not_supported",
    "compatnotsupported",
    "version mismatch",
    "rm_version_mismatch",
    "rmversionmismatch",
    "display driver / cuda",
    "drivermismatch",
    "driver_mismatch",
    "dso version",
    "api mismatch",
    "compiled with cuda",
    "compiled without cuda",
    "built without cuda",
    "support for cuda devices",
    "aten_cuda library",
    "libcuda.so",
    "libnvidia-ml",
    "nvml",
    "cuda driver library",
    "nvcuda.dll",
    "nvidia driver",
    "driver not loaded",
    "driver error",
    "nvidia kernel module",
    "module nvidia",
    "insert 'nvidia",
    "not yet initialized",
    "system_not_ready",
    "systemnotready",
    "nvrm",
    "rminitadapter",
    "fallen off the bus",
    "gpu is lost",
    "device handle",
    "unknown error",
    "error_unknown",
    "cuda runtime error",
    "cuda error ",
    "cuda error: ",
    "cuda failure ",
    "initialization error",
    "out of memory",
    "outofmemory",
    "out_of_memory",
    "memoryallocation",
    "alloc_failed",
    "from device: cuda",
    "available memory on gpu",
    "oom when allocating",
    "memory on gpu",
    "gpu architecture",
    "installed paddle",
    "cuda capabilit",
    "compute capability",
)
_BUILT = re.compile(r"supports CUDA capabilities ((?:(?:sm|compute)_\d{2,3}\w?,? ?){1,40})")
_ROUND = re.compile(r"Minimum and Maximum cuda capability|\(CC\)|no longer supports this GPU")
_WARNING = re.compile(
    r"\b\w{0,40}Warning: |^\s*W[:\d ]|\bWARN(?:ING)?\b|\bretry|\bInfo\b|\b(?:SKIPPED|XFAIL)\b"
)
_FRAME = re.compile(r'\s*File "([^"]{1,500})", line \d')
_SITE = re.compile(r"(?:site|dist)-packages[\\/]+(\w+)")
_SOURCE = re.compile(r"(?<![\w./\\+:~-])[\w./\\+:~-]{0,300}\.(?:cuh?|cpp|hpp|cc|h)\b")
_OF_TORCH = re.compile(
    r"(?:^|[\\/])(?:aten|c10|torch[\\/]csrc|caffe2|THC|THCUNN)[\\/]|^(?:THC\w*|CUDA(?:Caching\w+"
    r"|Functions|Exception))\."
)
#: A call of something compiled, as code calls it. torch's own interface is not meant.
_COMPILED_CALL = re.compile(
    r"\b(?<!torch\.)(?!torch\b)(?:_C|_ext|ext_module|ext|_backend|_cuda|_kernels?|[a-z]\w{0,40}_"
    r"(?:cuda|ext|C"
    r"|gpu|kernels?|lib|cpp))"
    r"(?:\.\w{1,60}){1,3}\("
    r"|\btorch\.ops\.(?!aten\b)\w{1,40}\.\w"
    r"|\b(?:\w{1,40}_(?:cuda|gpu|kernel))\("
)
_PRINTED_BY_EXTENSION = re.compile(
    r"cudaCheckError\(\)|error in \w{1,60}: |CUDA kernel failed|kernel launch failed|Cuda error in"
    r" file"
    r"|Kernel\w{0,20}Launcher|\w_kernel_(?:launcher|wrapper)|bitsandbytes|flash_attn|xformers"
    r"|FATAL: kernel"
    r"|GPUassert|spconv|cumm|nms_kernel|cudaSuccess \("
)
_WRAPPERS = re.compile(
    r"[\\/]torch[\\/](?:_ops|autograd[\\/]\w+|utils[\\/]\w+|_dynamo[\\/]\w+)\.py$"
)
_NATIVE_FOLDER = re.compile(r"[\\/](?:ops|csrc|_ext|cuda)[\\/]")
_MOST_FRAMES = 200


class _Frame(NamedTuple):
    """A frame of a traceback, with its line of code."""

    file: str
    code: str


class Devices(Reader):
    """Recognises them, and whose code failed: torch's own or an extension's."""

    triggers = _TRIGGERS

    def __init__(self) -> None:
        self._frames: List[_Frame] = []
        self._open = False  # the next line is the code of the last frame
        self._last = ""  # the line before
        self._refused: Optional[Event] = None  # waits for the list of what is supported

    def feed(self, line: Line) -> Iterator[Event]:
        """A message, when its line comes; of a refused GPU when its list does."""
        text, before, self._last = line.text, self._last, line.text
        if line.gap or "Traceback (most recent call last)" in text:
            self._frames = []
        if self._frame(text):
            return
        if not self.concerns(text):
            return
        if self._refused is not None:
            built = _BUILT.search(text)
            refused, self._refused = self._refused, None
            if built and line.number - refused.line <= 4:
                fields = {**refused.fields, "built": built.group(1).strip()}
                yield refused._replace(fields=fields, last=line.number)
                return
            yield refused
        for fault, pattern in _FAULTS:
            found = pattern.search(text)
            if found is not None:
                event = self._event(fault, found, line, before)
                if fault == "refused-arch" and "sm_" in text:
                    self._refused = event
                else:
                    yield event
                break

    def end(self) -> Iterator[Event]:
        """What still waits for its list."""
        if self._refused is not None:
            yield self._refused
            self._refused = None

    def _frame(self, text: str) -> bool:
        frame = _FRAME.match(text)
        if frame:
            if len(self._frames) < _MOST_FRAMES:
                self._frames.append(_Frame(frame.group(1), ""))
            self._open = True
            return True
        if self._open and self._frames and text.startswith("    "):
            self._frames[-1] = self._frames[-1]._replace(code=text.strip())
            self._open = False
            return True
        self._open = False
        return False

    def _event(self, fault: str, found: re.Match[str], line: Line, before: str) -> Event:
        text = line.text
        fields: Dict[str, str] = {n: v.strip() for n, v in found.groupdict().items() if v}
        fields.update(fault=fault, message=found.group())
        fatal = not (fault in ("refused-arch", "announced") or _WARNING.search(text[: found.end()]))
        if fault == "refused-arch":
            fields["gpu"] = fields.pop("refused", "") or fields.pop("old_gpu", "")
            old = fields.pop("old", "")
            fields["arch"] = fields.get("arch") or old.replace(".", "")
            fields["gone"] = "old" if old and _ROUND.search(text) else ""
        elif fault == "no-kernel":
            fields.update(self._owner(text, before))
        return Event("device", line.number, text, fields, fatal=fatal)

    def _owner(self, text: str, before: str) -> Dict[str, str]:
        """`owner` of the code that failed, torch or extension, "" if nothing tells; its package."""
        package = next(
            (
                site.group(1)
                for site in (_SITE.search(frame.file) for frame in reversed(self._frames))
                if site and site.group(1) != "torch"
            ),
            "",
        )
        source = _SOURCE.search(text) or (_SOURCE.search(before) if "Error: /" in before else None)
        if source and source.group()[:1] != ".c":
            of_torch = _OF_TORCH.search(source.group())
            return {"owner": "torch" if of_torch else "extension", "package": package}
        if _PRINTED_BY_EXTENSION.search(text):
            return {"owner": "extension", "package": package}
        frames = [frame for frame in self._frames if not _WRAPPERS.search(frame.file)]
        wrapped = (
            len(frames) < len(self._frames)
            and bool(self._frames)
            and bool(_WRAPPERS.search(self._frames[-1].file))
        )
        if not frames:
            return {"owner": "", "package": ""}
        deepest = frames[-1]
        if _COMPILED_CALL.search(deepest.code):
            return {"owner": "extension", "package": package}
        site = _SITE.search(deepest.file)
        if site and site.group(1) == "torch":
            return {"owner": "torch", "package": ""}
        if wrapped and "backward" in self._frames[-1].file + deepest.code:
            return {"owner": "", "package": ""}
        if _NATIVE_FOLDER.search(deepest.file) or ".so" in deepest.file:
            return {"owner": "extension", "package": package}
        return {"owner": "torch", "package": ""}
