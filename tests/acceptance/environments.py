"""Makes real virtual environments out of a description, and runs `envdoctor check` on them.

A stack is data: `{"torch": "2.4.1+cu121", "mmcv-full": "1.4.0"}`. What each package leaves on disk
is what pip leaves of its wheel: a dist-info folder, a small package, torch's version.py. Wheel tags
and requirements are the real ones, from metadata.json; the README beside this file says how it is
made. Nothing is downloaded.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: {canonical name: {version: {"name", "wheel", "python", "requires"}}}, as the index serves it.
METADATA: Dict[str, Dict[str, Dict[str, Any]]] = json.loads((HERE / "metadata.json").read_text())

#: The CUDA of PyPI's torch, by series: its version.py names it, its metadata does not.
PYPI_CUDA = {
    series: cuda
    for cuda, names in {
        "10.2": "1.6 1.7 1.8 1.9 1.10 1.11 1.12",
        "11.7": "1.13 2.0",
        "12.1": "2.1 2.2 2.3 2.4",
        "12.4": "2.5 2.6",
        "12.6": "2.7",
        "12.8": "2.8 2.9 2.10",
        "13.0": "2.11 2.12 2.13 2.14",
    }.items()
    for series in names.split()
}

#: What a new environment holds before anything is installed; later Pythons bring pip alone.
BUNDLED = {
    "3.8": {"pip": "23.0.1", "setuptools": "56.0.0"},
    "3.9": {"pip": "23.0.1", "setuptools": "58.1.0"},
    "3.10": {"pip": "23.0.1", "setuptools": "65.5.0"},
    "3.11": {"pip": "23.2.1", "setuptools": "65.5.0"},
}
PIP = "24.3.1"

#: What OpenMMLab's packages assert when they are imported: a module, and its lowest and highest
#: version.
ASSERTED: Dict[str, Dict[str, Tuple[str, str, str]]] = {
    "mmdet 2.14.0": {"mmcv": ("1.3.8", "<=", "1.4.0")},
    "mmdet 2.28.2": {"mmcv": ("1.3.17", "<=", "1.8.0")},
    "mmdet 3.1.0": {"mmcv": ("2.0.0rc4", "<", "2.1.0"), "mmengine": ("0.7.1", "<", "1.0.0")},
    "mmdet 3.3.0": {"mmcv": ("2.0.0rc4", "<", "2.2.0"), "mmengine": ("0.7.1", "<", "1.0.0")},
    "mmsegmentation 0.14.1": {"mmcv": ("1.3.1", "<=", "1.4.0")},
    "mmsegmentation 0.28.0": {"mmcv": ("1.3.13", "<", "1.7.0")},
    "mmsegmentation 0.30.0": {"mmcv": ("1.3.13", "<", "1.8.0")},
    "mmdet3d 0.17.2": {
        "mmcv": ("1.3.8", "<=", "1.4.0"),
        "mmdet": ("2.14.0", "<=", "3.0.0"),
        "mmseg": ("0.14.1", "<=", "1.0.0"),
    },
    "mmdet3d 1.4.0": {
        "mmcv": ("2.0.0rc4", "<", "2.2.0"),
        "mmengine": ("0.8.0", "<", "1.0.0"),
        "mmdet": ("3.0.0rc5", "<", "3.4.0"),
    },
}

#: Import names of distributions that are not called like them.
MODULES = {
    "mmcv-full": ("mmcv",),
    "mmsegmentation": ("mmseg",),
    "nuscenes-devkit": ("nuimages", "nuscenes"),
    "opencv-contrib-python": ("cv2",),
    "opencv-python": ("cv2",),
    "opencv-python-headless": ("cv2",),
    "pillow": ("PIL",),
    "protobuf": ("google",),
    "python-dateutil": ("dateutil",),
    "pyyaml": ("_yaml", "yaml"),
    "scikit-image": ("skimage",),
    "scikit-learn": ("sklearn",),
    "setuptools": ("_distutils_hack", "pkg_resources", "setuptools"),
}

#: Distributions that hold extension modules, where metadata.json has no wheel of theirs, by the
#: oldest release that does.
COMPILED = {"flash-attn": "0", "mmcv": "2", "mmcv-full": "0", "torch": "0", "torchvision": "0"}


class Installed(NamedTuple):
    """A distribution of which its name and version do not say everything."""

    version: str
    url: str = ""  # the wheel that pip was given instead of a name
    # `setup.py develop` in a folder of its own, with these requirements
    develop: Optional[Sequence[str]] = None


Stack = Mapping[str, Union[str, Installed]]


class Environment(NamedTuple):
    """An environment, and what must be assumed of it where this machine lacks its Python."""

    python: str
    assume: Tuple[str, ...]


#: The fixture `made`: `make` once for each description.
Made = Callable[..., Environment]


class Checked(NamedTuple):
    """How `envdoctor check --format json` ended."""

    code: int
    report: Dict[str, Any]

    def findings(self, *severities: str) -> List[Dict[str, Any]]:
        """The findings of these severities."""
        return [f for f in self.report["findings"] if f["severity"] in severities]


# --- environments -----------------------------------------------------------------------------


def make(folder: Path, stack: Stack, python: str = "3.10", found: bool = True) -> Environment:
    """Make the environment of a stack with an interpreter of that series.

    Where none is found on this machine, and where `found` is False, the interpreter that runs this
    makes it, and the series is to be assumed.
    """
    interpreter = find_interpreter(python) if found else None
    command = interpreter or sys.executable
    shutil.copytree(bare(command), folder, symlinks=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    stack = {"pip": PIP, **BUNDLED.get(python, {}), **stack}
    for name, installed in stack.items():
        if isinstance(installed, str):
            installed = Installed(installed)  # noqa: PLW2901
        _install(site, name, installed, python, stack)
    for name in ("pip", "pip3", f"pip{python}"):
        script = folder / "bin" / name
        script.write_text(
            f"#!{folder}/bin/python\nfrom pip._internal.cli.main import main\nmain()\n"
        )
        script.chmod(0o755)
    assume = () if interpreter else (f"python={python}",)
    return Environment(str(folder / "bin" / "python"), assume)


_temporary = tempfile.TemporaryDirectory()


@functools.lru_cache(maxsize=None)
def bare(python: str) -> str:
    """A virtual environment that is only copied: making one is slow."""
    folder = tempfile.mkdtemp(dir=_temporary.name)
    command = [python, "-I", "-m", "venv", "--without-pip", folder]
    subprocess.run(command, check=True, timeout=60)
    return folder


@functools.lru_cache(maxsize=None)
def find_interpreter(series: str) -> Optional[str]:
    """The path of a CPython of that series on PATH or in a pyenv root; None if there is none."""
    name = f"python{series}"
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path("~/.pyenv").expanduser())]
    candidates = [sys.executable, shutil.which(name)]
    candidates += [
        str(p) for root in roots if root for p in Path(root).glob(f"versions/*/bin/{name}")
    ]
    wanted = f"cpython {series} "
    code = (
        "import sys, venv; "
        "print(sys.implementation.name, '%d.%d' % sys.version_info[:2], sys.abiflags, '|',"
        " getattr(sys, '_base_executable', sys.executable))"
    )
    for candidate in filter(None, candidates):
        done = subprocess.run(
            [candidate, "-I", "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=30,
            check=False,
        )
        identity, _, path = done.stdout.decode().strip().partition("| ")
        # "t" among the flags: free-threaded, which is another ABI
        if (
            done.returncode == 0
            and identity.startswith(wanted)
            and "t" not in identity[len(wanted) :]
        ):
            return path
    return None


# --- distributions ----------------------------------------------------------------------------


def _install(site: Path, name: str, installed: Installed, python: str, stack: Stack) -> None:
    version = installed.version
    known = METADATA.get(canonicalize_name(name), {}).get(Version(version).public, {})
    spelled = known.get("name", name)
    modules = _modules(name, version)
    files = _package_files(name, version, modules)
    requires = known.get("requires", ()) if installed.develop is None else installed.develop
    requires = [r for r in requires if _is_wanted(r, stack)]
    metadata = f"Metadata-Version: 2.1\nName: {spelled}\nVersion: {version}\n"
    if known.get("python"):
        metadata += f"Requires-Python: {known['python']}\n"
    if installed.develop is not None:
        _develop(site, name, metadata, requires, modules, files)
        return
    metadata += "".join(f"Requires-Dist: {r}\n" for r in requires)
    info = f"{re.sub(r'[-_.]+', '_', spelled)}-{version}.dist-info"
    tags = list(_tags(name, version, known.get("wheel", ""), python))
    wheel = "Wheel-Version: 1.0\nGenerator: bdist_wheel (0.43.0)\n"
    wheel += f"Root-Is-Purelib: {str(tags[0].endswith('-none-any')).lower()}\n"
    wheel += "".join(f"Tag: {tag}\n" for tag in tags)
    files[f"{info}/METADATA"] = f"{metadata}\nA description.\n"
    files[f"{info}/WHEEL"] = wheel
    files[f"{info}/INSTALLER"] = "pip\n"
    files[f"{info}/REQUESTED"] = ""
    files[f"{info}/top_level.txt"] = "".join(f"{module}\n" for module in modules)
    if installed.url:
        files[f"{info}/direct_url.json"] = json.dumps({"archive_info": {}, "url": installed.url})
    record = "".join(f"{path},{_digest(text)}\n" for path, text in sorted(files.items()))
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    _write(site, files)


def _is_wanted(requirement: str, stack: Stack) -> bool:
    """Requirements on what a stack leaves out are left out with it."""
    return canonicalize_name(Requirement(requirement).name) in {canonicalize_name(n) for n in stack}


def _develop(
    site: Path,
    name: str,
    metadata: str,
    requires: Sequence[str],
    modules: Sequence[str],
    files: Dict[str, str],
) -> None:
    """Install in place as `setup.py develop` does: an egg-link, and a line in easy-install.pth."""
    project = site.parents[2].with_name(f"{site.parents[2].name}-{name}")
    egg_info = f"{name.replace('-', '_')}.egg-info"
    files[f"{egg_info}/PKG-INFO"] = f"{metadata}\n"
    files[f"{egg_info}/requires.txt"] = "".join(f"{r}\n" for r in requires)
    files[f"{egg_info}/top_level.txt"] = "".join(f"{module}\n" for module in modules)
    files[f"{egg_info}/SOURCES.txt"] = "setup.py\n"
    files["setup.py"] = "from setuptools import setup\n\nsetup()\n"
    _write(project, files)
    (site / f"{name}.egg-link").write_text(f"{project}\n.")
    with (site / "easy-install.pth").open("a") as lines:
        lines.write(f"{project}\n")


def _modules(name: str, version: str) -> Tuple[str, ...]:
    if name == "torch":
        newer = Version(version) >= Version("2")
        return ("functorch", "torch", "torchgen") if newer else ("caffe2", "torch")
    if name.startswith("nvidia-"):
        return ("nvidia",)
    return MODULES.get(canonicalize_name(name), (name.lower().replace("-", "_"),))


def _package_files(name: str, version: str, modules: Sequence[str]) -> Dict[str, str]:
    files = {f"{m}/__init__.py": f"__version__ = {version!r}\n" for m in modules}
    for module, limit in ASSERTED.get(f"{name} {version}", {}).items():
        files[f"{modules[0]}/__init__.py"] += _assertion(module, *limit)
    if name == "torch":
        files.update(_torch_files(version))
    if name.startswith("nvidia-"):
        part = name[len("nvidia-") :].rpartition("-cu")[0].replace("-", "_")
        files = {"nvidia/__init__.py": "", f"nvidia/{part}/__init__.py": ""}
    return files


def _assertion(module: str, lowest: str, sign: str, highest: str) -> str:
    """The check of another package's version as OpenMMLab's packages write it."""
    return f"""
