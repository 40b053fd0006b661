"""The one set of commands that mends what a report tells, and what it leaves to people."""

from __future__ import annotations

from typing import Dict, Tuple

import msgspec
import pytest
from test_changes import CASES, KNOWLEDGE, PIP, SITE, Case, facts

from envdoctor.model.facts import Distribution, Facts
from envdoctor.model.repair import Repair
from envdoctor.rules.check import check
from envdoctor.rules.mending import mending

replace = msgspec.structs.replace


def mended(examined: Facts) -> Repair:
    return mending(check(examined, KNOWLEDGE), examined, KNOWLEDGE)


def of(stack: str, **more: str) -> Repair:
    return mended(facts(Case("", stack, "", "", **more)))


def with_distributions(examined: Facts, **changes: Dict[str, object]) -> Facts:
    """Facts in which distributions of these names have other fields."""
    target = examined.target.value
    assert target is not None
    found = tuple(replace(d, **changes.get(d.name, {})) for d in target.distributions)
    return replace(
        examined, target=replace(examined.target, value=replace(target, distributions=found))
    )


def test_a_plan_of_check_is_shown_as_it_is() -> None:
    for case in CASES:
        examined = facts(case)
        report = check(examined, KNOWLEDGE)
        plan = mending(report, examined, KNOWLEDGE)
        planned = {
            change.component: (change.before, change.after)
            for finding in report.findings
            if finding.severity != "info"
            for fix in finding.fixes[:1]
            if fix.complete and fix.commands
            for change in fix.changes
        }
        shown = {c.component: (c.before, c.after) for c in plan.changes}
        assert {name: shown.get(name) for name in planned} == planned, case.title


def test_several_changes_are_one_call() -> None:
    plan = of("numpy 2.1.0, numba 0.59.1, jax 0.4.30, jaxlib 0.4.26, ml-dtypes 0.4.0")
    assert plan.commands == (f"{PIP} install numba==0.61.0 jaxlib==0.4.27",)
    assert plan.criteria[0].value == 2
    assert plan.status == "solved"


def test_other_indexes_are_calls_of_their_own() -> None:
    """A page is never an extra index of what comes from PyPI; what is required comes first."""
    plan = of("torch 2.4.1+cu121, torchvision 0.22.0, numpy 2.1.0, numba 0.59.1", python="3.10")
    for step in plan.steps:
        assert ("--index-url" in step.command) == ("+cu" in step.command)
        assert "--extra-index-url" not in step.command


def test_what_stays_is_left_and_another_environment_is_named() -> None:
    plan = of("torch 2.3.0a0+6ddf5cf85e.nv24.04, torchvision 0.22.0")
    assert plan.steps == ()
    assert plan.status == "impossible"
    (left,) = plan.left
    assert "torch 2.3.0a0+6ddf5cf85e.nv24.04 is a vendor's or somebody's own build" in left.reason
    for one in plan.apart:
        assert one.commands[0] == "/env/bin/python -m venv apart"
        assert all("/env/bin" not in command for command in one.commands[1:])
    assert plan.stays == {"torch": "2.3.0a0+6ddf5cf85e.nv24.04"}


@pytest.mark.parametrize("origin", ["conda", "source"])
def test_conda_s_and_own_builds_are_never_in_a_command(origin: str) -> None:
    plan = of(f"torch 2.4.1+cu121 {origin}, torchvision 0.22.0")
    touched = " ".join(step.command for step in plan.steps)
    assert "torch==" not in touched.replace("torchvision==", "")


def test_what_is_compiled_again_is_for_people() -> None:
    plan = of("torch 2.0.1+cu118, torchvision 0.16.0+cu118, apex 0.1 source", python="3.10")
    assert "apex" not in " ".join(step.command for step in plan.steps)


def opencv(**fields: object) -> Facts:
    return with_distributions(
        facts(Case("", "opencv-python 4.9.0.80, opencv-python-headless 4.8.1.78", "", "")),
        **{"opencv-python": fields},
    )


def test_what_takes_away_and_puts_back() -> None:
    plan = mended(opencv())
    assert [step.command for step in plan.steps] == [
        f"{PIP} uninstall -y opencv-python opencv-python-headless",
        f"{PIP} install opencv-python==4.9.0.80",
    ]
    assert [(c.component, c.before, c.after) for c in plan.changes] == [
        ("opencv-python", "4.9.0.80", "4.9.0.80"),
        ("opencv-python-headless", "4.8.1.78", ""),
    ]


