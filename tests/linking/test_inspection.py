"""What is told of a binary is what readelf prints and what the loader really does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Callable, List

import jsonschema
import pytest
from truth import loaded_by, of_inspection, of_readelf, vdso

from envdoctor.commands.cli import run
from envdoctor.facts import target
from envdoctor.facts.target import Choice
from envdoctor.linking.inspection import inspect
from envdoctor.model.facts import Target
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
