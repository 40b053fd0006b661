from __future__ import annotations

import os
from pathlib import Path

import pytest
from recorded_host import Completed, lay_out, real_host, recorded_host

from envdoctor.facts import tools as tools_module
from envdoctor.facts.host import Host
from envdoctor.facts.tools import observe_tools, read_compiler
from envdoctor.model.facts import Compiler, Target, Toolkit, nothing, seen, unseen

NVCC = """\
nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2025 NVIDIA Corporation
Built on Wed_Aug_20_01:58:59_PM_PDT_2025
Cuda compilation tools, release 13.0, V13.0.88
Build cuda_13.0.r13.0/compiler.36424714_0
"""
GCC13 = """\
c++ (Ubuntu 13.3.0-6ubuntu2~24.04.1) 13.3.0
Copyright (C) 2023 Free Software Foundation, Inc.
This is free software; see the source for copying conditions.  There is NO
"""
GCC9 = GCC13.replace("13.3.0-6ubuntu2~24.04.1) 13.3.0", "9.4.0-1ubuntu1~20.04.2) 9.4.0")
CLANG = "Ubuntu clang version 14.0.0-1ubuntu1.1\nTarget: x86_64-pc-linux-gnu\n"
PATH = {"PATH": "/usr/local/cuda/bin:/usr/bin:/bin"}
VERSION_JSON = """{
   "cuda" : {"name" : "CUDA SDK", "version" : "11.3.20210423"},
   "cuda_nvcc" : {"name" : "CUDA NVCC", "version" : "11.3.109"}
}"""


@pytest.fixture(autouse=True)
def owner_of_the_system(monkeypatch):
    """Who lays a machine out for a test owns its system, as root does outside."""
    monkeypatch.setattr(tools_module, "_OWNER", os.getuid())


def target(python="/opt/venv/bin/python", version="3.8.18", **fields):
    return Target(python, version, **{"prefix": "/opt/venv", "base_prefix": "/usr", **fields})


def observe(root, files=(), commands=None, environ=PATH, of=None):
    lay_out(root, dict(files))
    return observe_tools(recorded_host(root, commands, environ), of)


# The toolkit, in torch's order

TWO = {
    "/opt/cuda-11.3/bin/nvcc": "",
    "/opt/cuda-11.3/version.json": VERSION_JSON,
    "/usr/local/cuda-10.2/bin/nvcc": "",
    "/usr/local/cuda-10.2/version.txt": "CUDA Version 10.2.89\n",
    "/usr/local/cuda": Path("/usr/local/cuda-10.2"),
}


@pytest.mark.parametrize(
    ("environ", "path", "version", "origin"),
    [
        ({"CUDA_HOME": "/opt/cuda-11.3", **PATH}, "/opt/cuda-11.3", "11.3.109", "CUDA_HOME"),
        (
            {"CUDA_HOME": "", "CUDA_PATH": "/opt/cuda-11.3", **PATH},
            "/opt/cuda-11.3",
            "11.3.109",
            "CUDA_PATH",
        ),
        (PATH, "/usr/local/cuda", "10.2.89", "nvcc on PATH"),
        ({"PATH": "/opt/cuda-11.3/bin:/usr/bin"}, "/opt/cuda-11.3", "11.3.109", "nvcc on PATH"),
        ({"PATH": "/usr/bin"}, "/usr/local/cuda", "10.2.89", "/usr/local/cuda"),
        ({"CUDA_HOME": "", "PATH": "/usr/bin"}, "/usr/local/cuda", "10.2.89", "/usr/local/cuda"),
    ],
)
def test_toolkit_that_torch_takes(tmp_path, environ, path, version, origin):
    tools = observe(tmp_path, TWO, environ=environ)
    assert tools.toolkit == seen(Toolkit(path, version, origin), origin)
    assert {(toolkit.path, toolkit.version) for toolkit in tools.toolkits} == {
        ("/opt/cuda-11.3", "11.3.109"),
        ("/usr/local/cuda-10.2", "10.2.89"),
    }


