"""Each format as its tool prints it, by the release that changed it; facts out, checked by eye."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import pytest

from envdoctor.facts.pasted import ReportError, parse
from envdoctor.model.facts import Distribution, Facts, Observed, Target


def told(facts: Facts) -> Dict[str, Any]:
    """The known facts in short."""
    machine, accelerator, tools = facts.machine, facts.accelerator, facts.tools
    found = {
        "os": machine.os.value,
        "kernel": machine.kernel.value,
        "architecture": machine.architecture.value,
        "glibc": machine.glibc.value,
        "wsl": machine.wsl.value,
        "jetson": machine.jetson.value,
        "vendor": accelerator.vendor.value,
        "gpus": [gpu.name for gpu in accelerator.gpus.value or ()],
        "cc": [gpu.compute_capability for gpu in accelerator.gpus.value or ()],
        "memory": [gpu.memory_mib for gpu in accelerator.gpus.value or ()],
        "driver": accelerator.driver.value,
        "serves": accelerator.serves.value,
        "served": accelerator.served.value,
        "toolkit": tools.toolkit.value and tools.toolkit.value.version,
        "gcc": tools.compiler.value and tools.compiler.value.version,
        "cudnn": tools.cudnn.value,
    }
    target = facts.target.value
    if target is not None:
        found["python"] = target.version
        found["packages"] = [f"{d.name} {d.version}".rstrip() for d in target.distributions]
        found["conda"] = [f"{p.name} {p.version} {p.build}".rstrip() for p in target.conda]
        found["code"] = {name: (c.sass, c.ptx, c.cuda) for name, c in target.gpu_code.items()}
        torch = target.torch
        if torch is not None:
            found["torch"] = torch.version.value
            found["cuda"] = torch.cuda.value
            found["hip"] = torch.hip.value
            found["abi"] = torch.abi.value
    unsaid = ([None] * len(found["gpus"]), None, "", [], {})
    return {name: value for name, value in found.items() if value not in unsaid}


def target(text: str) -> Target:
    value = parse(text).target.value
    assert value is not None
    return value


def packages(text: str) -> List[str]:
    return [f"{d.name} {d.version}".rstrip() for d in target(text).distributions]


def installed(text: str, name: str) -> Distribution:
    (found,) = [d for d in target(text).distributions if d.name == name]
    return found


TORCH_1_1 = """
Collecting environment information...
PyTorch version: 1.1.0
Is debug build: No
CUDA used to build PyTorch: 9.0.176

OS: Ubuntu 18.04.2 LTS
GCC version: (Ubuntu 8.3.0-6ubuntu1~18.04.1) 8.3.0
CMake version: version 3.10.2

Python version: 3.6
Is CUDA available: Yes
CUDA runtime version: 9.1.85
GPU models and configuration: GPU 0: GeForce RTX 2060
Nvidia driver version: 418.67
cuDNN version: Could not collect

Versions of relevant libraries:
[pip3] numpy==1.18.0
[pip3] torch==1.1.0
[pip3] torchvision==0.2.0
[conda] Could not collect
"""


def test_torch_1_1() -> None:
    assert told(parse(TORCH_1_1)) == {
        "os": "ubuntu:18.04",
        "vendor": "nvidia",
        "gpus": ["GeForce RTX 2060"],
        "driver": "418.67",
        "served": "9.0.176",  # CUDA is available to it
        "toolkit": "9.1.85",
        "gcc": "8.3.0",
        "python": "3.6",
        "packages": ["numpy 1.18.0", "torch 1.1.0", "torchvision 0.2.0"],
        "torch": "1.1.0",
        "cuda": "9.0.176",
    }


TORCH_2_11 = """
PyTorch version: 2.11.0+cu130
Is debug build: False
CUDA used to build PyTorch: 13.0
ROCM used to build PyTorch: N/A

OS: Debian GNU/Linux 12 (bookworm) (x86_64)
GCC version: (Debian 12.2.0-14) 12.2.0
Clang version: Could not collect
CMake version: version 3.31.6
Libc version: glibc-2.36

Python version: 3.12.11 (main, Jun 4 2025, 08:56:18) [GCC 12.2.0] (64-bit runtime)
Python platform: Linux-5.15.167.4-microsoft-standard-WSL2-x86_64-with-glibc2.36
Is CUDA available: False
CUDA runtime version: 12.8.93
CUDA_MODULE_LOADING set to: N/A
GPU models and configuration: \n\
GPU 0: NVIDIA H100 NVL
GPU 1: NVIDIA H100 NVL

Nvidia driver version: 580.65.06
cuDNN version: Probably one of the following:
/usr/lib/x86_64-linux-gnu/libcudnn.so.9.1.0
/usr/lib/x86_64-linux-gnu/libcudnn_adv.so.9.1.0
Is XPU available: False
HIP runtime version: N/A
MIOpen runtime version: N/A
Is XNNPACK available: True

CPU:
Architecture:                         x86_64
CPU(s):                               64
Model name:                           Intel(R) Xeon(R) Gold 6430

