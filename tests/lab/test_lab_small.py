"""Environments of small compiled parts, made on the spot: predicted is what happens.

Nothing is downloaded, and no compiler runs for longer than a second.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import List, Mapping, Union

import pytest
from case import Bench, Case, Lab, case_of, works
from compare import judge
from layers import compiled, kept, source, system_library
from odd import site
from parts import library, module, older_libstdcxx, renamed_version
from wheels import Wheel, suffix, tag

CASES: List[Case] = []
case = case_of(CASES)

CUDART_11 = ("libcudart.so.11.0", "cudaMalloc")
CUDART_12 = ("libcudart.so.12", "cudaMalloc")


def runtime(soname: str, function: str) -> Path:
    """What stands in for CUDA's runtime: the version of its symbols is its SONAME."""
    return library(soname, function, version=soname)


def lab(prefix: Path, folder: Union[Path, None] = None, **environ: str) -> Lab:
    path = f"{prefix / 'bin'}{os.pathsep}{os.defpath}"
    return Lab(str(prefix / "bin" / "python"), {"PATH": path, **environ}, folder)


def package(name: str, files: Mapping[str, Union[str, bytes]], version: str = "1.0") -> Wheel:
    """A wheel of a package with compiled files; `*` in a name is the suffix of modules."""
    named = {f"{name}/{path.replace('*', suffix())}": data for path, data in files.items()}
    return Wheel(name, version, {f"{name}/__init__.py": "", **named}, tag())


# --- libraries that are missing -------------------------------------------------------------------


@case(
    "an extension of CUDA 11 beside the runtime of CUDA 12",
    {
        "import scatter": "ImportError: libcudart.so.11.0: cannot open shared object file",
        **works("import nvidia.cuda_runtime"),
    },
    {"_scatter": "other-cuda"},
)
def _(bench: Bench) -> Lab:
    env = bench.venv()
    needed = runtime(*CUDART_11)
    files = {
        "__init__.py": "from . import _scatter\n",
        "_scatter*": module("_scatter", needed, calls="cudaMalloc"),
    }
    there = {
        "nvidia/cuda_runtime/lib/libcudart.so.12": runtime(*CUDART_12).read_bytes(),
        "nvidia/cuda_runtime/__init__.py": "",
        "nvidia/__init__.py": "",
    }
    bench.install(
        env,
        package("scatter", files),
        Wheel("nvidia-cuda-runtime-cu12", "12.4.127", there, "py3-none-manylinux1_x86_64"),
    )
    return lab(env)


@case("the same, and a module of the cluster has that runtime", works("import scatter"))
def _(bench: Bench) -> Lab:
    env = bench.venv()
    needed = runtime(*CUDART_11)
    bench.put("cuda-11.8/lib64/libcudart.so.11.0", needed.read_bytes())
    files = {
        "__init__.py": "from . import _scatter\n",
        "_scatter*": module("_scatter", needed, calls="cudaMalloc"),
    }
    bench.install(env, package("scatter", files))
    return lab(env, LD_LIBRARY_PATH=f"{bench.folder / 'cuda-11.8' / 'lib64'}:")


@case(
    "an extension needs a library that nobody installed",
    {"import lidar": "ImportError: liblidar_codec.so.3: cannot open shared object file"},
    {"lidar": "missing-library"},
)
def _(bench: Bench) -> Lab:
    env = bench.venv()
    needed = library("liblidar_codec.so.3", "decode")
    files = {f"lidar{suffix()}": module("lidar", needed, calls="decode")}
    bench.install(env, Wheel("lidar", "1.0", files, tag()))
    return lab(env)


@case(
    "the library that a vendored library needs was left out",
    {"import lidar": "ImportError: libjpeg-1b2c3d4e.so.9: cannot open shared object file"},
    {"libcodec-0a1b2c3d.so.3": "missing-library"},
)
def _(bench: Bench) -> Lab:
    env = bench.venv()
    jpeg = library("libjpeg-1b2c3d4e.so.9", "jpeg")
    codec = library(
        "libcodec-0a1b2c3d.so.3", "decode", options=[str(jpeg), "-Wl,--no-as-needed", str(jpeg)]
    )
    files = {
        f"lidar{suffix()}": module("lidar", codec, calls="decode", path="$ORIGIN/lidar.libs"),
        "lidar.libs/libcodec-0a1b2c3d.so.3": codec.read_bytes(),
    }
    bench.install(env, Wheel("lidar", "1.0", files, tag()))
    return lab(env)


