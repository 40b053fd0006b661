from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_host import Completed, compile_library, lay_out, real_host, recorded_host

from envdoctor.facts import nvidia_smi
from envdoctor.facts.accelerator import observe_accelerator
from envdoctor.model.facts import Gpu, seen, unseen

QUERY = (
    "/usr/bin/nvidia-smi --query-gpu=uuid,name,memory.total,driver_version,compute_cap,"
    "mig.mode.current --format=csv,noheader,nounits"
)
OLD_QUERY = (
    "/usr/bin/nvidia-smi --query-gpu=uuid,name,memory.total,driver_version"
    " --format=csv,noheader,nounits"
)
Q, L = "/usr/bin/nvidia-smi -q", "/usr/bin/nvidia-smi -L"
NVML, DEVICES = "driver_probe.py nvml", "driver_probe.py devices"
SMI = {"/usr/bin/nvidia-smi": "", "/dev/nvidia0": "", "/dev/nvidiactl": ""}
HUNG = Completed(None, b"", b"", "took longer than 15 s")
CRASHED = Completed(-11, b"", b"", "crashed with signal 11")

H200_MODULE = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build"
    "  (root@vm)  Mon Jul 27 16:38:25 UTC 2026\nGCC version:  gcc version 15.3.0 (GCC) \n"
)
H200_Q = """
==============NVSMI LOG==============

Timestamp                                              : Mon Nov 30 10:18:19 2026
Driver Version                                         : 580.159.04
CUDA Version                                           : 13.0

Attached GPUs                                          : 1
GPU 00000000:00:06.0
    Product Name                                       : NVIDIA H200
    MIG Mode
        Current                                        : Disabled
        Pending                                        : Disabled
"""
H200_TABLE = """
Mon Nov 30 10:18:19 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.159.04             Driver Version: 580.159.04     CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
"""
NEW_TABLE = (
    "| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD Version: 13.3     |"
)
A100_Q = """
Driver Version                            : 525.147.05
CUDA Version                              : 12.0

Attached GPUs                             : 2
GPU 00000000:07:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
    MIG Device
        Index                             : 0
        GPU Instance ID                   : 2
        Compute Instance ID               : 0
        Device Attributes
            Shared
                Multiprocessor count      : 42
        FB Memory Usage
            Total                         : 40192 MiB
            Reserved                      : 0 MiB
        BAR1 Memory Usage
            Total                         : 65535 MiB
    MIG Device
        Index                             : 1
        GPU Instance ID                   : 9
        Compute Instance ID               : 0
        FB Memory Usage
            Total                         : 9728 MiB
        BAR1 Memory Usage
            Total                         : 16383 MiB
    FB Memory Usage
        Total                             : 81920 MiB
    BAR1 Memory Usage
        Total                             : 131072 MiB
GPU 00000000:0B:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    MIG Mode
        Current                           : Disabled
    FB Memory Usage
        Total                             : 81920 MiB
"""
A100_L = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-0000-0000-00000000000a)
  MIG 3g.40gb     Device  0: (UUID: MIG-00000000-0000-0000-0000-0000000000a0)
  MIG 1g.10gb     Device  1: (UUID: MIG-00000000-0000-0000-0000-0000000000a1)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-0000-0000-00000000000b)
