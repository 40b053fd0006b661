"""What a change would come to, for people and for programs."""

from __future__ import annotations

from typing import Dict, Iterator, List, Sequence, Tuple

import msgspec
from rich.text import Text

from envdoctor.model.facts import Facts
from envdoctor.model.language import count, say, translate
from envdoctor.model.text import clean
from envdoctor.model.what_if import (
    APART,
    BREAKS,
    HARMLESS,
    IMPOSSIBLE,
    MOVES,
    RISKY,
    TO_COMPILE,
    Break,
    FileNeed,
    Moved,
    WhatIf,
)
from envdoctor.report import words
from envdoctor.report.json import encode
from envdoctor.report.lines import apart, printed, wrapped
from envdoctor.report.sources import Matrices, told_added
from envdoctor.report.style import MARKS, STYLES
from envdoctor.report.view import View

#: What is listed of each, unless all is asked for.
_FILES, _PACKAGES, _UNDECIDED = 3, 12, 3
_PROSE = 2_000
_WHOLE = 100_000

_STYLES = {
    HARMLESS: "bold green",
    RISKY: "bold yellow",
    MOVES: "bold yellow",
    APART: "bold red",
    BREAKS: "bold red",
    IMPOSSIBLE: "bold red",
}


def render_json(answer: WhatIf) -> str:
    """One JSON object, ended by a newline. Its schema is schemas/what-if.json."""
    data = msgspec.to_builtins(answer)
    first = ("schema_version", "command", "envdoctor_version", "matrices_date", "matrices_added")
    order = (*first, "language", "verdict", *(key for key in data if key not in first))
    return encode({key: data[key] for key in order})


def render_text(answer: WhatIf, facts: Facts, view: View, assumed: str = "") -> str:
    """The verdict first, then what breaks, what must move, and how; ended by a newline.

    `facts` are those of the environment as it is, `assumed` names what of the machine is changed.
    """
    return printed(_Telling(answer, facts, view, assumed).lines(), view)