@case("vendored libraries with hashes in their names", works("import lidar, radar"))
def _(bench: Bench) -> Lab:
    env = bench.venv()
    jpeg = library("libjpeg-1b2c3d4e.so.9", "jpeg")
    codec = library("libcodec-0a1b2c3d.so.3", "decode", options=[str(jpeg)])
    files = {
        f"lidar{suffix()}": module("lidar", codec, calls="decode", path="$ORIGIN/lidar.libs"),
        "lidar.libs/libcodec-0a1b2c3d.so.3": codec.read_bytes(),
        "lidar.libs/libjpeg-1b2c3d4e.so.9": jpeg.read_bytes(),
    }
    bench.install(env, Wheel("lidar", "1.0", files, tag()))
    files = {
        f"radar{suffix()}": module("radar", jpeg, calls="jpeg", path="$ORIGIN/radar.libs"),
        "radar.libs/libjpeg-1b2c3d4e.so.9": jpeg.read_bytes(),
    }
    bench.install(env, Wheel("radar", "1.0", files, tag()))
    return lab(env)


@case("a module without RPATH needs what a module before it loaded", works("import lidar"))
def _(bench: Bench) -> Lab:
    env = bench.venv()
    codec = library("libcodec.so.3", "decode")
    files = {
        "__init__.py": "from . import _base\nfrom . import _more\n",
        "_base*": module("_base", codec, calls="decode", path="$ORIGIN/lib"),
        "_more*": module("_more", codec, calls="decode"),
        "lib/libcodec.so.3": codec.read_bytes(),
    }
    bench.install(env, package("lidar", files))
    return lab(env)


@case("a package opens its libraries itself before it imports its module", works("import lidar"))
def _(bench: Bench) -> Lab:
    env = bench.venv()
    codec = library("libcodec.so.3", "decode")
    code = (
        "import ctypes, os\n"
        "_folder = os.path.join(os.path.dirname(__file__), 'lib')\n"
        "ctypes.CDLL(os.path.join(_folder, 'libcodec.so.3'), mode=ctypes.RTLD_GLOBAL)\n"
        "from . import _lidar\n"
    )
    files = {
        "__init__.py": code,
        "_lidar*": module("_lidar", codec, calls="decode"),
        "lib/libcodec.so.3": codec.read_bytes(),
    }
    bench.install(env, package("lidar", files))
    return lab(env)


@case(
    "plugins that cannot load: nobody imports them, or the import may fail",
    works("import frames", "import frames.video"),
)
def _(bench: Bench) -> Lab:
    env = bench.venv()
    old = runtime("libcudart.so.10.1", "cudaFree")
    guarded = "try:\n    from ._gpu import decode\nexcept ImportError:\n    decode = None\n"
    files = {
        "video.py": guarded,
        "_frames*": module("_frames"),
        "_gpu*": module("_gpu", old, calls="cudaFree"),
        "plugins/libffmpeg_gpu.so": library(
            "libffmpeg_gpu.so", "f", options=[str(old)]
        ).read_bytes(),
        "plugins/_vulkan*": module("_vulkan", library("libvulkan_lab.so.1", "vk"), calls="vk"),
        "__init__.py": "from . import _frames\n",
    }
    bench.install(env, package("frames", files))
    return lab(env)


@case("a function that is weak and not there", works("import lidar"))
def _(bench: Bench) -> Lab:
    env = bench.venv()
    text = (source("module.cpp")).replace("void CALLS();", "void CALLS() __attribute__((weak));")
    text = text.replace("  CALLS();\n", "  if (CALLS) CALLS();\n")
    data = compiled(text, "-nostdlib", "-DMODULE=lidar", "-DCALLS=somewhere_else").read_bytes()
    bench.install(env, Wheel("lidar", "1.0", {f"lidar{suffix()}": data}, tag()))
    return lab(env)