"""
A100_QUERY = """\
GPU-00000000-0000-0000-0000-00000000000a, NVIDIA A100-SXM4-80GB, 81920, 525.147.05, 8.0, Enabled
GPU-00000000-0000-0000-0000-00000000000b, NVIDIA A100-SXM4-80GB, 81920, 525.147.05, 8.0, Disabled
"""
A100_COMMANDS = {QUERY: A100_QUERY, Q: A100_Q, L: A100_L}


def observe(root, files, commands=None, environ=None, **options):
    lay_out(root, files)
    host = recorded_host(root, commands, environ, **options)
    return observe_accelerator(host), host.started


def probe_lines(*answers):
    return "".join(msgspec.json.encode(answer).decode() + "\n" for answer in answers)


# Machines without NVIDIA


def test_no_accelerator_is_known_and_starts_no_child(tmp_path):
    files = {"/usr/local/cuda/bin/nvcc": "", "/usr/local/cuda/lib64/stubs/libcuda.so.1": ""}
    environ = {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64/stubs", "CUDA_HOME": "/usr/local/cuda"}
    found, started = observe(tmp_path, files, environ=environ)
    assert found.vendor.value == "none"
    assert found.gpus.value == ()
    assert not found.driver.known
    assert found.driver.unknown
    assert not found.serves.known
    assert started == []


LIBCUDA = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1": ""}
NVIDIA = {"/dev/nvidia0": "", "/proc/driver/nvidia/version": H200_MODULE, **LIBCUDA}
PPU = {"/usr/local/PPU_SDK/CUDA_SDK/bin/nvcc": "", "/usr/local/PPU_SDK/lib/libcuda.so.1": ""}


@pytest.mark.parametrize(
    ("vendor", "origin", "files", "environ"),
    [
        ("t-head", "device node /dev/alixpu", {"/dev/alixpu": "", "/dev/alixpu_ppu0": ""}, {}),
        (  # its SDK poses as CUDA
            "t-head",
            "PPU_SDK=/usr/local/PPU_SDK",
            {**PPU, **LIBCUDA, "/usr/bin/nvidia-smi": ""},
            {
                "PPU_SDK": "/usr/local/PPU_SDK",
                "CUDA_HOME": "/usr/local/PPU_SDK/CUDA_SDK",
                "LD_LIBRARY_PATH": "/usr/local/PPU_SDK/lib",
            },
        ),
        ("t-head", "folder /usr/local/PPU_SDK", {**PPU, "/dev/nvidia0": ""}, {}),
        ("t-head", "the variable PPU_SDK", LIBCUDA, {"PPU_SDK": "/gone"}),
        ("nvidia", "device node /dev/nvidia0", NVIDIA, {"PPU_SDK": "/gone"}),
        ("nvidia", "device node /dev/nvidia0", {**NVIDIA, **PPU}, {}),
        ("metax", "device node /dev/mxcd", {"/dev/mxcd": "", "/dev/nvidia0": ""}, {}),
        ("metax", "MACA_PATH=/opt/maca", {"/opt/maca/": ""}, {"MACA_PATH": "/opt/maca"}),
        ("iluvatar", "device node /dev/iluvatar0", {"/dev/iluvatar0": ""}, {}),
        ("moore-threads", "device node /dev/mtgpu.0", {"/dev/mtgpu.0": "", **LIBCUDA}, {}),
        ("hygon", "device node /dev/mkfd", {"/dev/kfd": "", "/dev/mkfd": ""}, {}),
        ("hygon", "folder /opt/dtk-24.04", {"/dev/kfd": "", "/opt/dtk-24.04/": ""}, {}),
        ("amd", "device node /dev/kfd", {"/dev/kfd": "", "/opt/rocm/": ""}, {}),
        ("nvidia", "device node /dev/nvidia0", {**NVIDIA, "/dev/kfd": ""}, {}),  # AMD graphics
        ("amd", "folder /opt/rocm-6.2.0, without a device", {"/opt/rocm-6.2.0/": ""}, {}),
        ("ascend", "device node /dev/davinci0", {"/dev/davinci0": ""}, {}),
        (
            "ascend",
            "ASCEND_HOME_PATH=/usr/local/Ascend/latest, without a device",
            {"/usr/local/Ascend/latest/": ""},
            {"ASCEND_HOME_PATH": "/usr/local/Ascend/latest"},
        ),
        ("cambricon", "device node /dev/cambricon_dev0", {"/dev/cambricon_dev0": ""}, {}),
        ("intel", "device node /dev/accel/accel0", {"/dev/accel/accel0": ""}, {}),
        ("none", None, {"/dev/dri/renderD128": "", "/dev/dxg": ""}, {}),
    ],
)
def test_vendor(tmp_path, vendor, origin, files, environ):
    found, started = observe(tmp_path, files, environ=environ)
    assert found.vendor.value == vendor
    assert origin is None or found.vendor.origin == origin
    if vendor != "nvidia":
        assert started == []
        assert not found.serves.known


def test_amd(tmp_path):
    cpu = "cpu_cores_count 96\nsimd_count 0\ngfx_target_version 0\ndrm_render_minor 0\n"
    gpu = "cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90402\ndrm_render_minor 128\n"
    old = "cpu_cores_count 0\nsimd_count 416\ngfx_target_version 90010\ndrm_render_minor 136\n"
    nodes = "/sys/class/kfd/kfd/topology/nodes"
    found, _ = observe(
        tmp_path,
        {
            "/dev/kfd": "",
            f"{nodes}/0/properties": cpu,
            f"{nodes}/1/properties": gpu,
            f"{nodes}/2/properties": old,
            "/sys/class/drm/renderD128/device/product_name": "AMD Instinct MI300X\n",
            "/sys/class/drm/renderD128/device/mem_info_vram_total": "206141652992\n",
            "/sys/module/amdgpu/version": "6.8.5\n",
        },
    )
    assert found.gpus == seen(
        (Gpu("AMD Instinct MI300X (gfx942)", memory_mib=196592), Gpu("gfx90a")),
        "/sys/class/kfd/kfd/topology",
    )
    assert found.driver == found.kernel_module == seen("6.8.5", "/sys/module/amdgpu/version")
    assert found.serves == unseen("the accelerator is of amd, not of NVIDIA")


def test_ascend(tmp_path):
    info = "/usr/local/Ascend/driver/version.info"
    text = "Version=24.1.rc3\nascendhal_version=7.35.23\npackage_version=24.1.rc3\n"
    found, _ = observe(
        tmp_path, {"/dev/davinci0": "", "/dev/davinci1": "", "/dev/davinci_manager": "", info: text}
    )
    assert found.driver == seen("24.1.rc3", info)
    assert not found.kernel_module.known
    assert not found.gpus.known
    assert "2 device nodes such as /dev/davinci0" in found.gpus.unknown


# NVIDIA by nvidia-smi


def test_h200(tmp_path):
    files = {**SMI, "/proc/driver/nvidia/version": H200_MODULE}
    row = (
        "GPU-00000000-0000-0000-0000-000000000000, NVIDIA H200, 143771, 580.159.04, 9.0, Disabled\n"
    )
    found, started = observe(tmp_path, files, {QUERY: row, Q: H200_Q})
    assert found.vendor == seen("nvidia", "device node /dev/nvidia0")
    assert found.gpus.value == (Gpu("NVIDIA H200", "9.0", 143771),)
    assert found.gpus.origin == "nvidia-smi; NVML: no libnvidia-ml.so.1"
    assert found.driver.value == "580.159.04"
    assert found.kernel_module == seen("580.159.04", "/proc/driver/nvidia/version")
    assert found.serves.value == "13.0"
    assert not found.compat.known
    assert started == [QUERY, Q]
    assert b"GPU-0000" not in msgspec.json.encode(found)


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, [("3g.40gb", 40192)]),  # a driver before 570: one instance, nothing beside it
        ("MIG-00000000-0000-0000-0000-0000000000a1", [("1g.10gb", 9728)]),
        ("1", [(None, 81920)]),
        ("GPU-00000000-0000-0000-0000-00000000000b", [(None, 81920)]),
        ("", []),
    ],
)
def test_mig_a100(tmp_path, visible, expected):
    environ = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    found, _ = observe(tmp_path, SMI, A100_COMMANDS, environ)
    assert [(gpu.mig, gpu.memory_mib) for gpu in found.gpus.value] == expected
    assert {gpu.name for gpu in found.gpus.value} <= {"NVIDIA A100-SXM4-80GB"}
    assert {gpu.compute_capability for gpu in found.gpus.value} <= {"8.0"}
    assert b"MIG-" not in msgspec.json.encode(found)


def test_nvidia_smi_that_does_not_know_compute_cap_is_helped_by_libcuda(tmp_path):
    refused = Completed(2, b'Field "compute_cap" is not a valid field to query.\n\n', b"", "...")
    row = "GPU-00000000-0000-0000-0000-000000000000, Tesla V100-SXM2-16GB, 16160, 450.80.02\n"
    commands = {
        QUERY: refused,
        OLD_QUERY: row,
        Q: H200_Q.replace("580.159.04", "450.80.02").replace("13.0", "11.0"),
    }
    files = {**SMI, **LIBCUDA}
    found, started = observe(tmp_path, files, commands)
    # libcuda is asked, and does not answer here: what nvidia-smi told is kept
    assert started[-1] == DEVICES
    assert found.gpus.value == (Gpu("Tesla V100-SXM2-16GB", None, 16160),)
    device = {"name": "Tesla V100-SXM2-16GB", "capability": "7.0", "memory_mib": 16160}
    library = str(tmp_path) + "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    cuda = {"library": library, "serves": "11.0", "devices": [device]}
    commands[DEVICES] = probe_lines({"cuda": cuda})
    found, _ = observe(tmp_path, {}, commands)
    assert found.gpus.value == (Gpu("Tesla V100-SXM2-16GB", "7.0", 16160),)
    assert found.gpus.origin.startswith("libcuda (cuDeviceGetAttribute)")
    assert (found.driver.value, found.serves.value) == ("450.80.02", "11.0")


def test_nvidia_smi_finds_no_device(tmp_path):
    found, _ = observe(tmp_path, SMI, {QUERY: "No devices were found\n", Q: H200_TABLE})
    assert found.gpus.value == ()
    assert found.gpus.origin.startswith("nvidia-smi")


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        (H200_Q, ("580.159.04", "13.0")),
        (H200_TABLE, ("580.159.04", "13.0")),
        (NEW_TABLE, ("610.57.04", "13.3")),
        (
            "| NVIDIA-SMI 510.47.03  Driver Version: 510.47.03  CUDA Version: N/A |",
            ("510.47.03", ""),
        ),
        ("NVIDIA-SMI has failed because it couldn't communicate with the driver.", ("", "")),
    ],
)
def test_versions_of_nvidia_smi(text, versions):
    assert nvidia_smi.read_versions(text) == versions


def test_not_available_fields_of_nvidia_smi_are_unknown():
    row = "GPU-1, Orin (nvgpu), [N/A], 540.3.0, [N/A], [N/A]\nnoise, of a library\n"
    devices, driver = nvidia_smi.read_query(row, nvidia_smi.FIELDS)
    assert driver == "540.3.0"
    assert [tuple(device)[:5] for device in devices] == [
        ("Orin (nvgpu)", None, None, "GPU-1", False)
    ]


@settings(deadline=None)  # the machine may be busy
@given(st.text(alphabet="GPUMIG Device01:(UD)-\n ,.Total", max_size=300), st.text(max_size=50))
def test_any_output_of_nvidia_smi_is_read_without_an_error(text, other):
    nvidia_smi.read_query(text, nvidia_smi.FIELDS)
    nvidia_smi.read_versions(text + other)
    nvidia_smi.read_instances(A100_L + text, A100_Q + text)
    nvidia_smi.read_instances(text, other)


# NVIDIA by the child, as recorded


def test_wsl(tmp_path):
    libraries = "/usr/lib/wsl/lib"
    device = {
        "name": "NVIDIA GeForce RTX 4070 Laptop GPU",
        "capability": "8.9",
        "memory_mib": 8188,
        "uuid": "GPU-1",
        "mig": False,
        "instances": [],
    }
    answers = [
        {"nvml": {"driver": "566.03", "serves": "12.7", "devices": [device], "problems": []}},
        {"cuda": {"library": f"{tmp_path}{libraries}/libcuda.so.1", "serves": "12.7"}},
    ]
    found, started = observe(
        tmp_path,
        {
            "/dev/dxg": "",
            f"{libraries}/libcuda.so.1": "",
            f"{libraries}/libnvidia-ml.so.1": "",
            "/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n",
        },
        {NVML: probe_lines(*answers)},
    )
    assert found.vendor == seen("nvidia", f"/dev/dxg and {libraries}/libcuda.so.1")
    assert found.gpus == seen((Gpu(device["name"], "8.9", 8188),), "NVML")
    assert found.driver == seen("566.03", "NVML")
    assert found.serves == seen("12.7", f"libcuda (cuDriverGetVersion), {libraries}/libcuda.so.1")
    assert found.kernel_module == unseen("no NVIDIA kernel module is loaded here")
    assert started == [NVML]


def test_memory_that_nvml_does_not_tell_is_asked_of_libcuda(tmp_path):
    """A GPU that shares the memory of the CPU."""
    device = {"name": "NVIDIA GB10", "capability": "12.1", "memory_mib": None}
    listed = {**device, "uuid": "GPU-1", "mig": False, "instances": []}
    nvml = {"driver": "580.95.05", "serves": "13.0", "devices": [listed], "problems": []}
    cuda = {"library": "x", "serves": "13.0"}
    files = {"/dev/nvidia0": "", "/lib64/libnvidia-ml.so.1": "", "/lib64/libcuda.so.1": ""}
    commands = {NVML: probe_lines({"nvml": nvml}, {"cuda": cuda})}
    found, started = observe(tmp_path, files, commands)
    assert found.gpus == seen((Gpu("NVIDIA GB10", "12.1"),), "NVML")
    assert started == [NVML, DEVICES]
    commands[DEVICES] = probe_lines(
        {"cuda": {**cuda, "devices": [{**device, "memory_mib": 122570}]}}
    )
    found, _ = observe(tmp_path, {}, commands)
    assert found.gpus == seen(
        (Gpu("NVIDIA GB10", "12.1", 122570),), "libcuda (cuDeviceGetAttribute)"
    )


def test_jetson_orin(tmp_path):
    library = "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1"
    device = {"name": "Orin", "capability": "8.7", "memory_mib": 30588}
    module = (
        "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  35.4.1  Release Build"
        "  (buildbrain@mobile)  Tue Aug  1 12:45:42 PDT 2023\n"
    )
    found, started = observe(
        tmp_path,
        {"/dev/nvhost-gpu": "", library: "", "/proc/driver/nvidia/version": module},
        {
            DEVICES: probe_lines(
                {
                    "cuda": {
                        "library": str(tmp_path) + library,
                        "serves": "11.4",
                        "devices": [device],
                    }
                }
            )
        },
        architecture="aarch64",
    )
    assert found.vendor == seen("nvidia", "device node /dev/nvhost-gpu")
    assert found.gpus.value == (Gpu("Orin", "8.7", 30588),)
    assert found.serves.value == "11.4"
    assert not found.driver.known  # L4T's number is no driver's
    assert found.kernel_module.value == "35.4.1"
    assert started == [DEVICES]


def test_container_with_compute_only(tmp_path):
    library = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    device = {"name": "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "capability": "8.0", "memory_mib": 19968}
    cuda = {"library": str(tmp_path) + library, "serves": "12.2", "devices": [device]}
    found, started = observe(
        tmp_path,
        {
            "/dev/nvidia3": "",
            "/usr/lib/x86_64-linux-gnu/libcuda.so.535.129.03": "",
            library: Path("/usr/lib/x86_64-linux-gnu/libcuda.so.535.129.03"),
        },
        {DEVICES: probe_lines({"cuda": cuda})},
    )
    assert found.gpus.value == (Gpu("NVIDIA A100-SXM4-40GB", "8.0", 19968, "3g.20gb"),)
    assert found.gpus.origin == (
        "libcuda (cuDeviceGetAttribute); NVML: no libnvidia-ml.so.1; nvidia-smi: no such command"
    )
    assert found.driver.value == "535.129.03"
    assert found.driver.origin.startswith("name of /usr/lib/x86_64-linux-gnu/libcuda.so.535.129.03")
    assert found.serves.value == "12.2"
    assert started == [DEVICES]


def test_libcuda_that_sees_no_device_is_an_answer(tmp_path):
    cuda = {"serves": "12.2", "error": "CUDA_ERROR_NO_DEVICE (100)", "library": "x"}
    found, _ = observe(
        tmp_path, {"/dev/nvidia0": "", **LIBCUDA}, {DEVICES: probe_lines({"cuda": cuda})}
    )
    assert found.gpus.value == ()
    assert found.gpus.origin.startswith("libcuda: CUDA_ERROR_NO_DEVICE (100)")


def test_module_and_libraries_of_different_versions(tmp_path):
    """The driver was updated while the old module stays loaded."""
    folder = "/usr/lib/x86_64-linux-gnu"
    refusal = "Driver/library version mismatch (18)"
    said = (
        b"Failed to initialize NVML: Driver/library version mismatch\n"
        b"NVML library version: 535.161\n"
    )
    information = "Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 16\nGPU UUID: \t GPU-1\n"
    found, _ = observe(
        tmp_path,
        {
            **SMI,
            f"{folder}/libnvidia-ml.so.535.161.07": "",
            f"{folder}/libnvidia-ml.so.1": Path(f"{folder}/libnvidia-ml.so.535.161.07"),
            "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module"
            "  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n",
            "/proc/driver/nvidia/gpus/0000:07:00.0/information": information,
        },
        {
            NVML: probe_lines(
                {"nvml": {"error": refusal}}, {"cuda": {"error": "no library found"}}
            ),
            QUERY: Completed(18, said, b"", "exit status 18"),
        },
    )
    assert found.driver.value == "535.161.07"
    assert refusal in found.driver.origin
    assert found.kernel_module.value == "535.129.03"
    assert found.gpus.value == (Gpu("NVIDIA A100-SXM4-80GB"),)
    assert found.gpus.origin == (
        "/proc/driver/nvidia/gpus; NVML: Driver/library version mismatch (18); "
        "nvidia-smi: Failed to initialize NVML: Driver/library version mismatch; "
        "libcuda: no libcuda.so.1"
    )
    assert not found.serves.known
    assert refusal in found.serves.unknown


def test_driver_that_hangs_everywhere(tmp_path):
    files = {**SMI, **LIBCUDA, "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": ""}
    found, _ = observe(tmp_path, files, {NVML: HUNG, QUERY: HUNG, DEVICES: CRASHED})
    assert found.gpus == unseen(
        "NVML: took longer than 15 s; nvidia-smi: took longer than 15 s;"
        " libcuda: crashed with signal 11"
    )
    assert not found.driver.known
    assert not found.serves.known


def test_driver_without_a_device(tmp_path):
    """A login node whose image has the driver's packages."""
    folder = "/usr/lib64"
    found, _ = observe(
        tmp_path,
        {
            f"{folder}/libcuda.so.550.54.15": "",
            f"{folder}/libcuda.so.1": Path(f"{folder}/libcuda.so.550.54.15"),
        },
    )
    assert found.vendor == seen("nvidia", f"{folder}/libcuda.so.1")
    assert found.gpus == seen((), "no NVIDIA device node in /dev")
    assert found.driver.value == "550.54.15"


