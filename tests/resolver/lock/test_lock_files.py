"""Locks as users get them, compared with files that can be read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Callable

import msgspec
import pytest
from lock_shell import called
from lock_stacks import FLASH_ATTENTION, MAPTR, MAPTR_OFFLINE, PATCHED, PYPI, STACKS

import envdoctor.resolver.lock.script as script_module
from envdoctor.model.chinese import SAID
from envdoctor.model.resolution import HOST, Member, Resolution
from envdoctor.resolver.lock.requirements import requirements
from envdoctor.resolver.lock.script import script
from envdoctor.resolver.lock.written import LockError

GOLDEN = Path(__file__).resolve().parent / "golden"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def in_language(resolution: Resolution, language: str) -> Resolution:
    return msgspec.structs.replace(resolution, language=language)


def files_of(resolution: Resolution) -> str:
    return "\n".join(f"==> {file.name} <==\n{file.text}" for file in requirements(resolution))


@pytest.mark.parametrize("name", [name for name in STACKS if name != "patched"])
def test_requirements(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / f"{name}.txt", files_of(STACKS[name]))


@pytest.mark.parametrize("name", STACKS)
def test_script(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / f"{name}.sh", script(STACKS[name]))


def test_requirements_in_chinese(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "maptr_zh.txt", files_of(in_language(MAPTR, "zh")))


def test_script_in_chinese(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "patched_zh.sh", script(in_language(PATCHED, "zh")))


def test_pip_is_told_the_encoding_of_chinese() -> None:
    """pip reads the first two lines for it; without, it believes the locale."""
    for file in requirements(in_language(MAPTR, "zh")):
        assert file.text.startswith("# -*- coding: utf-8 -*-\n")
    assert all(file.text.isascii() for file in requirements(MAPTR))


@pytest.mark.parametrize("target", ["image", "venv", HOST])
@pytest.mark.parametrize("name", STACKS)
def test_scripts_are_sound(name: str, target: str, tmp_path: Path) -> None:
    for language in ("en", "zh"):
        path = tmp_path / f"{language}.sh"
        said = msgspec.structs.replace(STACKS[name], language=language, target=target)
        path.write_text(script(said), encoding="utf-8")
        found = subprocess.run(
            [
                str(SHELLCHECK),
                "--shell=sh",
                "--enable=all",
                "--exclude=SC2250,SC2310,SC2312",
                str(path),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (found.returncode, found.stdout) == (0, "")


def test_the_texts_of_the_script_are_there_in_chinese() -> None:
    template = Path(script_module.__file__).with_name("script.sh.jinja").read_text("utf-8")
    said = re.findall(r'say\(\s*"([^"]*)"', template)
    assert len(said) == 7
    assert set(said) - set(SAID) == set()


def test_what_a_compiler_takes_is_said() -> None:
    sources = msgspec.structs.replace(PATCHED.stack[3], patches=())
    answer = msgspec.structs.replace(PATCHED, stack=(*PATCHED.stack[:3], sources))
    last = [file for file in requirements(answer) if file.name != "constraints.txt"][-1].text
    assert "# nvcc of CUDA 11.8.0 compiles\n# Each job of the compiler takes 2048 MiB" in last
    assert "FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST='8.0;9.0' python -m pip install" in last


def test_patched_sources_are_no_matter_of_requirements() -> None:
    with pytest.raises(LockError, match=r"^mmcv-full 1\.4\.0 is built from patched sources"):
        requirements(PATCHED)


def test_one_file_where_one_can_say_it() -> None:
    assert [file.name for file in requirements(PYPI)] == ["requirements.txt"]
    assert [file.name for file in requirements(FLASH_ATTENTION)] == [
        "requirements-1.txt",
        "requirements-2.txt",
        "requirements-3.txt",
    ]
    assert [file.name for file in requirements(MAPTR_OFFLINE)][-1] == "constraints.txt"


def test_the_same_for_the_same() -> None:
    """Whatever order the installer listed the rest in."""
    for resolution in STACKS.values():
        other = msgspec.structs.replace(
            resolution,
            tree=tuple(reversed(resolution.tree)),
            constraints=tuple(reversed(resolution.constraints)),
            architectures=tuple(reversed(resolution.architectures)),
        )
        assert script(other) == script(resolution)
        if resolution is not PATCHED:
            assert requirements(other) == requirements(resolution)


PIP = ["python", "-m", "pip", "install"]
STARTS = [
    ["python", "-m", "pip", "--version"],
    [*PIP, "pip>=20.3"],
]


def test_what_a_script_calls(tmp_path: Path) -> None:
    page = "https://download.pytorch.org/whl/torch_stable.html"
    mmcv = "https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html"
    torch = ["torch==1.9.1+cu111", "torchvision==0.10.1+cu111"]
    wheel = ["--only-binary", "mmcv-full", "mmcv-full==1.4.0"]
    build = ["--no-cache-dir", "--no-build-isolation"]
    calls = called(script(MAPTR), tmp_path, "my env", CODE="my code", CUDA_HOME="/nowhere")
    assert calls == [
        ["uv", "venv", "--python", "3.8", "--", "my env"],
        *STARTS,
        [*PIP, "--no-deps", "--find-links", page, *torch],
        [*PIP, "--no-deps", "--no-cache-dir", "--find-links", mmcv, *wheel],
        [*PIP, "--no-deps", "-r", "WORK/3.txt"],
        [*PIP, "setuptools", "wheel"],
        [*PIP, "--no-deps", *build, "--editable", "my code/mmdetection3d"],
        ["envdoctor", "check", "--python", "my env/bin/python"],
    ]


def test_patches_are_applied_in_their_order(tmp_path: Path) -> None:
    for name in ("mmcv-thc", "mmcv-cxx17"):
        (tmp_path / f"{name}.patch").touch()
    calls = called(script(PATCHED), tmp_path, "env", PATCHES=".", MAX_JOBS="3")
    sources = "WORK/mmcv-full-sources"
    download = ["download", "--no-deps", "--no-build-isolation", "--no-binary", "mmcv-full"]
    unpack = "import shutil, sys; shutil.unpack_archive(*sys.argv[1:])"
    build = ["--no-cache-dir", "--no-build-isolation", "--constraint", "WORK/constraints.txt"]
    assert calls[6:11] == [
        ["python", "-m", "pip", *download, "--dest", "WORK/mmcv-full", "mmcv-full==1.4.0"],
        ["python", "-c", unpack, "WORK/mmcv-full/*", sources],
        ["patch", "-p1", "-d", f"{sources}/sources"],
        ["patch", "-p1", "-d", f"{sources}/sources"],
        [*PIP, *build, f"{sources}/sources"],
    ]
    assert calls[-1][0] == "envdoctor"


def test_without_a_patch_nothing_is_built(tmp_path: Path) -> None:
    (tmp_path / "mmcv-thc.patch").touch()
    calls = called(script(PATCHED), tmp_path, "env", PATCHES=".")
    assert calls[-1][0] == "patch"


def test_another_toolkit_stops_it(tmp_path: Path) -> None:
    """nvcc of 11.8 is no compiler for what was built with CUDA 12."""
    image = Member("image", "nvidia/cuda:12.1.1-devel-ubuntu20.04", {"toolkit": "12.1.1"}, "image")
    stack = (image, *PATCHED.stack[1:])
    text = script(msgspec.structs.replace(PATCHED, stack=stack))
    assert called(text, tmp_path, "env", PATCHES=".")[-1][-2:] == ["setuptools<82", "wheel"]


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    assert called(script(PYPI), tmp_path, "there") == []
    assert list((tmp_path / "there").iterdir()) == []


def test_packages_of_the_host_go_into_its_environment(tmp_path: Path) -> None:
    text = script(msgspec.structs.replace(PYPI, target=HOST))
    assert called(text, tmp_path, "python") == [
        [*PIP, "--no-deps", "-r", "WORK/1.txt"],
        ["envdoctor", "check", "--python", "python"],
    ]
