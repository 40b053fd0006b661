"""Laws of what may import what."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Dict, Iterator, List, Set

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "envdoctor"

# A package imports from ranks below its own only.
RANKS = (
    ("model", "cache"),
    ("knowledge", "facts", "elf"),
    ("relations",),
    ("linking",),
    ("rules",),
    ("resolver",),
    ("diagnosis", "containers"),
    ("report", "actions"),
    ("commands",),
    ("__init__", "__main__"),
)
RANK = {name: rank for rank, names in enumerate(RANKS) for name in names}
# What `facts` may use beside the model and the standard library.
FACTS_MAY_USE = {"msgspec"}
# What the readers of requirement files may use as well, which no other check waits for.
REQUIREMENTS_MAY_USE = {"packaging", "tomli", "tomllib", "yaml"}
FILES_MAY_USE = {"tomli", "tomllib"}
# Scripts that a child runs: nothing but the standard library is there. Those of the second kind run
# on the examined interpreter or in an image, Python 3.6 or newer.
STAND_ALONE = ("facts/probe.py", "facts/driver_probe.py", "containers/apply_patches.py")
ON_PYTHON_3_6 = ("facts/probe.py", "containers/apply_patches.py")
# Packages of the examined environment, whose import costs seconds or crashes.
OF_THE_PATIENT = {
    "cv2",
    "flash_attn",
    "mmcv",
    "mmdet",
    "mmengine",
    "numpy",
    "paddle",
    "torch",
    "torchvision",
    "transformers",
}
SLOW = {"docker", "pip_api", "rich"}

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imported(module: str) -> Iterator[str]:
    """The modules that a module names in import statements anywhere in it, absolute."""
    package = module.rpartition(".")[0]
    for node in ast.walk(ast.parse(MODULES[module].read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parent = parts[: len(parts) - node.level + 1]
                base = ".".join([*parent, base] if base else parent)
            for alias in node.names:
                name = base + "." + alias.name
                # The version is the one thing that every module may take from the top.
                if name != "envdoctor.__version__":
                    yield name if name in MODULES or name + ".__init__" in MODULES else base


def own(module: str) -> Set[str]:
    """The modules of envdoctor that a module imports."""
    names = {name if name in MODULES else name + ".__init__" for name in imported(module)}
    return {name for name in names if name in MODULES}


def house(module: str) -> str:
    """The part of envdoctor that a module belongs to: "facts" for envdoctor.facts.probe."""
    return module.split(".")[1]


def test_every_part_has_a_rank() -> None:
    assert {house(module) for module in MODULES} <= set(RANK)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    importer = house(module)
    wrong = [
        name
        for name in own(module)
        if house(name) != importer and RANK[house(name)] >= RANK[importer]
    ]
    assert not wrong


def test_no_circle() -> None:
    done: List[str] = []
    path: List[str] = []

    def visit(module: str) -> None:
        assert module not in path, " > ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for name in sorted(own(module)):
            visit(name)
        done.append(path.pop())

    for module in MODULES:
        visit(module)


def is_standard(name: str) -> bool:
    """Whether a top-level module belongs to the standard library."""
    if name in sys.builtin_module_names:
        return True
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    paths = sysconfig.get_paths()
    inside = Path(spec.origin).parents
    return spec.origin == "frozen" or (
        any(Path(paths[key]) in inside for key in ("stdlib", "platstdlib"))
        and "site-packages" not in spec.origin
    )


def test_facts_use_the_standard_library() -> None:
    used = {
        (name.split(".")[0], module)
        for module in MODULES
        if house(module) == "facts"
        for name in imported(module)
    }
    foreign = {
        (name, module)
        for name, module in used
        if name != "envdoctor" and name not in FACTS_MAY_USE and not is_standard(name)
        if not (".requirements" in module and name in REQUIREMENTS_MAY_USE)
        if not (module == "envdoctor.facts.files" and name in FILES_MAY_USE)
    }
    assert not foreign


def alone(file: str) -> Set[str]:
    """What a script imports."""
    return set(imported("envdoctor." + file[: -len(".py")].replace("/", ".")))


@pytest.mark.parametrize("file", STAND_ALONE)
def test_what_a_child_runs_stands_alone(file: str) -> None:
    assert not {name for name in alone(file) if not is_standard(name.split(".")[0])}


@pytest.mark.parametrize("file", ON_PYTHON_3_6)
def test_what_other_interpreters_run_is_of_python_3_6(file: str) -> None:
    source = (PACKAGE / file).read_bytes()
    ast.parse(source, feature_version=(3, 6))
    # Annotations of the future came with 3.7.
    assert "__future__" not in alone(file)


@pytest.mark.parametrize("module", MODULES)
def test_nothing_of_the_patient_is_imported(module: str) -> None:
    assert not {name.split(".")[0] for name in imported(module)} & OF_THE_PATIENT


def loaded(arguments: List[str], environ: Dict[str, str]) -> Set[str]:
    """The modules that a Python process imports, by its own account."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        cwd=str(ROOT),
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    mark = "import time:"
    lines = done.stderr.splitlines()
    assert done.returncode in (0, 1), [line for line in lines if not line.startswith(mark)]
    if "json" in arguments:
        assert json.loads(done.stdout)["command"] == "check"
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith(mark)}


@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", "import envdoctor"],
        ["-m", "envdoctor", "check", "--format", "json", "--python", sys.executable],
    ],
    ids=["import envdoctor", "check --format json"],
)
def test_slow_modules_wait_until_they_are_used(arguments: List[str], tmp_path: Path) -> None:
    names = loaded(arguments, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert "envdoctor" in names
    assert not {name for name in names if name.split(".")[0] in SLOW}
