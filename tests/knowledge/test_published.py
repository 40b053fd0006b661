"""Builds of what scripts/refresh wrote: PyPI's files, and wheels that projects' pages list."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List, Tuple

import pytest

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import load

PAGE = """
package: demo
checked: 2026-01-01
releases: ["1.0", "2.0"]
index: {pages: {own: {url: "https://host/{cuda.tag}/", axes: [torch, cuda]}}}
variant: {origin: string, architecture: string, torch: version, cuda: cuda, abi: int,
  sass: architectures, python: strings, proven: strings}
builds:
- id: demo/elsewhere
  versions: ["1.0", "2.0"]
  set: {origin: wheel, torch: "2.0"}
  axes: [cuda]
  cells: {"12.1": {python: [cp311]}}
- id: demo/arm
  versions: ["1.0", "2.0"]
  set: {architecture: aarch64, torch: "2.1", cuda: "11.8"}
- id: demo/first
  page: own
  versions: ["1.0", "2.0"]
  set: {origin: wheel, torch: "2.0"}
  axes: [cuda]
  cells: {"11.8": {python: [cp38], sass: ["8.0"]}, "11.7": {python: [cp38]}}
  product: {abi: ["0", "1"]}
- id: demo/last
  page: own
  versions: ["1.0", "2.0"]
  set: {origin: wheel}
  axes: [torch, cuda]
  cells: {"2.1": {"11.8": {python: [cp39], sass: ["9.0"]}}}
- {id: demo/source, versions: ["1.0", "2.0"], set: {origin: source}}
pages:
  own:
    checked: 2026-02-02
    wheels:
      "2.0":
        "2.0": {cu118: [cp38, cp310], cu121: [cp311]}
        "2.1": {cu118: [cp310], cpu: [cp310]}
"""

PYPI = """
package: demo
checked: 2026-01-01
index: {from: "1.0"}
variant: {python: strings}
builds:
- {id: demo/wheels, pypi: x86_64}
pypi:
  checked: 2026-02-02
  releases: ["1.0"]
  requires_python: {">=1.0": ">=3.8"}
  wheels: {x86_64: {">=1.0": {"2.5": [cp38], "2.17": [cp39]}}}
"""


def package(folder: Path, text: str) -> Any:
    (folder / "packages").mkdir()
    (folder / "packages" / "demo.yaml").write_text(text, encoding="utf-8")
    return load(folder).packages["demo"]


def told(folder: Path, text: str, release: str, entry: str) -> List[Tuple[object, ...]]:
    """(torch, CUDA, Pythons, proven, code, abi) of an entry's builds of a release."""
    names = ("torch", "cuda", "python", "proven", "sass", "abi")
    found = []
    for build in package(folder, text).builds():
        if (str(build.version), build.entry) == (release, f"demo/{entry}"):
            values = (build.attributes.get(name) for name in names)
            found.append(
                tuple(
                    tuple(map(str, value))
                    if isinstance(value, tuple)
                    else None
                    if value is None
                    else str(value)
                    for value in values
                )
            )
    return found


def test_of_a_release_that_no_page_lists_the_written_cells_stand(tmp_path: Path) -> None:
    assert told(tmp_path, PAGE, "1.0", "last") == [("2.1", "11.8", ("cp39",), None, ("9.0",), None)]


def test_written_cells_stand_with_their_product(tmp_path: Path) -> None:
    assert [(cuda, abi) for _, cuda, _, _, _, abi in told(tmp_path, PAGE, "1.0", "first")] == [
        ("11.8", "0"),
        ("11.8", "1"),
        ("11.7", "0"),
        ("11.7", "1"),
    ]


def test_a_listed_cell_keeps_what_is_written_of_it(tmp_path: Path) -> None:
    """Its Pythons are those of the page, each combination stays; 11.7 is not listed."""
    pythons = ("cp38", "cp310")
    assert told(tmp_path, PAGE, "2.0", "first") == [
        ("2.0", "11.8", pythons, pythons, ("8.0",), "0"),
        ("2.0", "11.8", pythons, pythons, ("8.0",), "1"),
    ]


def test_what_no_entry_describes_is_of_the_last_one(tmp_path: Path) -> None:
    python = ("cp310",)
    assert told(tmp_path, PAGE, "2.0", "last") == [
        ("2.1", "11.8", python, python, ("9.0",), None),  # that of aarch64 is another
        ("2.1", "cpu", python, python, None, None),
    ]


def test_what_is_described_elsewhere_stands_once(tmp_path: Path) -> None:
    builds = package(tmp_path, PAGE).builds()
    of_12 = [
        b for b in builds if str(b.version) == "2.0" and str(b.attributes.get("cuda")) == "12.1"
    ]
    assert [(b.entry, b.attributes.get("proven")) for b in of_12] == [("demo/elsewhere", None)]


def test_a_cell_with_a_command_of_its_own_lies_elsewhere(tmp_path: Path) -> None:
    text = PAGE.replace(
        '"11.7": {python: [cp38]}', '"11.7": {python: [cp38], install: "demo -f x"}'
    )
    cudas = {cuda for _, cuda, *_ in told(tmp_path, text, "2.0", "first")}
    assert cudas == {"11.8", "11.7"}


def test_files_on_pypi(tmp_path: Path) -> None:
    (build,) = package(tmp_path, PYPI).builds()
    assert build.attributes["python"] == ("cp38", "cp39")
    assert str(build.attributes["requires_python"]) == ">=3.8"


def test_a_new_file_is_loaded_before_it_is_refreshed(tmp_path: Path) -> None:
    text = PYPI.partition("pypi:\n")[0]
    assert package(tmp_path, text.replace("pypi: x86_64", "versions: '>=0'")).builds() == ()


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (
            PAGE,
            "axes: [torch, cuda]}}}",
            "axes: [torch, cudda]}}}",
            "declares no attribute 'cudda'",
        ),
        (PAGE, "axes: [torch, cuda]}}}", "axes: [torch]}}}", "a list of Python tags is wanted"),
        (PAGE, "[torch, cuda]}}}", "[torch, cuda, abi]}}}", "a mapping by abi is wanted"),
        (PAGE, "page: own", "page: ours", "page: index.pages has no 'ours'"),
        (PAGE, "cu118: [cp310]", "nonsense: [cp310]", "nonsense"),
        (PYPI, "pypi: x86_64", "pypi: x86-64", "'x86-64' is none of x86_64, aarch64, any, sdist"),
        (PYPI, 'releases: ["1.0"]', "releases: [one]", "'one' is not a version"),
        (PYPI, '{">=1.0": ">=3.8"}', '{"about 1": ">=3.8"}', "about 1"),
        (
            PAGE,
            "- {id: demo/source,",
            "- {id: demo/pypi, pypi: any}\n- {id: demo/source,",
            "pypi: scripts/refresh has not read its files",
        ),
    ],
)
def test_what_does_not_fit_is_said(
    tmp_path: Path, text: str, old: str, new: str, message: str
) -> None:
    assert old in text
    with pytest.raises(DocumentError, match=r"^packages/demo\.yaml.*") as error:
        package(tmp_path, text.replace(old, new)).builds()
    assert message in str(error.value)
