"""What pip makes of locks, with indexes on this machine that both have what is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List

import pytest
from lock_index import Served, served
from lock_stacks import member, resolution

from envdoctor.model.resolution import Artefact, Resolution
from envdoctor.resolver.lock.requirements import File, requirements

PIP = [sys.executable, "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("indexes")) as found:
        yield found


def stack(indexes: Served, *tree: Artefact, option: str = "--index-url") -> Resolution:
    """torch of its own index, and what requires it."""
    torch = member("torch==2.0.1+cu118", option, indexes.index("cu118"))
    return resolution(torch, member("det==2.0"), tree=tree)


def artefact(indexes: Served, index: str, name: str, version: str) -> Artefact:
    return Artefact(
        name,
        version,
        url=indexes.file(index, name, version),
        hashes={"sha256": indexes.sha256(index, name, version)},
        index=indexes.index(index) if index != "pypi" else "",
    )


def install(indexes: Served, files: List[File], folder: Path) -> subprocess.CompletedProcess[str]:
    """Install all files at once into a folder, PyPI being the first of the indexes."""
    folder.mkdir()
    options: List[str] = []
    for file in files:
        (folder / file.name).write_text(file.text, encoding="utf-8")
        options += ["-r", str(folder / file.name)]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environ.update(PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL=indexes.index("pypi"))
    return subprocess.run(
        [*PIP, "--target", str(folder / "site"), *options],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def installed(folder: Path) -> Dict[str, str]:
    """{distribution: its version and the index it came from}."""
    found = {}
    for info in (folder / "site").glob("*.dist-info"):
        name, _, version = info.name[: -len(".dist-info")].partition("-")
        said: Dict[str, str] = {}
        exec((folder / "site" / f"{name}.py").read_text(), said)  # a module of the test's own
        found[name] = f"{version} of {said['INDEX']}"
    return found


WANTED = {"torch": "2.0.1+cu118 of cu118", "det": "2.0 of pypi", "dep": "2.0 of pypi"}


@pytest.mark.parametrize("option", ["--index-url", "--extra-index-url"])
def test_nothing_else_comes_from_the_index_of_torch(
    option: str, indexes: Served, tmp_path: Path
) -> None:
    """It has a dep 9.0, newer than PyPI's, which no lock may bring in."""
    files = list(requirements(stack(indexes, option=option)))
    done = install(indexes, files, tmp_path / "env")
    assert done.returncode == 0, done.stderr
    assert installed(tmp_path / "env") == WANTED


def test_files_are_verified(indexes: Served, tmp_path: Path) -> None:
    tree = [
        artefact(indexes, "cu118", "torch", "2.0.1+cu118"),
        artefact(indexes, "pypi", "det", "2.0"),
        artefact(indexes, "pypi", "dep", "2.0"),
    ]
    (file,) = requirements(stack(indexes, *tree))
    done = install(indexes, [file], tmp_path / "env")
    assert done.returncode == 0, done.stderr
    assert installed(tmp_path / "env") == WANTED
    for number, one in enumerate(tree):
        digest = one.hashes["sha256"]
        other = file._replace(text=file.text.replace(digest, digest[1:] + digest[:1]))
        assert other != file
        done = install(indexes, [other], tmp_path / f"other{number}")
        assert done.returncode != 0
        assert "DO NOT MATCH THE HASHES" in done.stderr


def test_a_page_gives_no_other_build_of_what_pypi_has(indexes: Served, tmp_path: Path) -> None:
    """The page of torch lists torchaudio 0.9.1+cpu, too: newer than 0.9.1 for pip."""
    page = f"{indexes.index('cu118')}/torch.html"
    answer = resolution(member("torch==2.0.1+cu118", "-f", page), member("torchaudio==0.9.1"))
    tree = [
        artefact(indexes, "pypi", "torchaudio", "0.9.1"),
        artefact(indexes, "pypi", "dep", "1.0"),
    ]
    (file,) = requirements(resolution(*answer.stack, tree=tuple(tree)))
    done = install(indexes, [file], tmp_path / "env")
    assert done.returncode == 0, done.stderr
    assert installed(tmp_path / "env") == {
        "torch": "2.0.1+cu118 of cu118",
        "torchaudio": "0.9.1 of pypi",
        "dep": "1.0 of pypi",
    }


def test_a_version_that_both_have_comes_from_its_own_index(indexes: Served, tmp_path: Path) -> None:
    paddle = member("paddle==2.6.1", "-i", indexes.index("cu118"))
    first, second, _ = requirements(resolution(paddle, member("det==2.0")))
    assert install(indexes, [first], tmp_path / "first").returncode == 0
    assert installed(tmp_path / "first") == {"paddle": "2.6.1 of cu118"}
    assert "index-url" not in second.text