Versions of relevant libraries:
[pip3] nvidia-cublas==13.0.2.14
[pip3] torch==2.11.0+cu130
[pip3] triton==3.6.0
[conda] numpy                     2.2.6           py312h72c5963_0    conda-forge
"""


def test_torch_2_11() -> None:
    assert told(parse(TORCH_2_11)) == {
        "os": "debian:12",
        "kernel": "5.15.167.4-microsoft-standard-WSL2",
        "architecture": "x86_64",
        "glibc": "2.36",
        "wsl": True,
        "vendor": "nvidia",
        "gpus": ["NVIDIA H100 NVL", "NVIDIA H100 NVL"],
        "driver": "580.65.06",
        "toolkit": "12.8.93",
        "gcc": "12.2.0",
        "cudnn": "9.1.0",
        "python": "3.12.11",
        "packages": [
            "numpy 2.2.6",
            "nvidia-cublas 13.0.2.14",
            "torch 2.11.0+cu130",
            "triton 3.6.0",
        ],
        "conda": ["numpy 2.2.6 py312h72c5963_0"],
        "torch": "2.11.0+cu130",
        "cuda": "13.0",
    }


VLLM = """
==============================
        System Info
==============================
OS                           : Ubuntu 22.04.3 LTS (x86_64)
GCC version                  : (Ubuntu 10.5.0-1ubuntu1~22.04.2) 10.5.0
Clang version                : Could not collect
Libc version                 : glibc-2.35

==============================
       PyTorch Info
==============================
PyTorch version              : 2.7.1+cu126
Is debug build               : False
CUDA used to build PyTorch   : 12.6
ROCM used to build PyTorch   : N/A

==============================
      Python Environment
==============================
Python version               : 3.12.11 (main, Jun 4 2025, 08:56:18) [GCC 11.4.0] (64-bit runtime)
Python platform              : Linux-5.4.119-19.0009.56-x86_64-with-glibc2.35

==============================
       CUDA / GPU Info
==============================
Is CUDA available            : True
CUDA runtime version         : 12.2.140
GPU models and configuration :
GPU 0: NVIDIA H20
GPU 1: NVIDIA H20

Nvidia driver version        : 535.216.01
"""


def test_vllm() -> None:
    assert told(parse(VLLM)) == {
        "os": "ubuntu:22.04",
        "kernel": "5.4.119-19.0009.56",
        "architecture": "x86_64",
        "glibc": "2.35",
        "vendor": "nvidia",
        "gpus": ["NVIDIA H20", "NVIDIA H20"],
        "driver": "535.216.01",
        "served": "12.6",
        "toolkit": "12.2.140",
        "gcc": "10.5.0",
        "python": "3.12.11",
        "packages": ["torch 2.7.1+cu126"],
        "torch": "2.7.1+cu126",
        "cuda": "12.6",
    }


@pytest.mark.parametrize(
    ("value", "cuda"),
    [("11.8", "11.8"), ("None", "cpu"), ("Could not collect", "cpu"), ("N/A", None)],
)
def test_cuda_that_torch_was_built_with(value: str, cuda: Optional[str]) -> None:
    torch = target(f"PyTorch version: 2.1.0\nCUDA used to build PyTorch: {value}\n").torch
    assert torch is not None
    assert torch.cuda.value == cuda


ROCM = """
PyTorch version: 2.1.1+rocm5.6
CUDA used to build PyTorch: N/A
ROCM used to build PyTorch: 5.6.31061-8c743ae5d
Is CUDA available: True
GPU models and configuration: AMD Instinct MI250X/MI250 (gfx90a:sramecc+:xnack-)
Nvidia driver version: Could not collect
"""


def test_rocm() -> None:
    assert told(parse(ROCM)) == {
        "vendor": "amd",
        "gpus": ["AMD Instinct MI250X/MI250"],
        "packages": ["torch 2.1.1+rocm5.6"],
        "torch": "2.1.1+rocm5.6",
        "hip": "5.6.31061-8c743ae5d",
    }


@pytest.mark.parametrize(
    ("libc", "python", "platform", "glibc"),
    [
        ("glibc-2.31", "3.8.10 (default)", "Linux-5.4-x86_64-with-glibc2.29", "2.31"),
        ("glibc-2.17", "3.7.11 (default)", "Linux-4.15.0-x86_64-with-debian-buster-sid", None),
        ("N/A", "3.8.10 (default)", "Linux-5.4.0-x86_64-with-glibc2.29", None),
        ("N/A", "3.10.12 (main)", "Linux-5.4.0-x86_64-with-glibc2.35", "2.35"),
    ],
)
def test_glibc_is_not_what_old_pythons_were_linked_with(
    libc: str, python: str, platform: str, glibc: Optional[str]
) -> None:
    text = f"Libc version: {libc}\nPython version: {python}\nPython platform: {platform}\n"
    assert parse(text).machine.glibc.value == glibc


@pytest.mark.parametrize(
    ("text", "os"),
    [
        ("Ubuntu 20.04.6 LTS (x86_64)", "ubuntu:20.04"),
        ("CentOS Linux release 7.9.2009 (Core) (x86_64)", "centos:7"),
        ("CentOS Linux 7 (Core)", "centos:7"),
        ("Rocky Linux release 8.7 (Green Obsidian) (x86_64)", "rocky:8.7"),
        ("Red Hat Enterprise Linux 9.4 (Plow) (x86_64)", "rhel:9.4"),
        ("Amazon Linux 2 (x86_64)", "amzn:2"),
        ("Arch Linux (x86_64)", None),
        ("linux (x86_64)", None),
    ],
)
def test_operating_systems(text: str, os: Optional[str]) -> None:
    machine = parse(f"PyTorch version: 2.1.0\nOS: {text}\n").machine
    assert machine.os.value == os
    assert machine.architecture.value == ("x86_64" if "x86_64" in text else None)


@pytest.mark.parametrize(
    "text",
    [
        "OS: Microsoft Windows 10 Enterprise",
        "sys.platform: win32",
        "Python platform: Windows-10-10.0.19041-SP0",
        "OS: macOS 13.4 (arm64)",
    ],
)
def test_linux_facts_of_another_system_are_unknown(text: str) -> None:
    facts = parse(f"PyTorch version: 2.1.0\nLibc version: glibc-2.31\n{text}\n")
    assert facts.machine.glibc == Observed(unknown=facts.machine.os.unknown)
    assert facts.machine.os.unknown in ("the report is of Windows", "the report is of macOS")


MMCV = """
sys.platform: linux
Python: 3.7.9 (default, Aug 31 2020, 12:42:55) [GCC 7.3.0]
CUDA available: True
GPU 0: Tesla P100-PCIE-16GB
GPU 1,2: GeForce GTX 1080
CUDA_HOME: /usr/local/cuda-10.2
NVCC: Cuda compilation tools, release 10.2, V10.2.89
GCC: gcc (GCC) 8.4.0
PyTorch: 1.8.0
PyTorch compiling details: PyTorch built with:
  - GCC 7.3
  - C++ Version: 201402
  - CPU capability usage: AVX2
  - CUDA Runtime 10.2
  - NVCC architecture flags: -gencode;arch=compute_37,code=sm_37;-gencode;arch=compute_70,code=sm_70
  - CuDNN 7.6.5
  - Magma 2.5.2
  - Build settings: CXX_FLAGS= -D_GLIBCXX_USE_CXX11_ABI=0 -O2, TORCH_VERSION=1.8.0, USE_CUDA=ON,