@pytest.mark.parametrize(
    ("files", "environ", "reason"),
    [
        (
            {},
            {},
            "neither CUDA_HOME nor CUDA_PATH is set, nvcc is not on PATH, and there is no"
            " /usr/local/cuda",
        ),
        (  # an image with the runtime only
            {"/usr/local/cuda/lib64/": ""},
            PATH,
            "/usr/local/cuda (by /usr/local/cuda) has no bin/nvcc",
        ),
        (TWO, {"CUDA_HOME": "/gone", **PATH}, "/gone (by CUDA_HOME) has no bin/nvcc"),
        (TWO, {"CUDA_PATH": "", **PATH}, "CUDA_PATH is empty, which makes torch look no further"),
        (
            {"/usr/bin/nvcc": ""},
            PATH,
            "/usr/bin/nvcc (by nvcc on PATH) does not tell its version",
        ),
    ],
)
def test_no_toolkit_has_a_reason(tmp_path, files, environ, reason):
    assert observe(tmp_path, files, environ=environ).toolkit == (
        unseen if "tell" in reason else nothing
    )(reason)


def test_debian_s_package(tmp_path):
    tools = observe(
        tmp_path,
        {
            "/usr/lib/nvidia-cuda-toolkit/bin/nvcc": "",
            "/usr/bin/nvcc": '#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc "$@"\n',
        },
        {
            "/usr/bin/nvcc --version": NVCC,
            "/usr/lib/nvidia-cuda-toolkit/bin/nvcc --version": NVCC,
        },
    )
    assert tools.toolkit.value == Toolkit("/usr", "13.0.88", "nvcc on PATH")
    assert "/usr/lib/nvidia-cuda-toolkit" in [toolkit.path for toolkit in tools.toolkits]


def test_conda_s_nvcc_is_found_for_an_environment_that_is_not_activated(tmp_path):
    tools = observe(
        tmp_path,
        {
            "/opt/conda/envs/maptr/bin/nvcc": "",
            "/opt/conda/envs/maptr/conda-meta/cuda-nvcc-13.0.88-hcdd1206_0.json": "{}",
            **TWO,
        },
        of=target(python="/opt/conda/envs/maptr/bin/python", prefix="/opt/conda/envs/maptr"),
    )
    assert tools.toolkit.value == Toolkit(
        "/opt/conda/envs/maptr",
        "13.0.88",
        "/opt/conda/envs/maptr/bin, which is not on PATH",
    )
    assert len(tools.toolkits) == 3


def test_every_toolkit_is_listed_once(tmp_path):
    sdk = "/opt/nvidia/hpc_sdk/Linux_x86_64/23.7/cuda/12.2"
    tools = observe(
        tmp_path,
        {
            f"{sdk}/bin/nvcc": "",
            f"{sdk}/include/cuda.h": "#define CUDA_VERSION 12020\n",
            "/usr/local/cuda-12.1/lib64/": "",
            **TWO,
        },
        environ={"CUDA_HOME": "/opt/cuda-11.3", "CUDA_PATH": "/opt/cuda-11.3/", **PATH},
    )
    assert [(toolkit.path, toolkit.origin) for toolkit in tools.toolkits] == [
        ("/opt/cuda-11.3", "CUDA_HOME"),
        ("/usr/local/cuda-10.2", "/usr/local/cuda"),
        (sdk, sdk),
    ]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"cuda": 1}', '{"cuda": {"version": "a"}}', '{"cuda_nvcc": []}']
)
def test_broken_version_file_is_passed_over(tmp_path, text):
    files = {"/usr/local/cuda/bin/nvcc": "", "/usr/local/cuda/version.json": text}
    tools = observe(tmp_path, files, {"/usr/local/cuda/bin/nvcc --version": NVCC})
    assert tools.toolkit.value.version == "13.0.88"


def test_nvcc_that_hangs(tmp_path):
    hung = Completed(None, b"", b"", "took longer than 10 s")
    files = {"/usr/local/cuda/bin/nvcc": ""}
    tools = observe(tmp_path, files, {"/usr/local/cuda/bin/nvcc --version": hung})
    assert not tools.toolkit.known
    assert tools.toolkits == ()


# Compilers

