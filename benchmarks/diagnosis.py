"""How often the root cause is named first, by family, with every miss.

    python -m benchmarks.diagnosis [--set NAME] [--family F] [--case ID] [--table]

`--table` adds how often judgements of each confidence are right (five bins).
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Sequence, Tuple

import yaml

from envdoctor.diagnosis import diagnose
from envdoctor.knowledge.load import load
from envdoctor.model.diagnosis import Diagnosis

ROOT = Path(__file__).resolve().parent.parent / "tests" / "diagnosis"
FOLDERS = {
    "dev": ROOT / "cases" / "dev",
    "written": ROOT / "cases" / "written",
    "made": ROOT / "made",
    "harmless": ROOT / "harmless",
}
#: The cause of what no environment is to blame for.
NONE = "no-known-environment-cause"
_BINS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


class Case(NamedTuple):
    """A log, and the causes that count as right; none for one without a fault."""

    name: str
    family: str
    right: Tuple[str, ...]
    log: Path


def cases(name: str) -> Iterator[Case]:
    """The cases of a set."""
    folder = FOLDERS[name]
    if name == "harmless":
        for log in sorted(folder.glob("*.log")):
            yield Case(log.stem, "none", (), log)
        return
    families = {
        cause["id"]: family
        for family, causes in yaml.safe_load(
            (ROOT.parent.parent / "docs" / "causes.yaml").read_text(encoding="utf-8")
        ).items()
        for cause in causes
    }
    for file in sorted(folder.glob("*.yaml")):
        label = yaml.safe_load(file.read_text(encoding="utf-8"))
        cause = label["cause"]
        right = () if cause == NONE else (cause, *(label.get("also_accept") or ()))
        family = label.get("family") or families.get(cause, "none")
        yield Case(file.stem, family, right, file.with_suffix(".log"))


def is_right(case: Case, found: Diagnosis) -> bool:
    """Whether the first cause is the root, or none is named where there is none."""
    if not found.causes:
        return not case.right or NONE in case.right
    return found.causes[0].id in case.right


def main(arguments: Sequence[str]) -> int:
    """Print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="dev", choices=sorted(FOLDERS))
    parser.add_argument("--family", default="")
    parser.add_argument("--case", default="")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args(arguments)
    knowledge = load()
    score: Dict[str, List[int]] = defaultdict(lambda: [0, 0])
    sure: List[Tuple[float, bool]] = []
    for case in cases(asked.set):
        if asked.family not in ("", case.family) or asked.case not in case.name:
            continue
        with case.log.open("rb") as stream:
            found = diagnose([(case.log.name, stream)], knowledge)
        right = is_right(case, found)
        score[case.family][0] += right
        score[case.family][1] += 1
        if found.causes:
            sure.append((found.causes[0].confidence, right))
        if not right or asked.case:
            named = ", ".join(f"{c.id} {c.confidence:.2f}" for c in found.causes) or "nothing"
            weak = ", ".join(f"{c.id} {c.confidence:.2f}" for c in found.candidates)
            wanted = " or ".join(case.right) or "nothing"
            said = "right" if right else "MISS "
            print(f"{said} {case.name}: wanted {wanted}; named {named}; {weak}")
            if asked.case:
                for cause in found.causes:
                    print(f"   {cause.id}: {cause.summary} | {cause.why}")
                    for proof in cause.evidence:
                        print(f"      {proof.line}: {proof.text[:160]}")
                    for fix in cause.fixes:
                        print(f"      fix: {fix.summary} {fix.commands}")
    for family, (right_ones, of) in sorted(score.items()):
        print(f"{family:12} {right_ones:4} of {of}")
    total = [sum(column) for column in zip(*score.values())] or [0, 0]
    print(f"{'all':12} {total[0]:4} of {total[1]}  {100 * total[0] / max(total[1], 1):.1f} %")
    if asked.table:
        for low, high in zip(_BINS, _BINS[1:]):
            inside = [right for confidence, right in sure if low <= confidence < high]
            print(
                f"confidence {low:.1f} to {min(high, 1):.1f}: {sum(inside)} of {len(inside)} right"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
