"""conda's, projects' and lock files: the same record of all of them."""

from __future__ import annotations

from pathlib import Path
from typing import List, Tuple

import pytest

from envdoctor.facts.requirements import RequirementsError, read
from envdoctor.facts.requirements.conda import cuda_of
from envdoctor.facts.requirements.project import poetry_specifier
from envdoctor.model.facts import Asked, CondaPackage, Target


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> List[str]:
    Path(name).write_text(text, encoding="utf-8")
    return [name]


def versions(target: Target) -> List[Tuple[str, str, str]]:
    return [(d.name, d.version or d.specifier, d.path) for d in target.distributions]


def files(target: Target) -> Asked:
    assert target.asked is not None
    return target.asked


ENVIRONMENT = """\
name: maptr
channels: [pytorch, nvidia]
dependencies:
  - python=3.8.16=h7a1cb2a_3
  - pytorch=2.0.1=py3.8_cuda11.8_cudnn8.7.0_0
  - pytorch-cuda=11.8
  - cudatoolkit=11.1
  - conda-forge::numpy>=1.21,<1.24
  - scipy 1.10.*
  - pip
  - mkl =2024.0
  - pip:
      - -f https://host/page.html
      - mmcv-full==1.7.1   # why
      - mmdet
"""


def test_environment_yml() -> None:
    target = read(write("environment.yml", ENVIRONMENT))
    assert target.version == "3.8.16"
    assert files(target).python_origin == "environment.yml:4"
    assert versions(target) == [
        ("torch", "2.0.1", "environment.yml:5"),
        ("pytorch-cuda", "==11.8.*", "environment.yml:6"),
        ("cudatoolkit", "==11.1.*", "environment.yml:7"),
        ("numpy", ">=1.21,<1.24", "environment.yml:8"),
        ("scipy", "==1.10.*", "environment.yml:9"),
        ("pip", "", "environment.yml:10"),
        ("mkl", "==2024.0.*", "environment.yml:11"),
        ("mmcv-full", "1.7.1", "environment.yml:14"),
        ("mmdet", "", "environment.yml:15"),
    ]
    by_name = {d.name: d for d in target.distributions}
    assert by_name["torch"].installer == "conda"
    assert by_name["torch"].built == "2.0.1+cu118"
    assert by_name["mmcv-full"].installer == "pip"
    assert CondaPackage("mkl", "2024.0") in target.conda
    assert (
        CondaPackage("pytorch", "2.0.1", "py3.8_cuda11.8_cudnn8.7.0_0", "pytorch") in target.conda
    )
    assert CondaPackage("numpy", "", "", "conda-forge") in target.conda
    assert files(target).indexes == ("https://host/page.html",)
    assert target.problems == ()


@pytest.mark.parametrize(
    ("spec", "specifier"),
    [
        ("numpy", ""),
        ("numpy=1.24", "==1.24.*"),
        ("numpy=1.24.3", "==1.24.3"),
        ("numpy==1.24", "==1.24"),
        ("numpy==1.24=py38_0", "==1.24"),
        ("numpy=1.24.3=py38_0", "==1.24.3"),
        ("numpy 1.24.3 py38_0", "==1.24.3"),
        ("numpy 1.24.*", "==1.24.*"),
        ("numpy=1.24.*", "==1.24.*"),
        ("numpy >=1.20, <2", ">=1.20,<2"),
        ("numpy>=1.20,!=1.24.0", ">=1.20,!=1.24.0"),
        ("numpy=*=py38_0", ""),
        ("numpy[version='>=1']", ""),
        ("pkgs/main/linux-64::numpy=1.24", "==1.24.*"),
    ],
)
def test_conda_s_specifications(spec: str, specifier: str) -> None:
    target = read(write("env.yaml", f'dependencies:\n- "{spec}"\n'))
    assert [(d.name, d.specifier) for d in target.distributions] == [("numpy", specifier)]
    assert target.problems == ()


@pytest.mark.parametrize("spec", ["numpy=1.20|1.21", "numpy=1.2.x_y", "?", "numpy >=a b c"])
def test_what_is_not_understood_is_said(spec: str) -> None:
    target = read(write("env.yaml", f'dependencies:\n- "{spec}"\n'))
    assert target.problems == (f"env.yaml:2: not understood: {spec}",)
    assert all(not d.version and not d.specifier for d in target.distributions)