def test_mixed_gpus_numbered_by_speed_are_asked_of_libcuda(tmp_path):
    """CUDA_VISIBLE_DEVICES counts the fastest first; the other sources count by PCI bus."""
    rows = (
        "GPU-1, NVIDIA T1000, 4096, 535.1.1, 7.5, [N/A]\n"
        "GPU-2, NVIDIA A40, 46068, 535.1.1, 8.6, Disabled\n"
    )
    device = {"name": "NVIDIA A40", "capability": "8.6", "memory_mib": 45503}
    cuda = probe_lines({"cuda": {"library": "x", "serves": "12.2", "devices": [device]}})
    files, commands = {**SMI, **LIBCUDA}, {QUERY: rows, Q: H200_Q}
    environ = {"CUDA_VISIBLE_DEVICES": "0"}
    found, _ = observe(tmp_path, files, {**commands, DEVICES: cuda}, environ)
    assert [gpu.name for gpu in found.gpus.value] == ["NVIDIA A40"]
    found, _ = observe(tmp_path, {}, commands, environ)
    assert [gpu.name for gpu in found.gpus.value] == ["NVIDIA T1000"]
    assert "CUDA_VISIBLE_DEVICES taken in the order of the PCI bus" in found.gpus.origin
    environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    found, started = observe(tmp_path, {}, commands, environ)
    assert [gpu.name for gpu in found.gpus.value] == ["NVIDIA T1000"]
    assert DEVICES not in started


