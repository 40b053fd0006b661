"""What logs say, for people and for programs."""

from __future__ import annotations

import signal
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import msgspec
from rich.cells import cell_len
from rich.text import Text

from envdoctor import __version__
from envdoctor.model.diagnosis import (
    Cause,
    Diagnosis,
    LineRange,
    LogRead,
    ProvingLine,
    Stated,
)
from envdoctor.model.finding import SCHEMA_VERSION, Fix
from envdoctor.model.language import count, say
from envdoctor.model.text import clean, printable, without_secrets
from envdoctor.report.json import encode
from envdoctor.report.lines import apart, printed, wrapped
from envdoctor.report.sources import Matrices, MatricesAnswer, told_added
from envdoctor.report.style import STYLES
from envdoctor.report.view import View

#: What begins a part of the answer; the widest of them says where the rest stands.
_NARROWEST = 12
_LABELS = ("Root cause", "Why", "Fix", "Make sure")
# As much is told of the prose of one part, and of a line of a log.
_PROSE, _LINE, _COMMAND = 2000, 300, 4000
# Proving lines, lines around the first of them, other causes, ranges of consequences.
_PROOFS, _AROUND, _OTHERS, _RANGES = 3, 2, 3, 4
#: What a shell says of a command that SIGKILL ended.
_KILLED = 128 + 9
_SIGNALS = {one.value: one.name for one in signal.Signals}
#: The line that proves, among those around it.
_MARK = ">"


class DiagnosisAnswer(MatricesAnswer, frozen=True, forbid_unknown_fields=True):
    """What `diagnose --format json` prints, and `run --format json` of a command that failed."""

    exit_code: Optional[int]  # of the command that was run
    causes: Tuple[Cause, ...]
    candidates: Tuple[Cause, ...]
    logs: Tuple[LogRead, ...]
    stated: Tuple[Stated, ...]
    facts_from: str
    errors: int
    unexplained: Tuple[ProvingLine, ...]


def as_json(
    diagnosis: Diagnosis, matrices: Matrices, language: str, exit_code: Optional[int] = None
) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/diagnose.json."""
    told = masked(diagnosis)
    answer = DiagnosisAnswer(
        SCHEMA_VERSION,
        "diagnose" if exit_code is None else "run",
        __version__,
        matrices.date,
        list(matrices.added),
        language,
        exit_code,
        told.causes,
        told.candidates,
        told.logs,
        told.stated,
        told.facts_from,
        told.errors,
        told.unexplained,
    )
    return encode(msgspec.to_builtins(answer))


def as_text(
    diagnosis: Diagnosis,
    matrices: Matrices,
    view: View,
    language: str,
    is_all: bool = False,
    exit_code: Optional[int] = None,
) -> str:
    """The root cause first, with what proves it; ended by a newline.

    With `is_all` every cause and candidate is told as the first one is.
    """
    telling = _Telling(masked(diagnosis), view, language, exit_code)
    return printed(telling.lines(matrices, is_all), view)


def masked(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis without what looks like a password or a token, wherever it stands."""
    return msgspec.convert(_masked(msgspec.to_builtins(diagnosis)), Diagnosis)


def _masked(told: Any) -> Any:
    if isinstance(told, str):
        return without_secrets(told)
    if isinstance(told, dict):
        return {key: _masked(value) for key, value in told.items()}
    if isinstance(told, (list, tuple)):
        return [_masked(value) for value in told]
    return told