class _Telling:
    def __init__(self, answer: WhatIf, facts: Facts, view: View, assumed: str) -> None:
        self.answer, self.facts, self.view, self.assumed = answer, facts, view, assumed
        self.language = answer.language

    def say(self, template: str, **values: object) -> str:
        return say(self.language, template, **values)

    def lines(self) -> List[Text]:
        answer = self.answer
        style = _STYLES.get(answer.verdict, "bold")
        lines = wrapped(Text(clean(self._verdict(), _PROSE), style), self.view.width)
        if self.view.quiet:
            return lines
        lines += self._line("Target: {target}", target=self._target())
        lines += self._line("Change: {change}", change=self._change())
        lines += told_added(
            Matrices(answer.matrices_date, answer.matrices_added), self.view, self.language
        )
        lines += self._breaks()
        lines += self._files()
        lines += self._mended()
        lines += self._moves()
        lines += self._commands("Commands", answer.commands)
        lines += self._separate()
        lines += self._open()
        return lines

    # --- the head ----------------------------------------------------------------------------

    def _verdict(self) -> str:
        answer = self.answer
        errors = [one for one in answer.breaks if one.severity == "error"]
        broken = self._components(errors)
        lost = self._components([one for one in errors if not one.mended])
        if answer.verdict == IMPOSSIBLE:
            why = next((one.summary for one in errors if one.phase == "install"), "")
            return self.say("It cannot be installed here: {reason}", reason=why)
        if answer.verdict == APART:
            told = "A separate environment is safer: {reason}"
            return self.say(told, reason=answer.separate.reasons[0])
        if answer.verdict == BREAKS:
            told = "It breaks {names}, and nothing known mends that"
            return self.say(told, names=self._listed(lost))
        if answer.verdict == MOVES:
            told = "It breaks {names}; what else must move mends that"
            return self.say(told, names=self._listed(broken))
        if answer.verdict == RISKY:
            one = "Nothing breaks for certain; {number} thing may"
            many = "Nothing breaks for certain; {number} things may"
            return count(self.language, len(answer.breaks), one, many)
        if answer.verdict == HARMLESS:
            return self.say("Harmless: nothing that works here would break")
        return self.say("Nothing is known to break, but not all could be told")

    def _components(self, breaks: Sequence[Break]) -> List[str]:
        """Whose breaks they are, less what is removed, where there are others."""
        gone = [one.component for one in self.answer.changes if not one.after]
        names = list(dict.fromkeys(one.component for one in breaks))
        return [name for name in names if name not in gone] or names

    def _target(self) -> str:
        return words.target(self.language, self.facts, self.view)

    def _change(self) -> str:
        told = [self._moved(one) for one in self.answer.changes]
        if self.assumed:
            told.append(clean(self.assumed))
        return self.say("; ").join(told) or self.say("none")

    def _moved(self, one: Moved) -> str:
        name = clean(one.component)
        if not one.after:
            return self.say("{package} is removed", package=f"{name} {clean(one.before)}".strip())
        if not one.before:
            return self.say("install {package}", package=f"{name} {clean(one.after)}")
        if one.before == one.after:
            return f"{name} {clean(one.after)}"
        return f"{name} {clean(one.before)} -> {clean(one.after)}"

    # --- what breaks -------------------------------------------------------------------------

    def _breaks(self) -> Iterator[Text]:
        if self.answer.breaks:
            yield from self._head("Would break")
        told = ("", "")
        for one in self.answer.breaks:
            if (one.code, one.component) != told:
                yield from self._title(one)
            told = (one.code, one.component)
            yield from self._prose(one.summary)
            why = Text(clean(one.why, _PROSE))
            if one.relation:
                why.append(f"{'  ' if one.why else ''}[{clean(one.relation)}]", "dim")
            if why.plain:
                yield from wrapped(why, self.view.width, "   ", "   ")
            if self.view.verbose and one.source:
                source = self.say("Source: {source}", source=clean(one.source, _PROSE))
                yield from self._prose(source)

    def _title(self, one: Break) -> Sequence[Text]:
        style = STYLES[one.severity]
        left = Text.assemble(
            " ", (MARKS[one.severity], style), " ", (one.code, "bold"), f" {one.finding}"
        )
        return apart(left, Text(translate(self.language, clean(one.component))), self.view.width)

    def _files(self) -> Iterator[Text]:
        groups: Dict[Tuple[str, str, str], List[FileNeed]] = {}
        for file in self.answer.files:
            groups.setdefault((file.distribution, file.of, file.why), []).append(file)
        if groups:
            yield from self._head("Files")
        for (package, _, why), files in groups.items():
            needs = list(dict.fromkeys(need for file in files for need in file.needs))
            named = package or self.say("of no distribution")
            libraries = self._listed(needs)
            told = "{package} needs {names}: {reason}"
            yield from self._prose(self.say(told, package=named, names=libraries, reason=why))
            shown = files if self.view.verbose else files[:_FILES]
            for file in shown:
                yield Text(f"     {self._place(clean(file.path, _PROSE))}", "dim")
            left = len(files) - len(shown)
            if left:
                yield from self._more(left)
        if self.answer.more_files and groups:
            told = "{number} more files are not listed"
            one = "{number} more file is not listed"
            yield from self._prose(count(self.language, self.answer.more_files, one, told))

    def _place(self, path: str) -> str:
        """A file by its place under the environment, where it lies there."""
        prefix = self.answer.target.prefix.rstrip("/")
        if prefix and path.startswith(f"{prefix}/"):
            return path[len(prefix) + 1 :]
        return self.view.place(path)

    def _mended(self) -> Iterator[Text]:
        if self.answer.mended:
            yield from self._head("Would be whole again")
        for one in self.answer.mended:
            yield from self._title(one)
            yield from self._prose(one.summary)

    # --- what is to be done ------------------------------------------------------------------

    def _moves(self) -> Iterator[Text]:
        answer = self.answer
        errors = [one for one in answer.breaks if one.severity == "error" and not one.mended]
        lost = self._components(errors) if answer.verdict == APART else []
        if answer.moves or lost:
            yield from self._head("Must move as well")
        compiled = self.say(TO_COMPILE, why="")
        for one in answer.moves:
            told = self._moved(one)
            if one.before and one.before == one.after:
                is_compiled = one.why.startswith(compiled)
                again = "compile {package} again" if is_compiled else "{package}, another build"
                told = self.say(again, package=told)
            yield from self._prose(told)
            if self.view.verbose and one.why:
                why = Text(clean(one.why, _PROSE), "dim")
                yield from wrapped(why, self.view.width, "     ", "     ")
        if lost:
            yield from self._prose(
                self.say("nothing known mends {names}", names=self._listed(lost))
            )

    def _commands(self, title: str, commands: Sequence[str]) -> Iterator[Text]:
        if commands:
            yield from self._head(title)
        for command in commands:
            yield Text.assemble("     ", (clean(command, _WHOLE), "cyan"))

    def _separate(self) -> Iterator[Text]:
        separate = self.answer.separate
        if separate.advised:
            yield from self._head("A separate environment")
        for reason in separate.reasons:
            yield from wrapped(Text(clean(reason, _PROSE)), self.view.width, "   - ", "     ")
        for command in separate.commands:
            yield Text.assemble("     ", (clean(command, _WHOLE), "cyan"))

    # --- what is not told --------------------------------------------------------------------

    def _open(self) -> Iterator[Text]:
        undecided = self.answer.undecided
        told = list(undecided) if self.view.verbose else list(undecided[:_UNDECIDED])
        if told or self.answer.assumptions:
            yield Text()
        if told:
            yield from self._line("Not known:")
        for one in told:
            yield from wrapped(Text(clean(one.reason, _PROSE)), self.view.width, "   - ", "     ")
        if len(undecided) > len(told):
            yield from self._more(len(undecided) - len(told))
        if self.view.verbose:
            for text in self.answer.assumptions:
                yield from self._line("Taken for granted: {text}", text=clean(text, _PROSE))

    # --- lines -------------------------------------------------------------------------------

    def _head(self, title: str) -> List[Text]:
        return [Text(), Text(self.say(title), "bold")]

    def _line(self, template: str, **values: object) -> List[Text]:
        return wrapped(Text(self.say(template, **values)), self.view.width)

    def _prose(self, text: str) -> List[Text]:
        return wrapped(Text(clean(text, _PROSE)), self.view.width, "   ", "   ")

    def _more(self, number: int) -> List[Text]:
        said = self.say("- and {number} more (--verbose)", number=number)
        return wrapped(Text(said), self.view.width, "     ", "     ")

    def _listed(self, names: Sequence[str]) -> str:
        told = [clean(translate(self.language, name)) for name in names[:_PACKAGES]]
        if len(names) > len(told):
            told.append(self.say("{number} more", number=len(names) - len(told)))
        return self.say(", ").join(told)
