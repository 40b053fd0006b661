"""Locks of what PyPI serves, installed by pip and by uv into environments of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple

import msgspec
import pytest
from indexes.connection import Connection
from lock_index import Served, served
from lock_stacks import member, python, resolution

from envdoctor.model.names import canonical
from envdoctor.model.resolution import Artefact, Resolution
from envdoctor.resolver.lock.pylock import pylock
from envdoctor.resolver.lock.requirements import requirements
from envdoctor.resolver.lock.script import script

pytestmark = pytest.mark.real

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
WANTED = ("jinja2==3.1.4", "numpy", "docopt==0.6.2")  # the last has no wheel


class Tools(NamedTuple):
    uv: str
    folder: Path


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """A uv of PyPI."""
    folder = tmp_path_factory.mktemp("uv")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), "uv"]
    subprocess.run(pip, check=True, timeout=600)
    return Tools(str(folder / "bin" / "uv"), folder)


@pytest.fixture(scope="module")
def answer() -> Resolution:
    """What pip would take of these today, with the addresses and hashes of the files."""
    done = subprocess.run(
        [*PIP, "install", "--dry-run", "--ignore-installed", "-q", "--report", "-", *WANTED],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    tree = []
    for one in json.loads(done.stdout)["install"]:
        info, metadata = one["download_info"], one["metadata"]
        tree.append(
            Artefact(
                canonical(metadata["name"]),
                metadata["version"],
                url=info["url"],
                hashes=info["archive_info"]["hashes"],
                sdist=not info["url"].endswith(".whl"),
            )
        )
    members = [
        member(f"{one.package}=={one.version}") for one in tree if one.package != "markupsafe"
    ]
    return resolution(python(VERSION), *members, tree=tuple(tree))


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """An environment with pip alone, in which nothing is locked."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True, timeout=300)
    return tmp_path / "env"


def variables(tools: Tools, index: str = "") -> Dict[str, str]:
    """uv with the index that pip is configured for, or with another."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("UV_")}
    cache = str(tools.folder / "cache")
    return {**plain, "UV_DEFAULT_INDEX": index or Connection().index, "UV_CACHE_DIR": cache}


def install(
    command: List[str], file: Path, environ: Dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, "-r", str(file)],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def installed(env: Path) -> Dict[str, str]:
    """{distribution: version} of an environment, but for what makes it one."""
    done = subprocess.run(
        [*PIP, "--python", str(env / "bin/python"), "list", "--format", "json"],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    found = {canonical(one["name"]): one["version"] for one in json.loads(done.stdout)}
    return {name: version for name, version in found.items() if name not in ("pip", "setuptools")}


def locked(answer: Resolution) -> Dict[str, str]:
    return {one.package: one.version for one in answer.tree}


def commands(tools: Tools, env: Path) -> Dict[str, List[str]]:
    interpreter = str(env / "bin" / "python")
    return {
        "pip": [interpreter, "-m", "pip", "install", "--disable-pip-version-check"],
        "uv": [tools.uv, "pip", "install", "--python", interpreter],
    }


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_a_requirements_file(tool: str, tools: Tools, answer: Resolution, empty: Path) -> None:
    (file,) = requirements(answer)
    assert file.text.count("--hash=sha256:") == len(answer.tree)
    path = empty.parent / file.name
    path.write_text(file.text, encoding="utf-8")
    done = install(commands(tools, empty)[tool], path, variables(tools))
    assert done.returncode == 0, done.stderr
    assert installed(empty) == locked(answer)


def test_pylock(tools: Tools, answer: Resolution, empty: Path) -> None:
    path = empty.parent / "pylock.toml"
    path.write_text(pylock(answer), encoding="utf-8")
    done = install(commands(tools, empty)["uv"], path, variables(tools))
    assert done.returncode == 0, done.stderr
    assert installed(empty) == locked(answer)


@pytest.mark.parametrize("kind", ["requirements", "pylock"])
def test_another_file_is_refused(kind: str, tools: Tools, answer: Resolution, empty: Path) -> None:
    text = requirements(answer)[0].text if kind == "requirements" else pylock(answer)
    path = empty.parent / ("requirements.txt" if kind == "requirements" else "pylock.toml")
    digest = next(one for one in answer.tree if one.package == "jinja2").hashes["sha256"]
    path.write_text(text.replace(digest, digest[1:] + digest[:1]), encoding="utf-8")
    for tool, command in commands(tools, empty).items():
        if tool == "uv" or kind == "requirements":
            done = install(command, path, variables(tools))
            assert done.returncode != 0
            assert "hash" in done.stderr.lower()
    assert installed(empty) == {}


@pytest.mark.parametrize(("with_uv", "language"), [(True, "en"), (False, "zh")])
def test_the_script(
    with_uv: bool, language: str, tools: Tools, answer: Resolution, tmp_path: Path
) -> None:
    """It makes the environment, with or without uv, and `envdoctor check` has the last word."""
    said = msgspec.structs.replace(answer, language=language)
    (tmp_path / "install.sh").write_text(script(said), encoding="utf-8")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / f"python{VERSION}").symlink_to(sys.executable)
    (tmp_path / "bin" / "envdoctor").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m envdoctor "$@"\n', encoding="utf-8"
    )
    (tmp_path / "bin" / "envdoctor").chmod(0o755)
    if with_uv:
        (tmp_path / "bin" / "uv").symlink_to(tools.uv)
    done = subprocess.run(
        ["/bin/sh", "install.sh", "my env"],
        cwd=str(tmp_path),
        env={
            **variables(tools),
            "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
            "ENVDOCTOR_NO_CACHE": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert installed(tmp_path / "my env") == locked(answer)
    assert "docopt" in done.stdout


@pytest.fixture
def indexes(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "indexes") as found:
        yield found


def test_uv_keeps_indexes_apart_as_well(tools: Tools, indexes: Served, empty: Path) -> None:
    """The same of uv that the tests of `test_lock_installed.py` show of pip."""
    own = indexes.index("cu118")
    page = f"{own}/torch.html"
    of_index = resolution(member("torch==2.0.1+cu118", "-i", own), member("det==2.0"))
    of_page = resolution(member("torch==2.0.1+cu118", "-f", page), member("torchaudio==0.9.1"))
    known = Artefact(
        "torch",
        "2.0.1+cu118",
        url=indexes.file("cu118", "torch", "2.0.1+cu118"),
        hashes={"sha256": indexes.sha256("cu118", "torch", "2.0.1+cu118")},
        index=own,
    )
    rest = {
        "det": "2.0",
        "dep": "2.0",
    }
    of_file = msgspec.structs.replace(
        of_index,
        tree=(
            known,
            *(
                Artefact(name, version, hashes={"sha256": indexes.sha256("pypi", name, version)})
                for name, version in rest.items()
            ),
        ),
    )
    environ = variables(tools, indexes.index("pypi"))
    for number, (stack, other) in enumerate(
        [(of_index, rest), (of_file, rest), (of_page, {"torchaudio": "0.9.1", "dep": "2.0"})]
    ):
        env = empty.parent / f"env{number}"
        shutil.copytree(empty, env, symlinks=True)
        (file,) = requirements(stack)
        path = empty.parent / file.name
        path.write_text(file.text, encoding="utf-8")
        done = install(commands(tools, env)["uv"], path, environ)
        assert done.returncode == 0, done.stderr
        assert installed(env) == {"torch": "2.0.1+cu118", **other}
