"""What people and programs read of `repair`: the change, its commands, what it mends and leaves."""

from __future__ import annotations

from typing import Iterator, List, Sequence, Tuple

import msgspec
from rich.text import Text

from envdoctor.model.facts import Facts
from envdoctor.model.finding import SEVERITIES
from envdoctor.model.language import count, say, translate
from envdoctor.model.repair import (
    ANY,
    APPLIED,
    CHANGES,
    SOURCE_BUILDS,
    Left,
    Moved,
    Named,
    Outcome,
    Repair,
)
from envdoctor.model.resolution import UNKNOWN
from envdoctor.model.text import clean
from envdoctor.report.heading import circumstances
from envdoctor.report.json import encode
from envdoctor.report.lines import apart, printed, wrapped
from envdoctor.report.style import MARKS, STYLES
from envdoctor.report.view import View

#: The order in which a reader wants them.
_KEYS = (
    "schema_version",
    "command",
    "envdoctor_version",
    "matrices_date",
    "matrices_added",
    "language",
    "target",
    "machine",
    "assumed",
    "configuration",
    "status",
    "optimal",
    "changes",
    "commands",
    "steps",
    "criteria",
    "mends",
    "left",
    "brings",
    "apart",
    "verify",
    "undo",
    "stays",
    "outcome",
    "facts_digest",
)
_BRINGS = "--apply puts all back because of that, unless --keep-going is given"
_PROSE = 2_000
_WHOLE = 100_000
#: Of what is told of a plan that was carried out.
_FILES = 8


def render_json(repair: Repair) -> str:
    """The answer as JSON, ended by a newline."""
    data = msgspec.to_builtins(repair)
    return encode({key: data[key] for key in _KEYS})


def render(repair: Repair, facts: Facts, seconds: float, view: View, apply: str = "") -> str:
    """The plan as text in its language, ended by a newline.

    `seconds` is what it took; `apply` the command that carries it out, if that is to be told.
    """
    language = repair.language
    lines = _head(repair, facts, seconds, view)
    if repair.changes and not view.quiet:
        lines += [Text(), _heading(language, "Changes")]
        lines += _changes(repair, view)
    if repair.commands:
        lines += [Text(), *([] if view.quiet else [_heading(language, "Commands")])]
        lines += _commands(repair.commands)
    if view.quiet:
        return printed(lines, view)
    if repair.mends:
        lines += [Text(), _heading(language, "What that mends")]
        for finding in repair.mends:
            lines += _finding(language, finding, view)
    if repair.brings:
        lines += [Text(), _heading(language, "What comes with it")]
        for finding in repair.brings:
            lines += _finding(language, finding, view)
        lines += _prose(say(language, _BRINGS), view)
    if repair.left:
        lines += [Text(), _heading(language, "Left to you")]
        for left in repair.left:
            lines += _left(language, left, view)
    if repair.apart:
        lines += [Text(), _heading(language, "In another environment")]
        for one in repair.apart:
            named = say(language, ", ").join(map(clean, one.mends))
            lines += _prose(
                say(language, "{findings}: {way}", findings=named, way=one.summary), view
            )
            lines += _commands(one.commands)
    foot = list(_foot(repair, apply, view))
    return printed([*lines, Text(), *foot] if foot else lines, view)


def render_outcome(repair: Repair, outcome: Outcome, view: View) -> str:
    """What became of the plan, ended by a newline."""
    language = repair.language
    good = outcome.status == APPLIED
    if good:
        said = say(language, "Applied: all that was wrong is mended, and nothing else broke")
        if repair.left:
            said = say(language, "Applied: all that commands can mend is mended")
    else:
        said = say(
            language,
            "Rolled back: {reason}",
            reason=clean(translate(language, outcome.reason), _PROSE),
        )
    lines = wrapped(Text(said, "bold green" if good else "bold red"), view.width)
    for line in outcome.output:
        lines.append(Text(f"     {clean(line, _PROSE)}", "dim"))
    if good and outcome.distributions:
        told = [_moved(language, change) for change in outcome.distributions]
        changed = say(language, "Changed: {changes}", changes=say(language, ", ").join(told))
        lines += wrapped(Text(changed), view.width)
    if not good:
        same = count(
            language,
            outcome.files,
            "The environment is as it was: {number} file compared by content, mode and time.",
            "The environment is as it was: {number} files compared by content, mode and time.",
        )
        lines += wrapped(Text(same), view.width)
    if outcome.others:
        listed = [view.place(clean(path)) for path in outcome.others[:_FILES]]
        more = ["…"] if len(outcome.others) > _FILES else []
        files = say(language, ", ").join([*listed, *more])
        other = "Something else changed files of the environment meanwhile: {files}"
        if not good:
            other = "Files that something else changed meanwhile are as they were, too: {files}"
        lines += wrapped(Text(say(language, other, files=files), "yellow"), view.width)
    if good and outcome.undo:
        lines += [Text(say(language, "Undo:")), *_commands([outcome.undo])]
    return printed(lines, view)


