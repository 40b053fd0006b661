"""The source patches that ship: each is named, holds to its form, and does what its example says.

`patches/NAME.yaml` has a few lines in the manner of the source, before and after.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Tuple

import pytest
import yaml
from diagnosis.linear import faults

from envdoctor.containers.apply_patches import apply
from envdoctor.containers.patches import by_source, patches_json
from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import load
from envdoctor.knowledge.patches import Patch, patches
from envdoctor.knowledge.profiles import profiles
from envdoctor.resolver.stated import with_profile

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = Path(__file__).resolve().parent / "patches"
PATCHES = patches()
KNOWLEDGE = load()
PROFILES = profiles()
each = pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)


def waivers() -> Iterator[Tuple[str, str, str]]:
    """Each waiver's patch, the package that it is for, and the profile, if one names it."""
    for relation in KNOWLEDGE.relations:
        if relation.waiver:
            yield relation.waiver, relation.owner or "", ""
    shared = {relation.id for relation in KNOWLEDGE.relations}
    for profile in PROFILES:
        for relation in with_profile(KNOWLEDGE, profile).relations:
            if relation.waiver and relation.id not in shared:
                yield relation.waiver, relation.owner or "", profile.profile
        for tree in profile.trees:
            for name in tree.patches:
                yield name, tree.package, profile.profile


def test_each_patch_that_is_named_is_there_and_each_that_is_there_is_named() -> None:
    assert sorted({patch for patch, _, _ in waivers()}) == sorted(PATCHES)


def test_a_patch_is_for_the_package_that_buys_it_or_for_the_code_around() -> None:
    wrong = [
        (patch, package)
        for patch, package, profile in waivers()
        if PATCHES[patch].of not in (package, profile)
    ]
    assert not wrong


@each
def test_expressions_take_linear_time(patch: Patch) -> None:
    found = [
        (expression, fault)
        for edit in patch.edits
        for expression in (edit.find, edit.done)
        if expression
        for fault in faults(expression, re.MULTILINE)
    ]
    assert not found


@each
def test_expressions_are_of_python_3_6(patch: Patch) -> None:
    # atomic groups and possessive repeats came with 3.11
    for edit in patch.edits:
        assert not re.search(r"\(\?>|[*+?}]\+", edit.find + "\n" + edit.done)
        assert edit.places == 0 or edit.done


@each
def test_what_was_measured_is_said(patch: Patch) -> None:
    assert patch.basis in ("measured", "inferred")
    assert bool(patch.note) == (patch.basis == "measured")


def example(name: str) -> Dict[str, Tuple[str, str]]:
    """The files of an example: before, and after."""
    files = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    return {path: (file["before"], file["after"]) for path, file in files.items()}


def laid(name: str, root: Path) -> None:
    for path, (before, _) in example(name).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(before, encoding="utf-8")


def test_each_patch_has_an_example() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.yaml")) == sorted(PATCHES)


@each
def test_an_example_becomes_what_it_says(patch: Patch, tmp_path: Path) -> None:
    laid(patch.patch, tmp_path)
    for said in ("place", "done already"):
        lines = apply(patches_json([patch.patch], PATCHES), str(tmp_path))
        assert len(lines) == len(patch.edits)
        assert all(
            said in line or (not edit.places and "nothing to change" in line)
            for line, edit in zip(lines, patch.edits)
        ), lines
        for path, (_, after) in example(patch.patch).items():
            text = (tmp_path / path).read_text(encoding="utf-8")
            assert text == after
            if path.endswith(".py"):
                compile(text, path, "exec")


@each
def test_every_edit_is_in_the_example(patch: Patch, tmp_path: Path) -> None:
    laid(patch.patch, tmp_path)
    assert all(
        "place" in line for line in apply(patches_json([patch.patch], PATCHES), str(tmp_path))
    )


