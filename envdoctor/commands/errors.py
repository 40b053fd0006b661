"""Errors as a user reads them: what is wrong and on what evidence, then the smallest action."""

from __future__ import annotations

import contextlib
import sys
from typing import IO, Any, Iterator, Optional

import click

from envdoctor.commands.program import as_called
from envdoctor.model.language import ENGLISH, translate
from envdoctor.model.text import clean

FINDINGS = 1
USAGE = 2
COULD_NOT_EXAMINE = 3
ROLLED_BACK = 4


class Failure(click.ClickException):
    """Nothing could be examined. The action is a clause or a command of its own line."""

    exit_code = COULD_NOT_EXAMINE

    def __init__(self, message: str, action: str = "") -> None:
        super().__init__(message)
        self.action = action

    def show(self, file: Optional[IO[Any]] = None) -> None:
        """Print it to stderr."""
        print(self.said(ENGLISH), file=file or sys.stderr)

    def said(self, language: str) -> str:
        """It as text."""
        lines = [f"envdoctor: {translate(language, self.message)}"]
        if self.action:
            lines.append(f"  {as_called(translate(language, self.action))}")
        return "\n".join(lines)


class UsageFailure(Failure):
    """What was asked for, on the command line or by what stands in for it, cannot be understood."""

    exit_code = USAGE


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Turn the errors that the layers below raise on purpose into messages for the user."""
    try:
        yield
    except click.ClickException:
        raise
    except Exception as error:
        from envdoctor.commands.resolving import ProfileError
        from envdoctor.commands.session import UnsupportedSystemError
        from envdoctor.facts.project import ProjectError
        from envdoctor.facts.requirements import RequirementsError
        from envdoctor.facts.snapshot import SnapshotError
        from envdoctor.facts.target import TargetError
        from envdoctor.knowledge.document import DocumentError
        from envdoctor.linking.named import PathError
        from envdoctor.relations.assume import AssumeError
        from envdoctor.rules.baseline import BaselineError

        message = clean(str(error), 4000)
        if isinstance(error, AssumeError):
            raise click.UsageError(message) from None
        if isinstance(
            error,
            (
                BaselineError,
                PathError,
                RequirementsError,
                ProfileError,
                ProjectError,
                SnapshotError,
                TargetError,
                UnsupportedSystemError,
            ),
        ):
            raise Failure(message) from None
        if isinstance(error, DocumentError):
            raise Failure(f"the matrices cannot be read: {message}") from None
        raise
