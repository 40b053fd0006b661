"""Which cause is the root, what is told of it, and what may come from a log into a command."""

from __future__ import annotations

import io
from typing import Dict, List, Sequence

import pytest

from envdoctor.diagnosis import diagnose
from envdoctor.diagnosis.consequences import consequences
from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.excerpts import Excerpts
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.literals import literals
from envdoctor.diagnosis.nearest import nearest
from envdoctor.diagnosis.ranking import ranked, weighed
from envdoctor.diagnosis.signs import Match, Signs
from envdoctor.diagnosis.supposing import Said, facts_of
from envdoctor.knowledge.failures import Condition, Cure, Failure, Sign
from envdoctor.knowledge.load import load
from envdoctor.model.diagnosis import Diagnosis, Stated

WORDS = {"en": {"summary": "{text}", "why": ""}, "zh": {"summary": "{text}", "why": ""}}


def _failure(cause: str, confidence: str = "0.9", **parts: object) -> Failure:
    where = {"text": str(parts.pop("text", cause))}
    silent, general = str(parts.pop("silent", "")), str(parts.pop("general", ""))
    kinds = str(parts.pop("on", "line"))
    sign = Sign("x", kinds, confidence, where, silent=silent, general=general)
    return Failure(cause=cause, family="build", signs=[sign], words=WORDS, **parts)  # type: ignore[arg-type]


def _order(events: Sequence[Event], *failures: Failure) -> List[str]:
    signs = weighed(list(Signs(failures).matches(events)), events, 0)
    return [f"{one.best.match.failure.cause} {one.best.confidence:.2f}" for one in ranked(signs)]


def _lines(*texts: str) -> List[Event]:
    return [Event("line", number, text) for number, text in enumerate(texts, 1)]


# --- order -----------------------------------------------------------------------------------


def test_of_specific_signs_the_first_in_time_is_the_root() -> None:
    """Whatever the other's confidence."""
    events = _lines("cause first", "cause second")
    found = _order(events, _failure("second", "0.99"), _failure("first", "0.85"))
    assert found == ["first 0.85", "second 0.99"]


def test_what_only_may_be_a_root_stands_behind() -> None:
    """A vague sign that comes first does not win against a specific one."""
    events = _lines("vague sign", "specific sign")
    found = _order(events, _failure("vague", "0.6"), _failure("specific", "0.85"))
    assert found == ["specific 0.85", "vague 0.60"]


def test_a_general_sign_tells_only_of_lines_that_no_other_tells_of() -> None:
    events = _lines("library of CUDA", "library of others")
    general = _failure("library", "0.7", text="library", general="true")
    assert _order(events, general, _failure("CUDA", "0.6")) == ["CUDA 0.60", "library 0.70"]
    assert _order(events[:1], general, _failure("CUDA", "0.6")) == ["CUDA 0.60"]


def test_a_warning_stands_behind_a_failure() -> None:
    """It may have nothing to do with it."""
    warned = Event("line", 1, "warned of", fatal=False)
    events = [warned, Event("line", 2, "failed of"), Event("exception", 3, "E: 1")]
    assert _order(events, _failure("warned"), _failure("failed")) == ["failed 0.90", "warned 0.90"]


def test_a_warning_that_nothing_follows_is_a_candidate() -> None:
    """Unless its sign says that such a fault stops no run."""
    warned = [Event("line", 1, "warned of", fatal=False)]
    assert _order(warned, _failure("warned")) == ["warned 0.41"]
    assert _order(warned, _failure("warned", silent="true")) == ["warned 0.90"]


def test_what_went_well_afterwards_was_got_over() -> None:
    """Of the same distribution, or of the whole job where nothing failed after it."""
    failed = Event("line", 1, "broken wheel", {"distribution": "lap"})
    other = Event("success", 2, "Successfully built tqdm", {"distribution": "tqdm"}, fatal=False)
    same = Event("success", 3, "Successfully built lap", {"distribution": "lap"}, fatal=False)
    whole = Event("success", 4, "Successfully installed all", fatal=False)
    later = Event("exception", 5, "KeyError: 1")
    assert _order([failed, other], _failure("broken")) == ["broken 0.90"]
    assert _order([failed, same], _failure("broken")) == ["broken 0.18"]
    assert _order([failed, whole], _failure("broken")) == ["broken 0.18"]
    assert _order([failed, whole, later], _failure("broken")) == ["broken 0.90"]


def test_a_cause_stands_before_what_its_file_calls_its_consequences() -> None:
    """Also where the consequence was printed first."""
    events = _lines("mismatch", "shadow")
    found = _order(events, _failure("mismatch"), _failure("shadow", over=["mismatch"]))
    assert found == ["shadow 0.90", "mismatch 0.90"]


def test_what_must_and_must_not_be_seen_beside() -> None:
    """Before it, after it, anywhere."""
    event = Event("line", 5, "the sign")

    def found(near: str, line: int, part: str) -> bool:
        beside = Condition(kinds="line", where={"text": "beside"}, near=near)
        sign = Sign(id="x", kinds="line", where={"text": "the sign"}, confidence="0.9")
        given: Dict[str, List[Condition]] = {"seen": [], "unseen": [], part: [beside]}
        sign = Sign("x", "line", "0.9", sign.where, {}, given["seen"], given["unseen"])
        failure = Failure(cause="c", family="build", signs=[sign], words=WORDS)
        return bool(list(Signs([failure]).matches([event, Event("line", line, "beside")])))

    assert found("", 9, "seen")
    assert found("before", 4, "seen")
    assert not found("before", 6, "seen")
    assert found("after", 6, "seen")
    assert not found("after", 4, "seen")
    assert not found("", 9, "unseen")
    assert found("before", 9, "unseen")