COMPILERS = {"/usr/bin/c++": "", "/usr/bin/gcc": "", "/usr/bin/gcc-9": "", "/usr/bin/clang++": ""}
COMPILER_COMMANDS = {
    "/usr/bin/c++ --version": GCC13,
    "/usr/bin/gcc --version": GCC13.replace("c++", "gcc"),
    "/usr/bin/gcc-9 --version": GCC9.replace("c++", "gcc-9"),
    "/usr/bin/clang++ --version": CLANG,
}
CXX13 = Compiler("/usr/bin/c++", "gcc", "13.3.0")
GCC = Compiler("/usr/bin/gcc", "gcc", "13.3.0")
OLD = Compiler("/usr/bin/gcc-9", "gcc", "9.4.0")


@pytest.mark.parametrize(
    ("environ", "compiler", "nvcc_compiler"),
    [
        ({}, seen(CXX13, "c++ on PATH"), seen(GCC, "gcc on PATH")),
        (
            {"CXX": "clang++"},
            seen(Compiler("/usr/bin/clang++", "clang", "14.0.0"), "CXX=clang++"),
            seen(GCC, "gcc on PATH"),
        ),
        ({"CXX": "ccache c++"}, seen(CXX13, "CXX=ccache c++"), seen(GCC, "gcc on PATH")),
        ({"CC": "/usr/bin/gcc-9"}, seen(CXX13, "c++ on PATH"), seen(OLD, "CC=/usr/bin/gcc-9")),
        ({"NVCC_CCBIN": "gcc-9"}, seen(CXX13, "c++ on PATH"), seen(OLD, "NVCC_CCBIN=gcc-9")),
        (  # torch's -ccbin stands before the default of nvcc, and after what is put before it
            {"CC": "gcc", "NVCC_CCBIN": "gcc-9", "NVCC_PREPEND_FLAGS": "-ccbin gcc-9"},
            seen(CXX13, "c++ on PATH"),
            seen(GCC, "CC=gcc"),
        ),
        (
            {"CC": "gcc", "NVCC_APPEND_FLAGS": "-O2 --compiler-bindir=gcc-9"},
            seen(CXX13, "c++ on PATH"),
            seen(OLD, "NVCC_APPEND_FLAGS=gcc-9"),
        ),
        (
            {"NVCC_CCBIN": "/usr/bin"},
            seen(CXX13, "c++ on PATH"),
            seen(GCC, "NVCC_CCBIN=/usr/bin"),
        ),
        (
            {"CXX": "/gone/g++", "CC": "'"},
            nothing("CXX=/gone/g++ names no command that can be started"),
            nothing("CC=' names no command that can be started"),
        ),
    ],
)
def test_compilers(tmp_path, environ, compiler, nvcc_compiler):
    tools = observe(tmp_path, COMPILERS, COMPILER_COMMANDS, {**PATH, **environ})
    assert tools.compiler == compiler
    assert tools.nvcc_compiler == nvcc_compiler


def test_no_compiler(tmp_path):
    tools = observe(tmp_path)
    assert tools.compiler == nothing("CXX is not set, and there is no c++ on PATH")
    assert tools.nvcc_compiler == nothing("there is no gcc on PATH")


def test_compiler_that_is_neither_gcc_nor_clang(tmp_path):
    tools = observe(tmp_path, {"/usr/bin/c++": ""}, {"/usr/bin/c++ --version": "nvc++ 23.7-0\n"})
    assert tools.compiler == unseen("/usr/bin/c++ (c++ on PATH) tells no version of gcc or clang")


def test_gcc_with_an_unusual_first_line(tmp_path):
    text = GCC13.replace("(Ubuntu 13.3.0-6ubuntu2~24.04.1) 13.3.0", "by us")
    commands = {"/usr/bin/c++ --version": text, "/usr/bin/c++ -dumpfullversion": "13.3.0\n"}
    tools = observe(tmp_path, {"/usr/bin/c++": ""}, commands)
    assert tools.compiler.value == CXX13


