"""The text report: what is shown, what is only counted, and that what is copied stays whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Callable, Dict, Tuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from sample_reports import (
    ABI,
    ASSUMED,
    LOGIN_NODE,
    NOTHING,
    NUMPY,
    REQUIRES,
    TRAINING,
    WORKERS,
    report,
)

from envdoctor.model.facts import Facts
from envdoctor.model.finding import (
    PHASES,
    SEVERITIES,
    Accepted,
    Evidence,
    Finding,
    Fix,
    Report,
)
from envdoctor.report import text
from envdoctor.report.view import View
from envdoctor.rules.selection import identity

GOLDEN = Path(__file__).resolve().parent / "golden"
HOME = View(home="/home/ann")

replace = msgspec.structs.replace

CASES: Dict[str, Tuple[Report, Facts, View]] = {
    "healthy": (report(ruled_out=("torch-abi-mismatch", "numpy-2-abi")), TRAINING, HOME),
    "one_error": (
        report(ABI, ruled_out=("driver-too-old", "numpy-2-abi"), skipped=2),
        TRAINING,
        HOME,
    ),
    "several": (report(WORKERS, NUMPY, ABI, REQUIRES, skipped=1), TRAINING, HOME),
    "several_quiet": (report(WORKERS, NUMPY, ABI, REQUIRES), TRAINING, HOME._replace(quiet=True)),
    "several_verbose": (
        report(WORKERS, NUMPY, ABI, REQUIRES, ruled_out=("driver-too-old",), skipped=2),
        TRAINING,
        HOME._replace(verbose=True),
    ),
    "notes_only": (report(WORKERS, ruled_out=("numpy-2-abi",)), TRAINING, HOME),
    "many": (report(*[replace(ABI, code=f"ED4{n:02}") for n in range(6)], NUMPY), TRAINING, HOME),
    "assumed": (report(), ASSUMED, HOME),
    "set_aside": (
        replace(
            report(NUMPY),
            ignored=(identity(ABI), identity(ABI), identity(REQUIRES)),
            baseline=Accepted("ci/known.json", (identity(WORKERS),), (identity(ABI),)),
            configuration="/home/ann/maptr/pyproject.toml",
        ),
        TRAINING,
        HOME,
    ),
    "no_target": (report(skipped=3), NOTHING, HOME),
    "narrow": (report(ABI, NUMPY), LOGIN_NODE, HOME._replace(width=60)),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    said, facts, view = CASES[name]
    golden(GOLDEN / f"check_{name}.txt", text.render(said, facts, 0.23, view))


@pytest.mark.parametrize("name", CASES)
def test_golden_in_chinese(name: str, golden: Callable[[Path, str], None]) -> None:
    said, facts, view = CASES[name]
    told = text.render(replace(said, language="zh"), facts, 0.23, view)
    golden(GOLDEN / f"check_{name}_zh.txt", told)
    commands = {c for f in said.findings for fix in f.fixes for c in fix.commands}
    for line in told.splitlines():
        path = line.strip().startswith(("~/", "/")) and " " not in line.strip()
        assert cell_len(line) <= view.width or path or line.strip() in commands


@pytest.mark.parametrize("name", CASES)
def test_only_what_must_stay_whole_is_wider_than_the_view(name: str) -> None:
    said, facts, view = CASES[name]
    commands = {c for f in said.findings for fix in f.fixes for c in fix.commands}
    for line in text.render(said, facts, 0.23, view).splitlines():
        path = line.strip().startswith(("~/", "/")) and " " not in line.strip()
        assert len(line) <= view.width or path or line.strip() in commands


@pytest.mark.parametrize("name", CASES)
def test_colour_changes_nothing_but_colour(name: str) -> None:
    said, facts, view = CASES[name]
    plain = text.render(said, facts, 0.23, view)
    coloured = text.render(said, facts, 0.23, view._replace(colour=True))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_a_long_command_stays_on_one_line() -> None:
    command = "python -m pip install " + " ".join(f"package-{n}==1.0.{n}" for n in range(40))
    finding = replace(ABI, fixes=(Fix("", (command,)),))
    assert command in [
        line.strip() for line in text.render(report(finding), TRAINING, 0, View()).splitlines()
    ]


def test_a_long_path_stays_whole() -> None:
    path = "/data/" + "deeply/nested/" * 12 + "version.py"
    finding = replace(ABI, evidence=(Evidence("torch", "2.4.1", path),))
    assert path in text.render(report(finding), TRAINING, 0, View())


def test_a_page_holds_the_gravest_in_full_and_the_rest_in_short() -> None:
    errors = [replace(ABI, code=f"ED4{n:02}") for n in range(20)]
    shown = text.render(report(NUMPY, *errors), TRAINING, 0, View())
    assert shown.count("Look yourself") == 3
    assert all(f"{finding.code} " in shown for finding in (NUMPY, *errors))
    assert "18 findings told in short (--verbose)." in shown
    everything = text.render(report(NUMPY, *errors), TRAINING, 0, View(verbose=True))
    assert everything.count("Look yourself") == 20
    assert "in short" not in everything


@pytest.mark.parametrize("view", [View(), View(quiet=True)])
def test_many_of_a_kind_are_counted(view: View) -> None:
    broken = [replace(REQUIRES, component=f"package-{n} 1.0") for n in range(5000)]
    others = [replace(NUMPY, component=f"other-{n} 1.0") for n in range(20)]
    shown = text.render(report(ABI, *others, *broken), TRAINING, 0, view)
    assert shown.startswith("1 error, 5020 warnings")
    assert [shown.count(name) for name in ("mmcv-full", " package-", " other-")][1:] == [20, 20]
    lines = shown.splitlines()
    (more,) = (number for number, line in enumerate(lines) if "more of this kind" in line)
    assert lines[more] == "   … and 4980 more of this kind (--verbose)"
    assert "package-19 1.0" in "".join(lines[more - 3 : more])
    assert len(shown) < 10_000
    everything = text.render(report(*broken), TRAINING, 0, view._replace(verbose=True))
    assert everything.count(" package-") == 5000
    assert "more of this kind" not in everything


def test_one_long_finding_is_shown_in_full() -> None:
    fixes = tuple(Fix(f"way {n}", (f"command {n}",)) for n in range(60))
    shown = text.render(report(replace(ABI, fixes=fixes)), TRAINING, 0, View())
    assert "command 59" in shown


def test_evidence_past_the_fifth_is_counted() -> None:
    evidence = tuple(Evidence(f"fact{n}", "1", "there") for n in range(9))
    finding = replace(NUMPY, evidence=evidence)
    shown = text.render(report(finding), TRAINING, 0, View())
    assert "fact4" in shown
    assert "fact5" not in shown
    assert "and 4 more (--verbose)" in shown
    assert "fact8" in text.render(report(finding), TRAINING, 0, View(verbose=True))


# What a package's metadata may hold: control characters, terminal sequences, rich's markup.
HOSTILE = st.text(
    st.sampled_from("ab [/]:\\\x1b\x07\r\n\t\x00\x9b\u202e\u2028\udce9你") | st.characters(),
    max_size=60,
) | st.sampled_from(["[bold red]x[/]", "[link=http://a]b[/link]", ":smile:", "\x1b[2J\x1b]0;t\x07"])
HOSTILE_FINDINGS = st.builds(
    Finding,
    code=st.just("ED412"),
    name=st.just("torch-abi-mismatch"),
    severity=st.sampled_from(SEVERITIES),
    phase=st.sampled_from(PHASES),
    component=HOSTILE,
    summary=HOSTILE,
    why=HOSTILE,
    evidence=st.lists(st.builds(Evidence, HOSTILE, HOSTILE, HOSTILE), max_size=2).map(tuple),
    fixes=st.lists(st.builds(Fix, HOSTILE, st.tuples(HOSTILE)), max_size=2).map(tuple),
    verify=st.tuples(HOSTILE),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(HOSTILE_FINDINGS, max_size=2))
def test_what_strangers_wrote_cannot_steer_the_terminal(findings: Tuple[Finding, ...]) -> None:
    shown = text.render(report(*findings), TRAINING, 0, View(verbose=True))
    assert all(c == "\n" or c.isprintable() for c in shown)


def test_markup_and_emoji_codes_are_shown_as_they_are() -> None:
    finding = replace(NUMPY, component="[bold red]x[/]", summary=":smile: [link=a]b[/link]")
    shown = text.render(report(finding), TRAINING, 0, View())
    assert "[bold red]x[/]" in shown
    assert ":smile: [link=a]b[/link]" in shown


def test_phases_come_in_the_order_in_which_a_user_meets_them() -> None:
    findings = [replace(NUMPY, phase=phase) for phase in reversed(PHASES)]
    lines = text.render(report(*findings), TRAINING, 0, View()).splitlines()
    assert [line for line in lines if line.isupper()] == [phase.upper() for phase in PHASES]
