"""What is known of a call of envdoctor beside its arguments, and what it came across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

import click

from envdoctor.model.language import ENGLISH

# Imported where they are used: `--help` is not to wait for them.
if TYPE_CHECKING:
    from envdoctor.commands.configuration import Configuration
    from envdoctor.commands.errors import Failure
    from envdoctor.model.facts import Facts


class Invocation:
    """The language of answers, the configuration, and what was observed so far."""

    def __init__(self, language: str = ENGLISH) -> None:
        """Of a command line that is answered in `language`, with no configuration."""
        self.language = language
        self.configuration: Optional[Configuration] = None
        self.defaults: Dict[str, Dict[str, Any]] = {}  # by command, those of the configuration
        self.problem: Optional[Failure] = None  # why the configuration cannot be read
        self.facts: Optional[Facts] = None  # what the answer is about, once it is known


def current() -> Invocation:
    """That of the command that runs."""
    context = click.get_current_context(silent=True)
    found = context.find_root().obj if context is not None else None
    return found if isinstance(found, Invocation) else Invocation()
