"""Profiles of users: what is read, and one message for each thing that cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable

import pytest

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.knowledge.profiles import load_profile, profiles
from envdoctor.resolver.stated import request_of, with_profile

MINE = """\
profile: mine
title: Mine
checked: 2026-12-01
stack:
  python: {version: ==3.10.*, source: README.md:3}
  torch: {version: ==2.1.2, variant: {cuda: "12.1"}, source: README.md:4}
  timm: {source: requirements.txt:1}
  our-ops: {version: ==1.0, tree: ops, source: README.md:9}
requirements:
- {line: "einops>=0.6", source: requirements.txt:2}
overrides:
- sides: ["timm (requirements.txt:1)", "timm<1 (setup.py:9)"]
  take: timm<1
  reason: the model was trained with it
  waives: [timm/container-abcs]
trees:
- {package: our-ops, folder: ops, command: pip install -e ., source: README.md:9}
packages:
- package: our-ops
  checked: 2026-12-01
  source: ops/setup.py
  requires: [torch]
  releases: ["1.0"]
  variant: {origin: string, compiles: string, toolkit: string}
  builds:
  - id: our-ops/source
    versions: ["1.0"]
    set: {origin: source, compiles: cuda, toolkit: needed}
  relations:
  - id: our-ops/thc
    needs: "torch < removed_torch_cxx['THC/THC.h'].gone"
    phase: build
    finding: thc-headers-removed
    words: {en: {summary: "{self} does not compile with {torch}"}}
"""
Write = Callable[[str], str]


@pytest.fixture(name="write")
def _write(tmp_path: Path) -> Write:
    def write(text: str) -> str:
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(name="knowledge", scope="module")
def _knowledge() -> Knowledge:
    return load()


def test_a_profile_of_ones_own(write: Write, knowledge: Knowledge) -> None:
    profile = load_profile(write(MINE))
    with_it = with_profile(knowledge, profile)
    pins = {pin.component: pin for pin in request_of(profile).pins}
    assert str(pins["torch"]) == "torch ==2.1.2 (cuda 12.1)"
    assert (pins["timm"].specifier, pins["our-ops"].tree) == ("<1", "ops")
    assert request_of(profile).rest == ("einops>=0.6",)
    assert with_it.packages["our-ops"].builds()[0].entry == "our-ops/source"
    assert "timm/container-abcs" not in {relation.id for relation in with_it.relations}
    (relation,) = [r for r in with_it.relations if r.owner == "our-ops"]
    assert relation.where.endswith("mine.yaml:30")


RELATION = """\
- package: timm
  checked: 2026-12-01
  source: train.py:3
  relations:
  - id: mine/timm
    needs: "torch >= '2.0'"
    phase: run
    finding: package-name-removed
    words: {en: {summary: "train.py does not work with {self} and {torch}"}}
