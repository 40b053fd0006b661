"""The whole program against an index on this machine: what it writes, and what it leaves alone."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

import msgspec
import pytest
from indexes.__main__ import main
from indexes.block import MARK
from serving import JSON, File, Index, Page

from envdoctor.knowledge.load import load

ROOT = Path(__file__).resolve().parent.parent.parent

DEMO = """\
# By hand:   odd   spacing, an anchor, a comment at the end
package: demo
checked: 2026-01-01
index: {from: "1.0",   prereleases: ">=2.0rc1", asks: [numpy]}
variant: {origin: string, python: strings, manylinux: version}
builds:
- id: demo/wheels
  pypi: x86_64
  set:   &wheel   {origin: wheel}  # as it is
- {id: demo/any, pypi: any, set: *wheel}
- {id: demo/source, pypi: sdist, set: {origin: source}}

# the end
"""

OTHER = """\
package: other
checked: 2026-01-01
index: {from: 0.1}
variant: {python: strings}
builds: [{id: other/wheels, pypi: any}]
"""

LINUX = "manylinux_2_17_x86_64.manylinux2014_x86_64"
FILES = [
    File("demo-0.9.tar.gz"),  # older than what is kept
    File("demo-1.0.tar.gz", ">=3.6"),
    File(f"demo-1.0-cp38-cp38-{LINUX}.whl", ">=3.6", metadata="numpy (<2)"),
    File(f"demo-1.0-cp39-cp39-{LINUX}.whl", ">=3.6", metadata="numpy<2"),
    File("demo-1.0-cp39-cp39-win_amd64.whl", ">=3.6", metadata="numpy<1"),
    File("demo-1.1.tar.gz", ">=3.6", yanked=True),
    File(f"demo-1.1-cp38-cp38-{LINUX}.whl", ">=3.6", yanked=True, metadata="numpy<2"),
    File(f"demo-1.1-cp39-cp39-{LINUX}.whl", ">=3.6", yanked=True, metadata="numpy<2"),
    File("demo-2.0b1.tar.gz", ">=3.8"),  # a pre-release that is not kept
    File("demo-2.0rc1.tar.gz", ">=3.8"),
    File("demo-2.0.tar.gz", ">=3.8"),
    File("demo-2.0-py3-none-any.whl", ">=3.8", metadata="NumPy>=1.20; python_version>='3.8'"),
    File("demo-unknown.zip"),
]

WRITTEN = """\
pypi:
  checked: TODAY
  releases: [1.0, 1.1, 2.0rc1, 2.0]
  yanked: [1.1]
  requires_python:
    ">=1.0,<2.0rc1": ">=3.6"
    ">=2.0rc1": ">=3.8"
  requires:
    numpy:
      ">=1.0,<2.0rc1": "<2"
      ">=2.0": ">=1.20"
  wheels:
    any:
      ">=2.0": {"": [py3]}
    x86_64:
      ">=1.0,<2.0rc1": {"2.17": [cp38, cp39]}
  sdist: [">=1.0"]
