from __future__ import annotations

from pathlib import Path

import pytest
from recorded_host import lay_out, real_host

from envdoctor.facts.libraries import PADDLE, SYSTEM, observe_ahead, observe_libraries
from envdoctor.facts.machine import observe_machine
from envdoctor.model.facts import Distribution, Library, Target, seen

ELF = b"\x7fELF\x02"
ELF32 = b"\x7fELF\x01"


def ahead(root, files, **environ):
    lay_out(root, files)
    found = observe_ahead(real_host(root, environ))
    assert found.origin == "LD_LIBRARY_PATH and LD_PRELOAD"
    return list(found.value)


def toolkit(version, *names):
    """A toolkit's libraries: the SONAME is a link to the file with the whole version."""
    folder = "/usr/local/cuda-12.1/lib64"
    files = {}
    for name in names:
        files[f"{folder}/{name.partition('.so')[0]}.so.{version}"] = ELF
        target = f"{folder}/{name.partition('.so')[0]}.so.{version}"
        files[f"{folder}/{name}"] = Path(target)
    return files


def test_cuda_on_the_library_path_with_versions_of_the_files(tmp_path):
    files = toolkit("12.1.105", "libnvJitLink.so.12", "libcudart.so.12")
    found = ahead(tmp_path, files, LD_LIBRARY_PATH="/nowhere:/usr/local/cuda-12.1/lib64/")
    folder = "/usr/local/cuda-12.1/lib64"
    assert found == [
        Library("libcudart.so.12", f"{folder}/libcudart.so.12", "LD_LIBRARY_PATH", "12.1.105"),
        Library(
            "libnvJitLink.so.12", f"{folder}/libnvJitLink.so.12", "LD_LIBRARY_PATH", "12.1.105"
        ),
    ]


def test_the_first_folder_wins_and_preloaded_libraries_before_all(tmp_path):
    files = {
        "/a/libnccl.so.2": ELF32,  # the loader passes over it
        "/b/libnccl.so.2": ELF,
        "/b/libcudnn.so.8": ELF,
        "/c/libcudnn.so.8": ELF,
        "/d/libcudnn.so.8.9.2": ELF,
        "/b/libcunning.so.1": ELF,
        "/b/libcublas_static.a": ELF,
    }
    found = ahead(
        tmp_path,
        files,
        LD_LIBRARY_PATH="/a:/b:/c",
        LD_PRELOAD="libgomp.so.1 /d/libcudnn.so.8.9.2:/gone/libnccl.so.2",
    )
    assert found == [
        Library("libcudnn.so.8", "/d/libcudnn.so.8.9.2", "LD_PRELOAD", "8.9.2"),
        Library("libnccl.so.2", "/b/libnccl.so.2", "LD_LIBRARY_PATH"),
    ]


@pytest.mark.parametrize(
    ("wheels", "version"),
    [
        (["nvidia_cudnn_cu12-8.9.2.26"], "8.9.2.26"),
        (["nvidia_cudnn_cu11-8.5.0.96", "nvidia_cudnn_cu12-8.9.2.26"], ""),  # whose files?
        ([], ""),
    ],
)
def test_the_version_of_a_library_in_a_wheel_is_the_wheels(tmp_path, wheels, version):
    site = "/other/lib/python3.8/site-packages"
    files = {f"{site}/nvidia/cudnn/lib/libcudnn.so.8": ELF}
    files.update({f"{site}/{wheel}.dist-info/METADATA": "" for wheel in wheels})
    (found,) = ahead(tmp_path, files, LD_LIBRARY_PATH=f"{site}/nvidia/cudnn/lib")
    assert found.version == version


def test_nothing_ahead_is_an_answer(tmp_path):
    assert ahead(tmp_path, {}, LD_LIBRARY_PATH="relative::") == []


def test_system_libraries_found_and_missing(tmp_path):
    lay_out(
        tmp_path,
        {
            "/usr/lib/x86_64-linux-gnu/libGL.so.1": ELF,
            "/env/lib/libglib-2.0.so.0": ELF,  # conda's
            "/base/lib/libgthread-2.0.so.0": ELF,
            "/opt/x/libX11.so.6": ELF,
        },
    )
    host = real_host(tmp_path, {"LD_LIBRARY_PATH": "/opt/x"})
    target = Target(python="/env/bin/python", version="3.8.1", prefix="/env", base_prefix="/base")
    found = {library.soname: library for library in observe_libraries(host, target).value}
    assert tuple(found) == SYSTEM
    where = {name: (one.path, one.origin) for name, one in found.items() if one.path}
    of_environment = "the environment's lib folder"
    assert where == {
        "libGL.so.1": ("/usr/lib/x86_64-linux-gnu/libGL.so.1", "the loader's default folders"),
        "libglib-2.0.so.0": ("/env/lib/libglib-2.0.so.0", of_environment),
        "libgthread-2.0.so.0": ("/base/lib/libgthread-2.0.so.0", of_environment),
        "libX11.so.6": ("/opt/x/libX11.so.6", "LD_LIBRARY_PATH"),
    }


def of_paddle(root, files, **environ):
    lay_out(root, files)
    paddle = Distribution("paddlepaddle_gpu", "2.6.2", "/site/x.dist-info", "/site")
    target = Target("/env/bin/python", "3.8.1", path=("/site",), distributions=(paddle,))
    found = observe_libraries(real_host(root, environ), target).value
    assert tuple(library.soname for library in found) == SYSTEM + PADDLE
    return {library.soname: library for library in found if library.path}


def test_where_paddle_looks_besides(tmp_path):
    cuda, own = "/usr/local/cuda/lib64", "/site/paddle/libs"
    files = {f"{cuda}/libcudnn.so.8.9.7": ELF, f"{cuda}/libcublas.so": ELF}
    files[f"{cuda}/libcudnn.so"] = Path(f"{cuda}/libcudnn.so.8.9.7")
    place = "where Paddle looks for cuDNN"
    cudnn = Library("libcudnn.so", f"{cuda}/libcudnn.so", place, "8.9.7")
    assert of_paddle(tmp_path / "a", files) == {"libcudnn.so": cudnn}  # no cuBLAS
    files = {f"{own}/libcudnn.so": ELF}
    cudnn = Library("libcudnn.so", f"{own}/libcudnn.so", "Paddle's own folder")
    assert of_paddle(tmp_path / "b", files) == {"libcudnn.so": cudnn}


def test_two_that_paddle_may_take_have_no_version(tmp_path):
    cuda, other = "/usr/local/cuda/lib64", "/opt/lib"
    files = {f"{cuda}/libcudnn.so.8.9.7": ELF, f"{other}/libcudnn.so.9.1.0": ELF}
    files[f"{cuda}/libcudnn.so"] = Path(f"{cuda}/libcudnn.so.8.9.7")
    files[f"{other}/libcudnn.so"] = Path(f"{other}/libcudnn.so.9.1.0")
    cudnn = Library("libcudnn.so", f"{other}/libcudnn.so", "LD_LIBRARY_PATH")
    found = of_paddle(tmp_path, files, LD_LIBRARY_PATH=other)
    assert found == {"libcudnn.so": cudnn}


def test_the_machine_holds_them(tmp_path):
    found = observe_machine(real_host(tmp_path), None)
    assert found.ahead == seen((), "LD_LIBRARY_PATH and LD_PRELOAD")
    assert {library.path for library in found.libraries.value} == {""}


def test_where_other_architectures_look_is_not_known(tmp_path):
    assert not observe_libraries(real_host(tmp_path, architecture="riscv64"), None).known
