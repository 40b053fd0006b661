"""What docs/matrices.md shows to people who add something is as the loader wants it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import List

import pytest

from envdoctor.knowledge.load import load
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.overlay import read
from envdoctor.knowledge.schema import BuildEntry, IndexEntry, PackageFile, RelationEntry
from envdoctor.model.facts import Facts
from envdoctor.relations.assume import assume
from envdoctor.relations.devices import lookup
from envdoctor.relations.judge import Relations
from envdoctor.relations.question import ask, world_of
from envdoctor.relations.wanted import read_wanted
from envdoctor.rules.added import examine

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "docs" / "matrices.md").read_text(encoding="utf-8")


def shown(start: str) -> str:
    """The example that has this line."""
    blocks = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    (found,) = (block for block in blocks if start in block)
    return str(found)


def test_a_package_worked_out(tmp_path: Path) -> None:
    folder = tmp_path / "matrices"
    shutil.copytree(data_folder("matrices"), folder)
    (folder / "packages" / "acme-ops.yaml").write_text(shown("package: acme-ops"), "utf-8")
    knowledge = load(folder)
    relations = Relations(knowledge)
    facts = assume(Facts(), ["python=3.10"], knowledge)
    world = world_of(facts, knowledge)
    for torch, answer in (("2.1.0+cu118", "prebuilt"), ("2.1.0+cpu", "no"), ("2.2.0+cu118", "no")):
        wanted = [
            read_wanted(f"{text}", knowledge) for text in ("acme-ops==1.1.0", f"torch=={torch}")
        ]
        assert ask(wanted, world, relations).kind == answer, torch


def test_a_gpu_worked_out(tmp_path: Path) -> None:
    folder = tmp_path / "matrices"
    shutil.copytree(data_folder("matrices"), folder)
    path = folder / "platform" / "gpus.yaml"
    row = shown("rtx-5050-ti")
    text = path.read_text(encoding="utf-8")
    assert "rtx-5050-ti" not in text
    head = re.search(r"^  gpu:\n(?:.*\n)*?    rows:\n", text, re.MULTILINE)
    assert head is not None
    path.write_text(text[: head.end()] + row + text[head.end() :], encoding="utf-8")
    knowledge = load(folder)
    for written in ("rtx5050ti", "RTX 5050 Ti", "NVIDIA GeForce RTX 5050 Ti", "RTX5050Ti"):
        device = lookup(written, knowledge)
        assert device is not None, written
        assert device.id == "rtx-5050-ti", written


@pytest.mark.parametrize(
    ("file", "wanted", "answer"),
    [
        ("torch", ["torch==2.4.2"], "prebuilt"),
        ("mmcv-full", ["mmcv-full==1.4.0", "torch==1.13.1+cu117"], "prebuilt"),
        ("mmcv-full", ["mmcv-full==1.4.0", "torch==1.12.1+cu116"], "no"),
    ],
)
def test_matrices_of_your_own(tmp_path: Path, file: str, wanted: List[str], answer: str) -> None:
    (tmp_path / "packages").mkdir()
    text = shown(f"# lab/matrices/packages/{file}.yaml")
    (tmp_path / "packages" / f"{file}.yaml").write_text(text, encoding="utf-8")
    knowledge = load(added=read([str(tmp_path)]))
    examine(knowledge)
    assumed = ["python=3.10" if file == "torch" else "python=3.8", "glibc=2.31"]
    world = world_of(assume(Facts(), assumed, knowledge), knowledge)
    asked = [read_wanted(text, knowledge) for text in wanted]
    assert ask(asked, world, Relations(knowledge)).kind == answer


def test_the_format_lists_every_key() -> None:
    for kind in (PackageFile, BuildEntry, RelationEntry, IndexEntry):
        for field in kind.__struct_encode_fields__:
            assert re.search(rf"(^|[{{ `]){field}:", TEXT, re.MULTILINE) or f"`{field}`" in TEXT, (
                f"docs/matrices.md does not say what {kind.__name__}.{field} is"
            )