@pytest.mark.parametrize(
    ("first", "version"),
    [
        ("gcc (Ubuntu 13.3.0-6ubuntu2~24.04.1) 13.3.0", "13.3.0"),
        ("g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-26)", "8.5.0"),
        ("g++ (GCC) 4.8.5 20150623 (Red Hat 4.8.5-44)", "4.8.5"),
        ("x86_64-conda-linux-gnu-c++ (conda-forge gcc 12.3.0-5) 12.3.0", "12.3.0"),
        ("gcc (crosstool-NG 1.24.0.133_b0863d8_dirty) 9.3.0", "9.3.0"),
        ("c++ (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
    ],
)
def test_first_lines_of_gcc(first, version):
    rest = "\nCopyright (C) 2023 Free Software Foundation, Inc.\n"
    assert read_compiler(first + rest) == ("gcc", version)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (CLANG, "14.0.0"),
        ("clang version 17.0.6 (Fedora 17.0.6-2.fc39)\n", "17.0.6"),
        ("Intel(R) oneAPI DPC++/C++ Compiler 2024.0.0\n", ""),
    ],
)
def test_versions_of_clang(text, version):
    assert read_compiler(text) == (("clang", version) if version else ("", ""))


# What is never started

ENVIRONMENT = "/opt/conda/envs/maptr"
MARK = "#!/bin/sh\ntouch /started\necho 'release 12.4, V12.4.131'\n"


@pytest.mark.parametrize(
    ("folder", "of", "more"),
    [
        (ENVIRONMENT, target(python=f"{ENVIRONMENT}/bin/python", prefix=ENVIRONMENT), {}),
        (ENVIRONMENT, None, {}),
        ("/home/ann/project", None, {}),
        # a virtual environment among the system's folders
        ("/usr/lib/venv", target(python="/usr/lib/venv/bin/python", prefix="/usr/lib/venv"), {}),
        ("/usr/local/bin/conda", None, {"/usr/local/bin/conda/conda-meta/history": ""}),
    ],
)
def test_nothing_of_an_environment_or_a_project_is_started(tmp_path, folder, of, more):
    lay_out(tmp_path, {f"{folder}/bin/{name}": MARK for name in ("nvcc", "c++", "gcc")})
    lay_out(tmp_path, more)
    host = recorded_host(tmp_path, None, {"PATH": f"{folder}/bin", "CUDA_HOME": folder})
    tools = observe_tools(host, of)
    assert host.started == []
    reason = "is not the system's, so it is not started, and no file tells its version"
    assert tools.toolkit == unseen(f"{folder}/bin/nvcc (by CUDA_HOME) {reason}")
    assert tools.compiler == unseen(f"{folder}/bin/c++ (c++ on PATH) {reason}")
    assert tools.nvcc_compiler == unseen(f"{folder}/bin/gcc (gcc on PATH) {reason}")
    assert tools.toolkits == ()


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_what_others_may_write_is_not_started(tmp_path, mode):
    lay_out(tmp_path, {"/usr/bin/c++": ""})
    (tmp_path / "usr/bin/c++").chmod(mode)
    host = recorded_host(tmp_path, COMPILER_COMMANDS, PATH)
    assert "is not started" in observe_tools(host, None).compiler.unknown
    assert host.started == []


def test_what_another_user_owns_is_not_started(tmp_path, monkeypatch):
    monkeypatch.setattr(tools_module, "_OWNER", os.getuid() + 1)
    lay_out(tmp_path, {"/usr/bin/c++": ""})
    host = recorded_host(tmp_path, COMPILER_COMMANDS, PATH)
    assert "is not started" in observe_tools(host, None).compiler.unknown
    assert host.started == []


def test_link_out_of_an_environment_to_the_system_s_compiler(tmp_path):
    files = {"/usr/bin/g++-9": "", f"{ENVIRONMENT}/bin/c++": Path("/usr/bin/g++-9")}
    commands = {f"{ENVIRONMENT}/bin/c++ --version": GCC9}
    tools = observe(tmp_path, files, commands, {"PATH": f"{ENVIRONMENT}/bin"})
    assert tools.compiler.value == Compiler(f"{ENVIRONMENT}/bin/c++", "gcc", "9.4.0")


