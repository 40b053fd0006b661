"""The first minute: a machine, an environment and a verdict in at most fifteen lines."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from rich.cells import cell_len
from rich.text import Text

from envdoctor.model.facts import Facts
from envdoctor.model.finding import Report
from envdoctor.model.language import count, say, translate
from envdoctor.model.text import clean
from envdoctor.report import words
from envdoctor.report.lines import printed, wrapped
from envdoctor.report.sources import Matrices, told_added
from envdoctor.report.style import STYLES
from envdoctor.report.view import View

#: Lines that one answer may take, so that seven of them and the last line are fifteen at most.
_LINES = 2
_MOST_LINES = 15
#: Columns of an answer's label.
_LABEL = 9


def render(
    report: Report,
    facts: Facts,
    models: Sequence[Tuple[str, str]],
    following: Tuple[str, str],
    view: View,
    finding: str = "",
) -> str:
    """The overview as text.

    `models` are names and what can be said of training each here, `following` the next command and
    what it is for; `finding` is the command that finds the stack of a model.
    """
    language = report.language
    answers: List[Tuple[str, Text]] = [
        (say(language, "GPU"), Text(words.accelerators(language, facts.accelerator))),
        (say(language, "Target"), Text(words.target(language, facts, view))),
        (say(language, "Compile"), Text(words.tools(language, facts))),
    ]
    assumed = words.assumed(language, facts)
    if assumed:
        answers.append((say(language, "Assumed"), Text(assumed)))
    answers.append((say(language, "Verdict"), _verdict(report, facts)))
    lines: List[Text] = []
    for label, answer in answers:
        lines += _answer(label, answer, view.width)
    lines.append(_next(language, *following, view.width))
    if models:
        listed = "   ".join(
            say(language, "{model}: {state}", model=clean(name), state=say(language, clean(state)))
            for name, state in models
        )
        lines += _answer(say(language, "Models"), Text(listed), view.width)
    never = say(
        language,
        "Never imports your torch, changes or sends anything. Matrices of {date}.",
        date=report.matrices_date,
    )
    last = wrapped(Text(never, "dim"), view.width)
    last += told_added(Matrices(report.matrices_date, report.matrices_added), view, language)
    if models and finding and len(lines) + len(last) < _MOST_LINES:
        purpose = "what to install for one of them, and why"
        lines.append(_next(language, finding, purpose, view.width, "Stack"))
    return printed([*lines, *last], view)


def _label(text: str) -> str:
    return text + " " * (_LABEL - cell_len(text))


def _answer(label: str, answer: Text, width: int) -> List[Text]:
    lines = wrapped(answer, width, _label(label), _label(""))
    if len(lines) > _LINES:
        lines = lines[:_LINES]
        lines[-1].truncate(width - 2)
        lines[-1].append(" …")
    lines[0].stylize("bold", 0, len(label))
    return lines


def _verdict(report: Report, facts: Facts) -> Text:
    said = words.verdict(report, facts) + words.set_aside(report)
    worst = report.worst()
    if worst in (None, "info"):
        if not report.skipped:
            return Text(said)
        one, many = "; {number} question skipped", "; {number} questions skipped"
        return Text(said + count(report.language, len(report.skipped), one, many))
    first = next(finding for finding in report.findings if finding.severity == worst)
    told = say(
        report.language,
        "{component}: {summary}",
        component=translate(report.language, clean(first.component)),
        summary=clean(first.summary),
    )
    return Text.assemble((said, STYLES[first.severity]), f"  {told}")


def _next(language: str, command: str, purpose: str, width: int, name: str = "Next") -> Text:
    """The next command, on one line however long, so that it can be copied."""
    label = _label(say(language, name))
    line = Text.assemble((label, "bold"), (clean(command, 10_000), "cyan"))
    note = f"   {say(language, purpose)}"
    return line.append(note) if line.cell_len + cell_len(note) <= width else line
