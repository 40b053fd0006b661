"""`pylock.toml`, by its specification: https://packaging.python.org/specifications/pylock-toml/."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

import msgspec
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from lock_stacks import (
    CU118,
    FLASH_ATTENTION,
    MAPTR,
    MAPTR_OFFLINE,
    PYPI,
    given,
    member,
    python,
    resolution,
    sdist,
    wheel,
)
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag
from packaging.utils import parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from envdoctor.model.resolution import Resolution
from envdoctor.resolver.lock.pylock import FILE_NAME, is_file_name, pylock
from envdoctor.resolver.lock.written import LockError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GOLDEN = Path(__file__).resolve().parent / "golden"

#: torch of its own index beside what PyPI has, one of it sources; every file was seen.
MIXED = resolution(
    given("image", "nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04"),
    python("3.10.12"),
    member("torch==2.1.2+cu118", "--index-url", CU118),
    member("mmengine==0.10.4"),
    tree=(
        wheel(
            "torch",
            "2.1.2+cu118",
            "cp310-cp310-linux_x86_64",
            url=f"{CU118}/torch-2.1.2%2Bcu118-cp310-cp310-linux_x86_64.whl",
        ),
        wheel("mmengine", "0.10.4"),
        sdist("antlr4-python3-runtime", "4.9.3"),
    ),
)


def read(text: str) -> Dict[str, Any]:
    return tomllib.loads(text)


def faults(lock: Dict[str, Any]) -> List[str]:
    """What of a lock is against the specification: keys, types, what cannot stand together."""
    found: List[str] = []

    def need(table: Dict[str, Any], key: str, kind: type, where: str) -> Any:
        if not isinstance(table.get(key), kind):
            found.append(f"{where}{key}")
            return kind()
        return table[key]

    if need(lock, "lock-version", str, "") != "1.0":
        found.append("lock-version")
    need(lock, "created-by", str, "")
    for marker in lock.get("environments", []):
        Marker(marker)
    SpecifierSet(lock.get("requires-python", ""))
    names = []
    for package in need(lock, "packages", list, ""):
        name = need(package, "name", str, "packages.")
        if re.sub(r"[-_.]+", "-", name).lower() != name:
            found.append(f"{name} is not normalized")
        names.append(name)
        version = Version(package["version"])
        direct = [key for key in ("vcs", "directory", "archive") if key in package]
        files = [key for key in ("sdist", "wheels") if key in package]
        if len(direct) > 1 or bool(direct) == bool(files):
            found.append(f"{name}: {direct}, {files}")
        for file in [
            *package.get("wheels", []),
            *([package["sdist"]] if "sdist" in package else []),
        ]:
            if not file.get("url") and not file.get("path"):
                found.append(f"{name}: neither url nor path")
            hashes = need(file, "hashes", dict, f"{name}.")
            if not hashes or not all(isinstance(value, str) for value in hashes.values()):
                found.append(f"{name}: hashes")
            parse = parse_wheel_filename if file["name"].endswith(".whl") else parse_sdist_filename
            if parse(file["name"])[:2] != (name, version):
                found.append(f"{name}: {file['name']}")
    # Without markers, a package that stands twice could not be chosen.
    found += [name for name in set(names) if names.count(name) > 1]
    return found


@pytest.mark.parametrize(("name", "answer"), [("pypi", PYPI), ("mixed", MIXED)])
def test_the_file(name: str, answer: Resolution, golden: Callable[[Path, str], None]) -> None:
    text = pylock(answer)
    golden(GOLDEN / f"pylock.{name}.toml", text)
    assert faults(read(text)) == []


@pytest.mark.parametrize("answer", [PYPI, MIXED])
def test_the_validator_sees_faults(answer: Resolution) -> None:
    for key in ("lock-version", "created-by", "packages"):
        lock = read(pylock(answer))
        del lock[key]
        assert faults(lock)
    for key in ("name", "wheels"):
        lock = read(pylock(answer))
        del lock["packages"][-1][key]
        assert faults(lock)
    for key in ("url", "hashes"):
        lock = read(pylock(answer))
        del lock["packages"][-1]["wheels"][0][key]
        assert faults(lock)


def test_packaging_reads_it() -> None:
    """As installers do: what is chosen for an interpreter, and that no other may have it."""
    reader = pytest.importorskip("packaging.pylock", reason="packaging reads locks from 26.0 on")
    lock = reader.Pylock.from_dict(read(pylock(MIXED)))
    lock.validate()
    machine = {
        "implementation_name": "cpython",
        "implementation_version": "3.10.12",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": "3.10.12",
        "python_version": "3.10",
        "sys_platform": "linux",
    }
    tags = [Tag("cp310", "cp310", "linux_x86_64"), Tag("py3", "none", "any")]
    if not hasattr(lock, "select"):
        return
    taken = [file.url for _, file in lock.select(environment=machine, tags=tags)]
    assert taken == [artefact.url for artefact in sorted(MIXED.tree, key=lambda one: one.package)]
    for other in ({"platform_machine": "aarch64"}, {"python_version": "3.11"}):
        with pytest.raises(reader.PylockSelectError):
            list(lock.select(environment={**machine, **other}, tags=tags))


def test_processors_are_named_where_a_wheel_is_for_one() -> None:
    (marker,) = read(pylock(PYPI))["environments"]
    assert "platform_machine == 'x86_64'" in marker
    anywhere = resolution(member("einops==0.8.0"), tree=(wheel("einops", "0.8.0"),))
    assert read(pylock(anywhere))["environments"] == ["sys_platform == 'linux'"]
    arm = resolution(
        member("numpy==1.26.4"),
        tree=(
            wheel("numpy", "1.26.4", "cp310-cp310-manylinux_2_17_aarch64.manylinux2014_aarch64"),
        ),
    )
    (marker,) = read(pylock(arm))["environments"]
    assert "platform_machine == 'aarch64'" in marker


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            MAPTR,
            "pylock.toml cannot say how mmdet3d 0.17.2 is built: after what it is compiled against,"
            " and in the same environment. --lock requirements and --lock script can",
        ),
        (
            FLASH_ATTENTION,
            "pylock.toml cannot say how flash-attn 2.5.6 is built: after what it is compiled"
            " against, and in the same environment. --lock requirements and --lock script can",
        ),
        (
            msgspec.structs.replace(MAPTR_OFFLINE, stack=MAPTR_OFFLINE.stack[:-1]),
            "pylock.toml needs the file and the hash of every distribution, and no index was asked"
            " for them: allow the network, or use --lock requirements",
        ),
        (
            msgspec.structs.replace(MAPTR, stack=MAPTR.stack[:-1]),
            "pylock.toml needs the file and the hash of every distribution, and none is known of"
            " mmcv-full 1.4.0, torch 1.9.1+cu111, torchvision 0.10.1+cu111: its index was not asked"
            " or gave none. --lock requirements does without",
        ),
        (
            msgspec.structs.replace(PYPI, rest=("-e ./tools",)),
            "pylock.toml cannot hold ./tools, whose dependencies no index states: --lock"
            " requirements and --lock script can",
        ),
    ],
)
def test_what_it_cannot_say_is_refused(answer: Resolution, reason: str) -> None:
    with pytest.raises(LockError) as caught:
        pylock(answer)
    assert str(caught.value) == reason


def test_files_of_this_machine_are_named_by_their_path() -> None:
    for url in (
        "file:///wheels/my%20own/einops-0.8.0-py3-none-any.whl",
        "/wheels/my own/einops-0.8.0-py3-none-any.whl",  # as installers' own locks have it
    ):
        answer = resolution(member("einops==0.8.0"), tree=(wheel("einops", "0.8.0", url=url),))
        lock = read(pylock(answer))
        assert faults(lock) == []
        (file,) = lock["packages"][0]["wheels"]
        assert file["name"] == "einops-0.8.0-py3-none-any.whl"
        assert file["path"] == "/wheels/my own/einops-0.8.0-py3-none-any.whl"
        assert "url" not in file


def test_many_unknown_ones_are_counted() -> None:
    tree = tuple(wheel(f"a{n}", "1.0", hashes={}) for n in range(8))
    with pytest.raises(LockError, match=r"known of a0 1\.0, .*, a4 1\.0 and 3 more: "):
        pylock(resolution(member("a0==1.0"), tree=tree))


@for_all(st.lists(st.text(max_size=8), max_size=3))
def test_any_words_of_the_question(words: List[str]) -> None:
    """They come back as they are, but for what no TOML can hold."""
    asked = tuple(words)
    lock = read(pylock(msgspec.structs.replace(PYPI, asked=asked, machine=())))
    assert tuple(lock["tool"]["envdoctor"]["asked"]) == asked


def test_names_that_installers_look_for() -> None:
    names = [FILE_NAME, "pylock.maptr.toml", "pylock.a.b.toml", "lock.toml", "pylock..toml"]
    assert [is_file_name(name) for name in names] == [True, True, False, False, False]


def test_the_order_of_the_tree_does_not_matter() -> None:
    other = msgspec.structs.replace(MIXED, tree=tuple(reversed(MIXED.tree)))
    assert pylock(other) == pylock(MIXED)
