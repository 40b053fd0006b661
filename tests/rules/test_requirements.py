"""Requirements are read as packaging reads them, and what it cannot read is passed over."""

from __future__ import annotations

from typing import List, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.model.facts import Facts, Machine, Target, seen
from envdoctor.rules.requirements import applies, environment, meets, narrowest, parse

NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?", fullmatch=True)
EXTRAS = st.sampled_from(["", "[a]", "[a,b]", " [ a , b ] "])
VERSIONS = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}(rc1|\.post1)?", fullmatch=True)
CLAUSES = st.builds(
    "{}{}".format, st.sampled_from(["==", "!=", ">=", "<=", "<", ">", "~=1."]), VERSIONS
)
SPECIFIERS = st.lists(CLAUSES, max_size=3).map(",".join)
URLS = st.sampled_from(["https://host.example/a-1.0.tar.gz", "git+https://host.example/a;b#egg=a"])
MARKERS = st.sampled_from(
    [
        "",
        'python_version < "3.8"',
        'sys_platform == "linux" and (platform_machine == "x86_64" or extra == "gpu")',
        "os.name == 'posix'",
    ]
)
SPACES = st.sampled_from(["", " ", "  "])


@st.composite
def requirements(draw: st.DrawFn) -> str:
    name, extras, space = draw(NAMES), draw(EXTRAS), draw(SPACES)
    specifier, marker = draw(SPECIFIERS), draw(MARKERS)
    kind = draw(st.sampled_from(["plain", "enclosed", "url"]))
    wanted = {
        "plain": specifier,
        "enclosed": f"({specifier})" if specifier else "",
        "url": f"@ {draw(URLS)}",
    }[kind]
    end = f" ;{space}{marker}" if marker else ""
    return f"{name}{space}{extras}{space}{wanted}{space}{end}"


@given(requirements())
def test_what_packaging_reads_is_read_alike(text: str) -> None:
    known = Requirement(text)
    read = parse(text)
    assert read is not None
    assert read.name == canonicalize_name(known.name)
    assert SpecifierSet(read.specifier) == known.specifier
    assert read.url == (known.url or "")
    assert (Marker(read.marker) if read.marker else None) == known.marker


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_or_passed_over(text: str) -> None:
    read = parse(text)
    if read is not None:
        applies(read, ENVIRONMENT)
        meets("1.0", read.specifier)


TARGET = Target(python="/env/bin/python", version="3.8.18")
ENVIRONMENT = environment(
    Facts(machine=Machine(architecture=seen("x86_64", "uname"), kernel=seen("5.15.0-1", "proc"))),
    TARGET,
)
NO_MACHINE = environment(Facts(), TARGET)


@pytest.mark.parametrize(
    ("text", "name", "specifier"),
    [
        ("numpy", "numpy", ""),
        ("Foo_Bar.baz (>=1.0)", "foo-bar-baz", ">=1.0"),
        ("numpy (>=1.17,<1.24)", "numpy", ">=1.17,<1.24"),
        ("pyzmq>=17.*", "pyzmq", ">=17"),
        ("torch[opt] == 2.4.1", "torch", "== 2.4.1"),
    ],
)
def test_old_and_new_forms(text: str, name: str, specifier: str) -> None:
    read = parse(text)
    assert read is not None
    assert (read.name, read.specifier) == (name, specifier)


@pytest.mark.parametrize(
    "text",
    ["", "pytz (>dev)", "foo (1.0)", "a requirement in words", "numpy>=1.0...", "-e .", "foo[bar"],
)
def test_what_is_no_requirement_is_passed_over(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("marker", "here", "on_unknown_machine"),
    [
        ('python_version < "3.9"', True, True),
        ('python_version >= "3.9"', False, False),
        ('python_full_version < "3.8.1"', False, False),
        ('platform_machine == "x86_64"', True, None),
        ('platform.machine == "aarch64"', False, None),
        ('platform_release >= "5"', True, None),
        ('platform_version == "1"', None, None),
        ('sys_platform == "win32"', False, False),
        ('platform_python_implementation == "CPython"', True, True),
        ('extra == "test"', False, False),
        ("python_version in '2.7 3.8'", True, True),
        ("no_such_variable == '1'", None, None),
    ],
)
def test_markers_speak_of_the_examined_environment(
    marker: str, here: Optional[bool], on_unknown_machine: Optional[bool]
) -> None:
    read = parse(f"numpy ; {marker}")
    assert read is not None
    assert applies(read, ENVIRONMENT) is here
    assert applies(read, NO_MACHINE) is on_unknown_machine


@pytest.mark.parametrize(
    ("version", "wanted", "result"),
    [
        ("1.26.4", "<2", True),
        ("2.0.2", "<2", False),
        ("2.4.1+cu121", "==2.4.1", True),
        ("2.4.1+cu121", "==2.4.1+cu121", True),
        ("2.4.1+cu121", "==2.4.1+cu118", False),
        ("2.4.0a0+07cecf4168.nv24.05", ">=2.4", True),
        ("2.4.1.post303", "==2.4.1", True),
        ("1.8.5.post1", "<=1.8.5", True),
        ("1.8.5.post1", "<1.8.5", False),
        ("2.0.0rc1", ">=2.0.0", False),
        ("2.0.0rc1", ">=1.9", True),
        ("1.0", "", True),
        ("unknown", ">=1.0", None),
    ],
)
def test_versions_meet_specifiers(version: str, wanted: str, result: Optional[bool]) -> None:
    assert meets(version, wanted) is result


@pytest.mark.parametrize(
    ("specifiers", "result"),
    [
        ([">=1.20", "<2", ">=1.22,<2.7", "!=1.24.0", ""], ">=1.22,<2,!=1.24.0"),
        ([">=1.20", ">1.20"], ">1.20"),
        (["<=2.0", "<2.0"], "<2.0"),
        ([">=2.1,<3", "==2.9.0.post0"], "==2.9.0.post0"),
        (["~=1.4.2", "==1.*"], "~=1.4.2,==1.*"),
        ([""], ""),
    ],
)
def test_specifiers_are_joined_without_what_follows_from_others(
    specifiers: List[str], result: str
) -> None:
    assert narrowest(specifiers) == result


# Without pre- and post-releases, which < and > leave out by rules of their own.
PLAIN = st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,2}){0,2}", fullmatch=True)
RANGES = st.lists(
    st.builds("{}{}".format, st.sampled_from([">=", "<=", "<", ">", "!="]), PLAIN), max_size=3
).map(",".join)


@given(st.lists(RANGES, max_size=4), PLAIN)
def test_a_joined_specifier_lets_the_same_versions_pass(specifiers: List[str], text: str) -> None:
    assert meets(text, narrowest(specifiers)) == all(meets(text, s) for s in specifiers)