@case(
    "a function that is in no library",
    {"import lidar": "ImportError: undefined symbol: somewhere_else"},
    {"lidar": "missing-symbol"},
)
def _(bench: Bench) -> Lab:
    env = bench.venv()
    data = module("lidar", calls="somewhere_else")
    bench.install(env, Wheel("lidar", "1.0", {f"lidar{suffix()}": data}, tag()))
    return lab(env)


# --- which copy is loaded -------------------------------------------------------------------------

GEO_NEW = ("libgeo.so.1", "area", "area_of_sphere")
GEO_OLD = ("libgeo.so.1", "area")


def geo(bench: Bench, calls: str = "area_of_sphere", old: bool = False) -> Path:
    """An environment with a library in a wheel of its own, and a wheel that needs it."""
    env = bench.venv()
    newer = library(*GEO_NEW)
    data = module("_maps", newer, calls=calls, path="$ORIGIN/../geo/lib", old=old)
    bench.install(
        env,
        package("geo", {"lib/libgeo.so.1": newer.read_bytes()}),
        package("maps", {"__init__.py": "from . import _maps\n", "_maps*": data}),
    )
    bench.put("module/lib/libgeo.so.1", library(*GEO_OLD).read_bytes())
    return env


@case(
    "an older copy of a library is ahead on LD_LIBRARY_PATH",
    {"import maps": "ImportError: _maps ... undefined symbol: area_of_sphere"},
    {"module/lib/libgeo.so.1": "older-copy-ahead"},
)
def _(bench: Bench) -> Lab:
    return lab(geo(bench), LD_LIBRARY_PATH=str(bench.folder / "module" / "lib"))


@case("the same, and what it lacks is not needed", works("import maps"))
def _(bench: Bench) -> Lab:
    return lab(geo(bench, "area"), LD_LIBRARY_PATH=str(bench.folder / "module" / "lib"))


@case("the same, but the module's own path comes first: RPATH, no RUNPATH", works("import maps"))
def _(bench: Bench) -> Lab:
    return lab(geo(bench, old=True), LD_LIBRARY_PATH=str(bench.folder / "module" / "lib"))


@case(
    "a library on LD_LIBRARY_PATH is for another processor: the loader goes on",
    works("import maps"),
)
def _(bench: Bench) -> Lab:
    env = geo(bench)
    data = library(*GEO_OLD).read_bytes()
    foreign = data[:18] + (183).to_bytes(2, "little") + data[20:]
    bench.put("module/lib/libgeo.so.1", foreign)
    return lab(env, LD_LIBRARY_PATH=str(bench.folder / "module" / "lib"))


@case(
    "the user site has an older copy of the package whose library is needed",
    {"import geo, maps": "ImportError: undefined symbol: area_of_sphere"},
    {"geo 2.0": "user-site"},
    undecided=True,  # the library is opened by code, which nobody runs
)
def _(bench: Bench) -> Lab:
    prefix = bench.standalone()
    newer, older = library(*GEO_NEW), library(*GEO_OLD)
    opens = (
        "import ctypes, os\n"
        "ctypes.CDLL(os.path.dirname(__file__) + '/lib/libgeo.so.1', mode=ctypes.RTLD_GLOBAL)\n"
    )
    files = {"__init__.py": opens, "lib/libgeo.so.1": newer.read_bytes()}
    data = module("_maps", newer, calls="area_of_sphere")
    bench.install(
        prefix,
        package("geo", files, "2.0"),
        package("maps", {"__init__.py": "import geo\nfrom . import _maps\n", "_maps*": data}),
    )
    files = {"__init__.py": opens, "lib/libgeo.so.1": older.read_bytes()}
    user = bench.folder / "home" / ".local" / "lib" / site(prefix).parent.name / "site-packages"
    bench.install(prefix, package("geo", files, "1.0"), options=["--target", str(user)])
    return lab(prefix)


# --- libstdc++ ------------------------------------------------------------------------------------


def modern(path: str = "") -> bytes:
    """A module that needs a libstdc++ of GCC 9 or newer, of GCC 12 where that compiles it."""
    options = [f"-Wl,--enable-new-dtags,-rpath,{path}"] if path else []
    text = source("modern.cpp") + source("module.cpp")
    return compiled(text, "-std=c++17", "-DMODULE=lidar", "-DCALLS=modern", *options).read_bytes()


