from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.knowledge.document import Document, DocumentError
from envdoctor.knowledge.load import load
from envdoctor.knowledge.schema import typed
from envdoctor.model.versions import parse
from envdoctor.relations.plan import requirement_arguments
from envdoctor.relations.tell import label

PACKAGE = """
package: demo
checked: 2026-01-01
releases: [1.9, 1.10, 1.10.1]
sources: {page: the page of demo}
source: page
variant: {origin: string, cuda: cuda, abi: int, python: strings, proven: strings}
builds:
- id: demo/wheels
  versions: ">=1.10"
  set: {origin: wheel}
  axes: [cuda]
  cells: {"11.1": {python: [cp38]}, cpu: }
  product: {abi: ["0", "1"]}
  install: "{name}=={version}"
- {id: demo/source, versions: [1.9], set: {origin: source}, basis: measured, source: [page, seen]}
"""


def folder(path: Path, text: str) -> Path:
    (path / "packages").mkdir(exist_ok=True)
    (path / "packages" / "demo.yaml").write_text(text, encoding="utf-8")
    return path


def test_builds_are_products(tmp_path: Path) -> None:
    package = load(folder(tmp_path, PACKAGE)).packages["demo"]
    assert [str(v) for v in package.releases] == ["1.9", "1.10", "1.10.1"]
    assert [
        (str(b.version), b.entry, b.attributes.get("cuda"), b.attributes.get("abi"))
        for b in package.builds()
    ] == [
        ("1.9", "demo/source", None, None),
        *[
            (version, "demo/wheels", cuda, abi)
            for version in ("1.10", "1.10.1")
            for cuda in (parse("11.1"), "cpu")
            for abi in (0, 1)
        ],
    ]


TAGGED = """
package: demo
checked: 2026-01-01
releases: [1.6.1]
source: the page of demo
variant: {origin: string, tag: string, torch: series, cuda: cuda}
local: "^(?P<tag>pt(?P<torch>[0-9]+)(?P<cuda>cpu|cu[0-9]+))$"
builds:
- id: demo/wheels
  versions: ">=1"
  set: {origin: wheel, tag: "pt{torch.tag}{cuda.tag}"}
  axes: [torch, cuda]
  cells: {"2.0": [cpu, cu118], "1.13": [cu117], "2.10": [cu128]}
  install: "{name}=={version}+{tag}"
"""


def test_a_tag_is_made_of_other_attributes(tmp_path: Path) -> None:
    knowledge = load(folder(tmp_path, TAGGED))
    builds = knowledge.packages["demo"].builds()
    assert [(label(build, knowledge), requirement_arguments(build)) for build in builds] == [
        ("1.6.1+pt20cpu", "demo==1.6.1+pt20cpu"),
        ("1.6.1+pt20cu118", "demo==1.6.1+pt20cu118"),
        ("1.6.1+pt113cu117", "demo==1.6.1+pt113cu117"),
        ("1.6.1+pt210cu128", "demo==1.6.1+pt210cu128"),
    ]


@pytest.mark.parametrize("field", ["{torhc.tag}", "{torch.tags}", "{}", "{python}"])
def test_a_tag_that_cannot_be_made_is_an_error(tmp_path: Path, field: str) -> None:
    text = TAGGED.replace("pt{torch.tag}", f"pt{field}")
    package = load(folder(tmp_path, text)).packages["demo"]
    with pytest.raises(DocumentError) as error:
        package.builds()
    assert f"{field} cannot be filled" in str(error.value)


