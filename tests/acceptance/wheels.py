"""Makes small wheels on the spot, with compiled modules where a case needs one.

Nothing is downloaded and no build backend is needed: a wheel is a zip file, and a compiled module
needs a C compiler alone, for what it uses of Python's headers is written out here.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import subprocess
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import Mapping, NamedTuple, Sequence, Tuple, Union

Content = Union[str, bytes]


class Wheel(NamedTuple):
    """A wheel by what it holds: paths in site-packages, and what its metadata says."""

    name: str
    version: str
    files: Mapping[str, Content]
    tag: str = "py3-none-any"
    requires: Sequence[str] = ()

    @property
    def stem(self) -> str:
        """How its files and folders begin, "two_words-1.0"."""
        return f"{self.name.replace('-', '_')}-{self.version}"


def module(name: str, version: str, body: str = "", **more: object) -> Wheel:
    """A wheel of one package that is called as the project is, with `body` in its __init__.py."""
    path = f"{name.replace('-', '_')}/__init__.py"
    return Wheel(name, version, {path: f'__version__ = "{version}"\n{body}'}, **more)  # type: ignore[arg-type]


def write(folder: Path, wheel: Wheel) -> Path:
    """Write the wheel into a folder; returns its path."""
    info = f"{wheel.stem}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {wheel.name}\nVersion: {wheel.version}\n"
    metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in wheel.requires)
    pure = str(wheel.tag.endswith("-none-any")).lower()
    files = {
        **wheel.files,
        f"{info}/METADATA": f"{metadata}\nA description.\n",
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: {pure}\nTag: {wheel.tag}\n"
        ),
    }
    record = "".join(f"{path},{_digest(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{wheel.stem}-{wheel.tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def _digest(content: Content) -> str:
    data = content.encode() if isinstance(content, str) else content
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={digest},{len(data)}"


def tag(platform: str = "linux_x86_64") -> str:
    """The tag of a wheel that holds compiled modules for the Python that runs this."""
    series = f"cp{sysconfig.get_config_var('py_version_nodot')}"
    return f"{series}-{series}-{platform}"


def suffix() -> str:
    """What the file of a compiled module ends with, ".cpython-311-x86_64-linux-gnu.so"."""
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


_MODULE = """
struct base { long references; void *type, *init; long index; void *copy; };
struct definition {
    struct base base; const char *name, *doc; long size;
    void *methods, *slots, *traverse, *clear, *free;
};
static struct definition module = {{1}, "%(name)s", 0, -1};
void *PyModule_Create2(void *, int);
%(declared)s
void *PyInit_%(name)s(void) { %(called)s return PyModule_Create2(&module, 1013); }
"""


@functools.lru_cache(maxsize=None)
def extension(name: str, needs: Tuple[str, str, str] = ("", "", "")) -> bytes:
    """The bytes of a compiled module.

    `needs` is a function that it calls, the SONAME of the library that has it and the version of
    that symbol, "" for none. That library exists while this is compiled, no longer.
    """
    function, soname, version = needs
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        libraries = []
        if function:
            libraries.append(_library(folder, function, soname, version))
        called = f"{function}();" if function else ""
        declared = f"void {function}(void);" if function else ""
        text = _MODULE % {"name": name, "declared": declared, "called": called}
        return _compiled(folder, name, text, *map(str, libraries))


@functools.lru_cache(maxsize=None)
def library(function: str, soname: str) -> bytes:
    """The bytes of a shared library with one function that does nothing."""
    with tempfile.TemporaryDirectory() as place:
        return _library(Path(place), function, soname, "").read_bytes()


def _library(folder: Path, function: str, soname: str, version: str) -> Path:
    options = [f"-Wl,-soname,{soname}"]
    if version:
        script = folder / "versions"
        script.write_text(f"{version} {{ global: {function}; }};\n")
        options.append(f"-Wl,--version-script={script}")
    _compiled(folder, "needed", f"void {function}(void) {{}}\n", *options)
    return folder / "needed.so"


def _compiled(folder: Path, name: str, text: str, *options: str) -> bytes:
    source, made = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    command = ["cc", "-shared", "-fPIC", "-w", "-o", str(made), str(source), *options]
    subprocess.run(command, check=True, timeout=60)
    return made.read_bytes()


def for_another_processor(data: bytes) -> bytes:
    """A library as it is for the 64-bit ARM, by what its header says."""
    return data[:18] + (183).to_bytes(2, "little") + data[20:]
