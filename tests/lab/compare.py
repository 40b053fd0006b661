"""Holds what `envdoctor check` says of an environment against what happens there."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, List, Mapping, NamedTuple

from case import BLAMES, Bench, Case, Lab
from environments import ROOT, check
from layers import workplace
from outcome import agrees, tried

Finding = Mapping[str, Any]


class Judged(NamedTuple):
    """What came of a case."""

    outcomes: Mapping[str, str]
    told: List[str]  # the errors and warnings
    differences: List[str]


def judge(case: Case, python: str) -> Judged:
    """Make the environment, record what its statements do, then ask the doctor and compare."""
    with workplace() as folder:
        lab = case.make(Bench(folder, python))
        home = folder / "home"
        home.mkdir(exist_ok=True)
        outcomes = {statement: tried(lab, statement, home) for statement in case.outcomes}
        environ = {"HOME": str(home), **lab.environ}
        ask = functools.partial(check, "--python", lab.python, *lab.arguments, environ=environ)
        findings = ask().findings("error", "warning")
        again = ask().findings("error", "warning")  # of what was remembered
        wrong = differences(case, outcomes, findings)
        if again != findings:
            wrong.append(f"told otherwise when it is asked again: {[told(one) for one in again]}")
        wrong += _inspected(case, lab, folder, environ)
        return Judged(outcomes, [told(one) for one in findings], wrong)


def _inspected(case: Case, lab: Lab, folder: Path, environ: Mapping[str, str]) -> List[str]:
    """Where `envdoctor inspect` has it that a module which is blamed loads."""
    wrong = []
    for name in (name for name in case.blame if "/" not in name):  # others are older copies
        for path in sorted(folder.rglob(f"{name}*.so")):
            if "-36m-" in path.name or "-310-" in path.name:
                continue  # of another Python
            done = subprocess.run(
                [sys.executable, "-m", "envdoctor", "inspect", str(path), "--python", lab.python],
                cwd=ROOT,
                env={"PATH": os.defpath, "LANG": "C.UTF-8", **environ},
                capture_output=True,
                timeout=120,
                check=False,
            )
            if done.returncode != 1:
                said = done.stdout.decode() + done.stderr.decode()
                wrong.append(f"inspect ends with {done.returncode}: {path.name}: {said}")
    return wrong


def differences(case: Case, outcomes: Mapping[str, str], findings: List[Finding]) -> List[str]:
    """What is wrong, with the record of a case or with what is told; nothing if this is empty.

    What is told may be missing, may be a warning where something fails for certain, may blame
    something else, or may be a false alarm: each is said in its own words.
    """
    wrong = _unlike_the_record(case, outcomes)
    left = list(findings)
    errors = 0
    for what, words in case.blame.items():
        names = {name for word in words.split(" or ") for name in BLAMES[word]}
        about = [finding for finding in left if _mentions(finding, what)]
        right = [finding for finding in about if finding["name"] in names]
        if right:
            errors += sum(finding["severity"] == "error" for finding in right)
        elif about:
            wrong.append(f"wrong blame: {what} ({words}), told is {told(about[0])}")
        else:
            wrong.append(f"missed: {what} ({words})")
        left = [finding for finding in left if finding not in (right or about[:1])]
    wrong += [f"false alarm: {told(finding)}" for finding in left]
    if not wrong and case.blame and bool(errors) == case.undecided:
        wrong.append("an error, though it is undecided" if errors else "only warnings")
    return wrong


def _unlike_the_record(case: Case, outcomes: Mapping[str, str]) -> List[str]:
    wrong = [
        f"recorded otherwise: {statement}: {case.outcomes[statement] or 'works'};"
        f" now {now or 'it works'}"
        for statement, now in outcomes.items()
        if not agrees(now, case.outcomes[statement])
    ]
    if any(outcomes.values()) != bool(case.blame):
        wrong.append("recorded otherwise: something is to blame exactly if something fails")
    return wrong


def _mentions(finding: Finding, what: str) -> bool:
    """Whether a finding names a file, a module, a distribution or a variable."""
    said = [finding[key] for key in ("component", "summary", "evidence")]
    return what in json.dumps(said, ensure_ascii=False)


def told(finding: Finding) -> str:
    """A finding in one line."""
    return (
        f"{finding['severity']} {finding['name']} of {finding['component']}: {finding['summary']}"
    )