TorchVision: 0.9.0
OpenCV: 4.5.1
MMCV: 1.2.7
MMCV Compiler: GCC 7.5
MMCV CUDA Compiler: 10.2
MMDetection: 2.10.0+c76ab0e
"""


def test_mmdet() -> None:
    assert told(parse(MMCV)) == {
        "vendor": "nvidia",
        "served": "10.2",
        "gpus": ["Tesla P100-PCIE-16GB", "GeForce GTX 1080", "GeForce GTX 1080"],
        "toolkit": "10.2.89",
        "gcc": "8.4.0",
        "python": "3.7.9",
        "packages": ["mmcv-full 1.2.7", "mmdet 2.10.0", "torch 1.8.0", "torchvision 0.9.0"],
        "code": {"mmcv-full": (None, None, "10.2"), "torch": (("3.7", "7.0"), (), "")},
        "torch": "1.8.0",
        "cuda": "10.2",
        "abi": 0,
    }


@pytest.mark.parametrize(
    ("version", "compiler", "name"),
    [
        ("1.4.0", "GCC 7.3", "mmcv-full"),
        ("1.4.0", "n/a", "mmcv"),
        ("2.1.0", "GCC 9.3", "mmcv"),
        ("2.1.0", "n/a", "mmcv-lite"),
    ],
)
def test_flavour_of_mmcv(version: str, compiler: str, name: str) -> None:
    assert packages(f"MMCV: {version}\nMMCV Compiler: {compiler}\n") == [f"{name} {version}"]


def test_mmcv_without_gpu_code() -> None:
    text = "MMCV: 1.3.0\nMMCV Compiler: GCC 7.3\nMMCV CUDA Compiler: not available\n"
    assert told(parse(text))["code"] == {"mmcv-full": ((), (), "cpu")}


@pytest.mark.parametrize(
    "prefix",
    [
        "2020-07-31 22:39:16,038 - mmdet - INFO - ",
        "10/07 17:11:54 - mmengine - INFO - ",
        "2024/10/15 13:48:48 - mmengine - INFO - ",
        "    ",
        "> ",
        "> > ",
        "- ",
        "[rank0]: ",
        "(RayWorker pid=123) ",
        "2023-01-01T00:00:00.0000000Z ",
        "INFO 03-31 14:02:42 [__init__.py:239] ",
        "\x1b[32m",
        "<br>",
    ],
)
def test_what_stands_before_lines(prefix: str) -> None:
    plain = "CUDA_HOME: /usr\nPyTorch: 1.8.0\nGPU 0,1: Tesla V100\nMMCV: 1.3.0"
    wrapped = "\r\n".join(prefix + line for line in plain.split("\n"))
    assert told(parse(wrapped)) == told(parse(plain))


def test_a_printed_dictionary() -> None:
    plain = told(parse("sys.platform: linux\nGPU 0: Tesla V100\nPyTorch: 1.8.0\nMMCV: 1.3.0\n"))
    for text in (
        "{'sys.platform': 'linux', 'GPU 0': 'Tesla V100', 'PyTorch': '1.8.0', 'MMCV': '1.3.0'}",
        "{'sys.platform': 'linux',\n 'GPU 0': 'Tesla V100',\n 'PyTorch': '1.8.0',\n"
        " 'MMCV': '1.3.0'}",
        "OrderedDict([('sys.platform', 'linux'), ('GPU 0', 'Tesla V100'), ('PyTorch', '1.8.0'),"
        " ('MMCV', '1.3.0')])",
    ):
        assert told(parse(text)) == plain


DETECTRON2 = """
----------------------  ----------------------------------------------------------------
sys.platform            linux
Python                  3.8.16 (default, Mar  2 2023, 03:21:46) [GCC 11.2.0]
numpy                   1.23.5
detectron2              0.6 @/home/user/env/lib/python3.8/site-packages/detectron2
detectron2._C           not built correctly: /env/_C.so: undefined symbol: _ZNK2at6Tensor7is_cudaEv
Compiler ($CXX)         c++ (Ubuntu 8.4.0-3ubuntu2) 8.4.0
CUDA compiler           Cuda compilation tools, release 10.1, V10.1.243
detectron2 arch flags   3.7, 5.0, 5.2, 6.0, 6.1, 7.0, 7.5
DETECTRON2_ENV_MODULE   <not set>
PyTorch                 1.9.0+cu102 @/home/user/env/lib/python3.8/site-packages/torch
PyTorch debug build     False
torch._C._GLIBCXX_USE_CXX11_ABI  False
GPU available           Yes
GPU 0                   NVIDIA T550 Laptop GPU (arch=7.5)
Driver version          525.105.17
CUDA_HOME               /usr
Pillow                  9.5.0
torchvision             0.9.1+cu101 @/home/user/env/lib/python3.8/site-packages/torchvision
torchvision arch flags  3.5, 5.0, 6.0, 7.0, 7.5
fvcore                  0.1.5.post20221221
iopath                  0.1.9
cv2                     4.7.0
----------------------  ----------------------------------------------------------------
PyTorch built with:
  - GCC 7.3
