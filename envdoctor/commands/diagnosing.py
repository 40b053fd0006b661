"""What `diagnose` and `run` share: from logs to an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, List, NamedTuple, Optional, Sequence, Tuple

import msgspec

from envdoctor.commands.invocation import current
from envdoctor.commands.options import language
from envdoctor.commands.program import as_called
from envdoctor.commands.session import Inputs, gather, matrices_with
from envdoctor.model.diagnosis import Diagnosis
from envdoctor.report.view import View

# Imported where they are used: `--help` is not to wait for them.
if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge
    from envdoctor.model.facts import Facts

#: A log, with its name.
Log = Tuple[str, BinaryIO]


class Asked(NamedTuple):
    """How an answer is wanted; see the options of the same names."""

    form: str = "text"
    is_all: bool = False
    exit_code: Optional[int] = None  # of the command that was run


def judged(logs: Sequence[Log], inputs: Inputs, of_here: bool) -> Tuple[Diagnosis, Knowledge]:
    """What the logs of one job say, and the matrices that it rests on.

    Ways out are computed for a machine only where it is said which: this one (`of_here`), that of
    --python, --env or --facts, or one of which nothing is known but what is assumed. Raises what
    reading facts and matrices raises, and OSError for a log that cannot be read.
    """
    from envdoctor.diagnosis import diagnose
    from envdoctor.diagnosis.context import in_context

    facts, knowledge, facts_from = _facts(inputs, of_here)
    found = diagnose(logs, knowledge, facts, language())
    found = in_context(found, logs)
    return msgspec.structs.replace(found, facts_from=found.facts_from or facts_from), knowledge


def answer(diagnosis: Diagnosis, knowledge: Knowledge, asked: Asked, view: View) -> str:
    """The answer as it is written."""
    from envdoctor.report import diagnosis as report
    from envdoctor.report.sources import Matrices

    matrices = Matrices(knowledge.date, knowledge.added)
    if asked.form == "json":
        return report.as_json(diagnosis, matrices, language(), asked.exit_code)
    told = report.as_text(diagnosis, matrices, view, language(), asked.is_all, asked.exit_code)
    return as_called(told)


def _facts(inputs: Inputs, of_here: bool) -> Tuple[Optional[Facts], Knowledge, str]:
    """What ways out are computed from beside the logs, and its name."""
    if of_here or inputs.python or inputs.env or inputs.facts:
        facts, matrices = gather(inputs._replace(deep=False))
        current().facts = facts
        return facts, matrices(), inputs.facts or "this machine"
    knowledge = matrices_with(inputs.matrices)()
    if not inputs.settings:
        return None, knowledge, ""
    from envdoctor.model.facts import Facts
    from envdoctor.relations.assume import Assumption, assume

    settings: List[object] = [Assumption(*one) for one in inputs.said]
    facts = assume(Facts(), [*settings, *inputs.assume], knowledge)  # type: ignore[list-item]
    return facts, knowledge, ", ".join(inputs.settings)