def test_named_groups_are_fields_of_the_match() -> None:
    """With those that the event has."""
    failure = _failure("c", text="gcc versions later than (?P<newest>\\d+)")
    event = Event("line", 1, "gcc versions later than 12 are not", {"unit": "a.cu"})
    match: Match = next(Signs([failure]).matches([event]))
    assert match.event.fields == {"unit": "a.cu", "newest": "12"}


# --- words that lines are chosen by ----------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("unsupported GNU version! gcc", ("unsupported gnu version! gcc",)),
        ("(?:Failed|Error) to load \\w+ library", (" to load ",)),
        ("(?:undefined|missing)", ("undefined", "missing")),
        ("No space left on device(?: again)?", ("no space left on device",)),
        ("(?:Killed process )+\\d", ("killed process ",)),
    ],
)
def test_literals(pattern: str, words: Sequence[str]) -> None:
    """Of each text in which the pattern is found, one word at least is a part."""
    assert literals(pattern) == tuple(words)


@pytest.mark.parametrize("pattern", ["\\w+", "(?:abcd)?", "ab|cd", "(?:known|\\d+)"])
def test_patterns_without_a_word(pattern: str) -> None:
    """They would have every line looked at."""
    with pytest.raises(ValueError, match="no word in common"):
        literals(pattern)


# --- what stands around, what follows --------------------------------------------------------


def test_excerpts_are_the_lines_before_and_after() -> None:
    """Across no gap."""
    excerpts = Excerpts()
    for number, text in [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (9, "f")]:
        excerpts.feed(Line(number, text, gap=number == 9))
        if number in (3, 5):
            excerpts.mark(number)
    assert excerpts.around(3) == (("a", "b"), ("d", "e"))
    assert excerpts.around(5) == (("c", "d"), ())
    assert excerpts.around(7) == ((), ())


def test_consequences_are_what_failed_after_the_root() -> None:
    """Together where they stand near each other."""
    root = Event("line", 10, "root")
    ends = [Event("failed", line, "failed") for line in (3, 12, 15, 80)]
    ends.append(Event("exit", 90, "exit", first=85, last=91))
    assert consequences(root, [15], [root, *ends]) == [(12, 12), (80, 91)]


# --- fixes -----------------------------------------------------------------------------------


def _cured(text: str, command: str) -> Diagnosis:
    cure = Cure(words={"en": "install {name}", "zh": "{name}"}, commands=[command])
    failure = _failure("cause", text="No such thing as (?P<name>.+)", fixes=[cure])
    log = io.BytesIO(text.encode())
    return diagnose([("log", log)], load(), known={"cause": failure})


def test_a_plain_name_of_a_log_comes_into_a_command() -> None:
    """As a word of the shell."""
    (cause,) = _cured("No such thing as ninja", "pip install {name}").causes
    assert cause.fixes[0].commands == ("pip install ninja",)


@pytest.mark.parametrize(
    "name", ["x; rm -rf ~", "$(id)", "`id`", "a b", "--index-url=http://x", "'"]
)
def test_nothing_else_of_a_log_comes_into_a_command(name: str) -> None:
    """Then the way out is told without one."""
    (cause,) = _cured(f"No such thing as {name}", "pip install {name}").causes
    assert cause.fixes[0].commands == ()


def test_versions_that_a_log_states_are_facts() -> None:
    """Installers' last lines, folders of interpreters; of two statements the later one."""
    said = Said()
    said.feed(Line(1, "Successfully installed numpy-1.24.4 torch-1.13.1+cu117"))
    said.feed(
        Line(2, '  File "/opt/c/lib/python3.10/site-packages/torch/x.py", line 3, in <module>')
    )
    facts = facts_of([said], [Stated("build.gcc", "9.4.0", 1, "log")])
    assert facts is not None
    target = facts.target.value
    assert target is not None
    assert target.version == "3.10"
    assert {one.name: one.version for one in target.distributions} == {
        "numpy": "1.24.4",
        "torch": "1.13.1+cu117",
    }


def test_the_nearest_wheel_fits_what_is_here() -> None:
    """The last mmcv-full with a wheel for torch 1.13 and CUDA 11.7; nothing without a torch."""
    knowledge = load()
    facts = facts_of([], [Stated("python", "3.10.9", 1), Stated("torch", "1.13.1+cu117", 2)])
    assert facts is not None
    found = nearest("mmcv-full", facts, knowledge)
    assert found is not None
    assert (found.version, found.origin) == ("1.7.1", "index")
    assert "--only-binary" in found.arguments
    alone = facts_of([], [Stated("python", "3.10.9", 1), Stated("numpy", "1.24.4", 2)])
    assert alone is not None
    assert nearest("mmcv-full", alone, knowledge) is None


# --- logs of one job -------------------------------------------------------------------------


def test_logs_of_one_job_are_judged_together() -> None:
    """A cause that several show is told once, with proofs of each."""
    failure = _failure("cause", text="broken thing")
    logs = [
        ("rank0.log", io.BytesIO(b"ok\nbroken thing\n")),
        ("rank1.log", io.BytesIO(b"broken thing")),
    ]
    found = diagnose(logs, load(), known={"cause": failure})
    (cause,) = found.causes
    assert [(proof.log, proof.line) for proof in cause.evidence] == [
        ("rank0.log", 2),
        ("rank1.log", 1),
    ]
    assert [log.name for log in found.logs] == ["rank0.log", "rank1.log"]