@pytest.mark.parametrize(
    ("environ", "compat"),
    [
        (
            {"LD_LIBRARY_PATH": "/usr/local/cuda/compat:/usr/lib64"},
            seen("/usr/local/cuda-12.4/compat/libcuda.so.550.54.15", "LD_LIBRARY_PATH"),
        ),
        ({}, unseen("the loader takes /usr/lib64/libcuda.so.1, which is not of cuda-compat")),
    ],
)
def test_cuda_compat(tmp_path, environ, compat):
    files = {
        "/dev/nvidia0": "",
        "/usr/lib64/libcuda.so.470.57.02": "",
        "/usr/lib64/libcuda.so.1": Path("/usr/lib64/libcuda.so.470.57.02"),
        "/usr/local/cuda-12.4/compat/libcuda.so.550.54.15": "",
        "/usr/local/cuda-12.4/compat/libcuda.so.1": Path(
            "/usr/local/cuda-12.4/compat/libcuda.so.550.54.15"
        ),
        "/usr/local/cuda": Path("/usr/local/cuda-12.4"),
    }
    found, _ = observe(tmp_path, files, environ=environ)
    assert found.compat == compat
    assert found.driver.value == "470.57.02"


def test_cuda_compat_is_no_driver(tmp_path):
    files = {"/usr/local/cuda/compat/libcuda.so.1": ""}
    environ = {"LD_LIBRARY_PATH": "/usr/local/cuda/compat"}
    found, started = observe(tmp_path, files, environ=environ)
    assert (found.vendor.value, started) == ("none", [])


