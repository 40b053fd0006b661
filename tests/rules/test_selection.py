"""Which findings are told, which are accepted, and what a report says of the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Sequence, Tuple

import msgspec
import pytest

from envdoctor.model.finding import Citation, Finding, Identity, Report, Skipped, TargetSummary
from envdoctor.rules import baseline
from envdoctor.rules.page import pages
from envdoctor.rules.selection import Selection, SelectionError, codes, identity, selected

replace = msgspec.structs.replace


def finding(
    code: str = "ED203",
    component: str = "mmdet 2.14.0",
    severity: str = "warning",
    relation: str = "",
    about: Tuple[str, ...] = (),
    summary: str = "mmdet needs what is missing",
) -> Finding:
    cited = Citation(relation, "a page", "2026-11-30", "documented") if relation else None
    name = pages()[code].name
    return Finding(code, name, severity, "import", component, summary, relation=cited, about=about)


def report(*findings: Finding, skipped: Sequence[Skipped] = (), unknown: str = "") -> Report:
    return Report(
        "check",
        "0.1.0",
        "2026-11-30",
        findings,
        target=TargetSummary(unknown=unknown),
        ruled_out=("numpy2-abi", "no-gpu-here"),
        skipped=tuple(skipped),
    )


@pytest.mark.parametrize(
    ("texts", "understood"),
    [
        (["ED203"], ("ED203",)),
        (["ed203, ED4", "ED203,"], ("ED203", "ED4")),
        (["numpy2-abi,NumPy2-ABI"], ("ED304",)),
        (["ED"], ("ED",)),
        ([], ()),
    ],
)
def test_codes_their_beginnings_and_names(texts: Sequence[str], understood: object) -> None:
    assert codes(texts, pages()) == understood


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("numpy-abi", "no finding is called 'numpy-abi'; nearest: numpy2-abi"),
        ("ED2003", "nearest: ED203"),
        ("ED999", "no finding is called 'ED999'"),
        ("ED203 ED204", "no finding is called 'ED203 ED204'"),
        ("", "nothing was given"),
        (" , ", "nothing was given"),
        ("\x1b[2J" + "x" * 5000, "list them: envdoctor check --list-rules"),
    ],
)
def test_what_names_nothing(text: str, says: str) -> None:
    with pytest.raises(SelectionError) as raised:
        codes([text], pages())
    assert says in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500


def test_what_is_not_selected_is_listed() -> None:
    skipped = [Skipped("ED101", "no"), Skipped("ED412", "no"), Skipped("untested", "newer")]
    whole = report(finding(), finding("ED412", "mmcv-full 1.4.0"), skipped=skipped)
    told = selected(whole, Selection(select=("ED4",)), pages())
    assert [f.code for f in told.findings] == ["ED412"]
    assert told.ignored == (Identity("ED203", "python-module-missing", "mmdet", "", (), "warning"),)
    assert told.ruled_out == ()
    assert [s.code for s in told.skipped] == ["ED412", "untested"]
    assert selected(whole, Selection(), pages()) == whole


def test_what_is_ignored_is_left_out_of_what_is_selected() -> None:
    whole = report(finding(), finding("ED204"), finding("ED412"))
    told = selected(whole, Selection(select=("ED2",), ignore=("ED203", "ED1")), pages())
    assert [f.code for f in told.findings] == ["ED204"]
    assert [one.code for one in told.ignored] == ["ED203", "ED412"]
    assert told.ruled_out == ()
    told = selected(whole, Selection(ignore=("ED1",)), pages())
    assert told.ruled_out == ("numpy2-abi",)
    assert told.findings == whole.findings


@pytest.mark.parametrize(
    ("component", "name"),
    [
        ("mmcv-full 1.4.0", "mmcv-full"),
        ("CUDA toolkit 12.0", "CUDA toolkit"),
        ("torch 2.4.0a0+07cecf4168.nv24.05", "torch"),
        ("driver 535.129.03", "driver"),
        ("machine", "machine"),
        ("3to2 1.1.1", "3to2"),
        ("a 1.0, b 2.0 (+3)", "a b"),
        ("x v1.2", "x"),
        ("", ""),
    ],
)
def test_versions_are_no_part_of_what_a_finding_is_known_by(component: str, name: str) -> None:
    assert identity(finding(component=component)).component == name


def accepted(old: Finding, new: Finding, tmp_path: Path) -> bool:
    """Whether a baseline that was written of one finding accepts another."""
    path = tmp_path / "baseline.json"
    path.write_text(baseline.dump([old]), encoding="utf-8")
    file = str(path)
    told = baseline.accepted(report(new), baseline.load(file), file, Selection())
    assert told.baseline is not None
    assert told.baseline.file == file
    assert len(told.baseline.known) + len(told.findings) == 1
    return not told.findings


@pytest.mark.parametrize(
    ("new", "is_known"),
    [
        (finding(), True),
        (finding(component="mmdet 2.28.2", summary="worded otherwise"), True),
        (finding(severity="info"), True),
        (finding(severity="error"), False),
        (finding(component="mmdet3d 1.0.0"), False),
        (finding("ED204"), False),
        (finding(relation="mmdet/mmcv"), False),
        (finding(about=("addict",)), False),
    ],
)
def test_what_is_known(new: Finding, is_known: bool, tmp_path: Path) -> None:
    assert accepted(finding(), new, tmp_path) is is_known


@pytest.mark.parametrize(
    ("about", "is_known"),
    [
        (("addict", "yapf"), True),
        (("yapf", "addict"), True),
        (("addict",), True),
        (("addict", "terminaltables", "yapf"), False),
    ],
)
def test_what_is_known_may_become_less_and_never_more(
    about: Tuple[str, ...], is_known: bool, tmp_path: Path
) -> None:
    assert accepted(finding(about=("yapf", "addict")), finding(about=about), tmp_path) is is_known


@pytest.mark.parametrize(
    ("now", "selection", "gone"),
    [
        (report(finding("ED204")), Selection(), ["ED203"]),
        (report(finding()), Selection(), []),
        (report(finding(severity="error")), Selection(), []),  # it is there, and graver
        (report(finding("ED204")), Selection(select=("ED204",)), []),
        (report(skipped=[Skipped("ED203", "nobody knows")]), Selection(), []),
        (report(unknown="no Python"), Selection(), []),
    ],
)
def test_what_is_gone_was_looked_for(now: Report, selection: Selection, gone: object) -> None:
    held = baseline.Baseline("envdoctor baseline", 1, (identity(finding()),))
    told = baseline.accepted(now, held, "b.json", selection).baseline
    assert told is not None
    assert [one.code for one in told.gone] == gone


def test_a_baseline_is_the_same_text_for_the_same_findings() -> None:
    one, other = finding(), finding("ED412", "mmcv-full 1.4.0", "error", "mmcv-full/wheel-torch")
    assert baseline.dump([one, other]) == baseline.dump([other, one, one])
    assert baseline.dump([other]) == (
        '{\n  "kind": "envdoctor baseline",\n  "schema_version": 1,\n  "findings": [\n    {\n'
        '      "code": "ED412",\n      "name": "torch-abi-mismatch",\n'
        '      "component": "mmcv-full",\n      "relation": "mmcv-full/wheel-torch",\n'
        '      "about": [],\n      "severity": "error"\n    }\n  ]\n}\n'
    )


ENTRY = '{"code": "ED203", "name": "x", "component": "x", "severity": "grave"}'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, ": cannot be read: no such file or directory"),
        ("", "is no baseline of `envdoctor check --write-baseline`"),
        ("[]", "is no baseline of `envdoctor check --write-baseline`"),
        ("[" * 100_000, "is no baseline of `envdoctor check --write-baseline`"),
        ('{"schema_version": 2}', "has schema version 2; this envdoctor reads 1"),
        ('{"schema_version": 1, "kind": "x", "findings": []}', "kind is not 'envdoctor baseline'"),
        ('{"schema_version": 1, "findings": []}', "missing required field `kind`"),
        (
            f'{{"schema_version": 1, "kind": "envdoctor baseline", "findings": [{ENTRY}]}}',
            "'grave' is no severity",
        ),
        (b"\xff\xfe\xff", "is no text in UTF-16-LE"),
        ("x" * 5_000_001, "is larger than 5 MB"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_corrupt_baseline_is_one_line(content: object, says: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else str(content).encode())
    with pytest.raises(baseline.BaselineError) as raised:
        baseline.load(str(path))
    assert str(raised.value).startswith(str(path))
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_baseline_that_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(str(tmp_path / "pipe"))
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(baseline.BaselineError, match=r"not a regular file|is a directory"):
            baseline.load(str(path))
