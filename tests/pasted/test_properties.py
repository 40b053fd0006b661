"""Every text gives facts or one clear error, in time; the order of sections is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List

import pytest
import yaml
from endless import must_end
from hostile import MAKERS
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_formats import (
    CONDA,
    DETECTRON2,
    FORM,
    MMCV,
    ROCM,
    SMI,
    SMI_NEW,
    TORCH_1_1,
    TORCH_2_11,
    VLLM,
    told,
)

from envdoctor.facts.pasted import ReportError, parse
from envdoctor.facts.snapshot import dump
from envdoctor.knowledge.load import load
from envdoctor.model.facts import Facts
from envdoctor.rules.check import check

REPORTS = [
    yaml.safe_load(path.read_text(encoding="utf-8"))["report"]
    for path in sorted((Path(__file__).parent / "reports").glob("*.yaml"))
]
MADE = [
    case["report"]
    for path in sorted((Path(__file__).parent / "made").glob("*.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8")).values()
]
SECTIONS = [
    *(CONDA, DETECTRON2, FORM, MMCV, ROCM, SMI, SMI_NEW, TORCH_1_1, TORCH_2_11, VLLM),
    *REPORTS,
]
LINES = sorted({line for section in [*SECTIONS, *MADE] for line in section.splitlines()})


def parsed(text: str) -> Facts:
    """The facts, or none of a text that is no report."""
    try:
        return parse(text)
    except ReportError:
        return Facts()


@given(st.text())
@example("GPU 0: A100")
@example("{'")
@example("\ud800==1.0")
def test_any_text(text: str) -> None:
    parsed(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_any_lines_can_be_checked(lines: List[str]) -> None:
    facts = parsed("\n".join(lines))
    dump(facts)
    report = check(facts, load())
    assert not [s for s in report.skipped if "the rule itself failed" in s.reason]


@settings(deadline=None)
@given(st.sampled_from(LINES), st.data())
def test_lines_that_are_cut_or_hold_anything(line: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    parsed(line[:at])
    parsed(line[:at] + data.draw(st.text(max_size=8)) + line[at:])


@settings(deadline=None)
@given(st.lists(st.sampled_from(SECTIONS), min_size=2, max_size=4), st.randoms())
def test_the_order_of_sections_is_nothing(sections: List[str], random: Any) -> None:
    before = told(parsed("\n\n\n".join(sections)))
    random.shuffle(sections)
    assert told(parsed("\n\n\n".join(sections))) == before


@given(st.sampled_from(SECTIONS))
def test_wrapping_is_nothing(section: str) -> None:
    plain = told(parsed(section))
    assert told(parsed(section.replace("\n", "\r\n"))) == plain
    assert told(parsed(f"```\n{section}\n```")) == plain
    assert (
        told(parsed(f"<details><summary>Env</summary>\n<pre>\n{section}</pre></details>")) == plain
    )
    assert told(parsed("".join(f"> {line}\n" for line in section.splitlines()))) == plain


@pytest.mark.parametrize("name", MAKERS)
def test_hostile_texts_are_read_to_their_end(name: str) -> None:
    with must_end():
        parsed(MAKERS[name](400_000))