# NVIDIA by the child, for real: small libraries in the place of the driver's

FAKE_NVML = r"""
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
typedef void *H;  /* 1 + index of the GPU; 100 + index of an instance */
static int copy(char *to, unsigned n, const char *s) { strncpy(to, s, n); return 0; }
const char *nvmlErrorString(int e) {
  return e == 18 ? "Driver/library version mismatch" : e == 15 ? "GPU is lost" : "Unknown Error";
}
int nvmlInit_v2(void) {
#if defined HANG
  pause();
#elif defined CRASH
  abort();
#elif defined MISMATCH
  return 18;
#endif
  return 0;
}
int nvmlSystemGetDriverVersion(char *v, unsigned n) { return copy(v, n, "535.129.03"); }
int nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = 12020; return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, H *h) {
  *h = (H)(1L + i);
  return i == 2 ? 15 : 0;
}
int nvmlDeviceGetName(H h, char *v, unsigned n) {
  return copy(v, n, (long)h < 100 ? "NVIDIA A100-SXM4-40GB" : "NVIDIA A100-SXM4-40GB MIG 1g.5gb");
}
int nvmlDeviceGetUUID(H h, char *v, unsigned n) {
  return copy(v, n, (long)h == 1 ? "GPU-1" : (long)h == 2 ? "GPU-2" : "MIG-1");
}
int nvmlDeviceGetCudaComputeCapability(H h, int *a, int *b) { *a = 8; *b = 0; return 0; }
int nvmlDeviceGetMemoryInfo(H h, unsigned long long *m) {
  m[0] = ((long)h < 100 ? 40960ULL : 4864ULL) << 20;
  return 0;
}
int nvmlDeviceGetMigMode(H h, unsigned *now, unsigned *then) {
  if ((long)h == 1) return 3;
  *now = *then = 1;
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(H h, unsigned *n) { *n = 7; return 0; }
int nvmlDeviceGetMigDeviceHandleByIndex(H h, unsigned i, H *m) {
  *m = (H)(100L + i);
  return i == 4 ? 0 : 6;
}
int nvmlDeviceGetGpuInstanceId(H h, unsigned *n) { *n = 11; return 0; }
int nvmlDeviceGetComputeInstanceId(H h, unsigned *n) { *n = 0; return 0; }
"""
FAKE_CUDA = r"""
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
int cuGetErrorName(int e, const char **s) {
  *s = e == 100 ? "CUDA_ERROR_NO_DEVICE" : e == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : 0;
  return 0;
}
int cuDriverGetVersion(int *v) {
#ifdef STUB
  return 34;
#endif
  *v = 12020;
  return 0;
}
int cuInit(unsigned f) {
#if defined HANG
  pause();
#elif defined MISMATCH
  return 803;
#endif
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  return visible && !*visible ? 100 : 0;
}
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int i) { *d = 40 + i; return 0; }
int cuDeviceGetName(char *v, int n, int d) {
  strncpy(v, d == 40 ? "Orin" : "?", n);
  return 0;
}
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 8 : a == 76 ? 7 : -1; return 0; }
int cuDeviceTotalMem_v2(size_t *m, int d) { *m = 30588UL << 20; return 0; }
"""
FOLDER = "/usr/lib/x86_64-linux-gnu"


