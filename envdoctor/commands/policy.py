"""What of a report counts: selected and ignored findings, accepted ones, and the threshold."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Tuple, TypeVar

import click
import msgspec

from envdoctor.commands.configuration import Configurable
from envdoctor.commands.invocation import current
from envdoctor.commands.program import as_called
from envdoctor.model.finding import SEVERITIES, Report, at_or_above

# Imported where they are used: `--help` is not to wait for them.
if TYPE_CHECKING:
    from envdoctor.rules.baseline import Baseline
    from envdoctor.rules.selection import Selection

F = TypeVar("F", bound=Callable[..., Any])


class Policy(NamedTuple):
    """See the options of the same names."""

    select: Tuple[str, ...] = ()
    ignore: Tuple[str, ...] = ()
    baseline: Optional[str] = None
    fail_on: str = "error"

    def prepared(self) -> Prepared:
        """The policy with its codes understood and its file read, before anything is examined.

        Raises UsageError for a code that there is not, and BaselineError.
        """
        chosen = self._selection() if self.select or self.ignore else None
        accepted = None
        if self.baseline is not None:
            from envdoctor.rules import baseline

            try:
                accepted = baseline.load(self.baseline)
            except baseline.BaselineError as error:
                said = _said_by("baseline")
                # of the command line the file's own name says enough
                told = f"{error}" if said == "--baseline" else f"{said}: baseline: {error}"
                raise baseline.BaselineError(told) from None
        return Prepared(chosen, accepted, self.baseline or "", self.fail_on)

    def _selection(self) -> Selection:
        from envdoctor.rules import selection
        from envdoctor.rules.page import pages

        known = pages()

        def codes(name: str, texts: Tuple[str, ...]) -> Tuple[str, ...]:
            try:
                return selection.codes(texts, known)
            except selection.SelectionError as error:
                raise click.UsageError(f"{_said_by(name)}: {as_called(str(error))}") from None

        return selection.Selection(codes("select", self.select), codes("ignore", self.ignore))


class Prepared(NamedTuple):
    """A policy that can be applied."""

    selection: Optional[Selection]  # None selects all
    accepted: Optional[Baseline]
    file: str
    fail_on: str

    def applied(self, report: Report) -> Report:
        """The report less what is not selected, ignored or accepted; which that is stays in it."""
        if self.selection is None and self.accepted is None:
            return report
        from envdoctor.rules import baseline, selection
        from envdoctor.rules.page import pages

        chosen = self.selection or selection.Selection()
        if self.selection is not None:
            report = selection.selected(report, chosen, pages())
        if self.accepted is None:
            return report
        return baseline.accepted(report, self.accepted, self.file, chosen)

    def fails(self, report: Report) -> bool:
        """Whether there is a finding at or above the threshold."""
        if self.fail_on == "never":
            return False
        return any(at_or_above(finding.severity, self.fail_on) for finding in report.findings)


def configured(report: Report) -> Report:
    """The report with the configuration that was obeyed."""
    configuration = current().configuration
    if configuration is None:
        return report
    return msgspec.structs.replace(report, configuration=configuration.path)


def _said_by(name: str) -> str:
    """Where the codes stand: the line of the configuration, else the option."""
    configuration = current().configuration
    source = click.get_current_context().get_parameter_source(name)
    if configuration is not None and source is click.core.ParameterSource.DEFAULT_MAP:
        return configuration.places[name]
    return f"--{name}"


def policy_options(shown: bool = True) -> Callable[[F], F]:
    """Give a command the options of a policy; it receives them as `policy`."""
    options: List[Callable[[Any], Any]] = [
        click.option(
            "--select",
            cls=Configurable,
            metavar="CODES",
            multiple=True,
            hidden=not shown,
            help="Tell these findings only: codes, beginnings of codes (ED2) or names, with commas "
            "between them. Repeatable.",
        ),
        click.option(
            "--ignore",
            cls=Configurable,
            metavar="CODES",
            multiple=True,
            hidden=not shown,
            help="Leave these findings out, given as for --select; the report says how many.",
        ),
        click.option(
            "--baseline",
            cls=Configurable,
            names_a_file=True,
            metavar="FILE",
            hidden=not shown,
            help="Accept the findings that FILE holds, which --write-baseline wrote; the report "
            "says how many, and what of it is gone.",
        ),
        click.option(
            "--fail-on",
            cls=Configurable,
            type=click.Choice([*reversed(SEVERITIES), "never"]),
            default="error",
            show_default=True,
            help="Exit with 1 if there is a finding at least as grave as this.",
        ),
    ]

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapper(*arguments: Any, **given: Any) -> Any:
            policy = Policy(**{name: given.pop(name) for name in Policy._fields})
            return function(*arguments, policy=policy, **given)

        command: Any = wrapper
        for option in reversed(options):
            command = option(command)
        result: F = command
        return result

    return decorate