"""


def test_detectron2_that_was_not_built() -> None:
    assert told(parse(DETECTRON2)) == {
        "vendor": "nvidia",
        "gpus": ["NVIDIA T550 Laptop GPU"],
        "cc": ["7.5"],
        "driver": "525.105.17",
        "toolkit": "10.1.243",
        "python": "3.8.16",
        "packages": [
            "detectron2 0.6",
            "fvcore 0.1.5.post20221221",
            "iopath 0.1.9",
            "numpy 1.23.5",
            "pillow 9.5.0",
            "torch 1.9.0+cu102",
            "torchvision 0.9.1+cu101",
        ],
        "code": {
            "detectron2": (("3.7", "5.0", "5.2", "6.0", "6.1", "7.0", "7.5"), None, ""),
            "torchvision": (("3.5", "5.0", "6.0", "7.0", "7.5"), None, ""),
        },
        "torch": "1.9.0+cu102",
        "cuda": "10.2",
        "abi": 0,
    }
    error = installed(DETECTRON2, "detectron2").import_error
    assert error.endswith("undefined symbol: _ZNK2at6Tensor7is_cudaEv")


def test_detectron2_that_was_built() -> None:
    text = (
        "detectron2              0.1.3 @/home/user/detectron2/detectron2\n"
        "Compiler                GCC 5.4\n"
        "CUDA compiler           CUDA 10.0\n"
        "detectron2 arch flags   sm_37\n"
        "PyTorch                 1.4.0 @/home/user/torch\n"
    )
    facts = told(parse(text))
    # torch before 1.8 adds no PTX for the one GPU that it compiles for
    assert facts["code"] == {"detectron2": (("3.7",), (), "10.0")}
    assert "toolkit" not in facts
    newer = text.replace("1.4.0", "1.9.0")
    assert told(parse(newer))["code"] == {"detectron2": (("3.7",), None, "10.0")}
    without = text.replace("CUDA 10.0", "not available").replace("sm_37", "/home/user/_C.so")
    assert told(parse(without))["code"] == {"detectron2": ((), (), "cpu")}


TRANSFORMERS = """
Copy-and-paste the text below in your GitHub issue and FILL OUT the two last points.

