"""What is told of a binary is what readelf prints and what the loader really does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Set, Tuple

import jsonschema
import pytest

from envdoctor.commands.cli import run
from envdoctor.elf.image import ElfError
from envdoctor.elf.library import open_library
from envdoctor.facts import target
from envdoctor.facts.target import Choice
from envdoctor.linking.inspection import inspect
from envdoctor.model.facts import Target
from envdoctor.model.inspection import Inspection
from envdoctor.report import inspection as report

Build = Callable[..., Path]


@pytest.fixture(scope="module")
def here() -> Target:
    observed = target.observe(Choice(sys.executable, "--python"), dict)
    assert observed.value is not None
    return observed.value


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Compiles C++ into a shared library of a name."""

    def compile_library(name: str, source: str, *options: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-x", "none", "-o", str(path)]
        subprocess.run([*command, *options], input=source.encode(), check=True, timeout=60)
        return path

    return compile_library


def readelf(path: Path, *options: str) -> str:
    command = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(
        command, check=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout.decode("utf-8", "replace")  # fmt: skip


def of_readelf(path: Path) -> Dict[str, Any]:
    dynamic, versions, symbols = (readelf(path, o) for o in ("-d", "-V", "--dyn-syms"))
    told: Dict[str, Any] = {"needed": tuple(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))}
    for key in ("SONAME", "RPATH", "RUNPATH"):
        found = re.search(rf"\({key}\).*\[(.*)\]", dynamic)
        told[key.lower()] = found[1] if found else ("" if key == "SONAME" else None)
    needs: Dict[str, Set[str]] = {}
    file = ""
    for line in versions.partition("Version needs section")[2].splitlines():
        of = re.search(r"File: (\S+)", line)
        file = of[1] if of else file
        name = re.search(r"Name: (\S+)", line)
        if name:
            needs.setdefault(file, set()).add(name[1])
    told["versions"] = needs
    undefined = re.findall(
        r"^\s*\d+: .*? (GLOBAL|WEAK)\s+DEFAULT.*? UND +\S", symbols, re.MULTILINE
    )
    told["undefined"] = (undefined.count("GLOBAL"), undefined.count("WEAK"))
    found = re.search(r"Build ID: (\w+)", readelf(path, "-n"))
    told["build_id"] = found[1] if found else ""
    return told


def of_inspection(one: Inspection) -> Dict[str, Any]:
    return {
        "needed": one.needed,
        "soname": one.soname,
        "rpath": one.rpath,
        "runpath": one.runpath,
        "versions": {of.library: {*of.versions, *of.weak} for of in one.versions},
        "undefined": (one.undefined, one.weak),
        "build_id": one.build_id,
    }


def loaded_by(python: str, path: Path, before: str = "") -> Tuple[int, str, Set[str]]:
    """What the loader itself does: the status, what it says, and the files that it initializes."""
    statement = f"{before}\nimport ctypes, os; ctypes.CDLL({str(path)!r}, os.RTLD_NOW)"
    done = subprocess.run(
        [python, "-c", statement], timeout=120, check=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env={**os.environ, "LD_DEBUG": "files"},
    )  # fmt: skip
    text = done.stderr.decode("utf-8", "replace")
    files = re.findall(r"calling init: (\S+)", text)
    said = [line for line in text.splitlines() if line.startswith("OSError")]
    return done.returncode, "".join(said), {os.path.realpath(file) for file in files}


SYSTEM = sorted(
    path
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64")
    for pattern in ("libstdc++.so.6", "libz.so.1", "libm.so.6", "libcrypto.so.*", "libexpat.so.1")
    for path in Path(folder).glob(pattern)
)


@pytest.mark.parametrize("path", SYSTEM, ids=str)
def test_libraries_of_this_system(path: Path, here: Target) -> None:
    one = inspect(str(path), here)
    assert of_inspection(one) == of_readelf(path)
    code, _, files = loaded_by(here.python, path)
    assert (one.outcome, code) == ("loads", 0)
    assert {os.path.realpath(needed.path) for needed in one.loaded} <= files | vdso(one)


def vdso(one: Inspection) -> Set[str]:
    """The loader itself is never initialized."""
    return {os.path.realpath(n.path) for n in one.loaded if "ld-linux" in n.name}


def test_extension_modules_of_this_interpreter(here: Target) -> None:
    folder = Path(here.base_prefix) / "lib" / f"python3.{sys.version_info[1]}" / "lib-dynload"
    files = sorted(folder.glob("*.so"))[:12]
    assert files or not folder.is_dir()
    for path in files:
        one = inspect(str(path), here)
        assert of_inspection(one) == of_readelf(path)
        assert one.outcome == "loads", path
        assert one.module == path.name.partition(".")[0]


def test_a_library_that_is_missing(build: Build, here: Target) -> None:
    needed = build("libneeded.so", "int one() { return 1; }", "-Wl,-soname,libneeded.so.7")
    file = build("ext.so", "int one(); int two() { return one(); }", str(needed))
    one = inspect(str(file), here)
    assert one.fault is not None
    assert (one.outcome, one.fault.missing) == ("missing-library", "libneeded.so.7")
    code, said, _ = loaded_by(here.python, file)
    assert code == 1
    assert "libneeded.so.7: cannot open shared object file" in said
    (needed.parent / "libneeded.so.7").symlink_to(needed.name)
    again = build(
        "ext.so", "int one(); int two() { return one(); }", str(needed), "-Wl,-rpath,$ORIGIN"
    )
    one = inspect(str(again), here)
    assert (one.outcome, loaded_by(here.python, again)[0]) == ("loads", 0)
    (found,) = [n for n in one.loaded if n.name == "libneeded.so.7"]
    assert (found.path, found.origin) == (str(needed.parent / "libneeded.so.7"), "RUNPATH")


def test_symbols_that_are_missing(build: Build, here: Target) -> None:
    file = build("ext.so", "namespace a { void gone(int); } void f() { a::gone(1); }")
    one = inspect(str(file), here)
    assert one.fault is not None
    assert (one.outcome, one.fault.symbols) == ("missing-symbols", ("a::gone(int)",))
    code, said, _ = loaded_by(here.python, file)
    assert code == 1
    assert "undefined symbol: _ZN1a4goneEi" in said


def test_a_version_that_is_missing(build: Build, here: Target, tmp_path: Path) -> None:
    script = tmp_path / "versions"
    script.write_text("V_2 { one; };")
    source = 'extern "C" int one() { return 1; }'
    linking = ["-Wl,-soname,libv.so", f"-Wl,--version-script={script}"]
    needed = build("libv.so", source, *linking)
    user = 'extern "C" int one(); int two() { return one(); }'
    file = build("ext.so", user, str(needed), "-Wl,-rpath,$ORIGIN")
    assert inspect(str(file), here).outcome == "loads"
    script.write_text("V_1 { one; };")
    build("libv.so", source, *linking)
    one = inspect(str(file), here)
    assert one.fault is not None
    assert (one.outcome, one.fault.missing) == ("missing-version", "V_2")
    code, said, _ = loaded_by(here.python, file)
    assert code == 1
    assert "version `V_2' not found" in said


@pytest.mark.parametrize(
    ("content", "kind", "reason"),
    [
        (b"", "no binary", "it is empty"),
        (b"hello", "no binary", "it is text, not an ELF file"),
        (b"GROUP ( libc.so.6 )", "no binary", "it is a linker script, not a library"),
        (b"\x7fELF", "no binary", ""),
        (b"\0" * 5000, "no binary", "it is no ELF file"),
    ],
)
def test_what_is_no_binary(
    tmp_path: Path, here: Target, content: bytes, kind: str, reason: str
) -> None:
    file = tmp_path / "file.so"
    file.write_bytes(content)
    one = inspect(str(file), here)
    assert (one.kind, one.outcome) == (kind, "")
    assert one.reason == reason or (not reason and one.reason)


SCHEMA = Path(report.__file__).parent / "schemas" / "inspect.json"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command(
    build: Build, capsys: pytest.CaptureFixture[str], tmp_path: Path, lang: str
) -> None:
    fine = build("fine.so", "int one() { return 1; }")
    broken = build("broken.so", "int two(); int one() { return two(); }")
    (tmp_path / "text").write_text("hello")
    said: List[str] = []
    codes = []
    for file in (fine, broken, tmp_path / "text", Path("/bin/sh"), tmp_path, tmp_path / "gone"):
        codes.append(run(["inspect", str(file), "--python", sys.executable, "--lang", lang]))
        said.append("".join(capsys.readouterr()))
    assert codes == [0, 1, 3, 0, 3, 3]
    assert "two()" in said[1]
    assert "envdoctor explain undefined-symbol" in said[1]
    for file in (fine, broken, tmp_path / "text"):
        run(["inspect", str(file), "--python", sys.executable, "--format", "json"])
        data = json.loads(capsys.readouterr().out)
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
        assert data["inspection"]["path"] == str(file)


@pytest.mark.real
@pytest.mark.parametrize("wanted", ["torch==2.13.0", "torch==2.4.1 numpy<2"])
def test_torch(tmp_path: Path, wanted: str) -> None:
    """All libraries of a real torch, against readelf and the loader's own trace.

    PyPI's 2.4.1 is compiled for CUDA and brings NVIDIA's wheels.
    """
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=300)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--only-binary", ":all:", *wanted.split()],
        check=True, timeout=1500,
    )  # fmt: skip
    observed = target.observe(Choice(str(python), "--python"), dict).value
    assert observed is not None
    assert observed.torch is not None
    folder = Path(observed.torch.path)
    checked = 0
    for path in sorted([*folder.glob("lib/*.so*"), *folder.glob("*.so")]):
        try:
            open_library(str(path)).close()
        except ElfError:
            continue
        one = inspect(str(path), observed)
        assert of_inspection(one) == of_readelf(path)
        code, said, files = loaded_by(str(python), path, "import torch")
        assert (one.outcome == "loads") == (code == 0), said
        if code == 0:
            loaded = {os.path.realpath(needed.path) for needed in one.loaded}
            assert loaded <= files | vdso(one)
        checked += 1
    assert checked >= 5