def test_patches_by_the_source_that_they_are_for() -> None:
    found = by_source(["mmcv-thc", "mmdet3d-thc", "mmcv-stream"], PATCHES)
    assert {of: list(names) for of, names in found.items()} == {
        "mmcv-full": ["mmcv-thc", "mmcv-stream"],
        "mmdet3d": ["mmdet3d-thc"],
    }
    with pytest.raises(KeyError):
        patches_json(["no-such-patch"], PATCHES)


def test_the_page_lists_them() -> None:
    page = (ROOT / "docs" / "patches.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([a-z0-9-]+)` \| `([a-z0-9-]+)` \| (.+) \| (\w+) \|$", page, re.MULTILINE
    )
    assert rows == [(p.patch, p.of, p.why["en"], p.basis) for p in PATCHES.values()]


# --- what is wrong in a file ------------------------------------------------------------------

MINE: Dict[str, Any] = {
    "patch": "mine-old",
    "of": "mine",
    "checked": "2026-12-01",
    "source": "setup.py",
    "basis": "inferred",
    "why": {"en": "it is gone", "zh": "已移除"},
    "edits": [{"files": ["setup.py"], "find": "old", "put": "new"}],
}


def edit(**fields: Any) -> Dict[str, Any]:
    return {"edits": [{**MINE["edits"][0], **fields}]}


@pytest.fixture(name="written")
def _written(tmp_path: Path) -> Callable[..., Dict[str, Patch]]:
    def written(name: str = "mine-old", **changes: Any) -> Dict[str, Patch]:
        folder = tmp_path / "patches"
        folder.mkdir()
        text = yaml.safe_dump({**MINE, **changes}, sort_keys=False, allow_unicode=True)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        return patches(tmp_path)

    return written


def test_a_patch(written: Callable[..., Dict[str, Patch]]) -> None:
    (found,) = written().values()
    assert (found.patch, found.edits[0].places) == ("mine-old", 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "other"}, "mine-old.yaml"),
        ({"patch": "Mine"}, "a name is words in lower case"),
        ({"basis": "guessed"}, "basis is one of"),
        ({"of": ""}, "of: says nothing"),
        ({"why": {"en": "it is gone"}}, "why: stands in en and zh"),
        ({"edits": []}, "1 to 40 are wanted"),
        ({"edit": []}, "no such key"),
        (edit(files=[]), r"edits\[0\].files: 1 to 40 are wanted"),
        (edit(files=["../setup.py"]), "no glob of files below the root"),
        (edit(files=["/etc/passwd"]), "no glob of files below the root"),
        (edit(files=["a/**"]), "no glob of files below the root"),
        (edit(files=["a**/b"]), "no glob of files below the root"),
        (edit(find="("), r"edits\[0\].find: '\('"),
        (edit(find="a*"), "finds nothing at all, everywhere"),
        (edit(find="a" * 5000), "longer than 4000 characters"),
        (edit(put=r"\2"), r"edits\[0\].put: invalid group reference"),
        (edit(put="a" * 5000), "longer than 4000 characters"),
        (edit(done="["), r"edits\[0\].done"),
        (edit(least="many"), r"edits\[0\].least: a number from 0"),
        (edit(least="0"), "no edit must find a place"),
        ({"note": "x" * 70_000}, "larger than 65536 bytes"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    written: Callable[..., Dict[str, Patch]], changes: Dict[str, Any], message: str
) -> None:
    with pytest.raises(DocumentError, match=message) as caught:
        written(**changes)
    assert str(caught.value).startswith("images/patches/")


@pytest.mark.parametrize("glob", ["setup.py", "a/**/*.cu", "**/x.py", "../a", "a//b", "a/**", ""])
def test_the_loader_and_the_applier_know_the_same_globs(
    written: Callable[..., Dict[str, Patch]], glob: str, tmp_path: Path
) -> None:
    from envdoctor.containers.apply_patches import glob as compiled

    def refused(call: Callable[[], Any]) -> bool:
        try:
            call()
        except ValueError:
            return True
        return False

    assert refused(lambda: compiled(glob)) == refused(lambda: written(**edit(files=[glob])))
