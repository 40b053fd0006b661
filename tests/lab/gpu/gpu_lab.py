"""Compiles small CUDA libraries for several GPUs, runs each on the GPU here, and writes what became
of it beside what envdoctor says of the file. See README.md beside this file.

The standard library and what envdoctor needs are enough; torch is only used if it is there.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT), str(ROOT / ".venv-device")]

from gpu_cases import CASES, EXTENSIONS  # noqa: E402

FATBINS = ROOT / "tests" / "elf" / "fatbins"
NUMBERS = 1000
SECONDS = 300
Json = Dict[str, Any]


# --- what is run in children: a broken context must not spoil the next one ---------------------


def run_library(path: str, kernel: str) -> Json:
    """Run a kernel of a library: what the runtime answered, and whether the numbers are right."""
    library = ctypes.CDLL(path)
    numbers, text = (ctypes.c_int * NUMBERS)(), ctypes.create_string_buffer(400)
    code = library[f"run_{kernel}"](numbers, NUMBERS, text, len(text))
    return {
        "code": code,
        "said": text.value.decode(),
        "right": list(numbers) == [3 * i for i in range(NUMBERS)],
    }


def run_fatbin(path: str, kernel: str) -> Json:
    """Let the driver load a fat binary and take a kernel out of it."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    device = ctypes.c_int()
    data = Path(path).read_bytes()
    steps = {
        "cuInit": lambda: cuda.cuInit(0),
        "cuDeviceGet": lambda: cuda.cuDeviceGet(ctypes.byref(device), 0),
        "retain": lambda: cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
        "cuCtxSetCurrent": lambda: cuda.cuCtxSetCurrent(context),
        "cuModuleLoadData": lambda: cuda.cuModuleLoadData(ctypes.byref(module), data),
    }
    for name, step in steps.items():
        if code := step():
            text = ctypes.c_char_p()
            cuda.cuGetErrorName(code, ctypes.byref(text))
            return {"code": code, "said": f"{name}: {(text.value or b'').decode()}", "right": False}
    names = (kernel, f"_Z{len(kernel)}{kernel}Pii")  # of PTX, and of C++
    codes = [cuda.cuModuleGetFunction(ctypes.byref(function), module, n.encode()) for n in names]
    return {"code": min(codes), "said": "cuModuleGetFunction", "right": 0 in codes}


def run_extension(path: str, kernel: str) -> Json:
    """Import an extension of torch and call it."""
    import importlib.util

    import torch  # type: ignore[import-not-found]

    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        numbers = module.run(NUMBERS).cpu().tolist()
    except RuntimeError as error:
        return {"code": 1, "said": f"{type(error).__name__}: {error}", "right": False}
    right = numbers == [3 * i for i in range(NUMBERS)]
    return {"code": 0, "said": torch.__version__, "right": right}