def test_commands_are_asked_without_the_patient_s_variables(tmp_path, monkeypatch):
    script = f"#!/bin/sh\nenv >{tmp_path}/told\n"
    lay_out(tmp_path, {"/usr/bin/c++": script})
    environ = {**PATH, "LD_PRELOAD": "/x.so", "LD_LIBRARY_PATH": "/x", "PATH": "/x:/usr/bin"}
    observe_tools(real_host(tmp_path, environ), None)
    told = (tmp_path / "told").read_text()
    assert "PATH=/usr/bin:/bin\n" in told
    assert "LD_" not in told


@pytest.mark.parametrize(
    ("files", "version"),
    [
        (
            {"conda-meta/cuda-nvcc-11.8.89-0.json": "", "include/cuda.h": "CUDA_VERSION 9"},
            "11.8.89",
        ),
        (  # conda-forge: cuda-nvcc requires cuda-nvcc-tools, which holds the command
            {
                "conda-meta/cuda-nvcc-12.4.131-h1_0.json": "",
                "conda-meta/cuda-nvcc-tools-12.4.99-h2_0.json": "",
                "conda-meta/cuda-nvcc-dev_linux-64-12.1.0-h2_0.json": "",
            },
            "12.4.99",
        ),
        ({"include/cuda.h": "/* x */\n#define CUDA_VERSION 11010\n"}, "11.1"),
        ({"targets/x86_64-linux/include/cuda.h": "#define  CUDA_VERSION\t12040 /**/"}, "12.4"),
        ({"include/cuda.h": "#define CUDA_VERSION x\n#define CUDA_VERSION 12\n"}, ""),
        (
            {"version.json": VERSION_JSON, "include/cuda.h": "#define CUDA_VERSION 11010"},
            "11.3.109",
        ),
    ],
)
def test_versions_of_nvcc_by_files(tmp_path, files, version):
    folder = "/home/ann/env[1]"
    files = {f"{folder}/{name}": text for name, text in files.items()}
    tools = observe(tmp_path, {f"{folder}/bin/nvcc": "", **files}, environ={"CUDA_HOME": folder})
    assert (tools.toolkit.value.version if tools.toolkit.known else "") == version


@pytest.mark.parametrize(
    ("command", "folders", "expected"),
    [
        ("x86_64-conda-linux-gnu-c++", ["gcc/x86_64-conda-linux-gnu/12.3.0"], ("gcc", "12.3.0")),
        (
            "x86_64-conda-linux-gnu-g++",
            ["gcc/x86_64-conda-linux-gnu/11.4.0", "gcc/aarch64-conda-linux-gnu/9.5.0"],
            ("gcc", "11.4.0"),
        ),
        ("g++", ["gcc/x86_64-pc-linux-gnu/9.3.0"], ("gcc", "9.3.0")),
        ("g++-9", ["gcc/x/9.3.0", "gcc/x/10.2.0", "gcc/x/99.1.0"], ("gcc", "9.3.0")),
        ("gcc", ["gcc/x/9.3.0", "gcc/x/10.2.0"], None),  # one of two
        ("gcc", ["gcc/x/include", "clang/14.0.6"], None),
        ("clang++", ["clang/14.0.6", "gcc/x/9.3.0"], ("clang", "14.0.6")),
        ("clang-17", ["clang/17", "clang/16"], ("clang", "17")),
        ("nvc++", ["gcc/x/9.3.0"], None),
        ("mywrapper", ["gcc/x/9.3.0"], None),
    ],
)
def test_versions_of_compilers_by_folders(tmp_path, command, folders, expected):
    files = {f"/home/ann/env/lib/{folder}/": "" for folder in folders}
    file = f"/home/ann/env/bin/{command}"
    found = observe(tmp_path, {file: "", **files}, environ={"CXX": file, **PATH}).compiler
    assert found.value == (Compiler(file, *expected) if expected else None)


# ninja, headers


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"/usr/bin/ninja": ""}, seen("/usr/bin/ninja", "ninja on PATH")),
        (
            {"/usr/bin/ninja": "", "/opt/venv/bin/ninja": ""},
            seen("/opt/venv/bin/ninja", "/opt/venv/bin, which is not on PATH"),
        ),
        ({"/usr/bin/ninja-build": ""}, nothing("there is no command ninja on PATH")),
    ],
)
def test_ninja(tmp_path, files, expected):
    assert observe(tmp_path, files, of=target()).ninja == expected