def test_cuda_of_build_strings() -> None:
    assert cuda_of("py3.8_cuda11.8_cudnn8.7.0_0") == "11.8"
    assert cuda_of("py38_torch_2.0.0_cu118") == "11.8"
    assert cuda_of("py3.8_cpu_0") == "cpu"
    assert cuda_of("h7a1cb2a_3") == ""


PROJECT = """\
[project]
name = "x"
requires-python = ">=3.8,<3.9"
dependencies = [
  "torch==2.2.2",
  'numpy ; python_version >= "3.8"',
  "tomli; python_version < '3.11'",
]
[project.optional-dependencies]
dev = ["pytest"]
"""


def test_pyproject() -> None:
    target = read(write("pyproject.toml", PROJECT))
    assert (target.version, files(target).python_origin) == ("3.8", "pyproject.toml:3")
    assert versions(target) == [
        ("torch", "2.2.2", "pyproject.toml:5"),
        ("numpy", "", "pyproject.toml:6"),
        ("tomli", "", "pyproject.toml:7"),
    ]
    assert target.problems == ("pyproject.toml: extras were left out: dev",)


def test_a_range_of_pythons_stays_open() -> None:
    text = '[project]\nrequires-python = ">=3.9"\ndependencies = ["numpy"]\n'
    target = read(write("pyproject.toml", text))
    assert (target.version, files(target).python) == ("", ">=3.9")
    assert read(write("pyproject.toml", text), "3.10").version == "3.10"


POETRY = """\
[tool.poetry]
name = "x"
[tool.poetry.dependencies]
python = "~3.8"
torch = "2.2.2"
numpy = "^1.21"
scipy = {version = "~1.10", markers = "sys_platform == 'linux'"}
pandas = {version = ">=1.5", optional = true}
mmdet = {git = "https://u:p@github.com/a/mmdetection.git", rev = "main"}
shapely = [
  {version = "<2", python = "<3.9"},
  {version = ">=2", python = ">=3.9"},
]
[[tool.poetry.source]]
name = "torch"
url = "https://host/whl/cu118"
"""


@pytest.mark.parametrize(
    "text",
    [
        '[[tool.uv.index]]\nname = "torch"\nurl = "https://u:p@host/whl/cu118"\nexplicit = true\n',
        '[tool.uv]\nextra-index-url = ["https://host/whl/cu118"]\n',
        '[tool.uv.pip]\nfind-links = "https://host/whl/cu118"\n',
    ],
)
def test_indexes_of_uv(text: str) -> None:
    target = read(write("pyproject.toml", f"[project]\ndependencies = []\nname = 'x'\n{text}"))
    assert files(target).indexes == ("https://host/whl/cu118",)


def test_poetry() -> None:
    target = read(write("pyproject.toml", POETRY))
    assert target.version == "3.8"
    assert versions(target) == [
        ("torch", "2.2.2", "pyproject.toml:5"),
        ("numpy", ">=1.21,<2", "pyproject.toml:6"),
        ("scipy", ">=1.10,<1.11", "pyproject.toml:7"),
        ("mmdet", "", "pyproject.toml:9"),
        ("shapely", "<2", "pyproject.toml:10"),
    ]
    assert {d.name: d.direct_url for d in target.distributions}["mmdet"] == (
        "git+https://github.com/a/mmdetection.git"
    )
    assert files(target).indexes == ("https://host/whl/cu118",)
    assert target.problems == ()


@pytest.mark.parametrize(
    ("text", "specifier"),
    [
        ("*", ""),
        ("1.2.3", "==1.2.3"),
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        (">=1.2, <2", ">=1.2,<2"),
        (">= 1.2 < 2", ">=1.2,<2"),
        ("!=1.3", "!=1.3"),
        ("=1.3", "==1.3"),
        ("^1.2 || ^2.0", None),
    ],
)
def test_poetry_s_constraints(text: str, specifier: str) -> None:
    assert poetry_specifier(text) == specifier