"""


def test_a_known_package_has_relations_for_it(write: Write, knowledge: Knowledge) -> None:
    with_it = with_profile(knowledge, load_profile(write(MINE + RELATION)))
    assert with_it.packages["timm"] is knowledge.packages["timm"]
    (relation,) = [r for r in with_it.relations if r.id == "mine/timm"]
    assert (relation.owner, relation.source) == ("timm", "train.py:3")


def test_what_the_documentation_shows_is_one(write: Write, knowledge: Knowledge) -> None:
    page = Path(__file__).parents[2] / "docs" / "profiles.md"
    shown = page.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    profile = load_profile(write(shown))
    assert profile.title == "Mine"
    assert "our-ops" in with_profile(knowledge, profile).packages


@pytest.mark.parametrize("name", ["maptr", "MapTR", " maptr "])
def test_one_that_ships_is_found_by_its_name(name: str) -> None:
    assert load_profile(name).profile == "maptr"
    assert not load_profile(name).theirs


def test_what_is_read_again_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ENVDOCTOR_NO_CACHE", raising=False)
    first = profiles()
    assert list((tmp_path / "envdoctor").glob("profiles-*"))
    assert profiles() == first


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title: Mine\n", "", "the key title is missing"),
        ("title: Mine", "tittle: Mine", ":2: tittle: no such key; nearest: title"),
        ("version: ==2.1.2", "version: two", ":6: stack.torch.version: Invalid specifier: 'two'"),
        ("version: ==2.1.2", "versoin: ==2.1.2", "stack.torch.versoin: no such key; nearest"),
        ("source: README.md:4", "source: ' '", ":6: stack.torch.source: says nothing"),
        ("  our-ops: {v", "  Our_Ops: {v", "stack.Our_Ops: the name is written our-ops"),
        ('"einops>=0.6"', '"einops >>> 0.6"', ":10: requirements[0].line: 'einops >>> 0.6' is no"),
        ("take: timm<1\n", "take: tim<1\n", "overrides[0].take: stack has no 'tim'; nearest: timm"),
        ("take: timm<1\n", "take: 'timm[x]<1'\n", "is more than a name and a range"),
        ("  take: timm<1\n", "", "overrides[0].waives: nothing is taken instead"),
        ("  reason: the model was trained with it\n", "", "overrides[0].reason: says nothing"),
        ('"timm (requirements.txt:1)", ', "", "overrides[0].sides: a contradiction has two sides"),
        ("package: our-ops, f", "package: our-op, f", "trees[0].package: stack has no 'our-op'"),
        ("folder: ops", "folder: op", "trees[0].folder: stack.our-ops.tree names another: 'ops'"),
        ("releases: [", "release: [", ":23: packages[0].release: no such key; nearest: releases"),
        ("  source: ops/setup.py\n", "", "names no source, and neither does its file"),
        ("phase: build\n", "phase: bulid\n", "phase is one of resolve, build, install"),
        ("finding: thc-h", "finding: th-h", "no page is called 'th-headers-removed'; nearest: thc"),
        ('needs: "torch <', 'needs: "tork <', "our-ops/thc: "),
        ("{self} does", "{selv} does", "our-ops/thc: words"),
        (
            "  timm: {s",
            "  tim: {source: x}\n  timm: {s",
            "tim: the matrices have no such package; nearest: timm; under",
        ),
        ("variant: {cuda: ", "variant: {kuda: ", "torch declares no attribute 'kuda'"),
        ('{cuda: "12.1"}', '{cuda: "new"}', "stack.torch.variant: cuda: 'new' is not a version"),
        (
            "[timm/container-abcs]",
            "[timm/abcs]",
            "no relation is called 'timm/abcs'; nearest: timm",
        ),
        (
            "command: pip install -e .,",
            "command: pip install -e ., patches: [mmcv-tch],",
            "trees[0].patches: no patch is called 'mmcv-tch'; nearest: mmcv-thc",
        ),
        ("package: our-ops\n", "package: timm\n", "the matrices have timm already: only relations"),
        ("id: our-ops/thc", "id: mmcv-full/thc", "the id mmcv-full/thc is one of the matrices'"),
    ],
)
def test_a_mistake_has_one_message(
    write: Write, knowledge: Knowledge, old: str, new: str, said: str
) -> None:
    text = MINE.replace(old, new, 1)
    assert text != MINE
    with pytest.raises(DocumentError) as raised:
        with_profile(knowledge, load_profile(write(text)))
    message = str(raised.value)
    assert said in message
    assert "mine.yaml" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "keys with values is wanted, not nothing"),
        ("[]", "keys with values is wanted, not a list"),
        ("profile: [", "expected"),
        ("profile: \x00", "mine.yaml"),
        ("[" * 5000, "mine.yaml"),
        ("a: &a [x]\n" + "".join(f"{n}: [*a, *a]\n" for n in range(3)), "no such key"),
        (MINE + "# " + "x" * (1 << 20), "larger than 1048576 bytes"),
        (MINE + "  - &a {id: a}\n", "mine.yaml:"),
        (
            MINE.replace(
                "stack:\n", "stack:\n" + "".join(f"  p{n}: {{source: x}}\n" for n in range(300))
            ),
            "stack: 304 are more than 200",
        ),
        (MINE.replace('line: "einops>=0.6"', f'line: "{"x" * 400}"'), "longer than 300 characters"),
        (
            MINE.replace('["1.0"]\n  variant', '["1.0"]\n  local: "(a+)+$"\n  variant'),
            "a group is repeated",
        ),
        (MINE.replace("title: Mine", "title: \u202emine\x1b"), "mine.yaml"),
    ],
)
def test_what_strangers_write_ends_in_one_message(write: Write, text: str, said: str) -> None:
    with pytest.raises(DocumentError) as raised:
        load_profile(write(text))
    assert said in str(raised.value)
    assert str(raised.value).isprintable()


def test_aliases_make_no_small_file_large(write: Write) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    with pytest.raises(DocumentError, match="more than 200000 values"):
        load_profile(write("\n".join(rows)))


def test_what_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path, said in (
        (pipe, "is no file"),
        (tmp_path / "none.yaml", "no such file or directory"),
        (Path("/dev/zero"), "is no file"),
    ):
        with pytest.raises(DocumentError, match=said):
            load_profile(str(path))
    with pytest.raises(DocumentError, match="directory"):
        load_profile(f"{tmp_path}/")
    with pytest.raises(DocumentError, match="null"):
        load_profile("a\0b.yaml")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "mapter",
            "no profile is called 'mapter'; nearest: maptr; there are gaussianformer, maptr",
        ),
        ("", "no profile is called ''"),
        ("\x1b[31m", "no profile is called"),
        ("x" * 10_000, "no profile is called"),
    ],
)
def test_a_name_that_is_none(name: str, said: str) -> None:
    with pytest.raises(DocumentError) as raised:
        load_profile(name)
    assert said in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 600