def test_ninja_of_an_activated_environment(tmp_path):
    environ = {"PATH": "/usr/bin:/opt/venv/bin"}
    tools = observe(tmp_path, {"/opt/venv/bin/ninja": ""}, environ=environ, of=target())
    assert tools.ninja == seen("/opt/venv/bin/ninja", "ninja on PATH")


@pytest.mark.parametrize(
    ("of", "folder"),
    [
        (target(), "/usr/include/python3.8"),
        (target(version="3.6.9"), "/usr/include/python3.6m"),
        (target(version="3.13.0", free_threaded=True), "/usr/include/python3.13t"),
        (target(version="3.9.19", implementation="pypy"), "/usr/include/pypy3.9"),
        (target(base_prefix="/opt/conda/envs/m"), "/opt/conda/envs/m/include/python3.8"),
        (target(version="3.12.0rc1", base_prefix="/usr/local"), "/usr/local/include/python3.12"),
    ],
)
def test_python_headers(tmp_path, of, folder):
    assert observe(tmp_path, of=of).python_headers.unknown.startswith(
        f"there is no Python.h in {folder}"
    )
    found = observe(tmp_path, {f"{folder}/Python.h": ""}, of=of).python_headers
    assert found == seen(folder, f"{folder}/Python.h")


def test_python_headers_without_a_target(tmp_path):
    assert observe(tmp_path).python_headers == unseen("there is no target interpreter")


HEADER = "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n"


@pytest.mark.parametrize(
    "path",
    [
        "/usr/local/cuda/include/cudnn_version.h",
        "/usr/local/cuda/targets/x86_64-linux/include/cudnn_version.h",
        "/usr/include/cudnn.h",
        "/usr/include/x86_64-linux-gnu/cudnn_version.h",
    ],
)
def test_cudnn(tmp_path, path):
    files = {"/usr/local/cuda/bin/nvcc": "", "/usr/local/cuda/version.json": VERSION_JSON}
    files["/usr/local/cuda/include/cudnn.h"] = "#define CUDNN_MAJOR 8\n"
    assert not observe(tmp_path, files).cudnn.known
    assert observe(tmp_path, {path: HEADER}).cudnn == seen("8.9.7", path)


def test_cudnn_by_its_variable_comes_first(tmp_path):
    files = {
        "/opt/cudnn/include/cudnn_version.h": HEADER,
        "/usr/include/cudnn_version.h": HEADER.replace("8", "9"),
    }
    found = observe(tmp_path, files, environ={"CUDNN_PATH": "/opt/cudnn", "CUDNN_HOME": ""}).cudnn
    assert found == seen("8.9.7", "/opt/cudnn/include/cudnn_version.h")


def test_a_version_is_remembered_of_programs_that_tell_their_own(tmp_path, monkeypatch):
    asked = []

    def read_once(host, option, command, read):
        asked.append(command)
        return read()

    monkeypatch.setattr(Host, "read_once", read_once)
    program = b"\x7fELF"
    commands = {"/usr/bin/c++ --version": GCC13, "/usr/bin/gcc --version": GCC13}
    files = {"/usr/bin/c++": Path("/usr/bin/x86_64-linux-gnu-g++-13"), "/usr/bin/gcc": program}
    files["/usr/bin/x86_64-linux-gnu-g++-13"] = program
    assert observe(tmp_path, files, commands).compiler.value.version == "13.3.0"
    assert asked == ["/usr/bin/c++", "/usr/bin/gcc"]
    asked.clear()
    # ccache starts whatever compiler comes after it on PATH.
    for name in ("c++", "gcc"):
        files[f"/usr/lib/ccache/{name}"] = Path("/usr/bin/ccache")
    files["/usr/bin/ccache"] = program
    path = {"PATH": "/usr/lib/ccache:/usr/bin:/bin"}
    commands = {f"/usr/lib/ccache/{name} --version": GCC13 for name in ("c++", "gcc")}
    tools = observe(tmp_path / "other", files, commands, path)
    assert tools.compiler.value.version == "13.3.0"
    assert tools.compiler.value.path == "/usr/lib/ccache/c++"
    assert asked == []
