"""Indexes and pages of wheels, and which of their files an installer would take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import List

import pytest
from packaging.tags import Tag
from packaging.version import Version
from serving import JSON, File, Page
from serving import Index as Served

from envdoctor.actions.index import File as Listed
from envdoctor.actions.index import Index, Platform, best, read_name
from envdoctor.actions.settings import Settings, of_pip
from envdoctor.actions.web import UnreachableError, Web

P38 = Platform("3.8", glibc="2.31")
SHA = "sha256=" + "a" * 64


def index_of(settings: Settings) -> Index:
    return Index(Web(settings), settings)


@pytest.fixture
def index(served: Served) -> Index:
    return index_of(of_pip())


def listed(names: List[str], **more: object) -> List[Listed]:
    found = [read_name(name) for name in names]
    return [file._replace(**more) for file in found if file is not None]  # type: ignore[arg-type]


@pytest.mark.parametrize("html", [False, True], ids=["PEP 691", "PEP 503"])
def test_a_project_on_an_index(served: Served, index: Index, html: bool) -> None:
    files = [
        File("Demo_x-1.0-py3-none-any.whl", requires_python=">=3.6,<4"),
        File("demo-x-1.1.tar.gz", yanked=True),
        File("demo_x-1.2-cp38-cp38-manylinux2014_x86_64.whl", metadata="a", beside=True),
        File("demo-readme.txt"),
        File("other-1.0-py3-none-any.whl"),
    ]
    served.project("demo-x", files, html)
    found = index.files("Demo.X")
    assert [(f.name, str(f.version), f.sdist, f.yanked) for f in found] == [
        ("Demo_x-1.0-py3-none-any.whl", "1.0", False, False),
        ("demo-x-1.1.tar.gz", "1.1", True, True),
        ("demo_x-1.2-cp38-cp38-manylinux2014_x86_64.whl", "1.2", False, False),
    ]
    assert found[0].requires_python == ">=3.6,<4"
    assert found[0].url == f"{served.url}/files/Demo_x-1.0-py3-none-any.whl"
    assert [f.metadata for f in found] == [False, False, True]
    assert [f.listed for f in found] == ["", "", ""]
    index.files("demo_x")
    assert served.paths().count("/simple/demo-x/") == 1  # each page is read once


def test_further_indexes_and_links_of_pip(served: Served, tmp_path: Path) -> None:
    served.project("demo", [File("demo-1.0-py3-none-any.whl")])
    served.pages["/more/demo/"] = Page(
        b'<a href="demo-2.0-py3-none-any.whl#' + SHA.encode() + b'">'
    )
    served.pages["/page.html"] = Page(b'<a href="/w/demo-3.0%2Bcu118-py3-none-any.whl">x</a>')
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "demo-4.0-py3-none-any.whl").write_bytes(b"")
    settings = of_pip()._replace(
        extra=(f"{served.url}/more",), links=(f"{served.url}/page.html", str(tmp_path / "wheels"))
    )
    found = index_of(settings).files("demo")
    assert [str(f.version) for f in found] == ["1.0", "2.0", "3.0+cu118", "4.0"]
    assert found[1].hashes == (("sha256", "a" * 64),)
    assert [f.listed for f in found][:3] == ["", f"{served.url}/more", f"{served.url}/page.html"]


def test_an_index_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "simple" / "demo"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text('<a href="../../files/demo-1.0.tar.gz">demo-1.0.tar.gz</a>')
    (found,) = index_of(Settings(default=f"file://{tmp_path}/simple")).files("demo")
    assert found.url == f"file://{tmp_path}/files/demo-1.0.tar.gz"
    assert index_of(Settings(default=f"file://{tmp_path}/simple")).files("none") == ()


def test_an_index_that_does_not_answer(served: Served) -> None:
    served.project("demo", [File("demo-1.0-py3-none-any.whl")])
    silent = of_pip()._replace(extra=("http://127.0.0.1:9/simple",))
    assert len(index_of(silent).files("demo")) == 1
    with pytest.raises(UnreachableError, match="refuses connections"):
        index_of(silent).files("nothing-here")
    assert index_of(Settings(no_index=True)).files("demo") == ()


def test_the_root_of_an_index_as_a_page(served: Served, index: Index) -> None:
    served.pages["/whl/cu118"] = Page(b'<a href="torch/">torch</a>')
    served.pages["/whl/cu118/torch/"] = Page(
        b'<a href="/f/torch-2.4.1%2Bcu118-cp38-cp38-linux_x86_64.whl#' + SHA.encode() + b'">t</a>'
    )
    (found,) = index.on_page(f"{served.url}/whl/cu118", "torch")
    assert str(found.version) == "2.4.1+cu118"
    assert found.hashes == (("sha256", "a" * 64),)
    assert index.on_page(f"{served.url}/none.html", "torch") == ()
    assert "/none.html/torch/" not in served.paths()


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b'{"files": 3}',
        b'{"files": {"a": 1}}',
        b"{" * 100_000,
        b'{"name": "demo"}',
    ],
)
def test_pages_that_are_none(served: Served, index: Index, content: bytes) -> None:
    served.pages["/simple/demo/"] = Page(content, JSON)
    with pytest.raises(UnreachableError, match="/simple/demo/: gave no readable answer"):
        index.files("demo")


def test_odd_entries_are_passed_over(served: Served, index: Index) -> None:
    entries = [
        3,
        {"filename": 3, "url": "x"},
        {"filename": "demo-x.whl", "url": "x"},
        {"filename": "demo-1.0-py3-none-any.whl"},
        {"filename": "demo-1-" + "9" * 400 + ".tar.gz", "url": "u"},
        {
            "filename": "demo-1.0.tar.gz",
            "url": "http://[bad",
            "hashes": {"sha256": "../etc", "md5": "00", 3: 4},
            "requires-python": 3,
        },
    ]
    served.pages["/simple/demo/"] = Page(json.dumps({"files": entries}).encode(), JSON)
    (found,) = index.files("demo")
    assert (found.url, found.hashes, found.requires_python) == ("", (), "")


def test_html_that_is_none(served: Served, index: Index) -> None:
    served.pages["/simple/demo/"] = Page(b"<a" * 10_000 + b"<![ \xff <a href='demo-1.tar.gz'>")
    assert all(file.package == "demo" for file in index.files("demo"))


# --- what fits --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "platform", "chosen"),
    [
        (
            ["a-1-cp38-cp38-manylinux1_x86_64.whl", "a-1-cp38-cp38-manylinux2014_x86_64.whl"],
            P38,
            "a-1-cp38-cp38-manylinux2014_x86_64.whl",
        ),
        (["a-1-cp38-cp38-manylinux_2_35_x86_64.whl"], P38, None),
        (
            ["a-1-cp38-cp38-manylinux_2_35_x86_64.whl"],
            Platform("3.8"),
            "a-1-cp38-cp38-manylinux_2_35_x86_64.whl",
        ),
        (["a-1-cp37-cp37m-linux_x86_64.whl"], Platform("3.7"), "a-1-cp37-cp37m-linux_x86_64.whl"),
        (["a-1-cp38-cp38-linux_x86_64.whl"], P38, "a-1-cp38-cp38-linux_x86_64.whl"),
        (["a-1-cp36-abi3-manylinux2010_x86_64.whl"], P38, "a-1-cp36-abi3-manylinux2010_x86_64.whl"),
        (["a-1-cp39-abi3-manylinux2010_x86_64.whl"], P38, None),
        (["a-1-py2.py3-none-any.whl", "a-1.tar.gz"], P38, "a-1-py2.py3-none-any.whl"),
        (["a-1-py2-none-any.whl", "a-1-cp38-cp38-win_amd64.whl", "a-1.tar.gz"], P38, None),
        (["a-1-0-py3-none-any.whl", "a-1-1-py3-none-any.whl"], P38, "a-1-1-py3-none-any.whl"),
        (
            [
                "a-1-cp310-cp310-manylinux_2_28_aarch64.whl",
                "a-1-cp310-cp310-manylinux_2_28_x86_64.whl",
            ],
            Platform("3.10", "aarch64", "2.35"),
            "a-1-cp310-cp310-manylinux_2_28_aarch64.whl",
        ),
    ],
)
def test_the_wheel_that_is_taken(names: List[str], platform: Platform, chosen: str) -> None:
    found = best(listed(names), platform)
    assert (found.name if found else None) == chosen


def test_requires_python_of_an_index_is_heeded() -> None:
    name = "a-1-py3-none-any.whl"
    assert best(listed([name], requires_python=">=3.9"), P38) is None
    assert best(listed([name], requires_python=">=3.8.1"), P38) is not None
    assert best(listed([name], requires_python="no range"), P38) is not None


def test_the_platform() -> None:
    assert P38.series == (3, 8)
    assert (P38.full, Platform("3.8.18").full) == ("3.8.10", "3.8.18")
    assert P38.names()[0] == "manylinux_2_31_x86_64"
    assert {"manylinux2014_x86_64", "manylinux1_x86_64", "linux_x86_64"} <= set(P38.names())
    assert Platform("3.8", "aarch64", "2.17").names() == [
        "manylinux_2_17_aarch64",
        "manylinux2014_aarch64",
        "linux_aarch64",
    ]
    assert Tag("cp38", "abi3", "manylinux_2_31_x86_64") in P38.tags()


def test_names() -> None:
    file = read_name("torch-1.9.1+cu111-1-cp38-cp38-linux_x86_64.whl")
    assert file is not None
    assert (file.package, file.version, file.build) == ("torch", Version("1.9.1+cu111"), (1, ""))
    assert read_name("a-1.0.tar.bz2") is not None
    for name in ("", "x.whl", "a-b-c.whl", "readme.md", "a-1" + "0" * 5000 + ".tar.gz"):
        assert read_name(name) is None
