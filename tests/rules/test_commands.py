"""What strangers wrote into metadata reaches no command that is printed to be run."""

from __future__ import annotations

import shlex

import pytest

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Distribution, Facts, Target, seen
from envdoctor.rules.check import check
from envdoctor.rules.lookup import pip, python_says
from envdoctor.rules.requirements import parse

SITE = "/env/lib/python3.8/site-packages"
TARGET = Target(python="/home/a b;reboot/bin/python", version="3.8.18", path=("/pp", SITE))


@pytest.mark.parametrize(
    ("argument", "kept"),
    [
        ("numpy==1.26.4", True),
        ("numpy>=1.22,<2", True),
        ("numpy>=1.22, <2", True),
        ("torch==2.4.1+cu121", True),
        ("zope.interface", True),
        ("--index-url=http://evil.example/==1.0", False),
        ("-r/etc/passwd", False),
        ("numpy==1; reboot", False),
        ("numpy @ http://evil.example/x.whl", False),
        ("nümpy==1", False),
        ("numpy==1\nreboot", False),
        ("", False),
    ],
)
def test_pip_is_asked_for_plain_requirements_only(argument: str, kept: bool) -> None:
    command = pip(TARGET, "install", "--no-deps", argument)
    assert bool(command) == kept
    if kept:
        assert shlex.split(command) == [
            *(TARGET.python, "-m", "pip", "install", "--no-deps", argument)
        ]


def test_the_interpreter_is_quoted() -> None:
    assert shlex.split(python_says(TARGET, "import torch")) == [TARGET.python, "-c", "import torch"]


def test_names_in_snapshots_reach_no_command(small_matrices: Knowledge) -> None:
    hostile = "x';touch${IFS}/tmp/PWNED;'"
    distributions = (
        Distribution(name="victim", version="2.0", path="/pp/v", search_entry="/pp"),
        Distribution(
            name="victim",
            version="1.0",
            path=f"{SITE}/v",
            search_entry=SITE,
            modules=(hostile,),
            shadowed_by="/pp",
        ),
        Distribution(
            name="--index-url=http://evil.example/",
            version="1.0",
            path=f"{SITE}/i",
            search_entry=SITE,
            modules=("i",),
            missing=("i/__init__.py", "i/a.py"),
            missing_count=2,
            files=3,
        ),
        Distribution(
            name="~x", version="1.0", path="/home/victim", search_entry=SITE, problem="leftover"
        ),
    )
    target = Target(
        python="/env/bin/python",
        version="3.8.18",
        path=("/pp", SITE),
        distributions=distributions,
        environ={"PYTHONPATH": "/pp"},
    )
    report = check(Facts(target=seen(target, "test")), small_matrices)
    names = {f.name for f in report.findings}
    assert {"user-site-shadows-env", "half-removed-distribution"} <= names
    assert "duplicate-distribution" in names
    commands = [c for f in report.findings for c in f.verify]
    commands += [c for f in report.findings for fix in f.fixes for c in fix.commands]
    for text in ("PWNED", "evil.example", "/home/victim"):
        assert [c for c in commands if text in c] == []


def test_blanks_in_a_requirement_cost_nothing() -> None:
    """Once they were shared out in every possible way; 290 took seconds, a file has many."""
    assert parse("numpy" + " " * 900 + "@") is None
    assert parse("numpy" + " " * 900 + ">=1.0") is not None
