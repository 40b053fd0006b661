"""The first minute: a machine, an environment and a verdict in at most fifteen lines."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from rich.text import Text

from envdoctor.model.facts import Facts
from envdoctor.model.finding import Report
from envdoctor.model.text import clean
from envdoctor.report import words
from envdoctor.report.lines import printed, wrapped
from envdoctor.report.style import STYLES
from envdoctor.report.view import View

#: Lines that one answer may take, so that seven of them and the last line are fifteen at most.
_LINES = 2
_LABEL = "{:<9}"
_NEVER = "Never imports your torch, changes or sends anything."


def render(
    report: Report,
    facts: Facts,
    models: Sequence[Tuple[str, str]],
    following: Tuple[str, str],
    view: View,
) -> str:
    """The overview as text.

    `models` are names and what can be said of training each here, `following` the next command and
    what it is for.
    """
    answers: List[Tuple[str, Text]] = [
        ("GPU", Text(words.accelerators(facts.accelerator))),
        ("Target", Text(words.target(facts, view))),
        ("Compile", Text(words.tools(facts))),
    ]
    assumed = words.assumed(facts)
    if assumed:
        answers.append(("Assumed", Text(assumed)))
    answers.append(("Verdict", _verdict(report, facts)))
    lines: List[Text] = []
    for label, answer in answers:
        lines += _answer(label, answer, view.width)
    lines.append(_next(*following, view.width))
    if models:
        listed = "   ".join(f"{clean(name)}: {clean(state)}" for name, state in models)
        lines += _answer("Models", Text(listed), view.width)
    matrices = f"Matrices of {report.matrices_date}."
    lines += wrapped(Text(f"{_NEVER} {matrices}", "dim"), view.width)
    return printed(lines, view)


def _answer(label: str, answer: Text, width: int) -> List[Text]:
    lines = wrapped(answer, width, _LABEL.format(label), _LABEL.format(""))
    if len(lines) > _LINES:
        lines = lines[:_LINES]
        lines[-1].truncate(width - 2)
        lines[-1].append(" …")
    lines[0].stylize("bold", 0, len(label))
    return lines


def _verdict(report: Report, facts: Facts) -> Text:
    said = words.verdict(report, facts)
    worst = report.worst()
    if worst in (None, "info"):
        skipped = words.count(len(report.skipped), "question")
        return Text(f"{said}; {skipped} skipped" if report.skipped else said)
    first = next(finding for finding in report.findings if finding.severity == worst)
    return Text.assemble(
        (said, STYLES[first.severity]), f"  {clean(first.component)}: {clean(first.summary)}"
    )


def _next(command: str, purpose: str, width: int) -> Text:
    """The next command, on one line however long, so that it can be copied."""
    line = Text.assemble((_LABEL.format("Next"), "bold"), (clean(command, 10_000), "cyan"))
    note = f"   {purpose}"
    return line.append(note) if line.cell_len + len(note) <= width else line