class _Telling:
    def __init__(
        self, diagnosis: Diagnosis, view: View, language: str, exit_code: Optional[int]
    ) -> None:
        self.diagnosis = diagnosis
        self.view = view
        self.language = language
        self.exit_code = exit_code
        self.column = max(_NARROWEST, *(cell_len(self.say(label)) + 2 for label in _LABELS))

    def say(self, template: str, **values: object) -> str:
        return say(self.language, template, **values)

    # --- the whole -------------------------------------------------------------------------------

    def lines(self, matrices: Matrices, is_all: bool) -> Iterator[Text]:
        causes, candidates = self.diagnosis.causes, self.diagnosis.candidates
        if not causes:
            yield from self._nothing(is_all)
        elif self.exit_code is not None and not self.view.quiet:
            yield from wrapped(Text(self._ended(self.exit_code), "dim"), self.view.width)
        for number, cause in enumerate(causes if is_all else causes[:1]):
            if number:
                yield Text()
            yield from self._cause(cause, "Root cause" if number == 0 else "Also")
        if self.view.quiet:
            return
        if is_all:
            for cause in candidates:
                yield Text()
                yield from self._cause(cause, "Perhaps")
        else:
            yield from self._others((*causes[1:], *candidates))
        yield from self._foot(matrices)

    def _nothing(self, is_all: bool) -> Iterator[Text]:
        said = self.say("No cause in the environment is seen.")
        if self.exit_code is not None:
            ended = self._ended(self.exit_code)
            said = self.say("{ended}; no cause in the environment is seen", ended=ended)
        yield from wrapped(Text(said, "bold"), self.view.width)
        if self.view.quiet:
            return
        lines = sum(log.lines for log in self.diagnosis.logs)
        one, many = "{number} line was read.", "{number} lines were read."
        told = count(self.language, lines, one, many)
        if not lines:
            told = self.say("There is nothing to read.")
        if self.exit_code is None:
            yield from wrapped(Text(told), self.view.width)
        if self.diagnosis.unexplained:
            one = "{number} line tells of a failure, of which no cause in the environment is known:"
            many = "{number} lines tell of failures, of which no cause in the environment is known:"
            told = count(self.language, max(self.diagnosis.errors, 1), one, many)
            yield from wrapped(Text(told), self.view.width)
            yield from self._shown(self.diagnosis.unexplained)
        if self.diagnosis.candidates and not is_all:
            return
        ways = [("envdoctor check", "what is wrong with this environment")]
        if self.exit_code == _KILLED:
            ways.insert(0, ("dmesg | tail", "whether the kernel ended it for want of memory"))
        for number, (command, meaning) in enumerate(ways):
            line = self._command(command, "Next" if number == 0 else "")
            line.pad_right(max(0, self.column + 17 - line.cell_len))
            yield Text.assemble(line, (self.say(meaning), "dim"))

    def _ended(self, code: int) -> str:
        """How the command ended."""
        name = _SIGNALS.get(code - 128, "")
        if name:
            template = "envdoctor: {signal} ended the command ({number})"
            return self.say(template, signal=name, number=code)
        return self.say("envdoctor: the command failed with {number}", number=code)

    def _others(self, others: Sequence[Cause]) -> Iterator[Text]:
        """What else is seen, a line each."""
        if not others:
            return
        yield Text()
        label = "Seen, too" if self.diagnosis.causes else "Perhaps"
        listed = others if self.view.verbose else others[:_OTHERS]
        for number, cause in enumerate(listed):
            told = Text.assemble(
                f"{self._named(cause)}  {cause.confidence:.2f}  ", clean(cause.summary, _PROSE)
            )
            yield from self._part(label if number == 0 else "", told)
        left = len(others) - len(listed)
        more = self.say("all of it: --all") if not left else ""
        if left:
            more = self.say("and {number} more; all of it: --all", number=left)
        yield from self._part("", Text(more, "dim"))

    def _foot(self, matrices: Matrices) -> Iterator[Text]:
        cut = [log for log in self.diagnosis.logs if log.cut]
        if self.view.verbose:
            yield Text()
            for log in self.diagnosis.logs:
                one, many = "{number} line", "{number} lines"
                told = count(self.language, log.lines, one, many)
                size = f"{log.bytes / (1 << 20):.1f} MiB"
                parts = [self._log(log.name), told, size, log.encoding]
                yield from self._part("Read", ", ".join(filter(None, parts)))
            several = len(self.diagnosis.logs) > 1
            for stated in self.diagnosis.stated:
                said = f"{clean(stated.component)} {clean(stated.version)}"
                if stated.line:
                    said += f"  {self._place(stated.log if several else '', stated.line)}"
                yield from self._part("Stated", said)
        for log in cut if self.view.verbose else []:
            said = self.say(
                "{log}: {number} lines were left out or shortened",
                log=self._log(log.name) or self.say("what it printed"),
                number=clean(log.cut, _PROSE),
            )
            yield from self._part("", said)
        if self.diagnosis.facts_from and any(cause.fixes for cause in self.diagnosis.causes):
            said = self.say(
                "Ways out are for {facts}.",
                facts=self.say(clean(self.diagnosis.facts_from, _PROSE)),
            )
            yield from wrapped(Text(said, "dim"), self.view.width)
        yield from told_added(matrices, self.view, self.language)

    # --- one cause -------------------------------------------------------------------------------

    def _cause(self, cause: Cause, label: str) -> Iterator[Text]:
        if self.view.quiet:
            told = f"{self._named(cause)}  {cause.confidence:.2f}  {clean(cause.summary, _PROSE)}"
            yield Text(told)
            return
        yield from self._head(cause, label)
        yield from self._proofs(cause)
        if cause.why:
            yield from self._part("Why", clean(cause.why, _PROSE))
        consequences = self._consequences(cause)
        if consequences:
            yield from self._part("" if cause.why else "Why", Text(consequences, "dim"))
        for number, fix in enumerate(cause.fixes if self.view.verbose else cause.fixes[:2]):
            yield from self._fix(fix, "Fix" if number == 0 else "Or")
        for number, command in enumerate(cause.verify):
            yield self._command(command, "Make sure" if number == 0 else "")
        if label == "Root cause":
            yield self._command(f"envdoctor explain {cause.code or cause.id}", "More")

    def _head(self, cause: Cause, label: str) -> Iterator[Text]:
        style = STYLES["error"] if label != "Perhaps" else STYLES["warning"]
        left = self._label(label)
        left.append(self._named(cause), style)
        component, sure = clean(cause.component), Text(f"{cause.confidence:.2f}")
        has_room = left.cell_len + cell_len(component) + sure.cell_len + 4 <= self.view.width
        if component and has_room:
            left.append(f"  {component}")
        yield from apart(left, sure, self.view.width)
        if component and not has_room:
            yield from self._part("", component)
        yield from self._part("", Text(clean(cause.summary, _PROSE), "bold"))

    def _proofs(self, cause: Cause) -> Iterator[Text]:
        proofs = cause.evidence if self.view.verbose else cause.evidence[:_PROOFS]
        yield from self._shown(proofs)
        left = len(cause.evidence) - len(proofs)
        if left:
            one, many = "and {number} more line (-v)", "and {number} more lines (-v)"
            yield from self._part("", Text(count(self.language, left, one, many), "dim"))

    def _shown(self, proofs: Sequence[ProvingLine]) -> Iterator[Text]:
        for number, proof in enumerate(proofs):
            around = _AROUND if number == 0 or self.view.verbose else 0
            place = self._place(proof.log, proof.line)
            said = f"{place}, {clean(proof.source)}" if proof.source else place
            before, after = proof.before[len(proof.before) - around :], proof.after[:around]
            if not (before or after):
                yield from self._proof(proof, said)
                continue
            yield Text(f"  {said}", "dim")
            width = len(str(proof.line + len(after)))
            first = proof.line - len(before)
            for offset, text in enumerate((*before, proof.text, *after)):
                number_of_it = first + offset
                if number_of_it == proof.line:
                    yield from self._marked(f"  {_MARK} {number_of_it:>{width}}  ", text)
                    continue
                line = f"    {number_of_it:>{width}}  "
                yield Text((line + self._cut(text, len(line))).rstrip(), "dim")

    def _marked(self, begin: str, text: str) -> List[Text]:
        """A line that proves, whole however long it is."""
        told = printable(text, _LINE)
        indent = " " * (len(told) - len(told.lstrip(" ")))
        rest = " " * len(begin)
        lines = wrapped(Text(told.lstrip(" ")), self.view.width, begin + indent, rest + indent)
        if lines:
            lines[0].stylize("bold", 0, len(begin))
        return lines or [Text(begin.rstrip(), "bold")]

    def _proof(self, proof: ProvingLine, said: str) -> Iterator[Text]:
        first = Text(f"  {said}")
        if first.cell_len + 2 > self.column:
            yield Text(first.plain, "dim")
            first = Text()
        first.pad_right(self.column - first.cell_len)
        yield from wrapped(
            Text(clean(proof.text, _LINE)), self.view.width, first.plain, " " * self.column
        )

    def _cut(self, text: str, before: int) -> str:
        """A line of a log with its indentation, no wider than what is left of ours."""
        line = Text(printable(text, _LINE))
        if not self.view.verbose:
            line.truncate(max(self.view.width - before, 20), overflow="ellipsis")
        return line.plain

    def _consequences(self, cause: Cause) -> str:
        ranges = _joined(cause.consequences)
        if not ranges:
            return ""
        listed = ranges if self.view.verbose else ranges[:_RANGES]
        several = len({one.log for one in ranges} | {p.log for p in cause.evidence}) > 1
        told = []
        for one in listed:
            where = f"{one.first}-{one.last}" if one.last > one.first else str(one.first)
            told.append(f"{self.view.place(clean(one.log))}:{where}" if several else where)
        names = self.say(", ").join([*told, *(["…"] if len(ranges) > len(listed) else [])])
        is_one = len(ranges) == 1 and ranges[0].first == ranges[0].last
        template = "line {lines} is a consequence" if is_one else "lines {lines} are consequences"
        return self.say(template, lines=names)

    def _fix(self, fix: Fix, label: str) -> Iterator[Text]:
        yield from self._part(label, clean(fix.summary, _PROSE))
        for command in fix.commands:
            yield self._command(command, "")

    # --- lines -----------------------------------------------------------------------------------

    def _named(self, cause: Cause) -> str:
        return f"{clean(cause.code)} {clean(cause.id)}".strip()

    def _log(self, name: str) -> str:
        return self.say("stdin") if name == "-" else self.view.place(clean(name, _PROSE))

    def _place(self, log: str, line: int) -> str:
        if log:
            return f"{self.view.place(clean(log, _PROSE))}:{line}"
        return self.say("line {line}", line=line)

    def _label(self, label: str) -> Text:
        text = Text(self.say(label) if label else "", "bold")
        text.pad_right(max(self.column - text.cell_len, 1))
        return text

    def _part(self, label: str, told: Union[str, Text], style: str = "") -> List[Text]:
        text = Text(told, style) if isinstance(told, str) else told
        first, rest = self._label(label), " " * self.column
        lines = wrapped(text, self.view.width, first.plain, rest)
        if label and lines:
            lines[0].stylize("bold", 0, len(self.say(label)))
        return lines

    def _command(self, command: str, label: str) -> Text:
        """One line however long, so that it can be copied."""
        return Text.assemble(self._label(label), (clean(command, _COMMAND), "cyan"))


def _joined(ranges: Sequence[LineRange]) -> List[LineRange]:
    """Ranges in order, those that touch as one."""
    found: Dict[str, List[LineRange]] = {}
    for one in sorted(ranges, key=lambda one: (one.log, one.first, one.last)):
        of = found.setdefault(one.log, [])
        if of and one.first <= of[-1].last + 1:
            of[-1] = LineRange(of[-1].first, max(of[-1].last, one.last), one.log)
        else:
            of.append(one)
    return [one for of in found.values() for one in of]
