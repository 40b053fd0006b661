"""What `diagnose` and `run` share: from logs to an answer."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    BinaryIO,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
)

import msgspec

from envdoctor.commands.invocation import current
from envdoctor.commands.options import language
from envdoctor.commands.program import as_called
from envdoctor.commands.session import Inputs, assuming, gather, matrices_with
from envdoctor.model.diagnosis import Diagnosis
from envdoctor.model.language import ENGLISH, LANGUAGES
from envdoctor.report.view import View

# Imported where they are used: `--help` is not to wait for them.
if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge
    from envdoctor.model.facts import Facts

#: A log, with its name.
Log = Tuple[str, BinaryIO]


#: What is read: a path, or a stream of bytes.
Source = Union[str, "os.PathLike[str]", BinaryIO]


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

    facts, knowledge, facts_from = _facts(inputs, of_here)
    found = diagnose(logs, knowledge, facts, language())
    return msgspec.structs.replace(found, facts_from=found.facts_from or facts_from), knowledge


def diagnose(
    logs: Union[Source, Sequence[Source]],
    facts: Union[str, os.PathLike[str], Facts, None] = None,
    assume: Sequence[str] = (),
    language: str = ENGLISH,
    matrices: Sequence[Union[str, os.PathLike[str]]] = (),
) -> Diagnosis:
    """Find the root cause of a failure as `envdoctor diagnose` does.

    `logs` are the logs of one job, or one: paths, or streams of bytes. `facts`, a snapshot or the
    path of one, and `assume`, settings such as "gpu=a100", say for what ways out are computed;
    without them it is what the logs tell. `language` is that of summaries, reasons and ways out:
    "en" or "zh". `matrices` are folders that are put over those that ship.

    Raises OSError for a log that cannot be read, SnapshotError, AssumeError, DocumentError, and
    ValueError for a language that there is not.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language is one of {', '.join(LANGUAGES)}, not {language!r}")
    from envdoctor.diagnosis import diagnose as judge
    from envdoctor.facts import snapshot

    loaded = matrices_with(tuple(os.fspath(folder) for folder in matrices))
    if isinstance(facts, (str, os.PathLike)):
        facts = snapshot.load(os.fspath(facts))
    if assume:
        facts = assuming(facts or _nothing(), assume, loaded)
    listed = [logs] if isinstance(logs, (str, os.PathLike)) or hasattr(logs, "read") else logs
    with contextlib.ExitStack() as stack:
        opened: List[Log] = []
        for number, source in enumerate(cast("Sequence[Source]", listed), 1):
            if isinstance(source, (str, os.PathLike)):
                stream = stack.enter_context(Path(source).open("rb"))
                opened.append((os.fspath(source), stream))
            else:
                opened.append((f"#{number}", source))
        return judge(opened, loaded(), facts, language)


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
    matrices = matrices_with(inputs.matrices)
    knowledge = matrices()
    if not inputs.settings:
        return None, knowledge, ""
    facts = assuming(_nothing(), inputs.assume, matrices, inputs.said)
    return facts, knowledge, ", ".join(inputs.settings)


def _nothing() -> Facts:
    """Facts of a machine of which nothing is known."""
    from envdoctor.model.facts import Facts

    return Facts()