def test_a_build_of_somebody_s_own_is_not_taken_away() -> None:
    plan = mended(opencv(editable="/src", installer=""))
    assert plan.steps == ()
    (left,) = plan.left
    assert left.commands == ()
    assert left.reason == "opencv-python 4.9.0.80 is installed from source, and stays"


def test_what_is_only_taken_away_is_left() -> None:
    """Which torch is meant, only its user knows."""
    examined = facts(Case("", "torch 2.4.1+cu121", "", ""))
    target = examined.target.value
    assert target is not None
    (torch,) = target.distributions
    target = replace(target, distributions=(replace(torch, version="2.0.0+cu118"),))
    examined = replace(examined, target=replace(examined.target, value=target))
    plan = mended(examined)
    assert "uninstall" not in " ".join(step.command for step in plan.steps)
    assert [one.finding.code for one in plan.left] == ["ED307"]


def missing(name: str, wanters: Tuple[Tuple[str, str], ...]) -> Facts:
    examined = facts(Case("", ", ".join(f"{n} {v}" for n, v in wanters), "", ""))
    return with_distributions(examined, **{n: {"requires": (name,)} for n, _ in wanters})


def test_what_is_missing_is_installed() -> None:
    plan = mended(missing("filelock>=3", (("timm", "1.0.9"),)))
    assert f"{PIP} install 'filelock>=3'" in plan.commands
    (change,) = [c for c in plan.changes if c.component == "filelock"]
    assert (change.before, change.after) == ("", ">=3")


def test_what_only_the_old_release_required_is_not_installed() -> None:
    stack = (("huggingface-hub", "1.3.0"), ("transformers", "4.57.6"))
    plan = mended(missing("shellingham", stack[:1]))
    assert f"{PIP} install shellingham" in plan.commands
    examined = facts(Case("", "huggingface-hub 1.3.0, transformers 4.57.6", "", ""))
    examined = with_distributions(examined, **{"huggingface-hub": {"requires": ("shellingham",)}})
    plan = mended(examined)
    assert plan.changes[0].component == "huggingface-hub"
    assert "shellingham" not in " ".join(plan.commands)


def test_who_requires_another_release_is_told_before() -> None:
    examined = facts(Case("", "numpy 2.1.0, numba 0.59.1, llvmlite 0.42.0, foo 1.0", "", ""))
    assert mended(examined).brings == ()
    plan = mended(with_distributions(examined, foo={"requires": ("numpy>=2",)}))
    assert plan.commands == (f"{PIP} install numpy==1.26.4",)
    (brought,) = plan.brings
    assert (brought.code, brought.component) == ("ED204", "numpy 1.26.4")
    assert "foo 1.0 (numpy>=2)" in brought.summary


def test_uv_s_environments_are_changed_by_uv() -> None:
    examined = with_distributions(
        facts(Case("", "numpy 2.1.0, numba 0.59.1", "", "")), numpy={"installer": "uv"}
    )
    (step,) = mended(examined).steps
    assert step.command == "uv pip install --python /env/bin/python numba==0.61.0"
    target = examined.target.value
    assert target is not None
    pip = Distribution("pip", "24.0", f"{SITE}/pip-24.0.dist-info", SITE, "pip")
    target = replace(target, distributions=(*target.distributions, pip))
    examined = replace(examined, target=replace(examined.target, value=target))
    (step,) = mended(examined).steps
    assert step.command == f"{PIP} install numba==0.61.0"


def test_what_is_selected_alone_is_mended() -> None:
    examined = facts(Case("", "numpy 2.1.0, numba 0.59.1, jax 0.4.30, jaxlib 0.4.26", "", ""))
    report = check(examined, KNOWLEDGE)
    one = replace(report, findings=tuple(f for f in report.findings if f.code == "ED434"))
    plan = mending(one, examined, KNOWLEDGE)
    assert [c.component for c in plan.changes] == ["jaxlib"]


def test_nothing_is_wrong_and_nothing_is_there() -> None:
    assert of("numpy 1.26.4").status == "solved"
    assert of("numpy 1.26.4").steps == ()
    assert mended(Facts()).status == "unknown"
