"""Matrices that users put over those that ship: what is united, replaced, refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable, Dict, Optional

import pytest
import small

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.knowledge.overlay import read
from envdoctor.model.versions import parse
from envdoctor.rules.added import examine

HEAD = "checked: 2026-12-01\nsource: lab notes\n"
WORDS = 'words: {en: {summary: "{self} fails", why: it is so}}'


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Knowledge]:
    """Loads the small matrices with files of a user over them, and examines both together."""
    (tmp_path / "base").mkdir()
    base = small.write(tmp_path / "base")
    mine = tmp_path / "mine"

    def write(**files: str) -> Knowledge:
        for name, text in files.items():
            kind, _, stem = name.partition("__")
            path = mine / kind / f"{stem}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        knowledge = load(base, read([str(mine)]))
        examine(knowledge)
        return knowledge

    return write


def builds(knowledge: Knowledge, name: str, version: str) -> Dict[str, int]:
    found: Dict[str, int] = {}
    for build in knowledge.packages[name].builds(parse(version)):
        found[build.entry] = found.get(build.entry, 0) + 1
    return found


def test_a_package_that_is_not_known_is_added(put: Callable[..., Knowledge]) -> None:
    knowledge = put(
        packages__ours=f"package: our-ops\n{HEAD}modules: [our_ops]\nrequires: [torch]\n"
        "releases: [1.0.0]\nvariant: {origin: string, torch: version}\n"
        'builds: [{id: our-ops/all, versions: ">=1", set: {origin: wheel, torch: "2.4"}}]\n'
        "relations:\n- id: our-ops/torch\n  needs: torch.series == self.torch\n  phase: import\n"
        f"  finding: torch-abi-mismatch\n  {WORDS}\n"
    )
    assert builds(knowledge, "our-ops", "1.0.0") == {"our-ops/all": 1}
    assert knowledge.providers["our_ops"] == ("our-ops",)
    assert knowledge.citations["our-ops/torch"].source == "lab notes"
    assert [Path(folder).name for folder in knowledge.added] == ["mine"]
    assert knowledge.date == "2026-01-01"  # of those that ship


def test_a_known_package_is_extended(put: Callable[..., Knowledge]) -> None:
    knowledge = put(
        packages__torch=f"package: torch\n{HEAD}releases: [2.4.2, 2.4.1]\n"
        "variant: {glibc: version, cuda: cuda}\n"
        "builds:\n"
        "- {id: torch/ours, versions: [2.4.2], set: {origin: wheel, cuda: '12.4', glibc: '2.31'}}\n"
        "- {id: torch/2.4, versions: [2.4.1], set: {origin: wheel, cuda: cpu}}\n"
    )
    torch = knowledge.packages["torch"]
    assert [str(v) for v in torch.releases][-3:] == ["2.4.1", "2.4.2", "2.7.0"]
    assert builds(knowledge, "torch", "2.4.2") == {"torch/ours": 1}
    assert builds(knowledge, "torch", "1.9.0") == {"torch/1.9": 2}  # as it was
    (replaced,) = torch.builds(parse("2.4.1"))
    assert replaced.attributes["cuda"] == "cpu"
    assert torch.variant["glibc"] == "version"
    assert knowledge.citations["torch/2.4"].source == "lab notes"
    assert knowledge.citations["torch/1.9"].source == "invented"
    assert torch.local is not None


def test_a_known_relation_is_replaced(put: Callable[..., Knowledge]) -> None:
    knowledge = put(
        packages__full=f"package: mmcv-full\n{HEAD}relations:\n- id: mmcv-full/thc\n"
        "  for: self.origin == 'source'\n  needs: torch < '2'\n  phase: build\n"
        f"  finding: thc-headers-removed\n  {WORDS}\n"
    )
    needs = {r.id: r.needs for r in knowledge.relations}
    assert needs["mmcv-full/thc"] == "torch < '2'"
    assert [r.id for r in knowledge.relations].count("mmcv-full/thc") == 1
    assert "mmcv-full/wheel-torch" in needs


def test_rows_of_a_known_table_are_added_and_cells_replaced(put: Callable[..., Knowledge]) -> None:
    knowledge = put(
        platform__ours=f"platform: ours\n{HEAD}tables:\n  family:\n"
        "    columns: {floor: version, note: string}\n"
        "    rows: {'12.0': {floor: 530.30.02}, '14': {floor: '700.1', note: a guess}}\n"
        "  lab: {columns: {rack: string}, rows: {'1': {rack: b4}}}\n"
        "relations:\n- id: cuda/minor\n  for: self.cuda.major >= 11\n"
        f"  needs: host.driver >= '1'\n  phase: run\n  finding: driver-too-old\n  {WORDS}\n"
    )
    rows = knowledge.tables["family"].rows
    assert {str(key): row["floor"] for key, row in rows.items()} == {
        "11": parse("450.80.02"),
        "12": parse("530.30.02"),  # 12.0 is the known 12
        "14": parse("700.1"),
    }
    assert knowledge.citations["table/family"].source == "invented; lab notes"
    assert knowledge.tables["lab"].texts[parse("1")] == {"rack": "b4"}
    (minor,) = (r for r in knowledge.relations if r.id == "cuda/minor")
    assert (minor.needs, minor.accelerator) == ("host.driver >= '1'", "nvidia")


TORCH = f"package: torch\n{HEAD}"
PLATFORM = f"platform: ours\n{HEAD}"
REMOVED = (
    f"platform: removed\n{HEAD}"
    "tables:\n  removed_torch_cxx:\n    key: string\n"
    "    columns: {{kind: string, of: string, gone: version, pattern: string}}\n"
    "    rows:\n      x: {{kind: pattern, of: torch, gone: '2.0', "
    "pattern: '{}'}}\n"
)
RELATION = (
    "relations:\n- {{id: torch/x, needs: '{needs}', phase: run, finding: numpy2-abi, {more}}}\n"
)


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("packages", "package: torch\nchecked: 2026-12-01\nbuilds: [{id: torch/x, versions: '1'}]",
         "x.yaml:3: builds[0]: torch/x: names no source, and neither does its file"),
        ("packages", "package: torch\nchecked: yesterday\nsource: x\n",
         "x.yaml:2: checked is a day like 2026-11-30, not 'yesterday'"),
        ("packages", TORCH + "releases: [2.4.2, no]\n",
         "x.yaml:4: releases[1]: 'no' is not a version"),
        ("packages", TORCH + "variant: {cuda: string}\n",
         "x.yaml:4: variant.cuda: is cuda in packages/torch.yaml, not string"),
        ("packages", TORCH + "variant: {new: text}\n", "x.yaml:4: variant.new: 'text' is no type"),
        ("packages", TORCH + "local: '" + "a" * 301 + "'\n", "local: the pattern is too long"),
        ("packages", TORCH + "local: '('\n", "x.yaml:4: local: is no pattern: missing ), "),
        ("packages", TORCH + "local: '^(a+)+$'\n", "x.yaml:4: local: a group is repeated"),
        ("packages", TORCH + "local: '^" + "[a-z]*" * 9 + "x$'\n",
         "x.yaml:4: local: repeats more than 4 parts without end"),
        ("packages", TORCH + "releases: [" + ", ".join(f"3.{n}" for n in range(2001)) + "]\n",
         "x.yaml:4: releases: more than 2000"),
        ("platform", REMOVED.format("("),
         "tables.removed_torch_cxx.rows.x.pattern: is no pattern: "),
        ("platform", REMOVED.format("(a+)+$"),
         "tables.removed_torch_cxx.rows.x.pattern: a group is repeated"),
        ("packages", TORCH + "builds:\n- {id: torch/x, versions: [2.4.1], set: {nothing: '1'}}\n",
         "x.yaml:5: torch/x: torch declares no attribute 'nothing' under variant:"),
        ("packages", TORCH + "builds:\n- {id: torch/x, versions: [2.4.1], install: 'a; rm ~'}\n",
         "x.yaml:5: torch/x: install: 'a; rm ~' is nothing that follows pip install"),
        ("packages", TORCH + "builds:\n- {id: mmcv/all, versions: [2.4.1]}\n",
         "the id mmcv/all stands twice; the other stands in packages/mmcv.yaml:"),
        ("packages", TORCH + "builds:\n- {id: a, versions: [1]}\n- {id: a, versions: [1]}\n",
         "x.yaml:6: the id a stands twice; the other stands in"),
        ("packages", TORCH + "builds:\n- {id: torch/x, versions: [2.4.1], basis: hearsay}\n",
         "x.yaml:5: torch/x: basis is one of measured"),
        ("packages", TORCH + RELATION.format(needs="torhc < 2", more=WORDS),
         "x.yaml:5: torch/x: nothing is called 'torhc'"),
        ("packages", TORCH + RELATION.format(needs="self.glibc > self.sass", more=WORDS),
         "x.yaml:5: torch/x: self declares no attribute 'glibc'"),
        ("packages", TORCH + RELATION.format(needs="self.abi == 1", more="words: {}"),
         "x.yaml:5: torch/x: words: en: summary: is missing"),
        ("packages",
         TORCH + RELATION.format(needs="self.abi == 1", more="words: {en: {summary: '{self.x}'}}"),
         "x.yaml:5: torch/x: words: self declares no attribute 'x'"),
        ("packages",
         TORCH + RELATION.format(needs="self.abi == 1", more=WORDS).replace("numpy2-abi", "nope"),
         "x.yaml:5: torch/x: finding: no page is called 'nope'"),
        ("packages",
         TORCH + RELATION.format(needs="self.abi == 1", more=WORDS).replace("run", "later"),
         "x.yaml:5: torch/x: phase is one of"),
        ("packages", TORCH + "requires: [nothing-like-it]\n",
         "torch: requires: the matrices have no package 'nothing-like-it'"),
        ("packages", "package: Our_Ops\n" + HEAD + "releases: [1.0]\n",
         "x.yaml:1: package: 'Our_Ops' is our-ops"),
        ("packages", "package: our-ops\n" + HEAD, "releases: there are none"),
        ("packages", TORCH + "colour: blue\n", "x.yaml:4: colour: no such key"),
        ("packages", "", "x.yaml"),
        ("packages", "[", "x.yaml:2: did not find expected node content"),
        ("packages", "a: &a [x]\n" + "".join(f"b{n}: [*a, *a]\n" for n in range(9)), "x.yaml"),
        ("packages", "[" * 5000, "x.yaml"),
        ("packages", TORCH + "builds:\n- id: torch/x\n  versions: [2.4.1]\n  product: {"
         + ", ".join(f"a{n}: ['0', '1', '2']" for n in range(12)) + "}\n",
         "x.yaml:7: builds[0].product: describes 531441 builds a cell"),
        ("platform", PLATFORM + "tables: {family: {key: string, columns: {}, rows: {}}}\n",
         "x.yaml:4: tables.family.key: is version in platform/cuda.yaml, not string"),
        ("platform", PLATFORM + "tables: {family: {columns: {floor: int}, rows: {}}}\n",
         "x.yaml:4: tables.family.columns.floor: is version in platform/cuda.yaml, not int"),
        ("platform", PLATFORM + "tables: {family: {columns: {}, rows: {'12': {floor: old}}}}\n",
         "x.yaml:4: tables.family.rows.12: 'old' is not a version"),
        ("platform", PLATFORM + "tables: {family: {columns: {}, rows: {'12': {roof: '1'}}}}\n",
         "x.yaml:4: tables.family.rows.12: no column 'roof'"),
        ("platform", "platform: ours\nchecked: 2026-12-01\n"
         "tables: {lab: {columns: {a: string}, rows: {}}}\n",
         "x.yaml:3: tables.lab: names no source"),
    ],
    ids=["source", "day", "release", "type", "no-type", "long-pattern", "pattern",
         "endless-pattern", "many-repeats", "many-releases", "pattern-of-a-row",
         "endless-pattern-of-a-row", "attribute", "install", "known-id", "twice", "basis",
         "nothing-called", "no-attribute", "no-summary", "field", "page", "phase", "requires",
         "canonical", "no-releases", "key", "empty", "half", "aliases", "nested", "product",
         "table-key", "column", "cell", "no-column", "table-source"],
)  # fmt: skip
def test_errors_name_the_file_the_line_and_the_path(
    put: Callable[..., Knowledge], kind: str, text: str, problem: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        put(**{f"{kind}__x": text})
    assert problem in str(caught.value)


def test_what_breaks_only_in_combination_is_told(put: Callable[..., Knowledge]) -> None:
    # sound alone: the attribute is theirs, but the relation of another package reads it elsewhere
    with pytest.raises(DocumentError) as caught:
        put(
            packages__a=f"package: our-ops\n{HEAD}releases: [1.0]\nvariant: {{abi: int}}\n"
            "relations:\n- id: our-ops/x\n  needs: torchvision.abi == self.abi\n  phase: run\n"
            f"  finding: numpy2-abi\n  {WORDS}\n"
        )
    assert "a.yaml:7: our-ops/x: torchvision declares no attribute 'abi'" in str(caught.value)


def folder_of(tmp_path: Path, name: str) -> Optional[Path]:
    folder = tmp_path / "mine"
    if name == "missing":
        return folder
    (folder / "packages").mkdir(parents=True)
    file = folder / "packages" / "x.yaml"
    if name == "empty":
        pass
    elif name == "neither":
        (folder / "packages").rename(folder / "other")
    elif name == "pipe":
        os.mkfifo(file)
    elif name == "folder":
        file.mkdir()
    elif name == "large":
        file.write_bytes(b"#" * (3 << 20))
    elif name == "yml":
        file.with_suffix(".yml").write_text("package: x", encoding="utf-8")
    elif name == "dangling":
        file.symlink_to("/nowhere")
    elif name == "many":
        for number in range(500):
            (folder / "packages" / f"{number}.yaml").touch()
    elif name == "file":
        return Path(__file__)
    return folder


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing", "no such file or directory"),
        ("file", "not a directory"),
        ("empty", "no matrices there"),
        ("neither", "holds neither packages/ nor platform/"),
        ("pipe", "is no file"),
        ("folder", "is a directory"),
        ("large", "larger than 2097152 bytes"),
        ("yml", "matrix files end with .yaml"),
        ("dangling", "no such file or directory"),
        ("many", "more than 400 files"),
    ],
)
def test_folders_that_hold_something_else(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read([str(folder_of(tmp_path, name))])
    assert problem in str(caught.value)


def test_other_files_are_told_apart(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "some")
    assert folder is not None
    file = folder / "packages" / "x.yaml"
    file.write_text(TORCH, encoding="utf-8")
    before = read([str(folder)]).state
    assert before == read([str(folder), str(folder)]).state
    file.write_text(TORCH + "releases: [2.4.2]\n", encoding="utf-8")
    assert before != read([str(folder)]).state
    assert read([]).state == b""


OURS = f"package: our-ops\n{HEAD}releases: [1.0.0]\nvariant: {{origin: string, cuda: cuda}}\n"


@pytest.mark.parametrize(
    ("install", "problem"),
    [
        ("{namee}=={version}", "{namee}: there is no attribute 'namee'; nearest: name"),
        ("{cuda.tgg}=={version}", "{cuda.tgg}: there is no such form; nearest: cuda.tag"),
        ("{name.tag}=={version}", "{name.tag}: there is no such form; nearest: name"),
        ("{name}+{origin}", "{origin}: these builds state no origin"),
        ("{name}=={}", "{}: there is no attribute ''"),
        ("{name}=={version", "'our-ops=={version' is nothing that follows pip install"),
    ],
)
def test_what_cannot_be_filled_of_install_is_told_when_it_is_loaded(
    put: Callable[..., Knowledge], install: str, problem: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        put(
            packages__x=f"{OURS}builds:\n- id: our-ops/all\n  versions: [1.0.0]\n"
            f"  set: {{cuda: '12.1'}}\n  install: '{install}'\n"
        )
    assert f"x.yaml:7: our-ops/all: install: {problem}" in str(caught.value)


ENTRY = OURS.replace("origin: string", "origin: string, torch: version") + "builds:\n"
ZH = 'words: {en: {summary: "{self}", why: x}, zh: {summary: "{torch}"}}'
TABLE = PLATFORM + "tables:\n"


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("packages",
         ENTRY + "- {id: o/a, versions: [1.0.0], axes: [torch, cuda], cells: {'2.1': cu121}}",
         "x.yaml:7: o/a: cells: keys that are values of cuda, or a list of them are "
         "wanted, not 'cu121'"),
        ("packages", ENTRY + "- {id: o/a, versions: [1.0.0], axes: [torch, cuda], cells: [cu121]}",
         "x.yaml:7: o/a: cells: keys that are values of torch are wanted, not ['cu121']"),
        ("packages",
         ENTRY + "- {id: o/a, versions: [1.0.0], axes: [torch], cells: {'2.1': [cu121]}}",
         "x.yaml:7: o/a: cells: torch 2.1: attributes are wanted, not ['cu121']; "
         "axes names torch last"),
        ("packages", ENTRY + "- {id: o/a, versions: [1.0.0], axes: [torch], cells: {'2.1': cu121}}",
         "x.yaml:7: o/a: cells: torch 2.1: attributes are wanted, not 'cu121'"),
        ("packages", ENTRY + "- {id: o/a, versions: [1.0.0], cells: {'2.1': [cu121]}}",
         "x.yaml:7: o/a: cells: axes is missing"),
        ("packages", ENTRY + "- {id: o/a, versions: [1.0.0], axes: [torch]}",
         "x.yaml:7: o/a: axes: torch: cells is missing"),
        ("packages", ENTRY + "- {id: o/a, versions: '>=2'}",
         "x.yaml:7: o/a: versions: '>=2' is none; releases are known from 1.0.0 to 1.0.0"),
        ("packages", ENTRY + "- {id: o/a, versions: [1.0.0, 1.1]}",
         "x.yaml:7: o/a: versions: '1.1' is none of releases"),
        ("packages", ENTRY + "- {id: o/a, each: {1.1: {}}}",
         "x.yaml:7: o/a: each: '1.1' is none of releases"),
        ("packages", ENTRY + "- {id: o/a, versions: [1.0.0], set: {orign: wheel}}",
         "no attribute 'orign' under variant:; nearest: origin"),
        ("packages", ENTRY + "- {id: o/a, versions: [1.0.0], set: {origin: whel}}",
         "x.yaml:7: o/a: origin is one of wheel, source, conda, vendor, not 'whel'; "
         "nearest: wheel"),
        ("packages", OURS + "local: '^(?P<cud>cu[0-9]+)$'",
         "x.yaml:6: local: the group 'cud' is no attribute under variant; nearest: cuda"),
        ("packages", TORCH + RELATION.format(needs="torch.cuda = self.cuda", more=WORDS),
         "x.yaml:5: torch/x: = compares nothing, did you mean ==? (column 12 of"),
        ("packages", TORCH + RELATION.format(needs="self.abi == 1", more=ZH),
         "x.yaml:5: torch/x: words: zh: summary: {self} stands in one language only"),
        ("packages",
         TORCH + RELATION.format(needs="self.abi == 1", more=WORDS + ", severity: eror"),
         "x.yaml:5: torch/x: severity is one of info, warning, error, not 'eror'; "
         "nearest: error"),
        ("packages",
         TORCH + RELATION.format(needs="self.abi == 1", more=WORDS).replace("2-abi", "2-abbi"),
         "no page is called 'numpy2-abbi'; nearest: numpy2-abi"),
        ("packages", TORCH + "findings: {cuda/cod: numpy2-abi}",
         "torch: findings: no relation of a platform is called 'cuda/cod'; nearest: cuda/code"),
        ("packages", TORCH + "findings: {cuda/code: numpy2-abbi}",
         "torch: findings: no page is called 'numpy2-abbi'; nearest: numpy2-abi"),
        ("packages", ENTRY + "- {id: o, versions: [1.0.0], axes: [torch, cuda], cells: {'2.1': }}",
         "cells: keys that are values of cuda, or a list of them are wanted, not nothing"),
        ("platform", "platform: cudda\n" + HEAD,
         "x.yaml:1: platform: no platform is called 'cudda'; nearest: cuda"),
        ("platform", TABLE + "  famly: {rows: {}}",
         "x.yaml:5: tables.famly: no table 'famly'; nearest: family"),
        ("platform", TABLE + "  family: {rows: {'15': {flor: '1'}}}",
         "x.yaml:5: tables.family.rows.15: no column 'flor'; nearest: floor"),
        ("platform", TABLE + "  gpu: {columns: {cc: version}, rows: {'1': {cc: '11.1'}}}\n"
         "  architecture: {columns: {}, rows: {'9.0': {}}}",
         "x.yaml:5: gpu[1]: cc 11.1 has no row in the table architecture"),
    ],
)  # fmt: skip
def test_what_would_break_later_is_told_with_what_was_meant(
    put: Callable[..., Knowledge], kind: str, text: str, problem: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        put(**{f"{kind}__x": text})
    assert problem in str(caught.value)


def test_what_need_not_be_repeated_or_translated(put: Callable[..., Knowledge]) -> None:
    knowledge = put(
        platform__ours=TABLE + "  family: {rows: {'15': {floor: '1.0'}}}\n"
        "  lab: {key: string, columns: {a: string}, rows: {x: {a: b}}}",
        packages__ours=TORCH + RELATION.format(needs="self.abi == 1", more=WORDS),
    )
    assert knowledge.tables["family"].rows[parse("15")] == {"floor": parse("1.0")}
    assert knowledge.tables["lab"].rows == {"x": {"a": "b"}}
    assert any(relation.id == "torch/x" for relation in knowledge.relations)
