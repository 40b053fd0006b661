"""What people read: the verdict, then each finding with evidence, reason and smallest change."""

from __future__ import annotations

from collections import Counter
from typing import Dict, Iterator, List, Sequence, Set, Tuple

from rich.text import Text

from envdoctor.model.facts import Facts
from envdoctor.model.finding import PHASES, SEVERITIES, Finding, Fix, Identity, Report
from envdoctor.model.language import count, say, translate
from envdoctor.model.text import clean
from envdoctor.report import words
from envdoctor.report.heading import circumstances
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
    """The report as text in its language, ended by a newline. `seconds` is what it took."""
    language = report.language
    notes = [f for f in report.findings if f.severity == "info"]
    all_told = view.verbose or view.notes
    shown = [f for f in report.findings if all_told or f.severity != "info"]
    lines = _head(report, facts, len(notes), seconds, view)
    told = _told(shown, view)
    if view.quiet:
        for finding, more in told:
            lines += [*_title(language, finding, view), *_more(language, more)]
        return printed(lines, view)
    brief = _brief(language, [finding for finding, _ in told], view)
    phase = ""
    done: Done = set()
    for finding, more in told:
        if finding.phase != phase:
            phase = finding.phase
            lines += [Text(), Text(say(language, phase.upper()), "bold")]
        if id(finding) in brief:
            lines += _short(language, finding, view)
        else:
            lines += _full(language, finding, view, done)
        lines += _more(language, more)
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


def _more(language: str, number: int) -> List[Text]:
    if not number:
        return []
    said = say(language, "… and {number} more of this kind (--verbose)", number=number)
    return [Text(f"   {said}")]


def _brief(language: str, findings: Sequence[Finding], view: View) -> Set[int]:
    """Ids of those told in short so that the report fits on a page: the mildest, latest."""
    if view.verbose:
        return set()
    gravest = sorted(findings, key=lambda f: -SEVERITIES.index(f.severity))
    brief = set()
    used = 0
    for number, finding in enumerate(gravest):
        used += len(_full(language, finding, view, set()))
        if number and used > _PAGE:
            brief.add(id(finding))
    return brief


def _head(report: Report, facts: Facts, notes: int, seconds: float, view: View) -> List[Text]:
    said = words.verdict(report, facts)
    verdict = Text(said[0].upper() + said[1:], STYLES.get(report.worst() or "", "bold green"))
    language = report.language
    if notes:
        more = "" if view.verbose or view.notes else say(language, " (--verbose)")
        said = count(language, notes, "; {number} note", "; {number} notes")
        verdict.append(said + more, "not bold default")
    verdict.append(words.set_aside(report), "not bold default")
    took = say(language, "({seconds} s)", seconds=f"{seconds:.1f}")
    lines = apart(verdict, Text(took, "dim"), view.width)
    if view.quiet:
        return lines
    return [*lines, *circumstances(report, facts, view)]


def _title(language: str, finding: Finding, view: View) -> List[Text]:
    style = STYLES[finding.severity]
    left = Text.assemble(
        " ", (MARKS[finding.severity], style), " ", (finding.code, "bold"), f" {finding.name}"
    )
    return apart(left, Text(translate(language, clean(finding.component))), view.width)


def _short(language: str, finding: Finding, view: View) -> List[Text]:
    return [*_title(language, finding, view), *_prose(finding.summary, view)]


def _full(language: str, finding: Finding, view: View, done: Done) -> List[Text]:
    lines = _short(language, finding, view)
    if finding.why or finding.relation:
        why = Text(clean(finding.why, _PROSE))
        if finding.relation:
            basis = say(language, clean(finding.relation.basis))
            cited = f"[{clean(finding.relation.id)}, {basis}]"
            why.append(f"  {cited}" if finding.why else cited, "dim")
        lines += wrapped(why, view.width, "   ", "   ")
    if finding.relation and view.verbose:
        source = say(
            language,
            "Source: {source}, checked {date}",
            source=clean(finding.relation.source, _PROSE),
            date=clean(finding.relation.checked),
        )
        lines += _prose(source, view)
    listed = len(finding.evidence) if view.verbose else _EVIDENCE
    for evidence in finding.evidence[:listed]:
        said = Text.assemble(
            f"{clean(evidence.fact)} {clean(evidence.value)}",
            (f"  {view.place(clean(evidence.origin))}", "dim"),
        )
        lines += wrapped(said, view.width, "   - ", "     ")
    if len(finding.evidence) > listed:
        more = len(finding.evidence) - listed
        lines += _prose(say(language, "- and {number} more (--verbose)", number=more), view)
    for number, fix in enumerate(finding.fixes):
        label = "Smallest change: {change}" if number == 0 else "Or: {change}"
        lines += _fix(say(language, label, change=fix.summary), fix, view, done)
    return [*lines, *_verify(language, finding, view)]