def with_libraries(root, nvml="", cuda="", environ=None, limit=20.0):
    """Observe a machine with the fakes: broken as `nvml` and `cuda` define, None where absent."""
    lay_out(root, {"/dev/nvidia0": ""})
    for name, source, define in (
        ("libnvidia-ml.so.1", FAKE_NVML, nvml),
        ("libcuda.so.1", FAKE_CUDA, cuda),
    ):
        if define is not None:
            prefix = f"#define {define}\n" if define else ""
            compile_library(root / FOLDER.lstrip("/") / name, prefix + source)
    return observe_accelerator(real_host(root, environ), limit)


def test_nvml(tmp_path):
    found = with_libraries(tmp_path)
    whole = Gpu("NVIDIA A100-SXM4-40GB", "8.0", 40960)
    instance = Gpu("NVIDIA A100-SXM4-40GB", "8.0", 4864, "1g.5gb")
    assert found.gpus == seen((instance,), "NVML; GPU 2: GPU is lost (15)")
    assert found.driver == seen("535.129.03", "NVML")
    assert found.serves == seen("12.2", f"libcuda (cuDriverGetVersion), {FOLDER}/libcuda.so.1")
    for visible, expected in {"0": (whole,), "GPU-1": (whole,), "MIG-1": (instance,)}.items():
        host = real_host(tmp_path, {"CUDA_VISIBLE_DEVICES": visible})
        assert observe_accelerator(host).gpus.value == expected