def _head(repair: Repair, facts: Facts, seconds: float, view: View) -> List[Text]:
    language = repair.language
    verdict = _verdict(repair)
    style = "bold green"
    grave = [finding.severity for finding in (*repair.mends, *(one.finding for one in repair.left))]
    if grave:
        style = STYLES[max(grave, key=SEVERITIES.index)]
    took = say(language, "({seconds} s)", seconds=f"{seconds:.1f}")
    lines = apart(Text(verdict[0].upper() + verdict[1:], style), Text(took, "dim"), view.width)
    if view.quiet:
        return lines
    return [*lines, *circumstances(repair, facts, view)]


def _verdict(repair: Repair) -> str:
    language = repair.language
    if repair.status == UNKNOWN:
        return say(language, "not examined: no Python environment")
    if not repair.mends and not repair.left:
        return say(language, "nothing to repair")
    said = []
    if repair.mends:
        mended = _counts(language, repair.mends)
        said.append(say(language, "{findings} can be mended", findings=mended))
    if repair.left:
        left = _counts(language, [one.finding for one in repair.left])
        said.append(say(language, "{findings} left to you", findings=left))
    return say(language, "; ").join(said)


def _counts(language: str, findings: Sequence[Named]) -> str:
    counts = {"error": 0, "warning": 0}
    for finding in findings:
        counts[finding.severity] += 1
    told = [
        count(language, counts["error"], "{number} error", "{number} errors"),
        count(language, counts["warning"], "{number} warning", "{number} warnings"),
    ]
    return say(language, ", ").join(t for t, number in zip(told, counts.values()) if number)


def _heading(language: str, text: str) -> Text:
    return Text(say(language, text), "bold")


def _moved(language: str, change: Moved) -> str:
    name = clean(change.component)
    if not change.before:
        came = name if change.after == ANY else f"{name} {clean(change.after)}"
        return say(language, "{package} is new", package=came)
    if not change.after:
        return say(language, "{package} goes", package=f"{name} {clean(change.before)}")
    if change.before == change.after:
        return say(language, "{package} again", package=f"{name} {clean(change.before)}")
    return f"{name} {clean(change.before)} -> {clean(change.after)}"


def _changes(repair: Repair, view: View) -> List[Text]:
    language = repair.language
    lines: List[Text] = []
    for change in repair.changes:
        what = Text.assemble("   ", (_moved(language, change), "bold"))
        lines += wrapped(what, view.width) if what.cell_len > view.width else [what]
        if view.verbose:
            why = say(language, "for {reason}", reason=clean(change.why, _PROSE))
        else:
            why = say(language, "for {reason}", reason=clean(change.why.partition(": ")[0]))
        lines += wrapped(Text(why, "dim"), view.width, "     ", "     ")
    return lines


def _commands(commands: Sequence[str]) -> List[Text]:
    """One line each however long, so that it can be copied."""
    return [Text.assemble("     ", (clean(command, _WHOLE), "cyan")) for command in commands]


def _finding(language: str, finding: Named, view: View) -> List[Text]:
    style = STYLES[finding.severity]
    left = Text.assemble(
        " ", (MARKS[finding.severity], style), " ", (finding.code, "bold"), f" {finding.name}"
    )
    lines = apart(left, Text(translate(language, clean(finding.component))), view.width)
    return [*lines, *_prose(finding.summary, view)]


def _left(language: str, left: Left, view: View) -> List[Text]:
    lines = _finding(language, left.finding, view)
    lines += wrapped(Text(clean(left.reason, _PROSE)), view.width, "   > ", "     ")
    return [*lines, *_commands(left.commands)]


def _prose(text: str, view: View) -> List[Text]:
    return wrapped(Text(clean(text, _PROSE)), view.width, "   ", "   ")


def _foot(repair: Repair, apply: str, view: View) -> Iterator[Text]:
    language = repair.language
    if not repair.steps:
        return
    costs = {one.name: one.value for one in repair.criteria}
    number, built = costs[CHANGES], costs[SOURCE_BUILDS]
    said = [
        count(
            language,
            number if isinstance(number, int) else 0,
            "{number} distribution changes",
            "{number} distributions change",
        )
    ]
    if isinstance(built, int) and built:
        said.append(count(language, built, "{number} is compiled", "{number} are compiled"))
    else:
        said.append(say(language, "nothing is compiled"))
    if repair.optimal:
        said.append(say(language, "no smaller change would do"))
    yield from wrapped(
        Text(say(language, "Costs: {costs}.", costs=say(language, ", ").join(said))), view.width
    )
    labelled: List[Tuple[str, Sequence[str]]] = [
        ("To carry it out, with a way back:", [apply] if apply else []),
        ("Make sure:", repair.verify[: len(repair.verify) if view.verbose else 2]),
        ("Undo what was carried out:", repair.undo if apply else []),
    ]
    for label, commands in labelled:
        if commands:
            yield Text(say(language, label))
            yield from _commands(commands)
