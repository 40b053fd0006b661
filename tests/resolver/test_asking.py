"""What profiles, requirement files and lines ask of the resolver: files in, pins out."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

import pytest
import small

from envdoctor.facts.requirements import read_all
from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.profiles import Profile, load_profile
from envdoctor.model.resolution import CRITERIA, HOST, IMAGE, VENV
from envdoctor.resolver.asking import (
    COMMAND_LINE,
    AskingError,
    Options,
    Question,
    UnheardOfError,
    order_of,
    questions,
)

ROWS = 'rows: {"3.8": {tag: cp38}}'
MORE = 'rows: {"3.7": {tag: cp37}, "3.8": {tag: cp38}, "3.9": {tag: cp39}, "3.10": {tag: cp310}}'
PROFILE = """
profile: mine
title: Mine
checked: 2026-01-01
stack:
  python: {version: ==3.8.*, source: "README:1"}
  torch: {version: ==1.9.1, variant: {cuda: "11.1"}, source: "README:2"}
  mmcv-full: {version: ==1.4.0, source: "README:3"}
  nobody-knows: {version: ==2.0, source: "README:4"}
requirements:
- {line: einops, source: "README:5"}
overrides:
- sides: [torch 1.8 (a:1), torch 1.9 (b:2)]
"""


PLAIN = Options()


@pytest.fixture
def knowledge(tmp_path: Path) -> Knowledge:
    from envdoctor.knowledge.load import load

    folder = tmp_path / "matrices"
    folder.mkdir()
    small.write(folder)
    (path,) = [p for p in (folder / "platform").glob("*.yaml") if ROWS in p.read_text()]
    path.write_text(path.read_text().replace(ROWS, MORE))
    return load(folder)


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    path = tmp_path / "mine.yaml"
    path.write_text(PROFILE, encoding="utf-8")
    return load_profile(str(path))


def asked(
    knowledge: Knowledge,
    texts: Sequence[str] = (),
    files: Sequence[Path] = (),
    options: Options = PLAIN,
    python: str = "",
    profile: Optional[Profile] = None,
    here: str = "",
) -> List[Question]:
    reading = read_all([str(file) for file in files], [(text, COMMAND_LINE) for text in texts])
    return questions(profile, reading, knowledge, options, python, "x86_64", here)


def said(question: Question) -> List[str]:
    return [f"{pin} <{pin.source}, {pin.by}>" for pin in question.request.pins]


#: {what is asked for: its pins, and what is left to the installer}
LINES: Dict[str, Tuple[List[str], List[str]]] = {
    "torch==1.9.1": (["torch ==1.9.1"], []),
    "torch==1.9.1+cu111": (["torch ==1.9.1 (cuda 11.1)"], []),
    "torch==1.9.1+cpu": (["torch ==1.9.1 (cuda cpu)"], []),
    "torch": (["torch"], []),
    "PyTorch_Lightning>=2": ([], ["PyTorch_Lightning>=2"]),
    "torch>=1.9,<2": (["torch <2,>=1.9"], []),
    "mmcv_full~=1.4.0": (["mmcv-full ~=1.4.0"], []),
    "mmcv-full[all]==1.4.0": (["mmcv-full ==1.4.0"], []),
    "einops @ https://example.org/einops-0.6.tar.gz": (
        [],
        ["einops @ https://example.org/einops-0.6.tar.gz"],
    ),
    "torch @ https://example.org/whl/cu111/torch-1.9.1%2Bcu111-cp38-cp38-linux_x86_64.whl": (
        ["torch ==1.9.1 (cuda 11.1)"],
        [],
    ),
    "torch==1.9.1; python_version < '3.9'": (["torch ==1.9.1"], []),
    "torch==1.9.1; python_version > '3.9'": ([], []),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line(line: str, knowledge: Knowledge) -> None:
    pins, rest = LINES[line]
    (question,) = asked(knowledge, ["torchvision", line], python="3.8")
    expected = ["python ==3.8.*", "torchvision", *pins]
    assert said(question) == [f"{pin} <command line, user>" for pin in expected]
    assert list(question.request.rest) == rest


def test_files_are_read_as_check_reads_them(knowledge: Knowledge, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("torchvision==0.10.1\n")
    (tmp_path / "bounds.txt").write_text("mmcv-full<1.5\neinops<1\n")
    listed = tmp_path / "requirements.txt"
    listed.write_text("-r more.txt\n-c bounds.txt\ntorch==1.9.1\nmmcv-full\nnumpy  # as it comes\n")
    (question,) = asked(knowledge, files=[listed], texts=["torch<2"])
    told = [text.replace(f"{tmp_path}/", "") for text in said(question)]
    assert told == [
        "torchvision ==0.10.1 <more.txt:1, file>",
        "torch ==1.9.1 <requirements.txt:3, file>",
        "mmcv-full <requirements.txt:4, file>",
        "torch <2 <command line, user>",
        "mmcv-full <1.5 <bounds.txt:1, file>",
    ]
    assert question.request.rest == ("numpy",)
    assert question.request.target == VENV


def test_an_environment_of_conda(knowledge: Knowledge, tmp_path: Path) -> None:
    listed = tmp_path / "environment.yml"
    listed.write_text(
        "dependencies:\n- python=3.8\n- pytorch=1.9.1=py3.8_cuda11.1_cudnn8_0\n- ffmpeg\n"
        "- pip:\n  - mmcv-full==1.4.0\n  - einops\n"
    )
    (question,) = asked(knowledge, files=[listed])
    assert [text.rpartition("/")[2] for text in said(question)] == [
        "environment.yml:2, file>",
        "environment.yml:3, file>",
        "environment.yml:6, file>",
    ]
    assert [str(pin) for pin in question.request.pins] == [
        "python ==3.8.*",
        "torch ==1.9.1 (cuda 11.1)",
        "mmcv-full ==1.4.0",
    ]
    assert question.request.rest == ("einops",)
    assert [note.partition(": ")[2] for note in question.notes] == [
        "left out: nothing that pip installs: ffmpeg"
    ]


def test_a_profile_may_be_relaxed_and_users_may_not(knowledge: Knowledge, profile: Profile) -> None:
    options = Options(IMAGE, keep=("MMCV_full",), no_source=True, prefer=("age",))
    (question,) = asked(knowledge, ["torch==2.4.1", "numpy"], options=options, profile=profile)
    request = question.request
    assert said(question) == [
        "python ==3.8.* <README:1, profile>",
        "torch ==1.9.1 (cuda 11.1) <README:2, profile>",
        "mmcv-full ==1.4.0 <README:3, profile>",
        "torch ==2.4.1 <command line, user>",
    ]
    assert [pin.soft for pin in request.pins] == [True, True, True, False]
    assert request.rest == ("einops", "nobody-knows==2.0", "numpy")
    assert question.notes == ("README:4: not judged: the matrices do not know nobody-knows",)
    assert (request.title, request.profile) == ("Mine torch==2.4.1 numpy", "mine")
    assert (request.target, request.no_source, request.prefer) == (IMAGE, True, ("age",))
    assert request.keep == {"mmcv-full"}
    assert len(request.overrides) == 1


def test_two_lines_of_one_package_are_both_kept(knowledge: Knowledge) -> None:
    (question,) = asked(knowledge, ["torch==1.9.1", "torch==1.10", "torch==1.9.1"])
    assert [str(pin) for pin in question.request.pins] == ["torch ==1.9.1", "torch ==1.10"]


def test_the_order_of_lines_is_no_part_of_what_is_asked(knowledge: Knowledge) -> None:
    (one,) = asked(knowledge, ["torch==1.9.1", "mmcv-full==1.4.0"])
    (other,) = asked(knowledge, ["mmcv-full==1.4.0", "torch==1.9.1"])
    assert set(one.request.pins) == set(other.request.pins)


# --- Python ----------------------------------------------------------------------------------


def test_lines_that_depend_on_an_open_python_are_asked_about_for_each(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    listed = tmp_path / "r.txt"
    listed.write_text(
        "torch==1.9.1; python_version < '3.9'\ntorch==2.4.1; python_version >= '3.9'\n"
    )
    found = asked(knowledge, files=[listed])
    assert [[str(pin) for pin in one.request.pins] for one in found] == [
        ["python ==3.7.*", "torch ==1.9.1"],
        ["python ==3.8.*", "torch ==1.9.1"],
        ["python ==3.9.*", "torch ==2.4.1"],
        ["python ==3.10.*", "torch ==2.4.1"],
    ]
    (kept,) = asked(knowledge, files=[listed], options=Options(HOST), here="3.9.18")
    assert [str(pin) for pin in kept.request.pins] == ["torch ==2.4.1"]
    (wanted,) = asked(knowledge, files=[listed], python="3.8")
    assert [str(pin) for pin in wanted.request.pins] == ["python ==3.8.*", "torch ==1.9.1"]


@pytest.mark.parametrize(
    ("stated", "means"),
    [
        (">=3.8", ">=3.8"),
        (">=3.8.1", ">=3.8"),
        ("==3.8.5", "==3.8.*"),
        (">=3.7.2,!=3.8.*", "!=3.8"),
        ("<3.9.5,>3.7.3", "<=3.9"),
    ],
)
def test_a_release_of_python_is_of_its_series(
    stated: str, means: str, knowledge: Knowledge, tmp_path: Path
) -> None:
    listed = tmp_path / "pyproject.toml"
    listed.write_text(f'[project]\nname = "x"\nrequires-python = "{stated}"\n')
    (question,) = asked(knowledge, ["torch==1.9.1"], [listed])
    assert [pin.specifier for pin in question.request.pins if pin.component == "python"] == [means]


def test_the_python_of_a_profile_decides_its_lines(knowledge: Knowledge, profile: Profile) -> None:
    (question,) = asked(knowledge, ["einops; python_version > '3.8'"], profile=profile)
    assert question.request.rest == ("einops", "nobody-knows==2.0")


# --- what cannot be asked --------------------------------------------------------------------

WRONG: Dict[str, str] = {
    "torhc>=2": "command line: torhc is unknown; nearest: torch",
    "torch==1.9.7": "torch has no release 1.9.7; nearest: 1.9.0, 1.9.1, 1.10.0, 2.4.1",
}
UNHEARD_OF: Dict[str, str] = {
    "torch==9.0": "no release of torch that is known fits ==9.0; known are 1.9.0 to 2.7.0",
    "torch>=9": "no release of torch that is known fits >=9; known are 1.9.0 to 2.7.0",
    "torch==2.4.0a0+07cecf4168.nv24.5": (
        "command line: torch 2.4.0a0+07cecf4168.nv24.5 is a build that the matrices do not know"
    ),
    "PyTorch_Lightning>=2": (
        "the matrices know nothing of what is asked for: PyTorch_Lightning>=2"
    ),
    "torch==1.9.1+git123": (
        "command line: torch 1.9.1+git123 is a build that the matrices do not know"
    ),
}


@pytest.mark.parametrize("line", WRONG)
def test_a_release_that_there_is_not(line: str, knowledge: Knowledge) -> None:
    with pytest.raises(AskingError) as error:
        asked(knowledge, [line])
    assert str(error.value) == WRONG[line]


@pytest.mark.parametrize("line", UNHEARD_OF)
def test_a_build_of_which_nothing_is_known(line: str, knowledge: Knowledge) -> None:
    with pytest.raises(UnheardOfError) as error:
        asked(knowledge, [line])
    assert str(error.value) == UNHEARD_OF[line]


def test_a_line_of_a_file_is_named(knowledge: Knowledge, tmp_path: Path) -> None:
    listed = tmp_path / "r.txt"
    listed.write_text("\ntorch==1.9.7\n")
    with pytest.raises(AskingError, match=r"r\.txt:2: torch has no release 1\.9\.7; nearest: "):
        asked(knowledge, files=[listed])


def test_what_is_kept_is_pinned(knowledge: Knowledge) -> None:
    with pytest.raises(AskingError) as error:
        asked(knowledge, ["torch==1.9.1"], options=Options(keep=("mmcv",)))
    assert str(error.value) == "--keep: nothing that was asked for pins 'mmcv'; pinned: torch"


# --- what weighs how much --------------------------------------------------------------------


def test_criteria_that_are_named_come_first() -> None:
    assert order_of(()) == CRITERIA
    assert order_of(["source_builds,age"])[:3] == ("source_builds", "age", "dropped_pins")
    assert order_of(["age", "changes"])[:2] == ("age", "changes")
    assert sorted(order_of(["age"])) == sorted(CRITERIA)


@pytest.mark.parametrize(
    ("named", "says"),
    [
        (["speed"], "--prefer: there is no criterion 'speed'; known are dropped_pins, "),
        (["age,age"], "--prefer: age is named twice; known are "),
        ([""], "--prefer: there is no criterion ''; "),
        (["\x1b[2J," * 1000], "--prefer: there is no criterion '[2J', '[2J', "),
    ],
)
def test_criteria_that_there_are_not(named: List[str], says: str) -> None:
    with pytest.raises(AskingError) as error:
        order_of(named)
    assert str(error.value).startswith(says)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 1_000
