"""Each rule fires where it should, with the words of its page, and is quiet where all is well."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from rule_cases import Case, cases, small_knowledge

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.rules import linked
from envdoctor.rules.check import check
from envdoctor.rules.lookup import INCOMPLETE
from envdoctor.rules.page import pages

CASES = list(cases())


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return small_knowledge(tmp_path_factory.mktemp("matrices"))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, knowledge: Knowledge) -> None:
    report = check(case.facts, knowledge)
    assert [s for s in report.skipped if s.code == case.code and "failed" in s.reason] == []
    found = [f for f in report.findings if f.code == case.code and f.relation is None]
    assert [f"{f.severity} {f.component}: {f.summary}" for f in found] == case.finds
    assert all(f.why and f.evidence and f.fixes for f in found)
    if case.fixes is not None:
        assert [fix.summary for f in found for fix in f.fixes] == case.fixes
    if case.commands is not None:
        assert [c for f in found for fix in f.fixes for c in fix.commands] == case.commands


RULES = [page.code for page in pages().values() if page.is_rule]


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_cases_of_both_kinds(code: str) -> None:
    own = [case for case in CASES if case.code == code]
    file = f"tests/rules/cases/{code}.yaml (what it holds: tests/rules/rule_cases.py)"
    assert any(case.finds for case in own), f"{file}: needs a case in which the rule `finds:`"
    assert any(not case.finds for case in own), f"{file}: needs a case in which it stays quiet"


@pytest.mark.parametrize("code", RULES)
def test_a_rule_says_all_that_its_page_can_say(code: str) -> None:
    page = pages()[code]
    suffixes = {name.partition("_")[2] for name in page.words["en"]}
    name = page.module or "project"  # where those of removed interfaces are told
    module = Path(__file__).parents[2] / "envdoctor" / "rules" / f"{name}.py"
    source = module.read_text(encoding="utf-8")
    source += inspect.getsource(linked)
    unused = {suffix for suffix in suffixes if suffix and f'"{suffix}"' not in source}
    assert unused == set(), f"{page.module}: no Fault has words= these, of which the page has words"


def test_the_matrices_know_who_shares_an_import_name() -> None:
    providers = load().providers
    assert {"opencv-python", "opencv-python-headless"} <= set(providers["cv2"])
    assert {"opencv-contrib-python", "opencv-contrib-python-headless"} <= set(providers["cv2"])


def test_what_the_probe_says_of_an_incomplete_path_is_understood() -> None:
    probe = Path(check.__code__.co_filename).parents[1] / "facts" / "probe.py"
    source = " ".join(probe.read_text(encoding="utf-8").split())
    assert [sign for sign in INCOMPLETE if sign not in source] == []