import {module}

{module}_minimum_version = {lowest!r}
{module}_maximum_version = {highest!r}
{module}_version = digit_version({module}.__version__)

assert ({module}_version >= digit_version({module}_minimum_version)
        and {module}_version {sign} digit_version({module}_maximum_version)), \\
    f'{module}=={{{module}.__version__}} is used but incompatible.'
"""


def _torch_files(version: str) -> Dict[str, str]:
    parsed = Version(version)
    cuda = PYPI_CUDA.get(f"{parsed.major}.{parsed.minor}")
    local = parsed.local or f"cu{str(cuda).replace('.', '')}"
    match = re.match(r"cu(\d+)(\d)$", local)
    cuda = f"{match.group(1)}.{match.group(2)}" if match else None
    source = (
        "from typing import Optional\n\n"
        "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
        f"__version__ = '{parsed.public}+{local}'\n"
        "debug = False\n"
        f"cuda: Optional[str] = {cuda!r}\n"
        f"git_version = '{hashlib.sha1(version.encode()).hexdigest()}'\n"
        "hip: Optional[str] = None\n"
    )
    files = {"torch/version.py": source}
    if parsed < Version("2.8"):  # later ones leave it out
        new = parsed >= Version("2.7") or (parsed >= Version("2.6") and local == "cu126")
        flags = f'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI={int(new)}")\n'
        files["torch/share/cmake/Torch/TorchConfig.cmake"] = flags
    return files


def _tags(name: str, version: str, wheel: str, python: str) -> Iterator[str]:
    """The tags of a wheel's file name; of one that was built here, those of this Python."""
    cpython = f"cp{python.replace('.', '')}"
    if wheel:
        pythons, abis, platforms = wheel[: -len(".whl")].split("-")[-3:]
        if abis.startswith("cp") and pythons.startswith("cp"):
            pythons = abis = cpython  # metadata.json has one Python's; the other wheels are alike
        for parts in itertools.product(pythons.split("."), abis.split("."), platforms.split(".")):
            yield "-".join(parts)
    elif name in COMPILED and Version(version) >= Version(COMPILED[name]):
        yield f"{cpython}-{cpython}-linux_x86_64"
    else:
        yield "py3-none-any"


def _digest(text: str) -> str:
    data = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={digest},{len(data)}"


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# --- the command ------------------------------------------------------------------------------


def check(*arguments: str, environ: Optional[Mapping[str, str]] = None) -> Checked:
    """Run `envdoctor check --format json` with these arguments and nobody's settings."""
    bare = {"PATH": os.defpath, "HOME": _temporary.name, "LANG": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-m", "envdoctor", "check", "--format", "json", *arguments],
        cwd=ROOT,
        env={**bare, **(environ or {})},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return Checked(done.returncode, json.loads(done.stdout))


def check_environment(
    environment: Environment, *arguments: str, environ: Optional[Mapping[str, str]] = None
) -> Checked:
    """Run it on an environment, by default as a user does who has activated it."""
    folder = Path(environment.python).parent
    active = {"VIRTUAL_ENV": str(folder.parent), "PATH": f"{folder}{os.pathsep}{os.defpath}"}
    settings = (f"--assume={setting}" for setting in environment.assume)
    command = ("--python", environment.python, *settings, *arguments)
    return check(*command, environ=active if environ is None else environ)
