"""Whatever releases and names there are: ranges tell each release, and text is read back."""

from __future__ import annotations

from typing import Dict, List, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexes.block import check, split, written
from indexes.pypi import ordered
from indexes.runs import ranges
from indexes.wheels import Wheel, by_glibc, wheel
from packaging.version import Version

from envdoctor.knowledge.schema import Listing, PyPIFiles
from envdoctor.model.versions import satisfies

VERSIONS = st.builds(
    "{}{}{}{}".format,
    st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda n: ".".join(map(str, n))),
    st.sampled_from(["", "", "a1", "b2", "rc1", "rc2"]),
    st.sampled_from(["", "", ".post1", ".post2"]),
    st.sampled_from(["", "", "", ".dev1"]),
).map(Version)
TAGS = st.sampled_from(["cp36", "cp39", "cp310", "cp313", "cp313t", "cp39-abi3", "py3"])
HEAD = "package: demo\nchecked: 2026-01-01\n"


@given(st.dictionaries(VERSIONS, st.one_of(st.none(), st.integers(0, 2)), max_size=12))
def test_ranges_tell_every_release(values: Dict[Version, Optional[int]]) -> None:
    releases = sorted(values)
    told = ranges(releases, values)
    for release in releases:
        own = next((value for text, value in told.items() if satisfies(release, text)), None)
        assert own == values[release]


@given(st.dictionaries(VERSIONS, st.integers(0, 2), min_size=2, max_size=9))
def test_a_newer_release_like_the_last_changes_no_range(known: Dict[Version, int]) -> None:
    *releases, newer = sorted(known)
    values = {release: known[release] for release in releases}
    more = {**values, newer: values[releases[-1]]}
    assert ranges(sorted(more), more) == ranges(releases, values)


WHEELS = st.builds(
    Wheel,
    st.just("demo"),
    st.just(Version("1")),
    st.frozensets(TAGS, min_size=1, max_size=3),
    st.just("x86_64"),
    st.sampled_from(["", "2.5", "2.12", "2.17", "2.28"]),
)


@given(st.lists(WHEELS, max_size=6))
def test_each_python_stands_once_with_its_oldest_glibc(wheels: List[Wheel]) -> None:
    told = by_glibc(wheels)
    assert told == by_glibc(reversed(wheels))

    def number(text: str) -> List[int]:
        return [int(part) for part in text.split(".") if part]

    oldest = {
        tag: min((w.glibc for w in wheels if tag in w.tags), key=number)
        for w in wheels
        for tag in w.tags
    }
    assert {tag: glibc for glibc, tags in told.items() for tag in tags} == oldest
    assert sum(map(len, told.values())) == len(oldest)


@given(st.text(max_size=60))
def test_names_of_wheels_never_raise(text: str) -> None:
    assert wheel(text) is None or text.endswith(".whl")


PIECE = st.one_of(
    st.text(max_size=6),
    st.sampled_from(
        ["cp38", "py3", "manylinux_2_17_x86_64", "linux_aarch64", "none", "1.0", "9" * 5000]
    ),
    st.integers(0, 10**30).map(lambda n: f"cp3{n}"),
    st.integers(0, 10**30).map(lambda n: f"manylinux_{n}_{n}_x86_64"),
)


@given(st.lists(PIECE, min_size=3, max_size=6))
def test_nearly_names_of_wheels_never_raise(pieces: List[str]) -> None:
    found = wheel("-".join(pieces) + ".whl")
    assert found is None or found.tags


@given(st.text(alphabet="<>=!~.*,0123456789 abcdev+\"'\\\n", max_size=30))
def test_specifiers_are_put_in_order_or_are_none(text: str) -> None:
    assert ordered(ordered(text)) == ordered(text)


@pytest.mark.parametrize(
    ("name", "tags", "architecture", "glibc"),
    [
        ("a-1-cp38-cp38-manylinux1_x86_64.whl", {"cp38"}, "x86_64", "2.5"),
        ("a-1-cp36-cp36m-linux_x86_64.whl", {"cp36"}, "x86_64", ""),
        ("a-1-cp37-abi3-manylinux_2_28_aarch64.whl", {"cp37-abi3"}, "aarch64", "2.28"),
        ("a-1-cp313-cp313t-manylinux_2_5_x86_64.linux_s390x.whl", {"cp313t"}, "x86_64", "2.5"),
        ("a-1-py2.py3-none-any.whl", {"py3"}, "any", ""),
        ("a-1-cp38.cp39-none-manylinux2010_x86_64.whl", {"cp38", "cp39"}, "x86_64", "2.12"),
    ],
)  # fmt: skip
def test_what_a_name_says(name: str, tags: set[str], architecture: str, glibc: str) -> None:
    found = wheel(name)
    assert found is not None
    assert (set(found.tags), found.architecture, found.glibc) == (tags, architecture, glibc)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAUSIBLE = st.one_of(
    TEXTS, VERSIONS.map(str), TAGS, st.sampled_from(["null", "~", "no", "", "1e3"])
)
BY_RELEASE = st.dictionaries(PLAUSIBLE, PLAUSIBLE, max_size=3)
FILES = st.builds(
    PyPIFiles,
    checked=st.just("2026-12-01"),
    releases=st.lists(PLAUSIBLE, max_size=40),
    yanked=st.lists(PLAUSIBLE, max_size=3),
    requires_python=st.dictionaries(PLAUSIBLE, PLAUSIBLE, min_size=1, max_size=3),
    requires=st.dictionaries(TEXTS, BY_RELEASE, max_size=2),
    wheels=st.dictionaries(
        st.sampled_from(["any", "x86_64"]),
        st.dictionaries(
            PLAUSIBLE,
            st.dictionaries(PLAUSIBLE, st.lists(PLAUSIBLE, max_size=9), max_size=2),
            min_size=1,
            max_size=2,
        ),
        max_size=2,
    ),
    sdist=st.lists(PLAUSIBLE, max_size=12),
)
NODES = st.recursive(
    st.lists(PLAUSIBLE, max_size=5),
    lambda below: st.dictionaries(PLAUSIBLE, below, max_size=3),
    max_leaves=8,
)
LISTINGS = st.builds(
    Listing,
    checked=st.just("2026-12-01"),
    wheels=st.dictionaries(PLAUSIBLE, NODES, min_size=1, max_size=3),
)


@given(FILES, st.dictionaries(TEXTS, LISTINGS, max_size=2))
def test_what_is_written_is_read_back(files: PyPIFiles, pages: Dict[str, Listing]) -> None:
    text = written(HEAD, files, pages)
    check("demo.yaml", text, files, pages)
    assert split(text) == f"{HEAD}\n"
    assert written(text, files, pages) == text
