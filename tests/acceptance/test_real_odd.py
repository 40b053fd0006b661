"""Unusual environments of real packages: a finding appears exactly where an import fails.

The packages come from the index that pip is configured for. What can be shown with small wheels
that are written on the spot is in test_odd.py.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Dict, List, Optional

import pytest
from environments import find_interpreter
from odd import Case, Odd, Place, at, case_of, judge, pip, site
from wheels import module

pytestmark = pytest.mark.real

CASES: List[Case] = []
case = case_of(CASES)


def fetch(prefix: Optional[Path], requirements: str, *options: str) -> None:
    """Install pinned requirements, and nothing that they require."""
    pip(prefix, "install", "--no-deps", *options, *requirements.split())


PANDAS = "pandas==2.2.3 pytz==2025.2 tzdata==2025.2 python-dateutil==2.9.0.post0 six==1.17.0"
TORCH = (
    "torch==2.13.0+cpu numpy==2.2.6 filelock==3.19.1 fsspec==2025.9.0 jinja2==3.1.6"
    " markupsafe==3.0.2 mpmath==1.3.0 networkx==3.4.2 setuptools==80.9.0 sympy==1.14.0"
    " typing-extensions==4.15.0"
)
REQUESTS = "requests==2.32.4 certifi==2025.8.3 charset-normalizer==3.4.3 idna==3.10 urllib3==2.2.3"
TRANSFORMERS = (
    f"{REQUESTS} transformers==4.46.3 tokenizers==0.20.3 huggingface-hub==0.25.2"
    " safetensors==0.5.3 filelock==3.19.1 fsspec==2025.9.0 numpy==2.2.6 packaging==25.0"
    " pyyaml==6.0.2 regex==2025.9.1 tqdm==4.67.1 typing-extensions==4.15.0"
)

# --- healthy --------------------------------------------------------------------------------------


@case("two opencvs of one version", "import cv2; cv2.resize", python="3.11")
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "opencv-python-headless==4.11.0.86 numpy==2.2.6")
    fetch(env, "opencv-contrib-python-headless==4.11.0.86")
    return at(env)


def project(place: Place, name: str, layout: str, **files: str) -> Path:
    """A source tree with a package in the folder `layout`."""
    folder = place.folder / f"project-{name}"
    package = folder / layout / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1.0"\nimport six\n')
    for path, text in files.items():
        (folder / path.replace("_dot_", ".")).write_text(text)
    return folder


@case("setup.py develop, its package in src", "import one", python="3.11")
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "six==1.17.0 setuptools==65.5.0")
    folder = project(
        place,
        "one",
        "src",
        setup_dot_py="from setuptools import setup\n"
        "setup(name='one', version='1.0', package_dir={'': 'src'}, packages=['one'],"
        " install_requires=['six'])\n",
    )
    command = [str(env / "bin" / "python"), "setup.py", "-q", "develop", "--no-deps"]
    subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True)
    assert list(site(env).glob("one.egg-link"))
    return at(env)


def declared(name: str, backend: str, requires: str, more: str = "") -> str:
    """The pyproject.toml of a project."""
    return (
        f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{backend}"\n'
        f'[project]\nname = "{name}"\nversion = "1.0"\ndescription = "-"\ndependencies = ["six"]\n'
        f"{more}"
    )


def edit(env: Path, folder: Path, *options: str) -> None:
    """Install a project in place, built with what the environment has."""
    pip(env, "install", "--no-deps", "--no-build-isolation", *options, "-e", str(folder))


@case(
    "editable installs of setuptools: path, finder, strict", "import one, two, three", python="3.11"
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "six==1.17.0 setuptools==80.9.0 wheel==0.45.1")
    for name, layout, options in (
        ("one", "src", ()),
        ("two", ".", ()),
        ("three", ".", ("--config-settings", "editable_mode=strict")),
    ):
        text = declared(name, "setuptools.build_meta", "setuptools")
        folder = project(place, name, layout, pyproject_dot_toml=text)
        (folder / "docs").mkdir()
        if layout == ".":
            with (folder / "pyproject.toml").open("a") as more:
                more.write(f'[tool.setuptools]\npackages = ["{name}"]\n')
        edit(env, folder, *options)
    assert list(site(env).glob("__editable___*_finder.py"))
    return at(env)


@case(
    "editable installs of hatchling, flit, pdm and poetry",
    "import one, two, three, four, five",
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(
        env,
        "six==1.17.0 hatchling==1.27.0 packaging==25.0 pathspec==0.12.1 pluggy==1.6.0"
        " trove-classifiers==2025.9.9.12 editables==0.5 flit-core==3.12.0 pdm-backend==2.4.5"
        " poetry-core==2.1.3",
    )
    for name, backend, requires, more in (
        ("one", "hatchling.build", "hatchling", ""),
        ("two", "hatchling.build", "hatchling", "[tool.hatch.build]\ndev-mode-exact = true\n"),
        ("three", "flit_core.buildapi", "flit_core", ""),
        ("four", "pdm.backend", "pdm-backend", "[tool.pdm.build]\neditable-backend='editables'\n"),
        ("five", "poetry.core.masonry.api", "poetry-core", ""),
    ):
        text = declared(name, backend, requires, more)
        edit(env, project(place, name, "src", pyproject_dot_toml=text))
    return at(env)


@case(
    "one namespace of several projects: google",
    "import google.protobuf, google.auth, google.rpc.status_pb2",
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(
        env,
        "protobuf==5.29.5 googleapis-common-protos==1.70.0 google-auth==2.40.3 cachetools==5.5.2"
        " pyasn1==0.6.1 pyasn1-modules==0.4.2 rsa==4.9.1",
    )
    return at(env)


@case(
    "NVIDIA's wheels merge one folder",
    "import ctypes, nvidia.cuda_runtime.lib as l; "
    "ctypes.CDLL(list(l.__path__)[0] + '/libcudart.so.12')",
    "import nvidia.nvtx",
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "nvidia-nvtx-cu12==12.1.105 nvidia-cuda-runtime-cu12==12.1.105")
    return at(env)


@case("an environment that uv made, its files linked", "import pandas, numpy", python="3.11")
def _(place: Place) -> Odd:
    tools = place.venv("tools")
    fetch(tools, "uv==0.8.17")
    uv = str(tools / "bin" / "uv")
    env = place.folder / "env"
    environ = {**os.environ, "UV_CACHE_DIR": str(place.folder / "cache"), **_indexes()}
    command = [uv, "venv", "-q", "--python", place.python, str(env)]
    subprocess.run(command, env=environ, check=True, timeout=120)
    command = [uv, "pip", "install", "-q", "--python", str(env / "bin" / "python")]
    command += ["--link-mode", "symlink", "--no-deps", "numpy==2.2.6", *PANDAS.split()]
    subprocess.run(command, env=environ, check=True, timeout=300)
    return at(env)


def _indexes() -> Dict[str, str]:
    """Where uv has packages from: the index that pip is configured for."""
    done = subprocess.run(
        ["python3", "-m", "pip", "config", "get", "global.index-url"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    url = done.stdout.decode().strip() or os.environ.get("PIP_INDEX_URL", "")
    return {"UV_DEFAULT_INDEX": url} if url else {}


@case("numpy and pandas in a --target folder on PYTHONPATH", "import pandas", python="3.11")
def _(place: Place) -> Odd:
    env = place.venv()
    more = str(place.folder / "more")
    fetch(env, f"numpy==2.2.6 {PANDAS}", "--target", more)
    return at(env, PYTHONPATH=more)


@case(
    "environments as virtualenv makes them",
    "import six",
    "import pip",
    "import setuptools",
    python="3.11",
)
def _(place: Place) -> Odd:
    tools = place.venv("tools")
    fetch(
        tools,
        "virtualenv==20.26.6 distlib==0.3.9 filelock==3.19.1 platformdirs==4.4.0",
    )
    env = place.folder / "env"
    command = [str(tools / "bin" / "python"), "-m", "virtualenv", "-q", "--setuptools", "bundle"]
    subprocess.run(
        [*command, str(env)], check=True, timeout=120, env={**os.environ, "HOME": str(place.folder)}
    )
    fetch(env, "six==1.17.0")
    return at(env)


@case(
    "what virtualenv before 20 made", "import six", "import pip", "import setuptools", python="3.7"
)
def _(place: Place) -> Odd:
    tools = place.venv("tools")
    fetch(tools, "virtualenv==16.7.12")
    env = place.folder / "env"
    command = [str(tools / "bin" / "python"), "-m", "virtualenv", "-q", "-p", place.python]
    subprocess.run(
        [*command, str(env)], check=True, timeout=180, env={**os.environ, "HOME": str(place.folder)}
    )
    fetch(env, "six==1.17.0")
    return at(env)


@case("numpy and pandas on Python 3.6", "import pandas", python="3.6")
def _(place: Place) -> Odd:
    env = place.venv()
    wheels = "numpy==1.19.5 pandas==1.1.5 pytz==2025.2 python-dateutil==2.9.0.post0 six==1.17.0"
    options = ["--python-version", "3.6.15", "--only-binary=:all:", "--target", str(site(env))]
    for platform in ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"):
        options += ["--platform", platform]
    fetch(None, wheels, *options)  # which runs on no Python 3.6
    return at(env)


@case(
    "torch of the system, below an environment with transformers and an older sympy",
    "import torch",
    "import transformers",
    "import sympy; assert sympy.__version__ == '1.13.3'",
    python="3.11",
)
def _(place: Place) -> Odd:
    base = place.standalone("base")
    fetch(base, TORCH)
    env = place.above(base)
    fetch(env, f"{TRANSFORMERS} sympy==1.13.3", "--ignore-installed")
    return at(env)


@case(
    "distutils that setuptools brings along on Python 3.12",
    "import app, distutils.core",
    python="3.12",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "setuptools==80.9.0")
    place.install(env, module("app", "1.0", "from distutils.version import LooseVersion\n"))
    return at(env)


# --- faulty ---------------------------------------------------------------------------------------


@case(
    "a wheel for Python 3.9, forced in",
    "import regex",
    fails={"import regex": "_regex"},
    told=("error wheel-for-another-interpreter regex 2024.11.6",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    options = ["--python-version", "3.9", "--only-binary=:all:", "--target", str(site(env))]
    fetch(env, "regex==2024.11.6", *options)
    return at(env)


@case(
    "a wheel for 64-bit ARM, forced in",
    "import regex",
    fails={"import regex": "_regex"},
    told=("error wheel-for-another-interpreter regex 2024.11.6",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    options = ["--platform", "manylinux2014_aarch64", "--only-binary=:all:"]
    fetch(env, "regex==2024.11.6", *options, "--target", str(site(env)))
    return at(env)


@case(
    "the libraries beside numpy were deleted",
    "import numpy",
    fails={"import numpy": "numpy"},
    told=("error half-removed-distribution numpy 2.2.6",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "numpy==2.2.6")
    shutil.rmtree(site(env) / "numpy.libs")
    return at(env)


@case(
    "the sources of a new Pillow over the compiled modules of an old one",
    "from PIL import Image",
    fails={"from PIL import Image": "built for another version of Pillow"},
    told=("warning duplicate-distribution pillow 11.3.0",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "pillow==10.4.0")
    wheels = place.folder / "wheels"
    pip(env, "download", "--no-deps", "-d", str(wheels), "pillow==11.3.0")
    (path,) = wheels.iterdir()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith(".so"):
                archive.extract(name, str(site(env)))
    return at(env)


@case(
    "an old typing-extensions on PYTHONPATH, which pydantic cannot use",
    "import pydantic",
    fails={"import pydantic": "typing_extensions"},
    told=("warning user-site-shadows-env typing_extensions 4.15.0",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(
        env,
        "pydantic==2.11.9 pydantic-core==2.33.2 annotated-types==0.7.0 typing-inspection==0.4.1"
        " typing-extensions==4.15.0",
    )
    more = str(place.folder / "more")
    fetch(env, "typing-extensions==4.1.1", "--target", more)
    return at(env, PYTHONPATH=more)


@case(
    "pandas without what it requires",
    "import pandas",
    fails={"import pandas": "pytz"},
    told=("warning python-module-missing pandas 2.2.3",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "pandas==2.2.3 numpy==2.2.6 python-dateutil==2.9.0.post0 six==1.17.0 tzdata==2025.2")
    return at(env)


@case(
    "an old pandas of the system below an environment with numpy 2",
    "import pandas",
    fails={"import pandas": "numpy.dtype size changed"},
    told=("error numpy2-abi pandas 2.2.1",),
    python="3.11",
)
def _(place: Place) -> Odd:
    base = place.standalone("base")
    fetch(base, f"{PANDAS.replace('2.2.3', '2.2.1')} numpy==1.26.4")
    env = place.above(base)
    fetch(env, "numpy==2.2.6", "--ignore-installed")
    return at(env)


@case(
    "numba refuses the numpy",
    "import numba",
    fails={"import numba": "Numba needs NumPy"},
    told=("error numba-numpy-range numba 0.59.1",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "numba==0.59.1 llvmlite==0.42.0 numpy==2.1.3")
    return at(env)


@case(
    "generated code of before protobuf 4",
    "import tensorboardX",
    fails={"import tensorboardX": "Descriptors cannot"},
    told=("error protobuf-too-new tensorboardx 2.5.1",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "tensorboardX==2.5.1 protobuf==4.25.8 numpy==1.26.4 six==1.17.0")
    return at(env)


@case(
    "setuptools 82 has no pkg_resources",
    "import tensorboard.default",
    fails={"import tensorboard.default": "pkg_resources"},
    told=("warning pkg-resources-removed tensorboard 2.19.0",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(
        env,
        "tensorboard==2.19.0 setuptools==82.0.0 absl-py==2.3.1 grpcio==1.74.0 markdown==3.8.2"
        " numpy==2.2.6 packaging==25.0 protobuf==5.29.5 six==1.17.0"
        " tensorboard-data-server==0.7.2 werkzeug==3.1.3 markupsafe==3.0.2",
    )
    return at(env)


@case(
    "tokenizers on PYTHONPATH that transformers refuses",
    "import transformers",
    fails={"import transformers": "tokenizers"},
    told=("error user-site-shadows-env tokenizers 0.20.3",),
    python="3.11",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, TRANSFORMERS)
    more = str(place.folder / "more")
    fetch(env, "tokenizers==0.19.1", "--target", more)
    return at(env, PYTHONPATH=more)


@case(
    "fire 0.5 imports pipes, which Python 3.13 no longer has",
    "import fire",
    fails={"import fire": "pipes"},
    told=("warning standard-module-removed fire 0.5.0",),
    python="3.13",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "six==1.17.0 termcolor==2.5.0 setuptools==80.9.0 wheel==0.45.1")
    fetch(env, "fire==0.5.0", "--no-build-isolation")
    return at(env)


@case(
    "setuptools 58 needs distutils, which Python 3.12 no longer has",
    "import setuptools",
    fails={"import setuptools": "distutils"},
    told=("error py312-distutils-removed setuptools 58.1.0",),
    python="3.12",
)
def _(place: Place) -> Odd:
    env = place.venv()
    fetch(env, "setuptools==58.1.0")
    return at(env)


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.title)
def test_a_finding_appears_exactly_where_an_import_fails(made: Case, tmp_path: Path) -> None:
    python = find_interpreter(made.python)
    if python is None:
        pytest.skip(f"no Python {made.python} is installed")
    judge(made, Place(tmp_path, python))