def test_nvml_without_libcuda(tmp_path):
    found = with_libraries(tmp_path, cuda=None)
    assert found.serves == seen("12.2", "NVML; libcuda: no library found")


def test_libcuda(tmp_path):
    found = with_libraries(tmp_path, nvml=None)
    assert found.gpus.value == (Gpu("Orin", "8.7", 30588),)
    assert found.gpus.origin.startswith("libcuda (cuDeviceGetAttribute); NVML: no libnvidia-ml")
    assert found.serves.value == "12.2"
    found = observe_accelerator(real_host(tmp_path, {"CUDA_VISIBLE_DEVICES": ""}))
    assert found.gpus.value == ()


@pytest.mark.parametrize(
    ("define", "reason"),
    [
        ("HANG", "NVML: took longer than 1 s"),
        ("CRASH", "NVML: crashed with signal 6"),
        ("MISMATCH", "NVML: Driver/library version mismatch (18)"),
    ],
)
def test_broken_nvml_leaves_the_answer_to_the_next_source(tmp_path, define, reason):
    row = "GPU-1, NVIDIA A40, 46068, 535.1.1, 8.6, Disabled"
    script = f"#!/bin/sh\ncase $1 in *query*) echo '{row}'\nesac\n"
    lay_out(tmp_path, {"/usr/bin/nvidia-smi": script})
    found = with_libraries(tmp_path, define, limit=1.0 if define == "HANG" else 20.0)
    assert found.gpus == seen((Gpu("NVIDIA A40", "8.6", 46068),), f"nvidia-smi; {reason}")
    assert found.driver.value == "535.1.1"
    assert found.serves.value == "12.2"