- `transformers` version: {version}
- Platform: Linux-5.15.0-1042-aws-x86_64-with-glibc2.35
- Python version: 3.10.12
- Huggingface_hub version: 0.25.1
- Safetensors version: 0.4.5
- Accelerate version: 0.34.2
- Accelerate config: 	not found
- PyTorch version ({question}): 2.4.1+cu121 ({answer})
- Tensorflow version (GPU?): not installed (NA)
- Flax version (CPU?/GPU?/TPU?): not installed (NA)
- Jax version: not installed
- Using GPU in script?: <fill in>
- GPU type: NVIDIA A10G
"""


@pytest.mark.parametrize(
    ("version", "question", "answer"),
    [("4.45.1", "GPU?", "True"), ("4.55.0", "accelerator?", "CUDA")],
)
def test_transformers(version: str, question: str, answer: str) -> None:
    text = TRANSFORMERS.format(version=version, question=question, answer=answer)
    assert told(parse(text)) == {
        "kernel": "5.15.0-1042-aws",
        "architecture": "x86_64",
        "glibc": "2.35",
        "vendor": "nvidia",
        "gpus": ["NVIDIA A10G"],
        "python": "3.10.12",
        "packages": [
            "accelerate 0.34.2",
            "huggingface-hub 0.25.1",
            "safetensors 0.4.5",
            "torch 2.4.1+cu121",
            f"transformers {version}",
        ],
        "torch": "2.4.1+cu121",
        "cuda": "12.1",
    }


def test_accelerate_and_diffusers() -> None:
    text = (
        "- `Accelerate` version: 0.34.0\n- Numpy version: 1.26.4\n"
        "- PyTorch version (GPU?): 2.4.0+cu121 (False)\n- 🤗 Diffusers version: 0.30.0\n"
        "- PEFT version: 0.12.0\n- xFormers version: 0.0.27.post2\n"
        "- Accelerator: NVIDIA GeForce RTX 3090, 24576 MiB VRAM\n"
    )
    facts = told(parse(text))
    assert facts["packages"] == [
        "accelerate 0.34.0",
        "numpy 1.26.4",
        "peft 0.12.0",
        "torch 2.4.0+cu121",
        "xformers 0.0.27.post2",
    ]
    assert facts["gpus"] == ["NVIDIA GeForce RTX 3090"]


@pytest.mark.parametrize(
    "text",
    [
        "Package                  Version\n------------------------ -----------\n"
        "mmcv-full                1.4.0\ntorch                    1.9.1+cu111\nzipp     3\n",
        "Package    Version     Editable project location\n---------- ----------- ----------\n"
        "mmcv-full  1.4.0\ntorch      1.9.1+cu111 /home/user/pytorch\nzipp       3\n",
        "mmcv-full==1.4.0\ntorch==1.9.1+cu111\nzipp==3\n",
        "mmcv-full (1.4.0)\ntorch (1.9.1+cu111)\nzipp==3\n",
        "mmcv-full==1.4.0 ; python_version < '3.9'\ntorch==1.9.1+cu111 \\\n    --hash=sha256:0\n"
        "zipp==3  # via x\n",
        "# Editable install with no version control (mmcv-full==1.4.0)\n-e /home/user/mmcv\n"
        "torch @ https://host/whl/torch-1.9.1%2Bcu111-cp38-cp38-linux_x86_64.whl#sha256=0\n"
        "zipp==3\n",
    ],
)
def test_lists_of_pip(text: str) -> None:
    assert packages(text) == ["mmcv-full 1.4.0", "torch 1.9.1+cu111", "zipp 3"]


def test_what_pip_does_not_say() -> None:
    text = (
        "numpy @ file:///tmp/build/numpy_1/work\n-e git+https://host/mmdet@c0#egg=mmdet\nzipp==3\n"
    )
    assert packages(text) == ["zipp 3"]


CONDA = """
# packages in environment at /home/user/miniconda3/envs/det:
#
# Name                    Version                   Build  Channel
_libgcc_mutex             0.1                        main
cudatoolkit               11.1.1               h6406543_8    conda-forge
mmcv-full                 1.4.0                    pypi_0    pypi
numpy                     1.21.2           py38h20f2e39_0
python                    3.8.12               h12debd9_0
pytorch                   1.9.1           py3.8_cuda11.1_cudnn8.0.5_0    pytorch
torchvision               0.10.1               py38_cu111    pytorch
"""


def test_conda_list() -> None:
    facts = told(parse(CONDA))
    assert facts["packages"] == [
        "mmcv-full 1.4.0",
        "numpy 1.21.2",
        "torch 1.9.1",
        "torchvision 0.10.1",
    ]
    assert facts["python"] == "3.8.12"
    assert (facts["torch"], facts["cuda"]) == ("1.9.1", "11.1")
    assert "cudatoolkit 11.1.1 h6406543_8" in facts["conda"]
    assert installed(CONDA, "torch").installer == "conda"
    assert installed(CONDA, "mmcv-full").installer == "pip"
    assert installed(CONDA, "torch").path == "conda list, line 10"


@pytest.mark.parametrize(
    "row",
    [
        "pytorch=1.10.0=py3.6_cpu_0",
        "  - pytorch=1.10.0=py3.6_cpu_0",
        "https://conda.example/pytorch/linux-64/pytorch-1.10.0-py3.6_cpu_0.tar.bz2",
        "pytorch            pytorch/linux-64::pytorch-1.10.0-py3.6_cpu_0",
        "pytorch/linux-64::pytorch-1.10.0-py3.6_cpu_0",
        "pytorch                   1.10.0              py3.6_cpu_0    pytorch",
        "+ pytorch      1.10.0  py3.6_cpu_0       pytorch/linux-64      Cached",
        "[conda] pytorch                   1.10.0              py3.6_cpu_0    pytorch",
    ],
)
def test_forms_of_conda(row: str) -> None:
    facts = told(parse(row))
    assert facts["conda"] == ["pytorch 1.10.0 py3.6_cpu_0"]
    assert (facts["torch"], facts["cuda"]) == ("1.10.0", "cpu")


@pytest.mark.parametrize(
    ("build", "cuda"),
    [
        ("py3.8_cuda11.1_cudnn8.0.5_0", "11.1"),
        ("py3.7_cuda90_cudnn7_1", "9.0"),
        ("cuda112py38h2ebd4f5_301", "11.2"),
        ("cuda120_py311h25b6552_301", "12.0"),
        ("cpu_py38hd11e9c7_0", "cpu"),
        ("cpu_mkl_py310h", "cpu"),
        ("py38h1234567_0", None),
    ],
)
def test_cuda_of_conda_builds(build: str, cuda: Optional[str]) -> None:
    torch = target(f"pytorch=1.9.1={build}").torch
    assert torch is not None
    assert torch.cuda.value == cuda


SMI = """
Mon Jul 12 13:59:45 2021
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 465.19.01    Driver Version: 465.19.01    CUDA Version: 11.3     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  On   | 00000000:01:00.0 Off |                    0 |
| N/A   37C    P0    41W / 300W |    392MiB / 16160MiB |      0%      Default |
|                               |                      |                  N/A |
+-------------------------------+----------------------+----------------------+
"""
SMI_OLD = """
| NVIDIA-SMI 384.111                Driver Version: 384.111                   |
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
|   0  TITAN Xp            Off  | 00000000:01:00.0 Off |                  N/A |
| N/A   33C    P0    N/A /  N/A |    430MiB /  12196MiB |      0%      Default |
"""
SMI_NEW = """
| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |
|   0  NVIDIA GeForce RTX 5060        Off |   00000000:01:00.0  On |                  N/A |
|  0%   51C    P0            N/A  /  145W |     541MiB /   8151MiB |      7%      Default |
"""
SMI_WINDOWS = """
| NVIDIA-SMI 546.33                 Driver Version: 546.33       CUDA Version: 12.3     |
|   0  NVIDIA GeForce RTX 3060      WDDM  | 00000000:01:00.0  On |                  N/A |
| N/A   51C    P8              14W /  80W |    300MiB /  6144MiB |      7%      Default |
"""


@pytest.mark.parametrize(
    ("text", "driver", "serves", "gpus", "memory"),
    [
        (SMI, "465.19.01", "11.3", ["Tesla V100-SXM2..."], [16160]),
        (SMI_OLD, "384.111", None, ["TITAN Xp"], [12196]),
        (SMI_NEW, "610.43.02", "13.3", ["NVIDIA GeForce RTX 5060"], [8151]),
        (SMI_WINDOWS, "546.33", "12.3", ["NVIDIA GeForce RTX 3060"], [6144]),
    ],
)
def test_nvidia_smi(
    text: str, driver: str, serves: Optional[str], gpus: Optional[List[str]], memory: Any
) -> None:
    facts = told(parse(text))
    assert facts["driver"] == driver
    assert facts.get("serves") == serves
    assert facts.get("gpus") == gpus
    assert facts.get("memory") == memory


def test_a_cut_name_is_completed_by_another_section() -> None:
    assert told(parse(SMI))["gpus"] == ["Tesla V100-SXM2..."]
    facts = told(parse(SMI + "\nGPU 0: Tesla V100-SXM2-16GB (UUID: GPU-0)\n"))
    assert facts["gpus"] == ["Tesla V100-SXM2-16GB"]
    assert facts["memory"] == [16160]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (
            "Cuda compilation tools, release 11.3, V11.3.109\nBuild cuda_11.3.r11.3/c.2\n",
            "11.3.109",
        ),
        ("Build cuda_12.0.r12.0/compiler.32267302_0", "12.0"),
        ("NVCC: Build cuda_11.1.TC455_06.29190527_0", "11.1"),
        ("NVCC: Not Available\nPyTorch: 1.9.0", None),
        ("CUDA Version 9.0.176", "9.0.176"),
    ],
)
def test_nvcc(text: str, version: Optional[str]) -> None:
    assert told(parse(text)).get("toolkit") == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("gcc (Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0", "9.4.0"),
        ("gcc (GCC) 4.8.5 20150623 (Red Hat 4.8.5-44)", "4.8.5"),
        ("GCC: gcc (Spack GCC) 7.4.0", "7.4.0"),
        ("GCC: x86_64-conda-linux-gnu-cc (Anaconda gcc) 11.2.0", "11.2.0"),
        ("GCC: n/a\nPyTorch: 1.9.0", None),
    ],
)
def test_gcc(text: str, version: Optional[str]) -> None:
    assert told(parse(text)).get("gcc") == version


def test_what_torch_warns_of() -> None:
    text = (
        "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found"
        " version 11040). Please update your GPU driver\n"
        "/env/torch/cuda/__init__.py:104: UserWarning: GeForce RTX 3090 with CUDA capability"
        " sm_86 is not compatible with the current PyTorch installation.\n"
        "The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_75 compute_37.\n"
        "torch==1.7.1\n"
    )
    assert told(parse(text)) == {
        "vendor": "nvidia",
        "gpus": ["GeForce RTX 3090"],
        "cc": ["8.6"],
        "serves": "11.4",
        "packages": ["torch 1.7.1"],
        "code": {"torch": (("3.7", "5.0", "7.5"), ("3.7",), "")},
        "torch": "1.7.1",
    }


@pytest.mark.parametrize("cut", [";-gencode;arch=compute_80,code=sm_8", ";-gencode;arch=comp"])
def test_flags_that_were_cut_are_unknown(cut: str) -> None:
    line = "PyTorch: 1.9.0\n  - NVCC architecture flags: -gencode;arch=compute_70,code=sm_70"
    assert told(parse(line))["code"] == {"torch": (("7.0",), (), "")}
    assert "code" not in told(parse(line + cut))


def test_the_prompt_of_python() -> None:
    text = (
        ">>> import torch\n>>> torch.__version__\n'1.14.0.dev20221110'\n"
        ">>> print(torch.version.cuda)\nNone\n>>> torch.cuda.is_available()\nFalse\n"
        "$ python -c 'import torchvision; print(torchvision.__version__)'\n0.14.0\n"
        ">>> sys.version\n'3.10.6 | packaged by conda-forge | (main) [Clang 13.0.1 ]'\n"
    )
    assert told(parse(text)) == {
        "python": "3.10.6",
        "packages": ["torch 1.14.0.dev20221110", "torchvision 0.14.0"],
        "torch": "1.14.0.dev20221110",
        "cuda": "cpu",
    }


FORM = """
 - OS: [Ubuntu 16.04]
 - GCC [5.4.0]
 - PyTorch version [1.3.0]