def _verify(language: str, finding: Finding, view: View) -> List[Text]:
    """How to see it without envdoctor: one command on the line that says so, if it fits."""
    label = Text(f"   {say(language, 'Look yourself:')}")
    if len(finding.verify) == 1:
        inline = Text.assemble(label, " ", (clean(finding.verify[0], _WHOLE), "cyan"))
        if inline.cell_len <= view.width:
            return [inline]
    return [label, *_commands(finding.verify)] if finding.verify else []


def _fix(said: str, fix: Fix, view: View, done: Done) -> List[Text]:
    """The change. The commands of one that mends several findings are told once."""
    commands = () if fix.commands in done else fix.commands
    done.add(fix.commands)
    return [*_prose(said, view), *_commands(commands)]


def _commands(commands: Sequence[str]) -> List[Text]:
    """One line each however long, so that it can be copied."""
    return [Text.assemble("     ", (clean(command, _WHOLE), "cyan")) for command in commands]


def _prose(text: str, view: View) -> List[Text]:
    return wrapped(Text(clean(text, _PROSE)), view.width, "   ", "   ")


def _set_aside(report: Report, view: View) -> Iterator[str]:
    """What was found and is not told, and what of the accepted is gone."""
    language = report.language
    comma = say(language, ", ")

    def codes(identities: Sequence[Identity]) -> str:
        kinds = Counter((one.code, one.name) for one in identities)
        listed = sorted(kinds) if view.verbose else sorted(kinds)[:_RULED_OUT]
        told = [
            f"{code} {name}" + (f" ({kinds[code, name]})" if kinds[code, name] > 1 else "")
            for code, name in listed
        ]
        return comma.join([*map(clean, told), *(["…"] if len(kinds) > len(listed) else [])])

    if report.ignored:
        yield say(language, "Ignored: {names}.", names=codes(report.ignored))
    if report.baseline is None:
        return
    file = view.place(clean(report.baseline.file))
    if report.baseline.known:
        names = codes(report.baseline.known)
        yield say(language, "Known by {file}: {names}.", file=file, names=names)
    if report.baseline.gone:
        listed = report.baseline.gone if view.verbose else report.baseline.gone[:_RULED_OUT]
        gone = [clean(f"{one.code} {one.component}") for one in listed]
        names = comma.join([*gone, *(["…"] if len(report.baseline.gone) > len(gone) else [])])
        yield say(language, "Gone, and still in {file}: {names}.", file=file, names=names)


def _foot(report: Report, brief: int, view: View) -> List[Text]:
    language = report.language
    said = []
    if brief:
        one = "{number} finding told in short (--verbose)."
        many = "{number} findings told in short (--verbose)."
        said.append(count(language, brief, one, many))
    said += _set_aside(report, view)
    if report.ruled_out:
        listed = report.ruled_out if view.verbose else report.ruled_out[:_RULED_OUT]
        names = say(language, ", ").join(clean(name) for name in listed)
        more = len(report.ruled_out) - len(listed)
        if more:
            ruled_out = "Ruled out: {names} and {number} more."
            said.append(say(language, ruled_out, names=names, number=more))
        else:
            said.append(say(language, "Ruled out: {names}.", names=names))
    if report.skipped and not view.verbose:
        said.append(say(language, "Skipped: {number} (--verbose).", number=len(report.skipped)))
    lines = wrapped(Text("  ".join(said)), view.width) if said else []
    failed = [f"{s.code} ({s.reason})" for s in report.skipped if s.failed]
    if failed:
        parts = say(language, "; ").join(map(clean, failed))
        told = say(
            language,
            "Failed, which is a fault of envdoctor's own, to be reported with a snapshot: {parts}",
            parts=parts,
        )
        lines += wrapped(Text(told), view.width)
    if view.verbose and report.skipped:
        lines.append(Text(say(language, "Skipped:")))
        for skipped in report.skipped:
            reason = clean(skipped.reason, _PROSE)
            told = say(language, "{code}: {reason}", code=clean(skipped.code), reason=reason)
            lines += wrapped(Text(told), view.width, "  ", "    ")
    return lines