def test_broken_libcuda(tmp_path):
    found = with_libraries(tmp_path, None, "MISMATCH")
    assert "libcuda: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)" in found.gpus.unknown
    assert found.serves.value == "12.2"


def test_libcuda_that_hangs_in_cuinit_has_told_what_it_serves(tmp_path):
    found = with_libraries(tmp_path, None, "HANG", limit=2.0)
    assert "libcuda: took longer than 2 s" in found.gpus.unknown
    assert found.serves.value == "12.2"


def test_a_stub_that_the_loader_takes_serves_nothing(tmp_path):
    found = with_libraries(tmp_path, None, "STUB")
    assert found.serves == unseen(
        "NVML: no libnvidia-ml.so.1; nvidia-smi: no such command; libcuda: error (34)"
    )


def on_the_bus(*devices):
    """Devices of the PCI bus by vendor and class."""
    files = {}
    for number, (vendor, kind) in enumerate(devices):
        folder = f"/sys/bus/pci/devices/0000:0{number}:00.0"
        files.update({f"{folder}/vendor": f"{vendor}\n", f"{folder}/class": f"{kind}\n"})
    return files


def test_cards_on_the_bus_without_a_driver(tmp_path):
    cards = on_the_bus(
        ("0x10de", "0x030000"),  # VGA
        ("0x10de", "0x040300"),  # its sound
        ("0x10de", "0x030200"),  # 3D, as data-centre cards are
        ("0x8086", "0x030000"),
        ("0x10de", "0x068000"),  # NVSwitch
    )
    lay_out(tmp_path, cards)
    found = observe_accelerator(recorded_host(tmp_path))
    assert found.vendor.value == "none"
    assert found.pci == seen(2, "/sys/bus/pci/devices")


def test_a_bus_that_is_hidden_tells_nothing(tmp_path):
    found = observe_accelerator(recorded_host(tmp_path))
    assert found.pci == unseen("/sys/bus/pci/devices cannot be read")
