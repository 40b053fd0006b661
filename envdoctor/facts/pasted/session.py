"""What people try at Python's prompt: `torch.__version__`, `torch.version.cuda`, ..."""

from __future__ import annotations

import re
from typing import List

from envdoctor.facts.pasted.notes import (
    LISTED,
    RUNNING,
    Card,
    Notes,
    Package,
    place,
    version,
    whole_version,
)
from envdoctor.facts.pasted.projects import PROJECTS
from envdoctor.facts.pasted.system import accelerator_name, python
from envdoctor.facts.pasted.text import Line, Pair

SECTION = "Python's prompt"
_ASKED = re.compile(r"(?:print\()?\(?([\w.]{1,60})(?:\(\d?\))?\)?\)?;?")
_PROMPT = re.compile(
    r"(?:>>> ?|In \[\d{1,5}\]: ?|\$ |.{0,60}[$#%] |(?:PS )?[A-Z]:\\.{0,60}> ?)?"
    r"(?:python[\d.]{0,4} -c ['\"])?"
)
_PRINTED = re.compile(r"print\((.{1,200})\)")


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:  # noqa: ARG001
    """Note each answer that follows its question."""
    for number, (line, answer) in enumerate(zip(lines, lines[1:])):
        text = line.text
        if "version" not in text and "torch.cuda." not in text:
            continue
        question = text[_PROMPT.match(text).end() :]  # type: ignore[union-attr]
        parts = [part.strip(" \"'") for part in question.split(";")]
        printed = [match for match in map(_PRINTED.fullmatch, parts) if match]
        if len(printed) > 1:
            for one, below in zip(printed, lines[number + 1 :]):
                _answers(one[1], below.text.strip(), below, notes)
            continue
        asked = parts[-1]
        if not asked or answer.text.startswith((">>>", "In [", "Traceback")):
            continue
        value = re.sub(r"^Out\[\d{1,5}\]: ?", "", answer.text).strip(" '\"")
        match = _ASKED.fullmatch(asked)
        if match:
            _answer(match[1], value, answer, notes)
        elif asked.startswith("print(") and "," in asked:
            _answers(asked[len("print(") :].rstrip(") "), value, answer, notes)


def _answers(asked: str, values: str, line: Line, notes: Notes) -> None:
    """Several things that one print answers, with blanks between."""
    questions, answers = asked.split(","), values.split()
    if len(questions) == len(answers) <= 8:
        for question, value in zip(questions, answers):
            match = _ASKED.fullmatch(question.strip())
            if match:
                _answer(match[1], value, line, notes)


def _answer(asked: str, value: str, line: Line, notes: Notes) -> None:
    module, _, what = asked.partition(".")
    if what == "__version__" and whole_version(value):
        project = PROJECTS.get(module.replace("_", "-"))
        if project == "torch":
            notes.say("torch", version(value), SECTION, line)
        elif project == "mmcv":
            notes.say("mmcv", version(value), SECTION, line)  # of which flavour it does not say
        elif project and version(value):
            notes.install(project, Package(value, place(SECTION, line), line.number, RUNNING))
    elif asked == "sys.version":
        python(value, SECTION, line, notes)
    elif asked == "torch.version.cuda":
        notes.say("torch.cuda", "cpu" if value == "None" else version(value), SECTION, line)
    elif asked == "torch.version.hip":
        notes.say("torch.hip", version(value), SECTION, line)
    elif asked == "torch.cuda.is_available" and value in ("True", "False"):
        notes.say("available", "yes" if value == "True" else "no", SECTION, line, LISTED)
    elif asked == "torch.cuda.get_device_name" and accelerator_name(value):
        notes.card("typed", [0], Card(value, place(SECTION, line), line.number))