"""


@pytest.fixture
def matrices(tmp_path: Path) -> Path:
    folder = tmp_path / "matrices"
    (folder / "packages").mkdir(parents=True)
    (folder / "packages" / "demo.yaml").write_text(DEMO, encoding="utf-8")
    return folder


def refresh(matrices: Path, *arguments: str) -> int:
    return main([*arguments, "--matrices", str(matrices)])


def texts(matrices: Path) -> Dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (matrices / "packages").iterdir()}


def generated(matrices: Path, name: str = "demo") -> str:
    """The part below the mark, whatever the day."""
    text = (matrices / "packages" / f"{name}.yaml").read_text(encoding="utf-8")
    below = text.partition(MARK)[2]
    date = below.partition("checked: ")[2][:10]
    return below.replace(date, "TODAY") if date else below


def changed(before: str, after: str) -> List[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


@pytest.mark.parametrize("html", [False, True])
@pytest.mark.parametrize("beside", [False, True])
def test_what_an_index_lists_is_written(
    index: Index, matrices: Path, html: bool, beside: bool
) -> None:
    index.project("demo", [f._replace(beside=beside) for f in FILES], html)
    assert refresh(matrices) == 0
    assert generated(matrices) == WRITTEN
    inner = [path for path in index.paths() if path.endswith(".whl")]
    assert (inner == []) is beside  # wheels are opened where no metadata lies beside them


def test_wheels_are_not_downloaded_whole(index: Index, matrices: Path) -> None:
    index.project("demo", FILES)
    assert refresh(matrices) == 0
    wheels = [headers for path, headers in index.asked if path.endswith(".whl")]
    assert len(wheels) >= 3
    assert all("Range" in headers for headers in wheels)


def test_what_is_written_is_what_is_loaded(index: Index, matrices: Path) -> None:
    index.project("demo", FILES)
    assert refresh(matrices) == 0
    builds = load(matrices).packages["demo"].builds()
    assert [(str(b.version), b.entry, b.attributes.get("python")) for b in builds] == [
        ("1.0", "demo/wheels", ("cp38", "cp39")),
        ("1.0", "demo/source", None),
        ("1.1", "demo/wheels", ("cp38", "cp39")),
        ("1.1", "demo/source", None),
        ("2.0rc1", "demo/source", None),
        ("2.0", "demo/any", ("py3",)),
        ("2.0", "demo/source", None),
    ]


@pytest.mark.parametrize(
    ("hand", "between"),
    [
        (DEMO, "\n"),
        (DEMO.rstrip("\n"), "\n\n"),  # no newline at the end
        (DEMO + "\n\n\n", ""),
        (DEMO.replace("\n", "\r\n"), "\n"),
        (DEMO + f"#  {MARK}", "\n"),  # the mark's text within a comment
        (DEMO.replace("# the end", "# 末尾 \t"), "\n"),
    ],
)
def test_the_hand_written_part_stays_byte_for_byte(
    index: Index, matrices: Path, hand: str, between: str
) -> None:
    path = matrices / "packages" / "demo.yaml"
    path.write_bytes(hand.encode())
    index.project("demo", FILES)
    assert refresh(matrices) == 0
    first = path.read_bytes()
    assert first.startswith((hand + between + MARK).encode())
    index.project("demo", FILES[:6])
    assert refresh(matrices) == 0
    assert path.read_bytes() != first
    assert path.read_bytes().startswith((hand + between + MARK).encode())


def test_a_second_run_changes_nothing_and_keeps_the_date(index: Index, matrices: Path) -> None:
    index.project("demo", FILES)
    assert refresh(matrices) == 0
    path = matrices / "packages" / "demo.yaml"
    text = path.read_text(encoding="utf-8")
    day = text.partition(MARK)[2].partition("checked: ")[2][:10]
    path.write_text(text.replace(day, "2026-02-02"), encoding="utf-8")
    before = texts(matrices)
    assert refresh(matrices) == 0
    assert texts(matrices) == before
    index.project("demo", [*FILES, File("demo-3.0.tar.gz", ">=3.8")])
    assert refresh(matrices) == 0
    assert b"2026-02-02" not in path.read_bytes()


def test_check_shows_and_writes_nothing(
    index: Index, matrices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.project("demo", FILES)
    before = texts(matrices)
    assert refresh(matrices, "--check") == 1
    assert texts(matrices) == before
    said = capsys.readouterr().out
    assert "--- demo.yaml\n+++ demo.yaml\n" in said
    assert "+  releases: [1.0, 1.1, 2.0rc1, 2.0]\n" in said
    assert refresh(matrices) == 0
    capsys.readouterr()
    assert refresh(matrices, "--check") == 0
    assert capsys.readouterr().out == ""


MANY = [
    File(f"demo-{major}.{minor}.{micro}.tar.gz", ">=3.8")
    for major in (1, 2)
    for minor in range(6)
    for micro in range(3)
]


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        (
            [File("demo-1.2.3.tar.gz", ">=3.8")],
            ["-    1.2.0, 1.2.1, 1.2.2,", "+    1.2.0, 1.2.1, 1.2.2, 1.2.3,"],
        ),
        ([File("demo-2.6.0.tar.gz", ">=3.8")], ["+    2.6.0,"]),
        (
            [File("demo-3.0.0.tar.gz", ">=3.10")],
            [
                "+    3.0.0,",
                '-    ">=1.0.0": ">=3.8"',
                '+    ">=1.0.0,<3.0.0": ">=3.8"',
                '+    ">=3.0.0": ">=3.10"',
            ],
        ),
    ],
)
def test_a_new_release_changes_few_lines(
    index: Index, matrices: Path, new: List[File], lines: List[str]
) -> None:
    path = matrices / "packages" / "demo.yaml"
    path.write_text(DEMO.replace(", asks: [numpy]", ""), encoding="utf-8")
    index.project("demo", MANY)
    assert refresh(matrices) == 0
    before = path.read_text(encoding="utf-8")
    index.project("demo", [*new, *MANY])
    assert refresh(matrices) == 0
    assert changed(before, path.read_text(encoding="utf-8")) == lines


def test_the_order_of_the_index_does_not_matter(index: Index, matrices: Path) -> None:
    files = [*FILES, File("demo-2.0.0-py3-none-any.whl", ">=3.8")]
    index.project("demo", files)
    assert refresh(matrices) == 0
    before = texts(matrices)
    index.project("demo", list(reversed(files)))
    assert refresh(matrices, "--check") == 0
    assert texts(matrices) == before


GARBAGE = {
    "not there": Page(b"no", status=404),
    "broken": Page(b"sorry", status=500),
    "no JSON": Page(b"{", JSON),
    "other JSON": Page(b"[1, 2]", JSON),
    "JSON of a later time": Page(b'{"meta":{"api-version":"9.0"},"name":"x","files":[]}', JSON),
    "deep JSON": Page(b"[" * 200_000, JSON),
    "deep HTML": Page(b"<b>" * 3_000),
    "no UTF-8": Page(b"\xff\xfe\xfa", "text/html; charset=utf-8"),
    "no charset": Page(b"<a href='x'>x</a>", "text/html; charset=nonsense"),
    "a login page": Page(b"<html><form>name, password</form></html>"),
    "no links": Page(b"<a href='http://[bad'>demo-1.0.tar.gz</a>"),
    "packed badly": Page(b"nothing", headers={"Content-Encoding": "gzip"}),
    "leads to a file": Page(b"", status=302, headers={"Location": "file:///etc/passwd"}),
    "leads round": Page(b"", status=302, headers={"Location": "/simple/demo/"}),
    "leads nowhere": Page(b"", status=302, headers={"Location": "http://[::bad/"}),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_what_cannot_be_read_stays_and_others_are_done(
    index: Index, matrices: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (matrices / "packages" / "other.yaml").write_text(OTHER, encoding="utf-8")
    index.project("other", [File("other-1.0-py3-none-any.whl")])
    index.pages["/simple/demo/"] = GARBAGE[what]
    assert refresh(matrices) == 3
    assert texts(matrices)["demo.yaml"] == DEMO.encode()
    assert sorted(texts(matrices)) == ["demo.yaml", "other.yaml"]
    assert "  releases: [1.0]\n" in generated(matrices, "other")
    said = capsys.readouterr().err
    assert said.startswith("refresh: demo: ")
    assert said.count("\n") == 1


def test_metadata_that_is_not_what_was_announced_is_refused(
    index: Index, matrices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.project("demo", [f._replace(beside=True) for f in FILES])
    name = f"demo-1.0-cp38-cp38-{LINUX}.whl"
    index.pages[f"/files/{name}.metadata"] = Page(b"Requires-Dist: numpy>=9\n")
    assert refresh(matrices) == 3
    assert "another digest" in capsys.readouterr().err
    assert texts(matrices)["demo.yaml"] == DEMO.encode()


@pytest.mark.parametrize("content", [b"", b"PK", b"x" * 70_000])
def test_a_wheel_that_is_none_is_said(
    index: Index, matrices: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    index.project("demo", FILES)
    index.pages[f"/files/demo-1.0-cp38-cp38-{LINUX}.whl"] = Page(content)
    assert refresh(matrices) == 3
    assert f"demo-1.0-cp38-cp38-{LINUX}.whl: " in capsys.readouterr().err


def test_hostile_names_are_no_releases(index: Index, matrices: Path) -> None:
    hostile = [
        "demo-" + "9" * 5000 + ".tar.gz",
        "demo-" + "9" * 4000 + "-py3-none-any.whl",
        "demo-1.0-cp3" + "9" * 200 + "-none-any.whl",
        "demo-1.0-cp38-cp38-manylinux_2_" + "9" * 100 + "_x86_64.whl",
        'demo-1.0-py3: "x"-none-any.whl',
        "demo-7\npypi: {}\n.tar.gz",
        "demo-1.0-py3\n-none-any.whl",
        "demo-8+local.tar.gz",
        "../../demo-9/..tar.gz",
        "demo-1.0-٣-none-any.whl",
    ]
    index.project("demo", [*FILES, *(File(name, "===\"]}\\ '\x07") for name in hostile)])
    assert refresh(matrices) == 0
    assert generated(matrices) == WRITTEN


def test_a_message_shows_no_control_characters(
    index: Index, matrices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "demo-3.0-1\x1b[31m\n-py3-none-any.whl"
    index.project("demo", [File("demo-3.0-py3-none-any.whl")])
    page = index.pages["/simple/demo/"]
    said = msgspec.json.decode(page.content)
    said["files"][0]["url"] = f"/files/{name}"
    index.pages["/simple/demo/"] = page._replace(content=msgspec.json.encode(said))
    assert refresh(matrices) == 3
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "\x1b" not in message


def test_too_much_is_not_read(
    index: Index,
    matrices: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import gzip

    monkeypatch.setattr("indexes.connection._MOST", 1_000_000)
    bomb = gzip.compress(bytes(50_000_000))
    index.pages["/simple/demo/"] = Page(bomb, headers={"Content-Encoding": "gzip"})
    assert refresh(matrices) == 3
    assert "more than 1000000 bytes" in capsys.readouterr().err


def test_a_host_that_does_not_answer_is_asked_once(
    index: Index,
    matrices: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (matrices / "packages" / "other.yaml").write_text(OTHER, encoding="utf-8")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert refresh(matrices) == 3
    assert capsys.readouterr().err == (
        "refresh: demo: http://127.0.0.1:9/simple/demo/: ConnectionError\n"
        "refresh: other: http://127.0.0.1:9/simple/other/: ConnectionError\n"
    )


def test_a_file_is_replaced_whole_or_not_at_all(
    index: Index, matrices: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.project("demo", FILES)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("indexes.__main__.shutil.copymode", full)
        assert refresh(matrices) == 3
    assert texts(matrices) == {"demo.yaml": DEMO.encode()}
    path = matrices / "packages" / "demo.yaml"
    path.chmod(0o640)
    assert refresh(matrices) == 0
    assert path.stat().st_mode & 0o777 == 0o640


def test_unknown_packages_and_broken_matrices(
    index: Index, matrices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refresh(matrices, "demmo") == 2
    assert capsys.readouterr().err == "refresh: no file of demmo\n"
    (matrices / "packages" / "demo.yaml").write_text("package: [", encoding="utf-8")
    assert refresh(matrices) == 3
    assert capsys.readouterr().err.startswith("refresh: packages/demo.yaml:")
    assert index.asked == []


def test_only_the_packages_named_are_read(index: Index, matrices: Path) -> None:
    (matrices / "packages" / "other.yaml").write_text(OTHER, encoding="utf-8")
    index.project("other", [File("other-1.0-py3-none-any.whl")])
    assert refresh(matrices, "other") == 0
    assert index.paths() == ["/simple/other/"]
    assert refresh(matrices, "other", "--only", "pages") == 0
    assert index.paths() == ["/simple/other/"]


def test_news_of_releases_are_said(
    index: Index, matrices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.project("demo", [File("demo-1.0.tar.gz"), File("demo-1.1.tar.gz")])
    assert refresh(matrices) == 0
    index.project("demo", [File("demo-1.1.tar.gz", yanked=True), File("demo-1.2.tar.gz")])
    capsys.readouterr()
    assert refresh(matrices) == 0
    assert capsys.readouterr().out.startswith("demo: new 1.2; gone 1.0; withdrawn 1.1; ")


def test_it_runs_as_a_process(index: Index, matrices: Path) -> None:
    index.project("demo", FILES)
    command = [sys.executable, "-m", "indexes", "--matrices", str(matrices)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "scripts"), str(ROOT)])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "demo: 19 lines more, 0 lines less\n"
    assert generated(matrices) == WRITTEN
