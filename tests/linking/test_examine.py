"""Which binaries of an environment would not load, and who is to blame."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any, Dict, Tuple

import msgspec
import pytest

sys.path.append(str(Path(__file__).resolve().parent))

from worlds import EXTENSION, SITE, Offered, Wanted, World, shared_object

from envdoctor.linking import demangle
from envdoctor.linking.blame import abi_of
from envdoctor.linking.reach import reaches
from envdoctor.linking.torch import Preloads, read_preloads
from envdoctor.model.facts import Binary, Link, LinkedBuild

# c10::detail::torchCheckFail(char const*, char const*, unsigned int, std::string const&)
OLD_ABI = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"
NEW_ABI = (
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
)


def module(name: str, **fields: Any) -> Dict[str, bytes]:
    """The file of a package's extension module, `x/_ext`."""
    stem = name.rpartition("/")[2]
    exports = [Offered(f"PyInit_{stem}"), *fields.pop("exports", ())]
    return {f"{name}.{EXTENSION}": shared_object(exports=exports, **fields)}


def told(world: World) -> Tuple[Binary, ...]:
    return world.linking().binaries


def test_a_healthy_environment(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch()
    world.install(
        "mmcv",
        "1.0",
        {
            **module("mmcv/_ext", needed=["libc10.so"], wants=[Wanted("_ZN3c105ErrorE")]),
            **module("mmcv/_plain", wants=[Wanted("PyModule_Create2")]),
            "mmcv/libplugin.so": shared_object(needed=["nobody-knows.so"]),
            "mmcv/_other.cpython-38-x86_64-linux-gnu.so": shared_object(needed=["gone.so"]),
            "mmcv/tests/_test.so": shared_object(
                needed=["gone.so"], exports=[Offered("PyInit__test")]
            ),
        },
    )
    linking = world.linking()
    assert linking.binaries == ()
    assert linking.undecided == ()
    assert linking.files == 3  # with torch's own: no import loads the others
    path = f"{tmp_path}/{SITE}/mmcv/_ext.{EXTENSION}"
    assert linking.builds == {"mmcv": LinkedBuild(loads=True, origin=path)}


def test_which_files_are_linked_to_which_distribution(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch()
    cuda = "nvidia/cuda_runtime/lib/libcudart.so.12"
    world.install("nvidia-cuda-runtime-cu12", "12.1.105", {cuda: shared_object()})
    up = "$ORIGIN/../nvidia/cuda_runtime/lib"
    world.install(
        "mmcv",
        "1.0",
        {
            **module("mmcv/_ext", needed=["libc10.so"], wants=[Wanted("_ZN3c105ErrorE")]),
            **module("mmcv/_plain", needed=["libcudart.so.12"], runpath=up),
        },
    )
    c_alone = module("stable/_C", needed=["libc10.so"], wants=[Wanted("aoti_torch_zero_")])
    world.install("stable", "1.0", c_alone)
    folder = f"{tmp_path}/{SITE}"
    assert world.linking().links == {
        "mmcv": (
            Link("torch", ("libc10.so",), (f"{folder}/mmcv/_ext.{EXTENSION}",), 1, True),
            Link(
                "nvidia-cuda-runtime-cu12",
                ("libcudart.so.12",),
                (f"{folder}/mmcv/_plain.{EXTENSION}",),
                1,
            ),
        ),
        "stable": (Link("torch", ("libc10.so",), (f"{folder}/stable/_C.{EXTENSION}",), 1),),
    }


def test_an_extension_of_another_torch(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch()
    wants = [Wanted("_ZN3c105ErrorE"), Wanted("_ZN2at4_ops4zeroE")]
    world.install("mmcv", "1.0", module("mmcv/_ext", needed=["libc10.so"], wants=wants))
    (binary,) = told(world)
    assert (binary.outcome, binary.cause, binary.module) == (
        "missing-symbols",
        "torch-abi-mismatch",
        "mmcv._ext",
    )
    assert (binary.symbols, binary.count) == (("at::_ops::zero",), 1)
    assert (binary.distribution, binary.torch, binary.certain) == ("mmcv", True, False)
    assert world.linking().builds["mmcv"].loads is False


def test_a_torch_without_a_library_that_an_extension_needs(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch()
    needed = ["libc10.so", "libtorch_cuda_cu.so", "libother.so.3"]
    world.install("mmcv", "1.0", module("mmcv/_ext", needed=needed))
    (binary,) = told(world)
    assert (binary.outcome, binary.cause) == ("missing-library", "torch-abi-mismatch")
    assert (binary.missing, binary.others) == ("libtorch_cuda_cu.so", ("libother.so.3",))


@pytest.mark.parametrize(
    ("torch", "extension", "cause"),
    [
        (OLD_ABI, NEW_ABI, "cxx11-abi-mismatch"),
        (NEW_ABI, OLD_ABI, "cxx11-abi-mismatch"),
        (NEW_ABI, "_ZN2at3fooERKNSt7__cxx1112basic_stringIcEE", "torch-abi-mismatch"),
    ],
)
def test_the_other_abi_of_strings(tmp_path: Path, torch: str, extension: str, cause: str) -> None:
    world = World(tmp_path)
    world.install_torch(exports=[Offered(torch)])
    wants = [Wanted(extension)]
    world.install("mmcv", "1.0", module("mmcv/_ext", needed=["libc10.so"], wants=wants))
    assert [binary.cause for binary in told(world)] == [cause]
    assert world.linking().builds["mmcv"].abi == (0 if extension == OLD_ABI else 1)


@pytest.mark.parametrize(
    ("name", "abi"),
    [
        (OLD_ABI, 0),
        (NEW_ABI, 1),
        ("_ZN3c105ErrorC1ENS_14SourceLocationESs", 0),
        ("_ZN5torch3jit17parseSchemaOrNameERKSs", 0),
        ("_ZN2at5emptyEv", None),
        ("_ZN4SsabRKSs", None),  # not torch's
        ("_ZN3c109LessStuff3addEv", None),
    ],
)
def test_the_abi_that_names_show(name: str, abi: object) -> None:
    assert abi_of([name.encode()]) == abi


def test_another_cuda(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install("nvidia-cuda-runtime-cu12", "12.1", {
        "nvidia/cuda_runtime/lib/libcudart.so.12": shared_object("libcudart.so.12")
    })  # fmt: skip
    world.install_torch(needed=["libcudart.so.12"], runpath="$ORIGIN/../../nvidia/cuda_runtime/lib")
    needed = ["libc10.so", "libcudart.so.11.0"]
    world.install("mmcv", "1.0", module("mmcv/_ext", needed=needed))
    (binary,) = told(world)
    assert binary.cause == "cuda-runtime-major-mismatch"
    assert (binary.missing, binary.instead) == ("libcudart.so.11.0", "libcudart.so.12")
    assert binary.origin == f"{tmp_path}/{SITE}/nvidia/cuda_runtime/lib/libcudart.so.12"
    assert world.linking().builds["mmcv"].cuda == "11.0"


@pytest.mark.parametrize(
    ("soname", "version", "cause"),
    [
        ("libc.so.6x", "GLIBC_2.99", "glibc-too-old"),
        ("libstdc++.so.6x", "GLIBCXX_3.4.99", "libstdcxx-too-old"),
        ("libstdc++.so.6x", "CXXABI_1.3.99", "libstdcxx-too-old"),
        ("libfoo.so.1", "FOO_2", "symbol-version-missing"),
    ],
)
def test_versions_that_are_not_there(tmp_path: Path, soname: str, version: str, cause: str) -> None:
    world = World(tmp_path)
    world.put(f"lib/{soname}", soname, defines=["OLD_1"])
    needs = [(soname, version, False)]
    world.install(
        "x", "1.0", module("x/_ext", needed=[soname], needs=needs, rpath=f"{tmp_path}/lib")
    )
    (binary,) = told(world)
    assert (binary.outcome, binary.cause, binary.missing) == ("missing-version", cause, version)
    assert (binary.instead, binary.origin) == (f"{tmp_path}/lib/{soname}", "RPATH")


def test_a_variable_that_puts_an_old_library_first(tmp_path: Path) -> None:
    world = World(tmp_path)
    name = "libnvJitLink.so.12"
    world.install("nvidia-nvjitlink-cu12", "12.4", {
        f"nvidia/nvjitlink/lib/{name}": shared_object(name, exports=[Offered("__nvJitLink_12_4")])
    })  # fmt: skip
    world.install_torch(
        needed=[name],
        wants=[Wanted("__nvJitLink_12_4")],
        exports=[Offered("_ZN3c105ErrorE")],
        runpath="$ORIGIN/../../nvidia/nvjitlink/lib",
    )
    assert told(world) == ()
    old = world.put(f"cuda/{name}", name, exports=[Offered("__nvJitLink_12_1")])
    world.environ["LD_LIBRARY_PATH"] = f"{tmp_path}/cuda"
    (binary,) = told(world)
    assert (binary.module, binary.cause) == ("torch._C", "ld-library-path-shadows-cuda")
    assert (binary.instead, binary.origin) == (old, "LD_LIBRARY_PATH")
    assert binary.by == f"{tmp_path}/{SITE}/torch/lib/libc10.so"


def test_an_old_nccl(tmp_path: Path) -> None:
    world = World(tmp_path)
    name = "libnccl.so.2"
    world.install("nvidia-nccl-cu12", "2.2", {
        f"nvidia/nccl/lib/{name}": shared_object(name, exports=[Offered("ncclCommRegister")])
    })  # fmt: skip
    world.install_torch(
        needed=[name], wants=[Wanted("ncclCommRegister")], runpath="$ORIGIN/../../nvidia/nccl/lib"
    )
    world.environ["LD_PRELOAD"] = world.put("old/libnccl.so.2", name)
    (binary,) = told(world)
    assert (binary.cause, binary.origin) == ("nccl-library-conflict", "LD_PRELOAD")


def test_files_of_two_torches(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch(wants=[Wanted("_ZN2at4goneE")])
    world.install("mmcv", "1.0", module("mmcv/_ext", needed=["libc10.so"]))
    (binary,) = told(world)  # the extension is not told, too
    assert (binary.module, binary.cause) == ("torch._C", "stale-torch-libraries")
    assert binary.by == f"{tmp_path}/{SITE}/torch/lib/libc10.so"


def test_mkl_without_its_symbol(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch(wants=[Wanted("iJIT_NotifyEvent")])
    assert [binary.cause for binary in told(world)] == ["mkl-2024-1-ijit"]


def test_another_python(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install("x", "1.0", module("x/_ext", wants=[Wanted("_PyGen_Send"), Wanted("PyFoo_Bar")]))
    world.install("y", "1.0", module("y/_ext", needed=["libpython3.8.so.1.0"]))
    assert [(b.module, b.cause) for b in told(world)] == [
        ("x._ext", "extension-of-another-python"),
        ("y._ext", "extension-of-another-python"),
    ]


def test_what_nothing_known_explains(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install("x", "1.0", {
        "x/__init__.py": b"try:\n    from . import _ext\nexcept ImportError:\n    pass\n",
        **module("x/_ext", wants=[Wanted("cblas_dgemm")]),
    })  # fmt: skip
    world.install("y", "1.0", {
        "y/__init__.py": b"from .core import f\n",
        "y/core.py": b"from y import _ext\n",
        **module("y/_ext", needed=["libgone.so.1"]),
    })  # fmt: skip
    assert [(b.module, b.cause, b.certain) for b in told(world)] == [
        ("x._ext", "undefined-symbol", False),
        ("y._ext", "shared-library-missing", True),
    ]


# --- what files alone do not decide ------------------------------------------------------------


def test_libraries_of_the_driver_may_be_missing(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install("x", "1.0", module("x/_ext", needed=["libcuda.so.1"]))
    linking = world.linking()
    assert linking.binaries == ()
    assert linking.undecided == ("x._ext: libcuda.so.1 comes with the driver",)


def test_what_code_may_load_before(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install("nvidia-cublas-cu12", "12", {
        "nvidia/cublas/lib/libcublas.so.12": shared_object("libcublas.so.12")
    })  # fmt: skip
    world.install("cupy", "1.0", module("cupy/_core", needed=["libcublas.so.12"]))
    linking = world.linking()
    assert linking.binaries == ()
    assert linking.undecided == (
        "cupy._core: libcublas.so.12 is in the environment, and code may load it before",
    )


def test_own_libraries_are_loaded_first(tmp_path: Path) -> None:
    """As torchaudio and torchtext do; where one does not load, it is the fault."""
    world = World(tmp_path)
    world.install_torch()
    helper = {"needed": ["libc10.so"], "exports": [Offered("f")]}
    files = {
        "audio/lib/libaudio.so": shared_object("libaudio.so", **helper),
        **module("audio/lib/_audio", needed=["libaudio.so"], wants=[Wanted("f")]),
    }
    world.install("audio", "1.0", files)
    assert world.linking().binaries == ()
    assert world.linking().undecided == ()
    broken = shared_object("libaudio.so", wants=[Wanted("_ZN2at4goneE")], **helper)
    world.write(f"{SITE}/audio/lib/libaudio.so", broken)
    assert [(b.module, b.cause) for b in told(world)] == [
        ("audio.lib.libaudio", "torch-abi-mismatch")
    ]


def test_a_library_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor may lack rights that a training has, or files to open: nothing is sure."""
    world = World(tmp_path)
    library = world.put("lib/liba.so", "liba.so")
    world.install("x", "1.0", module("x/_ext", needed=["liba.so"], rpath=f"{tmp_path}/lib"))
    for number in (errno.EACCES, errno.EMFILE, errno.ESTALE):
        plain = os.open

        def refuse(path: Any, *more: Any, number: int = number, plain: Any = plain) -> int:
            if path == library:
                raise OSError(number, os.strerror(number))
            return int(plain(path, *more))

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", refuse)
            linking = world.linking()
        assert linking.binaries == ()
        said = os.strerror(number).lower()
        assert linking.undecided == (f"x._ext: liba.so: it cannot be read: {said}",)


def test_a_binary_for_torch_where_there_is_none(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install("x", "1.0", module("x/_ext", needed=["libtorch.so"]))
    linking = world.linking()
    assert linking.binaries == ()
    assert linking.undecided == ("x._ext: it is linked to torch, which is not installed",)


@pytest.mark.parametrize(
    ("loader", "reason"),
    [
        ("/lib/ld-musl-x86_64.so.1", "is started by /lib/ld-musl-x86_64.so.1, whose search"),
        ("/nix/store/x-glibc/lib/ld-linux-x86-64.so.2", "whose search is not known"),
        ("", "is started by no loader: it is linked statically"),
    ],
)
def test_other_loaders(tmp_path: Path, loader: str, reason: str) -> None:
    world = World(tmp_path)
    world.put("bin/python", interpreter=loader)
    found = world.examined()
    assert found.value is None
    assert reason in found.unknown


def test_an_interpreter_that_is_a_script(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("bin/python", b"#!/bin/sh\nexec python3\n")
    assert world.examined().unknown == f"{tmp_path}/bin/python: it is text, not an ELF file"


# --- trees, and where modules are --------------------------------------------------------------


def test_a_tree_that_is_named(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch()
    stale = shared_object(
        needed=["libc10.so"], wants=[Wanted("_ZN2at4goneE")], exports=[Offered("PyInit_voxel")]
    )
    world.write("code/net/__init__.py", b"")
    world.write("code/net/ops/__init__.py", b"")
    world.write(f"code/net/ops/voxel.{EXTENSION}", stale)
    world.write("code/net/ops/voxel.cpython-38-x86_64-linux-gnu.so", stale)
    world.write(f"code/build/lib/voxel.{EXTENSION}", stale)
    linking = world.linking(f"{tmp_path}/code")
    assert [(b.path, b.module) for b in linking.binaries] == [
        (f"{tmp_path}/code/net/ops/voxel.{EXTENSION}", "net.ops.voxel")
    ]


def test_distributions_that_have_no_module_of_python(tmp_path: Path) -> None:
    world = World(tmp_path)
    library = shared_object(exports=[Offered("open_video")])
    world.install("video", "1.0", {"video/libvideo.so": library})
    world.install(
        "both", "1.0", {"both/libboth.so": library, "both/_c.cpython-36m-x86_64.so": library}
    )
    world.install("old", "1.0", {"old/_c.so": shared_object(exports=[Offered("init_c")])})
    assert world.linking().plain == ("video",)


def test_a_module_of_another_python_alone(tmp_path: Path) -> None:
    world = World(tmp_path)
    file = shared_object(exports=[Offered("PyInit_voxel")])
    other = "cpython-27m-x86_64-linux-gnu.so"
    world.write("code/net/__init__.py", b"from net import voxel, roi\n")
    world.write(f"code/net/voxel.{other}", file)
    world.write(f"code/net/both.{other}", file)
    world.write(f"code/net/both.{EXTENSION}", file.replace(b"PyInit_voxel", b"PyInit_both\0"))
    world.write(f"code/net/slow.{other}", file)
    world.write("code/net/slow.py", b"")
    world.write(f"code/on_top.{other}", file)
    linking = world.linking(f"{tmp_path}/code")
    assert [(b.path, b.module, b.cause, b.outcome) for b in linking.binaries] == [
        (
            f"{tmp_path}/code/net/voxel.{other}",
            "net.voxel",
            "extension-of-another-python",
            "other-python",
        )
    ]
    assert linking.binaries[0].missing == f".{EXTENSION}"


def test_what_an_import_reaches_for_certain(tmp_path: Path) -> None:
    for name, text in {
        "a/__init__.py": "import os\nfrom .b import c\nif x:\n    from . import maybe\n",
        "a/b.py": "from a import deep\n",
        "a/deep/__init__.py": "from ._ext import f\n",
        "q/__init__.py": "from q import q\n",
        "r/__init__.py": "try:\n    from . import _r\nexcept OSError:\n    raise E\n",
        "s/__init__.py": "try:\n    from . import _s\nexcept ImportError:\n    _s = None\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    path_entries = (str(tmp_path),)
    assert reaches(path_entries, "a.deep._ext")
    assert not reaches(path_entries, "a.maybe")
    assert not reaches(path_entries, "gone._ext")
    assert reaches(path_entries, "on_top")
    assert reaches(path_entries, "r._r"), "who catches the error raises another one"
    assert not reaches(path_entries, "s._s")


# --- torch -------------------------------------------------------------------------------------

INIT_1_13 = """
def _preload_cuda_deps():
    for path in sys.path:
        cublas_path = os.path.join(nvidia_path, 'cublas', 'lib', 'libcublas.so.11')
        cudnn_path = os.path.join(nvidia_path, 'cudnn', 'lib', 'libcudnn.so.8')
def _load_global_deps():
    try:
        ctypes.CDLL(lib_path, mode=ctypes.RTLD_GLOBAL)
    except OSError as err:
        _preload_cuda_deps()
from torch._C import *
"""
INIT_2_3 = """
def _preload_cuda_deps(lib_folder, lib_name):
    lib_path = None
def _load_global_deps() -> None:
    try:
        ctypes.CDLL(lib_path, mode=ctypes.RTLD_GLOBAL)
    except OSError as err:
        cuda_libs: Dict[str, str] = {
            'cublas': 'libcublas.so.*[0-9]',
        }
        for lib_folder, lib_name in cuda_libs.items():
            _preload_cuda_deps(lib_folder, lib_name)
from torch._C import *
"""
INIT_2_6 = INIT_2_3.replace(
    "    except OSError",
    '        _preload_cuda_deps("nvjitlink", "libnvJitLink.so.*[0-9]")\n    except OSError',
)
INIT_2_13 = """
def _preload_cuda_deps(err: OSError | None = None) -> None:
    cuda_libs: list[tuple[str, str]] = [
        ("cublas", "libcublasLt.so.*[0-9]"),
    ]
def _load_global_deps() -> None:
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
        _preload_cuda_deps()
    except OSError as err:
        _preload_cuda_deps(err)
from torch._C import *
"""
CUBLAS = ("cublas", "libcublas.so.*[0-9]")
LT = ("cublas", "libcublasLt.so.*[0-9]")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            INIT_1_13,
            Preloads((("cublas", "libcublas.so.11"), ("cudnn", "libcudnn.so.8"))),
        ),
        (INIT_2_3, Preloads((CUBLAS,))),
        (
            INIT_2_6,
            Preloads(
                (("nvjitlink", "libnvJitLink.so.*[0-9]"), CUBLAS),
                (("nvjitlink", "libnvJitLink.so.*[0-9]"),),
            ),
        ),
        (INIT_2_13, Preloads((LT,), (LT,))),
        ("def _load_global_deps():\n  pass\nfrom torch._C import *\n", Preloads()),
        ("", Preloads()),
    ],
    ids=["1.13", "2.3", "2.6", "2.13", "1.9", "none"],
)
def test_what_torch_loads_before(tmp_path: Path, text: str, found: Preloads) -> None:
    (tmp_path / "__init__.py").write_text(text)
    assert read_preloads(str(tmp_path)) == found


@pytest.mark.parametrize("init", [INIT_1_13, ""], ids=["with", "without"])
def test_torch_loads_wheels_by_path_where_the_loader_finds_none(tmp_path: Path, init: str) -> None:
    world = World(tmp_path)
    name = "libcublas.so.11"
    world.install("nvidia-cublas-cu11", "11", {f"nvidia/cublas/lib/{name}": shared_object(name)})
    world.install_torch(needed=[name])
    world.write(f"{SITE}/torch/lib/libtorch_global_deps.so", shared_object("g", needed=[name]))
    world.write(f"{SITE}/torch/__init__.py", init.encode())
    assert [b.missing for b in told(world)] == ([] if init else [name])


# --- how it is told ----------------------------------------------------------------------------


def test_names_are_demangled() -> None:
    names = ["_ZN3c105ErrorE", "plain", "_Zzz", OLD_ABI]
    assert demangle.demangled(names) == {
        "_ZN3c105ErrorE": "c10::Error",
        "plain": "plain",
        "_Zzz": "_Zzz",
        OLD_ABI: (
            "c10::detail::torchCheckFail(char const*, char const*, unsigned int, "
            "std::string const&)"
        ),
    }


def test_names_stay_where_nothing_demangles_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangle, "_CHILD", Path("/gone.py"))
    assert demangle.demangled([OLD_ABI]) == {OLD_ABI: OLD_ABI}


def test_facts_stay_small(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.install_torch()
    wants = [Wanted(f"_ZN2at{len('f' * n)}{'f' * n}E") for n in range(1, 300)]
    for number in range(80):
        files = module(f"p{number}/_ext", needed=["libc10.so"], wants=wants)
        world.install(f"p{number}", "1.0", files)
    linking = world.linking()
    assert len(linking.binaries) == 60
    assert [len(b.symbols) for b in linking.binaries] == [10] * 12 + [1] * 48
    assert {b.count for b in linking.binaries} == {299}
    assert len(msgspec.json.encode(linking)) < 60_000