- How you installed PyTorch [conda install torch]
- GPU model [2 x GTX 1080Ti]
- CUDA and CUDNN version [CUDA Version 9.0.176]
"""


def test_a_form_filled_in_by_hand() -> None:
    assert told(parse(FORM)) == {
        "os": "ubuntu:16.04",
        "vendor": "nvidia",
        "gpus": ["GTX 1080Ti", "GTX 1080Ti"],
        "toolkit": "9.0.176",
        "gcc": "5.4.0",
        "packages": ["torch 1.3.0"],
        "torch": "1.3.0",
    }


def test_a_table_of_markdown() -> None:
    text = "| Package | Version |\n|---|---|\n| torch | 2.3.0 |\n| flash-attn | 2.5.7 |\n"
    assert packages(text) == ["flash-attn 2.5.7", "torch 2.3.0"]


def test_what_runs_comes_before_what_is_listed() -> None:
    text = "PyTorch version: 1.7.0a0+9ddd3df\n[pip3] torch==1.7.0a0+a9603c7\n"
    assert told(parse(text))["torch"] == "1.7.0a0+9ddd3df"


def test_contradictions_are_unknown() -> None:
    text = "Nvidia driver version: 470.57.02\nPyTorch: 1.9.0\nNvidia driver version: 535.54.03\n"
    assert parse(text).accelerator.driver == Observed(
        unknown="the report says 470.57.02 (line 1) and 535.54.03 (line 3)"
    )
    text = "numpy==1.19.5\nzipp==3.1\nnumpy==2.0.0\n"
    assert packages(text) == ["zipp 3.1"]
    assert target(text).problems[1:] == (
        "numpy: the report says 1.19.5 (line 1) and 2.0.0 (line 3)",
    )


def test_cuda_that_is_available_is_served() -> None:
    """In a container with a libcuda of its own, the number of the driver tells less."""
    text = (
        "PyTorch version: 2.1.0\nCUDA used to build PyTorch: 12.1\n"
        "Nvidia driver version: 470.82.01\n"
    )
    assert "served" not in told(parse(text))
    facts = parse(text + "Is CUDA available: True\n")
    assert facts.accelerator.served.value == "12.1"
    assert facts.accelerator.served.origin == (
        "collect_env, line 4: it is available to a build for 12.1"
    )


def test_where_facts_come_from() -> None:
    facts = parse("Hello,\n\nGPU 0: Tesla V100\nNvidia driver version: 470.57.02\nPyTorch: 1.9.0\n")
    assert facts.accelerator.driver.origin == "collect_env, line 4"
    assert facts.accelerator.gpus.origin == "collect_env, line 3"
    assert facts.machine.os.unknown == "the report does not say"
    assert facts.target.origin == "as reported"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "It does not work, please help.",
        'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: bad value: 1.2.3\n',
        "#!/bin/sh\npip install torch==1.9.0\n",
        "\x00\x01\x02",
    ],
)
def test_what_is_no_report(text: str) -> None:
    with pytest.raises(ReportError, match="no line is of a known report"):
        parse(text)


def test_a_text_that_is_too_long() -> None:
    with pytest.raises(ReportError, match="larger than 2 MB"):
        parse("torch==1.9.0\n" * 500_000)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (
            "YOLOv5 v7.0-72 Python-3.8.10 torch-1.13.1+cu117 CUDA:0 (Tesla T4, 15110MiB)\n"
            "               CUDA:1 (Tesla T4, 15110MiB)\n",
            {"gpus": ["Tesla T4", "Tesla T4"], "memory": [15110, 15110], "python": "3.8.10"},
        ),
        (
            "torch version .................... 2.0.1+cu118\n"
            "deepspeed info ................... 0.9.5, unknown, unknown\n"
            "nvcc version ..................... 12.1\n",
            {"toolkit": "12.1", "packages": ["deepspeed 0.9.5", "torch 2.0.1+cu118"]},
        ),
        (
            "* CUDA:\n\t- GPU:\n\t\t- Tesla T4\n\t- available: True\n\t- version: 11.7\n"
            "* Packages:\n\t- torch: 2.0.0\n",
            {"gpus": ["Tesla T4"], "packages": ["torch 2.0.0"], "cuda": "11.7"},
        ),
        ("CUDA Driver Version   : 11040\nnumpy==1.20.1\n", {"serves": "11.4"}),
        ("CUDA Driver Version: 535.161.08\n", {"driver": "535.161.08"}),
        ("       virtual packages : __cuda=12.2=0\n", {"serves": "12.2"}),
        ("name, driver_version\nNVIDIA L4, 535.54.03\n", {"driver": "535.54.03"}),
        ("Name: torch\nVersion: 2.0.1\nSummary: x\n", {"packages": ["torch 2.0.1"]}),
        ('[{"name": "torch", "version": "2.0.1"}]', {"packages": ["torch 2.0.1"]}),
        (
            "├── torch v2.4.0\n│   └── triton v3.0.0\n",
            {"packages": ["torch 2.4.0", "triton 3.0.0"]},
        ),
        ("torch  (!) 2.2.1  Tensors and networks\n", {"packages": ["torch 2.2.1"]}),
        ("### PyTorch version\n\n1.7.1\n", {"torch": "1.7.1"}),
        (
            "- 显卡\uff1aRTX 3090\n- PyTorch版本\uff1a1.9.1\n",
            {"gpus": ["RTX 3090"], "torch": "1.9.1"},
        ),
        ("PyTorch 1.8.1 + CUDA 11.1, RTX 3090\n", {"gpus": ["RTX 3090"], "torch": "1.8.1"}),
        ("- GPU: 2 x RTX 3090 (24G)\n", {"gpus": ["RTX 3090", "RTX 3090"]}),
        ("$ python --version\nPython 3.12.3\n", {"python": "3.12.3"}),
        (
            "Collecting torch==2.0\nSuccessfully installed torch-2.1.2 nvidia-nccl-cu12-2.18.1\n",
            {"packages": ["nvidia-nccl-cu12 2.18.1", "torch 2.1.2"]},
        ),
        (
            "PS C:\\> python -c "
            '"import torch; print(torch.__version__); print(torch.version.cuda)"\n'
            "2.1.2+cu118\n11.8\n",
            {"torch": "2.1.2+cu118", "cuda": "11.8"},
        ),
    ],
)
def test_further_forms(text: str, known: Dict[str, Any]) -> None:
    facts = told(parse(text))
    assert {name: facts.get(name) for name in known} == known


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "broken"),
        ("Failed to initialize NVML: Driver/library version mismatch", "mismatch"),
        ("UserWarning: The NVIDIA driver on your system is too old (found version 9010).", "old"),
    ],
)
def test_what_a_driver_refuses(text: str, kind: str) -> None:
    accelerator = parse(text).accelerator
    assert list(accelerator.refused) == [kind]
    assert accelerator.vendor.value == "nvidia"


def test_another_environments_list_is_left_out() -> None:
    text = "PyTorch version: 1.9.0+cu111\n[pip3] torch==1.7.1\n[pip3] torchvision==0.8.2\n"
    assert packages(text) == ["torch 1.9.0+cu111"]
    assert "another environment" in target(text).problems[-1]


@pytest.mark.parametrize(
    "text", ["works with torch 1.13 but fails with torch 2.0", "YOLO v8 is fine"]
)
def test_sentences_are_no_reports(text: str) -> None:
    with pytest.raises(ReportError):
        parse(text)


SYMBOL = "undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE"
LIBRARY = "libcudart.so.10.2: cannot open shared object file"


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        (
            f"ImportError: /e/lib/python3.8/site-packages/mmcv/_ext.cpython-38.so: {SYMBOL}\n"
            "mmcv-full==1.7.0\n",
            {"mmcv-full": SYMBOL},
        ),
        (f"ImportError: /e/flash_attn_2_cuda.cpython-310.so: {SYMBOL}\n", {"flash-attn": SYMBOL}),
        (
            'File "/e/lib/python3.8/site-packages/torch_scatter/__init__.py", line 16, in f\n'
            'File "/e/lib/python3.8/ctypes/__init__.py", line 373, in __init__\n'
            f"OSError: {LIBRARY}: No such file or directory\n",
            {"torch-scatter": f"{LIBRARY}: No such file or directory"},
        ),
        # of the system, of the project's own, and of nothing that is named
        ("ImportError: libGL.so.1: cannot open shared object file\nnumpy==1.20.0\n", {}),
        (f"ImportError: /home/u/code/ops/_ext.so: {SYMBOL}\nnumpy==1.20.0\n", {}),
        (f"The docs speak of: {SYMBOL}\nnumpy==1.20.0\n", {}),
    ],
)
def test_what_the_loader_refuses(text: str, loads: Dict[str, str]) -> None:
    target = parse(text).target.value
    assert target is not None
    found = {d.name: d.import_error for d in target.distributions if d.import_error}
    assert found == loads
