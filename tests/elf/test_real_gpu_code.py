"""What is read of a file equals what cuobjdump lists, for what NVIDIA's compilers write.

The compilers are those of PyPI: nvcc, fatbinary and cuobjdump of CUDA 13; of CUDA 12, which has no
nvcc there, the assembler and nvFatbin, whose container is that of its nvcc; of CUDA 11 the
assembler. No GPU is needed.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import List, Sequence

import pytest

from envdoctor.elf.gpu_code import GpuImages, Group, read_gpu_images

pytestmark = pytest.mark.real

CUDA_13 = (
    *("nvidia-cuda-nvcc==13.4.92", "nvidia-cuda-crt==13.4.92", "nvidia-nvvm==13.4.92"),
    *("nvidia-cuda-runtime==13.4.92", "nvidia-cuda-cuobjdump==13.4.92"),
)
ASSEMBLERS = {"12": "nvidia-cuda-nvcc-cu12==12.9.86", "11": "nvidia-cuda-nvcc-cu11==11.8.89"}
PACKERS = ("12.4.127", "12.8.90", "12.9.82")  # nvidia-nvfatbin-cu12

FILL = """\
__global__ void fill(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i * 3;
}
"""
DOUBLED = """\
extern __device__ int twice(int);
__global__ void doubled(int *out) { out[threadIdx.x] = twice(threadIdx.x); }
"""
TWICE = "__device__ int twice(int i) { return 2 * i; }\n"
ASSEMBLY = """\
.version 7.0
.target sm_{number}
.address_size 64
.visible .entry fill(.param .u64 out)
{{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 7;
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}}
"""


def gencode(virtual: str, *codes: str) -> List[str]:
    """`gencode("90", "sm_90", "compute_90")`: SASS and PTX of one virtual architecture."""
    return ["-gencode", f"arch=compute_{virtual},code=[{','.join(codes)}]"]


LIBRARY = ["-shared", "-Xcompiler", "-fPIC", "-cudart", "static"]
BUILDS = {
    "sass.so": ["fill.cu", *gencode("80", "sm_80")],
    "ptx.so": ["fill.cu", *gencode("80", "compute_80")],
    "many.so": [
        *("fill.cu", *gencode("80", "sm_80", "sm_86"), *gencode("90a", "sm_90a", "compute_90a")),
        *(*gencode("100f", "sm_100f", "compute_100f"), *gencode("120", "compute_120")),
    ],
    "two.so": ["fill.cu", "other.cu", *gencode("80", "sm_80", "compute_80")],
    "all-major.so": ["fill.cu", "-arch=all-major"],
    "relocatable.so": [
        *("doubled.cu", "twice.cu", "-rdc=true"),
        *(*gencode("80", "sm_80"), *gencode("90", "sm_90", "compute_90")),
    ],
    "lto.o": ["fill.cu", "-dc", *gencode("80", "lto_80", "sm_80")],
    "size.fatbin": ["fill.cu", "-fatbin", "-compress-mode", "size", "-arch=sm_90"],
}


@functools.lru_cache(maxsize=None)
def installed(*packages: str) -> Path:
    """A folder with these packages, without what they need."""
    folder = Path(tempfile.mkdtemp(prefix="envdoctor-compilers-"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    subprocess.run([*command, str(folder), *packages], check=True)
    for program in folder.glob("nvidia/**/bin/*"):
        program.chmod(0o755)
    return folder


def cuobjdump(path: Path, *options: str) -> str:
    program = installed(*CUDA_13) / "nvidia/cu13/bin/cuobjdump"
    command = [str(program), *options, str(path)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True).stdout


def counted(groups: Sequence[Group]) -> Counter[str]:
    """How many images there are for each target: {"elf 90a": 2, "ptx 90": 1}."""
    found: Counter[str] = Counter()
    for group in groups:
        for kind, targets in (("elf", group.sass), ("ptx", group.ptx)):
            for target in targets:
                found[f"{kind} {target.major}{target.minor}{target.suffix}"] += group.containers
    return found


def is_as_listed(path: Path) -> GpuImages:
    """Compare a file with what cuobjdump tells of it.

    It lists what is loaded of a file; if there is nothing, what is to be linked. Its list has no
    "f" after compiled code. What it prints with the headers has it, and versions of PTX, but leaves
    out images that were compressed together.
    """
    read = read_gpu_images(str(path))
    found = counted(read.groups or read.relocatable)
    names = {"cubin": "elf", "ptx": "ptx"}
    listed = re.findall(
        r"\.sm_(\w+)\.(cubin|ptx)$", cuobjdump(path, "-lelf", "-lptx"), re.MULTILINE
    )
    shown = Counter(re.sub(r"^(elf \d+)f$", r"\1", name) for name in found.elements())
    assert shown == Counter(f"{names[kind]} {number}" for number, kind in listed)
    heads = r"^Fatbin (elf|ptx) code:\n=+\narch = sm_(\w+)\ncode version = \[(\d+),(\d+)\]"
    told = re.findall(heads, cuobjdump(path, "-all"), re.MULTILINE)
    if "concat" not in path.name:
        every = counted((*read.groups, *read.relocatable))
        assert every == Counter(f"{kind} {number}" for kind, number, _, _ in told)
        versions = {(int(major), int(minor)) for kind, _, major, minor in told if kind == "ptx"}
        assert versions == set(read.isa.values())
    assert read.problem == ""
    return read


@functools.lru_cache(maxsize=None)
def sources() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="envdoctor-kernels-"))
    texts = {
        "fill.cu": FILL,
        "other.cu": FILL.replace("fill", "other"),
        "doubled.cu": DOUBLED,
        "twice.cu": TWICE,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", BUILDS)
def test_what_nvcc_writes(tmp_path: Path, name: str) -> None:
    toolkit = installed(*CUDA_13) / "nvidia/cu13"
    options = BUILDS[name]
    if name.endswith(".so"):
        options = [*options, *LIBRARY, f"-L{toolkit}/lib"]
    path = tmp_path / name
    command = [str(toolkit / "bin/nvcc"), *options, "-o", str(path)]
    subprocess.run(command, check=True, cwd=sources(), env={**os.environ, "CUDA_HOME": ""})
    read = is_as_listed(path)
    assert read.groups or read.relocatable
    if name == "relocatable.so":
        assert read.groups
        assert read.relocatable


@functools.lru_cache(maxsize=None)
def cubin(cuda: str, architecture: str) -> Path:
    """PTX compiled by the assembler of a CUDA for "90a"."""
    if cuda == "13":
        program = installed(*CUDA_13) / "nvidia/cu13/bin/ptxas"
    else:
        program = installed(ASSEMBLERS[cuda]) / "nvidia/cuda_nvcc/bin/ptxas"
    folder = Path(tempfile.mkdtemp(prefix="envdoctor-cubins-"))
    number = min(80, int(re.sub(r"\D", "", architecture)))
    (folder / "fill.ptx").write_text(ASSEMBLY.format(number=number))
    path = folder / f"sm_{architecture}.cubin"
    command = [str(program), f"-arch=sm_{architecture}", "-o", str(path), str(folder / "fill.ptx")]
    subprocess.run(command, check=True)
    return path


OTHERS = ("75", "80", "90a", "100", "100f", "103a", "120")
# A cubin of sm_100f by itself is one of sm_100, for cuobjdump too.
CUBINS = (
    *(("11", architecture) for architecture in ("75", "80", "86", "90")),
    *(("12", architecture) for architecture in ("75", "89", "90", "90a", "100", "100a", "121a")),
    *(("13", architecture) for architecture in OTHERS if architecture != "100f"),
)


@pytest.mark.parametrize(("cuda", "architecture"), CUBINS)
def test_cubins(cuda: str, architecture: str) -> None:
    read = read_gpu_images(str(cubin(cuda, architecture)))
    assert [f"{t.major}{t.minor}{t.suffix}" for t in read.sass] == [architecture]
    assert read.images == 1


@pytest.mark.parametrize(
    ("mode", "concat"),
    [
        *((mode, "") for mode in ("none", "size", "speed", "balance")),
        *((mode, "-concat") for mode in ("size", "speed", "balance")),
    ],
)
def test_what_cuda_13_packs(tmp_path: Path, mode: str, concat: str) -> None:
    path = tmp_path / f"packed{concat}.fatbin"
    program = installed(*CUDA_13) / "nvidia/cu13/bin/fatbinary"
    files = {number: cubin("13", number) for number in OTHERS}
    images = [f"-image3=kind=elf,sm={number},file={file}" for number, file in files.items()]
    text = files["80"].with_name("fill.ptx")
    images += [f"-image3=kind=ptx,sm={number},file={text}" for number in ("80", "90a", "120f")]
    for name in ([], ["-ident=fill.cu", "-cmdline=-O3 "]):
        options = [f"-compress-mode={mode}", *([concat] if concat else []), *name]
        command = [str(program), f"-create={path}", "-64", *options, *images]
        subprocess.run(command, check=True)
        assert is_as_listed(path).images == 10


def packed(version: str, options: Sequence[str]) -> bytes:
    """A fat binary by nvFatbin, of cubins of CUDA 12 and PTX."""
    (file,) = (installed(f"nvidia-nvfatbin-cu12=={version}") / "nvidia").glob("**/libnvfatbin.so*")
    library = ctypes.CDLL(str(file))
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()
    texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))

    def call(name: str, *arguments: object) -> None:
        assert getattr(library, name)(*arguments) == 0, name

    call("nvFatbinCreate", ctypes.byref(handle), texts, ctypes.c_size_t(len(options)))
    for architecture in ["75", "80", "90", "90a", *(["100a", "120"] if version > "12.5" else [])]:
        data = cubin("12", architecture).read_bytes()
        length = ctypes.c_size_t(len(data))
        call("nvFatbinAddCubin", handle, data, length, architecture.encode(), b"name.cu")
    text = ASSEMBLY.format(number=80).encode() + b"\0"
    length = ctypes.c_size_t(len(text))
    call("nvFatbinAddPTX", handle, text, length, b"80", b"name.cu", b"-O3")
    call("nvFatbinSize", handle, ctypes.byref(size))
    made = ctypes.create_string_buffer(size.value)
    call("nvFatbinGet", handle, made)
    call("nvFatbinDestroy", ctypes.byref(handle))
    return made.raw


@pytest.mark.parametrize("option", ["-compress=true", "-compress=false", "-compress-all"])
@pytest.mark.parametrize("version", PACKERS)
def test_what_cuda_12_packs(tmp_path: Path, version: str, option: str) -> None:
    path = tmp_path / "packed.fatbin"
    path.write_bytes(packed(version, ["-64", option]))
    assert is_as_listed(path).images >= 5