def test_entries_carry_their_source(tmp_path: Path) -> None:
    citations = load(folder(tmp_path, PACKAGE)).citations
    assert citations["demo/wheels"].source == "the page of demo"
    assert citations["demo/wheels"].basis == "documented"
    assert citations["demo/source"].source == "the page of demo; seen"
    assert citations["demo/source"].basis == "measured"
    assert citations["demo/source"].checked == "2026-01-01"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("checked: 2026-01-01\n", "", "packages/demo.yaml:2: the key checked is missing"),
        ("  install:", "  instal:",
         "packages/demo.yaml:15: builds[0].instal: no such key; nearest: install"),
        ("source: page\n", "sauce: page\n",
         "packages/demo.yaml:6: sauce: no such key; nearest: source"),
        ('  versions: ">=1.10"', "  versions: {}",
         "packages/demo.yaml:10: builds[0].versions: text or a list or nothing is wanted, "
         "not keys with values"),
        ("releases: [1.9, 1.10, 1.10.1]", "releases: 1.9",
         "packages/demo.yaml:4: releases: a list is wanted, not text"),
        ("{page: the page of demo}", "{page: [a]}",
         "packages/demo.yaml:5: sources.page: text is wanted, not a list"),
        ("  axes: [cuda]", "\taxes: [cuda]",
         "packages/demo.yaml:12: a tab stands here; YAML wants spaces"),
        ("builds:\n", "builds:\nbuilds:\n", "packages/demo.yaml:9: 'builds' stands twice"),
        ("package: demo", "package: [", "packages/demo.yaml:"),
        ("demo/source", "demo/wheels", "packages/demo.yaml:16: the id demo/wheels stands twice"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_path(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(DocumentError) as error:
        load(folder(tmp_path, PACKAGE.replace(old, new)))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{python: [cp38]}", "{pythons: [cp38]}",
         "demo declares no attribute 'pythons' under variant:; nearest: python"),
        ('["0", "1"]', '["0", "yes"]', "abi: a whole number is wanted, not 'yes'"),
        ("{origin: wheel}", "{origin: wheeel}",
         "origin is one of wheel, source, conda, vendor, not 'wheeel'; nearest: wheel"),
        ('"11.1": {', '"cuda11": {', "cuda: 'cuda11' is not a CUDA tag"),
        ('">=1.10"', '">=a"', "Invalid specifier"),
        ("{python: [cp38]}", "{python: cp38}", "python: a list is wanted, not 'cp38'"),
        ("set: {origin: wheel}", "set: {origin: [wheel]}", "origin: text is wanted, not a list"),
    ],
)  # fmt: skip
def test_errors_of_builds_name_file_and_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    package = load(folder(tmp_path, PACKAGE.replace(old, new))).packages["demo"]
    with pytest.raises(DocumentError) as error:
        package.builds()
    assert str(error.value).startswith("packages/demo.yaml:9: demo/wheels: ")
    assert message in str(error.value)


def test_the_cache_is_an_aid_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    matrices = folder(tmp_path, PACKAGE)
    assert len(load(matrices).packages["demo"].builds()) == 9
    (entry,) = (cache / "envdoctor").iterdir()
    assert len(load(matrices).packages["demo"].builds()) == 9
    entry.write_bytes(b"\x93garbage")
    assert len(load(matrices).packages["demo"].builds()) == 9
    # another content is another entry, and the old one goes
    folder(tmp_path, PACKAGE.replace("1.10.1]", "1.10.1, 1.10.2]"))
    assert len(load(matrices).packages["demo"].builds()) == 13
    assert len(list((cache / "envdoctor").iterdir())) == 1
    cache.rename(tmp_path / "elsewhere")
    cache.write_text("a file where the folder should be", encoding="utf-8")
    assert len(load(matrices).packages["demo"].builds()) == 13


def test_scalars_stay_text() -> None:
    data = Document("x", "{a: 1.10, b: no, c: 2026-01-01, d: , e: null, f: 'null'}").data
    assert data == {"a": "1.10", "b": "no", "c": "2026-01-01", "d": None, "e": None, "f": "null"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 3000 + "]" * 3000, "nest"),
        ("&a [*a]", "nested too deeply"),
        (
            "".join(
                f"a{i}: &a{i} [{', '.join([f'*a{i - 1}' if i else 'x'] * 9)}]\n" for i in range(9)
            ),
            "more than 200000 values",
        ),
    ],
    ids=["depth", "itself", "laughs"],
)
def test_a_small_file_cannot_become_a_large_one(text: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        Document("hostile.yaml", text)


@given(st.text(max_size=200))
def test_any_text_is_a_document_or_a_clear_error(text: str) -> None:
    problem = "hostile.yaml"
    try:
        Document("hostile.yaml", text).decode(dict)
    except DocumentError as error:
        problem = str(error)
    assert problem.startswith("hostile.yaml")


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("cuda", "cu111", parse("11.1")),
        ("cuda", "cu92", parse("9.2")),
        ("cuda", "cu12", parse("12")),
        ("cuda", "12.10", parse("12.10")),
        ("cuda", "cpu", "cpu"),
        ("cuda", "rocm6.1", "rocm6.1"),
        ("series", "113", parse("1.13")),
        ("series", "20", parse("2.0")),
        ("series", "210", parse("2.10")),
        ("series", "1.9", parse("1.9")),
        ("bool", "false", False),
        ("versions", ["7.5", "12.0"], (parse("7.5"), parse("12.0"))),
    ],
)
def test_types(kind: str, raw: object, value: object) -> None:
    assert typed(kind, raw) == value  # type: ignore[arg-type]
