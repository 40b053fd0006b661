"""What distributions require, read without installing, building or executing them."""

from __future__ import annotations

import io
import tarfile
import zipfile
from typing import Dict, Optional, Tuple

import pytest
from serving import File, Page
from serving import Index as Served

from envdoctor.actions.index import Index
from envdoctor.actions.metadata import Stated, stated
from envdoctor.actions.settings import of_pip
from envdoctor.actions.web import UnreachableError, Web

OLD = "Metadata-Version: 1.1\nName: demo\nVersion: 1.0\n"


@pytest.fixture
def index(served: Served) -> Index:
    settings = of_pip()
    return Index(Web(settings), settings)


def told(index: Index) -> Optional[Stated]:
    (file,) = index.files("demo")
    return stated(index.web, file)


def test_metadata_beside_a_wheel(served: Served, index: Index) -> None:
    name = "demo-1.0-py3-none-any.whl"
    served.project("demo", [File(name, metadata="a>=1\nb; extra == 'x'", beside=True)])
    assert told(index) == Stated(("a>=1", 'b; extra == "x"'))
    assert f"/files/{name}" not in served.paths()


def test_a_wheel_is_read_in_parts(served: Served, index: Index) -> None:
    served.project(
        "demo", [File("demo-1.0-py3-none-any.whl", metadata="a>=1\nnot a requirement !")]
    )
    served.asked.clear()
    assert told(index) == Stated(("a>=1",))
    asked = [headers for path, headers in served.asked if path.endswith(".whl")]
    assert asked
    assert all("Range" in headers for headers in asked[1:])


def test_a_wheel_on_this_machine(served: Served, index: Index, tmp_path) -> None:
    served.project("demo", [File("demo-1.0-py3-none-any.whl", metadata="a")])
    wheel = tmp_path / "demo-1.0-py3-none-any.whl"
    wheel.write_bytes(served.pages[f"/files/{wheel.name}"].content)
    (file,) = index.files("demo")
    assert stated(index.web, file._replace(url=f"file://{wheel}")) == Stated(("a",))


def sources(served: Served, files: Dict[str, str], zipped: bool = False) -> None:
    packed = io.BytesIO()
    if zipped:
        with zipfile.ZipFile(packed, "w") as archive:
            for path, text in files.items():
                archive.writestr(f"demo-1.0/{path}", text)
    else:
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for path, text in files.items():
                info = tarfile.TarInfo(f"demo-1.0/{path}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
    name = "demo-1.0.zip" if zipped else "demo-1.0.tar.gz"
    served.project("demo", [File(name)])
    served.pages[f"/files/{name}"] = Page(packed.getvalue(), "application/octet-stream")


REQUIRES = """\
numpy>=1.16
six ; python_version < "3"

[:sys_platform == "linux"]
pycocotools

[all]
scipy[fast]>=1

[all:python_version < "3.9"]
typing ; os_name == "posix"

[:broken marker]
nothing
"""


@pytest.mark.parametrize("zipped", [False, True], ids=["tar", "zip"])
def test_what_setuptools_wrote_into_sources(served: Served, index: Index, zipped: bool) -> None:
    files = {
        "PKG-INFO": OLD,
        "src/demo.egg-info/requires.txt": REQUIRES,
        "setup.py": "import torch",
    }
    sources(served, files, zipped)
    assert told(index) == Stated(
        (
            "numpy>=1.16",
            'six; python_version < "3"',
            'pycocotools; sys_platform == "linux"',
            'scipy[fast]>=1; extra == "all"',
            'typing; python_version < "3.9" and extra == "all" and os_name == "posix"',
        )
    )


NEW = "Metadata-Version: 2.2\nName: demo\nVersion: 1.0\nRequires-Python: >=3.6\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"PKG-INFO": NEW + "Requires-Dist: a\n"}, Stated(("a",), ">=3.6")),
        ({"PKG-INFO": NEW}, Stated((), ">=3.6")),
        ({"PKG-INFO": NEW + "Dynamic: Requires-Dist\n"}, Stated((), ">=3.6", whole=False)),
        ({"PKG-INFO": OLD}, Stated((), whole=False)),
        ({"PKG-INFO": OLD + "Requires-Dist: a\n"}, Stated(("a",))),
        ({"PKG-INFO": OLD, "demo.egg-info/requires.txt": ""}, Stated(())),
        ({"setup.py": ""}, None),
        ({"deep/er/PKG-INFO": OLD}, None),
    ],
)
def test_what_sources_state(
    served: Served, index: Index, files: Dict[str, str], expected: Optional[Stated]
) -> None:
    sources(served, files)
    assert told(index) == expected


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b" + b"\0" * 100])
@pytest.mark.parametrize("name", ["demo-1.0.tar.gz", "demo-1.0.zip", "demo-1.0-py3-none-any.whl"])
def test_archives_that_are_none(served: Served, index: Index, name: str, content: bytes) -> None:
    served.project("demo", [File(name)])
    served.pages[f"/files/{name}"] = Page(content, "application/octet-stream")
    with pytest.raises(UnreachableError, match=f"/files/{name}: "):
        told(index)


def test_files_that_are_listed_and_not_there(served: Served, index: Index) -> None:
    for name in ("demo-1.0.tar.gz", "demo-1.0-py3-none-any.whl"):
        served.project("demo", [File(name)])
        settings = of_pip()
        with pytest.raises(UnreachableError, match="is not there"):
            told(Index(Web(settings), settings))


def test_no_wheel_without_metadata(served: Served, index: Index) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("demo/__init__.py", "")
        archive.writestr("demo/x.dist-info/METADATA", "Requires-Dist: wrong")
    name = "demo-1.0-py3-none-any.whl"
    served.project("demo", [File(name)])
    served.pages[f"/files/{name}"] = Page(packed.getvalue(), "application/zip")
    assert told(index) is None


def test_more_requirements_than_anybody_has(served: Served, index: Index) -> None:
    lines = "".join(f"Requires-Dist: p{n}\n" for n in range(5000))
    sources(served, {"PKG-INFO": NEW + lines})
    found = told(index)
    assert found is not None
    assert len(found.requires) == 2000
    assert isinstance(found.requires, Tuple)  # type: ignore[arg-type]