UV = """\
version = 1
requires-python = ">=3.10"

[[package]]
name = "mine"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "torch" }]

[[package]]
name = "numpy"
version = "2.2.6"
source = { registry = "https://mirror/simple" }
resolution-markers = ["python_full_version < '3.11'"]

[[package]]
name = "numpy"
version = "2.4.0"
source = { registry = "https://mirror/simple" }
resolution-markers = ["python_full_version >= '3.11'"]

[[package]]
name = "torch"
version = "2.2.2+cu118"
source = { registry = "https://download.pytorch.org/whl/cu118" }
"""


def test_uv_lock() -> None:
    target = read(write("uv.lock", UV), "3.12")
    assert versions(target) == [
        ("numpy", "2.4.0", "uv.lock:17"),
        ("torch", "2.2.2+cu118", "uv.lock:23"),
    ]
    assert files(target).complete
    assert files(target).indexes[-1] == "https://download.pytorch.org/whl/cu118"
    assert all(line.locked for line in files(target).lines)
    assert versions(read(["uv.lock"], "3.10"))[0] == ("numpy", "2.2.6", "uv.lock:11")


POETRY_LOCK = """\
[[package]]
name = "numpy"
version = "1.26.4"
optional = false
python-versions = ">=3.9"

[[package]]
name = "pytest"
version = "8.0.0"
optional = false
groups = ["dev"]

[[package]]
name = "colorama"
version = "0.4.6"
optional = false
markers = "sys_platform == 'win32'"

[metadata]
python-versions = "~3.10"
"""


def test_poetry_lock() -> None:
    target = read(write("poetry.lock", POETRY_LOCK))
    assert target.version == "3.10"
    assert versions(target) == [("numpy", "1.26.4", "poetry.lock:2")]


PIPFILE = """\
{
    "_meta": {
        "requires": {"python_version": "3.8"},
        "sources": [{"name": "pypi", "url": "https://u:p@mirror/simple", "verify_ssl": true}]
    },
    "default": {
        "numpy": {
            "hashes": [],
            "version": "==1.23.5"
        },
        "torch": {
            "version": "==2.2.2",
            "markers": "python_full_version >= '3.8.0'"
        }
    },
    "develop": {
        "pytest": {
            "version": "==8.0.0"
        }
    }
}
"""


def test_pipfile_lock() -> None:
    target = read(write("Pipfile.lock", PIPFILE))
    assert target.version == "3.8"
    assert versions(target) == [
        ("numpy", "1.23.5", "Pipfile.lock:7"),
        ("torch", "2.2.2", "Pipfile.lock:11"),
    ]
    assert files(target).indexes == ("https://mirror/simple",)


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("environment.yml", "a: [\n", "environment.yml:2: is no YAML: "),
        ("environment.yml", "name: x\n", "environment.yml:1: is no environment file of conda"),
        ("environment.yml", "[" * 9000, "environment.yml:1: is no YAML: it is nested too deeply"),
        ("pyproject.toml", "a = \n", "pyproject.toml:1: is no TOML: Invalid value"),
        ("pyproject.toml", "a = 1\n", "pyproject.toml:1: has neither [project] nor [tool.poetry]"),
        ("pyproject.toml", "a = " + "[" * 9000, "pyproject.toml:1: is no TOML: "),
        (
            "pyproject.toml",
            '[project]\ndependencies = [\n "numpy=1"]\n',
            "pyproject.toml:3: 'numpy=1' is no requirement: ",
        ),
        ("uv.lock", "version = 1\n", "uv.lock:1: is no lock file: it has no [[package]]"),
        ("uv.lock", '[[package]]\nname = "a b"\n', "uv.lock:1: 'a b' is no name of a package"),
        (
            "poetry.lock",
            "[[package]]\nversion = 1\n",
            "poetry.lock:1: 'None' is no name of a package",
        ),
        ("Pipfile.lock", "{\n]", "Pipfile.lock:2: is no JSON: "),
        ("Pipfile.lock", "[" * 90000, "Pipfile.lock:1: is no JSON: "),
        ("Pipfile.lock", "[]", 'Pipfile.lock:1: is no Pipfile.lock: it has no section "default"'),
    ],
)
def test_what_cannot_be_read_is_one_line(name: str, text: str, error: str) -> None:
    with pytest.raises(RequirementsError) as caught:
        read(write(name, text))
    assert str(caught.value).startswith(error)
    assert "\n" not in str(caught.value)