def machine() -> Json:
    """The GPU and what its driver serves, by the driver."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, major, minor, served = (ctypes.c_int() for _ in range(4))
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0):
        raise OSError("no CUDA device")
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
    cuda.cuDriverGetVersion(ctypes.byref(served))
    name = ctypes.create_string_buffer(100)
    cuda.cuDeviceGetName(name, len(name), device)
    return {
        "gpu": name.value.decode(),
        "capability": f"{major.value}.{minor.value}",
        "serves": f"{served.value // 1000}.{served.value % 1000 // 10}",
    }


def predict(path: str, capability: str, serves: str) -> Json:
    """What envdoctor says of a file: its code, and whether this GPU and driver run it."""
    from envdoctor.elf.gpu_code import read_gpu_images, summarize
    from envdoctor.knowledge.load import load
    from envdoctor.model.build import Build, Unknown
    from envdoctor.model.versions import parse
    from envdoctor.relations.gpu_code import read_code
    from envdoctor.relations.predicates import executes, jit, native

    images = read_gpu_images(path)
    code = summarize([images])
    if code is None:
        return {"problem": images.problem or "no GPU code"}
    read = read_code(code)
    build = Build("library", None, {"sass": read.sass(), "ptx": read.ptx(), "code": read})
    gpu = Build("host.gpu", None, {"cc": parse(capability)})
    said = {"native": native(build, gpu), "jit": jit(build, gpu), "runs": executes(build, gpu)}
    if said["runs"] is True and said["native"] is not True:
        # It has to be compiled, by a driver that knows this version of PTX.
        row = load().tables["ptx"].rows[parse(code.ptx_version)]
        said["runs"] = parse(serves) >= row["cuda"]
    return {
        "groups": [[list(g.sass), list(g.ptx), g.containers] for g in code.groups],
        "ptx_version": code.ptx_version,
        **{name: None if isinstance(v, Unknown) else v for name, v in said.items()},
    }


def check(site: str, python: str, *assumed: str) -> Json:
    """What a check says of the extension in a folder that PYTHONPATH names."""
    from envdoctor import check

    os.environ["PYTHONPATH"] = site
    report = check(python=python, assume=assumed)
    wanted = ("gpu-arch-not-in-extension", "driver-too-old")
    told = [
        f for f in report.findings if f.name in wanted and f.component.startswith("torch-scatter")
    ]
    return {"findings": [[f.code, f.severity, f.summary] for f in told]}


CHILDREN = {
    "library": run_library,
    "fatbin": run_fatbin,
    "extension": run_extension,
    "predict": predict,
    "check": check,
}


# --- the laboratory ----------------------------------------------------------------------------


def child(python: str, name: str, *arguments: str, **variables: str) -> Json:
    """Run one of the functions above in a process of its own."""
    command = [python, str(Path(__file__).resolve()), "--child", name, *arguments]
    environment = {**os.environ, **variables}
    try:
        done = subprocess.run(  # noqa: PLW1510
            command, capture_output=True, text=True, env=environment, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"died": f"no end after {SECONDS} seconds"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"died": f"status {done.returncode}: {done.stderr[-1500:]}"}
    told: Json = json.loads(lines[-1])
    return told


def compile_case(nvcc: str, case: str, folder: Path) -> Json:
    """Compile a case; returns the file, or what the compiler said."""
    folder.mkdir()
    objects = []
    for kernel, targets in CASES[case].kernels.items():
        output = folder / f"{kernel}.o"
        generated: List[str] = []
        command = [nvcc, "-c", "-Xcompiler", "-fPIC", f"-DNAME={kernel}", str(HERE / "kernel.cu")]
        for target in targets:
            virtual, _, codes = target.partition(": ")
            generated += ["-gencode", f"arch=compute_{virtual},code=[{codes}]"]
        command += [*generated, "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: PLW1510
        if done.returncode:
            return {"problem": done.stderr[-1500:]}
        objects.append(str(output))
    path = folder / "library.so"
    # What links makes a fat binary of its own, without kernels, for the targets that it is told.
    command = [nvcc, "-shared", "-cudart", "static", *generated, *objects, "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)  # noqa: PLW1510
    return {"problem": done.stderr[-1500:]} if done.returncode else {"path": str(path)}


def compile_extension(python: str, case: str, folder: Path) -> Json:
    """Let torch's builder compile the extension; returns the file, or what it said."""
    folder.mkdir()
    code = (
        "import sys; from torch.utils.cpp_extension import load;"
        "load('lab_extension', [sys.argv[1]], build_directory=sys.argv[2], verbose=False)"
    )
    variables = {**os.environ, "TORCH_CUDA_ARCH_LIST": EXTENSIONS[case], "MAX_JOBS": "4"}
    command = [python, "-c", code, str(HERE / "extension.cu"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=variables)  # noqa: PLW1510
    path = folder / "lab_extension.so"
    return {"path": str(path)} if path.exists() else {"problem": done.stderr[-1500:]}


def installed(path: str, folder: Path) -> str:
    """A folder in which the library is the compiled part of a distribution that is judged."""
    package, info = folder / "torch_scatter", folder / "torch_scatter-2.1.2.dist-info"
    for made in (package, info):
        made.mkdir(parents=True)
    shutil.copy(path, package / "_scatter_cuda.so")
    (package / "__init__.py").write_text("")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_scatter\nVersion: 2.1.2\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
    files = ["torch_scatter/__init__.py", "torch_scatter/_scatter_cuda.so"]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    return str(folder)


def examine(args: argparse.Namespace, here: Json, kind: str, path: str, folder: Path) -> Json:
    """Run every kernel of a file, and ask what is to be expected."""
    kernels = ["fill"]
    if kind == "library":
        kernels = sorted(file.stem for file in Path(path).parent.glob("*.o"))
    python = args.torch_python if kind == "extension" else sys.executable
    told: Json = {"kind": kind, "kernels": {}}
    for kernel in kernels:
        told["kernels"][kernel] = child(python, kind, path, kernel, CUDA_MODULE_LOADING="EAGER")
    told["predicted"] = child(sys.executable, "predict", path, here["capability"], here["serves"])
    if kind != "fatbin" and args.torch_python:
        site = installed(path, folder)
        assumed = [f"gpu={here['capability']}"] if args.pretend else []
        told["checked"] = child(sys.executable, "check", site, args.torch_python, *assumed)
    outcomes = [bool(one.get("right")) for one in told["kernels"].values()]
    told["outcome"] = "runs" if all(outcomes) else "part" if any(outcomes) else "fails"
    told["agrees"] = agrees(told)
    return told


def agrees(told: Json) -> Optional[bool]:
    """Whether prediction and check fit what became of it; None where nothing was predicted.

    Where only a part of the kernels runs, it is right to say nothing.
    """
    if "runs" not in told["predicted"]:
        return None
    fails = told["outcome"] == "fails"
    is_right = (told["predicted"]["runs"] is False) == fails
    findings = told.get("checked", {}).get("findings")
    return is_right and (findings is None or bool(findings) == fails)


def main(arguments: List[str]) -> int:
    """Run it all; the exit status says whether every prediction was right."""
    if arguments[:1] == ["--child"]:
        print(json.dumps(CHILDREN[arguments[1]](*arguments[2:])))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the file that is written (JSON)")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--torch-python", default="", help="an interpreter that has torch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--pretend", nargs=2, metavar=("CAPABILITY", "SERVES"), help="where there is no GPU"
    )
    args = parser.parse_args(arguments)
    here = machine() if not args.pretend else dict(zip(("capability", "serves"), args.pretend))
    done = subprocess.run([args.nvcc, "--version"], capture_output=True, text=True)  # noqa: PLW1510
    here["nvcc"] = done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr[-200:]
    results: Json = {}
    with tempfile.TemporaryDirectory(prefix="envdoctor-gpu-lab-") as name, ThreadPoolExecutor(
        args.jobs
    ) as pool:
        work = Path(name)
        made = {
            (case, "library"): pool.submit(compile_case, args.nvcc, case, work / f"c{number}")
            for number, case in enumerate(CASES)
        }
        if args.torch_python:
            for number, case in enumerate(EXTENSIONS):
                folder = work / f"e{number}"
                future = pool.submit(compile_extension, args.torch_python, case, folder)
                made[case, "extension"] = future
        # One after another: the first check reads torch, the others remember it.
        for number, ((case, kind), future) in enumerate(made.items()):
            built = future.result()
            if "path" in built:
                folder = work / f"s{number}"
                results[case] = examine(args, here, kind, built["path"], folder)
            else:
                results[case] = {"kind": kind, "not_built": built["problem"]}
        for path in sorted(FATBINS.glob("*.fatbin")):
            results[path.name] = examine(args, here, "fatbin", str(path), work)
        args.out.write_text(json.dumps({"machine": here, "cases": results}, indent=1) + "\n")
    for case, told in results.items():
        print(f"{case}: {told.get('outcome', 'not built')}, agrees: {told.get('agrees')}")
    return 0 if all(told.get("agrees") is not False for told in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