def fits_nowhere(bench: Bench) -> Path:
    env = bench.venv()
    bench.install(env, Wheel("lidar", "1.0", {f"lidar{suffix()}": modern()}, tag()))
    return env


@case(
    "a libstdc++ that is too old is ahead on LD_LIBRARY_PATH",
    {"import lidar": "ImportError: libstdc++.so.6: version `GLIBCXX_3. ... not found (required by"},
    {"lidar": "old-libstdcxx"},
)
def _(bench: Bench) -> Lab:
    env = fits_nowhere(bench)
    bench.put("matlab/lib/libstdc++.so.6", older_libstdcxx())
    return lab(env, LD_LIBRARY_PATH=str(bench.folder / "matlab" / "lib"))


@case("another copy of the same libstdc++ is ahead on LD_LIBRARY_PATH", works("import lidar"))
def _(bench: Bench) -> Lab:
    env = fits_nowhere(bench)
    bench.put("gcc/lib64/libstdc++.so.6", system_library("libstdc++.so.6").read_bytes())
    return lab(env, LD_LIBRARY_PATH=str(bench.folder / "gcc" / "lib64"))


WAITS = """
#include <condition_variable>
#include <mutex>
extern "C" void waits() {
  static std::condition_variable condition;
  static std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  static volatile bool never = false;
  if (never) condition.wait(lock);
}
"""


def newer_libstdcxx() -> Path:
    """The system's libstdc++ as that of a later GCC would be: its newest version is newer."""
    data = system_library("libstdc++.so.6").read_bytes()
    return kept("libstdc++.so.6", renamed_version(data, "GLIBCXX_3.4.30", "GLIBCXX_3.4.99"))


def conda(bench: Bench, path: str) -> Path:
    """A prefix with a libstdc++ newer than the system's, and a module that needs that one."""
    prefix = bench.standalone()
    newer = newer_libstdcxx()
    bench.put(f"{prefix.name}/lib/libstdc++.so.6", newer.read_bytes())
    options = ["-nodefaultlibs", str(newer), "-lc", "-lgcc_s", "-DMODULE=lidar", "-DCALLS=waits"]
    if path:
        options.append(f"-Wl,--enable-new-dtags,-rpath,{path}")
    data = compiled(WAITS + source("module.cpp"), *options).read_bytes()
    bench.install(prefix, Wheel("lidar", "1.0", {f"lidar{suffix()}": data}, tag()))
    return prefix


@case("a prefix as conda makes it has a libstdc++ newer than the system's", works("import lidar"))
def _(bench: Bench) -> Lab:
    # The second where Debian's Python puts modules: in local/lib/python3.11/dist-packages.
    return lab(conda(bench, "$ORIGIN/../..:$ORIGIN/../../../../lib"))


@case(
    "the same, but the module's path does not lead there",
    {"import lidar": "ImportError: version `GLIBCXX_3.4.99' not found (required by"},
    {"lidar": "old-libstdcxx"},
)
def _(bench: Bench) -> Lab:
    return lab(conda(bench, ""))


# --- Python -------------------------------------------------------------------------------------


def tree(bench: Bench, *pythons: str) -> Lab:
    """A source tree as `build_ext --inplace` leaves it, compiled by these Pythons."""
    env = bench.venv()
    bench.put("tree/ops/__init__.py", b"from ops import _nms\n")
    for ending in pythons:
        bench.put(f"tree/ops/_nms{ending}", module("_nms"))
    here = bench.folder / "tree"
    return lab(env, PYTHONPATH=str(here))._replace(arguments=("--project", str(here)))


STALE = ".cpython-36m-x86_64-linux-gnu.so"


@case(
    "a source tree has the module of another Python alone",
    {"import ops": "ImportError: cannot import name '_nms'"},
    {"_nms": "other-python"},
)
def _(bench: Bench) -> Lab:
    return tree(bench, STALE)


@case("a source tree has it, and that of this Python", works("import ops"))
def _(bench: Bench) -> Lab:
    return tree(bench, STALE, suffix())


def titled(case: Case) -> str:
    return case.title


@pytest.mark.parametrize("case", CASES, ids=titled)
def test_what_is_predicted_happens(case: Case) -> None:
    judged = judge(case, sys.executable)
    assert judged.differences == []
