"""What people read: the verdict, then each finding with evidence, reason and smallest change."""

from __future__ import annotations

from typing import Dict, List, Sequence, Set, Tuple

from rich.text import Text

from envdoctor.model.facts import Facts
from envdoctor.model.finding import PHASES, SEVERITIES, Finding, Fix, Report
from envdoctor.model.text import clean
from envdoctor.report import words
from envdoctor.report.lines import apart, printed, wrapped
from envdoctor.report.style import MARKS, STYLES
from envdoctor.report.view import View

#: Lines that findings may take in full; past them each is told in short, unless all is asked for.
_PAGE = 40
#: Findings of one kind that are told at all, unless all is asked for.
_SAME = 20
#: Facts that are listed of one finding, unless all is asked for.
_EVIDENCE = 5
#: Names of what was ruled out, unless all is asked for.
_RULED_OUT = 8
# A reason may be several sentences, a command must stay whole.
_PROSE = 2_000
_WHOLE = 100_000

#: Commands that were told with an earlier finding.
Done = Set[Tuple[str, ...]]


def render(report: Report, facts: Facts, seconds: float, view: View) -> str:
    """The report as text, ended by a newline. `seconds` is what it took."""
    notes = [f for f in report.findings if f.severity == "info"]
    all_told = view.verbose or view.notes
    shown = [f for f in report.findings if all_told or f.severity != "info"]
    lines = _head(report, facts, len(notes), seconds, view)
    told = _told(shown, view)
    if view.quiet:
        for finding, more in told:
            lines += [*_title(finding, view), *_more(more)]
        return printed(lines, view)
    brief = _brief([finding for finding, _ in told], view)
    phase = ""
    done: Done = set()
    for finding, more in told:
        if finding.phase != phase:
            phase = finding.phase
            lines += [Text(), Text(phase.upper(), "bold")]
        lines += _short(finding, view) if id(finding) in brief else _full(finding, view, done)
        lines += _more(more)
    foot = _foot(report, len(brief), view)
    return printed([*lines, Text(), *foot] if foot else lines, view)


def _ordered(findings: Sequence[Finding]) -> List[Finding]:
    """By phase, in it the gravest first; else as they came."""
    return sorted(findings, key=lambda f: (PHASES.index(f.phase), -SEVERITIES.index(f.severity)))


def _told(findings: Sequence[Finding], view: View) -> List[Tuple[Finding, int]]:
    """What is told, in order, each with how many of its kind are left out after it."""
    kinds: Dict[Tuple[str, str, str], List[Finding]] = {}
    for finding in _ordered(findings):
        kinds.setdefault((finding.phase, finding.severity, finding.code), []).append(finding)
    told = []
    for kind in kinds.values():
        first = kind if view.verbose else kind[:_SAME]
        told += [(finding, 0) for finding in first[:-1]]
        told.append((first[-1], len(kind) - len(first)))
    return told


def _more(number: int) -> List[Text]:
    return [Text(f"   … and {number} more of this kind (--verbose)")] if number else []


def _brief(findings: Sequence[Finding], view: View) -> Set[int]:
    """Ids of those told in short so that the report fits on a page: the mildest, latest."""
    if view.verbose:
        return set()
    gravest = sorted(findings, key=lambda f: -SEVERITIES.index(f.severity))
    brief = set()
    used = 0
    for number, finding in enumerate(gravest):
        used += len(_full(finding, view, set()))
        if number and used > _PAGE:
            brief.add(id(finding))
    return brief


def _head(report: Report, facts: Facts, notes: int, seconds: float, view: View) -> List[Text]:
    said = words.verdict(report, facts)
    verdict = Text(said[0].upper() + said[1:], STYLES.get(report.worst() or "", "bold green"))
    if notes:
        more = "" if view.verbose or view.notes else " (--verbose)"
        verdict.append(f"; {words.count(notes, 'note')}{more}", "not bold default")
    lines = apart(verdict, Text(f"({seconds:.1f} s)", "dim"), view.width)
    if view.quiet:
        return lines
    lines += wrapped(Text(f"Target: {words.target(facts, view)}"), view.width)
    assumed = words.assumed(facts)
    if assumed:
        lines += wrapped(Text(f"Assumed: {assumed}"), view.width)
    return lines


def _title(finding: Finding, view: View) -> List[Text]:
    style = STYLES[finding.severity]
    left = Text.assemble(
        " ", (MARKS[finding.severity], style), " ", (finding.code, "bold"), f" {finding.name}"
    )
    return apart(left, Text(clean(finding.component)), view.width)


def _short(finding: Finding, view: View) -> List[Text]:
    return [*_title(finding, view), *_prose(finding.summary, view)]


def _full(finding: Finding, view: View, done: Done) -> List[Text]:
    lines = _short(finding, view)
    if finding.why or finding.relation:
        why = Text(clean(finding.why, _PROSE))
        if finding.relation:
            cited = f"[{clean(finding.relation.id)}, {clean(finding.relation.basis)}]"
            why.append(f"  {cited}" if finding.why else cited, "dim")
        lines += wrapped(why, view.width, "   ", "   ")
    if finding.relation and view.verbose:
        source = clean(finding.relation.source, _PROSE)
        lines += _prose(f"Source: {source}, checked {clean(finding.relation.checked)}", view)
    listed = len(finding.evidence) if view.verbose else _EVIDENCE
    for evidence in finding.evidence[:listed]:
        said = Text.assemble(
            f"{clean(evidence.fact)} {clean(evidence.value)}",
            (f"  {view.place(clean(evidence.origin))}", "dim"),
        )
        lines += wrapped(said, view.width, "   - ", "     ")
    if len(finding.evidence) > listed:
        lines += _prose(f"- and {len(finding.evidence) - listed} more (--verbose)", view)
    for number, fix in enumerate(finding.fixes):
        lines += _fix("Smallest change" if number == 0 else "Or", fix, view, done)
    if finding.verify:
        lines += [Text("   Look yourself:"), *_commands(finding.verify)]
    return lines


def _fix(label: str, fix: Fix, view: View, done: Done) -> List[Text]:
    """The change. The commands of one that mends several findings are told once."""
    commands = () if fix.commands in done else fix.commands
    done.add(fix.commands)
    return [*_prose(f"{label}: {fix.summary}", view), *_commands(commands)]


def _commands(commands: Sequence[str]) -> List[Text]:
    """One line each however long, so that it can be copied."""
    return [Text.assemble("     ", (clean(command, _WHOLE), "cyan")) for command in commands]


def _prose(text: str, view: View) -> List[Text]:
    return wrapped(Text(clean(text, _PROSE)), view.width, "   ", "   ")


def _foot(report: Report, brief: int, view: View) -> List[Text]:
    said = []
    if brief:
        said.append(f"{words.count(brief, 'finding')} told in short (--verbose).")
    if report.ruled_out:
        listed = report.ruled_out if view.verbose else report.ruled_out[:_RULED_OUT]
        names = ", ".join(clean(name) for name in listed)
        more = len(report.ruled_out) - len(listed)
        said.append(f"Ruled out: {names}{f' and {more} more' if more else ''}.")
    if report.skipped and not view.verbose:
        said.append(f"Skipped: {len(report.skipped)} (--verbose).")
    lines = wrapped(Text("  ".join(said)), view.width) if said else []
    if view.verbose and report.skipped:
        lines.append(Text("Skipped:"))
        for skipped in report.skipped:
            text = Text(f"{clean(skipped.code)}: {clean(skipped.reason, _PROSE)}")
            lines += wrapped(text, view.width, "  ", "    ")
    return lines
